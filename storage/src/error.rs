//! Trouble. A refusal is an answer and never one of these.

use std::path::PathBuf;
use std::time::Duration;

/// What a driver said, kept for the log.
pub type Source = Box<dyn std::error::Error + Send + Sync>;

/// A store could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// No answer, or not now; the same call may succeed later, and may already have taken effect.
    #[error("{op}: store unavailable: {source}")]
    Unavailable {
        /// What was called.
        op: &'static str,
        /// What it hit.
        source: Source,
    },
    /// There is no room left on the disk. Nothing was written; reading goes on.
    #[error("{op}: disk full: {detail}")]
    Full {
        /// What was called.
        op: &'static str,
        /// How much is left, and where.
        detail: String,
    },
    /// The store took the call and refused its content; calling again changes nothing.
    #[error("{op}: refused: {source}")]
    Refused {
        /// What was called.
        op: &'static str,
        /// The rule it broke.
        source: Source,
    },
    /// An answer this program never wrote: a bug, a foreign writer, a broken disk.
    #[error("{op}: bad record at {key}")]
    Corrupt {
        /// What was called.
        op: &'static str,
        /// Where the bad record is.
        key: String,
    },
}

impl StoreError {
    /// Whether the same call may succeed later without anything else changing.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::Full { .. })
    }
}

/// What is lost from a damaged order log, counted without changing anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LogLoss {
    /// Commits that are missing, or of which a part is.
    pub commits: u64,
    /// Accepted claims in them, at the least: what cannot be read cannot be counted.
    pub claims: u64,
}

impl LogLoss {
    /// What has to be given back to start without what is lost. 0: no accepted claim is known to be lost.
    #[must_use]
    pub fn number(self) -> u64 {
        self.claims
    }
}

fn on_loss(loss: Option<LogLoss>) -> String {
    match loss {
        None => String::new(),
        Some(LogLoss { claims: 0, .. }) => {
            "; or add --accept-lost-log 0 to start with what can still be read: no accepted claim \
             is known to be lost"
                .to_owned()
        }
        Some(LogLoss { commits, claims }) => format!(
            "; or add --accept-lost-log {claims} to start without what is lost: at least {claims} accepted claims, in \
             {commits} commits that are known to be incomplete"
        ),
    }
}

/// A store could not be opened. Each text says what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Another process has the directory.
    #[error("{path} is in use by another mallbox{}; stop it, or use another directory", owner.map(|pid| format!(" (process {pid})")).unwrap_or_default())]
    InUse {
        /// The data directory.
        path: PathBuf,
        /// Who wrote the lock, if it says so.
        owner: Option<u32>,
    },
    /// The file system cannot keep a second process out.
    #[error(
        "{path} is on a file system that cannot lock a directory, as many network file systems cannot; use a directory on a \
         local disk: {source}"
    )]
    CannotLock {
        /// The data directory.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The directory or a file in it cannot be read or written.
    #[error("{path}: {what}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What was attempted.
        what: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// The directory holds something else, or is of another version.
    #[error("{path}: {detail}")]
    NotOurs {
        /// The data directory.
        path: PathBuf,
        /// What was found and what to do.
        detail: String,
    },
    /// The order log does not hold what it must hold.
    #[error("the order log in {path} is damaged: {detail}. Restore the directory from a backup{}", on_loss(*loss))]
    LostLog {
        /// The log's directory.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
        /// What a start without the lost part would drop. `None`: so much is missing that the log alone cannot be at fault.
        loss: Option<LogLoss>,
    },
    /// The record does not hold what it must hold.
    #[error("the record {path} is damaged: {detail}. Restore the directory from a backup")]
    DamagedRecord {
        /// The database file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// The address of a server cannot be read. It may hold a password, so it is not repeated.
    #[error("the address of {what} cannot be used: {detail}")]
    BadUrl {
        /// Of what.
        what: &'static str,
        /// What is wrong with it.
        detail: String,
    },
    /// A server does not answer, or refuses the login.
    #[error("{server} cannot be reached: {source}")]
    Unreachable {
        /// Which, and where; without its password.
        server: String,
        /// What it hit.
        source: Source,
    },
    /// A server answers, but had no connection free for as long as the caller was ready to wait.
    #[error(
        "{server} had no free connection within {} s: {source}. Raise its max_connections, or lower pool_max of the processes that \
         share it, or try again later", waited.as_secs()
    )]
    NoConnection {
        /// Which, and where; without its password.
        server: String,
        /// How long one was waited for.
        waited: Duration,
        /// What the server said last.
        source: Source,
    },
    /// A server is set up in a way that would lose data.
    #[error("{server} cannot be used: {detail}")]
    Unfit {
        /// Which, and where; without its password.
        server: String,
        /// What was found and what to do.
        detail: String,
    },
}
