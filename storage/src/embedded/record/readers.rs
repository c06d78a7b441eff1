//! The threads that read. Each has a connection of its own, which sees the last commit and waits for no writer.

use crossbeam::channel::Receiver;
use rusqlite::Connection;

use super::task::Task;
use super::trouble::Interpreter;

/// Two: a long look (the books) leaves one for everybody else. The mall reads its busy things from memory.
pub(super) const READERS: usize = 2;

pub(super) struct Reader {
    pub(super) conn: Connection,
    pub(super) interpreter: Interpreter,
    pub(super) queue: Receiver<Box<dyn Task>>,
}

impl Reader {
    /// Works until the queue is closed and empty. Each job reads one state of the record, however many queries it makes.
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
                tracing::warn!(%error, "a read of the record did not end well");
            }
            task.answer();
        }
    }

    fn execute(&self, sql: &'static str) -> rusqlite::Result<()> {
        self.conn.prepare_cached(sql)?.execute([]).map(drop)
    }
}
