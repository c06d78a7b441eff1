//! Errors of storage. A business refusal is an outcome and never an error.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Error of a driver or the system, kept for the log.
pub type Source = Box<dyn std::error::Error + Send + Sync>;

/// Failure of a storage call.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The store did not respond, or cannot serve the call now. A retry may succeed later; the first call may
    /// already have taken effect (in doubt).
    #[error("{op}: store unavailable: {source}")]
    Unavailable {
        /// Name of the operation.
        op: &'static str,
        /// The underlying error.
        source: Source,
    },
    /// The disk is full. Nothing was written; reads still work.
    #[error("{op}: disk full: {detail}")]
    Full {
        /// Name of the operation.
        op: &'static str,
        /// Free space, and the path concerned.
        detail: String,
    },
    /// The store rejected the content of the call; a retry fails the same way.
    #[error("{op}: refused: {source}")]
    Refused {
        /// Name of the operation.
        op: &'static str,
        /// The violated rule.
        source: Source,
    },
    /// Stored data that this program never wrote: a bug, a foreign writer or a broken disk.
    #[error("{op}: bad record at {key}")]
    Corrupt {
        /// Name of the operation.
        op: &'static str,
        /// Location of the bad data.
        key: String,
    },
}

impl StoreError {
    /// Returns whether a retry of the same call may succeed without any other change.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::Full { .. })
    }

    /// Copies the error of a shared call for one of its callers, as an error of `op`.
    #[must_use]
    pub fn copied(shared: &Arc<Self>, op: &'static str) -> Self {
        match &**shared {
            Self::Full { detail, .. } => Self::Full { op, detail: detail.clone() },
            Self::Corrupt { key, .. } => Self::Corrupt { op, key: key.clone() },
            Self::Refused { .. } => Self::Refused { op, source: Box::new(Arc::clone(shared)) },
            Self::Unavailable { .. } => Self::Unavailable { op, source: Box::new(Arc::clone(shared)) },
        }
    }
}

/// Extent of the loss in a damaged order log, determined without changing anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LogLoss {
    /// Number of group commits missing or incomplete.
    pub commits: u64,
    /// Lower bound of the accepted claims lost: unreadable claims cannot be counted.
    pub claims: u64,
}

impl LogLoss {
    /// Returns the number that the operator must confirm to start without the lost claims. 0: no accepted
    /// claim is known to be lost.
    #[must_use]
    pub fn number(self) -> u64 {
        self.claims
    }
}

fn on_loss(loss: Option<LogLoss>) -> String {
    match loss {
        None => String::new(),
        Some(LogLoss { claims: 0, .. }) => {
            "; or pass --accept-lost-log 0 to start with the readable part: no accepted claim is known to \
             be lost"
                .to_owned()
        }
        Some(LogLoss { commits, claims }) => format!(
            "; or pass --accept-lost-log {claims} to start without the lost part: at least {claims} \
             accepted claims, in {commits} incomplete commits"
        ),
    }
}

fn on_damage(accept: Option<u64>) -> String {
    accept.map_or_else(String::new, |number| {
        format!("; or start with what is left: mallbox serve --accept-damaged-database {number}")
    })
}

/// What a failed upgrade has left.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum UpgradeState {
    /// The mall is as it was before.
    Undone,
    /// The mall as it was before is in this directory.
    Copied(PathBuf),
    /// Some steps of the upgrade may have been done, and there is no copy.
    Unknown,
}

impl fmt::Display for UpgradeState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undone => f.write_str("The mall is as it was before"),
            Self::Copied(copy) => write!(
                f,
                "The mall as it was before is in {}; mallbox downgrade --before-upgrade puts it back",
                copy.display()
            ),
            Self::Unknown => {
                f.write_str("There is no copy from before: restore a backup with mallbox restore")
            }
        }
    }
}

