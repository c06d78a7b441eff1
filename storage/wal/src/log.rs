//! The open log: groups of records are written, synced and acknowledged together.

use std::collections::VecDeque;
use std::io;

use super::blocks::Blocks;
use super::error::WalError;
use super::medium::{Medium, SegmentFile as _};
use super::options::Options;
use super::pool::Pool;
use super::record::{self, Header, record_bytes};

/// When a group of records is synced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SyncPoint {
    /// Before the call returns: the records survive a power cut.
    Now,
    /// With a later [`Wal::sync`]: until then the records survive the end of the process only.
    Later,
}

/// A segment that gets no more records.
#[derive(Debug)]
pub(crate) struct Closed {
    pub(crate) name: String,
    /// Upper bound on the numbers of the segment's records.
    pub(crate) last: u64,
    /// Whether a write or a sync of the file failed: then the file is not used again.
    pub(crate) is_suspect: bool,
}

/// The segment that gets the next record.
#[derive(Debug)]
struct Current<S> {
    name: String,
    file: S,
    /// Offset of the next record.
    end: u64,
    /// Number from which on records of earlier epochs do not count.
    supersedes_from: u64,
    /// The highest number of a record written to the segment, also in vain.
    highest: u64,
    has_unsynced: bool,
    /// Whether a write or a sync failed: then the segment gets no more records.
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
    /// Whether the tail may be in the system's memory alone, and is to be written once more.
    is_tail_lost: bool,
    /// The last record at the time when the tail was written once more: such records supersede nothing, since
    /// a failure may cut them short.
    rewritten: u64,
    blocks: Blocks,
}

impl<M: Medium> Wal<M> {
    pub(crate) fn new(medium: M, options: Options, start: Start) -> Self {
        let Start { pool, closed, epoch, durable, tail } = start;
        let (last, is_tail_lost, blocks) = (durable + tail.len() as u64, !tail.is_empty(), Blocks::default());
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
            is_tail_lost,
            rewritten: 0,
            blocks,
        }
    }

    /// Writes a group of records, and syncs them with [`SyncPoint::Now`]. The group is acknowledged as a whole:
    /// its numbers are the next ones, up to [`last`](Self::last) afterwards.
    ///
    /// # Errors
    /// None of the records counts as written, though they may be on the disk; their numbers are used again.
    /// The next call writes to another segment.
    pub fn commit(&mut self, bodies: &[&[u8]], sync: SyncPoint) -> Result<(), WalError> {
        let max = self.options.body_max_bytes();
        if let Some(body) = bodies.iter().find(|body| body.len() > max) {
            return Err(WalError::TooLong { bytes: body.len(), max });
        }
        if bodies.is_empty() {
            return Ok(());
        }
        self.restore_tail()?;
        self.write(bodies, self.last + 1)?;
        match sync {
            SyncPoint::Now => {
                self.sync_current()?;
                self.last += bodies.len() as u64;
                self.all_synced();
            }
            SyncPoint::Later => {
                self.last += bodies.len() as u64;
                self.tail.extend(bodies.iter().map(|body| body.to_vec()));
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
        self.restore_tail()?;
        self.sync_current()?;
        self.all_synced();
        Ok(())
    }

    /// Releases all records up to `number`: their segments may be used again. The release itself must be
    /// durable elsewhere, as [`Evidence::needed_from`](super::Evidence::needed_from).
    ///
    /// # Errors
    /// A file could not be removed, or the manifest not be replaced. The records are released nevertheless.
    pub fn release(&mut self, number: u64) -> io::Result<()> {
        while let Some(closed) = self.closed.pop_front_if(|closed| closed.last <= number) {
            if closed.is_suspect {
                self.pool.retire(&self.medium, closed.name)?;
            } else {
                self.pool.reuse(closed.name);
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

    /// Writes the tail once more after a failed sync, and at start: a second sync of the file would succeed
    /// without writing anything.
    fn restore_tail(&mut self) -> io::Result<()> {
        if !self.is_tail_lost {
            return Ok(());
        }
        self.rewritten = self.last;
        let tail = std::mem::take(&mut self.tail);
        let bodies: Vec<&[u8]> = tail.iter().map(|body| &body[..]).collect();
        let written = self.write(&bodies, self.durable + 1);
        self.tail = tail;
        self.is_tail_lost = written.is_err();
        written
    }

    /// Writes records to the current segment, or to the next one where the current one is full.
    fn write(&mut self, bodies: &[&[u8]], first: u64) -> io::Result<()> {
        for (body, number) in bodies.iter().zip(first..) {
            let bytes = record_bytes(body.len()) as u64;
            let has_space = |current: &Current<_>| current.end + bytes <= self.options.segment_bytes;
            if !self.current.as_ref().is_some_and(|current| !current.is_suspect && has_space(current)) {
                self.next_segment(number)?;
            }
            let current = self.current.as_mut().expect("taken above");
            let header = Header {
                log_id: self.pool.log_id(),
                epoch: self.epoch,
                supersedes_from: current.supersedes_from,
                number,
                durable: self.durable,
            };
            current.highest = number;
            let written = current.file.write_at(current.end, record::encode(&header, body, &mut self.blocks));
            current.end += bytes;
            if let Err(error) = written {
                current.is_suspect = true;
                return Err(error);
            }
            current.has_unsynced = true;
        }
        Ok(())
    }

    fn sync_current(&mut self) -> io::Result<()> {
        let Some(current) = self.current.as_mut().filter(|current| current.has_unsynced) else {
            return Ok(());
        };
        current.has_unsynced = false;
        current.file.sync().inspect_err(|_| {
            current.is_suspect = true;
            self.is_tail_lost = !self.tail.is_empty();
        })
    }

    fn all_synced(&mut self) {
        self.durable = self.last;
        self.tail.clear();
    }

    /// Closes the current segment and takes another for the records from `first` on.
    ///
    /// The current one is synced before: a later epoch that survives a power cut, without the earlier one,
    /// would let records count that the earlier one superseded.
    fn next_segment(&mut self, first: u64) -> io::Result<()> {
        let (name, file) = self.pool.take(&self.medium, self.options.segment_bytes)?;
        self.epoch += 1;
        let next = Current {
            name,
            file,
            end: 0,
            supersedes_from: first.max(self.rewritten + 1),
            highest: first - 1,
            has_unsynced: false,
            is_suspect: false,
        };
        let synced = self.sync_current();
        if synced.is_ok() && !self.is_tail_lost {
            self.all_synced();
        }
        if let Some(full) = self.current.replace(next) {
            self.closed.push_back(Closed {
                name: full.name,
                last: full.highest,
                is_suspect: full.is_suspect,
            });
        }
        synced
    }
}
