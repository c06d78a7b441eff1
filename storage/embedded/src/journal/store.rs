//! The sled store under the journal: sole owner of all sled handles, so that a store can be dropped and
//! reopened.
//!
//! Reasons and figures: `storage/decisions/0002-small-sled-values.md`.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mallbox_storage::{Claim, Durability};

use super::codec;
use super::files::{self, Snapshots};
use crate::cache_sizes::CacheSizes;

/// An error or a panic of sled, or an I/O error.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreFault {
    #[error(transparent)]
    Sled(#[from] sled::Error),
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error("sled panicked: {0}")]
    Panic(String),
    #[error("{0}")]
    Damaged(String),
}

impl StoreFault {
    /// Returns the system's refusal behind the fault (no space, no permission, a failing disk, a lock held
    /// by another process); then no damage is known. `None` if the system refused nothing, or if a file is
    /// missing or not a file.
    ///
    /// sled copies an error with its kind and its `Debug` text, and panics with the `Debug` text too.
    pub(crate) fn refusal(&self) -> Option<io::Error> {
        let code = match self {
            Self::Io(error) if error.kind() == ErrorKind::StorageFull => {
                return Some(io::Error::new(error.kind(), error.to_string()));
            }
            Self::Io(error) | Self::Sled(sled::Error::Io(error)) => {
                error.raw_os_error().or_else(|| code_in(&format!("{error:?}")))
            }
            Self::Sled(_) | Self::Damaged(_) => None,
            Self::Panic(text) => code_in(text),
        };
        let refusal = io::Error::from_raw_os_error(code?);
        let is_damage = [ErrorKind::NotFound, ErrorKind::IsADirectory, ErrorKind::NotADirectory];
        (!is_damage.contains(&refusal.kind())).then_some(refusal)
    }

    /// Returns whether the fault is a lack of disk space or quota.
    pub(crate) fn is_full(&self) -> bool {
        let kind = self.refusal().map(|refusal| refusal.kind());
        matches!(kind, Some(ErrorKind::StorageFull | ErrorKind::QuotaExceeded))
    }
}

/// Parses the system's error number from the `Debug` text of an [`io::Error`].
fn code_in(text: &str) -> Option<i32> {
    let (_, rest) = text.split_once("Os { code: ")?;
    rest.split(',').next()?.parse().ok()
}

/// A change of one entry. Entries are sessions and login codes, and expire by themselves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Change {
    pub(crate) key: Vec<u8>,
    /// New value; `None` removes the entry.
    pub(crate) value: Option<Vec<u8>>,
}

/// A directory `log/` with generations of the store. The file `CURRENT` names the valid generation.
#[derive(Debug)]
pub(crate) struct Store {
    db: sled::Db,
    claims: sled::Tree,
    entries: sled::Tree,
    /// sled's own file, for `sync_data`. sled's `flush` ends in `sync_file_range`, which is no barrier
    /// against a power cut.
    file: File,
    log_dir: PathBuf,
    generation: u64,
    options: StoreOptions,
}

/// Options of a store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StoreOptions {
    pub(crate) durability: Durability,
    /// Upper bound of sled's cache, in bytes.
    pub(crate) cache_bytes: u64,
}

impl StoreOptions {
    /// Returns options with the usual cache.
    pub(crate) fn usual(durability: Durability) -> Self {
        Self { durability, cache_bytes: CacheSizes::FULL.log }
    }
}

/// The smallest cache that sled accepts.
const CACHE_BYTES_MIN: u64 = 1 << 20;
/// How long a locked store is waited for.
const LOCK_WAIT: Duration = Duration::from_secs(2);
const LOCK_PAUSE: Duration = Duration::from_millis(10);
const ID: &str = "id";
const POSITION: &str = "position";
pub(super) const CURRENT: &str = "CURRENT";

impl Store {
    /// Opens the generation named by `CURRENT`. Returns `None` if there is no store.
    pub(crate) fn open(log_dir: &Path, options: StoreOptions) -> Result<Option<Self>, StoreFault> {
        let Some(generation) = current(log_dir)? else { return Ok(None) };
        let dir = generation_dir(log_dir, generation);
        check_files(&dir)?;
        files::remove_unfinished_snapshots(&dir)?;
        files::read_through(&dir)?;
        let store = Self::open_generation(log_dir, generation, options)?;
        store.remove_other_generations();
        Ok(Some(store))
    }

    /// Opens a copy of the current generation on another file system; the copy is deleted with the value.
    /// The log itself is only read. Returns `None` if there is no store.
    ///
    /// For a full disk: sled writes to a store on opening.
    pub(crate) fn open_copy(log_dir: &Path) -> Result<Option<Self>, StoreFault> {
        match current(log_dir)? {
            Some(generation) => Self::copied(log_dir, generation, Snapshots::Keep).map(Some),
            None => Ok(None),
        }
    }

