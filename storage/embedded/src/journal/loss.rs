//! A damaged or missing log: salvage of readable claims, the count of lost claims, and a start without
//! them.
//!
//! The count reads every store left in the directory, without snapshots of sled and from copies. Only the
//! exact count, passed back with `--accept-lost-log`, starts the mall.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use mallbox_storage::{LogLoss, OpenError};
use mallbox_storage_wal::Evidence;

use super::contents::{self, Commit, Content, LogEvidence, OpenFault, Parts};
use super::found::Found;
use super::log_wal::LogWal;
use super::new_store;
use super::opening::Opening;
use super::record;
use super::store::{self, Store, StoreFault};

/// Upper bound on commits lost between two writes of the database. A larger gap means that the evidence
/// itself is damaged.
const MISSING_COMMITS_MAX: u64 = 1 << 20;

/// Contents salvaged from a damaged log, and the loss.
struct Salvage {
    content: Content,
    loss: Option<LogLoss>,
    /// Whether the store has everything that the write-ahead log lost.
    is_whole: bool,
}

/// Returns the refusal of a damaged log, with the number of claims that a start without them would drop.
pub(super) fn refused(opening: Opening<'_>, found: &Found) -> Result<OpenError, StoreFault> {
    let log_dir = opening.disk.dir();
    Ok(refusal(log_dir, &found.faults, salvage(opening, found)?.loss))
}

/// Replaces a damaged log by a new one if nothing is lost, or if `accepted` is the number of lost claims. The
/// damaged log is set aside.
///
/// A crash at any point leaves either the damaged or the new log; [`finish_replacement`] completes the
/// replacement.
pub(super) fn replace(opening: Opening<'_>, found: Found, accepted: Option<u64>) -> Result<(), OpenFault> {
    let Opening { disk, witness, .. } = opening;
    let log_dir = disk.dir();
    let Salvage { mut content, loss, is_whole } = salvage(opening, &found)?;
    let detail = found.faults.join("; ");
    match loss.filter(|loss| accepted == Some(loss.number())) {
        _ if is_whole => tracing::warn!(
            detail,
            "the write-ahead log is damaged; its store has the lost part, so that nothing is lost"
        ),
        Some(known) => tracing::warn!(
            commits = known.commits,
            claims = known.claims,
            detail,
            "starting without the lost part of the order log, as accepted"
        ),
        None => return Err(OpenFault::Final(refusal(log_dir, &found.faults, loss))),
    }
    if content.entries.is_empty() {
        tracing::warn!("all users have to log in again");
    }
    drop(found);
    fill_gaps(&mut content, witness);
    let new = replacement(log_dir);
    store::remove_dir(&new)?;
    make(opening, &new, &content)?;
    contents::set_aside(log_dir)?;
    fs::rename(&new, log_dir)?;
    sync_parent(log_dir)?;
    Ok(())
}

/// Makes a log with `content` in the directory `new`. The store becomes current last.
pub(super) fn make(opening: Opening<'_>, new: &Path, content: &Content) -> Result<(), StoreFault> {
    let Opening { disk, witness, store, id } = opening;
    let needed_from = witness.needed_from();
    let evidence = Evidence { log_id: id, needed_from, kept_from: needed_from, seen: 0 };
    fs::create_dir_all(new)?;
    let mut wal = LogWal::read(new, disk, store.durability, &evidence)?;
    wal.begin_with(records(content, witness));
    wal.opened()?;
    new_store::make(new, 1, id, store, content).map(drop)
}

/// Returns the records of a new write-ahead log, from the first needed one on.
pub(super) fn records(content: &Content, witness: &LogEvidence) -> Vec<Vec<u8>> {
    let numbers = witness.needed_from()..=content.last_commit;
    let records = numbers.map(|number| {
        let (mut bytes, claims) = (Vec::new(), content.commits.get(&number));
        record::encode(&mut bytes, claims.map_or(&[], Vec::as_slice), &[]);
        bytes
    });
    records.collect()
}

/// Returns the path of a new log before the new log replaces a damaged one.
pub(super) fn replacement(log_dir: &Path) -> PathBuf {
    log_dir.with_extension("new")
}

