//! The order log's journal: one thread that writes what has gathered, makes it durable once, and then answers all who wait.
//!
//! - [`commit`]: one commit and its waiters. [`codec`]: claims as bytes. [`store`]: the sled store, its one owner.
//! - [`recovery`]: what a start finds. [`thread`]: the loop.
//!
//! Claims of a commit become one sled record (in parts below 4 KiB), since sled's insert costs as much CPU as the whole
//! of an HTTP request. After a failed write or sync nothing is undone: the commit is perhaps on the disk. Its claims stay
//! in memory, and all that is unsettled is written to a new store before claims are taken again.

mod codec;
pub(crate) mod commit;
#[cfg(any(test, fuzzing))]
pub(crate) mod properties;
pub(crate) mod recovery;
mod store;
#[cfg(test)]
mod tests;
mod thread;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};

use parking_lot::{Condvar, Mutex, RwLock};

use self::commit::{Commit, CommitState, Durable};
use self::recovery::Recovered;
pub(crate) use self::store::Change;
pub(crate) use self::thread::logged;
use crate::embedded::disk::Disk;
use crate::embedded::disk_faults::Watcher;
use crate::embedded::queue::Queue;
use crate::embedded::settled::Settled;
use crate::{Claim, Durability, StoreError};

/// Why nothing can be written at present.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Trouble {
    /// Too little room on the disk.
    Full(String),
    /// A write or a sync failed.
    Failed(String),
    /// The mall is stopping.
    Closed,
}

impl Trouble {
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Full(detail) => format!("disk full: {detail}"),
            Self::Failed(detail) => format!("the order log cannot be written: {detail}"),
            Self::Closed => "the mall is stopping".to_owned(),
        }
    }

    fn error(&self, op: &'static str) -> StoreError {
        match self {
            Self::Full(detail) => StoreError::Full { op, detail: detail.clone() },
            Self::Failed(_) | Self::Closed => StoreError::Unavailable { op, source: self.text().into() },
        }
    }
}

/// What is gathering for the next commit.
#[derive(Debug)]
struct Gathering {
    commit: Arc<Commit>,
    claims: Vec<Claim>,
    changes: Vec<Change>,
    /// How many wait for it.
    waiting: usize,
    /// The journal's thread sleeps until so many wait.
    wake_at: Option<usize>,
    /// Who wants the disk looked at now. Dropped when it has been.
    looks: Vec<mpsc::Sender<()>>,
    closing: bool,
}

impl Gathering {
    fn new() -> Self {
        Self {
            commit: Commit::new(),
            claims: Vec::new(),
            changes: Vec::new(),
            waiting: 0,
            wake_at: None,
            looks: Vec::new(),
            closing: false,
        }
    }
}

/// What the journal's thread and its callers share.
#[derive(Debug)]
struct Shared {
    gathering: Mutex<Gathering>,
    gathered: Condvar,
    trouble: RwLock<Option<Trouble>>,
    /// Commits up to this one are settled and may be removed.
    applied: AtomicU64,
    /// The last commit that is durable.
    last_commit: AtomicU64,
    disk: Disk,
}

impl Watcher for Shared {
    fn look(&self) -> mpsc::Receiver<()> {
        let (looked, has_looked) = mpsc::channel();
        let mut gathering = self.gathering.lock();
        if !gathering.closing {
            gathering.looks.push(looked);
            gathering.wake_at = None;
            self.gathered.notify_one();
        }
        has_looked
    }
}

/// The journal's handle.
#[derive(Debug)]
pub(crate) struct Journal {
    shared: Arc<Shared>,
    thread: Mutex<Option<std::thread::JoinHandle<()>>>,
}

impl Journal {
    /// Starts the thread on a log that was recovered, in the disk's directory. Durable claims go to `queue`.
    pub(crate) fn start(
        recovered: Recovered,
        disk: Disk,
        durability: Durability,
        settled: Arc<Settled>,
        queue: Arc<Queue>,
    ) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            gathering: Mutex::new(Gathering::new()),
            gathered: Condvar::new(),
            trouble: RwLock::default(),
            applied: AtomicU64::new(0),
            last_commit: AtomicU64::new(recovered.content.last_commit),
            disk,
        });
        shared.disk.tell(&shared);
        let writer = thread::Writer::new(Arc::clone(&shared), recovered, durability, settled, queue);
        let thread = std::thread::Builder::new().name("journal".to_owned()).spawn(move || writer.run())?;
        Ok(Self { shared, thread: Mutex::new(Some(thread)) })
    }

    /// Why nothing can be written at present, as an error of `op`. Ask before anything is changed in memory.
    pub(crate) fn ready(&self, op: &'static str) -> Result<(), StoreError> {
        self.shared.trouble.read().as_ref().map_or(Ok(()), |trouble| {
            self.shared.disk.refused(1);
            Err(trouble.error(op))
        })
    }

    /// Appends a claim. It will be written whether or not anybody waits for the answer.
    pub(crate) fn append(&self, claim: Claim) -> Durable {
        self.gather(|gathering| gathering.claims.push(claim))
    }

    /// Makes changes of entries, in their order.
    pub(crate) fn change(&self, changes: impl IntoIterator<Item = Change>) -> Durable {
        self.gather(|gathering| gathering.changes.extend(changes))
    }

    /// Makes a change that nobody waits for, with the next commit or within a second.
    pub(crate) fn change_lazily(&self, change: Change) {
        self.shared.gathering.lock().changes.push(change);
    }

    /// Waits for everything appended so far.
    pub(crate) fn barrier(&self) -> Durable {
        self.gather(|_| {})
    }

    fn gather(&self, add: impl FnOnce(&mut Gathering)) -> Durable {
        let mut gathering = self.shared.gathering.lock();
        add(&mut gathering);
        gathering.waiting += 1;
        let commit = Arc::clone(&gathering.commit);
        let waiting = gathering.waiting;
        let wake = gathering.wake_at.take_if(|wake_at| waiting >= *wake_at).is_some();
        drop(gathering);
        if wake {
            self.shared.gathered.notify_one();
        }
        Durable::of(commit)
    }

    /// Everything up to `commit` is settled and can leave the disk.
    pub(crate) fn settled_up_to(&self, commit: u64) {
        self.shared.applied.fetch_max(commit, Ordering::Relaxed);
    }

    pub(crate) fn trouble(&self) -> Option<Trouble> {
        self.shared.trouble.read().clone()
    }

    /// The last commit that is durable.
    pub(crate) fn last_commit(&self) -> u64 {
        self.shared.last_commit.load(Ordering::Acquire)
    }

    /// Writes what has gathered and ends the thread. Whatever comes later is refused.
    pub(crate) fn close(&self) {
        self.shared.gathering.lock().closing = true;
        self.shared.gathered.notify_one();
        if let Some(thread) = self.thread.lock().take()
            && thread.join().is_err()
        {
            tracing::error!("the journal's thread had panicked");
        }
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.close();
    }
}

/// The answer to a commit's waiters as a result: `Failed` leaves it open what is on the disk.
pub(crate) async fn durable(op: &'static str, waiting: Durable) -> Result<(), StoreError> {
    match waiting.await {
        CommitState::Durable => Ok(()),
        CommitState::Open | CommitState::Failed => Err(StoreError::Unavailable {
            op,
            source: "the order log could not be made durable; whether this was written shows later".into(),
        }),
    }
}
