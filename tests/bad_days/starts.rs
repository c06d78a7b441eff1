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

/// Files of the log: the store's, each segment of the write-ahead log, and only the segment that the next
/// start takes.
const LOG_FILES: [&[&str]; 3] = [
    &["log/store-1/db"],
    &["log/wal/segment-1", "log/wal/segment-2", "log/wal/segment-3", "log/wal/segment-4"],
    &["log/wal/segment-2"],
];

/// Returns a command prefix under which these system calls fail on files of the server's log.
fn failing(calls: &str, error: &str, data: &Path, files: &[&str]) -> Vec<String> {
    let inject = format!("inject={calls}:error={error}");
    // The server stays a child of the test, and the tracer ends with it.
    let mut under =
        ["strace", "-D", "-f", "-qq", "-o", "/dev/null", "-e", &inject].map(str::to_owned).to_vec();
    for file in files {
        under.extend(["-P".to_owned(), data.join(file).display().to_string()]);
    }
    under
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
    for files in LOG_FILES {
        let (code, complaint) = refused(&failing("read,pread64", "EIO", &data, files), &data, &[])?;
        let is_refused = complaint.contains("Input/output error")
            && complaint.contains("log")
            && !complaint.contains("damaged");
        ensure!(code == Some(1) && is_refused, "{files:?}: {code:?}: {complaint}");
        println!("{}", complaint.trim());
    }
    let server = Server::start(&data, &site.path().join("mallbox.log"), "power")?;
    pending.are_shown(&server)?;
    server.stop()?;
    server::verify(&data)?;
    pending.are_kept(&data)
}

/// Space was free at the mall's check, and none was left at the write of sled or of the write-ahead log.
#[test]
#[cfg_attr(
    not(feature = "fault-tests"),
    ignore = "needs strace that may attach to a child; tests/run turns it on where it does"
)]
fn a_disk_that_filled_up_during_a_start_was_called_a_damaged_log() -> anyhow::Result<()> {
    for files in [LOG_FILES[0], LOG_FILES[2]] {
        let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
        let data = site.path().join("mall");
        let pending = Pending::make(&data, PEOPLE, Left::Killed)?;
        let under = failing("write,pwrite64,fsync,fdatasync", "ENOSPC", &data, files);
        let under: Vec<&str> = under.iter().map(String::as_str).collect();
        let server = Server::start_under(&under, &data, &site.path().join("mallbox.log"), "power")?;
        pending.are_shown(&server)?;
        sells(&pending, &server).with_context(|| server.stderr_tail())?;
        server.stop()?;
        let is_elsewhere = data.join("log/store-2").exists();
        ensure!(is_elsewhere == files[0].contains("store"), "it went on in a store that cannot be written");
        server::verify(&data)?;
        pending.are_kept(&data)?;
    }
    Ok(())
}

/// Not one segment can be written: the mall shows what it has, and sells nothing.
#[test]
#[cfg_attr(
    not(feature = "fault-tests"),
    ignore = "needs strace that may attach to a child; tests/run turns it on where it does"
)]
fn a_mall_whose_log_has_no_room_starts_and_refuses_claims() -> anyhow::Result<()> {
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let (data, log) = (site.path().join("mall"), site.path().join("mallbox.log"));
    let pending = Pending::make(&data, PEOPLE, Left::Killed)?;
    let under = failing("write,pwrite64,fsync,fdatasync", "ENOSPC", &data, LOG_FILES[1]);
    let under: Vec<&str> = under.iter().map(String::as_str).collect();
    let server = Server::start_under(&under, &data, &log, "power")?;
    pending.are_shown(&server)?;
    for _ in 0..3 {
        let reply = pending.claim(&server)?;
        ensure!((reply.status, reply.code()) == (503, "DISK_FULL"), "{} {}", reply.status, reply.text);
        std::thread::sleep(Duration::from_secs(1));
    }
    server.stop()?;
    let server = Server::start(&data, &log, "power")?;
    sells(&pending, &server).with_context(|| server.stderr_tail())?;
    server.stop()?;
    server::verify(&data)?;
    pending.are_kept(&data)
}

#[test]
fn a_store_that_is_gone_is_made_anew_and_the_log_names_what_that_costs() -> anyhow::Result<()> {
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let (data, log) = (site.path().join("mall"), site.path().join("mallbox.log"));
    let pending = Pending::make(&data, PEOPLE, Left::Killed)?;
    fs::remove_dir_all(data.join("log/store-1"))?;
    let server = Server::start(&data, &log, "power")?;
    pending.are_shown(&server)?;
    sells(&pending, &server)?;
    server.stop()?;
    let words = fs::read_to_string(&log)?;
    ensure!(words.contains("the order log's store is unusable, and is made anew"), "{words}");
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

    // The log returns, with an unreadable snapshot of its store: nothing is lost.
    fs::rename(site.path().join("log"), data.join("log"))?;
    fs::write(data.join("log/store-1/snap.00000000FFFFFFFF"), "nothing")?;
    let server = Server::start(&data, &site.path().join("mallbox.log"), "power")?;
    pending.are_shown(&server)?;
    sells(&pending, &server)?;
    server.stop()?;
    server::verify(&data)?;
    pending.are_kept(&data)
}
