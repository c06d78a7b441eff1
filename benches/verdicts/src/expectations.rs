//! The verdict that each experiment must reach.

use crate::finding::Finding;
use crate::question::Question;
use crate::verdict::Verdict;

/// Any verdict: what happens depends on the moment.
pub const ANY: &str = "*";
/// The question does not arise.
pub const NONE: &str = "";

/// Table of expected verdicts: a row for each way, a column for each question.
#[derive(Debug)]
pub struct Expectations<Q: 'static, const N: usize> {
    /// The questions, in the order of the columns.
    pub questions: [Q; N],
    /// Name of each way with its verdicts; [`ANY`] and [`NONE`] are possible.
    pub ways: &'static [(&'static str, [&'static str; N])],
}

impl<Q: Question, const N: usize> Expectations<Q, N> {
    /// Returns the verdict that a way must reach; `None` = any.
    pub fn expected(&self, way: &str, question: Q) -> Option<&'static str> {
        self.words(way, question).filter(|words| *words != ANY && *words != NONE)
    }

    /// Judges a way by the findings of all its experiments. A question that arises and has no finding gets a
    /// verdict that differs.
    pub fn judge(&self, way: &'static str, findings: &[Finding<Q>]) -> Vec<Verdict<Q>> {
        let arising = self.questions.iter().filter(|question| self.arises(way, **question));
        let judged = arising.map(|question| {
            let expected = self.expected(way, *question);
            let missing = || Verdict::missing(way, *question, expected);
            Verdict::of(way, *question, expected, findings).unwrap_or_else(missing)
        });
        judged.collect()
    }

    /// Returns whether a question arises for a way.
    pub fn arises(&self, way: &str, question: Q) -> bool {
        self.words(way, question).is_some_and(|words| words != NONE)
    }

    fn words(&self, way: &str, question: Q) -> Option<&'static str> {
        let (_, verdicts) = self.ways.iter().find(|(name, _)| *name == way)?;
        let at = self.questions.iter().position(|known| *known == question)?;
        verdicts.get(at).copied()
    }
}
