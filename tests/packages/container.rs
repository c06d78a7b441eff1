//! A copy of this system that systemd has booted, in a container of systemd-nspawn.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use mallbox_test_patience as patience;

use crate::command::succeed;
use crate::root::Root;

/// For what systemd does on a busy machine.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// A booted copy of this system, until dropped. It shares the machine's network.
pub struct Booted {
    nspawn: Child,
    /// The container's first process, as this system counts.
    init: String,
}

impl Booted {
    pub fn boot(root: &Root) -> anyhow::Result<Self> {
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
    pub fn run(&self, program: &str, arguments: &[&str]) -> anyhow::Result<String> {
        let mut command = Command::new("nsenter");
        command
            .args(["--target", &self.init, "--mount", "--pid", "--uts", "--ipc", "--root", "--wd", program]);
        succeed(command.args(arguments))
    }

    pub fn systemctl(&self, arguments: &[&str]) -> anyhow::Result<String> {
        self.run("systemctl", arguments)
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

fn first_child(process: &str) -> anyhow::Result<String> {
    let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children"))?;
    children.split_whitespace().next().map(str::to_owned).with_context(|| format!("{process} has no child"))
}

/// Writes a file that changes settings of a unit, such as `mallbox.service`.
pub fn drop_in(root: &Root, unit: &str, text: &str) -> anyhow::Result<()> {
    let dir = format!("etc/systemd/system/{unit}.d");
    fs::create_dir_all(root.path().join(&dir))?;
    root.write(&format!("{dir}/test.conf"), text)
}
