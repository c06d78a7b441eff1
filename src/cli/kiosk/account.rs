//! The account of the browser.

use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::files::{ACCOUNT, STATE_DIR};
use super::system;

/// Time for the last process of the account to end.
const END_TIMEOUT: Duration = Duration::from_secs(10);
/// Exit code of `userdel` while processes of the account run.
const IN_USE: i32 = 8;

/// Arguments of `useradd`: an account that nobody can log in to.
pub(super) const USERADD: [&str; 8] = [
    "--system",
    "--user-group",
    "--no-create-home",
    "--home-dir",
    STATE_DIR,
    "--shell",
    "/usr/sbin/nologin",
    ACCOUNT,
];

/// Tells whether the account exists.
///
/// # Errors
/// `getent` cannot be run.
pub(super) fn exists() -> io::Result<bool> {
    Ok(system::output("getent", &["passwd", ACCOUNT])?.status.success())
}

/// Makes the account.
///
/// # Errors
/// The complaint of `useradd`.
pub(super) fn make() -> io::Result<()> {
    system::run("useradd", &USERADD)
}

/// Returns the id of the account's group.
///
/// # Errors
/// There is no such group.
pub(super) fn group() -> io::Result<u32> {
    let entry = system::output("getent", &["group", ACCOUNT])?.stdout;
    let entry = String::from_utf8_lossy(&entry);
    let id = entry.trim().split(':').nth(2).and_then(|id| id.parse().ok());
    id.ok_or_else(|| io::Error::other(format!("there is no group {ACCOUNT}")))
}

/// Removes the account and its group, once its last process has ended.
///
/// # Errors
/// The complaint of `userdel`.
pub(super) fn remove() -> io::Result<()> {
    let began = Instant::now();
    while system::output("userdel", &[ACCOUNT])?.status.code() == Some(IN_USE)
        && began.elapsed() < END_TIMEOUT
    {
        sleep(Duration::from_millis(200));
    }
    // A repeat has the complaint, or finds nothing.
    if exists()? { system::run("userdel", &[ACCOUNT]) } else { Ok(()) }
}
