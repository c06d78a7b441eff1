//! The writer loop on the journal's thread.
//!
//! A busy writer delays the next commit by up to 250 µs to batch more claims. After a failed sync, and to
//! compact a large log, the writer moves all unsettled claims to a new store.
//!
//! Reasons and figures: `storage/decisions/0003-batching-delay-and-wake-ups.md`,
//! `storage/decisions/0004-new-store-after-failed-sync.md`.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use mallbox_storage::{Claim, Durability, LogPosition, LoggedClaim, StoreError};

use super::codec;
use super::commit::{Commit, CommitState};
use super::contents::Content;
use super::recovery::{self, Recovered};
use super::shared::{OpenGroup, RECOVERED_GROUP, Shared, StartHold, WriteBlock};
use super::store::{Change, Store, StoreFault};
use crate::queue::Queue;
use crate::settled::Settled;

/// Interval of maintenance: free space is checked, settled commits are removed from an idle log, and a
/// failed store is retried.
const MAINTENANCE_INTERVAL: Duration = Duration::from_secs(1);
/// Upper bound on settled commits removed along with one commit: each removal costs about as much as the
/// commit itself.
const REMOVED_PER_COMMIT_MAX: usize = 4;
/// Number of waiters from which the journal is busy. Then the next commit is delayed for the waiters just
/// completed, who may send another claim. A commit costs the same for one claim and for fifty.
const BUSY_MIN_WAITERS: usize = 8;
/// Maximum batching delay.
const BATCHING_DELAY_MAX: Duration = Duration::from_micros(250);
/// Compaction threshold in bytes, and in multiples of the size when new, for an idle journal. Under a
/// steady load sled's file grows by some ten bytes per claim, since sessions keep its segments from being
/// reused.
const COMPACT_MIN_BYTES: u64 = if cfg!(test) { 1 << 20 } else { 64 << 20 };
const COMPACT_MIN_GROWTH: u64 = 8;
/// Compaction threshold under load, in bytes: claims then wait for about a second, once in tens of millions
/// of claims.
const COMPACT_UNDER_LOAD_BYTES: u64 = 512 << 20;
const RELAXED_SYNC_INTERVAL: Duration = Duration::from_millis(200);

/// A commit that is not completely settled, or whose record is still on the disk.
#[derive(Debug)]
struct Written {
    number: u64,
    parts: u16,
    claims: Vec<Claim>,
}

/// State owned by the journal's thread.
pub(super) struct Writer {
    shared: Arc<Shared>,
    store: Store,
    log_id: u64,
    durability: Durability,
    settled: Arc<Settled>,
    queue: Arc<Queue>,
    /// Oldest first, numbered without gaps. The last commit stays even when settled: its record marks the
    /// end of the log.
    written: VecDeque<Written>,
    /// Claims in doubt: their commit failed, so they may be on the disk. All are in memory.
    in_doubt: Vec<Claim>,
    /// Changes of failed commits, already applied in memory.
    in_doubt_changes: Vec<Change>,
    /// Number of the last generation begun. Numbers are never reused: `CURRENT` may name a generation whose
    /// creation failed late.
    generation: u64,
    /// Whether the store is unusable: sled returned an error, or has a copy open. Then only a new store can
    /// be trusted.
    store_failed: bool,
    /// Preparation for the first write.
    before_writing: Option<Box<dyn Fn() -> Result<(), StoreError> + Send>>,
    next: u64,
    /// The last group commit taken over: all claims up to this group are durable or in doubt.
    group: u64,
    /// Number of waiters of the last commit, and of the one before.
    waited: [usize; 2],
    maintained_at: Instant,
    /// The next commit number at the last maintenance. An unchanged number means an idle journal.
    maintained_commit: u64,
    /// Size of the store when new, in bytes.
    new_bytes: u64,
    synced: Instant,
}

impl Writer {
    pub(super) fn new(
        shared: Arc<Shared>,
        recovered: Recovered,
        durability: Durability,
        settled: Arc<Settled>,
        queue: Arc<Queue>,
        held: Option<StartHold>,
    ) -> Self {
        let Recovered { store, log_id, content, shortage } = recovered;
        let leftovers = content.leftovers.into_iter().map(|(number, parts)| Written {
            number,
            parts,
            claims: Vec::new(),
        });
        let live = content.commits.into_iter().map(|(number, claims)| Written {
            number,
            parts: codec::parts(claims.len()),
            claims,
        });
        Self {
            written: leftovers.chain(live).collect(),
            next: content.last_commit + 1,
            generation: store.generation(),
            shared,
            store,
            log_id,
            durability,
            settled,
            queue,
            in_doubt: Vec::new(),
            in_doubt_changes: Vec::new(),
            group: RECOVERED_GROUP,
            store_failed: shortage.is_some(),
            before_writing: held.map(|held| held.before_writing),
            waited: [0; 2],
            maintained_at: Instant::now(),
            maintained_commit: 0,
            new_bytes: 0,
            synced: Instant::now(),
        }
    }

