//! A failing disk: `strace` makes system calls of the running server fail for some of its files.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};

use mallbox_test_patience::Deadline;

use crate::drill::Drill;

/// Maximum number of files to watch: after a failure the log goes on in another segment, or in a new store.
const FILES: u32 = 60;
/// System calls that write, and those that sync.
const WRITES: &str = "write,pwrite64,pwritev";
const SYNCS: &str = "fsync,fdatasync,sync_file_range";
const LASTS: Duration = Duration::from_secs(4);

/// Injects failures until dropped.
struct Failing(Child);

impl Failing {
    /// Makes these system calls of the process fail with `EIO` for these files.
    fn begin(process: u32, calls: &str, files: &[String]) -> anyhow::Result<Self> {
        let mut strace = Command::new("strace");
        strace.args(["-f", "-qq", "-o", "/dev/null", "-p", &process.to_string()]);
        strace.args(["-e", &format!("trace={calls}"), "-e", &format!("inject={calls}:error=EIO")]);
        for file in files {
            strace.args(["-P", file]);
        }
        let child = strace.stdin(Stdio::null()).stderr(Stdio::null()).spawn().context("cannot run strace")?;
        let mut failing = Self(child);
        let deadline = Deadline::after(Duration::from_secs(10));
        while !all_threads_are_traced(process)? {
            ensure!(failing.0.try_wait()?.is_none(), "strace may not attach here");
            ensure!(!deadline.is_over(), "strace did not attach");
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(failing)
    }
}

impl Drop for Failing {
    fn drop(&mut self) {
        // Detaches from the process before the end.
        let _ = Command::new("kill").args(["-s", "INT", &self.0.id().to_string()]).status();
        let _ = self.0.wait();
    }
}

fn all_threads_are_traced(process: u32) -> anyhow::Result<bool> {
    for task in std::fs::read_dir(format!("/proc/{process}/task"))? {
        let status = std::fs::read_to_string(task?.path().join("status")).unwrap_or_default();
        if status.contains("TracerPid:\t0\n") {
            return Ok(false);
        }
    }
    Ok(true)
}

fn segments(data: &Path) -> Vec<String> {
    (1..=FILES).map(|number| data.join(format!("log/wal/segment-{number}")).display().to_string()).collect()
}

fn stores(data: &Path) -> Vec<String> {
    (1..=FILES).map(|number| data.join(format!("log/store-{number}/db")).display().to_string()).collect()
}

fn files_of_the_record(data: &Path) -> Vec<String> {
    ["mall.sqlite", "mall.sqlite-wal"].map(|file| data.join(file).display().to_string()).to_vec()
}

#[test]
#[cfg_attr(
    not(feature = "fault-tests"),
    ignore = "needs strace that may attach to a child; tests/run turns it on where it does"
)]
fn a_log_that_cannot_be_written_refuses_claims_until_it_can_be_written() -> anyhow::Result<()> {
    // A direct write is its own sync.
    let calls = format!("{WRITES},{SYNCS}");
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let mut drill = Drill::begin("log write fails", site.path(), &site.path().join("mallbox.log"))?;
    let failing = Failing::begin(drill.server.id(), &calls, &segments(drill.data()))?;
    let noticed = drill.claims_are("refused", |reply| {
        (reply.status, reply.code(), reply.retry_after()) == (503, "UNAVAILABLE", Some(1))
    })?;
    drill.readyz_tells("cannot write the order log: ")?;
    drill.reading_goes_on()?;
    std::thread::sleep(LASTS);
    drop(failing);
    let (ready, sold) = drill.recovers()?;
    drill.end(&format!("refused after {noticed:?}; ready again after {ready:?}, selling after {sold:?}"))
}

/// sled's file fails, and no claim waits for it.
#[test]
#[cfg_attr(
    not(feature = "fault-tests"),
    ignore = "needs strace that may attach to a child; tests/run turns it on where it does"
)]
fn a_store_that_cannot_be_written_holds_up_no_claim() -> anyhow::Result<()> {
    for (name, calls) in [("store sync fails", SYNCS), ("store write fails", WRITES)] {
        let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
        let log = site.path().join("mallbox.log");
        let mut drill = Drill::begin(name, site.path(), &log)?;
        let failing = Failing::begin(drill.server.id(), calls, &stores(drill.data()))?;
        drill.claims_are("accepted all the while", |reply| reply.body["success"] == true)?;
        drill.reading_goes_on()?;
        std::thread::sleep(LASTS);
        drop(failing);
        let (ready, sold) = drill.recovers()?;
        drill.end(&format!("ready all the while, {ready:?}, selling after {sold:?}"))?;
        let words = std::fs::read_to_string(&log)?;
        ensure!(words.contains("could not write the order log's store"), "nobody was told: {words}");
    }
    Ok(())
}

#[test]
#[cfg_attr(
    not(feature = "fault-tests"),
    ignore = "needs strace that may attach to a child; tests/run turns it on where it does"
)]
fn a_record_that_cannot_be_written_keeps_the_claims_in_the_log() -> anyhow::Result<()> {
    for (name, calls) in [("record sync fails", "fsync,fdatasync"), ("record write fails", WRITES)] {
        let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
        let mut drill = Drill::begin(name, site.path(), &site.path().join("mallbox.log"))?;
        let failing = Failing::begin(drill.server.id(), calls, &files_of_the_record(drill.data()))?;
        drill.readyz_tells("commit: store unavailable")?;
        drill.reading_goes_on()?;
        drill.claims_are("accepted all the while", |reply| reply.body["success"] == true)?;
        std::thread::sleep(LASTS);
        drop(failing);
        let (ready, sold) = drill.recovers()?;
        drill.end(&format!("ready again after {ready:?}, selling after {sold:?}"))?;
    }
    Ok(())
}
