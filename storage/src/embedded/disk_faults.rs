//! Troubles of a disk, played: for trying out what a mall, and whatever calls it, makes of them.

use std::fmt;
use std::io;
use std::sync::Weak;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// How long a change waits for those who are to notice it.
const NOTICED_WITHIN: Duration = Duration::from_secs(1);
/// No commit is held up for longer, whatever was asked: an instant has an end.
const LONGEST_DELAY: Duration = Duration::from_secs(24 * 3600);

/// Somebody on the disk who is to notice at once that a trouble began or ended.
pub(crate) trait Watcher: Send + Sync {
    /// Looks. The receiver ends when it has.
    fn look(&self) -> Receiver<()>;
}

/// The troubles that are played on a mall's disk, all none at first.
///
/// Handed over by [`EmbeddedOptions::disk_faults`](crate::EmbeddedOptions::disk_faults), and changed from any thread at any
/// time. A mall meets them by the same code as real ones: it tells callers and operator the same, and what was answered is
/// found again afterwards.
///
/// A call that begins or ends a trouble blocks until the mall has noticed: some microseconds, on a slow disk a second at
/// the most. It cuts short the delay of a commit that is under way.
#[derive(Default)]
pub struct DiskFaults {
    /// Whether anything is played: all that a commit looks at while nothing is.
    is_played: AtomicBool,
    played: Mutex<Played>,
    changed: Condvar,
    watchers: Mutex<Vec<Weak<dyn Watcher>>>,
    delays: AtomicU64,
    refusals: AtomicU64,
}

#[derive(Default)]
struct Played {
    is_full: bool,
    slow: Option<Duration>,
    fails_syncs: bool,
    /// How often something changed.
    changes: u64,
}

impl DiskFaults {
    /// As if there were no room on the disk: claims and all other writes are refused with
    /// [`StoreError::Full`](crate::StoreError::Full); reading goes on. A claim that was let in just before may be answered with
    /// [`StoreError::Unavailable`](crate::StoreError::Unavailable): then it is written when there is room again. A mall that
    /// is closed meanwhile has not stopped in order.
    pub fn set_full(&self, is_full: bool) {
        self.change(|played| played.is_full = is_full);
        self.have_all_look();
    }

    /// Makes each commit of the order log and of the record take so much longer, at most a day.
    pub fn set_slow(&self, longer: Option<Duration>) {
        self.change(|played| played.slow = longer);
    }

    /// Makes each sync of the order log fail, as on a disk that is going bad. In a mall that syncs nothing
    /// ([`Durability::Memory`](crate::Durability::Memory)) none fails before it is closed.
    pub fn set_failing_syncs(&self, fails: bool) {
        self.change(|played| played.fails_syncs = fails);
        self.have_all_look();
    }

    /// How many commits the slow disk has held up so far.
    pub fn delays(&self) -> u64 {
        self.delays.load(Ordering::Relaxed)
    }

    /// How many calls the full disk has refused so far: also those that the mall makes of itself.
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
            return Err(io::Error::other("a sync that was made to fail"));
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
        let (changes, until) = (played.changes, Instant::now() + longer.min(LONGEST_DELAY));
        while played.changes == changes && !self.changed.wait_until(&mut played, until).timed_out() {}
    }

    pub(super) fn tell(&self, watcher: Weak<dyn Watcher>) {
        let mut watchers = self.watchers.lock();
        watchers.retain(|watcher| watcher.strong_count() > 0);
        watchers.push(watcher);
    }

    fn now(&self, ask: impl FnOnce(&Played) -> bool) -> bool {
        self.is_played.load(Ordering::Relaxed) && ask(&self.played.lock())
    }

    fn change(&self, change: impl FnOnce(&mut Played)) {
        let mut played = self.played.lock();
        change(&mut played);
        played.changes += 1;
        let is_played = played.is_full || played.slow.is_some() || played.fails_syncs;
        self.is_played.store(is_played, Ordering::Relaxed);
        self.changed.notify_all();
    }

    fn have_all_look(&self) {
        // Copied: what a watcher holds may end with it here, and takes its time.
        let watchers: Vec<_> = self.watchers.lock().iter().filter_map(Weak::upgrade).collect();
        let until = Instant::now() + NOTICED_WITHIN;
        let looks: Vec<_> = watchers.iter().map(|watcher| watcher.look()).collect();
        for look in looks {
            // Nothing is ever sent: it ends, or time is up.
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
