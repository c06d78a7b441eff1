//! A job on its way to a thread, and its answer on the way back.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rusqlite::Connection;

use super::trouble::{self, Interpreter};
use crate::StoreError;

/// A job whose types are forgotten, so that jobs of all kinds wait in one queue.
pub(super) trait Task: Send {
    /// What was called, for errors.
    fn op(&self) -> &'static str;
    /// Runs the job and keeps its result. Catches its panic.
    fn run(&mut self, conn: &Connection, interpreter: &Interpreter) -> Ran;
    /// Answers with the result.
    fn answer(self: Box<Self>);
    /// What the job did is not in the record: answers with the error, or with the job's own if it had one.
    fn answer_undone(self: Box<Self>, error: StoreError);
}

/// How a job ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ran {
    /// Well: what it wrote is to be kept.
    Well,
    /// With an error of its own.
    Badly,
    /// It met the end of the disk.
    DiskFull,
}

/// Makes a task. `answer` is called exactly once, whatever becomes of the task: if it is dropped unrun, because the
/// record closes, then with an error.
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

    fn run(&mut self, conn: &Connection, interpreter: &Interpreter) -> Ran {
        let Some(job) = self.job.take() else { return Ran::Badly };
        // What a panic leaves half done is on the connection alone, and the savepoint undoes that.
        let result = match catch_unwind(AssertUnwindSafe(|| job(conn))) {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => Err(interpreter.explain(self.op, error)),
            Err(payload) => Err(trouble::panicked(self.op, payload.as_ref())),
        };
        let ran = match &result {
            Ok(_) => Ran::Well,
            Err(StoreError::Full { .. }) => Ran::DiskFull,
            Err(_) => Ran::Badly,
        };
        self.result = Some(result);
        ran
    }

    fn answer(mut self: Box<Self>) {
        let result = self.result.take().unwrap_or_else(|| Err(trouble::closed(self.op)));
        self.reply(result);
    }

    fn answer_undone(mut self: Box<Self>, error: StoreError) {
        let own = self.result.take().and_then(Result::err);
        self.reply(Err(own.unwrap_or(error)));
    }
}

impl<T, J, A: FnOnce(Result<T, StoreError>)> Drop for Typed<T, J, A> {
    fn drop(&mut self) {
        self.reply(Err(trouble::closed(self.op)));
    }
}
