//! Attempts at a case: one that a stalled server broke is made again.
//!
//! Calls to servers have time limits in the product, which a busy machine exceeds. No case takes a server
//! away, so that such a call tells nothing about the contract. A case that meets one at each attempt fails,
//! and so does any further case once a run has met [`STALLS_MAX`] of them.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Attempts at a case.
const ATTEMPTS: usize = 3;
/// Stalled servers per run, of some thousand cases.
const STALLS_MAX: usize = 6;
/// What the panic message of an unwrapped error contains if a call exceeded its time.
const STALLED: &str = "no response within";

/// Runs a case until it passes, fails for a reason of its own, or has met a stalled server each time.
pub(crate) fn run(name: &str, mut case: impl FnMut()) {
    static STALLS: AtomicUsize = AtomicUsize::new(0);
    for attempt in 1..=ATTEMPTS {
        match catch_unwind(AssertUnwindSafe(&mut case)) {
            Err(panic)
                if attempt < ATTEMPTS
                    && message(&*panic).contains(STALLED)
                    && STALLS.fetch_add(1, Ordering::Relaxed) < STALLS_MAX =>
            {
                println!("{name}: attempt {attempt} of {ATTEMPTS} met a server that did not respond in time");
            }
            Err(panic) => resume_unwind(panic),
            Ok(()) => return,
        }
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use mallbox_storage::StoreError;

    use super::*;

    fn unavailable() -> Result<(), StoreError> {
        Err(StoreError::Unavailable { op: "insert voucher", source: "no response within 700ms".into() })
    }

    /// Runs a case that panics as `fails` says at each attempt, and returns the number of attempts and
    /// whether the case passed.
    fn attempts(fails: impl Fn(usize)) -> (usize, bool) {
        let mut made = 0;
        let attempt = || {
            made += 1;
            fails(made);
        };
        let passed = catch_unwind(AssertUnwindSafe(|| run("port::set_up::case", attempt))).is_ok();
        (made, passed)
    }

    #[test]
    fn a_case_that_met_a_stalled_server_is_run_again() {
        let stalled_twice = |made| {
            if made < 3 {
                unavailable().unwrap();
            }
        };
        assert_eq!(attempts(stalled_twice), (3, true));
        assert_eq!(attempts(|_| unavailable().unwrap()), (3, false));
    }

    #[test]
    fn a_case_that_fails_for_a_reason_of_its_own_is_run_once() {
        assert_eq!(attempts(|_| panic!("two buyers got the same unit")), (1, false));
        assert_eq!(attempts(|made| assert_eq!(made, 0)), (1, false));
    }
}
