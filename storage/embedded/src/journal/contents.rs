//! Contents of a log as read from its stores, compared with the evidence in the database.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use mallbox_storage::{Claim, OpenError, hex};

use super::codec::{self, Part};
use super::store::{Store, StoreFault};

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
    /// The store contains all changes up to this commit; `None` in the log of a former version.
    pub(crate) checkpoint: Option<u64>,
}

impl LogEvidence {
    /// Returns the highest commit known to have been in the log.
    pub(super) fn last_known(&self) -> u64 {
        let stopped_at = self.clean_stop.map_or(0, |stop| stop.last_commit);
        self.applied.max(self.seen).max(stopped_at).max(self.checkpoint.unwrap_or(0))
    }

    /// Returns the first commit that the write-ahead log must contain.
    pub(super) fn needed_from(&self) -> u64 {
        self.applied.min(self.checkpoint.unwrap_or(self.applied)).saturating_add(1)
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
pub(crate) type Entries = Vec<(Vec<u8>, Vec<u8>)>;

/// Why a log was not opened: a fault of the store, or an error to return unchanged.
pub(super) enum OpenFault {
    Store(StoreFault),
    Final(OpenError),
}

impl<E: Into<StoreFault>> From<E> for OpenFault {
    fn from(error: E) -> Self {
        Self::Store(error.into())
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
    /// Makes a commit of all its claims.
    pub(super) fn whole(claims: Vec<Claim>) -> Self {
        Self { parts: 1, found: 1, is_torn: false, claims }
    }

    fn add(&mut self, part: Part) {
        self.is_torn |= self.found > 0 && self.parts != part.parts;
        self.parts = part.parts;
        self.found = self.found.saturating_add(1);
        self.claims.extend(part.claims);
    }

    pub(super) fn is_whole(&self) -> bool {
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

/// Returns entries after changes, in the order of their keys.
pub(super) fn with_changes(
    entries: Entries,
    changes: impl IntoIterator<Item = (Vec<u8>, Option<Vec<u8>>)>,
) -> Entries {
    let mut after: BTreeMap<Vec<u8>, Vec<u8>> = entries.into_iter().collect();
    for (key, value) in changes {
        match value {
            Some(value) => drop(after.insert(key, value)),
            None => drop(after.remove(&key)),
        }
    }
    after.into_iter().collect()
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

/// Moves a damaged log to `lost-<n>`, for later inspection.
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
