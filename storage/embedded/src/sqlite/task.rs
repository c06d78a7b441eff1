//! A job on its way to a database thread, and the delivery of its result.

use std::panic::{AssertUnwindSafe, catch_unwind};

use mallbox_storage::StoreError;
use rusqlite::Connection;

use super::errors::{self, ErrorMapper};

/// A type-erased job, so that jobs of all types share a queue.
pub(super) trait Task: Send {
    /// Returns the name of the operation, for errors.
    fn op(&self) -> &'static str;
    /// Runs the job and keeps the result. Catches a panic of the job.
    fn run(&mut self, conn: &Connection, interpreter: &ErrorMapper) -> JobOutcome;
    /// Delivers the result.
    fn answer(self: Box<Self>);
    /// Delivers an error after a rollback: the job's own error if the job failed, else `error`.
    fn answer_undone(self: Box<Self>, error: StoreError);
}

/// Outcome of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum JobOutcome {
    /// Succeeded: the writes are to be committed.
    Well,
    /// Failed with an error of the job.
    Badly,
    /// Failed because the disk is full.
    DiskFull,
}

/// Makes a task. `answer` is called exactly once, whatever happens to the task. A task dropped before its
/// run, because the database closes, delivers an error.
pub(super) fn new<T, J, A>(op: &'static str, job: J, answer: A) -> Box<dyn Task>
where
    T: Send + 'static,
    J: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    A: FnOnce(Result<T, StoreError>) + Send + 'static,
{
    Box::new(Typed { op, job: Some(job), result: None, answer: Some(answer) })
}

struct Typed<T, J, A: FnOnce(Result<T, StoreError>)> {
    op: &'static str,
    job: Option<J>,
    result: Option<Result<T, StoreError>>,
    answer: Option<A>,
}

impl<T, J, A: FnOnce(Result<T, StoreError>)> Typed<T, J, A> {
    fn reply(&mut self, result: Result<T, StoreError>) {
        if let Some(answer) = self.answer.take() {
            answer(result);
        }
    }
}

impl<T, J, A> Task for Typed<T, J, A>
where
    T: Send,
    J: FnOnce(&Connection) -> rusqlite::Result<T> + Send,
    A: FnOnce(Result<T, StoreError>) + Send,
{
    fn op(&self) -> &'static str {
        self.op
    }

    fn run(&mut self, conn: &Connection, interpreter: &ErrorMapper) -> JobOutcome {
        let Some(job) = self.job.take() else { return JobOutcome::Badly };
        // A panic leaves partial state on the connection alone, and the savepoint undoes the writes.
        let result = match catch_unwind(AssertUnwindSafe(|| job(conn))) {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => Err(interpreter.explain(self.op, error)),
            Err(payload) => Err(errors::panicked(self.op, payload.as_ref())),
        };
        let ran = match &result {
            Ok(_) => JobOutcome::Well,
            Err(StoreError::Full { .. }) => JobOutcome::DiskFull,
            Err(_) => JobOutcome::Badly,
        };
        self.result = Some(result);
        ran
    }

    fn answer(mut self: Box<Self>) {
        let result = self.result.take().unwrap_or_else(|| Err(errors::closed(self.op)));
        self.reply(result);
    }

    fn answer_undone(mut self: Box<Self>, error: StoreError) {
        let own = self.result.take().and_then(Result::err);
        self.reply(Err(own.unwrap_or(error)));
    }
}

impl<T, J, A: FnOnce(Result<T, StoreError>)> Drop for Typed<T, J, A> {
    fn drop(&mut self) {
        self.reply(Err(errors::closed(self.op)));
    }
}
