//! The open log: a record is written, synced and acknowledged.

use std::collections::VecDeque;
use std::io;

use super::blocks::Blocks;
use super::entry::{self, Header, entry_bytes};
use super::error::WalError;
use super::medium::{Medium, SegmentFile as _};
use super::options::Options;
use super::pool::Pool;

/// Maximum length of a record in bytes.
pub const RECORD_MAX_BYTES: usize = 1 << 30;

/// When a record is synced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SyncPoint {
    /// Before the call returns: the record survives a power cut.
    Now,
    /// With a later [`Wal::sync`]: until then the record survives the end of the process only.
    Later,
}

/// A segment that gets no more records.
#[derive(Debug)]
pub(crate) struct Closed {
    pub(crate) name: String,
    /// Upper bound on the numbers of the segment's records.
    pub(crate) last: u64,
    /// Whether the file is used again: it has the usual length, and no write or sync of it failed.
    pub(crate) is_reusable: bool,
}

/// The segment that gets the next record.
#[derive(Debug)]
struct Current<S> {
    name: String,
    file: S,
    /// Length of the file.
    bytes: u64,
    /// Offset of the next entry.
    end: u64,
    /// Number of the epoch's first record; 0 = none yet.
    first: u64,
    /// The highest number of a record written to the segment, also in vain; 0 = none yet.
    highest: u64,
    has_unsynced: bool,
    /// Whether a write or a sync failed: then the segment gets no more records, and is not used again.
    is_suspect: bool,
}

/// The state of a log at start.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) pool: Pool,
    pub(crate) closed: VecDeque<Closed>,
    pub(crate) epoch: u64,
    pub(crate) durable: u64,
    /// The records behind the last one known to be durable.
    pub(crate) tail: Vec<Vec<u8>>,
}

/// An open log. The owner is the sole writer.
#[derive(Debug)]
pub struct Wal<M: Medium> {
    medium: M,
    options: Options,
    pool: Pool,
    /// Segments in use, in the order of their epochs.
    closed: VecDeque<Closed>,
    current: Option<Current<M::Segment>>,
    epoch: u64,
    /// The last acknowledged record.
    last: u64,
    /// The last synced record.
    durable: u64,
    /// The acknowledged records behind the last synced one.
    tail: Vec<Vec<u8>>,
    /// Whether the tail may be in the system's memory alone.
    is_tail_at_risk: bool,
    blocks: Blocks,
}

impl<M: Medium> Wal<M> {
    pub(crate) fn new(medium: M, options: Options, start: Start) -> Self {
        let Start { pool, closed, epoch, durable, tail } = start;
        let last = durable + tail.len() as u64;
        Self {
            medium,
            options,
            pool,
            closed,
            current: None,
            epoch,
            last,
            durable,
            tail,
            is_tail_at_risk: true,
            blocks: Blocks::default(),
        }
    }

    /// Writes a record with the next number, and syncs it with [`SyncPoint::Now`].
    ///
    /// # Errors
    /// The record does not count as written, though it may be on the disk; its number is used again. The next
    /// call writes to another segment.
    pub fn commit(&mut self, body: &[u8], sync: SyncPoint) -> Result<(), WalError> {
        if body.len() > RECORD_MAX_BYTES {
            return Err(WalError::TooLong { bytes: body.len(), max: RECORD_MAX_BYTES });
        }
        self.repair()?;
        self.write(&[body], self.last + 1)?;
        match sync {
            SyncPoint::Now => {
                self.sync_current()?;
                self.last += 1;
                self.all_synced();
            }
            SyncPoint::Later => {
                self.last += 1;
                self.tail.push(body.to_vec());
            }
        }
        Ok(())
    }

    /// Makes all acknowledged records durable.
    ///
    /// # Errors
    /// A power cut may lose records since the last successful sync, the end of the process does not. The next
    /// call writes them once more, to another segment.
    pub fn sync(&mut self) -> io::Result<()> {
        self.repair()?;
        self.sync_current()?;
        self.all_synced();
        Ok(())
    }

    /// Begins the first segment after a start: the records found behind the last one known to be durable,
    /// once more, and an empty one.
    ///
    /// They stand in one entry, which counts as a whole or not at all. The entry supersedes what an earlier
    /// process wrote in vain.
    pub(crate) fn begin(&mut self) -> io::Result<()> {
        self.write_tail(&[&[]])?;
        self.sync_current()?;
        self.last += 1;
        self.all_synced();
        Ok(())
    }

