//! What SQLite says, in the words of the port.

use std::any::Any;
use std::path::Path;
use std::sync::Arc;

use rusqlite::{Error, ErrorCode, ffi};

use crate::embedded::disk::Disk;
use crate::{DiskFaults, StoreError};

/// Below this much free space an input/output error is taken for a full disk: SQLite reports some failed writes (of
/// its shared-memory file, for one) without saying that there was no room.
const FULL_BELOW_BYTES: u64 = 4 << 20;

/// Turns SQLite's errors into the port's. Knows the disk, to tell a full disk from a broken one.
#[derive(Clone, Debug)]
pub(super) struct Interpreter {
    disk: Disk,
}

impl Interpreter {
    /// For a database file.
    pub(super) fn new(file: &Path, faults: Option<Arc<DiskFaults>>) -> Self {
        Self { disk: Disk::new(file.parent().unwrap_or(Path::new("")), faults) }
    }

    pub(super) fn disk(&self) -> &Disk {
        &self.disk
    }

    /// What the caller of `op` is to be told.
    pub(super) fn explain(&self, op: &'static str, error: Error) -> StoreError {
        match &error {
            Error::SqliteFailure(code, _) => match code.code {
                ErrorCode::DiskFull => StoreError::Full { op, detail: self.disk.room() },
                ErrorCode::SystemIoFailure if self.is_full() => {
                    StoreError::Full { op, detail: self.disk.room() }
                }
                _ if is_refusal(&error) => StoreError::Refused { op, source: error.into() },
                ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => {
                    StoreError::Corrupt { op, key: error.to_string() }
                }
                // What is left may pass (busy, out of memory) or is a bug (no such table). For a bug too, a log that
                // grows and an operator who is told are better than claims that are buried.
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

/// Whether SQLite refused what it was given, rather than being in trouble.
pub(super) fn is_refusal(error: &Error) -> bool {
    match error {
        Error::SqliteFailure(code, _) => {
            matches!(code.code, ErrorCode::ConstraintViolation | ErrorCode::TooBig | ErrorCode::TypeMismatch)
        }
        Error::ToSqlConversionFailure(_) => true,
        _ => false,
    }
}

/// The error of a job that finds its input against the record's rules. It undoes the job.
pub(super) fn refuse(rule: impl Into<String>) -> Error {
    Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_CONSTRAINT), Some(rule.into()))
}

/// What SQLite says at the end of the disk.
pub(super) fn disk_full() -> Error {
    Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_FULL), None)
}

/// The error of a job that finds a value in the record which nothing writes there.
pub(super) fn unreadable(column: usize, found: impl std::fmt::Display) -> Error {
    let kind = rusqlite::types::Type::Integer;
    Error::FromSqlConversionFailure(column, kind, format!("{found} means nothing here").into())
}

/// A job panicked: a bug, and calling again would meet it again.
pub(super) fn panicked(op: &'static str, payload: &(dyn Any + Send)) -> StoreError {
    let words = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no words");
    tracing::error!(op, panic = words, "a job of the record panicked");
    StoreError::Refused { op, source: format!("bug: {words}").into() }
}

/// The record was closed, or is closing.
pub(super) fn closed(op: &'static str) -> StoreError {
    StoreError::Unavailable { op, source: "the record is closed".into() }
}
