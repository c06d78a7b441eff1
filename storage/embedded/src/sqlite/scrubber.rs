//! The scrubber: a thread that reads every page of the database once a week and compares it with its
//! checksum.
//!
//! Disks fail in silence, and a page that nobody reads may rot until the last backup that had it is gone.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, RecvTimeoutError};
use mallbox_storage_integrity::PageChecksums;

/// One round over all pages begins at most this often.
const ROUND: Duration = Duration::from_hours(7 * 24);
/// Pause between two steps. A step of [`STEP_PAGES`] pages takes about a millisecond of processor time; at
/// this pace 100 GiB take five days.
const PAUSE: Duration = Duration::from_secs(1);
/// Pages read in one step at least: 256 KiB.
const STEP_PAGES: u32 = 64;

pub(super) struct Scrubber {
    pub(super) checksums: Arc<PageChecksums>,
    /// Nothing is ever sent: the channel is disconnected when the database closes.
    pub(super) closing: Receiver<()>,
}

impl Scrubber {
    /// Runs until the database closes.
    pub(super) fn run(self) {
        let (mut began, mut next) = (Instant::now(), 1);
        while let Err(RecvTimeoutError::Timeout) = self.closing.recv_timeout(PAUSE) {
            if next == 0 && began.elapsed() >= ROUND {
                (began, next) = (Instant::now(), 1);
            }
            if next > 0 {
                next = self.step(next);
            }
        }
    }

    /// Reads some pages from `from` on. Returns the next page; 0 at the end.
    fn step(&self, from: u32) -> u32 {
        let pages = self.checksums.pages().unwrap_or(0);
        let count = step_of(pages);
        let scanned = self.checksums.scan(from, count);
        if let Ok(scan) = &scanned
            && !scan.damaged.is_empty()
        {
            tracing::error!(pages = ?scan.damaged, "pages of the database do not match their checksums");
        }
        match scanned {
            Ok(scan) if scan.read < count => {
                tracing::info!(pages, "read every page of the database");
                0
            }
            Ok(_) => from.saturating_add(count),
            Err(error) => {
                tracing::error!(%error, from, "could not read pages of the database");
                from.saturating_add(count)
            }
        }
    }
}

/// Returns the number of pages per step, so that a round ends within [`ROUND`].
fn step_of(pages: u32) -> u32 {
    let steps = u32::try_from(ROUND.as_secs() / PAUSE.as_secs()).unwrap_or(u32::MAX);
    STEP_PAGES.max(pages / steps + 1)
}

/// Reads every page at once, in steps of [`STEP_PAGES`].
///
/// # Errors
/// The system refuses a read.
pub(super) fn read_all(checksums: &PageChecksums) -> io::Result<()> {
    let mut next = 1;
    while checksums.scan(next, STEP_PAGES)?.read == STEP_PAGES {
        next += STEP_PAGES;
    }
    Ok(())
}
