//! mallbox under a service manager: readiness and stop are notified, the watchdog is fed while the writing
//! threads go on, passed sockets refuse nobody during a restart, and the units in `.packaging/` are valid.
//!
//! The tests play the manager themselves: a notification socket of their own, and listening sockets that they
//! hold. `systemd-socket-activate` and `systemd-analyze` are run where they are there.

#[path = "../common/mod.rs"]
mod common;

mod journal;
mod manager;
mod monitoring;
mod sockets;
mod units;
mod watchdog;

use std::time::Duration;

use anyhow::ensure;
use common::http;
use common::server::Server;
use manager::Manager;

/// For a notification that follows at once.
const TIMEOUT: Duration = Duration::from_secs(30);

#[test]
fn readiness_follows_the_first_answer_and_a_stop_is_announced() -> anyhow::Result<()> {
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let manager = Manager::new(site.path())?;
    let (data, log) = (site.path().join("mall"), site.path().join("mallbox.log"));
    let server = Server::start_under(&manager.environment(&[]), &data, &log, "power")?;
    let opening = manager.next(TIMEOUT)?;
    ensure!(opening == ["STATUS=opening the mall"], "{opening:?}");
    let ready = manager.next(TIMEOUT)?;
    let address = server.address;
    ensure!(ready == ["READY=1".to_owned(), format!("STATUS=serving at http://{address}/")], "{ready:?}");
    ensure!(http::ask(address, "GET", "/healthz", "")?.status == 200);
    server.stop()?;
    let stopping = manager.next(TIMEOUT)?;
    ensure!(stopping[0] == "STOPPING=1", "{stopping:?}");
    // Without a watchdog nothing else was sent.
    ensure!(manager.is_silent(Duration::from_millis(100))?, "another notification");
    Ok(())
}

#[test]
fn a_manager_that_is_gone_is_named_in_the_log_and_changes_nothing() -> anyhow::Result<()> {
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let (data, log) = (site.path().join("mall"), site.path().join("mallbox.log"));
    let gone = format!("NOTIFY_SOCKET={}", site.path().join("gone").display());
    let server = Server::start_under(&["env", &gone], &data, &log, "power")?;
    ensure!(http::ask(server.address, "GET", "/readyz", "")?.status == 200);
    server.stop()?;
    let words = std::fs::read_to_string(&log)?;
    ensure!(words.contains("could not notify the service manager"), "{words}");
    Ok(())
}
