//! A disk that fills up during a sale: ext4 on a loop device, and a file that occupies the free space.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::ensure;
use rustix::fs::{FallocateFlags, fallocate, statvfs};

use crate::common::http::{self, Reply};
use crate::common::image::DiskSite;
use crate::drill::Drill;

/// `Retry-After` on a full disk, in seconds: an administrator must free space.
const RETRY_AFTER_FULL_DISK_S: Option<u64> = Some(30);

const TIMEOUT: Duration = Duration::from_secs(20);

/// A file that occupies space until dropped.
struct Ballast(PathBuf);

impl Ballast {
    fn leave(dir: &Path, bytes_free: u64) -> anyhow::Result<Self> {
        let ballast = Self(dir.join("ballast"));
        let file = File::create(&ballast.0)?;
        let space = statvfs(dir)?;
        let free = space.f_bavail * space.f_frsize;
        // The file system needs metadata blocks for a large file: the size is reduced until allocation
        // succeeds.
        let mut length = free.saturating_sub(bytes_free);
        while fallocate(&file, FallocateFlags::empty(), 0, length).is_err() {
            length -= 4_096;
        }
        Ok(ballast)
    }
}

impl Drop for Ballast {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn drill(name: &'static str, bytes_left: u64) -> anyhow::Result<()> {
    let site = DiskSite::new(Path::new(env!("CARGO_TARGET_TMPDIR")))?;
    let image = site.format("disk.img")?;
    let disk = site.mount(&image, "disk")?;
    let mut drill = Drill::begin(name, disk.path(), &site.path().join("mallbox.log"))?;
    let ballast = Ballast::leave(disk.path(), bytes_left)?;
    let noticed = drill.claims_are("refused", |reply| {
        (reply.status, reply.code(), reply.retry_after()) == (503, "DISK_FULL", RETRY_AFTER_FULL_DISK_S)
    })?;
    drill.readyz_tells("disk full: ")?;
    drill.reading_goes_on()?;
    std::thread::sleep(Duration::from_secs(3));
    drill.reading_goes_on()?;
    let logging_in = http::ask(drill.server.address, "POST", "/api/user/code?phone=13900000002", "")?;
    ensure!((logging_in.status, logging_in.code()) == (503, "DISK_FULL"), "{logging_in:?}");
    drop(ballast);
    let (ready, sold) = drill.recovers()?;
    drill.end(&format!(
        "refused after {noticed:?}; with room again ready after {ready:?}, selling after {sold:?}"
    ))
}

#[test]
#[cfg_attr(
    not(feature = "power-tests"),
    ignore = "needs root and loop devices; tests/run turns it on where they are there"
)]
fn a_disk_that_runs_low_stops_the_sale_before_anything_breaks() -> anyhow::Result<()> {
    drill("disk low", 40 << 20)
}

/// Space is short, but there is enough for what was sold before: nothing more is sold, and everything else
/// goes on.
#[test]
#[cfg_attr(
    not(feature = "power-tests"),
    ignore = "needs root and loop devices; tests/run turns it on where they are there"
)]
fn a_disk_that_is_nearly_full_stops_the_sale_alone() -> anyhow::Result<()> {
    let site = DiskSite::new(Path::new(env!("CARGO_TARGET_TMPDIR")))?;
    let image = site.format("disk.img")?;
    let disk = site.mount(&image, "disk")?;
    let mut drill = Drill::begin("disk nearly full", disk.path(), &site.path().join("mallbox.log"))?;
    let bought = drill.claim()?;
    ensure!(bought.body["success"] == true, "{bought:?}");
    let warned = Ballast::leave(disk.path(), 160 << 20)?;
    let is_warned =
        |reply: &Reply| reply.status == 200 && reply.text.contains("below 96 MiB nothing is sold");
    http::until(drill.server.address, "/readyz", TIMEOUT, is_warned)?;
    drop(warned);
    let ballast = Ballast::leave(disk.path(), 80 << 20)?;
    // The order of the first claim belongs to the last probe: it is cancelled before another claim is sent.
    drill.readyz_tells("disk nearly full: ")?;
    let cancelled = drill.cancel(&bought)?;
    ensure!(cancelled.body["success"] == true, "{cancelled:?}");
    let noticed = drill.claims_are("refused", |reply| {
        (reply.status, reply.code(), reply.retry_after()) == (503, "DISK_FULL", RETRY_AFTER_FULL_DISK_S)
    })?;
    drill.reading_goes_on()?;
    let logging_in = http::ask(drill.server.address, "POST", "/api/user/code?phone=13900000002", "")?;
    ensure!(logging_in.status == 200, "{logging_in:?}");
    drop(ballast);
    let (ready, sold) = drill.recovers()?;
    drill.end(&format!(
        "refused after {noticed:?}; with room again ready after {ready:?}, selling after {sold:?}"
    ))
}

/// The disk fills up in one step: sled and SQLite run out of space in the middle of a write.
#[test]
#[cfg_attr(
    not(feature = "power-tests"),
    ignore = "needs root and loop devices; tests/run turns it on where they are there"
)]
fn a_disk_that_is_full_at_once_loses_nothing_that_was_answered() -> anyhow::Result<()> {
    drill("disk full", 0)
}
