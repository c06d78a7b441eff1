//! The sled store under the journal: the one owner of every sled handle, so that it can be dropped and opened anew.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use super::codec;
use super::files::{self, Snapshots};
use crate::{Claim, Durability};

/// What sled said, or that it panicked.
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
    /// The system's refusal behind the fault (no room, no permission, a failing disk, a lock that somebody holds): then
    /// nothing is known to be damaged. `None` if the system refused nothing, or a file is missing or no file.
    ///
    /// sled copies an error with its kind and the text that `Debug` makes of it, and panics with that text too.
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

    /// Whether there was no room.
    pub(crate) fn is_full(&self) -> bool {
        let kind = self.refusal().map(|refusal| refusal.kind());
        matches!(kind, Some(ErrorKind::StorageFull | ErrorKind::QuotaExceeded))
    }
}

/// The system's error number in what `Debug` writes of an [`io::Error`].
fn code_in(text: &str) -> Option<i32> {
    let (_, rest) = text.split_once("Os { code: ")?;
    rest.split(',').next()?.parse().ok()
}

/// A change of one entry: a session or a login code, which expire by themselves.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) key: Vec<u8>,
    /// `None` removes it.
    pub(crate) value: Option<Vec<u8>>,
}

/// A directory `log/` with generations of the store in it, of which `CURRENT` names the one that counts.
#[derive(Debug)]
pub(crate) struct Store {
    db: sled::Db,
    claims: sled::Tree,
    entries: sled::Tree,
    /// sled's own file. Its `flush` ends in `sync_file_range`, which is no barrier against a power cut.
    file: File,
    log_dir: PathBuf,
    generation: u64,
    durability: Durability,
}

/// Small: what the log holds is short-lived, and the mall keeps its own copy of what it looks up.
const CACHE_BYTES: u64 = 32 << 20;
const ID: &str = "id";
pub(super) const CURRENT: &str = "CURRENT";

impl Store {
    /// The generation that `CURRENT` names, or `None` if there is no store.
    pub(crate) fn open(log_dir: &Path, durability: Durability) -> Result<Option<Self>, StoreFault> {
        let Some(generation) = current(log_dir)? else { return Ok(None) };
        let dir = generation_dir(log_dir, generation);
        check_files(&dir)?;
        files::remove_unfinished_snapshots(&dir)?;
        files::read_through(&dir)?;
        let store = Self::open_generation(log_dir, generation, durability)?;
        store.remove_other_generations();
        Ok(Some(store))
    }

    /// The same, of a copy that is on another file system and gone with the value. The log itself is only read.
    ///
    /// For a disk without room: sled writes to what it opens.
    pub(crate) fn open_copy(log_dir: &Path) -> Result<Option<Self>, StoreFault> {
        match current(log_dir)? {
            Some(generation) => Self::copied(log_dir, generation, Snapshots::Keep).map(Some),
            None => Ok(None),
        }
    }

