//! The order log's journal: group commit. One thread writes all collected claims, syncs once, and completes
//! all waiters.
//!
//! - [`shared`]: the state between callers and the thread. [`thread`]: the writer loop. [`commit`]: a commit
//!   and its waiters.
//! - [`log_wal`]: the write-ahead log. [`record`]: a commit as bytes in it. [`medium`]: its directory.
//! - [`checkpoint`]: the thread that brings commits from the [`backlog`] to the sled store. [`kept_store`]:
//!   the store as it is kept. [`new_store`]: a new one. [`store`]: sled and its sole owner. [`codec`]:
//!   claims as bytes in it. [`files`]: its files without sled.
//! - [`recovery`]: the log at start, with its [`opening`]. [`found`]: what is found of it. [`contents`]: the
//!   contents of the store. [`loss`]: a damaged log. [`former`]: the log as the version before wrote it.
//!
//! A claim exists in the write-ahead log or in the database at every instant. The store is a second place,
//! for what the write-ahead log does not keep: it may fail or disappear. After a failed write or sync
//! nothing is rolled back: the commit is in doubt. Its claims stay in memory, and are written once more
//! before the journal accepts others.

mod backlog;
mod checkpoint;
mod codec;
pub(crate) mod commit;
pub(crate) mod contents;
mod files;
pub(crate) mod former;
mod found;
mod kept_store;
mod log_wal;
mod loss;
pub(crate) mod medium;
mod new_store;
mod opening;
#[cfg(any(test, fuzzing))]
pub(crate) mod properties;
mod record;
pub(crate) mod recovery;
mod shared;
mod store;
#[cfg(test)]
mod tests;
mod thread;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::thread::JoinHandle;
use std::time::Duration;

use mallbox_storage::{Claim, StoreError, VoucherId};
use parking_lot::{Condvar, Mutex, MutexGuard, RwLock};

use self::backlog::Backlog;
use self::checkpoint::Checkpoints;
pub(crate) use self::checkpoint::Note;
use self::commit::{Commit, CommitState, Durable};
use self::kept_store::KeptStore;
pub(crate) use self::log_wal::WAL;
use self::recovery::Recovered;
use self::shared::{OpenGroup, Shared};
pub(crate) use self::shared::{RECOVERED_GROUP, StartHold, WriteBlock};
pub(crate) use self::store::{Change, StoreOptions, sync_all};
pub(crate) use self::thread::logged;
use crate::disk::Disk;
use crate::disk_faults::Watcher as _;
use crate::queue::Queue;
use crate::settled::Settled;

/// Handle to the journal's threads.
#[derive(Debug)]
pub(crate) struct Journal {
    shared: Arc<Shared>,
    backlog: Arc<Backlog>,
    threads: Mutex<Option<Threads>>,
}

#[derive(Debug)]
struct Threads {
    writer: JoinHandle<()>,
    checkpoints: JoinHandle<()>,
}

/// What a journal works with.
#[derive(Debug)]
pub(crate) struct Collaborators {
    pub(crate) disk: Disk,
    pub(crate) store: StoreOptions,
    pub(crate) settled: Arc<Settled>,
    /// Receives durable claims.
    pub(crate) queue: Arc<Queue>,
}

impl Journal {
    /// Starts the journal's threads on a recovered log, in the disk's directory. Checkpoints are noted with
    /// `note`. While the journal is `held`, all writes are refused.
    pub(crate) fn start(
        recovered: Recovered,
        with: Collaborators,
        note: Note,
        held: Option<StartHold>,
    ) -> std::io::Result<Self> {
        let Recovered { wal, store, changes, log_id, content, .. } = recovered;
        let Collaborators { disk, store: options, settled, queue } = with;
        // A start writes an empty record, which nobody settles.
        settled.opened(wal.last(), 0);
        let shared = Arc::new(Shared {
            gathering: Mutex::new(OpenGroup::new(RECOVERED_GROUP + 1, Commit::new())),
            gathered: Condvar::new(),
            trouble: RwLock::new(held.as_ref().map(|held| held.trouble.clone())),
            sale_shortage: RwLock::new(disk.sale_shortage()),
            last_commit: AtomicU64::new(wal.last()),
            durable_group: AtomicU64::new(RECOVERED_GROUP),
            in_doubt: Mutex::default(),
            disk,
        });
        shared.disk.subscribe(&shared);
        let backlog = Arc::new(Backlog::new(wal.last()));
        let checkpoints = Checkpoints {
            backlog: Arc::clone(&backlog),
            settled: Arc::clone(&settled),
            disk: shared.disk.clone(),
            note,
            store: KeptStore::new(shared.disk.dir().to_owned(), log_id, options, store),
            changes,
            unsettled: content.commits.into_iter().filter(|(_, claims)| !claims.is_empty()).collect(),
            noted: None,
            failures: 0,
        };
        let of_writer = (Arc::clone(&shared), Arc::clone(&backlog));
        let writer = thread::Writer::new(of_writer, wal, options.durability, settled, queue, held);
        let writer = std::thread::Builder::new().name("journal".to_owned()).spawn(move || writer.run())?;
        let spawned = std::thread::Builder::new().name("checkpoint".to_owned());
        let checkpoints = spawned.spawn(move || checkpoints.run())?;
        Ok(Self { shared, backlog, threads: Mutex::new(Some(Threads { writer, checkpoints })) })
    }

