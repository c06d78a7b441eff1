//! A simulated disk: what a power cut, a failing call or a flipped bit leaves of a directory of files.
//!
//! Written sectors are pending until the file is synced, and directory entries until the directory is. A
//! power cut leaves each pending sector old, new, torn or garbage, and any subset of the pending entries. A
//! failed sync leaves sectors that no later sync writes, though reads still return them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, ErrorKind};

use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};

/// Unit that a disk writes at once, in bytes.
const SECTOR_BYTES: usize = 512;

/// What ended a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Crash {
    /// The process alone: the system still writes what is pending.
    Process,
    /// The whole machine.
    Power,
}

/// Probabilities of failing calls.
#[derive(Clone, Copy, Default, Debug)]
pub struct Faults {
    /// An input/output error of any call.
    pub io: f64,
    /// No space for a new file.
    pub full: f64,
}

/// A change of the directory that is not yet durable.
#[derive(Clone, Debug)]
enum Entry {
    Link(String, usize),
    Unlink(String),
    Rename(String, String),
}

#[derive(Clone, Default, Debug)]
struct File {
    /// What reads return.
    seen: Vec<u8>,
    /// What a power cut leaves for sure.
    durable: Vec<u8>,
    /// Sectors that the next sync writes.
    pending: BTreeSet<usize>,
    /// Sectors that a failed sync left undecided.
    undecided: BTreeSet<usize>,
}

/// How far a call came.
enum Progress {
    Whole,
    /// Failed somewhere in the middle.
    Partial(io::Error),
}

/// A directory on a simulated disk.
#[derive(Debug)]
pub struct Disk {
    chance: SmallRng,
    files: Vec<File>,
    names: BTreeMap<String, usize>,
    durable_names: BTreeMap<String, usize>,
    entries: Vec<Entry>,
    /// Whether a write of a segment is durable when it returns.
    is_direct: bool,
    pub faults: Faults,
    /// Number of the call that crashes the process.
    crash_at: Option<u64>,
    /// A call that fails: its name, how many of that name are left until then, and whether the process
    /// crashes.
    planned: Option<(&'static str, u32, bool)>,
    calls: u64,
    is_crashed: bool,
    pub trace: Option<String>,
}

impl Disk {
    pub fn new(seed: u64, is_direct: bool, is_traced: bool) -> Self {
        Self {
            chance: SmallRng::seed_from_u64(seed),
            files: Vec::new(),
            names: BTreeMap::new(),
            durable_names: BTreeMap::new(),
            entries: Vec::new(),
            is_direct,
            faults: Faults::default(),
            crash_at: None,
            planned: None,
            calls: 0,
            is_crashed: false,
            trace: is_traced.then(String::new),
        }
    }

    /// Lets the process crash in one of the next `calls` calls.
    pub fn crash_within(&mut self, calls: u64) {
        self.crash_at = Some(self.calls + self.chance.random_range(1..=calls));
    }

    /// Lets the `nth` of the next calls of a name fail.
    pub fn fail_call(&mut self, name: &'static str, nth: u32) {
        self.planned = Some((name, nth, false));
    }

    /// Lets the process crash in the `nth` of the next calls of a name.
    pub fn crash_at_call(&mut self, name: &'static str, nth: u32) {
        self.planned = Some((name, nth, true));
    }

    /// Returns whether the planned failure is due, and whether it crashes the process.
    fn is_planned(&mut self, call: &str) -> Option<bool> {
        let (name, left, is_crash) = self.planned.as_mut()?;
        if *name != call {
            return None;
        }
        *left -= 1;
        let is_crash = (*left == 0).then_some(*is_crash)?;
        self.planned = None;
        Some(is_crash)
    }

    pub fn is_crashed(&self) -> bool {
        self.is_crashed
    }

    /// Starts the process again after a crash.
    pub fn restart(&mut self, crash: Crash) {
        self.note(format_args!("restart after {crash:?}"));
        self.is_crashed = false;
        self.crash_at = None;
        if crash == Crash::Power {
            self.lose_entries();
            for at in 0..self.files.len() {
                let file = std::mem::take(&mut self.files[at]);
                self.files[at] = self.after_power_cut(file);
            }
        }
    }

