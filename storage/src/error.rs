//! Trouble. A refusal is an answer and never one of these.

use std::path::PathBuf;

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
    #[error(
        "the order log in {path} is damaged: {detail}. Accepted claims may be lost. Restore the directory from \
         a backup; or, to start without what is lost, add --accept-lost-log"
    )]
    LostLog {
        /// The log's directory.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
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
    /// A server is set up in a way that would lose data.
    #[error("{server} cannot be used: {detail}")]
    Unfit {
        /// Which, and where; without its password.
        server: String,
        /// What was found and what to do.
        detail: String,
    },
}
