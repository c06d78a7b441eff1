//! The order log's journal: one thread that writes what has gathered, makes it durable once, and then answers all who wait.
//!
//! - [`commit`]: one commit and its waiters. [`codec`]: claims as bytes. [`store`]: the sled store, its one owner.
//! - [`recovery`]: what a start finds. [`files`]: the store's files without sled. [`loss`]: a damaged log.
//! - [`thread`]: the loop.
//!
//! Claims of a commit become one sled record (in parts below 4 KiB), since sled's insert costs as much CPU as the whole
//! of an HTTP request. After a failed write or sync nothing is undone: the commit is perhaps on the disk. Its claims stay
//! in memory, and all that is unsettled is written to a new store before claims are taken again.

mod codec;
pub(crate) mod commit;
mod files;
mod loss;
#[cfg(any(test, fuzzing))]
pub(crate) mod properties;
pub(crate) mod recovery;
mod store;
#[cfg(test)]
mod tests;
mod thread;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};

use parking_lot::{Condvar, Mutex, MutexGuard, RwLock};

use self::commit::{Commit, CommitState, Durable};
use self::recovery::Recovered;
pub(crate) use self::store::Change;
pub(crate) use self::thread::logged;
use crate::embedded::disk::Disk;
use crate::embedded::disk_faults::Watcher;
use crate::embedded::queue::Queue;
use crate::embedded::settled::Settled;
use crate::{Claim, Durability, StoreError, VoucherId};

/// The group of claims that a start found in the log.
pub(crate) const RECOVERED_GROUP: u64 = 0;

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

/// What is gathering for the next group commit.
#[derive(Debug)]
struct Gathering {
    /// Its number, from 1 on, without a gap. A failed group keeps its number when its claims are written again.
    group: u64,
    commit: Arc<Commit>,
    /// The group commit before this one: being written, or finished.
    previous: Arc<Commit>,
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
    fn new(group: u64, previous: Arc<Commit>) -> Self {
        Self {
            group,
            commit: Commit::new(),
            previous,
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
    /// Every claim of every group commit up to this number is durable.
    durable_group: AtomicU64,
    /// Group and sale of each claim whose group commit failed and was not written again yet.
    in_doubt: Mutex<Vec<(u64, VoucherId)>>,
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

/// What keeps a journal from writing at its start, and what has to be done once nothing does.
pub(crate) struct Held {
    pub(crate) trouble: Trouble,
    /// Done before the first write, and again until it succeeds.
    pub(crate) before_writing: Box<dyn Fn() -> Result<(), StoreError> + Send>,
}

/// The journal's handle.
#[derive(Debug)]
pub(crate) struct Journal {
    shared: Arc<Shared>,
    thread: Mutex<Option<std::thread::JoinHandle<()>>>,
}

impl Journal {
    /// Starts the thread on a log that was recovered, in the disk's directory. Durable claims go to `queue`. While it is
    /// `held`, all that would write is refused.
    pub(crate) fn start(
        recovered: Recovered,
        disk: Disk,
        durability: Durability,
        settled: Arc<Settled>,
        queue: Arc<Queue>,
        held: Option<Held>,
    ) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            gathering: Mutex::new(Gathering::new(RECOVERED_GROUP + 1, Commit::new())),
            gathered: Condvar::new(),
            trouble: RwLock::new(held.as_ref().map(|held| held.trouble.clone())),
            applied: AtomicU64::new(0),
            last_commit: AtomicU64::new(recovered.content.last_commit),
            durable_group: AtomicU64::new(RECOVERED_GROUP),
            in_doubt: Mutex::default(),
            disk,
        });
        shared.disk.tell(&shared);
        let writer = thread::Writer::new(Arc::clone(&shared), recovered, durability, settled, queue, held);
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

    /// Appends a claim if `decide` accepts it. It will be written whether or not anybody waits for the answer.
    ///
    /// `decide` receives the number of the claim's group commit and runs under the lock that ends the group. It must be
    /// quick, and publish the number before anything that the claim changes: then whoever sees the change knows the group.
    pub(crate) fn append_if(&self, claim: Claim, decide: impl FnOnce(u64) -> bool) -> Option<Durable> {
        let mut gathering = self.shared.gathering.lock();
        if !decide(gathering.group) {
            return None;
        }
        gathering.claims.push(claim);
        Some(self.join(gathering))
    }

    /// Makes changes of entries, in their order.
    pub(crate) fn change(&self, changes: impl IntoIterator<Item = Change>) -> Durable {
        let mut gathering = self.shared.gathering.lock();
        gathering.changes.extend(changes);
        self.join(gathering)
    }

    /// Makes a change that nobody waits for, with the next commit or within a second.
    pub(crate) fn change_lazily(&self, change: Change) {
        self.shared.gathering.lock().changes.push(change);
    }

    /// Waits for everything appended so far.
    pub(crate) fn barrier(&self) -> Durable {
        self.join(self.shared.gathering.lock())
    }

    fn join(&self, mut gathering: MutexGuard<'_, Gathering>) -> Durable {
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

    /// Whether every claim of group commit `group` is durable. One atomic load.
    pub(crate) fn is_durable(&self, group: u64) -> bool {
        group <= self.shared.durable_group.load(Ordering::Acquire)
    }

    /// Waits until group commit `group` is durable, for a reader of its claims. A group that failed is an error at once.
    pub(crate) async fn until_durable(&self, op: &'static str, group: u64) -> Result<(), StoreError> {
        if self.is_durable(group) {
            return Ok(());
        }
        let (group, commit) = {
            let gathering = self.shared.gathering.lock();
            // A refused claim publishes the number of a group that nobody joined, and that nothing may ever end. Claims join
            // under this lock, so what the caller saw rests on earlier groups.
            let is_empty = gathering.group == group && gathering.claims.is_empty();
            let group = if is_empty { group - 1 } else { group };
            let commit = match gathering.group - group {
                0 => Some(Arc::clone(&gathering.commit)),
                1 => Some(Arc::clone(&gathering.previous)),
                _ => None,
            };
            (group, commit)
        };
        if self.is_durable(group) {
            return Ok(());
        }
        let state = match commit {
            Some(commit) => Durable::of(commit).await,
            None => CommitState::Failed,
        };
        // A group that failed may have been written again meanwhile.
        if self.is_durable(group) { Ok(()) } else { outcome(op, state) }
    }

    /// Claims of a sale in doubt: their group commits, up to `group`, failed and were not written again yet.
    pub(crate) fn in_doubt(&self, voucher: VoucherId, group: u64) -> u64 {
        let in_doubt = self.shared.in_doubt.lock();
        in_doubt.iter().filter(|(failed, of)| *failed <= group && *of == voucher).count() as u64
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

/// The answer to a commit's waiters as a result.
pub(crate) async fn durable(op: &'static str, waiting: Durable) -> Result<(), StoreError> {
    outcome(op, waiting.await)
}

/// `Failed` leaves it open what is on the disk.
fn outcome(op: &'static str, state: CommitState) -> Result<(), StoreError> {
    match state {
        CommitState::Durable => Ok(()),
        CommitState::Open | CommitState::Failed => Err(StoreError::Unavailable {
            op,
            source: "the order log could not be made durable; whether this was written shows later".into(),
        }),
    }
}
