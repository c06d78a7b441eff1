//! The verdict on a question about a way, over all repetitions.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::finding::Finding;
use crate::question::Question;

/// Verdicts on a question about a way, over all repetitions. Names of fields are those of the published file.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Verdict<Q> {
    /// Name of the way.
    pub way: &'static str,
    /// The question.
    pub question: Q,
    /// The verdicts, each with its number of repetitions.
    pub verdicts: BTreeMap<String, usize>,
    /// The verdict that stands in the code; `None` = any.
    pub expected: Option<&'static str>,
    /// Whether each repetition had the expected verdict.
    pub is_expected: bool,
    /// Counts of the first repetition.
    pub detail: String,
    /// Measured values of the first repetition.
    #[serde(flatten)]
    pub figures: BTreeMap<&'static str, f64>,
}

impl<Q: Question> Verdict<Q> {
    /// Gathers the findings on a question; `None` without any.
    pub fn of(
        way: &'static str,
        question: Q,
        expected: Option<&'static str>,
        findings: &[Finding<Q>],
    ) -> Option<Self> {
        let about = || findings.iter().filter(|finding| finding.question == question);
        let Finding { detail, figures, .. } = about().next()?.clone();
        let mut verdicts = BTreeMap::new();
        for finding in about() {
            *verdicts.entry(finding.verdict.clone()).or_default() += 1;
        }
        let is_expected = expected.is_none_or(|words| verdicts.keys().all(|verdict| verdict == words));
        Some(Self { way, question, verdicts, expected, is_expected, detail, figures })
    }

    /// Returns the verdict on a question that no experiment answered.
    pub(crate) fn missing(way: &'static str, question: Q, expected: Option<&'static str>) -> Self {
        let detail = "no experiment answered".to_owned();
        let verdicts = [("no verdict".to_owned(), 1)].into();
        Self { way, question, verdicts, expected, is_expected: false, detail, figures: BTreeMap::new() }
    }

    /// Returns the verdict, with `k of n` where repetitions differ.
    #[must_use]
    pub fn words(&self) -> String {
        let runs: usize = self.verdicts.values().sum();
        let words = self.verdicts.iter().map(|(verdict, count)| {
            if *count == runs { verdict.clone() } else { format!("{verdict} ({count} of {runs})") }
        });
        words.collect::<Vec<_>>().join(", ")
    }

    /// Returns a measured value.
    #[must_use]
    pub fn figure(&self, name: &str) -> Option<f64> {
        self.figures.get(name).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Expectations;

    #[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
    #[serde(rename_all = "snake_case")]
    enum Asked {
        KilledAtWork,
        Replay,
    }

    impl Question for Asked {
        fn words(self) -> &'static str {
            "asked"
        }
    }

    const EXPECTED: Expectations<Asked, 2> = Expectations {
        questions: [Asked::KilledAtWork, Asked::Replay],
        ways: &[("group", ["repeats 1", crate::ANY]), ("channel", [crate::NONE, "none"])],
    };

    fn verdict(verdicts: &[&str]) -> Verdict<Asked> {
        let finding = |verdict: &&str| Finding::new(Asked::KilledAtWork, *verdict, "");
        let findings: Vec<_> = verdicts.iter().map(finding).collect();
        let expected = EXPECTED.expected("group", Asked::KilledAtWork);
        Verdict::of("group", Asked::KilledAtWork, expected, &findings).unwrap()
    }

    #[test]
    fn one_repetition_that_differs_is_seen() {
        let same = verdict(&["repeats 1", "repeats 1"]);
        assert!(same.is_expected && same.words() == "repeats 1", "{same:?}");
        let other = verdict(&["repeats 1", "loses 1", "repeats 1"]);
        assert!(!other.is_expected, "{other:?}");
        assert_eq!(other.words(), "loses 1 (1 of 3), repeats 1 (2 of 3)");
    }

    #[test]
    fn any_verdict_is_expected_where_the_table_says_so() {
        assert_eq!(EXPECTED.expected("group", Asked::Replay), None);
        assert!(EXPECTED.arises("group", Asked::Replay) && !EXPECTED.arises("channel", Asked::KilledAtWork));
        let findings = [Finding::new(Asked::Replay, "whatever", "")];
        assert!(Verdict::of("group", Asked::Replay, None, &findings).unwrap().is_expected);
        assert_eq!(Verdict::of("group", Asked::KilledAtWork, None, &findings), None);
    }

    #[test]
    fn a_question_without_a_finding_differs() {
        let findings = [Finding::new(Asked::Replay, "none", "")];
        let [killed, replay] = &EXPECTED.judge("group", &findings)[..] else { panic!("two verdicts") };
        assert_eq!((killed.words(), killed.is_expected), ("no verdict".to_owned(), false));
        assert!(replay.is_expected, "{replay:?}");
        assert!(EXPECTED.judge("channel", &findings).iter().all(|verdict| verdict.is_expected));
    }

    #[test]
    fn figures_are_published_beside_the_verdict() {
        let finding = Finding::new(Asked::Replay, "none", "").with_figure("bytes_per_message", Some(1.5));
        let verdict =
            Verdict::of("group", Asked::Replay, None, &[finding.with_figure("unknown", None)]).unwrap();
        let json = serde_json::to_value(&verdict).unwrap();
        assert_eq!((&json["question"], &json["bytes_per_message"]), (&"replay".into(), &1.5.into()));
        assert_eq!((verdict.figure("bytes_per_message"), json.get("unknown")), (Some(1.5), None));
    }
}
