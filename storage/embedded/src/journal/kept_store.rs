//! The sled store as checkpoints keep it: written in batches, compacted, and replaced when it fails.
//!
//! Reasons and figures: `storage/decisions/0004-new-store-after-failed-sync.md`.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;

use mallbox_storage::Claim;

use super::backlog::Changes;
use super::codec;
use super::contents::{Content, Entries, with_changes};
use super::new_store;
use super::store::{self, Change, Store, StoreFault, StoreOptions};

/// Compaction threshold in bytes, and in multiples of the size when new, for an idle log. Under a steady load
/// sled's file grows, since sessions keep its segments from being reused.
const COMPACT_MIN_BYTES: u64 = if cfg!(test) { 1 << 20 } else { 64 << 20 };
const COMPACT_MIN_GROWTH: u64 = 8;
/// Compaction threshold under load, in bytes.
const COMPACT_UNDER_LOAD_BYTES: u64 = 512 << 20;

/// The store at start.
#[derive(Debug)]
pub(super) enum StoreAtStart {
    /// In place.
    Open(Store),
    /// A copy, since its disk is full: to be replaced when there is room.
    Copy(Store),
    /// To be made, with these entries.
    Missing(Entries),
}

/// What a checkpoint adds to the store.
#[derive(Debug)]
pub(super) struct Batch<'a> {
    /// The last commit of the checkpoint.
    pub(super) position: u64,
    /// Every commit up to this number is settled.
    pub(super) settled: u64,
    /// Commits above, up to the position.
    pub(super) commits: &'a VecDeque<(u64, Vec<Claim>)>,
    /// Changes since the last successful checkpoint.
    pub(super) changes: &'a Changes,
}

/// The store, and what is known of its contents.
#[derive(Debug)]
pub(super) struct KeptStore {
    log_dir: PathBuf,
    log_id: u64,
    options: StoreOptions,
    store: Option<Store>,
    /// Entries of a store that is to be made.
    entries: Entries,
    /// Whether the store is to be replaced: sled returned an error, so that its later writes cannot be
    /// trusted, or has a copy open.
    is_suspect: bool,
    /// Number of the last generation begun. Numbers are never reused: `CURRENT` may name a generation whose
    /// creation failed late.
    generation: u64,
    /// Commits in the store, with their number of parts.
    stored: BTreeMap<u64, u16>,
    /// Size of the store when new, in bytes.
    new_bytes: u64,
}

impl KeptStore {
    pub(super) fn new(log_dir: PathBuf, log_id: u64, options: StoreOptions, start: StoreAtStart) -> Self {
        let generation = store::last_generation(&log_dir);
        let (store, entries, is_suspect) = match start {
            StoreAtStart::Open(store) => (Some(store), Entries::new(), false),
            StoreAtStart::Copy(store) => (Some(store), Entries::new(), true),
            StoreAtStart::Missing(entries) => (None, entries, true),
        };
        let (mut stored, mut is_suspect) = (BTreeMap::new(), is_suspect);
        if let Some(store) = store.as_ref().filter(|_| !is_suspect) {
            let add = |key: &[u8], _: &[u8]| {
                if let Some((commit, part)) = codec::place(key) {
                    let parts = stored.entry(commit).or_insert(0);
                    *parts = (part + 1).max(*parts);
                }
            };
            is_suspect = store.claims(add).is_err();
        }
        Self { log_dir, log_id, options, store, entries, is_suspect, generation, stored, new_bytes: 0 }
    }

    /// Writes a batch durably, to a new store if the present one failed.
    pub(super) fn write(&mut self, batch: &Batch<'_>) -> Result<(), StoreFault> {
        let written = match &self.store {
            Some(store) if !self.is_suspect => write(store, &self.stored, batch),
            _ => return self.replace(batch),
        };
        match written {
            Ok(settled) => {
                for (gone, _) in &settled {
                    self.stored.remove(gone);
                }
                self.note_commits(batch);
                Ok(())
            }
            Err(fault) => {
                self.is_suspect = true;
                Err(fault)
            }
        }
    }

    fn note_commits(&mut self, batch: &Batch<'_>) {
        self.stored
            .extend(batch.commits.iter().map(|(number, claims)| (*number, codec::parts(claims.len()))));
    }

    /// Makes a new store of the readable entries and the batch, and drops the old one.
    ///
    /// After a failed sync the pages of a store may be marked clean and still be lost later.
    fn replace(&mut self, batch: &Batch<'_>) -> Result<(), StoreFault> {
        let mut entries = self.entries.clone();
        if let Some(store) = &self.store {
            let scan = store.entries(|key, value| entries.push((key.to_vec(), value.to_vec())));
            if let Err(fault) = scan {
                tracing::warn!(%fault, "could not save some sessions; their users have to log in again");
            }
        }
        self.make(entries, batch)
    }

    /// Gives back the space that sled does not reuse, if that is much. Under load, only if it is very much.
    pub(super) fn compact_if_large(&mut self, is_idle: bool, batch: &Batch<'_>) -> Result<(), StoreFault> {
        let Some(store) = &self.store else { return Ok(()) };
        let before = store.bytes();
        let is_large = before > COMPACT_MIN_BYTES && before > COMPACT_MIN_GROWTH * self.new_bytes;
        if !is_large || !(is_idle || before > COMPACT_UNDER_LOAD_BYTES) {
            return Ok(());
        }
        let mut entries = Entries::new();
        // If an entry cannot be read, the store stays, however large: nothing but its size is wrong.
        store.entries(|key, value| entries.push((key.to_vec(), value.to_vec())))?;
        self.make(entries, batch)?;
        tracing::info!(before, after = self.new_bytes, "compacted the order log");
        Ok(())
    }

    fn make(&mut self, entries: Entries, batch: &Batch<'_>) -> Result<(), StoreFault> {
        let mut content = Content { last_commit: batch.position, entries, ..Content::default() };
        content.commits = batch.commits.iter().cloned().collect();
        let changed = batch.changes.iter().map(|(key, value)| (key.clone(), value.clone()));
        content.entries = with_changes(content.entries, changed);
        self.generation += 1;
        let store = new_store::make(&self.log_dir, self.generation, self.log_id, self.options, &content)?;
        self.new_bytes = store.bytes();
        (self.store, self.is_suspect, self.entries) = (Some(store), false, Entries::new());
        self.stored.clear();
        self.note_commits(batch);
        Ok(())
    }
}

/// Writes a batch, and removes settled commits. Returns the removed ones.
fn write(
    store: &Store,
    stored: &BTreeMap<u64, u16>,
    batch: &Batch<'_>,
) -> Result<Vec<(u64, u16)>, StoreFault> {
    for (number, claims) in batch.commits {
        if !stored.contains_key(number) {
            store.write(Some((*number, claims)), &[], &[])?;
        }
    }
    for (key, value) in batch.changes {
        store.write(None, &[Change { key: key.clone(), value: value.clone() }], &[])?;
    }
    let gone = |number: u64| number <= batch.settled || number > batch.position;
    let settled = stored.iter().filter(|(number, _)| gone(**number));
    let settled: Vec<(u64, u16)> = settled.map(|(number, parts)| (*number, *parts)).collect();
    store.write(None, &[], &settled)?;
    store.set_position(batch.position)?;
    store.sync()?;
    Ok(settled)
}
