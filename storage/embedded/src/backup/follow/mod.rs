//! Follows the commits to the database of a mall in another process, by the `-wal` file of the database.
//!
//! SQLite appends the pages of each commit to the `-wal` file, copies them to the database file from time to
//! time, and begins the `-wal` file anew when all are copied: a new *generation*. A follower has a position
//! behind a commit, and reads from the position up to the last commit that SQLite counts. A frame is valid
//! with the salts of its generation and a checksum that continues the frame before.
//!
//! - **Guarded**: between two calls a read transaction is open. Under the transaction, the file can be begun
//!   anew once at most, with no commit between the position and the restart. So no commit is missed.
//! - **Awaiting a restart**: under guards alone, the file of a busy mall would grow without bound. A file of
//!   [`GUARDED_FRAMES_MAX`] frames gets no guard until it is begun anew, and is checked every
//!   [`CHECK_INTERVAL`]. After a restart, the rest of the former generation is still in the file unless the
//!   new generation has overwritten the rest, which is checked after the reading: then commits are
//!   [lost](Followed::Lost).
//!
//! A follower writes nothing: no checkpoint, no lock of a writer.
//!
//! Reasons and figures: `storage/decisions/0042-following-the-database.md`.

mod catching_up;
mod changed_pages;
mod connections;
mod loss_reason;
#[cfg(test)]
mod tests;
mod wal;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{io, thread};

use mallbox_storage::OpenError;

use self::catching_up::{End, Step, step};
pub use self::changed_pages::{ChangedPages, apply};
use self::connections::{Connections, Guard};
pub use self::loss_reason::LossReason;
use self::wal::{Position, WalFile};
use super::copy::explained;
use crate::lock::DirLock;
use crate::sqlite::COPY_PAGES;

/// The operation in errors.
const NOT_FOLLOWED: &str = "cannot be followed";
/// Upper bound on frames of a guarded `-wal` file (63 MiB). From the same number on, the mall's writer
/// finishes each checkpoint, without which a busy file is never begun anew.
const GUARDED_FRAMES_MAX: u32 = 16_000;
const _: () = assert!(GUARDED_FRAMES_MAX as i64 == COPY_PAGES);
/// Interval of checks of an unguarded file. A new generation loses commits only if its first
/// [`GUARDED_FRAMES_MAX`] frames are written within one interval.
const CHECK_INTERVAL: Duration = Duration::from_micros(500);
/// Longest wait for a new generation in one call.
const RESTART_WAIT: Duration = Duration::from_secs(1);
/// Frames that may be unread when a guard is given up: some milliseconds of reading.
const UNREAD_FRAMES_MAX: u32 = 2_000;
/// Upper bound on attempts to get below [`UNREAD_FRAMES_MAX`].
const CATCH_UPS_MAX: usize = 8;
/// Attempts to read a file that changes meanwhile. Under a guard the second one succeeds.
const ATTEMPTS_MAX: usize = 8;
/// Pause between two attempts.
const ATTEMPT_PAUSE: Duration = Duration::from_millis(1);

/// Follows the commits to the database of a mall that runs in another process.
///
/// 1. [`begin`](Self::begin), then [`copy_base`](super::copy_base). The base alone is one state of the
///    database.
/// 2. [`next`](Self::next) again and again, about once a second. The base with the changes of all calls
///    [applied](apply) in order is the state of the database at the last call, from the first call that began
///    after the copying had ended. The first changes repeat pages of the base, and reach beyond the base.
/// 3. [`finish_copy`](super::finish_copy), after the last changes, makes the sum a copy for
///    [`make_log`](super::make_log).
///
/// Requires a mall that serves: a starting mall inspects the files before SQLite may open them. A mall that
/// stops waits a second for a guarded follower and then keeps its `-wal` file: [release](Self::release) the
/// follower when the mall begins to stop.
pub struct DatabaseFollower {
    dir: PathBuf,
    database: PathBuf,
    /// `None` when released.
    connections: Option<Connections>,
    /// Kept open when released, so that no new file gets the inode.
    wal: WalFile,
    /// `None` before the first commit in the file.
    position: Option<Position>,
    /// Begun when `position` or an earlier commit was the last one, and held since.
    guard: Option<Guard>,
    is_awaiting_restart: bool,
    lost: Option<LossReason>,
}

/// Result of [`DatabaseFollower::next`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Followed {
    /// Nothing was committed.
    Nothing,
    /// Pages that were changed by complete transactions.
    Pages(ChangedPages),
    /// Commits may have been missed. Take a new base with a new follower.
    Lost(LossReason),
}

