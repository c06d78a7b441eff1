//! Recovery of the log at start: the expected contents against the contents found.
//!
//! A new log is made beside a damaged log, which is set aside afterwards: a power cut at any moment leaves
//! a log to start from. Without room on the disk, a copy of the log on another file system is opened.
//!
//! Reasons and figures: `storage/decisions/0001-sled-and-sqlite.md`,
//! `storage/decisions/0005-start-without-room.md`.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use mallbox_storage::{Claim, Durability, OpenError, hex};

use super::codec::{self, Part};
use super::loss;
use super::store::{Change, Store, StoreFault};
use crate::disk::Disk;

/// Evidence about the log in the database, written in the same transactions as the orders.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct LogEvidence {
    /// The log's id; `None` in a new mall.
    pub(crate) log_id: Option<u64>,
    /// Every claim of every commit up to this number is an order or a dead letter.
    pub(crate) applied: u64,
    /// The highest commit of which a claim has reached the database.
    pub(crate) seen: u64,
    /// State at the last clean stop; `None` after an unclean stop.
    pub(crate) clean_stop: Option<CleanStop>,
}

impl LogEvidence {
    /// Returns the highest commit known to have been in the log.
    pub(super) fn last_known(&self) -> u64 {
        let stopped_at = self.clean_stop.map_or(0, |stop| stop.last_commit);
        self.applied.max(self.seen).max(stopped_at)
    }
}

/// State of the log at a clean stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CleanStop {
    /// Last commit in the log.
    pub(crate) last_commit: u64,
    /// Number of pending claims.
    pub(crate) pending: u64,
}

/// A recovered or newly created log.
#[derive(Debug)]
pub(crate) struct Recovered {
    pub(crate) store: Store,
    pub(crate) log_id: u64,
    pub(crate) content: Content,
    /// Why the log could not be opened in place: too little free space on its disk. Then `store` is a copy.
    pub(crate) shortage: Option<String>,
}

/// Contents of a log.
#[derive(Debug, Default)]
pub(crate) struct Content {
    /// Commits above the `applied` mark, without gaps, with their claims.
    pub(crate) commits: BTreeMap<u64, Vec<Claim>>,
    /// The highest commit so far. Its record stays on the disk until there is a higher one.
    pub(crate) last_commit: u64,
    /// Settled commits still on the disk, with their number of parts.
    pub(crate) leftovers: BTreeMap<u64, u16>,
    /// Sessions and login codes.
    pub(crate) entries: Entries,
}

/// Keys and values of entries.
type Entries = Vec<(Vec<u8>, Vec<u8>)>;

/// A log as opened and read, with its faults.
struct Found {
    store: Option<Store>,
    content: Content,
    faults: Vec<String>,
}

/// Opens the log on its disk, or creates one where none is expected.
///
/// With too little free space, a copy elsewhere is opened instead of the log: sled writes to a store on
/// opening, and a full disk in the middle of a write would damage the log.
///
/// Damage is an error that names the loss, unless `accepted` is exactly the number of lost claims. Then the
/// readable claims go into a new log, and the damaged log is set aside. An I/O error of the system does not
/// count as damage.
///
/// # Errors
/// [`OpenError::LostLog`] if the log is damaged or missing, [`OpenError::Io`] if the system refuses an
/// operation.
pub(crate) fn recover(
    disk: &Disk,
    witness: &LogEvidence,
    durability: Durability,
    accepted: Option<u64>,
    new_id: u64,
) -> Result<Recovered, OpenError> {
    let log_dir = disk.dir();
    let told = |fault: StoreFault| explained(log_dir, &fault);
    loss::finish_replacement(log_dir).map_err(|error| told(error.into()))?;
    let id = witness.log_id.unwrap_or(new_id);
    if disk.shortage().is_none() {
        match in_place(log_dir, witness, durability, accepted, id) {
            Err(OpenFault::Store(fault)) if fault.is_full() => {
                tracing::warn!(%fault, "the disk became full while opening the order log");
            }
            Err(OpenFault::Store(fault)) => return Err(told(fault)),
            Err(OpenFault::Told(error)) => return Err(error),
            Ok(recovered) => return Ok(recovered),
        }
    }
    from_copy(disk, witness, accepted, id).map_err(|fault| match fault {
        OpenFault::Store(fault) => told(fault),
        OpenFault::Told(error) => error,
    })
}

