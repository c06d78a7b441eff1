//! Metrics of the retry queue.

use std::sync::atomic::{AtomicU64, Ordering};

use mallbox_storage::RetryCounts;

use super::breaker::BreakerState;

/// Runs of segments since the start of this instance, by outcome.
#[derive(Default, Debug)]
pub(super) struct Runs {
    pub(super) passed: AtomicU64,
    pub(super) failed: AtomicU64,
    pub(super) hopeless: AtomicU64,
    /// Runs put off by an open breaker.
    pub(super) held_back: AtomicU64,
    /// Submissions refused as full.
    pub(super) refused: AtomicU64,
}

impl Runs {
    pub(super) fn add(counter: &AtomicU64, number: usize) {
        counter.fetch_add(number as u64, Ordering::Relaxed);
    }
}

/// A breaker that is not closed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BreakerMetrics {
    /// The segment, and the remote party if the segment has several.
    pub name: String,
    /// The state.
    pub state: BreakerState,
}

/// Metrics of a kind of work: of the stored tasks, and of this instance since its start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RetryMetrics {
    /// Numbers of the stored tasks.
    pub counts: RetryCounts,
    /// Runs of segments that passed.
    pub passed: u64,
    /// Runs that failed, and may be repeated.
    pub failed: u64,
    /// Runs that failed, and would fail again.
    pub hopeless: u64,
    /// Runs put off by an open breaker.
    pub held_back: u64,
    /// Submissions refused as full.
    pub refused: u64,
    /// Breakers that are not closed.
    pub breakers: Vec<BreakerMetrics>,
}

impl RetryMetrics {
    pub(super) fn of(counts: RetryCounts, runs: &Runs, breakers: Vec<(String, BreakerState)>) -> Self {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Self {
            counts,
            passed: get(&runs.passed),
            failed: get(&runs.failed),
            hopeless: get(&runs.hopeless),
            held_back: get(&runs.held_back),
            refused: get(&runs.refused),
            breakers: breakers.into_iter().map(|(name, state)| BreakerMetrics { name, state }).collect(),
        }
    }
}