    pub(super) fn run(mut self) {
        self.maintain();
        loop {
            let mut gathered = self.gather();
            let closing = gathered.closing;
            let maintenance = std::mem::take(&mut gathered.maintenance);
            if gathered.waiting > 0 || !gathered.changes.is_empty() {
                self.commit(gathered);
            }
            if !maintenance.is_empty() || self.maintained_at.elapsed() >= MAINTENANCE_INTERVAL {
                self.maintain();
            }
            drop(maintenance);
            if closing {
                return self.end();
            }
        }
    }

    /// Waits for a waiter or a request to check the disk, for at most a second, and takes the collected
    /// group.
    fn gather(&mut self) -> OpenGroup {
        let mut gathering = self.shared.gathering.lock();
        if gathering.waiting == 0 && gathering.maintenance.is_empty() && !gathering.closing {
            gathering.wake_at = Some(1);
            self.shared.gathered.wait_for(&mut gathering, MAINTENANCE_INTERVAL);
        }
        let expected = self.waited[0].max(self.waited[1]);
        if self.waited[0] >= BUSY_MIN_WAITERS
            && (1..expected).contains(&gathering.waiting)
            && !gathering.closing
        {
            gathering.wake_at = Some(expected);
            self.shared.gathered.wait_for(&mut gathering, BATCHING_DELAY_MAX);
        }
        self.waited = [gathering.waiting, self.waited[0]];
        self.group = gathering.group;
        let mut next = OpenGroup::new(gathering.group + 1, Arc::clone(&gathering.commit));
        next.closing = gathering.closing;
        std::mem::replace(&mut gathering, next)
    }

    fn commit(&mut self, gathered: OpenGroup) {
        let OpenGroup { commit, claims, changes, .. } = gathered;
        if self.shared.trouble.read().is_none() {
            self.shared.disk.delay_commit();
            match self.write(&claims, &changes) {
                Ok(()) => return self.accept(claims, &commit),
                Err(fault) => self.fail(&fault.to_string()),
            }
        }
        let in_doubt = claims.iter().map(|claim| (self.group, claim.voucher));
        self.shared.in_doubt.lock().extend(in_doubt);
        self.in_doubt.extend(claims);
        self.in_doubt_changes.extend(changes);
        commit.finish(CommitState::Failed);
    }

    /// Writes one commit and makes it durable.
    fn write(&mut self, claims: &[Claim], changes: &[Change]) -> Result<(), StoreFault> {
        let commit = (!claims.is_empty()).then_some((self.next, claims));
        self.put(commit, changes, REMOVED_PER_COMMIT_MAX)?;
        if self.is_sync_due() {
            self.sync()?;
            self.synced = Instant::now();
        }
        Ok(())
    }

    fn is_sync_due(&self) -> bool {
        match self.durability {
            Durability::Power | Durability::Process => true,
            Durability::Relaxed => self.synced.elapsed() >= RELAXED_SYNC_INTERVAL,
            Durability::Memory => false,
        }
    }

    /// Writes a commit and changes to the store, and removes at most `removed` settled commits.
    fn put(
        &mut self,
        commit: Option<(u64, &[Claim])>,
        changes: &[Change],
        removed: usize,
    ) -> Result<(), StoreFault> {
        let settled = self.settled_commits(removed);
        self.store.write(commit, changes, &settled)?;
        self.written.drain(..settled.len());
        Ok(())
    }

    fn sync(&self) -> Result<(), StoreFault> {
        self.shared.disk.before_sync()?;
        self.store.sync()
    }

    /// Completes a durable commit: publishes its claims to the workers and wakes the waiters.
    fn accept(&mut self, claims: Vec<Claim>, commit: &Commit) {
        // No claim is in doubt here: while there are claims in doubt, all failed groups are accepted
        // together.
        self.shared.durable_group.store(self.group, Ordering::Release);
        if claims.is_empty() {
            return commit.finish(CommitState::Durable);
        }
        let number = self.next;
        self.next += 1;
        // Counted before any worker can settle the claims.
        self.settled.opened(number, claims.len());
        self.shared.last_commit.store(number, Ordering::Release);
        // Before waking the waiters: after a response, the claim is already in the workers' queue.
        self.queue.push(logged(number, &claims));
        commit.finish(CommitState::Durable);
        self.written.push_back(Written { number, parts: codec::parts(claims.len()), claims });
    }

    /// Returns the first settled commits still on the disk, at most `max`, but never the last commit.
    fn settled_commits(&self, max: usize) -> Vec<(u64, u16)> {
        let applied = self.shared.applied.load(Ordering::Relaxed);
        let removable = self.written.len().saturating_sub(1).min(max);
        let settled = self.written.iter().take(removable).take_while(|commit| commit.number <= applied);
        settled.map(|commit| (commit.number, commit.parts)).collect()
    }