/// Why a log was not opened: a fault of the store, or an error to return unchanged.
pub(super) enum OpenFault {
    Store(StoreFault),
    Told(OpenError),
}

impl<E: Into<StoreFault>> From<E> for OpenFault {
    fn from(error: E) -> Self {
        Self::Store(error.into())
    }
}

fn in_place(
    log_dir: &Path,
    witness: &LogEvidence,
    durability: Durability,
    accepted: Option<u64>,
    id: u64,
) -> Result<Recovered, OpenFault> {
    let Found { store, mut content, faults } = find(Store::open(log_dir, durability), witness)?;
    if !faults.is_empty() {
        drop(store);
        loss::accept(log_dir, witness, &faults, accepted, |content| {
            make(&loss::replacement(log_dir), 1, id, durability, content).map(drop)
        })?;
        // The new log may end at a later commit than the last clean stop.
        return in_place(log_dir, &LogEvidence { clean_stop: None, ..*witness }, durability, None, id);
    }
    let store = match store {
        Some(store) => {
            drop_settled(&store, &mut content, witness)?;
            store
        }
        None => {
            loss::fill_gaps(&mut content, witness);
            set_aside(log_dir)?;
            make(log_dir, 1, id, durability, &content)?
        }
    };
    let log_id = store.id()?.unwrap_or(id);
    Ok(Recovered { store, log_id, content, shortage: None })
}

/// Reads a log whose disk has too little free space. The operator has to free space first, even for a
/// damaged log.
fn from_copy(
    disk: &Disk,
    witness: &LogEvidence,
    accepted: Option<u64>,
    id: u64,
) -> Result<Recovered, OpenFault> {
    let log_dir = disk.dir();
    let shortage = disk.shortage().unwrap_or_else(|| disk.room());
    let Found { store, mut content, faults } = find(Store::open_copy(log_dir), witness)?;
    if !faults.is_empty() && accepted.is_some() {
        return Err(OpenFault::Store(io::Error::new(io::ErrorKind::StorageFull, shortage).into()));
    }
    if !faults.is_empty() {
        return Err(OpenFault::Told(loss::refused(log_dir, witness, &faults)?));
    }
    let store = match store {
        Some(store) => {
            drop_settled(&store, &mut content, witness)?;
            store
        }
        None => {
            loss::fill_gaps(&mut content, witness);
            Store::create_elsewhere(log_dir, id)?
        }
    };
    let log_id = store.id()?.unwrap_or(id);
    Ok(Recovered { store, log_id, content, shortage: Some(shortage) })
}

/// Reads an opened store. Refusals of the system are returned as errors; any other fault counts as damage.
fn find(opened: Result<Option<Store>, StoreFault>, witness: &LogEvidence) -> Result<Found, StoreFault> {
    match opened {
        Ok(Some(store)) => {
            let mut parts = Parts::default();
            let mut faults = parts.add(&store, witness)?;
            let entries = entries(&store, &mut faults)?;
            let mut content = Content { entries, ..Content::default() };
            sort_out(parts.commits(), witness, &mut content, &mut faults);
            Ok(Found { store: Some(store), content, faults })
        }
        Ok(None) => Ok(Found { store: None, content: Content::default(), faults: absence(witness) }),
        Err(fault) if fault.refusal().is_some() => Err(fault),
        Err(fault) => Ok(Found { store: None, content: Content::default(), faults: vec![fault.to_string()] }),
    }
}

/// Converts a fault of the store to an error. A refusal of the system is reported as such.
fn explained(log_dir: &Path, fault: &StoreFault) -> OpenError {
    let path = log_dir.to_owned();
    let source = fault.refusal().unwrap_or_else(|| io::Error::other(fault.to_string()));
    OpenError::Io { path, what: "cannot read or write the order log", source }
}

