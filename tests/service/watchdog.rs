//! The watchdog: fed by an idle mall, on a full disk and on a slow one; not fed while a thread hangs on a
//! disk that does not respond.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use mallbox_test_patience as patience;

use super::TIMEOUT;
use super::manager::Manager;
use crate::common::ballast::Ballast;
use crate::common::http;
use crate::common::image::DiskSite;
use crate::common::mall::{self, Size};
use crate::common::server::Server;

const FED: &str = "WATCHDOG=1";
/// The manager's time limit.
const LIMIT: Duration = Duration::from_secs(4);
const VARIABLE: &str = "WATCHDOG_USEC=4000000";

/// A file system on which every write waits, until dropped.
struct Frozen {
    /// Thaws the file system when its standard input ends, also with a killed test.
    guardian: Child,
}

impl Frozen {
    fn new(disk: &Path) -> anyhow::Result<Self> {
        let script = "read -r _; exec fsfreeze --unfreeze \"$0\"";
        let mut guardian = Command::new("sh");
        let guardian = guardian.args(["-c", script]).arg(disk).stdin(Stdio::piped()).spawn()?;
        let frozen = Self { guardian };
        let status = Command::new("fsfreeze").arg("--freeze").arg(disk).status().context("fsfreeze")?;
        ensure!(status.success(), "fsfreeze: {status}");
        Ok(frozen)
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        drop(self.guardian.stdin.take());
        let _ = self.guardian.wait();
    }
}

#[test]
#[cfg_attr(
    not(feature = "power-tests"),
    ignore = "needs root and loop devices; tests/run turns it on where they are there"
)]
fn a_silent_disk_stops_the_feeding_and_a_full_one_does_not() -> anyhow::Result<()> {
    let site = DiskSite::new(Path::new(env!("CARGO_TARGET_TMPDIR")))?;
    let image = site.format("disk.img")?;
    let disk = site.mount(&image, "disk")?;
    let data = disk.path().join("mall");
    let mall = mall::make(&data, Size { people: 4, sales: 1, units: 10 })?;
    let (sale, log) = (mall.sales[0], site.path().join("mallbox.log"));
    let manager = Manager::new(site.path())?;
    let server = Server::start_under(&manager.environment(&[VARIABLE]), &data, &log, "power")?;
    let address = server.address;
    let buy = |person: usize| {
        let (token, path) = (mall.people[person].token.clone(), format!("/api/voucher-order/seckill/{sale}"));
        move || http::ask(address, "POST", &path, &token)
    };
    for _ in 0..3 {
        manager.wait_for(FED, TIMEOUT)?;
    }

    // The first claim reads the sale; the next one only writes to the order log.
    ensure!(buy(0)()?.status == 200);
    let frozen = Frozen::new(disk.path())?;
    let claim = thread::spawn(buy(1));
    said(&log, |line| {
        line.contains("threads do not respond: the watchdog is not fed until they do")
            && line.contains("order log")
    })?;
    manager.drain()?;
    // By now the manager would end the mall.
    ensure!(manager.is_silent(LIMIT)?, "fed although the order log hangs");
    drop(frozen);
    manager.wait_for(FED, TIMEOUT)?;
    said(&log, |line| line.contains("all threads respond again"))?;
    let _ = claim.join();
    let reply = buy(1)()?;
    ensure!(reply.status == 200, "{} {}", reply.status, reply.text);

    let full = Ballast::leave(disk.path(), 0)?;
    http::until(address, "/readyz", TIMEOUT, |reply| reply.status == 503)?;
    let reply = buy(2)()?;
    ensure!((reply.status, reply.code()) == (503, "DISK_FULL"), "{} {}", reply.status, reply.text);
    manager.drain()?;
    for _ in 0..4 {
        manager.wait_for(FED, TIMEOUT)?;
    }
    drop(full);
    http::until(address, "/readyz", TIMEOUT, |reply| reply.status == 200)?;
    ensure!(buy(3)()?.status == 200, "nothing is sold after there is room again");
    server.stop()
}

/// Waits until the log contains a line that meets the condition.
fn said(log: &Path, is_wanted: impl Fn(&str) -> bool) -> anyhow::Result<()> {
    patience::until_ok(TIMEOUT, || {
        let words = std::fs::read_to_string(log)?;
        ensure!(words.lines().any(&is_wanted), "no such line: {words}");
        Ok(())
    })
}
