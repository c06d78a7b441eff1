//! The one thread that writes: group commit for those who wait, batches of orders when nobody does.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crossbeam::channel::{Receiver, select_biased};
use rusqlite::Connection;

use super::checkpoint::{Pace, passive};
use super::settings;
use super::task::{Ran, Task};
use super::trouble::{Interpreter, disk_full};
use crate::StoreError;

/// A commit carries at most this many jobs. An fsync takes a millisecond or more, a job some 20 µs: past this the jobs
/// and not the fsync would decide how long the first of them waits.
const GROUP_MAX: usize = 256;

pub(super) struct Writer {
    pub(super) conn: Connection,
    /// The record says that it is running. If not, the first commit says so too.
    pub(super) is_marked: bool,
    pub(super) interpreter: Interpreter,
    pub(super) interactive: Receiver<Box<dyn Task>>,
    pub(super) bulk: Receiver<Box<dyn Task>>,
    pub(super) pace: Arc<Pace>,
}

impl Writer {
    /// Works until both queues are closed and empty.
    pub(super) fn run(mut self) {
        loop {
            select_biased! {
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
        // One queue is closed and empty, so the other is closed too.
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
        // Again only when a job took the whole transaction down with it: then for those behind it.
        while !tasks.is_empty() {
            self.transaction(&mut tasks);
        }
    }

    /// Runs the tasks in one transaction, commits once, and only then answers.
    fn transaction(&mut self, tasks: &mut VecDeque<Box<dyn Task>>) {
        if let Err(error) = self.begin(tasks.len()) {
            self.roll_back();
            return self.undone(tasks.drain(..), error);
        }
        let alone = tasks.len() == 1;
        let mut ran = Vec::with_capacity(tasks.len());
        while let Some(mut task) = tasks.pop_front() {
            let outcome =
                if alone { self.in_transaction(task.as_mut()) } else { self.in_savepoint(task.as_mut()) };
            ran.push(task);
            match outcome {
                Ok(_) if !self.conn.is_autocommit() => {}
                // The whole transaction is gone: with a job that was alone in it, or as SQLite does at the end of the
                // disk.
                Ok(how) => return taken_down(ran, how),
                Err(error) => {
                    self.roll_back();
                    return self.undone(ran, error);
                }
            }
        }
        self.interpreter.disk().delay_commit();
        if let Err(error) = self.execute("COMMIT") {
            self.roll_back();
            return self.undone(ran, error);
        }
        if !self.is_marked {
            self.is_marked = true;
            // Into the file itself, and soon: a lost WAL must not take the mark with it.
            self.pace.finish.store(true, Ordering::Relaxed);
        }
        self.pace.wrote();
        self.pace.set_trouble(None);
        ran.into_iter().for_each(Task::answer);
    }

    fn begin(&self, tasks: usize) -> rusqlite::Result<()> {
        let disk = self.interpreter.disk();
        if disk.is_played_full() {
            disk.refused(tasks);
            return Err(disk_full());
        }
        self.execute("BEGIN IMMEDIATE")?;
        if self.is_marked { Ok(()) } else { settings::mark_running(&self.conn) }
    }

    /// Without a savepoint, which copies every page it touches: a batch of orders touches many.
    fn in_transaction(&self, task: &mut dyn Task) -> rusqlite::Result<Ran> {
        let ran = task.run(&self.conn, &self.interpreter);
        if ran != Ran::Well {
            self.roll_back();
        }
        Ok(ran)
    }

    /// Err if the savepoint itself fails, which leaves open what of the job stands.
    fn in_savepoint(&self, task: &mut dyn Task) -> rusqlite::Result<Ran> {
        self.execute("SAVEPOINT job")?;
        let ran = task.run(&self.conn, &self.interpreter);
        if ran != Ran::Well && !self.conn.is_autocommit() {
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
            tracing::error!(%error, "the record cannot roll back");
        }
    }

    fn undone(&self, tasks: impl IntoIterator<Item = Box<dyn Task>>, error: rusqlite::Error) {
        tracing::error!(%error, "the record could not commit");
        let error = self.interpreter.explain("commit", error);
        self.pace.set_trouble(Some(error.to_string()));
        let shared = Arc::new(error);
        tasks.into_iter().for_each(|task| {
            let error = for_sharer(&shared, task.op());
            task.answer_undone(error);
        });
    }

    /// The checkpointer has copied nearly all of a long WAL; what came meanwhile is copied here, between two
    /// transactions, so that the next one starts the WAL from its beginning. Without this a WAL that is written without
    /// pause is never started anew.
    fn finish_checkpoint(&self) {
        if self.pace.finish.swap(false, Ordering::Relaxed)
            && let Err(error) = passive(&self.conn)
        {
            tracing::warn!(%error, "the record's checkpoint did not finish");
        }
    }
}

/// The jobs before the one that took their transaction down may be tried again; that one has an error of its own.
fn taken_down(ran: Vec<Box<dyn Task>>, how: Ran) {
    for task in ran {
        let op = task.op();
        task.answer_undone(if how == Ran::DiskFull {
            StoreError::Full { op, detail: "another write of the same commit met the end of the disk".into() }
        } else {
            StoreError::Unavailable { op, source: "another write of the same commit took it down".into() }
        });
    }
}

/// One error for all who shared a commit. Never a refusal: whatever a commit hits is nobody's own fault.
pub(super) fn for_sharer(error: &Arc<StoreError>, op: &'static str) -> StoreError {
    match &**error {
        StoreError::Full { detail, .. } => StoreError::Full { op, detail: detail.clone() },
        StoreError::Corrupt { key, .. } => StoreError::Corrupt { op, key: key.clone() },
        _ => StoreError::Unavailable { op, source: Box::new(Arc::clone(error)) },
    }
}
