//! Backup files: one compressed archive of everything that a mall must not lose.
//!
//! A backup is a gzip-compressed tar file, so that its contents can be read without mallbox: a header, a copy
//! of the database, the claims that were pending, pictures and archived days, and last a list of all of these
//! with their SHA-256. Without that list a file is incomplete. The list may be signed, and the whole file
//! encrypted. A backup of a mall on servers has tables as text instead of the copy, and the visits.
//!
//! - [`manifest`]: header and list. [`writer`]: a backup being written. [`reader`]: a backup being unpacked.
//! - [`encryption`]: the layer around an encrypted file. [`keys`]: what encrypts and signs. [`fault`]: what
//!   is wrong with a file.
//! - [`stream`]: what changed since a backup, each second. [`retention`]: which of many backups to keep.
//!
//! Reasons and figures: `src/decisions/0078-backups.md`.

pub mod encryption;
pub mod fault;
pub mod keys;
pub mod manifest;
pub mod reader;
pub mod retention;
pub mod stream;
pub mod writer;

use std::path::Path;

/// Name of the copied database in a backup.
pub const DATABASE: &str = "mall.sqlite";
/// Directories whose files a backup contains: pictures, and archived days.
pub const DIRECTORIES: [&str; 2] = [UPLOADS, "archive"];
/// Directory of pictures; of a mall on servers, those that an import has left as files.
pub const UPLOADS: &str = "uploads";
/// Directory of the tables in a backup of a mall on servers.
pub const TABLES: &str = "tables";

/// Returns the directory that a file is in, or will be.
#[must_use]
pub fn directory_of(file: &Path) -> &Path {
    file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
