//! Limits grow on a busy machine. A separate process, because the highest measurement persists for the rest
//! of a process.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{available_parallelism, scope, sleep};
use std::time::Duration;

use mallbox_test_patience::{Deadline, MEASUREMENT_TTL, is_busy, is_within, scaled};

const LIMIT: Duration = Duration::from_secs(1_000);

#[test]
fn a_busy_machine_got_the_limits_of_an_idle_one() {
    let (is_over, deadline) = (AtomicBool::new(false), Deadline::after(LIMIT));
    scope(|scope| {
        for _ in 0..8 * available_parallelism().unwrap().get() {
            scope.spawn(|| {
                while !is_over.load(Relaxed) {
                    spin_loop()
                }
            });
        }
        // The scheduler may favour a thread for one measurement, but not for all ten.
        for _ in 0..10 {
            if !is_busy() {
                sleep(MEASUREMENT_TTL);
            }
        }
        is_over.store(true, Relaxed);
    });
    assert!(is_busy());
    assert!(scaled(LIMIT) >= 2 * LIMIT);
    assert!(deadline.left() > LIMIT, "a wait that began on an idle machine");
    assert!(is_within(LIMIT + LIMIT / 2, LIMIT) && !is_within(100 * LIMIT, LIMIT));
    assert!(!Deadline::after(LIMIT).is_over() && Deadline::after(Duration::ZERO).is_over());
}
