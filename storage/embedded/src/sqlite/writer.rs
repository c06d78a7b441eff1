//! The writer thread: group commit for interactive writes, and batches of orders in between.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crossbeam::channel::{Receiver, select_biased};
use mallbox_storage::StoreError;
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::checkpoint::{CheckpointState, passive};
use super::commit_witness::CommitWitness;
use super::errors::{ErrorMapper, disk_full};
use super::meta;
use super::task::{JobOutcome, Task};

/// Upper bound on jobs per commit. An fsync takes a millisecond or more, a job some 20 µs: beyond this
/// number the jobs, not the fsync, would dominate the wait of the first caller.
const GROUP_MAX: usize = 256;

pub(super) struct Writer {
    pub(super) conn: Connection,
    /// Whether the database is marked as running. If not, the first commit includes the mark.
    pub(super) is_marked: bool,
    /// `None` if the disk had no room for the file.
    pub(super) witness: Option<CommitWitness>,
    pub(super) interpreter: ErrorMapper,
    pub(super) interactive: Receiver<Box<dyn Task>>,
    pub(super) bulk: Receiver<Box<dyn Task>>,
    /// Senders to drop: whoever waits for that learns that the thread is not stalled.
    pub(super) probes: Receiver<oneshot::Sender<()>>,
    pub(super) pace: Arc<CheckpointState>,
}

impl Writer {
    /// Runs until both queues are closed and empty.
    pub(super) fn run(mut self) {
        loop {
            select_biased! {
                recv(self.probes) -> probe => match probe {
                    Ok(_) => continue,
                    Err(_) => break,
                },
                recv(self.interactive) -> task => match task {
                    Ok(task) => self.group(task),
                    Err(_) => break,
                },
                recv(self.bulk) -> task => match task {
                    Ok(task) => self.transaction(&mut VecDeque::from([task])),
                    Err(_) => break,
                },
            }
            self.finish_checkpoint();
        }
        // One queue is closed, so all are.
        while let Ok(task) = self.interactive.try_recv() {
            self.group(task);
        }
        while let Ok(task) = self.bulk.try_recv() {
            self.transaction(&mut VecDeque::from([task]));
        }
    }

    fn group(&mut self, first: Box<dyn Task>) {
        let mut tasks = VecDeque::from([first]);
        while tasks.len() < GROUP_MAX
            && let Ok(task) = self.interactive.try_recv()
        {
            tasks.push_back(task);
        }
        // More than one round only if a job aborted the whole transaction: then for the jobs behind.
        while !tasks.is_empty() {
            self.transaction(&mut tasks);
        }
    }

    /// Runs the tasks in one transaction, commits once, and delivers the results after the commit.
    fn transaction(&mut self, tasks: &mut VecDeque<Box<dyn Task>>) {
        if let Err(error) = self.begin(tasks.len()) {
            self.roll_back();
            return self.deliver_commit_error(tasks.drain(..), error);
        }
        let alone = tasks.len() == 1;
        let mut ran = Vec::with_capacity(tasks.len());
        while let Some(mut task) = tasks.pop_front() {
            let outcome =
                if alone { self.in_transaction(task.as_mut()) } else { self.in_savepoint(task.as_mut()) };
            ran.push(task);
            match outcome {
                Ok(_) if !self.conn.is_autocommit() => {}
                // The whole transaction is gone: rolled back with its only job, or by SQLite on a full
                // disk.
                Ok(how) => return deliver_aborted(ran, how),
                Err(error) => {
                    self.roll_back();
                    return self.deliver_commit_error(ran, error);
                }
            }
        }
        self.interpreter.disk().delay_commit();
        if let Err(error) = self.execute("COMMIT") {
            self.roll_back();
            return self.deliver_commit_error(ran, error);
        }
        if let Some(witness) = &mut self.witness {
            witness.note();
        }
        if !self.is_marked {
            self.is_marked = true;
            // Soon to be copied into the file itself: a lost WAL must not take the mark along.
            self.pace.finish.store(true, Ordering::Relaxed);
        }
        self.pace.wrote();
        self.pace.set_trouble(None);
        ran.into_iter().for_each(Task::answer);
    }

