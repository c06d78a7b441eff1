//! Checks of the system, and commands on the system.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use rustix::fs::Mode;
use rustix::process::{geteuid, umask};

use crate::cli::messages::{CommandFailure, KioskFailure};

/// Programs of the unit, each with its package.
const PROGRAMS: [(&str, &str); 2] = [("/usr/bin/cage", "cage"), ("/usr/bin/chromium", "chromium")];
/// This program in the unit: installed there by the package, and by readers of the manual.
const MALLBOX: &str = "/usr/bin/mallbox";
/// Directories of libraries, below which modules of PAM are: `/usr/lib/x86_64-linux-gnu/security`.
const LIBRARIES: [&str; 2] = ["/usr/lib", "/lib"];
/// Directories of units, by precedence.
const UNITS: [&str; 3] = ["/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"];

/// Refuses accounts other than root. `subcommand` is named in the message.
///
/// # Errors
/// [`KioskFailure::NotRoot`].
pub(super) fn check_root(subcommand: &'static str) -> Result<(), CommandFailure> {
    if geteuid().is_root() { Ok(()) } else { Err(CommandFailure::Kiosk(KioskFailure::NotRoot(subcommand))) }
}

/// Checks that the system can become a kiosk.
///
/// # Errors
/// [`KioskFailure::NotDebian`], [`KioskFailure::Missing`], [`KioskFailure::NoProgram`].
pub(super) fn check_fit() -> Result<(), CommandFailure> {
    let is_debian = Path::new("/etc/debian_version").exists();
    let has_systemd = ["/usr/bin/systemctl", "/bin/systemctl"].iter().any(|path| Path::new(path).exists());
    if !is_debian || !has_systemd {
        return Err(CommandFailure::Kiosk(KioskFailure::NotDebian));
    }
    let absent = PROGRAMS.iter().filter(|(program, _)| !Path::new(program).exists());
    let mut packages: Vec<&str> = absent.map(|(_, package)| *package).collect();
    if !has_logind_module() {
        packages.push("libpam-systemd");
    }
    if !packages.is_empty() {
        return Err(CommandFailure::Kiosk(KioskFailure::Missing(packages)));
    }
    if !Path::new(MALLBOX).exists() {
        return Err(CommandFailure::Kiosk(KioskFailure::NoProgram(MALLBOX)));
    }
    Ok(())
}

/// Tells whether PAM opens sessions of logind, which hands out screens.
fn has_logind_module() -> bool {
    let directories = LIBRARIES.iter().filter_map(|dir| fs::read_dir(dir).ok()).flatten().flatten();
    directories.into_iter().any(|dir| dir.path().join("security/pam_systemd.so").exists())
}

/// Tells whether a font has Chinese characters; `None` without fontconfig's own tool.
pub(super) fn has_chinese_font() -> Option<bool> {
    let listed = output("fc-list", &[":lang=zh", "family"]).ok()?;
    Some(!listed.stdout.is_empty())
}

/// Tells whether the service manager knows the mall.
pub(super) fn has_mall() -> bool {
    UNITS.iter().any(|dir| Path::new(dir).join("mallbox.service").exists())
}

/// Tells whether systemd runs: not while an image is built.
pub(super) fn is_booted() -> bool {
    Path::new("/run/systemd/system").exists()
}

/// Makes new files readable by everybody, like other files of a system.
pub(super) fn open_new_files() {
    umask(Mode::WGRP | Mode::WOTH);
}

/// Runs a command.
///
/// # Errors
/// The command failed; with the last line of its complaint.
pub(super) fn run(program: &str, arguments: &[&str]) -> io::Result<()> {
    let ended = output(program, arguments)?;
    if ended.status.success() {
        return Ok(());
    }
    let complaint = String::from_utf8_lossy(&ended.stderr);
    let complaint = complaint.trim().lines().last().unwrap_or_default();
    Err(io::Error::other(format!("{program} {}: {complaint}", arguments.join(" "))))
}

/// Runs a command. Returns its exit code and its output.
///
/// # Errors
/// The program cannot be started.
pub(super) fn output(program: &str, arguments: &[&str]) -> io::Result<Output> {
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| io::Error::new(error.kind(), format!("{program}: {error}")))
}
