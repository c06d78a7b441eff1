//! The database file and its threads.

use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};

use crate::DiskFaults;
use crossbeam::channel::{Receiver, Sender, TrySendError, bounded, unbounded};
use mallbox_storage::{Durability, OpenError, PageFindings, StoreError};
use mallbox_storage_integrity::{Findings, PageChecksums};
use parking_lot::{Mutex, RwLock};
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::checkpoint::{CheckpointState, Checkpointer};
use super::errors::{self, ErrorMapper};
use super::meta;
use super::opening::{self, LastStop, Opened, Purpose, Tuning};
use super::readers::{READERS, Reader};
use super::scrubber::{self, Scrubber};
use super::task::{self, Task};
use super::writer::Writer;
use crate::cache_sizes::CacheSizes;
use crate::disk_faults::Watcher;

/// Upper bound on calls waiting for a thread. Calls beyond the bound are rejected at once, since they would
/// wait for seconds.
const QUEUE_MAX: usize = 16_384;
/// Upper bound on waiting batches of orders: a few workers send one batch each.
const BULK_QUEUE_MAX: usize = 64;

/// The SQLite database of the mall. Cheap to clone.
///
/// - A write is durable when its future completes; concurrent writes share one commit.
/// - A failed write changes nothing, and affects no other write. A write whose result is lost may have
///   succeeded.
/// - Dropping a future undoes nothing. No method blocks the polling thread, except methods documented as
///   blocking.
#[derive(Clone)]
pub(crate) struct Database {
    inner: Arc<Inner>,
}

struct Inner {
    path: PathBuf,
    tuning: Tuning,
    /// `None` if the disk had no room for their file.
    checksums: Option<Arc<PageChecksums>>,
    last_stop: LastStop,
    interpreter: ErrorMapper,
    pace: Arc<CheckpointState>,
    /// `None` once closed: closing the queues ends the threads after the waiting jobs.
    queues: RwLock<Option<Queues>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

struct Queues {
    interactive: Sender<Box<dyn Task>>,
    bulk: Sender<Box<dyn Task>>,
    read: Sender<Box<dyn Task>>,
    probes: Sender<oneshot::Sender<()>>,
    _closing: Sender<()>,
}

#[derive(Clone, Copy)]
enum Queue {
    Interactive,
    Bulk,
    Read,
}

/// Options of a database.
pub(crate) struct DatabaseOptions {
    pub(crate) durability: Durability,
    /// The damage to accept: exactly the number that an opening without it named.
    pub(crate) accepted: Option<u64>,
    pub(crate) caches: CacheSizes,
    pub(crate) faults: Option<Arc<DiskFaults>>,
}

impl Database {
    /// Opens the database, or creates one if absent. Blocks.
    pub(crate) fn open(
        path: &Path,
        durability: Durability,
        faults: Option<Arc<DiskFaults>>,
    ) -> Result<Self, OpenError> {
        let caches = CacheSizes::FULL;
        Self::open_accepting(path, DatabaseOptions { durability, accepted: None, caches, faults })
    }

    /// Opens a database with options of its own. Blocks.
    pub(crate) fn open_accepting(path: &Path, options: DatabaseOptions) -> Result<Self, OpenError> {
        let DatabaseOptions { durability, accepted, caches, faults } = options;
        let pace = Arc::new(CheckpointState::default());
        let interpreter = ErrorMapper::new(path, faults);
        let opened = opening::open(path, (durability, caches), accepted, interpreter.disk())?;
        let (checksums, last_stop) = (opened.checksums.clone(), opened.last_stop);
        let tuning = Tuning { durability, caches, sharing: opened.sharing };
        let started = start(path, tuning, opened, &interpreter, &pace);
        let (queues, threads) = started.map_err(|source| OpenError::Io {
            path: path.to_owned(),
            what: "cannot start the database's threads",
            source,
        })?;
        let inner = Arc::new(Inner {
            path: path.to_owned(),
            tuning,
            checksums,
            last_stop,
            interpreter,
            pace,
            queues: RwLock::new(Some(queues)),
            threads: Mutex::new(threads),
        });
        inner.interpreter.disk().subscribe(&inner);
        Ok(Self { inner })
    }

    /// Returns how the last run left the database.
    pub(crate) fn last_stop(&self) -> LastStop {
        self.inner.last_stop
    }

    /// Returns the error of the last commit, if the commit failed.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.inner.pace.trouble()
    }

    /// Returns what checks of pages found since the start. `None` without checksums.
    pub(crate) fn page_findings(&self) -> Option<PageFindings> {
        let Findings { damaged, repaired, changed } = self.inner.checksums.as_ref()?.findings();
        let [damaged, repaired, changed] = [damaged, repaired, changed].map(|pages| pages.len() as u64);
        Some(PageFindings { damaged, repaired, changed })
    }