    /// Copies of all generations that are left in a damaged log, newest first, each read from its log alone. What cannot
    /// be opened is left out.
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
                    tracing::warn!(generation, %fault, "a store of the order log cannot be salvaged")
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
        // The files go with `copy`, though not from under sled, which has them open.
        Self::open_generation(copy.path(), generation, Durability::Memory)
    }

    /// An empty store, on another file system than the log and gone with the value.
    pub(crate) fn create_elsewhere(log_dir: &Path, id: u64) -> Result<Self, StoreFault> {
        let place = files::directory_elsewhere(log_dir, 0)?;
        Self::create(place.path(), 0, id, Durability::Memory)
    }

    /// A new, empty generation beside the current one. It counts from [`Store::make_current`] on.
    pub(crate) fn create(
        log_dir: &Path,
        generation: u64,
        id: u64,
        durability: Durability,
    ) -> Result<Self, StoreFault> {
        let dir = generation_dir(log_dir, generation);
        remove_dir(&dir)?;
        fs::create_dir_all(&dir)?;
        let store = Self::open_generation(log_dir, generation, durability)?;
        guarded(|| Ok(store.db.insert(ID, &id.to_le_bytes()).map(drop)?))?;
        Ok(store)
    }

    fn open_generation(log_dir: &Path, generation: u64, durability: Durability) -> Result<Self, StoreFault> {
        let dir = generation_dir(log_dir, generation);
        guarded(|| {
            let db = sled::Config::new()
                .path(&dir)
                .mode(sled::Mode::HighThroughput)
                .cache_capacity(CACHE_BYTES)
                .flush_every_ms(None)
                .open()?;
            let claims = db.open_tree("claims")?;
            let entries = db.open_tree("entries")?;
            let file = File::open(dir.join("db"))?;
            Ok(Self { db, claims, entries, file, log_dir: log_dir.to_owned(), generation, durability })
        })
    }

    /// Removes a new generation that did not become the current one, so that it takes no room.
    pub(crate) fn discard(log_dir: &Path, generation: u64) {
        if let Err(error) = remove_dir(&generation_dir(log_dir, generation)) {
            tracing::warn!(generation, %error, "an unfinished store of the order log stays behind");
        }
    }

    /// Makes everything in it durable, and then this generation the one that counts.
    pub(crate) fn make_current(&self) -> Result<(), StoreFault> {
        let dir = generation_dir(&self.log_dir, self.generation);
        let next = self.log_dir.join("CURRENT.next");
        let syncs = self.durability > Durability::Memory;
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
        fs::rename(&next, self.log_dir.join(CURRENT))?;
        if syncs {
            sync_all(&self.log_dir)?;
            self.log_dir.parent().map_or(Ok(()), sync_all)?;
        }
        self.remove_other_generations();
        Ok(())
    }

    /// What a crash or a change of generation left behind. It costs space and nothing else, so a failure is only told.
    fn remove_other_generations(&self) {
        let current = generation_dir(&self.log_dir, self.generation);
        let Ok(entries) = fs::read_dir(&self.log_dir) else { return };
        for path in entries.flatten().map(|entry| entry.path()) {
            let is_old = path.is_dir() && path != current && generation_of(&path).is_some();
            if is_old && let Err(error) = fs::remove_dir_all(&path) {
                tracing::warn!(path = %path.display(), %error, "an old generation of the order log stays behind");
            }
        }
    }

    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    pub(crate) fn durability(&self) -> Durability {
        self.durability
    }

    /// What ties the log to its record.
    pub(crate) fn id(&self) -> Result<Option<u64>, StoreFault> {
        let value = guarded(|| Ok(self.db.get(ID)?))?;
        Ok(value.and_then(|value| value.as_ref().try_into().ok()).map(u64::from_le_bytes))
    }

    /// Writes a commit and its changes, and removes the parts of commits that are settled. Not durable before [`sync`](Store::sync).
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

    /// Makes durable what was written, as far as the chosen durability goes.
    pub(crate) fn sync(&self) -> Result<(), StoreFault> {
        guarded(|| {
            self.db.flush()?;
            if self.durability == Durability::Power {
                self.file.sync_data()?;
            }
            Ok(())
        })
    }

    /// Every part of every commit, in order.
    pub(crate) fn claims(&self, mut each: impl FnMut(&[u8], &[u8])) -> Result<(), StoreFault> {
        guarded(|| {
            for item in &self.claims {
                let (key, value) = item?;
                each(&key, &value);
            }
            Ok(())
        })
    }

    /// Every entry.
    pub(crate) fn entries(&self, mut each: impl FnMut(&[u8], &[u8])) -> Result<(), StoreFault> {
        guarded(|| {
            for item in &self.entries {
                let (key, value) = item?;
                each(&key, &value);
            }
            Ok(())
        })
    }

    /// Bytes of sled's file; 0 if the system does not say.
    pub(crate) fn bytes(&self) -> u64 {
        self.file.metadata().map_or(0, |metadata| metadata.len())
    }
}

/// sled panics where it should answer, so each call is fenced in.
fn guarded<T>(call: impl FnOnce() -> Result<T, StoreFault>) -> Result<T, StoreFault> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(StoreFault::Panic(text.unwrap_or_else(|| "without a word".to_owned())))
    })
}

pub(super) fn sync_all(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

pub(super) fn remove_dir(dir: &Path) -> io::Result<()> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The generation that `CURRENT` names. `None` also where a first start was cut short: whether a log must be here is for
/// the record to say.
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

/// sled makes what is missing; a store that lost its files, or what was in them, must not open as an empty one.
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

fn generation_of(path: &Path) -> Option<u64> {
    path.file_name()?.to_str()?.strip_prefix("store-")?.parse().ok()
}
