//! The verdict that each experiment on feeds must reach.

use mallbox_bench_verdicts::Expectations;

use super::question::FeedQuestion;

/// Verdicts that each way must reach.
pub(super) const EXPECTED: Expectations<FeedQuestion, 4> = Expectations {
    questions: FeedQuestion::ALL,
    #[rustfmt::skip]
    ways: &[
        // new fan,                unfollowed, deleted,    writer killed
        ("pull",              ["30 of 30", "gone", "10 notes", "all see it"]),
        ("push",              ["0 of 30",  "stay", "7 notes",  "nobody sees it"]),
        ("hybrid",            ["0 of 30",  "stay", "7 notes",  "nobody sees it"]),
        ("mallbox-directory", ["20 of 30", "gone", "7 notes",  "all see it later"]),
        ("mallbox-servers",   ["20 of 30", "gone", "7 notes",  "all see it later"]),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feeds::WAYS;

    #[test]
    fn every_way_has_its_verdicts() {
        let names: Vec<_> = EXPECTED.ways.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, WAYS.iter().map(|way| way.name).collect::<Vec<_>>());
    }
}
