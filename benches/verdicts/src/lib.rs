//! Verdicts of experiments over repetitions, beside the verdicts that were expected.
//!
//! A bench compares ways to do one thing. An experiment answers a question about a way with a [`Finding`];
//! [`Verdict::of`] gathers the findings of all repetitions and compares them with [`Expectations`].

mod expectations;
mod finding;
mod question;
mod verdict;

pub use expectations::{ANY, Expectations, NONE};
pub use finding::Finding;
pub use question::Question;
pub use verdict::Verdict;
