//! Starts on a failing or full disk, and with a damaged log.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

use mallbox_test_patience as patience;

use crate::common::pending::{Left, Pending};
use crate::common::server::{self, Server};

const PEOPLE: usize = 40;
const TIMEOUT: Duration = Duration::from_secs(20);

/// Returns a command prefix under which these system calls fail on the server's log.
fn failing(calls: &str, error: &str, data: &Path) -> Vec<String> {
    let log = data.join("log/store-1/db").display().to_string();
    let inject = format!("inject={calls}:error={error}");
    // The server stays a child of the test, and the tracer ends with it.
    ["strace", "-D", "-f", "-qq", "-o", "/dev/null", "-P", &log, "-e", &inject].map(str::to_owned).to_vec()
}

/// Returns exit code and messages of a start that must be refused.
fn refused(under: &[String], data: &Path, more: &[&str]) -> anyhow::Result<(Option<i32>, String)> {
    let mut words: Vec<&str> = under.iter().map(String::as_str).collect();
    words.extend([env!("CARGO_BIN_EXE_mallbox"), "serve", "--listen", "127.0.0.1:0", "--data"]);
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).arg(data).args(more).env("MALLBOX_LOG", "error");
    let output = command.stdin(Stdio::null()).output().context("cannot run it")?;
    Ok((output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned()))
}

fn sells(pending: &Pending, server: &Server) -> anyhow::Result<()> {
    let began = Instant::now();
    loop {
        let reply = pending.claim(server)?;
        if reply.body["success"] == true {
            return pending.are_shown(server);
        }
        ensure!(patience::is_within(began.elapsed(), TIMEOUT), "{} {}", reply.status, reply.text);
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// sled takes a failed read for the end of its log, and overwrites the rest.
#[test]
#[cfg_attr(
    not(feature = "fault-tests"),
    ignore = "needs strace that may attach to a child; tests/run turns it on where it does"
)]
fn a_disk_that_could_not_be_read_was_called_a_damaged_log() -> anyhow::Result<()> {
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let data = site.path().join("mall");
    let pending = Pending::make(&data, PEOPLE, Left::Killed)?;
    let (code, complaint) = refused(&failing("read,pread64", "EIO", &data), &data, &[])?;
    let is_refused = complaint.contains("Input/output error")
        && complaint.contains("log")
        && !complaint.contains("damaged");
    ensure!(code == Some(1) && is_refused, "{code:?}: {complaint}");
    println!("{}", complaint.trim());
    let server = Server::start(&data, &site.path().join("mallbox.log"), "power")?;
    pending.are_shown(&server)?;
    server.stop()?;
    server::verify(&data)?;
    pending.are_kept(&data)
}

/// Space was free at the mall's check, and none was left at sled's write.
#[test]
#[cfg_attr(
    not(feature = "fault-tests"),
    ignore = "needs strace that may attach to a child; tests/run turns it on where it does"
)]
fn a_disk_that_filled_up_during_a_start_was_called_a_damaged_log() -> anyhow::Result<()> {
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let data = site.path().join("mall");
    let pending = Pending::make(&data, PEOPLE, Left::Killed)?;
    let under = failing("write,pwrite64,fsync,fdatasync", "ENOSPC", &data);
    let under: Vec<&str> = under.iter().map(String::as_str).collect();
    let server = Server::start_under(&under, &data, &site.path().join("mallbox.log"), "power")?;
    pending.are_shown(&server)?;
    sells(&pending, &server).with_context(|| server.stderr_tail())?;
    server.stop()?;
    ensure!(data.join("log/store-2").exists(), "it went on in the store that cannot be written");
    server::verify(&data)?;
    pending.are_kept(&data)
}

#[test]
fn a_loss_was_accepted_before_anybody_had_said_how_large_it_was() -> anyhow::Result<()> {
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let data = site.path().join("mall");
    let pending = Pending::make(&data, PEOPLE, Left::Stopped)?;
    fs::rename(data.join("log"), site.path().join("log"))?;
    let lost = pending.orders.len();
    for more in [&[][..], &["--accept-lost-log"], &["--accept-lost-log", "1"]] {
        let (code, complaint) = refused(&[], &data, more)?;
        let is_refused =
            complaint.contains(&format!("pass --accept-lost-log {lost} ")) && complaint.lines().count() == 1;
        ensure!(code == Some(1) && is_refused, "{more:?}: {code:?}: {complaint}");
        ensure!(!data.join("log").exists(), "{more:?} changed something");
    }
    let (_, complaint) = refused(&[], &data, &["--accept-lost-log", "--lang", "zh"])?;
    ensure!(
        complaint.contains(&format!("--accept-lost-log {lost}")) && complaint.contains("订单日志已损坏"),
        "{complaint}"
    );

    // The log returns, with an unreadable snapshot: nothing is lost.
    fs::rename(site.path().join("log"), data.join("log"))?;
    fs::write(data.join("log/store-1/snap.00000000FFFFFFFF"), "nothing")?;
    let (code, complaint) = refused(&[], &data, &["--accept-lost-log"])?;
    ensure!(code == Some(1) && complaint.contains("pass --accept-lost-log 0 "), "{code:?}: {complaint}");
    let log = site.path().join("mallbox.log");
    let server = Server::start_with(&data, &log, &["--accept-lost-log", "0"])?;
    pending.are_shown(&server)?;
    sells(&pending, &server)?;
    server.stop()?;
    server::verify(&data)?;
    pending.are_kept(&data)
}
