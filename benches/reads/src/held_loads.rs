//! Reads of the database, counted, and held where an experiment wants.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

/// Reads have settled once their number has not changed for this long: long for a read and for a new
/// connection.
const SETTLED: Duration = Duration::from_millis(500);
/// Longest wait for the first read.
const FIRST_TIMEOUT: Duration = Duration::from_secs(10);

/// Reads of the database, counted, and held between the read and whatever the caller does with the value.
#[derive(Debug)]
pub struct HeldLoads {
    count: AtomicU64,
    is_held: watch::Sender<bool>,
}

impl Default for HeldLoads {
    fn default() -> Self {
        Self { count: AtomicU64::new(0), is_held: watch::Sender::new(false) }
    }
}

impl HeldLoads {
    /// Reads. The value is returned when reads are no longer held.
    pub async fn pass<T>(&self, read: impl Future<Output = T>) -> T {
        let value = read.await;
        self.count.fetch_add(1, Ordering::SeqCst);
        // The sender lives as long as `self`.
        let _ = self.is_held.subscribe().wait_for(|is_held| !is_held).await;
        value
    }

    /// Counts anew.
    pub(crate) fn reset(&self) {
        self.count.store(0, Ordering::SeqCst);
    }

    /// Returns the number of reads.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::SeqCst)
    }

    /// Holds reads from now on.
    pub(crate) fn hold(&self) {
        self.is_held.send_replace(true);
    }

    /// Lets held reads go on.
    pub(crate) fn release(&self) {
        self.is_held.send_replace(false);
    }

    /// Waits until no further read comes. Returns the number of reads; 0 if none came.
    pub(crate) async fn settled(&self) -> u64 {
        let (began, mut last, mut since) = (Instant::now(), self.count(), Instant::now());
        loop {
            tokio::time::sleep(SETTLED / 10).await;
            let count = self.count();
            if count != last {
                (last, since) = (count, Instant::now());
            }
            let patience = if count == 0 { FIRST_TIMEOUT } else { SETTLED };
            if since.elapsed() >= patience || began.elapsed() >= 2 * FIRST_TIMEOUT {
                return count;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[tokio::test]
    async fn held_reads_have_read_and_wait() {
        let loads = Arc::new(HeldLoads::default());
        assert_eq!(loads.pass(async { 1 }).await, 1);
        loads.reset();
        loads.hold();
        let reading = Arc::clone(&loads);
        let read = tokio::spawn(async move { reading.pass(async { 2 }).await });
        assert_eq!(loads.settled().await, 1);
        assert!(!read.is_finished());
        loads.release();
        assert_eq!(read.await.unwrap(), 2);
    }
}
