//! What is found of a log at start: the write-ahead log and the store against the evidence in the database.

use std::ops::RangeInclusive;

use mallbox_storage_wal::{Damage, Evidence, Recovery};

use super::backlog::Changes;
use super::contents::{CleanStop, Content, Entries, LogEvidence, Parts, entries, sort_out, with_changes};
use super::log_wal::LogWal;
use super::opening::Opening;
use super::record;
use super::store::{Store, StoreFault, StoreOptions};

/// A log as opened and read, with its faults.
pub(super) struct Found {
    pub(super) log_id: u64,
    pub(super) wal: LogWal,
    /// The store, unless it has to be made anew.
    pub(super) store: Option<Store>,
    pub(super) content: Content,
    /// Changes that the store does not contain.
    pub(super) changes: Changes,
    pub(super) faults: Vec<String>,
    /// Whether this is the log of a former version, in the store alone.
    pub(super) is_former: bool,
}

impl Found {
    /// Returns the numbers of the commits that the write-ahead log lost, if nothing else is wrong with it.
    ///
    /// Only a clean stop tells what was in the last segment.
    pub(super) fn lost_commits(&self, witness: &LogEvidence) -> Option<Vec<RangeInclusive<u64>>> {
        let damage = &self.wal.found().damage;
        if self.faults.len() != damage.len() {
            return None;
        }
        let is_known = witness.clean_stop.is_some();
        let lost = damage.iter().filter(|damage| !(is_known && matches!(damage, Damage::Segment(_))));
        let numbers = lost.map(|damage| match damage {
            Damage::Records(numbers) => Some(numbers.clone()),
            Damage::Segment(_) | Damage::Epoch(_) | Damage::Foreign(_) => None,
        });
        numbers.collect()
    }
}

/// Reads a log with an opened store. Refusals of the system are returned as errors; any other fault counts as
/// damage.
pub(super) fn find(
    opening: Opening<'_>,
    opened: Result<Option<Store>, StoreFault>,
) -> Result<Found, StoreFault> {
    let Opening { disk, witness, store: StoreOptions { durability, .. }, id } = opening;
    let store = match opened {
        Err(fault) if fault.refusal().is_some() => return Err(fault),
        opened => opened.map_err(|fault| fault.to_string()),
    };
    let position = position(&store, witness);
    let needed_from = witness.needed_from();
    let kept_from = if position.is_ok() { needed_from } else { 1 };
    let id_of_store = || store.as_ref().ok()?.as_ref()?.id().ok()?;
    let id = witness.log_id.or_else(id_of_store).unwrap_or(id);
    let evidence = Evidence { log_id: id, needed_from, kept_from, seen: 0 };
    let read =
        |log_id, seen| LogWal::read(disk.dir(), disk, durability, &Evidence { log_id, seen, ..evidence });
    let mut wal = read(id, 0)?;
    let id = if witness.log_id.is_none() { wal.found().log_id() } else { id };
    if id != evidence.log_id {
        // A first start that was cut short before the database knew of its log.
        wal = read(id, 0)?;
    }
    if wal.found().is_new && witness.checkpoint.is_none() {
        return former(wal, store, id, witness);
    }
    let seen = witness.last_known().max(*position.as_ref().unwrap_or(&0));
    let wal = if wal.found().last < seen && !wal.found().is_new { read(id, seen)? } else { wal };
    let usable = position.and_then(|_| {
        let Ok(Some(store)) = store else { return Err("it is missing".to_owned()) };
        let mut faults = Vec::new();
        match entries(&store, &mut faults) {
            Ok(entries) if faults.is_empty() => Ok((store, entries)),
            Ok(_) => Err(faults.join("; ")),
            Err(fault) => Err(fault.to_string()),
        }
    });
    Ok(current(wal, usable, id, witness))
}

/// Returns the position of a store that has all changes that the write-ahead log may have released; else why
/// the store is of no use.
fn position(store: &Result<Option<Store>, String>, witness: &LogEvidence) -> Result<u64, String> {
    let store = match store {
        Ok(Some(store)) => store,
        Ok(None) => return Err("it is missing".to_owned()),
        Err(fault) => return Err(fault.clone()),
    };
    let id = store.id().map_err(|fault| fault.to_string())?;
    if id.is_none() || (witness.log_id.is_some() && id != witness.log_id) {
        return Err("it belongs to another mall".to_owned());
    }
    let position = store.position().map_err(|fault| fault.to_string())?.unwrap_or(0);
    let checkpoint = witness.checkpoint.unwrap_or(0);
    if position < checkpoint {
        return Err(format!("it ends at commit {position}, but the database knows its commit {checkpoint}"));
    }
    Ok(position)
}

