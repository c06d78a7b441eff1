//! Finds damage in the files of an SQLite database that SQLite itself does not notice.
//!
//! SQLite trusts its file: a flipped bit in a page is a different value, and recovery of a `-wal` file ends
//! at the first broken frame without an error, as if a power cut had torn the file there. Three parts:
//!
//! - [`PageChecksums`]: a checksum of 64 bits of each page of the database, in a file of their own. Checked
//!   by a [VFS](vfs_name) whenever SQLite reads a page, and by [`PageChecksums::scan`].
//! - [`Witness`]: the last commit that was durable, in a file of its own.
//! - [`inspect`]: reads a `-wal` file before SQLite does, and tells damage from a torn end. The format of the
//!   file is in [`wal_frames`].
//!
//! One flipped bit is repaired: only one position explains a wrong checksum of 64 bits.
//!
//! Reasons and figures: `storage/decisions/0038-silent-damage.md`.

mod bits;
mod checksum_file;
mod findings;
mod page_checksums;
#[expect(unsafe_code, reason = "SQLite calls a file system through pointers")]
mod vfs;
mod wal_file;
pub mod wal_frames;
mod wal_repair;
mod witness;

pub use checksum_file::{FileState, stored_checksums};
pub use findings::Findings;
pub use page_checksums::{Opened, PageChecksums, Scan, page_checksum};
pub use vfs::{register, vfs_name};
pub use wal_file::{Inspection, WalDamage, inspect};
pub use witness::{FileMark, Witness, WitnessFile};

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Returns the path of a file beside a database: the database's name with `ending`.
#[must_use]
pub fn beside(database: &Path, ending: &str) -> PathBuf {
    let mut name: OsString = database.as_os_str().to_owned();
    name.push(ending);
    name.into()
}