    /// Copies all generations left in a damaged log, newest first, and opens each from its log alone.
    /// Generations that cannot be opened are skipped.
    pub(crate) fn salvage(log_dir: &Path) -> Result<Vec<Self>, StoreFault> {
        let mut generations: Vec<u64> = match fs::read_dir(log_dir) {
            Ok(entries) => entries.flatten().filter_map(|entry| generation_of(&entry.path())).collect(),
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        generations.sort_unstable_by(|one, other| other.cmp(one));
        let mut stores = Vec::new();
        for generation in generations {
            match Self::copied(log_dir, generation, Snapshots::Drop) {
                Ok(store) => stores.push(store),
                Err(fault) if fault.refusal().is_some() => return Err(fault),
                Err(fault) => {
                    tracing::warn!(generation, %fault, "could not salvage a generation of the order log")
                }
            }
        }
        Ok(stores)
    }

    fn copied(log_dir: &Path, generation: u64, snapshots: Snapshots) -> Result<Self, StoreFault> {
        let from = generation_dir(log_dir, generation);
        check_files(&from)?;
        let copy = files::directory_elsewhere(log_dir, files::bytes(&from)?)?;
        files::copy(&from, &generation_dir(copy.path(), generation), snapshots)?;
        // The files are deleted with `copy`; sled keeps its open file handles.
        Self::open_generation(copy.path(), generation, StoreOptions::usual(Durability::Memory))
    }

    /// Creates an empty generation beside the current one. The generation is valid after
    /// [`Store::make_current`].
    pub(crate) fn create(
        log_dir: &Path,
        generation: u64,
        id: u64,
        options: StoreOptions,
    ) -> Result<Self, StoreFault> {
        let dir = generation_dir(log_dir, generation);
        remove_dir(&dir)?;
        fs::create_dir_all(&dir)?;
        let store = Self::open_generation(log_dir, generation, options)?;
        guarded(|| Ok(store.db.insert(ID, &id.to_le_bytes()).map(drop)?))?;
        Ok(store)
    }

    fn open_generation(log_dir: &Path, generation: u64, options: StoreOptions) -> Result<Self, StoreFault> {
        let dir = generation_dir(log_dir, generation);
        guarded(|| {
            let config = sled::Config::new()
                .path(&dir)
                .mode(sled::Mode::HighThroughput)
                .cache_capacity(options.cache_bytes.max(CACHE_BYTES_MIN))
                .flush_every_ms(None);
            let db = open_unlocked(&config)?;
            let claims = db.open_tree("claims")?;
            let entries = db.open_tree("entries")?;
            let file = File::open(dir.join("db"))?;
            Ok(Self { db, claims, entries, file, log_dir: log_dir.to_owned(), generation, options })
        })
    }

    /// Removes a new generation that did not become current, to free its space.
    pub(crate) fn discard(log_dir: &Path, generation: u64) {
        if let Err(error) = remove_dir(&generation_dir(log_dir, generation)) {
            tracing::warn!(generation, %error, "could not remove an unfinished generation of the order log");
        }
    }

    /// Makes the contents durable, and then switches `CURRENT` to this generation.
    pub(crate) fn make_current(&self) -> Result<(), StoreFault> {
        let dir = generation_dir(&self.log_dir, self.generation);
        let next = self.log_dir.join("CURRENT.next");
        let syncs = self.options.durability > Durability::Memory;
        if syncs {
            self.sync()?;
            for entry in fs::read_dir(&dir)? {
                sync_all(&entry?.path())?;
            }
            sync_all(&dir)?;
        }
        fs::write(&next, format!("{}\n", self.generation))?;
        if syncs {
            sync_all(&next)?;
        }
        let current = self.log_dir.join(CURRENT);
        if current.is_dir() {
            fs::remove_dir_all(&current)?;
        }
        fs::rename(&next, current)?;
        if syncs {
            sync_all(&self.log_dir)?;
            self.log_dir.parent().map_or(Ok(()), sync_all)?;
        }
        self.remove_other_generations();
        Ok(())
    }

    /// Removes generations left by a crash or a switch. Leftovers only cost space, so a failure is only
    /// logged.
    fn remove_other_generations(&self) {
        let current = generation_dir(&self.log_dir, self.generation);
        let Ok(entries) = fs::read_dir(&self.log_dir) else { return };
        for path in entries.flatten().map(|entry| entry.path()) {
            let is_old = path.is_dir() && path != current && generation_of(&path).is_some();
            if is_old && let Err(error) = fs::remove_dir_all(&path) {
                tracing::warn!(path = %path.display(), %error, "could not remove an old generation of the order log");
            }
        }
    }

    /// Returns the id that ties the log to its database.
    pub(crate) fn id(&self) -> Result<Option<u64>, StoreFault> {
        let value = guarded(|| Ok(self.db.get(ID)?))?;
        Ok(value.and_then(|value| value.as_ref().try_into().ok()).map(u64::from_le_bytes))
    }

    /// Returns the position of the last checkpoint: the store contains all changes up to this commit, and
    /// each commit up to it with a claim that was pending then. `None` in a store of a former version.
    pub(crate) fn position(&self) -> Result<Option<u64>, StoreFault> {
        let value = guarded(|| Ok(self.db.get(POSITION)?))?;
        Ok(value.and_then(|value| value.as_ref().try_into().ok()).map(u64::from_le_bytes))
    }

    /// Stores the position of a checkpoint, after everything else of it.
    pub(crate) fn set_position(&self, position: u64) -> Result<(), StoreFault> {
        guarded(|| Ok(self.db.insert(POSITION, &position.to_le_bytes()).map(drop)?))
    }

    /// Writes a commit and changes of entries, and removes the parts of settled commits. Durable after
    /// [`sync`](Store::sync).
    pub(crate) fn write(
        &self,
        commit: Option<(u64, &[Claim])>,
        changes: &[Change],
        settled: &[(u64, u16)],
    ) -> Result<(), StoreFault> {
        guarded(|| {
            if let Some((number, claims)) = commit {
                for (key, value) in codec::encode(number, claims) {
                    self.claims.insert(key, value)?;
                }
            }
            for change in changes {
                match &change.value {
                    Some(value) => self.entries.insert(&change.key, value.as_slice())?,
                    None => self.entries.remove(&change.key)?,
                };
            }
            for (commit, parts) in settled {
                for part in 0..*parts {
                    self.claims.remove(codec::key(*commit, part))?;
                }
            }
            Ok(())
        })
    }

    /// Syncs all writes to the chosen durability.
    pub(crate) fn sync(&self) -> Result<(), StoreFault> {
        guarded(|| {
            self.db.flush()?;
            if self.options.durability == Durability::Power {
                self.file.sync_data()?;
            }
            Ok(())
        })
    }

    /// Calls `each` with every part of every commit, in key order.
    pub(crate) fn claims(&self, mut each: impl FnMut(&[u8], &[u8])) -> Result<(), StoreFault> {
        guarded(|| {
            for item in &self.claims {
                let (key, value) = item?;
                each(&key, &value);
            }
            Ok(())
        })
    }

    /// Calls `each` with every entry, in key order.
    pub(crate) fn entries(&self, mut each: impl FnMut(&[u8], &[u8])) -> Result<(), StoreFault> {
        guarded(|| {
            for item in &self.entries {
                let (key, value) = item?;
                each(&key, &value);
            }
            Ok(())
        })
    }

    /// Returns the size of sled's file in bytes; 0 if the system does not report the size.
    pub(crate) fn bytes(&self) -> u64 {
        self.file.metadata().map_or(0, |metadata| metadata.len())
    }
}

/// Runs a call of sled and converts a panic to a fault: sled panics where it should return an error.
fn guarded<T>(call: impl FnOnce() -> Result<T, StoreFault>) -> Result<T, StoreFault> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(StoreFault::Panic(text.unwrap_or_else(|| "no message".to_owned())))
    })
}

