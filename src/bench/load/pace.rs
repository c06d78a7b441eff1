//! A thread that wakes the load when requests are due.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::ready_set::ReadySet;
use super::schedule::Schedule;

/// Shortest time between two wake-ups: finer ones cost more than they gain. At high rates a request starts
/// late by up to this time, and the latency includes the delay.
const WAKE_INTERVAL_MIN: Duration = Duration::from_micros(200);

/// The thread. The runtime's own timers have a resolution of one millisecond; a sleeping thread is woken
/// within some 60 µs. Ends on drop.
pub(super) struct PaceThread {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl PaceThread {
    pub fn start(schedule: Schedule, rung: Arc<ReadySet>) -> io::Result<Self> {
        let over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&over);
        let thread = thread::Builder::new().name("load-beat".to_owned()).spawn(move || {
            let mut wake = schedule.origin();
            while !seen.load(Ordering::Relaxed) {
                let now = Instant::now();
                if now < wake {
                    thread::park_timeout(wake - now);
                    continue;
                }
                rung.wake_task();
                // One wake-up serves everything due, also what a busy machine missed. Beyond the last request
                // nothing has to be woken.
                match schedule.instant(schedule.due_by(now + Duration::from_nanos(1))) {
                    Some(next) => wake = next.max(wake + WAKE_INTERVAL_MIN),
                    None => return,
                }
            }
        })?;
        Ok(Self { over, thread: Some(thread) })
    }
}

impl Drop for PaceThread {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // The thread holds no state that a panic could have corrupted.
            let _ = thread.join();
        }
    }
}
