//! The verdict that each experiment on caches must reach.

use mallbox_bench_verdicts::{Expectations, NONE};

use super::question::CacheQuestion;

const OLD: &str = "old value stays";
const NEW: &str = "new value";
const AT_ONCE: &str = "old value at once";

/// Verdicts that each way must reach.
pub(super) const EXPECTED: Expectations<CacheQuestion, 7> = Expectations {
    questions: CacheQuestion::ALL,
    #[rustfmt::skip]
    ways: &[
        // absent, hot expired, while loading, filled together, read in write, write in read, holder killed
        ("none",              ["100 of 100", "each loads", "wait",  NONE,       NEW, NEW, NONE]),
        ("aside",             ["100 of 100", "each loads", "wait",  "together", NEW, OLD, NONE]),
        ("delete-first",      ["100 of 100", "each loads", "wait",  "together", OLD, OLD, NONE]),
        ("double-delete",     ["100 of 100", "each loads", "wait",  "together", NEW, NEW, NONE]),
        ("null-value",        ["10 of 100",  "each loads", "wait",  "together", NEW, OLD, NONE]),
        ("bloom",             ["0 of 100",   "each loads", "wait",  "together", NEW, OLD, NONE]),
        ("jitter",            ["100 of 100", "each loads", "wait",  "spread",   NEW, OLD, NONE]),
        ("mutex",             ["10 of 100",  "one loads",  "wait",  "together", NEW, OLD, "wait for its end"]),
        ("logical-expiry",    ["0 of 100",   "one loads",  AT_ONCE, "together", NEW, OLD, "go on"]),
        ("mallbox-directory", ["10 of 100",  "one loads",  AT_ONCE, "spread",   NEW, NEW, NONE]),
        ("mallbox-servers",   ["10 of 100",  "one loads",  AT_ONCE, "spread",   NEW, NEW, "go on"]),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caches::WAYS;

    #[test]
    fn every_way_has_its_verdicts() {
        let names: Vec<_> = EXPECTED.ways.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, WAYS.iter().map(|way| way.name).collect::<Vec<_>>());
    }
}
