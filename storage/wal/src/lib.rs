//! A write-ahead log: numbered records in preallocated, recycled segment files.
//!
//! The log knows nothing of claims: a record is a sequence of bytes with a number. Numbers are consecutive.
//!
//! - [`Medium`]: the directory of the log, as calls that can fail; [`Directory`] is a real one.
//! - [`Recovery`]: what a log contains at start, the torn tail cut off, damage named.
//! - [`Wal`]: the open log, with a sole writer.
//!
//! # Format
//!
//! An entry, usually of one record, starts at a multiple of [`BLOCK_BYTES`] in a segment file. Its header
//! (`entry`) carries a CRC-32C of header and records, the id of the log, the epoch of the segment, the
//! numbers of the records and of the epoch's first record, and the highest number known to be durable when
//! the entry was written. A segment has no header of its own: each use of a file is a new epoch, and entries
//! of earlier epochs behind the last one of the newest are ignored. The file `manifest` names the segment
//! files.
//!
//! # Invariants
//!
//! - No byte of an entry is written twice: after a failed write or sync, and at each start, the log goes on
//!   in another segment, of the next epoch, which supersedes the numbers it uses again.
//! - A segment is reused only after the caller released each of its records.
//! - A missing or unreadable record up to the highest number known to be durable is damage; above, it is a
//!   torn tail, which no caller was told of.

mod blocks;
mod chain;
mod directory;
mod entry;
mod epoch;
mod error;
mod log;
mod manifest;
mod medium;
mod options;
mod pool;
mod recovery;
mod segment;

pub use self::blocks::BLOCK_BYTES;
pub use self::chain::Damage;
pub use self::directory::{Directory, RealSegment, WriteMode};
pub use self::error::WalError;
pub use self::log::{RECORD_MAX_BYTES, SyncPoint, Wal};
pub use self::medium::{Medium, SegmentFile};
pub use self::options::Options;
pub use self::recovery::{Evidence, Recovery, Repair};
pub use self::segment::Record;