/// Creates a new generation of the store with `content`, and makes the generation current. A failure
/// discards the generation.
pub(crate) fn make(
    log_dir: &Path,
    generation: u64,
    id: u64,
    durability: Durability,
    content: &Content,
) -> Result<Store, StoreFault> {
    let made = fill(log_dir, generation, id, durability, content);
    if made.is_err() {
        Store::discard(log_dir, generation);
    }
    made
}

fn fill(
    log_dir: &Path,
    generation: u64,
    id: u64,
    durability: Durability,
    content: &Content,
) -> Result<Store, StoreFault> {
    let store = Store::create(log_dir, generation, id, durability)?;
    if content.commits.is_empty() && content.last_commit > 0 {
        store.write(Some((content.last_commit, &[])), &[], &[])?;
    }
    for (number, claims) in &content.commits {
        store.write(Some((*number, claims)), &[], &[])?;
    }
    for (key, value) in &content.entries {
        store.write(None, &[Change { key: key.clone(), value: Some(value.clone()) }], &[])?;
    }
    store.make_current()?;
    Ok(store)
}

/// Returns the faults of an absent log, given the evidence in the database.
fn absence(witness: &LogEvidence) -> Vec<String> {
    match (witness.log_id, witness.clean_stop) {
        (None, _) => Vec::new(),
        (Some(_), Some(CleanStop { pending: 0, .. })) => {
            tracing::warn!(
                "the order log is missing after a clean stop: created a new one; all users have to log in again"
            );
            Vec::new()
        }
        (Some(_), Some(stop)) => vec![format!("the log is missing, with {} accepted claims", stop.pending)],
        (Some(_), None) => vec!["the log is missing, and the last stop was not clean".to_owned()],
    }
}

/// A commit as read: number of parts expected and found.
#[derive(Debug, Default)]
pub(super) struct Commit {
    parts: u16,
    found: u16,
    /// Whether the parts disagree on the number of parts.
    is_torn: bool,
    claims: Vec<Claim>,
}

impl Commit {
    fn add(&mut self, part: Part) {
        self.is_torn |= self.found > 0 && self.parts != part.parts;
        self.parts = part.parts;
        self.found = self.found.saturating_add(1);
        self.claims.extend(part.claims);
    }

    fn is_whole(&self) -> bool {
        self.found == self.parts && !self.is_torn
    }

    /// Returns the number of missing parts.
    pub(super) fn missing(&self) -> u64 {
        if self.is_whole() { 0 } else { u64::from(self.parts.saturating_sub(self.found)).max(1) }
    }

    pub(super) fn claims(&self) -> u64 {
        self.claims.len() as u64
    }
}

/// Parts of commits from one or more stores. Each part has its own checksum, so duplicates are identical.
#[derive(Default)]
pub(super) struct Parts(BTreeMap<(u64, u16), Part>);

impl Parts {
    /// Adds the parts of a store, unless the store belongs to another log. Returns the faults found.
    pub(super) fn add(&mut self, store: &Store, witness: &LogEvidence) -> Result<Vec<String>, StoreFault> {
        let mut faults = Vec::new();
        match store.id() {
            Ok(id) if witness.log_id.is_none() || id == witness.log_id => {}
            Ok(None) => faults.push("none of the log is readable".to_owned()),
            Ok(Some(_)) => return Ok(vec!["the log belongs to another mall".to_owned()]),
            Err(fault) => note(fault, &mut faults)?,
        }
        let scan = store.claims(|key, value| match codec::decode(key, value) {
            Ok(part) => drop(self.0.insert((part.commit, part.part), part)),
            Err(fault) => faults.push(format!("{fault}, at key {}", hex(key))),
        });
        scan.or_else(|fault| note(fault, &mut faults))?;
        Ok(faults)
    }

    pub(super) fn commits(self) -> BTreeMap<u64, Commit> {
        let mut commits: BTreeMap<u64, Commit> = BTreeMap::new();
        for ((number, _), part) in self.0 {
            commits.entry(number).or_default().add(part);
        }
        commits
    }
}