    /// Returns the reason for refused writes, if any, as an error of `op`. To be called before any change
    /// in memory.
    pub(crate) fn ready(&self, op: &'static str) -> Result<(), StoreError> {
        self.shared.trouble.read().as_ref().map_or(Ok(()), |trouble| {
            self.shared.disk.refused(1);
            Err(trouble.error(op))
        })
    }

    /// Returns [`ready`](Self::ready), and for claims also whether the disk has room for more of them.
    pub(crate) fn ready_for_claims(&self, op: &'static str) -> Result<(), StoreError> {
        self.ready(op)?;
        self.shared.disk.refuse(op, self.sale_shortage())
    }

    /// Returns a warning for the operators while space is getting short.
    pub(crate) fn disk_warning(&self) -> Option<String> {
        self.shared.disk.warning()
    }

    /// Returns why claims alone are refused, if they are.
    pub(crate) fn sale_shortage(&self) -> Option<String> {
        self.shared.sale_shortage.read().clone()
    }

    /// Appends a claim if `decide` accepts it. The claim is written whether or not anybody waits for the
    /// result.
    ///
    /// `decide` receives the number of the claim's group commit and runs under the lock that closes the
    /// group. `decide` must be quick, and must publish the group number before any other effect of the
    /// claim: then every reader of an effect knows the group to wait for.
    pub(crate) fn append_if(&self, claim: Claim, decide: impl FnOnce(u64) -> bool) -> Option<Durable> {
        let mut gathering = self.shared.gathering.lock();
        if !decide(gathering.group) {
            return None;
        }
        gathering.claims.push(claim);
        Some(self.join(gathering))
    }

    /// Changes entries, in order. The returned future completes with the group commit.
    pub(crate) fn change(&self, changes: impl IntoIterator<Item = Change>) -> Durable {
        let mut gathering = self.shared.gathering.lock();
        gathering.changes.extend(changes);
        self.join(gathering)
    }

    /// Changes an entry with the next commit, or within a second, without a waiter.
    pub(crate) fn change_lazily(&self, change: Change) {
        self.shared.gathering.lock().changes.push(change);
    }

    /// Waits for everything appended so far.
    pub(crate) fn barrier(&self) -> Durable {
        self.join(self.shared.gathering.lock())
    }

    fn join(&self, mut gathering: MutexGuard<'_, OpenGroup>) -> Durable {
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

    /// Returns whether every claim of group commit `group` is durable. One atomic load.
    pub(crate) fn is_durable(&self, group: u64) -> bool {
        group <= self.shared.durable_group.load(Ordering::Acquire)
    }

    /// Waits until group commit `group` is durable, for a reader of the group's claims.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] at once if the group failed and is not yet written again.
    pub(crate) async fn until_durable(&self, op: &'static str, group: u64) -> Result<(), StoreError> {
        if self.is_durable(group) {
            return Ok(());
        }
        let (group, commit) = {
            let gathering = self.shared.gathering.lock();
            // A refused claim publishes the number of a group that may have no waiters and may never be
            // written. Claims are appended under this lock, so the effects seen by the caller come from
            // earlier groups.
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
        // A failed group may have been written again in the meantime.
        if self.is_durable(group) { Ok(()) } else { outcome(op, state) }
    }

    /// Counts the claims of a sale in doubt: their group commits, up to `group`, failed and are not yet
    /// written again.
    pub(crate) fn in_doubt(&self, voucher: VoucherId, group: u64) -> u64 {
        let in_doubt = self.shared.in_doubt.lock();
        in_doubt.iter().filter(|(failed, of)| *failed <= group && *of == voucher).count() as u64
    }

    pub(crate) fn trouble(&self) -> Option<WriteBlock> {
        self.shared.trouble.read().clone()
    }

    /// Tells whether the writing thread takes up nothing within `patience`. Blocks.
    pub(crate) fn is_stalled(&self, patience: Duration) -> bool {
        // Nothing is ever sent: the channel is disconnected by a thread that goes on, or has ended.
        self.shared.check().recv_timeout(patience) == Err(RecvTimeoutError::Timeout)
    }

    /// Returns the number of the last durable commit.
    pub(crate) fn last_commit(&self) -> u64 {
        self.shared.last_commit.load(Ordering::Acquire)
    }

    /// Writes all collected claims and a last checkpoint, and ends the threads. Later claims and changes are
    /// refused.
    pub(crate) fn close(&self) {
        self.shared.gathering.lock().closing = true;
        self.shared.gathered.notify_one();
        let Some(Threads { writer, checkpoints }) = self.threads.lock().take() else { return };
        let written = writer.join();
        self.backlog.close();
        for ended in [written, checkpoints.join()] {
            if ended.is_err() {
                tracing::error!("a thread of the order log panicked");
            }
        }
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.close();
    }
}

/// Waits for a commit and returns its state as a result.
pub(crate) async fn durable(op: &'static str, waiting: Durable) -> Result<(), StoreError> {
    outcome(op, waiting.await)
}

/// Converts a final state to a result. `Failed` means in doubt: the write may be on the disk.
fn outcome(op: &'static str, state: CommitState) -> Result<(), StoreError> {
    match state {
        CommitState::Durable => Ok(()),
        CommitState::Open | CommitState::Failed => Err(StoreError::Unavailable {
            op,
            source: "could not sync the order log; the outcome of this write is in doubt".into(),
        }),
    }
}
