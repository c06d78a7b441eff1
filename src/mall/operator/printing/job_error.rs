//! A job that did not print: the reason for the operator, and the cause for the log.

use std::fmt;

use crate::mall::base::PrinterRefusal;

/// A job that failed. Parts of the page may be on the paper.
#[derive(Debug)]
pub(super) struct JobError {
    /// Reason as told to the operator.
    pub(super) refusal: PrinterRefusal,
    cause: String,
}

impl JobError {
    /// Names the step that failed, and the error of the system or what was missing.
    pub(super) fn new(refusal: PrinterRefusal, step: &str, cause: impl fmt::Display) -> Self {
        Self { refusal, cause: format!("{step}: {cause}") }
    }
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.cause)
    }
}