/// Returns the readable entries of a store, and records faults.
pub(super) fn entries(store: &Store, faults: &mut Vec<String>) -> Result<Entries, StoreFault> {
    let mut entries = Vec::new();
    let scan = store.entries(|key, value| entries.push((key.to_vec(), value.to_vec())));
    scan.or_else(|fault| note(fault, faults))?;
    Ok(entries)
}

/// Records damage. A refusal of the system is no damage and is returned as an error.
fn note(fault: StoreFault, faults: &mut Vec<String>) -> Result<(), StoreFault> {
    if fault.refusal().is_some() {
        return Err(fault);
    }
    faults.push(fault.to_string());
    Ok(())
}

/// Separates settled commits, live commits and a torn tail, and records gaps as faults.
pub(super) fn sort_out(
    commits: BTreeMap<u64, Commit>,
    witness: &LogEvidence,
    content: &mut Content,
    faults: &mut Vec<String>,
) {
    let highest = commits.last_key_value().map_or(0, |(number, _)| *number);
    if highest.max(witness.applied).max(witness.seen) == u64::MAX {
        faults.push("the log's commit numbers are used up".to_owned());
    }
    for (number, commit) in commits {
        if number <= witness.applied {
            content.leftovers.insert(number, commit.parts);
        } else if commit.is_whole() {
            content.commits.insert(number, commit.claims);
        } else if number == highest && number > witness.seen {
            // Being written at the moment of the crash, so no client got a response.
            tracing::info!(commit = number, "dropping an unfinished commit at the end of the order log");
            content.leftovers.insert(number, commit.parts);
            continue;
        } else {
            faults.push(format!("commit {number} has {} of its {} parts", commit.found, commit.parts));
            // The remaining claims had been acknowledged.
            content.commits.insert(number, commit.claims);
        }
        content.last_commit = number;
    }
    let mut last = witness.applied;
    for number in content.commits.keys() {
        if number - last > 1 {
            faults.push(format!("commits {} to {} are missing", last + 1, number - 1));
        }
        last = *number;
    }
    let seen = witness.seen.max(witness.applied);
    if content.last_commit < seen {
        faults.push(format!(
            "the log ends at commit {}, but the database contains commit {seen}",
            content.last_commit
        ));
    }
    if let Some(stop) = witness.clean_stop
        && content.last_commit != stop.last_commit
        && content.last_commit >= seen
    {
        faults.push(format!(
            "the log ends at commit {}, but the mall stopped at commit {}",
            content.last_commit, stop.last_commit
        ));
    }
}

/// Returns the content and the faults of parts given in key order.
#[cfg(any(test, fuzzing))]
pub(super) fn sorted_out(
    parts: impl IntoIterator<Item = Part>,
    witness: &LogEvidence,
) -> (Content, Vec<String>) {
    let (mut content, mut faults) = (Content::default(), Vec::new());
    let mut commits: BTreeMap<u64, Commit> = BTreeMap::new();
    for part in parts {
        commits.entry(part.commit).or_default().add(part);
    }
    sort_out(commits, witness, &mut content, &mut faults);
    (content, faults)
}

/// Removes settled commits except the last one, and an unfinished commit, before its number is used again.
fn drop_settled(store: &Store, content: &mut Content, witness: &LogEvidence) -> Result<(), StoreFault> {
    let last = content.last_commit;
    let gone: Vec<(u64, u16)> = content
        .leftovers
        .iter()
        .filter(|(number, _)| **number != last)
        .map(|(n, parts)| (*n, *parts))
        .collect();
    content.leftovers.retain(|number, _| *number == last);
    content.last_commit = last.max(witness.applied);
    store.write(None, &[], &gone)?;
    if store.durability() > Durability::Memory { store.sync() } else { Ok(()) }
}

/// Moves a damaged log to `lost-<n>`, for later inspection.
pub(super) fn set_aside(log_dir: &Path) -> io::Result<()> {
    if !log_dir.exists() {
        return Ok(());
    }
    let aside = (1..)
        .map(|number| log_dir.with_extension(format!("lost-{number}")))
        .find(|path| !path.exists())
        .expect("generation numbers cannot run out");
    fs::rename(log_dir, aside)
}
