//! `mallbox kiosk`: set up in a copy of this system's root, changed by hand, removed; and started by a real
//! systemd, with the browser on a screen in memory, where everything that can die is killed.

#[path = "../packages/command.rs"]
mod command;
#[path = "../common/mod.rs"]
mod common;
#[path = "../packages/container.rs"]
mod container;
mod installation;
mod recorder;
#[path = "../packages/root.rs"]
#[expect(dead_code, reason = "another target installs packages")]
mod root;
mod screen;

use std::process::{Command, Stdio};

use root::Root;

/// Paths in the root.
const UNIT: &str = "etc/systemd/system/mallbox-kiosk.service";
const POLICY: &str = "etc/chromium/policies/managed/mallbox-kiosk.json";
const WATCHDOG: &str = "etc/systemd/system.conf.d/mallbox-kiosk.conf";
const KEY: &str = "etc/mallbox-kiosk/key";

/// Returns a copy of the root with the program where a package puts it.
fn root_with_mallbox(dir: &std::path::Path) -> anyhow::Result<Root> {
    let root = Root::new(dir)?;
    let program = root.path().join("usr/bin/mallbox");
    // Whatever stands there in the system itself.
    let _ = std::fs::remove_file(&program);
    std::fs::copy(env!("CARGO_BIN_EXE_mallbox"), program)?;
    Ok(root)
}

/// Runs a command as root inside, without input. Returns its exit code and both outputs.
fn output_in(root: &Root, command: &[&str]) -> anyhow::Result<(i32, String)> {
    let output = Command::new("chroot")
        .arg(root.path())
        .args(command)
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()?;
    let said = [output.stdout, output.stderr].concat();
    Ok((output.status.code().unwrap_or(-1), String::from_utf8_lossy(&said).into_owned()))
}
