//! What the log must hold at start, and what it does hold.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use super::codec::{self, Part};
use super::loss;
use super::store::{Change, Store, StoreFault};
use crate::embedded::disk::Disk;
use crate::{Claim, Durability, OpenError, hex};

/// What the record knows about the log: written in the same transactions as the orders.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Witness {
    /// The log's id; `None` in a new mall.
    pub(crate) log_id: Option<u64>,
    /// Every claim of every commit up to this one is an order or a dead letter.
    pub(crate) applied: u64,
    /// The highest commit of which a claim has reached the record.
    pub(crate) seen: u64,
    /// How the mall stopped, if it stopped in order.
    pub(crate) clean_stop: Option<CleanStop>,
}

impl Witness {
    /// The highest commit that the log is known to have had.
    pub(super) fn last_known(&self) -> u64 {
        let stopped_at = self.clean_stop.map_or(0, |stop| stop.last_commit);
        self.applied.max(self.seen).max(stopped_at)
    }
}

/// How a mall stopped in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CleanStop {
    /// The last commit there was.
    pub(crate) last_commit: u64,
    /// Claims that were still pending.
    pub(crate) pending: u64,
}

/// The log as found, or made.
#[derive(Debug)]
pub(crate) struct Recovered {
    pub(crate) store: Store,
    pub(crate) log_id: u64,
    pub(crate) content: Content,
    /// Why the log could not be opened where it is: there is too little room on its disk. `store` is a copy then.
    pub(crate) shortage: Option<String>,
}

/// What a log holds.
#[derive(Debug, Default)]
pub(crate) struct Content {
    /// Commits above the mark, without a gap, with their claims.
    pub(crate) commits: BTreeMap<u64, Vec<Claim>>,
    /// The highest commit there has been. Its record stays until there is a higher one.
    pub(crate) last_commit: u64,
    /// Settled commits that are still on the disk, with their parts.
    pub(crate) leftovers: BTreeMap<u64, u16>,
    /// Sessions and login codes.
    pub(crate) entries: Entries,
}

/// Keys and their values.
type Entries = Vec<(Vec<u8>, Vec<u8>)>;

/// A log as it was opened and read, with what is wrong with it.
struct Found {
    store: Option<Store>,
    content: Content,
    faults: Vec<String>,
}

