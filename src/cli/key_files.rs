//! Files with keys of backups, as the command line names them.

use std::fs;
use std::path::Path;

use super::messages::{BackupMisuse, CommandFailure, UsageError};
use crate::backup::keys::KeyKind;

/// Reads a key from a file.
///
/// # Errors
/// The file cannot be read, or holds something else than a key of this kind.
pub(super) fn read<K>(
    file: &Path,
    kind: KeyKind,
    parse: impl FnOnce(&str) -> Option<K>,
) -> anyhow::Result<K> {
    /// More than any file of keys.
    const BYTES_MAX: u64 = 1 << 20;
    let text = fs::metadata(file)
        .and_then(|found| if found.len() > BYTES_MAX { Ok(String::new()) } else { fs::read_to_string(file) });
    let text = match text {
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => String::new(),
        Err(error) => return Err(CommandFailure::CannotRead(file.to_owned()).with_cause(error)),
        Ok(text) => text,
    };
    parse(&text).ok_or_else(|| UsageError::Backup(BackupMisuse::NoKey(file.to_owned(), kind)).into())
}
