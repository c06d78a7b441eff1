//! A test that runs without any network: again, in a network namespace that has a loopback interface alone.

use std::process::Command;

use anyhow::{Context as _, ensure};

/// Set in the process within the namespace.
const INSIDE: &str = "MALLBOX_WITHOUT_NETWORK";

/// Returns whether this process is within the namespace.
pub fn is_inside() -> bool {
    std::env::var_os(INSIDE).is_some()
}

/// Runs a test of this binary within a namespace. Needs root, or a system that lets anybody make namespaces.
pub fn run(test: &str) -> anyhow::Result<()> {
    let mut command = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        command.arg("--map-root-user");
    }
    command.args(["--net", "--", "sh", "-c", r#"ip link set lo up && exec "$0" "$@""#]);
    command.arg(std::env::current_exe()?).args(["--exact", test, "--nocapture"]).env(INSIDE, "1");
    let status = command.status().context("cannot run unshare")?;
    ensure!(status.success(), "{test} in a namespace: {status}");
    Ok(())
}
