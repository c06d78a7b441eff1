//! Errors of backup and restore on servers, as a person reads them.

use std::path::Path;

use mallbox_storage_production::backup::CopyError;

use super::messages::CommandFailure;
use crate::backup::fault::BackupFault;

/// Converts an error to one with a message in both languages. `path` is the file being written or read.
pub(super) fn explained(error: CopyError, path: &Path) -> anyhow::Error {
    match error {
        CopyError::Open(error) => error.into(),
        CopyError::Store(error) => error.into(),
        CopyError::Io(error) => CommandFailure::CannotWrite(path.to_owned()).with_cause(error),
        CopyError::MissingTable(table) => BackupFault::Damaged { entry: Some(table) }.into(),
        CopyError::Input { table, line } => {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            let entry = if table.is_empty() { file.into_owned() } else { format!("{table}:{line}") };
            BackupFault::Damaged { entry: Some(entry) }.into()
        }
    }
}