    fn fail(&mut self, detail: &str) {
        tracing::error!(detail, "could not write the order log; refusing claims until a write succeeds");
        self.store_failed = true;
        *self.shared.trouble.write() = Some(WriteBlock::Failed(detail.to_owned()));
    }

    /// Runs the maintenance of every second.
    fn maintain(&mut self) {
        self.maintained_at = Instant::now();
        let full = self.shared.disk.shortage().map(WriteBlock::Full);
        if full.is_some() {
            *self.shared.trouble.write() = full;
        } else if self.shared.trouble.read().is_some() {
            self.recover();
        } else if let Err(fault) = self.put(None, &[], usize::MAX).and_then(|()| self.compact_if_large()) {
            self.fail(&fault.to_string());
        }
        self.maintained_commit = self.next;
    }

    /// Accepts claims again after all unsettled claims are durable.
    fn recover(&mut self) {
        if let Some(Err(error)) = self.before_writing.as_ref().map(|prepare| prepare()) {
            return self.fail_to_recover(&error.to_string());
        }
        self.before_writing = None;
        let recovered = if self.store_failed { self.replace_failed_store() } else { Ok(()) };
        let (in_doubt, changes) =
            (std::mem::take(&mut self.in_doubt), std::mem::take(&mut self.in_doubt_changes));
        match recovered.and_then(|()| self.write(&in_doubt, &changes)) {
            Ok(()) => {
                self.accept(in_doubt, &Commit::new());
                self.shared.in_doubt.lock().clear();
                self.store_failed = false;
                *self.shared.trouble.write() = None;
                tracing::info!("recovered the order log; accepting claims again");
            }
            Err(fault) => {
                (self.in_doubt, self.in_doubt_changes) = (in_doubt, changes);
                self.store_failed = true;
                self.fail_to_recover(&fault.to_string());
            }
        }
    }

    /// Records the failure. The next attempt follows within a second.
    fn fail_to_recover(&mut self, detail: &str) {
        tracing::error!(
            detail,
            "still could not write the order log; refusing claims until a write succeeds"
        );
        *self.shared.trouble.write() = Some(WriteBlock::Failed(detail.to_owned()));
    }

    /// Compacts the log: gives back the space that sled does not reuse.
    fn compact_if_large(&mut self) -> Result<(), StoreFault> {
        let bytes = self.store.bytes();
        let is_idle = self.maintained_commit == self.next;
        let is_large = bytes > COMPACT_MIN_BYTES && bytes > COMPACT_MIN_GROWTH * self.new_bytes;
        if is_large && (is_idle || bytes > COMPACT_UNDER_LOAD_BYTES) {
            let mut entries = Vec::new();
            // If an entry cannot be read, the store stays, however large: nothing but its size is wrong.
            self.store.entries(|key, value| entries.push((key.to_vec(), value.to_vec())))?;
            self.compact(entries)?;
            self.new_bytes = self.store.bytes();
            tracing::info!(before = bytes, after = self.new_bytes, "compacted the order log");
        }
        Ok(())
    }

    /// Abandons a failed store. After a failed sync its pages may be marked clean and still be lost later,
    /// so only readable sessions are taken over from the store.
    fn replace_failed_store(&mut self) -> Result<(), StoreFault> {
        let mut entries = Vec::new();
        if let Err(fault) = self.store.entries(|key, value| entries.push((key.to_vec(), value.to_vec()))) {
            tracing::warn!(%fault, "could not save some sessions; their users have to log in again");
        }
        self.compact(entries)
    }

    /// Moves all unsettled claims, and `entries`, to a new store.
    fn compact(&mut self, entries: Vec<(Vec<u8>, Vec<u8>)>) -> Result<(), StoreFault> {
        let mut content = Content { last_commit: self.next - 1, entries, ..Content::default() };
        content.commits = self.written.iter().map(|commit| (commit.number, commit.claims.clone())).collect();
        self.generation += 1;
        let log_dir = self.shared.disk.dir();
        self.store = recovery::make(log_dir, self.generation, self.log_id, self.durability, &content)?;
        Ok(())
    }

    fn end(mut self) {
        if let Err(fault) = self.put(None, &[], usize::MAX).and_then(|()| self.sync()) {
            self.fail(&fault.to_string());
        }
        // An earlier trouble is kept: then this was no clean stop.
        self.shared.trouble.write().get_or_insert(WriteBlock::Closed);
        // Callers that joined after the last round must not wait for ever.
        let late = {
            let mut gathering = self.shared.gathering.lock();
            gathering.maintenance.clear();
            // Later waiters of this group find it finished.
            Arc::clone(&gathering.commit)
        };
        late.finish(CommitState::Failed);
    }
}

/// Returns the claims of a commit in the form that workers receive.
pub(crate) fn logged(commit: u64, claims: &[Claim]) -> impl Iterator<Item = LoggedClaim> + '_ {
    claims.iter().zip(0..).map(move |(claim, minor)| LoggedClaim {
        position: LogPosition { major: commit, minor },
        claim: *claim,
        attempts: 0,
    })
}