/// Opens the log on its disk, or makes one where there may be none.
///
/// Where there is too little room for claims, sled is kept off the log, and a copy elsewhere is read: sled writes to
/// what it opens, and a full disk in the middle of that would spoil the log.
///
/// What is damaged or missing is an error that says what would be lost, unless `accepted` is just that: then what can
/// still be read goes into a new log, and the damaged one is set aside. What the system refuses is no damage.
pub(crate) fn recover(
    disk: &Disk,
    witness: &Witness,
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
                tracing::warn!(%fault, "the disk filled up while the order log was opened");
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

/// Why a log was not opened: what its store hit, or what is to be told as it is.
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
    witness: &Witness,
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
        // The new log is an ordinary one, but for where it ends.
        return in_place(log_dir, &Witness { clean_stop: None, ..*witness }, durability, None, id);
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

/// Reads a log whose disk has too little room. The room is what has to be found first, also for a log that is damaged.
fn from_copy(disk: &Disk, witness: &Witness, accepted: Option<u64>, id: u64) -> Result<Recovered, OpenFault> {
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

/// Reads what was opened. What the system refused is passed on; all else that is wrong counts as damage.
fn find(opened: Result<Option<Store>, StoreFault>, witness: &Witness) -> Result<Found, StoreFault> {
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

/// What to tell of a store that cannot be worked with: a refusal of the system's as such.
fn explained(log_dir: &Path, fault: &StoreFault) -> OpenError {
    let path = log_dir.to_owned();
    let source = fault.refusal().unwrap_or_else(|| io::Error::other(fault.to_string()));
    OpenError::Io { path, what: "cannot read or write the order log", source }
}

/// Makes a new generation that holds `content`, and makes it the current one.
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

/// What is wrong with there being no log.
fn absence(witness: &Witness) -> Vec<String> {
    match (witness.log_id, witness.clean_stop) {
        (None, _) => Vec::new(),
        (Some(_), Some(CleanStop { pending: 0, .. })) => {
            tracing::warn!(
                "the order log is missing after a stop in order: made anew; everybody has to log in again"
            );
            Vec::new()
        }
        (Some(_), Some(stop)) => vec![format!("it is missing, with {} accepted claims in it", stop.pending)],
        (Some(_), None) => vec!["it is missing, and the mall did not stop in order".to_owned()],
    }
}

/// A commit as it is read: how many parts it should have, and has.
#[derive(Debug, Default)]
pub(super) struct Commit {
    parts: u16,
    found: u16,
    /// Its parts do not agree on how many they are.
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

    /// Parts that are not there.
    pub(super) fn missing(&self) -> u64 {
        if self.is_whole() { 0 } else { u64::from(self.parts.saturating_sub(self.found)).max(1) }
    }

    pub(super) fn claims(&self) -> u64 {
        self.claims.len() as u64
    }
}

/// The parts of commits that stores hold. Each carries its own checksum, so one that is there twice is the same.
#[derive(Default)]
pub(super) struct Parts(BTreeMap<(u64, u16), Part>);

impl Parts {
    /// Adds what a store holds, unless it is of another log, and says what is wrong with it.
    pub(super) fn add(&mut self, store: &Store, witness: &Witness) -> Result<Vec<String>, StoreFault> {
        let mut faults = Vec::new();
        match store.id() {
            Ok(id) if witness.log_id.is_none() || id == witness.log_id => {}
            Ok(None) => faults.push("nothing of what was in it can be read".to_owned()),
            Ok(Some(_)) => return Ok(vec!["it belongs to another mall".to_owned()]),
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

/// The entries of a store, as far as they can be read.
pub(super) fn entries(store: &Store, faults: &mut Vec<String>) -> Result<Entries, StoreFault> {
    let mut entries = Vec::new();
    let scan = store.entries(|key, value| entries.push((key.to_vec(), value.to_vec())));
    scan.or_else(|fault| note(fault, faults))?;
    Ok(entries)
}

/// Notes damage; what the system refused is none.
fn note(fault: StoreFault, faults: &mut Vec<String>) -> Result<(), StoreFault> {
    if fault.refusal().is_some() {
        return Err(fault);
    }
    faults.push(fault.to_string());
    Ok(())
}

/// Tells settled commits, live ones and a torn tail apart, and finds what is missing.
pub(super) fn sort_out(
    commits: BTreeMap<u64, Commit>,
    witness: &Witness,
    content: &mut Content,
    faults: &mut Vec<String>,
) {
    let highest = commits.last_key_value().map_or(0, |(number, _)| *number);
    if highest.max(witness.applied).max(witness.seen) == u64::MAX {
        faults.push("its numbers are used up".to_owned());
    }
    for (number, commit) in commits {
        if number <= witness.applied {
            content.leftovers.insert(number, commit.parts);
        } else if commit.is_whole() {
            content.commits.insert(number, commit.claims);
        } else if number == highest && number > witness.seen {
            // Being written when the mall went down, so nobody was answered.
            tracing::info!(commit = number, "an unfinished commit at the end of the order log is dropped");
            content.leftovers.insert(number, commit.parts);
            continue;
        } else {
            faults.push(format!("commit {number} has {} of its {} parts", commit.found, commit.parts));
            // What is left of it was answered too.
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
            "it ends at commit {}, but the record has seen commit {seen}",
            content.last_commit
        ));
    }
    if let Some(stop) = witness.clean_stop
        && content.last_commit != stop.last_commit
        && content.last_commit >= seen
    {
        faults.push(format!(
            "it ends at commit {}, but the mall stopped at {}",
            content.last_commit, stop.last_commit
        ));
    }
}

/// What parts in the order of their keys are taken for, and what is wrong with them.
#[cfg(any(test, fuzzing))]
pub(super) fn sorted_out(parts: impl IntoIterator<Item = Part>, witness: &Witness) -> (Content, Vec<String>) {
    let (mut content, mut faults) = (Content::default(), Vec::new());
    let mut commits: BTreeMap<u64, Commit> = BTreeMap::new();
    for part in parts {
        commits.entry(part.commit).or_default().add(part);
    }
    sort_out(commits, witness, &mut content, &mut faults);
    (content, faults)
}

/// Removes settled commits, but the last one, and an unfinished one, before its number is used again.
fn drop_settled(store: &Store, content: &mut Content, witness: &Witness) -> Result<(), StoreFault> {
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

/// Moves a damaged log out of the way, and keeps it for whoever wants to look into it.
pub(super) fn set_aside(log_dir: &Path) -> io::Result<()> {
    if !log_dir.exists() {
        return Ok(());
    }
    let aside = (1..)
        .map(|number| log_dir.with_extension(format!("lost-{number}")))
        .find(|path| !path.exists())
        .expect("there are more numbers than directories");
    fs::rename(log_dir, aside)
}
