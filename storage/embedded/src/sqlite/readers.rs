//! Reader threads. Each thread has its own connection, sees the last commit, and never waits for the
//! writer.

use crossbeam::channel::Receiver;
use rusqlite::Connection;

use super::errors::ErrorMapper;
use super::task::Task;

/// Two: during a long read (the ledger check) one remains for all other reads. The mall's frequent reads
/// come from memory.
pub(super) const READERS: usize = 2;

pub(super) struct Reader {
    pub(super) conn: Connection,
    pub(super) interpreter: ErrorMapper,
    pub(super) queue: Receiver<Box<dyn Task>>,
}

impl Reader {
    /// Runs until the queue is closed and empty. Each job reads one snapshot of the database, however many
    /// queries the job runs.
    pub(super) fn run(self) {
        while let Ok(mut task) = self.queue.recv() {
            if let Err(error) = self.execute("BEGIN") {
                let error = self.interpreter.explain(task.op(), error);
                task.answer_undone(error);
                continue;
            }
            task.run(&self.conn, &self.interpreter);
            if !self.conn.is_autocommit()
                && let Err(error) = self.execute("COMMIT")
            {
                tracing::warn!(%error, "could not end a read transaction");
            }
            task.answer();
        }
    }

    fn execute(&self, sql: &'static str) -> rusqlite::Result<()> {
        self.conn.prepare_cached(sql)?.execute([]).map(drop)
    }
}