    /// Flips a bit of a random file. Returns the file's name; `None` without files.
    pub fn flip_bit(&mut self) -> Option<String> {
        let names: Vec<(String, usize)> =
            self.names.iter().map(|(name, file)| (name.clone(), *file)).collect();
        let (name, at) = names.get(self.chance.random_range(0..names.len().max(1)))?.clone();
        let length = self.files[at].seen.len();
        if length == 0 {
            return None;
        }
        let (byte, bit) = (self.chance.random_range(0..length), self.chance.random_range(0..8));
        self.note(format_args!("flip bit {bit} of byte {byte} of {name}"));
        let file = &mut self.files[at];
        file.seen[byte] ^= 1 << bit;
        if let Some(durable) = file.durable.get_mut(byte) {
            *durable ^= 1 << bit;
        }
        Some(name)
    }

    pub fn note(&mut self, event: std::fmt::Arguments<'_>) {
        if let Some(trace) = &mut self.trace {
            writeln!(trace, "{:>4} {event}", self.calls).expect("a String takes everything");
        }
    }

    pub fn list(&mut self) -> io::Result<Vec<String>> {
        self.whole("list", "")?;
        Ok(self.names.keys().cloned().collect())
    }

    pub fn read(&mut self, name: &str) -> io::Result<Vec<u8>> {
        self.whole("read", name)?;
        Ok(self.files[self.find(name)?].seen.clone())
    }

    /// Creates or truncates a file, writes and syncs it.
    pub fn write(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let progress = self.begin("write", name, self.faults.full)?;
        let at = self.link(name);
        let file = &mut self.files[at];
        file.pending.extend(0..file.seen.len().div_ceil(SECTOR_BYTES));
        file.seen.clear();
        let written = match &progress {
            Progress::Whole => bytes.len(),
            Progress::Partial(_) => self.chance.random_range(0..=bytes.len()),
        };
        let file = &mut self.files[at];
        file.seen.extend(&bytes[..written]);
        file.pending.extend(0..written.div_ceil(SECTOR_BYTES));
        match progress {
            Progress::Whole => self.sync_file(at),
            Progress::Partial(error) => Err(error),
        }
    }

    pub fn remove(&mut self, name: &str) -> io::Result<()> {
        let progress = self.begin("remove", name, 0.0)?;
        self.find(name)?;
        if matches!(progress, Progress::Whole) || self.chance.random_bool(0.5) {
            self.names.remove(name);
            self.entries.push(Entry::Unlink(name.to_owned()));
        }
        finish(progress)
    }

    pub fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        let progress = self.begin("rename", from, 0.0)?;
        let at = self.find(from)?;
        if matches!(progress, Progress::Whole) || self.chance.random_bool(0.5) {
            self.names.remove(from);
            self.names.insert(to.to_owned(), at);
            self.entries.push(Entry::Rename(from.to_owned(), to.to_owned()));
        }
        finish(progress)
    }

    pub fn sync_dir(&mut self) -> io::Result<()> {
        let progress = self.begin("sync_dir", "", 0.0)?;
        if matches!(progress, Progress::Whole) {
            self.entries.clear();
            self.durable_names = self.names.clone();
        }
        finish(progress)
    }

    pub fn open(&mut self, name: &str) -> io::Result<usize> {
        self.whole("open", name)?;
        self.find(name)
    }

    /// Writes to an open segment.
    pub fn write_at(&mut self, at: usize, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let progress = self.begin("write_at", &format!("{at} {offset}+{}", bytes.len()), 0.0)?;
        let first = usize::try_from(offset).expect("small") / SECTOR_BYTES;
        let sectors = bytes.len().div_ceil(SECTOR_BYTES);
        let written = match &progress {
            Progress::Whole => sectors,
            Progress::Partial(_) => self.chance.random_range(0..=sectors),
        };
        for (sector, bytes) in (first..first + written).zip(bytes.chunks(SECTOR_BYTES)) {
            let is_last = sector + 1 == first + written;
            let bytes = if is_last && matches!(progress, Progress::Partial(_)) {
                let old = self.files[at].seen[sector * SECTOR_BYTES..][..bytes.len()].to_vec();
                self.torn(&old, bytes)
            } else {
                bytes.to_vec()
            };
            let file = &mut self.files[at];
            file.seen[sector * SECTOR_BYTES..][..bytes.len()].copy_from_slice(&bytes);
            if self.is_direct {
                file.durable[sector * SECTOR_BYTES..][..bytes.len()].copy_from_slice(&bytes);
            } else {
                file.pending.insert(sector);
            }
        }
        finish(progress)
    }

    pub fn sync(&mut self, at: usize) -> io::Result<()> {
        match self.begin("sync", &at.to_string(), 0.0)? {
            Progress::Whole => self.sync_file(at),
            Progress::Partial(error) => {
                // Some sectors are written; none of the others is ever tried again.
                for sector in std::mem::take(&mut self.files[at].pending) {
                    if self.chance.random_bool(0.5) {
                        self.harden(at, sector);
                    } else {
                        self.files[at].undecided.insert(sector);
                    }
                }
                Err(error)
            }
        }
    }

