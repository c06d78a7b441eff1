//! Records every write, sync, rename and removal of a program, and builds the disks that a power cut could
//! have left.
//!
//! - [`Recorder`]: a FUSE file system in memory. A program runs on its [`mount`](Recorder::mount); each
//!   change becomes an [`Event`] of the [`Trace`], at a position.
//! - [`Disk`]: the crash model. It follows the trace up to a position, knows the durable and the pending
//!   changes there, and builds an [`Image`] by a [`Plan`].
//! - [`Image`]: a directory tree in memory, read from a directory and written to one.
//!
//! # Crash model
//!
//! A power cut at a position keeps all changes that an earlier sync covers. Of the others:
//!
//! - **Data.** Each block of 4 KiB has any of its contents since the sync. A torn block mixes two of them by
//!   sectors of 512 bytes. Blocks are independent, within a file and between files.
//! - **Length.** Each length since the sync, independently of the data: a longer file has zeros where data
//!   is missing. A truncation frees blocks: nothing written behind an absent truncation is there, and nothing
//!   written before a present one survives beyond the new length.
//! - **Entries.** Created, renamed and removed names of a directory are durable after a sync of the directory
//!   and of each directory above. Until then a prefix of the changes is present, in each directory another.
//!   A sync of a file makes no name durable, as in POSIX. Journals of ext4 and XFS keep one order for the
//!   whole file system, and any sync writes the journal up to there: [`Entries::Journal`] chooses among those
//!   states alone. Neither file system reorders two names of a directory, and neither does the model.
//! - **Mapped memory** is written back by the kernel at times of its own, as a write.
//!
//! `O_DIRECT` alone is not durable; with `O_DSYNC` the kernel sends a sync after each write.
//!
//! Left out: garbage in place of data (an old block of another file), failing syncs, times, owners and modes,
//! hard links, renames that exchange two names.

mod contents;
mod disk;
mod event;
mod file_system;
mod image;
mod pending_file;
mod recorder;
mod recording;
mod trace;
mod volume;

pub use contents::{BLOCK_BYTES, Contents, SECTOR_BYTES};
pub use disk::{Data, Disk, Entries, Plan};
pub use event::{Event, Kind, NodeId, ROOT};
pub use image::Image;
pub use recorder::{Mount, Recorder};
pub use trace::Trace;
