//! Fault injection for the disk: shows how a mall, and its clients, cope with a full, slow or failing disk.
//!
//! Reasons and figures: `storage/decisions/0026-injected-disk-faults.md`.

use std::fmt;
use std::io;
use std::sync::Weak;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// Longest wait of a fault change for its watchers.
const NOTIFY_TIMEOUT: Duration = Duration::from_secs(1);
/// Upper bound on the delay of one commit, whatever was requested: an `Instant` cannot hold arbitrary sums.
const DELAY_MAX: Duration = Duration::from_secs(24 * 3600);

/// A component that must react at once when a fault begins or ends.
pub(crate) trait Watcher: Send + Sync {
    /// Starts a check. The receiver is disconnected when the check is done.
    fn check(&self) -> Receiver<()>;
}

/// Faults injected into a mall's disk; none at first.
///
/// Passed in [`EmbeddedOptions::disk_faults`](crate::EmbeddedOptions::disk_faults), and changed from any
/// thread at any time. A mall handles injected faults by the same code as real ones: callers and operators
/// see the same errors, and acknowledged writes are found again afterwards.
///
/// A call that begins or ends a fault blocks until the mall has noticed: some microseconds, on a slow disk
/// a second at the most. The call cuts short the delay of a commit in progress.
#[derive(Default)]
pub struct DiskFaults {
    /// Whether any fault is injected: the only check of a commit while there are none.
    is_played: AtomicBool,
    played: Mutex<ActiveFaults>,
    changed: Condvar,
    watchers: Mutex<Vec<Weak<dyn Watcher>>>,
    delays: AtomicU64,
    refusals: AtomicU64,
}

#[derive(Default)]
struct ActiveFaults {
    is_full: bool,
    slow: Option<Duration>,
    fails_syncs: bool,
    /// Number of changes so far.
    changes: u64,
}

impl DiskFaults {
    /// Simulates a full disk: claims and all other writes are refused with
    /// [`StoreError::Full`](mallbox_storage::StoreError::Full); reads continue to work. A claim accepted
    /// just before may fail with [`StoreError::Unavailable`](mallbox_storage::StoreError::Unavailable); such
    /// a claim is written when there is room again. A mall closed in the meantime has not stopped cleanly.
    pub fn set_full(&self, is_full: bool) {
        self.change(|played| played.is_full = is_full);
        self.notify_watchers();
    }

    /// Delays each commit of the order log and of the database by `longer`, at most a day. `None` ends the
    /// delay.
    pub fn set_slow(&self, longer: Option<Duration>) {
        self.change(|played| played.slow = longer);
    }

    /// Makes each sync of the order log fail, as on a failing disk. In a mall without syncs
    /// ([`Durability::Memory`](mallbox_storage::Durability::Memory)) no sync fails before the mall is closed.
    pub fn set_failing_syncs(&self, fails: bool) {
        self.change(|played| played.fails_syncs = fails);
        self.notify_watchers();
    }

    /// Returns the number of commits delayed by the slow disk so far.
    pub fn delays(&self) -> u64 {
        self.delays.load(Ordering::Relaxed)
    }

    /// Returns the number of calls refused by the full disk so far, the mall's internal calls included.
    pub fn refusals(&self) -> u64 {
        self.refusals.load(Ordering::Relaxed)
    }

    pub(super) fn is_full(&self) -> bool {
        self.now(|played| played.is_full)
    }

    pub(super) fn refused(&self, calls: usize) {
        if self.is_full() {
            self.refusals.fetch_add(calls as u64, Ordering::Relaxed);
        }
    }

    pub(super) fn before_sync(&self) -> io::Result<()> {
        if self.now(|played| played.fails_syncs) {
            return Err(io::Error::other("an injected sync failure"));
        }
        Ok(())
    }

    pub(super) fn delay(&self) {
        if !self.is_played.load(Ordering::Relaxed) {
            return;
        }
        let mut played = self.played.lock();
        let Some(longer) = played.slow else { return };
        self.delays.fetch_add(1, Ordering::Relaxed);
        let (changes, until) = (played.changes, Instant::now() + longer.min(DELAY_MAX));
        while played.changes == changes && !self.changed.wait_until(&mut played, until).timed_out() {}
    }

    pub(super) fn register(&self, watcher: Weak<dyn Watcher>) {
        let mut watchers = self.watchers.lock();
        watchers.retain(|watcher| watcher.strong_count() > 0);
        watchers.push(watcher);
    }

    fn now(&self, ask: impl FnOnce(&ActiveFaults) -> bool) -> bool {
        self.is_played.load(Ordering::Relaxed) && ask(&self.played.lock())
    }

    fn change(&self, change: impl FnOnce(&mut ActiveFaults)) {
        let mut played = self.played.lock();
        change(&mut played);
        played.changes += 1;
        let is_played = played.is_full || played.slow.is_some() || played.fails_syncs;
        self.is_played.store(is_played, Ordering::Relaxed);
        self.changed.notify_all();
    }

    fn notify_watchers(&self) {
        // Copied out of the lock: an upgraded watcher may be dropped here, and its destructor takes time.
        let watchers: Vec<_> = self.watchers.lock().iter().filter_map(Weak::upgrade).collect();
        let until = Instant::now() + NOTIFY_TIMEOUT;
        let looks: Vec<_> = watchers.iter().map(|watcher| watcher.check()).collect();
        for look in looks {
            // Nothing is ever sent: the channel is disconnected, or the time is up.
            let _ = look.recv_timeout(until.saturating_duration_since(Instant::now()));
        }
    }
}

impl fmt::Debug for DiskFaults {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let played = self.played.lock();
        formatter
            .debug_struct("DiskFaults")
            .field("is_full", &played.is_full)
            .field("slow", &played.slow)
            .field("fails_syncs", &played.fails_syncs)
            .finish_non_exhaustive()
    }
}
