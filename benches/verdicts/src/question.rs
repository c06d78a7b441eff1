//! The questions that experiments answer.

use serde::Serialize;

/// A question about a way.
pub trait Question: Copy + PartialEq + Serialize + 'static {
    /// Returns the question in a few words.
    fn words(self) -> &'static str;
}
