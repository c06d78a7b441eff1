//! Reasons for a new base.

use std::fmt;

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