    fn sync_file(&mut self, at: usize) -> io::Result<()> {
        let length = self.files[at].seen.len();
        self.files[at].durable.resize(length, 0);
        for sector in std::mem::take(&mut self.files[at].pending) {
            self.harden(at, sector);
        }
        Ok(())
    }

    fn harden(&mut self, at: usize, sector: usize) {
        let file = &mut self.files[at];
        let from = sector * SECTOR_BYTES;
        let to = file.seen.len().min(from + SECTOR_BYTES);
        if from < to {
            file.durable.resize(file.durable.len().max(to), 0);
            file.durable[from..to].copy_from_slice(&file.seen[from..to]);
        }
        file.undecided.remove(&sector);
    }

    /// Links a new, empty file unless the name exists.
    fn link(&mut self, name: &str) -> usize {
        if let Some(at) = self.names.get(name) {
            return *at;
        }
        self.files.push(File::default());
        let at = self.files.len() - 1;
        self.names.insert(name.to_owned(), at);
        self.entries.push(Entry::Link(name.to_owned(), at));
        at
    }

    fn find(&self, name: &str) -> io::Result<usize> {
        self.names.get(name).copied().ok_or_else(|| ErrorKind::NotFound.into())
    }

    fn lose_entries(&mut self) {
        let mut names = self.durable_names.clone();
        for entry in std::mem::take(&mut self.entries) {
            if self.chance.random_bool(0.5) {
                continue;
            }
            match entry {
                Entry::Link(name, at) => drop(names.insert(name, at)),
                Entry::Unlink(name) => drop(names.remove(&name)),
                Entry::Rename(from, to) => {
                    if let Some(at) = names.remove(&from) {
                        names.insert(to, at);
                    }
                }
            }
        }
        self.durable_names.clone_from(&names);
        self.names = names;
    }

    fn after_power_cut(&mut self, file: File) -> File {
        let File { seen, mut durable, pending, undecided } = file;
        if seen.len() != durable.len() && self.chance.random_bool(0.5) {
            durable.resize(seen.len(), 0);
        }
        for sector in pending.into_iter().chain(undecided) {
            let from = sector * SECTOR_BYTES;
            let to = durable.len().min(seen.len()).min(from + SECTOR_BYTES);
            if from >= to {
                continue;
            }
            let old = durable[from..to].to_vec();
            let left = match self.chance.random_range(0..8) {
                0..3 => old,
                3..6 => seen[from..to].to_vec(),
                6 => self.torn(&old, &seen[from..to]),
                _ => (from..to).map(|_| self.chance.random()).collect(),
            };
            durable[from..to].copy_from_slice(&left);
        }
        File { seen: durable.clone(), durable, ..File::default() }
    }

    /// Returns a sector of which only the first part was written.
    fn torn(&mut self, old: &[u8], new: &[u8]) -> Vec<u8> {
        let at = self.chance.random_range(0..=new.len());
        [&new[..at], &old[at..]].concat()
    }

    /// Begins a call without partial effects.
    fn whole(&mut self, call: &str, of: &str) -> io::Result<()> {
        finish(self.begin(call, of, 0.0)?)
    }

    /// Begins a call: decides whether it fails before or in its middle.
    fn begin(&mut self, call: &str, of: &str, full: f64) -> io::Result<Progress> {
        if self.is_crashed {
            return Err(io::Error::other("the process has crashed"));
        }
        self.calls += 1;
        let planned = self.is_planned(call);
        let error = if planned == Some(true) || self.crash_at.is_some_and(|at| self.calls >= at) {
            self.is_crashed = true;
            io::Error::other("crash")
        } else if planned.is_some() || (self.faults.io > 0.0 && self.chance.random_bool(self.faults.io)) {
            io::Error::other("input/output error")
        } else if full > 0.0 && self.chance.random_bool(full) {
            ErrorKind::StorageFull.into()
        } else {
            self.note(format_args!("{call} {of}"));
            return Ok(Progress::Whole);
        };
        self.note(format_args!("{call} {of}: {error}"));
        if self.chance.random_bool(0.5) { Err(error) } else { Ok(Progress::Partial(error)) }
    }
}

fn finish(progress: Progress) -> io::Result<()> {
    match progress {
        Progress::Whole => Ok(()),
        Progress::Partial(error) => Err(error),
    }
}
