//! The steps of a comparison of ways, for a bar in the terminal and for the page of `mallbox learn`.

use std::ops::ControlFlow;

use super::drive::step_bar;

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

/// Runs a comparison beside a bar in the terminal.
///
/// # Errors
/// Those of the comparison.
pub fn with_bar<T>(
    steps: usize,
    compare: impl FnOnce(&mut OnStep<'_>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let bar = step_bar(steps as u64);
    let compared = compare(&mut |step| {
        bar.set_message(format!("{}: {}", step.way, step.words));
        bar.set_position(step.done as u64);
        ControlFlow::Continue(())
    });
    bar.finish_and_clear();
    compared
}