impl DatabaseFollower {
    /// Begins at the present last commit of the mall in `dir`. Returns `None` if no mall is running in `dir`:
    /// then [`copy_database`](super::copy_database) copies everything. Leaves the files of a stopped mall
    /// alone.
    ///
    /// # Errors
    /// [`OpenError`]: the directory cannot be locked, or the database cannot be read.
    pub fn begin(dir: &Path) -> Result<Option<Self>, OpenError> {
        if !is_running(dir)? {
            return Ok(None);
        }
        let database = dir.join("mall.sqlite");
        let connections = connect(&database)?;
        let guard = connections.guard(None).map_err(|error| unfollowed(&database, error))?;
        let wal = WalFile::open(&database).map_err(|error| unreadable(&database, error))?;
        let mut follower = Self {
            dir: dir.to_owned(),
            database,
            connections: None,
            wal,
            position: None,
            guard: Some(guard),
            is_awaiting_restart: false,
            lost: None,
        };
        for _ in 0..ATTEMPTS_MAX {
            let end = follower.end(&connections)?;
            let Some(header) = end.header.filter(|_| end.committed > 0) else {
                follower.connections = Some(connections);
                return Ok(Some(follower));
            };
            let position = Position::behind(header, end.committed, &follower.wal);
            follower.position = position.map_err(|error| unreadable(&follower.database, error))?;
            if follower.position.is_some() {
                follower.connections = Some(connections);
                return Ok(Some(follower));
            }
        }
        let source = io::Error::other(LossReason::Unreadable.to_string());
        Err(OpenError::Io { path: follower.database, what: NOT_FOLLOWED, source })
    }

    /// Returns the pages changed since the last successful call, or since the beginning. Includes every
    /// commit that was visible before the call.
    ///
    /// Takes up to a second if [awaiting a restart](Self::is_awaiting_restart). Memory for the pages: at most
    /// the size of the `-wal` file. After [`Followed::Lost`] every call returns the same loss.
    ///
    /// # Errors
    /// [`OpenError`]: the files cannot be read at present. A later call returns the changes.
    #[expect(clippy::should_implement_trait, reason = "an iterator would end, and has no errors of its own")]
    pub fn next(&mut self) -> Result<Followed, OpenError> {
        if let Some(reason) = self.lost {
            return Ok(Followed::Lost(reason));
        }
        let mut changes = ChangedPages::default();
        let position = self.position;
        match self.follow(&mut changes) {
            Err(error) => {
                // The pages are dropped, so the position returns, and a guard of the later position is none
                // of the former one.
                if self.position != position {
                    self.guard = None;
                    self.connections = None;
                }
                self.position = position;
                Err(error)
            }
            Ok(Some(reason)) => {
                self.release();
                self.lost = Some(reason);
                Ok(Followed::Lost(reason))
            }
            Ok(None) if changes.is_empty() => Ok(Followed::Nothing),
            Ok(None) => Ok(Followed::Pages(changes)),
        }
    }

    /// Returns whether the `-wal` file is too long to be guarded. Then call [`next`](Self::next) without a
    /// pause: a restart that is seen late may lose commits.
    #[must_use]
    pub fn is_awaiting_restart(&self) -> bool {
        self.is_awaiting_restart
    }

    /// Closes all connections, so that the mall stops as without a follower. A later [`next`](Self::next)
    /// continues if the `-wal` file still has all commits, else returns a loss.
    pub fn release(&mut self) {
        self.guard = None;
        self.connections = None;
    }

    /// Reads up to the last commit, and leaves the position there. Returns a reason if commits may be
    /// missing.
    fn follow(&mut self, changes: &mut ChangedPages) -> Result<Option<LossReason>, OpenError> {
        if !self.wal.has_its_name().map_err(|error| unreadable(&self.database, error))? {
            return Ok(Some(LossReason::Replaced));
        }
        let connections = match self.connections.take() {
            Some(connections) => connections,
            None if is_running(&self.dir)? => connect(&self.database)?,
            None => return Ok(Some(LossReason::Stopped)),
        };
        let outcome = self.follow_with(&connections, changes);
        self.connections = Some(connections);
        outcome
    }

