//! A log at start: what its segments contain, and how the log goes on.

use std::io::{self, ErrorKind};

use super::chain::{Chain, Damage, chain};
use super::epoch;
use super::log::{Closed, Start, Wal};
use super::manifest::Manifest;
use super::medium::Medium;
use super::options::Options;
use super::pool::{MANIFEST, Pool, segment_number};
use super::segment::{self, Contents, Record};

/// What is known of a log from elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Evidence {
    /// Id of the log; a new log gets it.
    pub log_id: u64,
    /// Records below were released, and may be missing.
    pub needed_from: u64,
    /// Records below are not wanted: their bodies are not read. At most `needed_from`.
    pub kept_from: u64,
    /// The highest number known elsewhere to be durable.
    pub seen: u64,
}

/// Something found wrong at start that cost nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Repair {
    /// The manifest was missing or unreadable: all segment files found were read.
    Manifest,
    /// A torn record at the end, with so many whole records behind it, was cut off.
    TornTail {
        /// Number of the torn record.
        number: u64,
        /// Number of whole records behind the torn one.
        behind: usize,
    },
}

/// The contents of a log at start. Nothing was written yet.
#[derive(Debug)]
pub struct Recovery {
    /// The readable records, ascending. Without gaps from the first needed one on, unless there is damage.
    pub records: Vec<Record>,
    /// Number of the last record; the number before the first needed record if there is none.
    pub last: u64,
    /// What was durable and cannot be read.
    pub damage: Vec<Damage>,
    /// What was wrong and cost nothing.
    pub repairs: Vec<Repair>,
    /// Whether there is no log, or one without a record: its creation was interrupted.
    pub is_new: bool,
    durable: u64,
    epoch: u64,
    manifest: Manifest,
    is_manifest_stored: bool,
    /// Segment files with their lengths, ascending by epoch.
    files: Vec<File>,
    kept_from: u64,
    /// Files that the manifest does not name.
    leftovers: Vec<String>,
}

#[derive(Debug)]
struct File {
    name: String,
    bytes: u64,
    epoch: u64,
    last: Option<u64>,
}

impl Recovery {
    /// Reads a log.
    ///
    /// # Errors
    /// The medium refused a call: nothing is known of the log.
    pub fn read<M: Medium>(medium: &M, evidence: &Evidence) -> io::Result<Self> {
        let names = medium.list()?;
        let stored = if names.iter().any(|name| name == MANIFEST) {
            Manifest::decode(&medium.read(MANIFEST)?)
        } else {
            None
        };
        let is_manifest_stored = stored.is_some();
        let present = || names.iter().filter(|name| segment_number(name).is_some()).cloned();
        let manifest = stored.unwrap_or_else(|| Manifest {
            log_id: evidence.log_id,
            start: 0,
            segments: present().collect(),
        });
        let mut damage = Vec::new();
        if manifest.log_id != evidence.log_id {
            damage.push(Damage::Foreign(MANIFEST.to_owned()));
        }
        let (mut files, mut contents) = (Vec::new(), Vec::new());
        for name in &manifest.segments {
            if !names.contains(name) {
                damage.push(Damage::Segment(name.clone()));
                continue;
            }
            let (file, content) = read_segment(medium, name, evidence)?;
            if content.is_foreign {
                damage.push(Damage::Foreign(name.clone()));
            }
            files.push(file);
            contents.push(content);
        }
        files.sort_by_key(|file| file.epoch);
        let epoch = files.last().map_or(0, |file| file.epoch);
        let is_new = epoch == 0 && damage.is_empty();
        let Chain { records, last, durable, cut, damage: missing } =
            chain(contents, evidence.needed_from, evidence.seen);
        damage.extend(missing);
        let mut repairs = Vec::new();
        if !is_manifest_stored && !is_new {
            repairs.push(Repair::Manifest);
        }
        if cut > 0 {
            repairs.push(Repair::TornTail { number: last + 1, behind: cut });
        }
        let leftovers = present().filter(|name| !manifest.segments.contains(name)).collect();
        Ok(Self {
            records,
            last,
            damage,
            repairs,
            is_new,
            durable,
            epoch,
            manifest,
            is_manifest_stored,
            files,
            kept_from: evidence.kept_from,
            leftovers,
        })
    }