    /// Reads every page and compares it with its checksum. Returns all findings since the start.
    pub(crate) async fn check_pages(&self) -> Result<Option<PageFindings>, StoreError> {
        let Some(checksums) = self.inner.checksums.clone() else { return Ok(None) };
        let unreadable = |source| StoreError::Unavailable { op: "check pages", source };
        let checked = tokio::task::spawn_blocking(move || scrubber::read_all(&checksums)).await;
        let read = checked.unwrap_or_else(|error| Err(std::io::Error::other(error)));
        read.map_err(|error| unreadable(error.into()))?;
        Ok(self.page_findings())
    }

    /// Refuses `op`, which sells something or stores a picture, if the disk has too little room for more.
    pub(crate) fn check_sale_room(&self, op: &'static str) -> Result<(), StoreError> {
        self.inner.interpreter.disk().check_sale_room(op)
    }

    /// Runs a write with priority, in a group commit.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        op: &'static str,
        job: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.ask(Queue::Interactive, op, job).await
    }

    /// Runs a large write without priority: in a separate transaction, and only when no
    /// [`write`](Self::write) is waiting.
    pub(crate) async fn write_bulk<T: Send + 'static>(
        &self,
        op: &'static str,
        job: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.ask(Queue::Bulk, op, job).await
    }

    /// Runs a read. The job sees one snapshot of the database.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        op: &'static str,
        job: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.ask(Queue::Read, op, job).await
    }

    /// Makes committed writes of a relaxed database durable, which does not sync each of them. Blocks.
    pub(crate) fn sync_relaxed(&self) -> Result<(), StoreError> {
        if self.inner.tuning.durability != Durability::Relaxed {
            return Ok(());
        }
        let mut path = self.inner.path.clone().into_os_string();
        path.push("-wal");
        let synced = std::fs::File::open(path).and_then(|wal| wal.sync_data());
        synced.map_err(|error| StoreError::Unavailable { op: "sync database", source: error.into() })
    }

    /// Runs a [`write`](Self::write) without waiting. `answer` is called once, on the writer's thread, and
    /// must be quick.
    pub(crate) fn write_then<T: Send + 'static>(
        &self,
        op: &'static str,
        job: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
        answer: impl FnOnce(Result<T, StoreError>) + Send + 'static,
    ) {
        self.inner.send(Queue::Interactive, task::new(op, job, answer));
    }

    /// Runs a [`write`](Self::write) and blocks the caller's thread.
    pub(crate) fn write_blocking<T: Send + 'static>(
        &self,
        op: &'static str,
        job: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.ask_blocking(Queue::Interactive, op, job)
    }

    /// Runs a [`read`](Self::read) and blocks the caller's thread.
    pub(crate) fn read_blocking<T: Send + 'static>(
        &self,
        op: &'static str,
        job: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.ask_blocking(Queue::Read, op, job)
    }

    /// Runs a long read on the caller's thread, over a new connection. Opening the connection takes a third
    /// of a millisecond.
    pub(crate) fn read_on_new_connection<T>(
        &self,
        op: &'static str,
        job: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let read = || {
            let conn = self.inner.connect(Purpose::Read)?;
            let snapshot = conn.unchecked_transaction()?;
            job(&snapshot)
        };
        read().map_err(|error| self.inner.interpreter.explain(op, error))
    }

    /// Waits until the writing thread has nothing in hand. Waiting jobs do not delay the response; nothing is
    /// written. Returns false if the thread has ended although the database is not closed.
    pub(crate) async fn probe_writer(&self) -> bool {
        let (taken, is_taken) = oneshot::channel();
        let sent = match &*self.inner.queues.read() {
            Some(queues) => queues.probes.send(taken).is_ok(),
            None => return true,
        };
        // Nothing is ever sent back: the thread drops the sender.
        let _ = is_taken.await;
        sent
    }

    /// Finishes waiting jobs, truncates the WAL, marks the stop as clean if `clean`, and closes the file.
    /// Later calls fail. A second call has no effect.
    pub(crate) async fn close(&self, clean: bool) -> Result<(), StoreError> {
        let (sender, receiver) = oneshot::channel();
        let inner = Arc::clone(&self.inner);
        thread::Builder::new()
            .name("record-close".into())
            .spawn(move || drop(sender.send(inner.close(clean))))
            .map_err(|error| StoreError::Unavailable { op: "close", source: error.into() })?;
        receiver.await.unwrap_or_else(|_| Err(errors::closed("close")))
    }

    async fn ask<T: Send + 'static>(
        &self,
        queue: Queue,
        op: &'static str,
        job: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (sender, receiver) = oneshot::channel();
        self.inner.send(queue, task::new(op, job, move |answer| drop(sender.send(answer))));
        receiver.await.unwrap_or_else(|_| Err(errors::closed(op)))
    }

    fn ask_blocking<T: Send + 'static>(
        &self,
        queue: Queue,
        op: &'static str,
        job: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (sender, receiver) = bounded(1);
        self.inner.send(queue, task::new(op, job, move |answer| drop(sender.send(answer))));
        receiver.recv().unwrap_or_else(|_| Err(errors::closed(op)))
    }
}

