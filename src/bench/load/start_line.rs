//! The common start of a load's threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use parking_lot::Mutex;

use super::ready_set::ReadySet;

/// Where threads wait until all connections of all threads have been dialled. Otherwise the first latencies
/// would include the server's accepting.
#[derive(Debug)]
pub(super) struct StartLine {
    missing: AtomicUsize,
    waiting: Mutex<Vec<Arc<ReadySet>>>,
    started: OnceLock<Instant>,
}

impl StartLine {
    pub fn new(threads: usize) -> Self {
        Self { missing: AtomicUsize::new(threads), waiting: Mutex::default(), started: OnceLock::new() }
    }

    /// Reports a thread as ready. The last one starts all: their sets are woken.
    pub fn ready(&self, thread: Arc<ReadySet>) {
        self.waiting.lock().push(thread);
        if self.missing.fetch_sub(1, Ordering::AcqRel) == 1 {
            // Read after the last dial, so that the first request is due at once.
            let _ = self.started.set(Instant::now());
            for thread in self.waiting.lock().drain(..) {
                thread.wake_task();
            }
        }
    }

    /// Returns the instant of the start, which has come.
    pub fn started(&self) -> Option<Instant> {
        self.started.get().copied()
    }
}
