//! Mutex: who misses takes the lock of the entry (SET NX) and loads; the others ask again every 50 ms. Absent
//! shops get an empty entry.
//!
//! THE PRICE: everybody waits while one loads, and for the whole lease if that one died.

use std::time::Duration;

use mallbox_bench_ports::BenchError;

use super::entries::Entries;

/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(50);

/// Waits for an entry, or loads under its lock. `load` is not polled unless this caller gets the lock.
pub(super) async fn load_alone(
    entries: &Entries,
    shop: u64,
    load: impl Future<Output = Result<Option<u64>, BenchError>>,
) -> Result<Option<u64>, BenchError> {
    while !entries.lock(shop).await? {
        tokio::time::sleep(PAUSE).await;
        if let Some(text) = entries.get(shop).await? {
            return Ok(text.parse().ok());
        }
    }
    // Somebody may have loaded between the look and the lock.
    let found = match entries.get(shop).await? {
        Some(text) => Ok(text.parse().ok()),
        None => load.await,
    };
    entries.unlock(shop).await?;
    found
}
