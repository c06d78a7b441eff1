//! Why a backup is not unpacked.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a file is not unpacked.
#[derive(Debug, Error)]
pub enum BackupFault {
    /// The file does not begin as a backup does.
    #[error("it is not a backup written by mallbox")]
    NotABackup,
    /// The file is of a later version of the program.
    #[error("its format is {0}, newer than this version reads; use a newer mallbox")]
    Newer(u32),
    /// The file is of a mall on servers, and a directory is to be restored.
    #[error("it is of a mall on servers; pass --redis URL and --mysql URL instead of a directory")]
    OfServers,
    /// The file is of a mall in a directory, and servers are to be restored.
    #[error("it is of a mall in a directory; pass the directory instead of --redis and --mysql")]
    OfDirectory,
    /// The file is encrypted, and there is no key.
    #[error("it is encrypted; pass the private key with --key FILE")]
    Encrypted,
    /// The file is encrypted for other keys.
    #[error("it is encrypted for another key")]
    OtherKey,
    /// A signature is demanded, and there is none.
    #[error("it is not signed")]
    Unsigned,
    /// The file is signed with another key than the demanded one.
    #[error("it is signed with another key ({0})")]
    OtherSigner(String),
    /// The signature does not fit the content.
    #[error("its signature does not fit its content; use another backup")]
    Forged,
    /// A point of a stream does not follow what precedes it; its number.
    #[error(
        "point {0} does not follow what precedes it: the stream belongs to another backup, or was changed"
    )]
    OutOfOrder(u64),
    /// The end is missing.
    #[error("it is incomplete: its end is missing")]
    CutOff,
    /// The content is not what was written; the damaged entry, if it can be told.
    #[error("it is damaged{}; use another backup", entry.as_deref().map_or_else(String::new, |entry| format!(" at {entry}")))]
    Damaged {
        /// Path of the entry.
        entry: Option<String>,
    },
    /// An entry that no backup has.
    #[error("it contains {0:?}, which does not belong into a backup")]
    Foreign(String),
    /// There is too little room.
    #[error(
        "it needs {} MiB, and the disk of {} has {} MiB left",
        needed.div_ceil(1 << 20), dir.display(), free >> 20
    )]
    NoRoom {
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        free: u64,
        /// The directory to unpack into.
        dir: PathBuf,
    },
    /// The system refuses an operation.
    #[error("{}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}
