//! Verdicts as text: cells of a table, and a line on each verdict that differs from the expected one.

use std::fmt::Write as _;

use mallbox_bench_verdicts::{Question, Verdict};

/// Explains the marks of cells.
const MARKS: &str = "* differs from the expected verdict   − does not arise";

/// Returns the verdict on a question about a way.
pub(super) fn find<'verdict, Q: Question>(
    verdicts: &'verdict [Verdict<Q>],
    way: &str,
    question: Q,
) -> Option<&'verdict Verdict<Q>> {
    verdicts.iter().find(|verdict| verdict.way == way && verdict.question == question)
}

/// Returns the words of a verdict with their mark.
pub(super) fn cell<Q: Question>(verdicts: &[Verdict<Q>], way: &str, question: Q) -> String {
    find(verdicts, way, question).map_or_else(
        || "−".to_owned(),
        |verdict| format!("{}{}", verdict.words(), if verdict.is_expected { "" } else { " *" }),
    )
}

/// Returns the end of a printed comparison: the legend, and a line on each verdict that differs.
pub(super) fn footer<Q: Question>(legend: &str, verdicts: &[Verdict<Q>]) -> String {
    let mut text = format!("{legend}\n{MARKS}\n");
    for verdict in verdicts.iter().filter(|verdict| !verdict.is_expected) {
        let Verdict { way, question, expected, detail, .. } = verdict;
        let (question, words) = (question.words(), verdict.words());
        let expected = expected.unwrap_or_default();
        let _ = writeln!(text, "{way}, {question}: {words}, expected: {expected} ({detail})");
    }
    text
}
