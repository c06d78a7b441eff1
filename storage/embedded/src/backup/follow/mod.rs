//! Follows the commits to the database of a mall that runs in another process, by its `-wal` file.
//!
//! SQLite appends the pages of each commit to the `-wal` file, copies them to the database file from time to
//! time, and begins the `-wal` file anew when all are copied: a new *generation*. A follower has a position
//! behind a commit, and reads from there up to the last commit that SQLite counts. Frames count with the salts
//! of their generation and the checksum that continues the frame before.
//!
//! - **Guarded**: between two calls a read transaction stops the file from being begun anew, but for once and
//!   without a commit in between. So nothing is missed.
//! - **Awaiting a restart**: a file that is guarded all the time may grow without bound. A file with
//!   [`GUARDED_FRAMES_MAX`] frames is left unguarded, and checked in short intervals until it was begun anew.
//!   Then the rest of the former generation is still in the file, unless the new one has overwritten it. That is
//!   checked after the reading: in doubt commits are [lost](Followed::Lost).
//!
//! A follower writes nothing: no checkpoint, no lock of a writer.
//!
//! Reasons and figures: `storage/decisions/0042-following-the-database.md`.

mod catching_up;
mod changed_pages;
mod connections;
#[cfg(test)]
mod tests;
mod wal;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fmt, io, thread};

use mallbox_storage::OpenError;

use self::catching_up::{End, Step, step};
pub use self::changed_pages::{ChangedPages, apply};
use self::connections::{Connections, Guard};
use self::wal::{Position, WalFile};
use super::copy::explained;
use crate::lock::DirLock;
use crate::sqlite::COPY_PAGES;

/// What is reported of a database that cannot be followed.
const NOT_FOLLOWED: &str = "cannot be followed";
/// Frames from which on the `-wal` file is not guarded until it was begun anew: from this number on the mall's
/// writer finishes each checkpoint, without which a busy file is never begun anew.
const GUARDED_FRAMES_MAX: u32 = 16_000;
const _: () = assert!(GUARDED_FRAMES_MAX as i64 == COPY_PAGES);
/// Interval of checks of an unguarded file. A new generation that is seen this early has overwritten nothing
/// behind the position: it takes [`GUARDED_FRAMES_MAX`] frames for that.
const CHECK_INTERVAL: Duration = Duration::from_micros(500);
/// Longest wait for a new generation in one call.
const RESTART_WAIT: Duration = Duration::from_secs(1);
/// Attempts to read a file that changes meanwhile. Under a guard the second one succeeds.
const ATTEMPTS_MAX: usize = 8;
/// Pause between two attempts.
const ATTEMPT_PAUSE: Duration = Duration::from_millis(1);

/// Follows the commits to the database of a mall that runs in another process.
///
/// A base and the changes are made in this order: [`begin`](Self::begin),
/// [`copy_base`](super::copy_base), then [`next`](Self::next) repeatedly. The base alone is one state of the
/// database. The base with all changes [applied](apply) in order, of which at least one [`next`](Self::next) was
/// called after the copying had ended, is the state at the last commit before that last call, or a later one
/// that the call has seen. The first changes repeat pages that the base has already; they reach beyond the
/// base, so that the sum is one state again. At the end [`finish_copy`](super::finish_copy) turns the sum into a
/// copy for [`make_log`](super::make_log).
///
/// The mall stops more slowly while a follower is guarded, and keeps its `-wal` file then:
/// [`release`](Self::release) ends that at once.
///
/// Only while the mall serves: a start reads the files before it lets SQLite open them.
pub struct DatabaseFollower {
    dir: PathBuf,
    database: PathBuf,
    /// `None` when released.
    connections: Option<Connections>,
    /// Kept open when released: no new file has its inode then.
    wal: WalFile,
    /// `None` before the first commit in the file.
    position: Option<Position>,
    /// Held from the moment that `position` was the last commit, or an earlier one.
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

/// Why commits may have been missed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossReason {
    /// The `-wal` file was begun anew, and overwritten before it was read to its end.
    Overwritten,
    /// The `-wal` file was begun anew, and its last transaction may be one whose commit failed.
    Unconfirmed,
    /// The `-wal` file was removed, replaced or cut.
    Replaced,
    /// Frames that SQLite counts are unreadable.
    Unreadable,
    /// The mall is not running.
    Stopped,
}

impl fmt::Display for LossReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Overwritten => "the -wal file was overwritten before it was read to its end",
            Self::Unconfirmed => "the last commit of the -wal file could not be confirmed after its restart",
            Self::Replaced => "the -wal file was removed, replaced or cut",
            Self::Unreadable => "the -wal file has unreadable frames",
            Self::Stopped => "the mall is not running",
        })
    }
}

impl DatabaseFollower {
    /// Begins at the present last commit of the mall in `dir`. Returns `None` if no mall is running there: then
    /// [`copy_database`](super::copy_database) has everything.
    ///
    /// # Errors
    /// [`OpenError`]: the directory cannot be locked, or its database cannot be read.
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

    /// Returns the pages that were changed since the last call, or since the beginning. Includes every commit
    /// that was visible before the call.
    ///
    /// Takes up to a second if [awaiting a restart](Self::is_awaiting_restart). The memory for the pages is
    /// bounded by the size of the `-wal` file. After [`Followed::Lost`] every call returns the same.
    ///
    /// # Errors
    /// [`OpenError`]: the files cannot be read at present. Nothing is lost by that: call again.
    #[expect(clippy::should_implement_trait, reason = "an iterator would end, and has no errors of its own")]
    pub fn next(&mut self) -> Result<Followed, OpenError> {
        if let Some(reason) = self.lost {
            return Ok(Followed::Lost(reason));
        }
        let mut changes = ChangedPages::default();
        // Of a call that fails, pages and position are dropped together.
        let position = self.position;
        let ended = self.follow(&mut changes);
        match ended {
            Err(error) => {
                // A guard since a later position is none since this one.
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

    /// Returns whether the `-wal` file is so long that it is not guarded. Call [`next`](Self::next) without a
    /// pause then: a restart of the file that is seen late may cost commits.
    #[must_use]
    pub fn is_awaiting_restart(&self) -> bool {
        self.is_awaiting_restart
    }

    /// Gives up the guard and all connections, so that the mall stops as if there were no follower. The next
    /// call of [`next`](Self::next) goes on if no commits were missed, which is possible while the mall runs on.
    pub fn release(&mut self) {
        self.guard = None;
        self.connections = None;
    }

    /// Reads up to the last commit, and leaves the position there. Returns a reason if commits may be missing.
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
            if let Some(guard) = self.guard.take() {
                connections.release(guard).map_err(|error| unfollowed(&self.database, error))?;
            }
            match self.await_restart(connections, changes)? {
                Wait::Over => {}
                Wait::GoesOn => return Ok(None),
                Wait::Lost(reason) => return Ok(Some(reason)),
            }
        }
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

    /// Returns the end of the file: header and number of frames of one moment.
    ///
    /// A new generation counts 0 frames, then writes its header, then its frames. So a count between two equal
    /// headers is of their generation, or 0.
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
