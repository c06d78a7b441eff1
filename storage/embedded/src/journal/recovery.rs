//! Recovery of the log at start: the expected contents against the contents found.
//!
//! A new log is made beside a damaged log, which is set aside afterwards: a power cut at any moment leaves
//! a log to start from. Without room on the disk, a copy of the log on another file system is opened.
//!
//! Reasons and figures: `storage/decisions/0001-sled-and-sqlite.md`,
//! `storage/decisions/0005-start-without-room.md`.

use std::io;
use std::path::Path;

use mallbox_storage::{Durability, OpenError};

use super::contents::{CleanStop, Content, LogEvidence, OpenFault, Parts, entries, set_aside, sort_out};
use super::loss;
use super::store::{Change, Store, StoreFault};
use crate::disk::Disk;

/// A recovered or newly created log.
#[derive(Debug)]
pub(crate) struct Recovered {
    pub(crate) store: Store,
    pub(crate) log_id: u64,
    pub(crate) content: Content,
    /// Why the log could not be opened in place: too little free space on its disk. Then `store` is a copy.
    pub(crate) shortage: Option<String>,
}

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
    let explain = |fault: StoreFault| explained(log_dir, &fault);
    loss::finish_replacement(log_dir).map_err(|error| explain(error.into()))?;
    let id = witness.log_id.unwrap_or(new_id);
    if disk.shortage().is_none() {
        match in_place(log_dir, witness, durability, accepted, id) {
            Err(OpenFault::Store(fault)) if fault.is_full() => {
                tracing::warn!(%fault, "the disk became full while opening the order log");
            }
            Err(OpenFault::Store(fault)) => return Err(explain(fault)),
            Err(OpenFault::Final(error)) => return Err(error),
            Ok(recovered) => return Ok(recovered),
        }
    }
    from_copy(disk, witness, accepted, id).map_err(|fault| match fault {
        OpenFault::Store(fault) => explain(fault),
        OpenFault::Final(error) => error,
    })
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
        return Err(OpenFault::Final(loss::refused(log_dir, witness, &faults)?));
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