    /// Writes the tail once more after a failed sync: a second sync of the file would succeed without writing
    /// anything.
    fn repair(&mut self) -> io::Result<()> {
        if self.is_tail_at_risk { self.write_tail(&[]) } else { Ok(()) }
    }

    /// Writes the tail and the records behind in one entry.
    fn write_tail(&mut self, behind: &[&[u8]]) -> io::Result<()> {
        let tail = std::mem::take(&mut self.tail);
        let bodies: Vec<&[u8]> = tail.iter().map(|body| &body[..]).chain(behind.iter().copied()).collect();
        let written = self.write(&bodies, self.durable + 1);
        self.tail = tail;
        self.is_tail_at_risk = written.is_err();
        written
    }

    /// Releases all records up to `number`: their segments may be used again. The release itself must be
    /// durable elsewhere, as [`Evidence::needed_from`](super::Evidence::needed_from).
    ///
    /// # Errors
    /// A file could not be removed, or the manifest not be replaced. The records are released nevertheless.
    pub fn release(&mut self, number: u64) -> io::Result<()> {
        while let Some(closed) = self.closed.pop_front_if(|closed| closed.last <= number) {
            if closed.is_reusable {
                self.pool.reuse(closed.name);
            } else {
                self.pool.retire(&self.medium, closed.name)?;
            }
        }
        self.pool.shrink(&self.medium, self.options.spare_segments)
    }

    /// Creates a segment in advance if none is unused.
    ///
    /// # Errors
    /// The medium refused a call, for lack of space for example.
    pub fn prepare(&mut self) -> io::Result<()> {
        self.pool.prepare(&self.medium, self.options.segment_bytes)
    }

    /// Returns the number of the last acknowledged record.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.last
    }

    /// Returns the number of the last record known to be durable.
    #[must_use]
    pub fn durable(&self) -> u64 {
        self.durable
    }

    /// Writes an entry. After a failure the current segment gets no more: the entry may stand in it.
    fn write(&mut self, bodies: &[&[u8]], first: u64) -> io::Result<()> {
        let bytes = entry_bytes(bodies) as u64;
        let is_closed = |current: &Current<_>| current.is_suspect || current.end + bytes > current.bytes;
        if self.current.as_ref().is_none_or(is_closed) {
            self.next_segment(bytes)?;
        }
        let current = self.current.as_mut().expect("taken above");
        if current.end == 0 {
            current.first = first;
        }
        let header = Header {
            log_id: self.pool.log_id(),
            epoch: self.epoch,
            epoch_first: current.first,
            first,
            durable: self.durable,
        };
        let entry = entry::encode(&header, bodies, &mut self.blocks);
        current.highest = current.highest.max(first + bodies.len() as u64 - 1);
        current.file.write_at(current.end, entry).inspect_err(|_| current.is_suspect = true)?;
        current.end += bytes;
        current.has_unsynced = true;
        Ok(())
    }

    fn sync_current(&mut self) -> io::Result<()> {
        let Some(current) = self.current.as_mut().filter(|current| current.has_unsynced) else {
            return Ok(());
        };
        current.has_unsynced = false;
        current.file.sync().inspect_err(|_| {
            current.is_suspect = true;
            self.is_tail_at_risk = !self.tail.is_empty();
        })
    }

    fn all_synced(&mut self) {
        self.durable = self.last;
        self.tail.clear();
    }

    /// Closes the current segment and takes another, for an entry of `bytes`.
    ///
    /// The current one is synced before: a later epoch that survives a power cut, without the earlier one,
    /// would let records count that the earlier one superseded.
    fn next_segment(&mut self, bytes: u64) -> io::Result<()> {
        let usual = self.options.segment_bytes;
        if bytes > usual {
            self.pool.create(&self.medium, bytes)?;
        }
        let (name, file) = self.pool.take(&self.medium, usual)?;
        let bytes = bytes.max(usual);
        self.epoch += 1;
        let next = Current {
            name,
            file,
            bytes,
            end: 0,
            first: 0,
            highest: 0,
            has_unsynced: false,
            is_suspect: false,
        };
        let synced = self.sync_current();
        if synced.is_ok() && !self.is_tail_at_risk {
            self.all_synced();
        }
        if let Some(full) = self.current.replace(next) {
            let is_reusable = !full.is_suspect && full.bytes == self.options.segment_bytes;
            self.closed.push_back(Closed { name: full.name, last: full.highest, is_reusable });
        }
        synced
    }
}
