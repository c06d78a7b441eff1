//! The experiments, a file per criterion.

mod backlog;
mod bound;
mod broker_killed;
mod consumer_killed;
mod order;
mod rates;
mod replay;
mod sharing;

pub(crate) use rates::speeds;

use crate::error::QueueError;
use crate::stage::Stage;
use crate::verdict::Finding;
use crate::ways::Way;

/// An experiment on a way: answers one question or several.
pub(crate) type Experiment = fn(&Stage, &'static Way) -> Result<Vec<Finding>, QueueError>;

/// The experiments with verdicts, each with the words of its progress.
pub(crate) const EXPERIMENTS: [(&str, Experiment); 7] = [
    ("order", order::run),
    ("backlog", backlog::run),
    ("two consumers", sharing::run),
    ("replay", replay::run),
    ("bound", bound::run),
    ("consumer killed", consumer_killed::run),
    ("broker killed", broker_killed::run),
];