/// Failure to open a store. Each message tells the operator what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Another process uses the directory.
    #[error("{path} is in use by another mallbox{}; stop it, or use another directory", owner.map(|pid| format!(" (process {pid})")).unwrap_or_default())]
    InUse {
        /// The data directory.
        path: PathBuf,
        /// Process id written in the lock file, if readable.
        owner: Option<u32>,
    },
    /// The file system cannot exclude a second process.
    #[error(
        "{path} is on a file system that cannot lock a directory, as many network file systems cannot; use a directory on a \
         local disk: {source}"
    )]
    CannotLock {
        /// The data directory.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The directory or a file inside cannot be read or written.
    #[error("{path}: {what}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The attempted operation.
        what: &'static str,
        /// The system's error.
        source: std::io::Error,
    },
    /// The directory holds foreign data, or data of another version.
    #[error("{path}: {detail}")]
    NotOurs {
        /// The data directory.
        path: PathBuf,
        /// The contents found, and the remedy.
        detail: String,
    },
    /// The order log is damaged: content is missing or invalid.
    #[error("the order log in {path} is damaged: {detail}. Restore a backup with mallbox restore{}", on_loss(*loss))]
    LostLog {
        /// The log's directory.
        path: PathBuf,
        /// Description of the damage.
        detail: String,
        /// Loss to accept in order to start without the damaged part. `None`: so much is missing that the log
        /// alone cannot be at fault.
        loss: Option<LogLoss>,
    },
    /// The database is damaged: content is missing or invalid.
    #[error("the database {path} is damaged: {detail}. Restore a backup with mallbox restore{}", on_damage(*accept))]
    DamagedRecord {
        /// The database file.
        path: PathBuf,
        /// Description of the damage.
        detail: String,
        /// Number of lost commits or damaged pages to accept in order to start with what is left. `None`: the
        /// loss cannot be counted.
        accept: Option<u64>,
    },
    /// The directory is a copy of a running mall's.
    #[error(
        "{path} was copied while its mall was running, so that its files are of different moments: copy the mall with \
         mallbox backup, or stop it before copying the directory ({source})"
    )]
    CopiedWhileRunning {
        /// The data directory.
        path: PathBuf,
        /// What is wrong with the files.
        source: Box<Self>,
    },
    /// An earlier version's mall is not upgraded, because the disk has no room for a copy of it.
    #[error(
        "{}: before the upgrade the mall is copied, which needs {} MiB, and {} MiB are free; make room, or take a backup \
         elsewhere and start with mallbox serve --upgrade-without-copy", path.display(), needed.div_ceil(1 << 20), free >> 20
    )]
    NoRoomForCopy {
        /// The data directory.
        path: PathBuf,
        /// Bytes that the copy needs, and the upgraded mall beside it.
        needed: u64,
        /// Bytes that are free.
        free: u64,
    },
    /// The schema of an earlier version could not be migrated.
    #[error(
        "{}: the upgrade failed: {detail}. {state}. Start the version before, and report this", path.display()
    )]
    UpgradeFailed {
        /// The database file.
        path: PathBuf,
        /// What went wrong.
        detail: String,
        /// What is left.
        state: UpgradeState,
    },
    /// The address of a server cannot be parsed. The error does not repeat the address, which may contain a
    /// password.
    #[error("invalid {what} address: {detail}")]
    BadUrl {
        /// The server concerned.
        what: &'static str,
        /// Description of the mistake.
        detail: String,
    },
    /// A server does not respond, or refuses the login.
    #[error("cannot connect to {server}: {source}")]
    Unreachable {
        /// Name and address of the server, without the password.
        server: String,
        /// The underlying error.
        source: Source,
    },
    /// A server responds, but had no free connection within the caller's time limit.
    #[error(
        "{server} had no free connection within {} s: {source}. Raise its max_connections, or lower pool_max of the processes that \
         share it, or try again later", waited.as_secs()
    )]
    NoConnection {
        /// Name and address of the server, without the password.
        server: String,
        /// Time waited for a connection.
        waited: Duration,
        /// The server's last error.
        source: Source,
    },
    /// The configuration of a server would lose data.
    #[error("{server} is not usable: {detail}")]
    Unfit {
        /// Name and address of the server, without the password.
        server: String,
        /// The setting found, and the remedy.
        detail: String,
    },
}
