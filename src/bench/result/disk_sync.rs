//! Syncs to the disk, sampled while a bench runs: a disk that others use is slower.

use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

/// Between two samples: ten syncs a second cost a mall nothing that can be measured.
const INTERVAL: Duration = Duration::from_millis(100);
const WRITE_BYTES: usize = 4 * 1024;

/// The sampler.
pub(super) struct DiskSyncSampler {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<io::Result<Histogram<u64>>>,
}

impl DiskSyncSampler {
    /// Writes to an unnamed file in a directory until stopped.
    pub(super) fn start(dir: &Path) -> io::Result<Self> {
        let file = tempfile::tempfile_in(dir)?;
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        Ok(Self { stop, thread: thread::spawn(move || sample(file, &seen)) })
    }

    /// Returns the durations in µs; `None` if a sync failed.
    pub(super) fn stop(self) -> Option<Histogram<u64>> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.thread().unpark();
        self.thread.join().ok()?.ok()
    }
}

fn sample(mut file: File, stop: &AtomicBool) -> io::Result<Histogram<u64>> {
    let mut durations = Histogram::new(3).map_err(io::Error::other)?;
    while !stop.load(Ordering::Relaxed) {
        let began = Instant::now();
        file.rewind()?;
        file.write_all(&[0; WRITE_BYTES])?;
        file.sync_data()?;
        durations.saturating_record(u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX));
        thread::park_timeout(INTERVAL);
    }
    Ok(durations)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syncs_are_counted() {
        let dir = tempfile::TempDir::new().unwrap();
        let sampler = DiskSyncSampler::start(dir.path()).unwrap();
        std::thread::sleep(Duration::from_millis(30));
        assert!(!sampler.stop().unwrap().is_empty());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        assert!(DiskSyncSampler::start(&dir.path().join("nowhere")).is_err());
    }
}
