//! Waiting for what will be so, and no longer than it may take.

use std::thread::sleep;
use std::time::{Duration, Instant};

use mallbox_test_patience as patience;

/// Longer than anything here takes on a machine with much else to do, and than a page waits before it looks again.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks: soon enough for a test to go on at once, and the browser has time to do something.
const GLANCE: Duration = Duration::from_millis(20);

/// Looks until there is something to see, and says what came of the last look if there never is.
#[track_caller]
pub fn until<T>(what: &str, mut look: impl FnMut() -> Result<T, String>) -> T {
    let began = Instant::now();
    loop {
        match look() {
            Ok(seen) => return seen,
            Err(why) if !patience::is_within(began.elapsed(), PATIENCE) => panic!("{what}: {why}"),
            Err(_) => sleep(GLANCE),
        }
    }
}
