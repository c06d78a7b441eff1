//! The writer loop on the journal's thread.
//!
//! A busy writer delays the next commit by up to 250 µs to batch more claims. After a failed write or sync,
//! the claims in doubt are written once more before others are accepted.
//!
//! Reasons and figures: `storage/decisions/0003-batching-delay-and-wake-ups.md`,
//! `storage/decisions/0036-order-log-on-a-write-ahead-log.md`.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use mallbox_storage::{Claim, Durability, LogPosition, LoggedClaim, StoreError};
use mallbox_storage_wal::{SyncPoint, WalError};

use super::backlog::Backlog;
use super::commit::{Commit, CommitState};
use super::log_wal::LogWal;
use super::record;
use super::shared::{OpenGroup, RECOVERED_GROUP, Shared, StartHold, WriteBlock};
use super::store::Change;
use crate::queue::Queue;
use crate::settled::Settled;

/// Interval of maintenance: free space is checked, segments are released and created, and a failed log is
/// retried.
const MAINTENANCE_INTERVAL: Duration = Duration::from_secs(1);
/// Number of waiters from which the journal is busy. Then the next commit is delayed for the waiters just
/// completed, who may send another claim. A commit costs the same for one claim and for fifty.
const BUSY_MIN_WAITERS: usize = 8;
/// Maximum batching delay.
const BATCHING_DELAY_MAX: Duration = Duration::from_micros(250);
const RELAXED_SYNC_INTERVAL: Duration = Duration::from_millis(200);

/// A commit that is not synced yet.
#[derive(Debug)]
struct Unsynced {
    number: u64,
    claims: Vec<Claim>,
    changes: Vec<Change>,
}

/// State owned by the journal's thread.
pub(super) struct Writer {
    shared: Arc<Shared>,
    wal: LogWal,
    backlog: Arc<Backlog>,
    durability: Durability,
    settled: Arc<Settled>,
    queue: Arc<Queue>,
    /// Accepted commits for the backlog, which takes synced ones only.
    unsynced: Vec<Unsynced>,
    /// Claims in doubt: their commit failed, so they may be on the disk. All are in memory.
    in_doubt: Vec<Claim>,
    /// Changes of failed commits, already applied in memory.
    in_doubt_changes: Vec<Change>,
    /// Preparation for the first write.
    before_writing: Option<Box<dyn Fn() -> Result<(), StoreError> + Send>>,
    /// The last group commit taken over: all claims up to this group are durable or in doubt.
    group: u64,
    /// Number of waiters of the last commit, and of the one before.
    waited: [usize; 2],
    maintained_at: Instant,
    /// The last commit at the last maintenance. An unchanged number means an idle journal.
    maintained_commit: u64,
    /// Whether the last record is an empty one.
    is_sealed: bool,
    synced: Instant,
    /// Whether no segment could be released or created the last time.
    is_short_of_segments: bool,
    /// Buffer for the body of a record.
    body: Vec<u8>,
}

impl Writer {
    pub(super) fn new(
        (shared, backlog): (Arc<Shared>, Arc<Backlog>),
        wal: LogWal,
        durability: Durability,
        settled: Arc<Settled>,
        queue: Arc<Queue>,
        held: Option<StartHold>,
    ) -> Self {
        Self {
            shared,
            maintained_commit: wal.last(),
            wal,
            backlog,
            durability,
            settled,
            queue,
            unsynced: Vec::new(),
            in_doubt: Vec::new(),
            in_doubt_changes: Vec::new(),
            before_writing: held.map(|held| held.before_writing),
            group: RECOVERED_GROUP,
            waited: [0; 2],
            maintained_at: Instant::now(),
            // A start writes an empty record.
            is_sealed: true,
            synced: Instant::now(),
            is_short_of_segments: false,
            body: Vec::new(),
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
            if let Err(fault) = self.sync_if_due() {
                self.fail(&fault);
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
            let time = if self.unsynced.is_empty() { MAINTENANCE_INTERVAL } else { RELAXED_SYNC_INTERVAL };
            self.shared.gathered.wait_for(&mut gathering, time);
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
                Ok(()) => return self.accept(claims, changes, &commit),
                Err(fault) => self.fail(&fault),
            }
        }
        let in_doubt = claims.iter().map(|claim| (self.group, claim.voucher));
        self.shared.in_doubt.lock().extend(in_doubt);
        self.in_doubt.extend(claims);
        self.in_doubt_changes.extend(changes);
        commit.finish(CommitState::Failed);
    }

    /// Writes one commit and makes it durable. A commit without any content needs no record: nobody waits for
    /// anything but earlier commits.
    fn write(&mut self, claims: &[Claim], changes: &[Change]) -> Result<(), WalError> {
        if claims.is_empty() && changes.is_empty() {
            return Ok(());
        }
        record::encode(&mut self.body, claims, changes);
        self.put()
    }

    /// Writes a record with the buffered body.
    fn put(&mut self) -> Result<(), WalError> {
        let sync = match self.durability {
            Durability::Power | Durability::Process | Durability::Memory => SyncPoint::Now,
            Durability::Relaxed => SyncPoint::Later,
        };
        self.wal.opened()?.commit(&self.body, sync)
    }

