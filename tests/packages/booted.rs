//! The installed units under a real systemd, in a container of systemd-nspawn: started, killed, restarted
//! while clients connect, stopped by a wrong setting, and restarted by the watchdog.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use mallbox_test_patience as patience;

use crate::command::succeed;
use crate::common::http;
use crate::root::Root;

/// For what systemd does on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);
const SETTINGS: &str = "etc/mallbox/mallbox.toml";

/// A booted copy of this system, until dropped. It shares the machine's network.
struct Booted {
    nspawn: Child,
    /// The container's first process, as this system counts.
    init: String,
}

impl Booted {
    fn boot(root: &Root) -> anyhow::Result<Self> {
        root.release_kernel_mounts()?;
        let log = fs::File::create(root.path().with_extension("log"))?;
        let options = ["--quiet", "--register=no", "--keep-unit", "--link-journal=no", "--boot"];
        // In a process namespace that ends with this process, and the container with it.
        let ends_with_us =
            ["--pdeathsig", "KILL", "unshare", "--pid", "--fork", "--kill-child", "--mount-proc"];
        let nspawn = Command::new("setpriv")
            .args(ends_with_us)
            .args(["systemd-nspawn", "--directory"])
            .arg(root.path())
            .args(options)
            .arg("systemd.unit=basic.target")
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .context("systemd-nspawn")?;
        let mut booted = Self { nspawn, init: String::new() };
        let unshare = booted.nspawn.id().to_string();
        booted.init = patience::until_ok(TIMEOUT, || first_child(&first_child(&unshare)?))?;
        // "degraded" is a system with a failed unit of somebody else's.
        patience::until_ok(TIMEOUT, || {
            let state = booted.run("sh", &["-c", "systemctl is-system-running || true"])?;
            ensure!(["running", "degraded"].contains(&state.trim()), "the container is {state}");
            Ok(())
        })?;
        Ok(booted)
    }

    /// Runs a program inside. Returns its output.
    fn run(&self, program: &str, arguments: &[&str]) -> anyhow::Result<String> {
        let mut command = Command::new("nsenter");
        command
            .args(["--target", &self.init, "--mount", "--pid", "--uts", "--ipc", "--root", "--wd", program]);
        succeed(command.args(arguments))
    }

    fn systemctl(&self, arguments: &[&str]) -> anyhow::Result<String> {
        self.run("systemctl", arguments)
    }

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

impl Drop for Booted {
    fn drop(&mut self) {
        // Ends every process of the container.
        let _ = Command::new("kill").args(["-s", "KILL", &self.init]).output();
        let _ = self.nspawn.kill();
        let _ = self.nspawn.wait();
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
    drop_in(&root, "service", "[Service]\nEnvironment=MALLBOX_LANG=en\nWatchdogSec=4\nTimeoutAbortSec=1\n")?;
    let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
    drop_in(&root, "socket", &format!("[Socket]\nListenStream=\nListenStream={address}\n"))?;
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

fn first_child(process: &str) -> anyhow::Result<String> {
    let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children"))?;
    children.split_whitespace().next().map(str::to_owned).with_context(|| format!("{process} has no child"))
}

/// Writes a file that changes settings of a unit.
fn drop_in(root: &Root, kind: &str, text: &str) -> anyhow::Result<()> {
    let dir = format!("etc/systemd/system/mallbox.{kind}.d");
    fs::create_dir_all(root.path().join(&dir))?;
    root.write(&format!("{dir}/test.conf"), text)
}
