//! The steps of a comparison of ways, for a bar in the terminal and for the page of `mallbox learn`.

use std::ops::ControlFlow;

/// A step that begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// Name of the way.
    pub way: &'static str,
    /// What is done on it.
    pub words: &'static str,
    /// Steps that are over.
    pub done: usize,
    /// All steps of the comparison.
    pub total: usize,
}

/// Gets each step before it begins; `Break` cancels the comparison there.
pub type OnStep<'caller> = dyn FnMut(Step) -> ControlFlow<()> + 'caller;
