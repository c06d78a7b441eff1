//! What the database knows of the order log.

use std::path::Path;

use mallbox_storage::{OpenError, StoreError};

use crate::journal::contents::{CleanStop, LogEvidence};
use crate::sqlite::Database;
use crate::upkeep;

/// Setting for the id of the order log.
pub(crate) const LOG_ID: &str = "order-log.id";

/// Reads the evidence about the log from the database.
pub(crate) fn witness(database: &Database) -> Result<LogEvidence, StoreError> {
    let marks = database.log_marks()?;
    let log_id = database.setting_blocking(LOG_ID)?.and_then(|text| text.parse().ok());
    let stop = database.setting_blocking(upkeep::STOP)?;
    let clean_stop = stop.as_deref().and_then(|text| text.split_once(' ')).and_then(|(last, pending)| {
        Some(CleanStop { last_commit: last.parse().ok()?, pending: pending.parse().ok()? })
    });
    let checkpoint = database.log_checkpoint()?;
    Ok(LogEvidence { log_id, applied: marks.applied, seen: marks.acked, clean_stop, checkpoint })
}

/// Returns the error for a database that was opened but then could not be read or written.
pub(crate) fn unusable(record: &Path, error: StoreError) -> OpenError {
    let path = record.to_owned();
    if error.is_transient() {
        let is_full = matches!(error, StoreError::Full { .. });
        let kind = if is_full { std::io::ErrorKind::StorageFull } else { std::io::ErrorKind::Other };
        let source = std::io::Error::new(kind, error);
        return OpenError::Io { path, what: "cannot be read or written at present", source };
    }
    OpenError::DamagedRecord { path, detail: error.to_string(), accept: None }
}
