//! The installed units under a real systemd, in a container of systemd-nspawn: started, killed, restarted
//! while clients connect, stopped by a wrong setting, and restarted by the watchdog.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Context as _, ensure};
use mallbox_test_patience as patience;

use crate::common::http;
use crate::container::{Booted, TIMEOUT, drop_in};
use crate::root::Root;

const SETTINGS: &str = "etc/mallbox/mallbox.toml";

impl Booted {
    fn property(&self, name: &str) -> anyhow::Result<String> {
        Ok(self.systemctl(&["show", "--property", name, "--value", "mallbox.service"])?.trim().to_owned())
    }

    /// Waits until the unit is active and has another main process. Returns the process and the address,
    /// which its status names.
    fn served(&self, former: &str) -> anyhow::Result<(String, SocketAddr)> {
        patience::until_ok(TIMEOUT, || {
            // Of one moment: a killed process may be noticed between two calls.
            let names = "ActiveState,MainPID,StatusText";
            let shown = self.systemctl(&["show", "--property", names, "mallbox.service"])?;
            let value =
                |name: &str| shown.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
            let process = value("MainPID=");
            let is_new = value("ActiveState=") == "active" && !["0", former].contains(&process);
            let address = value("StatusText=serving at http://").strip_suffix('/');
            ensure!(is_new && !process.is_empty(), "{shown}");
            Ok((process.to_owned(), address.with_context(|| shown.clone())?.parse()?))
        })
    }
}

#[test]
#[cfg_attr(
    not(feature = "nspawn-tests"),
    ignore = "needs root and systemd-nspawn; tests/run turns it on where containers can be booted"
)]
fn systemd_runs_the_installed_units() -> anyhow::Result<()> {
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let root = Root::new(site.path())?;
    root.install(&super::deb("0.0.0-3", site.path())?)?;
    root.write(SETTINGS, "listen = \"127.0.0.1:0\"\n")?;
    drop_in(
        &root,
        "mallbox.service",
        "[Service]\nEnvironment=MALLBOX_LANG=en\nWatchdogSec=4\nTimeoutAbortSec=1\n",
    )?;
    let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
    drop_in(&root, "mallbox.socket", &format!("[Socket]\nListenStream=\nListenStream={address}\n"))?;
    let booted = Booted::boot(&root)?;

    booted.systemctl(&["start", "mallbox.service"])?;
    let (process, own_address) = booted.served("")?;
    ensure!(http::ask(own_address, "GET", "/healthz", "")?.status == 200);
    booted.run("kill", &["-s", "KILL", &process])?;
    let (process, own_address) = booted.served(&process)?;
    ensure!(http::ask(own_address, "GET", "/healthz", "")?.status == 200);

    // A process that stands still is aborted by the watchdog, and started again.
    booted.run("kill", &["-s", "STOP", &process])?;
    booted.served(&process)?;
    let journal = booted.run("journalctl", &["--unit", "mallbox", "--no-pager", "--output", "cat"])?;
    ensure!(journal.contains("Watchdog timeout"), "{journal}");

    booted.systemctl(&["stop", "mallbox.service"])?;
    booted.systemctl(&["start", "mallbox.socket"])?;
    ensure!(http::ask(address, "GET", "/healthz", "")?.status == 200, "the first client starts nothing");
    let is_over = Arc::new(AtomicBool::new(false));
    let client = thread::spawn({
        let is_over = Arc::clone(&is_over);
        move || -> anyhow::Result<()> {
            while !is_over.load(Ordering::Relaxed) {
                let reply = http::ask(address, "GET", "/api/shop-type/list", "")?;
                ensure!(reply.status == 200, "{} {}", reply.status, reply.text);
            }
            Ok(())
        }
    });
    let restarted = booted.systemctl(&["restart", "mallbox.service"]);
    is_over.store(true, Ordering::Relaxed);
    client.join().ok().context("the client panicked")?.context("during the restart")?;
    restarted?;

    booted.systemctl(&["stop", "mallbox.socket", "mallbox.service"])?;
    booted.run("sh", &["-c", &format!("echo 'listen = 5' > /{SETTINGS}")])?;
    ensure!(booted.systemctl(&["start", "mallbox.service"]).is_err(), "a wrong setting is taken");
    ensure!(booted.property("ActiveState")? == "failed" && booted.property("ExecMainStatus")? == "2");
    let errors = ["--unit", "mallbox", "--priority", "err", "--no-pager", "--output", "cat"];
    let errors = booted.run("journalctl", &errors)?;
    ensure!(errors.contains("listen: expected a quoted string"), "{errors}");
    Ok(())
}