/// Completes an interrupted replacement: moves a complete new log into place if the damaged one is already
/// set aside, and removes the new log otherwise.
pub(super) fn finish_replacement(log_dir: &Path) -> io::Result<()> {
    let new = replacement(log_dir);
    if !new.try_exists()? {
        return Ok(());
    }
    if log_dir.try_exists()? || !new.join(store::CURRENT).try_exists()? {
        return store::remove_dir(&new);
    }
    fs::rename(&new, log_dir)?;
    sync_parent(log_dir)
}

/// Adds empty commits for missing numbers, so that the next start finds no gap.
pub(super) fn fill_gaps(content: &mut Content, witness: &LogEvidence) {
    content.leftovers.clear();
    content.last_commit = content.last_commit.max(witness.last_known());
    for number in witness.applied + 1..=content.last_commit {
        content.commits.entry(number).or_default();
    }
}

fn refusal(log_dir: &Path, faults: &[String], loss: Option<LogLoss>) -> OpenError {
    OpenError::LostLog { path: log_dir.to_owned(), detail: faults.join("; "), loss }
}

/// Reads what is left: the write-ahead log, and all remaining generations of the store from their logs alone,
/// since a snapshot only speeds up opening, and may be the damaged part.
fn salvage(opening: Opening<'_>, found: &Found) -> Result<Salvage, StoreFault> {
    let Opening { disk, witness, .. } = opening;
    let (mut parts, mut faults, mut sessions) = (Parts::default(), Vec::new(), None);
    let stores = Store::salvage(disk.dir())?;
    for store in &stores {
        let of_store = parts.add(store, witness)?;
        if of_store.is_empty() && sessions.is_none() {
            sessions = Some(contents::entries(store, &mut faults)?);
        }
        faults.extend(of_store);
    }
    let mut commits = parts.commits();
    if found.is_former {
        let loss = lost(&commits, witness, stores.is_empty() || !faults.is_empty());
        let mut content = Content { entries: sessions.unwrap_or_default(), ..Content::default() };
        contents::sort_out(commits, witness, &mut content, &mut faults);
        return Ok(Salvage { content, loss, is_whole: false });
    }
    let position = found.store.as_ref().and_then(|store| store.position().ok()).flatten().unwrap_or(0);
    let is_whole = found.lost_commits(witness).is_some_and(|lost| {
        let mut numbers = lost.into_iter().flatten();
        let is_stored =
            |number| number <= witness.applied || commits.get(&number).is_some_and(Commit::is_whole);
        numbers.all(|number| number <= position && is_stored(number))
    });
    for (number, claims) in &found.content.commits {
        commits.insert(*number, Commit::whole(claims.clone()));
    }
    let loss = lost(&commits, witness, !is_whole);
    let mut content = Content::default();
    contents::sort_out(commits, witness, &mut content, &mut faults);
    if is_whole {
        // A change lost for good may have ended a session: then none is taken over.
        content.entries.clone_from(&found.content.entries);
    }
    Ok(Salvage { content, loss, is_whole })
}

/// Counts missing commits and claims above the `applied` mark. `None` if the gap is too large to be a loss
/// of the log alone.
///
/// A commit without any remaining part counts as one claim, the least possible.
fn lost(commits: &BTreeMap<u64, Commit>, witness: &LogEvidence, is_damaged: bool) -> Option<LogLoss> {
    let highest = commits.last_key_value().map_or(0, |(number, _)| *number);
    let last = highest.max(witness.last_known());
    if last == u64::MAX || last - witness.applied > MISSING_COMMITS_MAX {
        return None;
    }
    let (mut loss, mut kept) = (LogLoss { commits: 0, claims: 0 }, 0);
    for number in witness.applied + 1..=last {
        let missing = commits.get(&number).map_or(1, Commit::missing);
        kept += commits.get(&number).map_or(0, Commit::claims);
        if missing > 0 && !(number == highest && number > witness.last_known()) {
            loss.commits += 1;
            loss.claims += missing;
        }
    }
    let pending = witness.clean_stop.map_or(0, |stop| stop.pending);
    loss.claims = loss.claims.max(pending.saturating_sub(kept)).max(u64::from(is_damaged));
    Some(loss)
}

fn sync_parent(log_dir: &Path) -> io::Result<()> {
    log_dir.parent().map_or(Ok(()), store::sync_all)
}