    fn follow_with(
        &mut self,
        connections: &Connections,
        changes: &mut ChangedPages,
    ) -> Result<Option<LossReason>, OpenError> {
        if self.is_awaiting_restart {
            // Long reading needs the guard: a new generation could overtake the position meanwhile.
            for _ in 0..CATCH_UPS_MAX {
                let before = self.position.map_or(0, |position| position.frames);
                if self.guard.is_none() {
                    break;
                }
                if let Some(reason) = self.catch_up(connections, changes)? {
                    return Ok(Some(reason));
                }
                if !self.is_awaiting_restart {
                    return Ok(None);
                }
                let after = self.position.map_or(0, |position| position.frames);
                if after.saturating_sub(before) < UNREAD_FRAMES_MAX {
                    break;
                }
            }
            if let Some(guard) = self.guard.take() {
                connections.release(guard).map_err(|error| unfollowed(&self.database, error))?;
            }
            match self.await_restart(connections, changes)? {
                Wait::Over => {}
                Wait::GoesOn => return Ok(None),
                Wait::Lost(reason) => return Ok(Some(reason)),
            }
        }
        self.catch_up(connections, changes)
    }

    /// Reads up to the last commit, with a guard from there on.
    fn catch_up(
        &mut self,
        connections: &Connections,
        changes: &mut ChangedPages,
    ) -> Result<Option<LossReason>, OpenError> {
        let guard = connections.guard(self.guard).map_err(|error| unfollowed(&self.database, error))?;
        let mut reason = LossReason::Unreadable;
        for _ in 0..ATTEMPTS_MAX {
            let end = self.end(connections)?;
            match self.step(end, self.guard.is_some())? {
                Step::Read(position, later) => {
                    changes.add(later);
                    self.position = position;
                    if let Some(former) = self.guard.replace(guard) {
                        connections.release(former).map_err(|error| unfollowed(&self.database, error))?;
                    }
                    self.is_awaiting_restart =
                        end.committed >= GUARDED_FRAMES_MAX && end.copied < end.committed;
                    return Ok(None);
                }
                Step::Again => thread::sleep(ATTEMPT_PAUSE),
                Step::Lost(lost) => {
                    reason = lost;
                    break;
                }
            }
        }
        Ok(Some(reason))
    }

    /// Reads on without a guard, until the file is begun anew or can be begun anew under a guard.
    fn await_restart(
        &mut self,
        connections: &Connections,
        changes: &mut ChangedPages,
    ) -> Result<Wait, OpenError> {
        let until = Instant::now() + RESTART_WAIT;
        loop {
            let end = self.end(connections)?;
            let same = self.position.filter(|position| end.header == Some(position.header));
            let Some(position) = same.filter(|_| end.committed > 0) else { return Ok(Wait::Over) };
            if end.committed == position.frames && end.copied == end.committed {
                return Ok(Wait::Over);
            }
            match self.step(end, false)? {
                Step::Read(position, later) => {
                    changes.add(later);
                    self.position = position;
                }
                Step::Again => {}
                Step::Lost(reason) => return Ok(Wait::Lost(reason)),
            }
            if Instant::now() >= until {
                return Ok(Wait::GoesOn);
            }
            thread::sleep(CHECK_INTERVAL);
        }
    }

    fn step(&self, end: End, is_guarded: bool) -> Result<Step, OpenError> {
        step(&self.database, &self.wal, self.position, end, is_guarded)
            .map_err(|error| unreadable(&self.database, error))
    }

    /// Returns the end of the file: header and number of frames at one moment.
    ///
    /// A restart sets the count to 0, then writes the new header, then the first frames. So a count between
    /// two equal headers is 0 or of that generation.
    fn end(&self, connections: &Connections) -> Result<End, OpenError> {
        let header = || self.wal.header().map_err(|error| unreadable(&self.database, error));
        loop {
            let before = header()?;
            let frames = connections.frames().map_err(|error| unfollowed(&self.database, error))?;
            if header()? == before {
                return Ok(End { header: before, committed: frames.committed, copied: frames.copied });
            }
        }
    }
}

/// End of a wait for a new generation.
enum Wait {
    /// The file was begun anew, or all its frames are copied.
    Over,
    GoesOn,
    Lost(LossReason),
}

/// Returns whether a mall is running in `dir`.
fn is_running(dir: &Path) -> Result<bool, OpenError> {
    match DirLock::take(dir) {
        Ok(_) => Ok(false),
        Err(OpenError::InUse { .. }) => Ok(true),
        Err(error) => Err(error),
    }
}

fn connect(database: &Path) -> Result<Connections, OpenError> {
    Connections::open(database).map_err(|error| unfollowed(database, error))
}

fn unfollowed(database: &Path, error: rusqlite::Error) -> OpenError {
    explained(database, NOT_FOLLOWED, error)
}

fn unreadable(database: &Path, source: io::Error) -> OpenError {
    OpenError::Io { path: mallbox_storage_integrity::beside(database, "-wal"), what: NOT_FOLLOWED, source }
}
