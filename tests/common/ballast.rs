//! A disk that is filled up to a given size.

use std::fs::{self, File};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::ensure;
use mallbox_test_patience as patience;
use rustix::fs::{FallocateFlags, fallocate, statvfs};

const TIMEOUT: Duration = Duration::from_secs(30);
const BLOCK: u64 = 4_096;

/// A file that leaves a given space free, until dropped.
pub struct Ballast(PathBuf);

impl Ballast {
    /// Leaves `wanted` bytes free, to a block.
    pub fn leave(dir: &Path, wanted: u64) -> anyhow::Result<Self> {
        let ballast = Self(dir.join("ballast"));
        let file = File::create(&ballast.0)?;
        let began = Instant::now();
        let mut length = 0;
        loop {
            let space = statvfs(dir)?;
            let free = space.f_bavail * space.f_frsize;
            if free.abs_diff(wanted) < BLOCK {
                return Ok(ballast);
            }
            if free > wanted {
                match take(&file, length, (free - wanted) / BLOCK * BLOCK) {
                    // Space reserved by XFS.
                    0 => return Ok(ballast),
                    taken => length += taken,
                }
            } else {
                length = length.saturating_sub((wanted - free).next_multiple_of(BLOCK));
                file.set_len(length)?;
            }
            ensure!(patience::is_within(began.elapsed(), TIMEOUT), "{free} bytes are free, and not {wanted}");
        }
    }
}

/// Takes more space. The file system needs metadata blocks for a large file, so the request is reduced
/// until it succeeds.
fn take(file: &File, length: u64, mut more: u64) -> u64 {
    while more >= BLOCK {
        if fallocate(file.as_fd(), FallocateFlags::empty(), length, more).is_ok() {
            return more;
        }
        more = more / 2 / BLOCK * BLOCK;
    }
    0
}

impl Drop for Ballast {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
