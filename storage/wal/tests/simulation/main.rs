//! The log on a simulated disk: histories of writes, failing calls, power cuts and flipped bits from a seed.
//! Nothing acknowledged is lost, nothing is invented, and damage is told from a torn tail.
//!
//! `MALLBOX_SEEDS` sets the number of histories (10,000,000 by hand, in a release build), `MALLBOX_SEED`
//! repeats one and prints each call of its disk.

#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

mod disk;
mod found;
mod medium;
mod model;
mod run;

use std::env;
use std::panic::catch_unwind;
use std::thread;

use self::run::{Counts, Outcome, run};

/// Number of histories in `tests/run`.
const SEEDS: u64 = 4_000;

fn number_from(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is not a number: {text}")))
}

/// Runs every `threads`-th seed from `first` on, and panics at the first that fails.
fn run_share(first: u64, threads: u64, end: u64) -> Counts {
    let mut counts = Counts::default();
    for seed in (first..end).step_by(usize::try_from(threads).unwrap()) {
        let outcome =
            catch_unwind(|| run(seed, false)).unwrap_or_else(|_| panic!("MALLBOX_SEED={seed}: a panic"));
        if let Some(failure) = outcome.failure {
            panic!("MALLBOX_SEED={seed}: {failure}");
        }
        counts.add(&outcome.counts);
    }
    counts
}

#[test]
fn histories_lose_nothing_and_invent_nothing() {
    if let Some(seed) = number_from("MALLBOX_SEED") {
        let Outcome { counts, trace, failure } = run(seed, true);
        println!("{}{counts:?}", trace.unwrap());
        assert_eq!(failure, None);
        return;
    }
    let end = number_from("MALLBOX_SEEDS").unwrap_or(SEEDS);
    let threads = thread::available_parallelism().unwrap().get() as u64;
    let shares: Vec<_> =
        (0..threads).map(|first| thread::spawn(move || run_share(first, threads, end))).collect();
    let mut counts = Counts::default();
    for share in shares {
        counts.add(&share.join().unwrap());
    }
    println!("{end} histories: {counts:?}");
    // Each of the things happens that the histories are for.
    let Counts { commits, failed_commits, crashes, failed_starts, .. } = counts;
    let Counts { torn_tails, flips, damaged, rebuilt_manifests, .. } = counts;
    let calls = [commits, failed_commits, crashes, failed_starts];
    let least = calls.into_iter().chain([torn_tails, flips, damaged, rebuilt_manifests]).min();
    assert!(end < SEEDS || least > Some(0), "{counts:?}");
}

#[test]
fn history_is_repeated_by_its_seed_call_by_call() {
    for seed in 0..60 {
        let (one, other) = (run(seed, true), run(seed, true));
        assert_eq!(one.trace.unwrap(), other.trace.unwrap(), "seed {seed}");
        assert_eq!(one.counts, other.counts);
    }
    assert_ne!(run(1, true).trace, run(2, true).trace);
}