/// Opens a store, and waits a moment if it is locked. No other process has the directory open, but a child of
/// this one holds the lock of a store just closed until it runs its own program.
fn open_unlocked(config: &sled::Config) -> Result<sled::Db, StoreFault> {
    let began = Instant::now();
    loop {
        let fault = match config.open() {
            Ok(db) => return Ok(db),
            Err(error) => StoreFault::from(error),
        };
        // sled hides the kind of the error in a text.
        let is_locked = fault.refusal().is_some_and(|refusal| refusal.kind() == ErrorKind::WouldBlock);
        if !is_locked || began.elapsed() >= LOCK_WAIT {
            return Err(fault);
        }
        std::thread::sleep(LOCK_PAUSE);
    }
}

pub(crate) fn sync_all(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

pub(super) fn remove_dir(dir: &Path) -> io::Result<()> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Reads the generation named by `CURRENT`. `None` also after an interrupted first start: whether a log
/// must exist is decided by the evidence in the database.
fn current(log_dir: &Path) -> Result<Option<u64>, StoreFault> {
    let damaged = || StoreFault::Damaged("CURRENT does not name a generation".to_owned());
    match fs::read(log_dir.join(CURRENT)) {
        Ok(bytes) => {
            let text = String::from_utf8(bytes).map_err(|_| damaged())?;
            text.trim().parse().map(Some).map_err(|_| damaged())
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Checks that the store's main files exist and are not empty. sled creates missing files, but a store that
/// lost its files or their contents must not open as an empty one.
fn check_files(store: &Path) -> Result<(), StoreFault> {
    for path in ["db", "conf"].map(|part| store.join(part)) {
        match path.metadata() {
            Ok(file) if file.is_file() && file.len() > 0 => {}
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
            _ => return Err(StoreFault::Damaged(format!("{} is missing or empty", path.display()))),
        }
    }
    Ok(())
}

fn generation_dir(log_dir: &Path, generation: u64) -> PathBuf {
    log_dir.join(format!("store-{generation}"))
}

/// Returns the number of the newest generation in the directory, complete or not; 0 without any.
pub(super) fn last_generation(log_dir: &Path) -> u64 {
    let entries = fs::read_dir(log_dir).into_iter().flatten().flatten();
    entries.filter_map(|entry| generation_of(&entry.path())).max().unwrap_or(0)
}

fn generation_of(path: &Path) -> Option<u64> {
    path.file_name()?.to_str()?.strip_prefix("store-")?.parse().ok()
}
