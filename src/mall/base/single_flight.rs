//! Single-flight: concurrent callers with the same key share one call.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use mallbox_storage::StoreError;
use parking_lot::Mutex;
use tokio::sync::OnceCell;

/// Calls in progress, by key. A caller shares the result of a call in progress for the same key.
///
/// If the task doing the work is cancelled, the next waiter does the work instead. Nothing is kept after a
/// call has completed.
#[derive(Debug)]
pub(in crate::mall) struct SingleFlight<K: Hash + Eq + Copy, V> {
    under_way: Mutex<HashMap<K, Arc<OnceCell<V>>>>,
}

impl<K: Hash + Eq + Copy, V> Default for SingleFlight<K, V> {
    fn default() -> Self {
        Self { under_way: Mutex::default() }
    }
}

impl<K: Hash + Eq + Copy, V: Clone> SingleFlight<K, V> {
    /// Returns the result of the call in progress for `key`, or of `work` if there is none.
    pub(in crate::mall) async fn share<F: Future<Output = V>>(&self, key: K, work: impl FnOnce() -> F) -> V {
        let cell = Arc::clone(self.under_way.lock().entry(key).or_default());
        let seat = FlightWaiter { single_flight: self, key, cell };
        let answer = seat.cell.get_or_init(work).await.clone();
        drop(seat);
        answer
    }

    /// Returns the number of callers in the call for `key`, the one doing the work included.
    pub(in crate::mall) fn waiting(&self, key: &K) -> usize {
        // The map holds a reference as well.
        self.under_way.lock().get(key).map_or(0, |cell| Arc::strong_count(cell) - 1)
    }

    /// Detaches the call in progress: later callers start a new call, because the underlying value has
    /// changed.
    pub(in crate::mall) fn part(&self, key: &K) {
        self.under_way.lock().remove(key);
    }
}

/// Converts the error of a shared call into an error for one of its callers. A full disk stays a full disk.
pub(in crate::mall) fn shared(op: &'static str, error: &Arc<StoreError>) -> StoreError {
    match &**error {
        StoreError::Full { detail, .. } => StoreError::Full { op, detail: detail.clone() },
        error => StoreError::Unavailable { op, source: error.to_string().into() },
    }
}

/// One caller of a shared call. The first caller to leave after completion, or the last to give up before,
/// removes the map entry.
struct FlightWaiter<'a, K: Hash + Eq + Copy, V> {
    single_flight: &'a SingleFlight<K, V>,
    key: K,
    cell: Arc<OnceCell<V>>,
}

impl<K: Hash + Eq + Copy, V> Drop for FlightWaiter<'_, K, V> {
    fn drop(&mut self) {
        /// References held by the map and by this caller.
        const NOBODY_ELSE: usize = 2;
        let mut under_way = self.single_flight.under_way.lock();
        let is_mine = under_way.get(&self.key).is_some_and(|cell| Arc::ptr_eq(cell, &self.cell));
        if is_mine && (self.cell.initialized() || Arc::strong_count(&self.cell) <= NOBODY_ELSE) {
            under_way.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn many_who_ask_at_once_share_one_call_and_the_next_one_makes_its_own() {
        let single_flight = Arc::new(SingleFlight::<u8, u32>::default());
        let calls = Arc::new(AtomicU32::new(0));
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..100 {
            let (single_flight, calls) = (Arc::clone(&single_flight), Arc::clone(&calls));
            tasks.spawn(async move {
                single_flight
                    .share(1, || async {
                        tokio::time::sleep(Duration::from_millis(20)).await;
                        calls.fetch_add(1, Ordering::SeqCst)
                    })
                    .await
            });
        }
        assert!(tasks.join_all().await.iter().all(|answer| *answer == 0));
        assert_eq!(single_flight.share(1, || async { calls.fetch_add(1, Ordering::SeqCst) }).await, 1);
        assert!(single_flight.under_way.lock().is_empty());
    }

    #[tokio::test]
    async fn a_caller_who_gives_up_leaves_nothing_behind_and_strands_nobody() {
        let single_flight = Arc::new(SingleFlight::<u8, u32>::default());
        let never = single_flight.share(1, std::future::pending);
        let gave_up = tokio::time::timeout(Duration::from_millis(5), never).await;
        assert!(gave_up.is_err());
        assert!(single_flight.under_way.lock().is_empty());
        let first = {
            let single_flight = Arc::clone(&single_flight);
            tokio::spawn(async move { single_flight.share(1, std::future::pending).await })
        };
        tokio::time::sleep(Duration::from_millis(5)).await;
        let second = {
            let single_flight = Arc::clone(&single_flight);
            tokio::spawn(async move { single_flight.share(1, || async { 7 }).await })
        };
        tokio::time::sleep(Duration::from_millis(5)).await;
        first.abort();
        assert_eq!(second.await.unwrap(), 7);
    }
}
