//! The write-ahead log of the order log: read first, opened for writing later.
//!
//! The database has to know that the log exists, and that the last stop no longer counts as clean, before
//! anything is written.

use std::io;
use std::path::Path;

use mallbox_storage::Durability;
use mallbox_storage_wal::{Evidence, Recovery, Wal};

use super::medium::LogMedium;
use crate::disk::Disk;

/// Name of the write-ahead log's directory in the order log's.
pub(crate) const WAL: &str = "wal";

/// A write-ahead log that was read, and perhaps opened for writing.
#[derive(Debug)]
pub(super) struct LogWal {
    medium: LogMedium,
    recovery: Recovery,
    /// Records of a log that is to be created.
    records: Vec<Vec<u8>>,
    wal: Option<Wal<LogMedium>>,
}

impl LogWal {
    /// Reads the log in `log_dir`. Writes nothing.
    pub(super) fn read(
        log_dir: &Path,
        disk: &Disk,
        durability: Durability,
        evidence: &Evidence,
    ) -> io::Result<Self> {
        let medium = LogMedium::new(log_dir.join(WAL), disk.clone(), durability);
        let recovery = Recovery::read(&medium, evidence)?;
        Ok(Self { medium, recovery, records: Vec::new(), wal: None })
    }

    /// What was read.
    pub(super) fn found(&self) -> &Recovery {
        &self.recovery
    }

    /// Sets the records with which a new log begins.
    pub(super) fn begin_with(&mut self, records: Vec<Vec<u8>>) {
        self.records = records;
    }

    /// Returns the log for writing. Opens or creates it with the first call that succeeds.
    pub(super) fn opened(&mut self) -> io::Result<&mut Wal<LogMedium>> {
        if self.wal.is_none() {
            self.medium.prepare()?;
            let (medium, options) = (self.medium.clone(), self.medium.options());
            let wal = if self.recovery.is_new {
                self.recovery.create_with(medium, options, self.records.clone())?
            } else {
                self.recovery.open(medium, options)?
            };
            self.wal = Some(wal);
        }
        Ok(self.wal.as_mut().expect("opened above"))
    }

    /// Returns the number of the last commit.
    pub(super) fn last(&self) -> u64 {
        let found = || self.recovery.last + self.records.len() as u64;
        self.wal.as_ref().map_or_else(found, Wal::last)
    }
}
