//! Recovery of the log at start: the expected contents against the contents found.
//!
//! Claims and changes are read from the write-ahead log, and from the sled store what the write-ahead log
//! no longer has. A store that does not open is made anew. A new log is made beside a damaged log, which is
//! set aside afterwards: a power cut at any moment leaves a log to start from. Without room on the disk, a
//! copy of the store on another file system is opened.
//!
//! Reasons and figures: `storage/decisions/0001-sled-and-sqlite.md`,
//! `storage/decisions/0005-start-without-room.md`.

use std::io;
use std::path::Path;

use mallbox_storage::{Durability, OpenError};

use super::backlog::Changes;
use super::contents::{Content, LogEvidence, OpenFault, set_aside};
use super::found::{Found, find};
use super::kept_store::StoreAtStart;
use super::log_wal::LogWal;
use super::loss;
use super::opening::Opening;
use super::store::{self, Store, StoreFault, StoreOptions};
use crate::disk::Disk;

/// A recovered or newly created log.
#[derive(Debug)]
pub(crate) struct Recovered {
    pub(super) wal: LogWal,
    pub(super) store: StoreAtStart,
    /// Changes that the store does not contain yet.
    pub(super) changes: Changes,
    pub(crate) log_id: u64,
    pub(crate) content: Content,
    /// Why the log could not be opened in place: too little free space on its disk.
    pub(crate) shortage: Option<String>,
}

impl Recovered {
    /// Opens the write-ahead log for writing. To be called once the database knows of the log.
    ///
    /// # Errors
    /// [`OpenError::Io`] if the system refuses an operation.
    pub(crate) fn open(&mut self, log_dir: &Path) -> Result<(), OpenError> {
        let opened = self.wal.opened().map(drop);
        opened.map_err(|error| explained(log_dir, &StoreFault::from(error)))
    }
}

/// Reads the log on its disk, or creates one where none is expected.
///
/// With too little free space, a copy of the store elsewhere is opened: sled writes to a store on opening,
/// and a full disk in the middle of a write would damage the store.
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
    store: StoreOptions,
    accepted: Option<u64>,
    new_id: u64,
) -> Result<Recovered, OpenError> {
    let log_dir = disk.dir();
    let explain = |fault: StoreFault| explained(log_dir, &fault);
    loss::finish_replacement(log_dir).map_err(|error| explain(error.into()))?;
    let opening = Opening { disk, witness, store, id: witness.log_id.unwrap_or(new_id) };
    if disk.shortage().is_none() {
        match in_place(opening, accepted) {
            Err(OpenFault::Store(fault)) if fault.is_full() => {
                tracing::warn!(%fault, "the disk became full while opening the order log");
            }
            Err(OpenFault::Store(fault)) => return Err(explain(fault)),
            Err(OpenFault::Final(error)) => return Err(error),
            Ok(recovered) => return Ok(recovered),
        }
    }
    without_room(opening, accepted).map_err(|fault| match fault {
        OpenFault::Store(fault) => explain(fault),
        OpenFault::Final(error) => error,
    })
}

/// Creates a log with `content`, where there is none.
///
/// # Errors
/// [`OpenError::Io`] if the system refuses an operation.
pub(crate) fn create(
    disk: &Disk,
    witness: &LogEvidence,
    content: &Content,
    id: u64,
) -> Result<(), OpenError> {
    let opening = Opening { disk, witness, store: StoreOptions::usual(Durability::Power), id };
    let made = loss::make(opening, disk.dir(), content);
    made.map_err(|fault| explained(disk.dir(), &fault))
}

fn in_place(opening: Opening<'_>, accepted: Option<u64>) -> Result<Recovered, OpenFault> {
    let Opening { disk, witness, store, .. } = opening;
    let log_dir = disk.dir();
    let found = find(opening, Store::open(log_dir, store))?;
    if !found.faults.is_empty() {
        loss::replace(Opening { id: found.log_id, ..opening }, found, accepted)?;
        // The new log may end at a later commit than the last clean stop.
        let witness = LogEvidence { clean_stop: None, ..*witness };
        return in_place(Opening { witness: &witness, ..opening }, None);
    }
    if found.store.is_none() && found.wal.found().is_new && store::last_generation(log_dir) > 0 {
        set_aside(log_dir)?;
    }
    let mut recovered = taken_over(found, witness, StoreAtStart::Open);
    if recovered.wal.found().is_new {
        if let StoreAtStart::Open(store) = &recovered.store {
            // The store of a former version has all changes, whatever its position.
            store.set_position(witness.last_known())?;
            store.sync()?;
        }
        recovered.wal.opened()?;
        recovered.content.last_commit = recovered.wal.last();
    }
    Ok(recovered)
}

/// Reads a log whose disk has too little free space. The operator has to free space first, even for a
/// damaged log.
fn without_room(opening: Opening<'_>, accepted: Option<u64>) -> Result<Recovered, OpenFault> {
    let Opening { disk, witness, .. } = opening;
    let shortage = disk.shortage().unwrap_or_else(|| disk.room());
    let found = find(opening, Store::open_copy(disk.dir()))?;
    if !found.faults.is_empty() && accepted.is_some() {
        return Err(OpenFault::Store(io::Error::new(io::ErrorKind::StorageFull, shortage).into()));
    }
    if !found.faults.is_empty() {
        return Err(OpenFault::Final(loss::refused(opening, &found)?));
    }
    Ok(Recovered { shortage: Some(shortage), ..taken_over(found, witness, StoreAtStart::Copy) })
}

/// Takes over what was found of a log without faults. A new write-ahead log will begin with all of it.
fn taken_over(found: Found, witness: &LogEvidence, kept: fn(Store) -> StoreAtStart) -> Recovered {
    let Found { log_id, mut wal, store, changes, mut content, .. } = found;
    if wal.found().is_new {
        loss::fill_gaps(&mut content, witness);
        wal.begin_with(loss::records(&content, witness));
    }
    content.last_commit = wal.last().max(content.last_commit);
    let store = store.map_or_else(|| StoreAtStart::Missing(content.entries.clone()), kept);
    Recovered { wal, store, changes, log_id, content, shortage: None }
}

/// Converts a fault of the store to an error. A refusal of the system is reported as such.
pub(super) fn explained(log_dir: &Path, fault: &StoreFault) -> OpenError {
    let path = log_dir.to_owned();
    let source = fault.refusal().unwrap_or_else(|| io::Error::other(fault.to_string()));
    OpenError::Io { path, what: "cannot read or write the order log", source }
}