impl Inner {
    fn connect(&self, purpose: Purpose) -> rusqlite::Result<Connection> {
        opening::connect(&self.path, purpose, self.tuning)
    }

    fn send(&self, queue: Queue, task: Box<dyn Task>) {
        let sent = match &*self.queues.read() {
            None => return,
            Some(queues) => match queue {
                Queue::Interactive => queues.interactive.try_send(task),
                Queue::Bulk => queues.bulk.try_send(task),
                Queue::Read => queues.read.try_send(task),
            },
        };
        if let Err(TrySendError::Full(task)) = sent {
            let error = StoreError::Unavailable { op: task.op(), source: "too many waiting calls".into() };
            task.answer_undone(error);
        }
    }

    fn close(&self, clean: bool) -> Result<(), StoreError> {
        if !self.end_threads() {
            return Ok(());
        }
        let close = || {
            let conn = self.connect(Purpose::Write)?;
            if clean { opening::stop_cleanly(&conn) } else { Ok(()) }
        };
        close().map_err(|error| self.interpreter.explain("close", error))?;
        if !clean {
            return Ok(());
        }
        let noted = opening::stopped_cleanly(&self.path, self.tuning.durability);
        noted.map_err(|error| StoreError::Unavailable { op: "close", source: error.into() })
    }

    /// Ends the threads. Returns false if they had already ended.
    fn end_threads(&self) -> bool {
        let open = self.queues.write().take().is_some();
        for thread in self.threads.lock().drain(..) {
            // A job may hold the last handle of the database: then the current thread is one of these.
            if thread.thread().id() != thread::current().id() && thread.join().is_err() {
                tracing::error!("a database thread panicked");
            }
        }
        open
    }
}

impl Watcher for Inner {
    /// Rewrites a value that is already stored: the outcome shows the state of the database.
    fn check(&self) -> mpsc::Receiver<()> {
        let (marked, is_marked) = mpsc::channel();
        self.send(Queue::Interactive, task::new("look", meta::mark_running, move |_| drop(marked)));
        is_marked
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.end_threads();
    }
}

fn start(
    path: &Path,
    tuning: Tuning,
    opened: Opened,
    interpreter: &ErrorMapper,
    pace: &Arc<CheckpointState>,
) -> std::io::Result<(Queues, Vec<JoinHandle<()>>)> {
    let Opened { writer, sharing: _, is_marked, checksums, witness, last_stop: _ } = opened;
    let (witness, witness_sync) = witness.unzip();
    let connect = |purpose| opening::connect(path, purpose, tuning).map_err(std::io::Error::other);
    let (interactive, to_write) = bounded(QUEUE_MAX);
    let (bulk, to_write_bulk) = bounded(BULK_QUEUE_MAX);
    let (read, to_read): (_, Receiver<Box<dyn Task>>) = bounded(QUEUE_MAX);
    let (probes, to_probe) = unbounded();
    let (closing, until_closed) = bounded(0);
    let queues = Queues { interactive, bulk, read, probes, _closing: closing };

    let mut threads = Vec::new();
    let mut spawn = |name: &str, work: Box<dyn FnOnce() + Send>| {
        thread::Builder::new().name(name.into()).spawn(work).map(|thread| threads.push(thread))
    };
    let writer = Writer {
        conn: writer,
        is_marked,
        witness,
        interpreter: interpreter.clone(),
        interactive: to_write,
        bulk: to_write_bulk,
        probes: to_probe,
        pace: Arc::clone(pace),
    };
    spawn("record-writer", Box::new(move || writer.run()))?;
    for _ in 0..READERS {
        let (conn, interpreter) = (connect(Purpose::Read)?, interpreter.clone());
        let reader = Reader { conn, interpreter, queue: to_read.clone() };
        spawn("record-reader", Box::new(move || reader.run()))?;
    }
    if let Some(checksums) = checksums.clone() {
        let scrubber = Scrubber { checksums, closing: until_closed.clone() };
        spawn("record-scrub", Box::new(move || scrubber.run()))?;
    }
    let checkpointer = Checkpointer {
        conn: connect(Purpose::Checkpoint)?,
        pace: Arc::clone(pace),
        checksums,
        witness: witness_sync,
        closing: until_closed,
    };
    spawn("record-check", Box::new(move || checkpointer.run()))?;
    Ok((queues, threads))
}
