//! A segment that fails four times.

use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use mallbox::mall::base::retry::{Attempt, Segment, SegmentOutcome};

const THROWN: &str = "thrown by a segment that fails four times";

/// Panics twice, has no result twice, and passes then.
#[derive(Default)]
pub struct FailsFourTimes {
    pub runs: AtomicU64,
    pub passed: AtomicU64,
}

#[async_trait]
impl Segment for FailsFourTimes {
    fn name(&self) -> &'static str {
        "fifth time"
    }

    async fn run(&self, attempt: &Attempt) -> SegmentOutcome {
        self.runs.fetch_add(1, Ordering::Relaxed);
        match attempt.number {
            1 | 2 => panic!("{THROWN}"),
            3 | 4 => SegmentOutcome::NoResult,
            _ => {
                self.passed.fetch_add(1, Ordering::Relaxed);
                SegmentOutcome::Passed(Vec::new())
            }
        }
    }
}

/// Prints no panics of the segment any more, but all others.
pub fn silence() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if panic.payload_as_str() != Some(THROWN) {
            before(panic);
        }
    }));
}