    /// Returns the id in the log's manifest; the one of the evidence if there is no readable manifest.
    #[must_use]
    pub fn log_id(&self) -> u64 {
        self.manifest.log_id
    }

    /// Opens the log for writing, in a new segment. May be called again after an error.
    ///
    /// Records that none names as durable are written once more, since what was read may be in the system's
    /// memory alone. An empty record follows, which supersedes what an earlier process wrote in vain: the log
    /// goes on at [`last`](Self::last) + 2.
    ///
    /// # Errors
    /// The medium refused a call.
    ///
    /// # Panics
    /// If there is damage: a damaged log is evidence, and must not be written to.
    pub fn open<M: Medium>(&self, medium: M, options: Options) -> io::Result<Wal<M>> {
        let unconfirmed = self.records.iter().filter(|record| record.number > self.durable);
        self.open_with(medium, options, unconfirmed.map(|record| record.body.clone()).collect())
    }

    /// Creates a log that begins with `records`, from the first needed number on; otherwise like
    /// [`open`](Self::open). After a power cut it has all of them, or is still new.
    ///
    /// # Errors
    /// The medium refused a call.
    ///
    /// # Panics
    /// If there is a log already.
    pub fn create_with<M: Medium>(
        &self,
        medium: M,
        options: Options,
        records: Vec<Vec<u8>>,
    ) -> io::Result<Wal<M>> {
        assert!(self.is_new, "a log exists already");
        self.open_with(medium, options, records)
    }

    /// Opens the log, and writes the records behind the last durable one once more.
    fn open_with<M: Medium>(&self, medium: M, options: Options, tail: Vec<Vec<u8>>) -> io::Result<Wal<M>> {
        assert!(self.damage.is_empty(), "a damaged log is not written to");
        // What was read may be in the system's memory alone: a process that ended before it synced the
        // directory leaves a manifest that a power cut still undoes.
        medium.sync_dir()?;
        for name in &self.leftovers {
            if let Err(error) = medium.remove(name).or_else(absent_is_fine) {
                tracing::warn!(name, %error, "could not remove an unused segment of the write-ahead log");
            }
        }
        let (mut unused, mut closed) = (Vec::new(), Vec::new());
        let mut unusable = Vec::new();
        for file in &self.files {
            match file.last.filter(|last| *last >= self.kept_from) {
                Some(last) => {
                    let is_reusable = file.bytes == options.segment_bytes;
                    closed.push(Closed { name: file.name.clone(), last, is_reusable });
                }
                // A file that no manifest names may have been created in part.
                None if self.is_manifest_stored && file.bytes == options.segment_bytes => {
                    unused.push(file.name.clone());
                }
                None => unusable.push(file.name.clone()),
            }
        }
        let number = self.manifest.start.max(epoch::start_of(self.epoch)) + 1;
        let mut pool = Pool::new(Manifest { start: number, ..self.manifest.clone() }, unused);
        for name in unusable {
            pool.retire(&medium, name)?;
        }
        pool.prepare(&medium, options.segment_bytes)?;
        let epoch = epoch::before(number);
        let start = Start { pool, closed: closed.into(), epoch, durable: self.durable, tail };
        let mut wal = Wal::new(medium, options, start);
        // The second attempt takes another segment: one that cannot be written prevents no start.
        wal.begin().or_else(|_| wal.begin())?;
        Ok(wal)
    }
}

fn read_segment<M: Medium>(medium: &M, name: &str, evidence: &Evidence) -> io::Result<(File, Contents)> {
    let bytes = medium.read(name)?;
    let contents = segment::read(&bytes, evidence.log_id, evidence.kept_from);
    let file = File {
        name: name.to_owned(),
        bytes: bytes.len() as u64,
        epoch: contents.epoch,
        last: contents.last(),
    };
    Ok((file, contents))
}

fn absent_is_fine(error: io::Error) -> io::Result<()> {
    if error.kind() == ErrorKind::NotFound { Ok(()) } else { Err(error) }
}
