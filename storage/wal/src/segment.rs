//! The records of one segment file.

use super::blocks::BLOCK_BYTES;
use super::entry::{self, Header};

/// A record of the log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// Number of the record.
    pub number: u64,
    /// The bytes that the caller wrote.
    pub body: Vec<u8>,
}

/// The readable contents of a segment file.
#[derive(Default, Debug)]
pub(crate) struct Contents {
    /// The newest epoch in the file; 0 if no record is readable.
    pub(crate) epoch: u64,
    /// Number of the first record of the epoch.
    pub(crate) first: u64,
    /// The readable records of the newest epoch, in the order of their places.
    pub(crate) records: Vec<Record>,
    /// The highest number that any record of the file names as durable.
    pub(crate) durable: u64,
    /// Whether there are records of another log.
    pub(crate) is_foreign: bool,
}

/// Reads all records of a log from the bytes of a segment file. Bodies of records below `kept_from` stay
/// empty.
///
/// An unreadable block is skipped: records behind it decide whether it is damage.
pub(crate) fn read(bytes: &[u8], log_id: u64, kept_from: u64) -> Contents {
    let mut contents = Contents::default();
    let mut at = 0;
    while at < bytes.len() {
        let Some((header, bodies)) = entry::decode(&bytes[at..]) else {
            at += BLOCK_BYTES;
            continue;
        };
        at += entry::entry_bytes(&bodies);
        if header.log_id == log_id {
            contents.add(&header, &bodies, kept_from);
        } else {
            contents.is_foreign = true;
        }
    }
    contents
}

impl Contents {
    fn add(&mut self, header: &Header, bodies: &[&[u8]], kept_from: u64) {
        self.durable = self.durable.max(header.durable);
        if header.epoch < self.epoch {
            return;
        }
        if header.epoch > self.epoch {
            self.records.clear();
            (self.epoch, self.first) = (header.epoch, header.epoch_first);
        }
        for (body, number) in bodies.iter().zip(header.first..) {
            let body = if number < kept_from { &[] } else { *body };
            self.records.push(Record { number, body: body.to_vec() });
        }
    }

    /// Returns the number of the last readable record of the epoch.
    pub(crate) fn last(&self) -> Option<u64> {
        self.records.last().map(|record| record.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::Blocks;

    fn record(epoch: u64, epoch_first: u64, first: u64, body: &[u8]) -> Vec<u8> {
        let header = Header { log_id: 5, epoch, epoch_first, first, durable: first - 1 };
        entry::encode(&header, &[body], &mut Blocks::default()).to_vec()
    }

    fn numbers(contents: &Contents) -> Vec<u64> {
        contents.records.iter().map(|record| record.number).collect()
    }

    #[test]
    fn records_of_an_earlier_use_of_the_file_are_ignored() {
        let old = [record(1, 1, 1, b"old"), record(1, 1, 2, &[1; 9_000]), record(1, 1, 3, b"old")].concat();
        let new = [record(4, 20, 20, b"new"), record(4, 20, 21, b"newer")].concat();
        let mut bytes = old;
        bytes[..new.len()].copy_from_slice(&new);
        let contents = read(&bytes, 5, 21);
        assert_eq!((contents.epoch, contents.first, contents.durable), (4, 20, 20));
        assert_eq!(numbers(&contents), [20, 21]);
        assert_eq!(contents.records[0].body, b"", "not wanted");
        assert_eq!(contents.records[1].body, b"newer");
    }

    #[test]
    fn unreadable_record_hides_none_behind_it() {
        let mut bytes =
            [record(2, 8, 8, b"first"), record(2, 8, 9, &[3; 9_000]), record(2, 8, 10, b"last")].concat();
        bytes[BLOCK_BYTES + 100] ^= 1;
        let contents = read(&bytes, 5, 0);
        assert_eq!((numbers(&contents), contents.durable), (vec![8, 10], 9));
    }

    #[test]
    fn record_of_another_log_is_named() {
        let contents = read(&record(2, 8, 8, b"theirs"), 6, 0);
        assert!(contents.is_foreign && contents.records.is_empty() && contents.epoch == 0);
    }
}