/// Reads the log of a former version, which consists of the store alone.
fn former(
    wal: LogWal,
    store: Result<Option<Store>, String>,
    log_id: u64,
    witness: &LogEvidence,
) -> Result<Found, StoreFault> {
    let (mut content, mut faults, mut kept) = (Content::default(), Vec::new(), None);
    match store {
        Ok(Some(store)) => {
            let mut parts = Parts::default();
            faults = parts.add(&store, witness)?;
            content.entries = entries(&store, &mut faults)?;
            sort_out(parts.commits(), witness, &mut content, &mut faults);
            kept = Some(store);
        }
        Ok(None) => faults = absence(witness),
        Err(fault) => faults.push(fault),
    }
    Ok(Found { log_id, wal, store: kept, content, changes: Changes::new(), faults, is_former: true })
}

/// Reads a write-ahead log, and what it lacks from the store.
fn current(
    wal: LogWal,
    usable: Result<(Store, Entries), String>,
    log_id: u64,
    witness: &LogEvidence,
) -> Found {
    let found = wal.found();
    let mut faults: Vec<String> = found.damage.iter().map(described).collect();
    if found.is_new {
        faults.extend(absence(witness));
    }
    if let Some(CleanStop { last_commit, .. }) = witness.clean_stop
        && found.last > last_commit
        && witness.checkpoint.is_some()
    {
        faults.push(format!(
            "the log ends at commit {}, but the mall stopped at commit {last_commit}",
            found.last
        ));
    }
    let mut content = Content { last_commit: found.last.max(witness.last_known()), ..Content::default() };
    let replayed_from = match &usable {
        Ok(_) => witness.checkpoint.unwrap_or(witness.applied).saturating_add(1),
        Err(_) => first_without_gap(found),
    };
    let mut changes = Changes::new();
    for stored in &found.records {
        let body = match record::decode(&stored.body) {
            Ok(body) => body,
            Err(fault) => {
                faults.push(format!("commit {} is {fault}", stored.number));
                continue;
            }
        };
        if stored.number > witness.applied {
            content.commits.insert(stored.number, body.claims);
        }
        if stored.number >= replayed_from {
            changes.extend(body.changes.into_iter().map(|change| (change.key, change.value)));
        }
    }
    let store = match usable {
        Ok((store, entries)) => {
            content.entries =
                with_changes(entries, changes.iter().map(|(key, value)| (key.clone(), value.clone())));
            Some(store)
        }
        Err(reason) => {
            content.entries = with_changes(Entries::new(), std::mem::take(&mut changes));
            if witness.checkpoint.is_some_and(|checkpoint| checkpoint > 0) && faults.is_empty() {
                warn_of_rebuilding(&reason, &content, replayed_from);
            }
            None
        }
    };
    Found { log_id, wal, store, content, changes, faults, is_former: false }
}

/// Describes damage of the write-ahead log. A record is a commit.
fn described(damage: &Damage) -> String {
    match damage {
        Damage::Records(numbers) if numbers.start() == numbers.end() => {
            format!("commit {} is missing or unreadable", numbers.start())
        }
        Damage::Records(numbers) => {
            format!("commits {} to {} are missing or unreadable", numbers.start(), numbers.end())
        }
        Damage::Foreign(_) => "the log belongs to another mall".to_owned(),
        Damage::Segment(_) | Damage::Epoch(_) => damage.to_string(),
    }
}

/// Returns the first of the records that are all there up to the last. Behind a gap, a change may be missing
/// that ended a session.
fn first_without_gap(found: &Recovery) -> u64 {
    let mut first = found.last.saturating_add(1);
    for stored in found.records.iter().rev() {
        if stored.number.saturating_add(1) != first {
            break;
        }
        first = stored.number;
    }
    first
}

fn warn_of_rebuilding(reason: &str, content: &Content, first: u64) {
    let claims: usize = content.commits.values().map(Vec::len).sum();
    let sessions_and_codes = content.entries.len();
    tracing::warn!(
        reason,
        claims,
        sessions_and_codes,
        "the order log's store is unusable, and is made anew from the write-ahead log: no accepted claim is lost"
    );
    if first > 1 {
        tracing::warn!(
            "the write-ahead log has the {sessions_and_codes} newest sessions and codes, from commit {first} on; \
             all other users have to log in again"
        );
    }
}

/// Returns the faults of an absent log, given the evidence in the database.
fn absence(witness: &LogEvidence) -> Vec<String> {
    match (witness.log_id, witness.clean_stop) {
        (None, _) => Vec::new(),
        (Some(_), Some(CleanStop { pending: 0, .. })) => {
            tracing::warn!(
                "the order log is missing after a clean stop: created a new one; users may have to log in again"
            );
            Vec::new()
        }
        (Some(_), Some(stop)) => vec![format!("the log is missing, with {} accepted claims", stop.pending)],
        (Some(_), None) => vec!["the log is missing, and the last stop was not clean".to_owned()],
    }
}