    /// Syncs what a relaxed log has not synced yet, if it is time.
    fn sync_if_due(&mut self) -> Result<(), WalError> {
        if !self.unsynced.is_empty() && self.synced.elapsed() >= RELAXED_SYNC_INTERVAL {
            self.sync()?;
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), WalError> {
        self.wal.opened()?.sync()?;
        self.synced = Instant::now();
        self.hand_over();
        Ok(())
    }

    /// Keeps a commit for the store until the commit is synced: not at all, unless the log is relaxed.
    fn keep(&mut self, commit: Unsynced) {
        self.unsynced.push(commit);
        if self.durability != Durability::Relaxed {
            self.hand_over();
        }
    }

    /// Passes synced commits on to the store.
    fn hand_over(&mut self) {
        for Unsynced { number, claims, changes } in self.unsynced.drain(..) {
            self.backlog.add(number, claims, changes);
        }
    }

    /// Completes a durable commit: publishes its claims to the workers and wakes the waiters.
    fn accept(&mut self, claims: Vec<Claim>, changes: Vec<Change>, commit: &Commit) {
        // No claim is in doubt here: while there are claims in doubt, all failed groups are accepted
        // together.
        self.shared.durable_group.store(self.group, Ordering::Release);
        if claims.is_empty() && changes.is_empty() {
            return commit.finish(CommitState::Durable);
        }
        self.is_sealed = false;
        let number = self.number_written(claims.len());
        // Before waking the waiters: after a response, the claim is already in the workers' queue.
        self.queue.push(logged(number, &claims));
        commit.finish(CommitState::Durable);
        self.keep(Unsynced { number, claims, changes });
    }

    /// Publishes the number of the record just written, with so many claims.
    fn number_written(&self, claims: usize) -> u64 {
        let number = self.wal.last();
        // Counted before any worker can settle the claims.
        self.settled.opened(number, claims);
        self.shared.last_commit.store(number, Ordering::Release);
        number
    }

    fn fail(&self, fault: &WalError) {
        let detail = fault.to_string();
        tracing::error!(detail, "could not write the order log; refusing claims until a write succeeds");
        *self.shared.trouble.write() = Some(blocked_by(fault));
    }

    /// Runs the maintenance of every second.
    fn maintain(&mut self) {
        self.maintained_at = Instant::now();
        self.shared.note_sale_shortage();
        let full = self.shared.disk.shortage().map(WriteBlock::Full);
        if full.is_some() {
            *self.shared.trouble.write() = full;
        } else if self.shared.trouble.read().is_some() {
            self.recover();
        } else {
            match self.seal_if_idle() {
                Ok(()) => self.keep_segments(),
                Err(fault) => self.fail(&fault),
            }
        }
        self.maintained_commit = self.wal.last();
    }

    /// Writes an empty record behind the last one of an idle log. It names that one as durable: if the last
    /// one becomes unreadable, it is not taken for the torn end of a commit that nobody was told of.
    fn seal_if_idle(&mut self) -> Result<(), WalError> {
        if self.is_sealed || self.wal.last() != self.maintained_commit {
            return Ok(());
        }
        self.seal()
    }

    fn seal(&mut self) -> Result<(), WalError> {
        self.body.clear();
        self.put()?;
        self.is_sealed = true;
        let number = self.number_written(0);
        self.keep(Unsynced { number, claims: Vec::new(), changes: Vec::new() });
        Ok(())
    }

    /// Releases segments up to the last checkpoint, and creates one if none is left.
    ///
    /// A failure is no reason to refuse claims: there may be room in the present segment.
    fn keep_segments(&mut self) {
        let released = self.backlog.released();
        let kept = self.wal.opened().and_then(|wal| wal.release(released).and_then(|()| wal.prepare()));
        if let Err(error) = &kept
            && !self.is_short_of_segments
        {
            tracing::warn!(%error, "could not release or create a segment of the write-ahead log; trying again");
        }
        self.is_short_of_segments = kept.is_err();
    }

    /// Accepts claims again after all claims in doubt are durable.
    fn recover(&mut self) {
        if let Some(Err(error)) = self.before_writing.as_ref().map(|prepare| prepare()) {
            return self.fail_to_recover(WriteBlock::Failed(error.to_string()));
        }
        self.before_writing = None;
        let (in_doubt, changes) =
            (std::mem::take(&mut self.in_doubt), std::mem::take(&mut self.in_doubt_changes));
        match self.reopen().and_then(|()| self.write(&in_doubt, &changes)) {
            Ok(()) => {
                self.accept(in_doubt, changes, &Commit::new());
                self.shared.in_doubt.lock().clear();
                *self.shared.trouble.write() = None;
                tracing::info!("recovered the order log; accepting claims again");
            }
            Err(fault) => {
                (self.in_doubt, self.in_doubt_changes) = (in_doubt, changes);
                self.fail_to_recover(blocked_by(&fault));
            }
        }
    }

    /// Opens a log that a full disk kept from being opened, and proves that it can be written.
    fn reopen(&mut self) -> Result<(), WalError> {
        self.wal.opened()?;
        self.seal()?;
        self.sync()
    }

    /// Records the failure. The next attempt follows within a second.
    fn fail_to_recover(&self, block: WriteBlock) {
        let detail = block.text();
        tracing::error!(
            detail,
            "still could not write the order log; refusing claims until a write succeeds"
        );
        *self.shared.trouble.write() = Some(block);
    }

    fn end(mut self) {
        if let Err(fault) = self.sync() {
            self.fail(&fault);
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

fn blocked_by(fault: &WalError) -> WriteBlock {
    match fault {
        WalError::Io(error) if error.kind() == ErrorKind::StorageFull => WriteBlock::Full(fault.to_string()),
        WalError::Io(_) | WalError::TooLong { .. } => WriteBlock::Failed(fault.to_string()),
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
