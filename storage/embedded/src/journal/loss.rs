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

use super::contents::{self, Commit, Content, LogEvidence, OpenFault, Parts};
use super::store::{self, Store, StoreFault};

/// Upper bound on commits lost between two writes of the database. A larger gap means that the evidence
/// itself is damaged.
const MISSING_COMMITS_MAX: u64 = 1 << 20;

/// Contents salvaged from a damaged log, and the loss.
struct Salvage {
    content: Content,
    loss: Option<LogLoss>,
}

/// Returns the refusal of a damaged log, with the number of claims that a start without them would drop.
pub(super) fn refused(
    log_dir: &Path,
    witness: &LogEvidence,
    faults: &[String],
) -> Result<OpenError, StoreFault> {
    Ok(refusal(log_dir, faults, salvage(log_dir, witness)?.loss))
}

/// Replaces a damaged log by a new one if `accepted` is the number of lost claims. The damaged log is set
/// aside. `make` writes the new log at [`replacement`].
///
/// A crash at any point leaves either the damaged or the new log; [`finish_replacement`] completes the
/// replacement.
pub(super) fn accept(
    log_dir: &Path,
    witness: &LogEvidence,
    faults: &[String],
    accepted: Option<u64>,
    make: impl FnOnce(&Content) -> Result<(), StoreFault>,
) -> Result<(), OpenFault> {
    let Salvage { mut content, loss } = salvage(log_dir, witness)?;
    let Some(known) = loss.filter(|loss| accepted == Some(loss.number())) else {
        return Err(OpenFault::Final(refusal(log_dir, faults, loss)));
    };
    tracing::warn!(
        commits = known.commits,
        claims = known.claims,
        detail = faults.join("; "),
        "starting without the lost part of the order log, as accepted"
    );
    fill_gaps(&mut content, witness);
    let new = replacement(log_dir);
    store::remove_dir(&new)?;
    make(&content)?;
    contents::set_aside(log_dir)?;
    fs::rename(&new, log_dir)?;
    sync_parent(log_dir)?;
    Ok(())
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

/// Reads all remaining generations of the store from their logs alone: a snapshot only speeds up opening,
/// and may be the damaged part.
fn salvage(log_dir: &Path, witness: &LogEvidence) -> Result<Salvage, StoreFault> {
    let (mut parts, mut faults, mut sessions) = (Parts::default(), Vec::new(), None);
    let stores = Store::salvage(log_dir)?;
    for store in &stores {
        let of_store = parts.add(store, witness)?;
        if of_store.is_empty() && sessions.is_none() {
            sessions = Some(contents::entries(store, &mut faults)?);
        }
        faults.extend(of_store);
    }
    let commits = parts.commits();
    let loss = lost(&commits, witness, stores.is_empty() || !faults.is_empty());
    let mut content = Content { entries: sessions.unwrap_or_default(), ..Content::default() };
    contents::sort_out(commits, witness, &mut content, &mut faults);
    Ok(Salvage { content, loss })
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
