//! What a job runs: rungs of the ladder, or a comparison.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use mallbox_bench_ladder::{RungReport, Trigger};
use serde::Serialize;
use serde_json::Value;

use super::comparisons::Comparison;
use crate::bench::ladder::{AnyRung, LadderEffort, LadderSession};

/// Length of the measurement of a rung's rates.
const SPAN: Duration = Duration::from_millis(500);

/// What a job runs.
pub(super) enum Task {
    Rungs {
        rungs: Vec<AnyRung>,
        /// Runs of a rung under a trigger.
        repeat: usize,
    },
    Comparison(Comparison),
}

/// The step that runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Doing {
    Rung {
        rung: &'static str,
        /// `None` while rates are measured.
        trigger: Option<Trigger>,
    },
    Way {
        way: &'static str,
        words: &'static str,
    },
}

/// News of a task.
pub(super) enum News<'task> {
    /// A step begins.
    Step {
        doing: Doing,
        /// Steps that are over, and all.
        done: usize,
        total: usize,
        /// What is known of the rung so far.
        report: Option<&'task RungReport>,
    },
    /// All of a rung is known.
    Rung(&'static str, RungReport),
    /// The section of a comparison.
    Section(&'static str, Value),
}

/// Gets news of a task. After a step, `Break` cancels the task before the step begins.
pub(super) type OnNews<'caller> = dyn FnMut(News<'_>) -> ControlFlow<()> + 'caller;

impl Task {
    /// Returns the ids of the rungs.
    pub(super) fn rungs(&self) -> Vec<&'static str> {
        match self {
            Self::Rungs { rungs, .. } => rungs.iter().map(|rung| rung.id()).collect(),
            Self::Comparison(_) => Vec::new(),
        }
    }

    /// Returns the name of the comparison.
    pub(super) fn comparison(&self) -> Option<&'static str> {
        match self {
            Self::Rungs { .. } => None,
            Self::Comparison(comparison) => Some(comparison.name),
        }
    }

    /// Runs the task. The servers of the ladder are kept in `session`, and replaced after an error; those of
    /// a comparison end with it. `Break` if cancelled.
    ///
    /// # Errors
    /// Servers that do not start; a run or an experiment that could not be carried out.
    pub(super) fn run(
        &self,
        dir: &Path,
        session: &mut Option<LadderSession>,
        on_news: &mut OnNews<'_>,
    ) -> anyhow::Result<ControlFlow<()>> {
        match self {
            Self::Rungs { rungs, repeat } => {
                let open = match session.take() {
                    Some(open) => open,
                    None => LadderSession::open(dir, None)?,
                };
                let effort = LadderEffort { triggers: Trigger::ALL.into(), repeat: *repeat, span: SPAN };
                let end = climb(&open, rungs, &effort, on_news)?;
                *session = Some(open);
                Ok(end)
            }
            Self::Comparison(comparison) => compare(comparison, dir, on_news),
        }
    }
}

fn climb(
    session: &LadderSession,
    rungs: &[AnyRung],
    effort: &LadderEffort,
    on_news: &mut OnNews<'_>,
) -> anyhow::Result<ControlFlow<()>> {
    let (mut done, total) = (0, rungs.iter().map(|rung| session.steps(*rung, effort).len()).sum());
    for rung in rungs {
        let mut next = ControlFlow::Continue(());
        let report = session.report(*rung, effort, |step, so_far| {
            let doing = Doing::Rung { rung: step.rung, trigger: step.trigger };
            next = on_news(News::Step { doing, done, total, report: Some(so_far) });
            done += 1;
            next.is_continue()
        })?;
        if next.is_break() || on_news(News::Rung(rung.id(), report)).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

fn compare(comparison: &Comparison, dir: &Path, on_news: &mut OnNews<'_>) -> anyhow::Result<ControlFlow<()>> {
    let section = (comparison.run)(dir, &mut |step| {
        let doing = Doing::Way { way: step.way, words: step.words };
        on_news(News::Step { doing, done: step.done, total: step.total, report: None })
    })?;
    Ok(match section {
        Some(section) => on_news(News::Section(comparison.name, section)),
        None => ControlFlow::Break(()),
    })
}