    fn begin(&self, tasks: usize) -> rusqlite::Result<()> {
        let disk = self.interpreter.disk();
        if disk.is_simulated_full() {
            disk.refused(tasks);
            return Err(disk_full());
        }
        self.execute("BEGIN IMMEDIATE")?;
        if self.is_marked { Ok(()) } else { meta::mark_running(&self.conn) }
    }

    /// Runs a single job without a savepoint. A savepoint copies every page touched, and a batch of orders
    /// touches many pages.
    fn in_transaction(&self, task: &mut dyn Task) -> rusqlite::Result<JobOutcome> {
        let ran = task.run(&self.conn, &self.interpreter);
        if ran != JobOutcome::Well {
            self.roll_back();
        }
        Ok(ran)
    }

    /// Runs a job in a savepoint.
    ///
    /// # Errors
    /// If the savepoint itself fails; then the state of the job's writes is unknown.
    fn in_savepoint(&self, task: &mut dyn Task) -> rusqlite::Result<JobOutcome> {
        self.execute("SAVEPOINT job")?;
        let ran = task.run(&self.conn, &self.interpreter);
        if ran != JobOutcome::Well && !self.conn.is_autocommit() {
            self.execute("ROLLBACK TO job")?;
        }
        if !self.conn.is_autocommit() {
            self.execute("RELEASE job")?;
        }
        Ok(ran)
    }

    fn execute(&self, sql: &'static str) -> rusqlite::Result<()> {
        self.conn.prepare_cached(sql)?.execute([]).map(drop)
    }

    fn roll_back(&self) {
        if !self.conn.is_autocommit()
            && let Err(error) = self.execute("ROLLBACK")
        {
            tracing::error!(%error, "could not roll back a SQLite transaction");
        }
    }

    fn deliver_commit_error(&self, tasks: impl IntoIterator<Item = Box<dyn Task>>, error: rusqlite::Error) {
        tracing::error!(%error, "could not commit a SQLite transaction");
        let error = self.interpreter.explain("commit", error);
        self.pace.set_trouble(Some(error.to_string()));
        let shared = Arc::new(error);
        tasks.into_iter().for_each(|task| {
            let error = shared_error(&shared, task.op());
            task.answer_undone(error);
        });
    }

    /// Copies the rest of a long WAL between two transactions, after the checkpointer has copied nearly all
    /// pages. Then the next transaction restarts the WAL from its beginning. Without this step a WAL
    /// written without pause never restarts.
    fn finish_checkpoint(&self) {
        if self.pace.finish.swap(false, Ordering::Relaxed)
            && let Err(error) = passive(&self.conn)
        {
            tracing::warn!(%error, "could not finish the SQLite checkpoint");
        }
    }
}

/// Delivers errors after an aborted transaction. Jobs before the culprit may be retried; the culprit has
/// its own error.
fn deliver_aborted(ran: Vec<Box<dyn Task>>, how: JobOutcome) {
    for task in ran {
        let op = task.op();
        task.answer_undone(if how == JobOutcome::DiskFull {
            StoreError::Full { op, detail: "the disk was full for another write of the same commit".into() }
        } else {
            StoreError::Unavailable { op, source: "another write of the same commit failed".into() }
        });
    }
}

/// Copies an error for each caller of a shared commit. Never a refusal: a failed commit is no single
/// caller's fault.
pub(super) fn shared_error(error: &Arc<StoreError>, op: &'static str) -> StoreError {
    match &**error {
        StoreError::Refused { .. } => StoreError::Unavailable { op, source: Box::new(Arc::clone(error)) },
        _ => StoreError::copied(error, op),
    }
}
