//! Polling for a condition, with a time limit.

use std::thread::sleep;
use std::time::{Duration, Instant};

use mallbox_test_patience as patience;

/// Longer than any step on a busy machine, and than a page's own polling interval.
const POLL_TIMEOUT: Duration = Duration::from_secs(30);
/// Pause between two checks: short enough to continue promptly, long enough for the browser to make progress.
const POLL_INTERVAL: Duration = Duration::from_millis(30);

/// Repeats `look` until success. After the time limit, panics with the last error.
#[track_caller]
pub fn until<T>(what: &str, mut look: impl FnMut() -> Result<T, String>) -> T {
    let began = Instant::now();
    loop {
        match look() {
            Ok(seen) => return seen,
            Err(why) if !patience::is_within(began.elapsed(), POLL_TIMEOUT) => panic!("{what}: {why}"),
            Err(_) => sleep(POLL_INTERVAL),
        }
    }
}
