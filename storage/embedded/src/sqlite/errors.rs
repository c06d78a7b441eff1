//! Translation of SQLite's errors to the port's errors.

use std::any::Any;
use std::path::Path;
use std::sync::Arc;

use crate::DiskFaults;
use mallbox_storage::StoreError;
use rusqlite::{Error, ErrorCode, ffi};

use crate::disk::Disk;

/// Below this much free space an I/O error counts as a full disk: SQLite reports some failed writes (to the
/// shared-memory file, for example) without naming the lack of space.
const FULL_BELOW_BYTES: u64 = 4 << 20;

/// Translates SQLite's errors to the port's, and checks the disk to distinguish a full disk from a broken
/// one.
#[derive(Clone, Debug)]
pub(super) struct ErrorMapper {
    disk: Disk,
}

impl ErrorMapper {
    /// Makes an interpreter for a database file.
    pub(super) fn new(file: &Path, faults: Option<Arc<DiskFaults>>) -> Self {
        Self { disk: Disk::new(file.parent().unwrap_or(Path::new("")), faults) }
    }

    pub(super) fn disk(&self) -> &Disk {
        &self.disk
    }

    /// Returns the port's error for the caller of `op`.
    pub(super) fn explain(&self, op: &'static str, error: Error) -> StoreError {
        match &error {
            // A page does not match its checksum.
            Error::SqliteFailure(code, _) if code.extended_code == ffi::SQLITE_IOERR_DATA => {
                StoreError::Corrupt { op, key: "a page of the database does not match its checksum".into() }
            }
            Error::SqliteFailure(code, _) => match code.code {
                ErrorCode::DiskFull => StoreError::Full { op, detail: self.disk.room() },
                ErrorCode::SystemIoFailure if self.is_full() => {
                    StoreError::Full { op, detail: self.disk.room() }
                }
                _ if is_refusal(&error) => StoreError::Refused { op, source: error.into() },
                ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => {
                    StoreError::Corrupt { op, key: error.to_string() }
                }
                // All other errors may pass (busy, out of memory) or are bugs (no such table). Even for a
                // bug, a growing log and an alerted operator are better than claims turned into dead
                // letters.
                _ => StoreError::Unavailable { op, source: error.into() },
            },
            Error::FromSqlConversionFailure(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::InvalidColumnType(..)
            | Error::QueryReturnedNoRows
            | Error::Utf8Error(..) => StoreError::Corrupt { op, key: error.to_string() },
            _ if is_refusal(&error) => StoreError::Refused { op, source: error.into() },
            _ => StoreError::Unavailable { op, source: error.into() },
        }
    }

    fn is_full(&self) -> bool {
        self.disk.free_bytes().is_some_and(|free| free < FULL_BELOW_BYTES)
    }
}

/// Returns whether SQLite refused the input, as opposed to having failed.
pub(super) fn is_refusal(error: &Error) -> bool {
    match error {
        Error::SqliteFailure(code, _) => {
            matches!(code.code, ErrorCode::ConstraintViolation | ErrorCode::TooBig | ErrorCode::TypeMismatch)
        }
        Error::ToSqlConversionFailure(_) => true,
        _ => false,
    }
}

/// Returns the error of a job whose input violates a rule of the database. The job is rolled back.
pub(super) fn refuse(rule: impl Into<String>) -> Error {
    Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_CONSTRAINT), Some(rule.into()))
}

/// Returns SQLite's error for a full disk.
pub(super) fn disk_full() -> Error {
    Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_FULL), None)
}

/// Returns the error for a stored value that no mall writes.
pub(super) fn unreadable(column: usize, found: impl std::fmt::Display) -> Error {
    let kind = rusqlite::types::Type::Integer;
    Error::FromSqlConversionFailure(column, kind, format!("unexpected value {found}").into())
}

/// Returns the error for a panicked job: a bug, which a retry would hit again.
pub(super) fn panicked(op: &'static str, payload: &(dyn Any + Send)) -> StoreError {
    let words = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no words");
    tracing::error!(op, panic = words, "a database job panicked");
    StoreError::Refused { op, source: format!("bug: {words}").into() }
}

/// Returns the error for a closed or closing database.
pub(super) fn closed(op: &'static str) -> StoreError {
    StoreError::Unavailable { op, source: "the database is closed".into() }
}
