//! What the log must hold at start, and what it does hold.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::codec::{self, Part};
use super::store::{Change, Store, StoreFault};
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
    pub(crate) entries: Vec<(Vec<u8>, Vec<u8>)>,
}

/// More commits than these are not lost between two writes of the record: what says so is itself not to be trusted.
const MOST_MISSING: u64 = 1 << 20;

/// Opens the log, or makes one where there may be none.
///
/// What is damaged or missing is an error, unless `accept_loss`: then what can still be read goes into a new store, and
/// the damaged one is set aside.
pub(crate) fn recover(
    log_dir: &Path,
    witness: &Witness,
    durability: Durability,
    accept_loss: bool,
    new_id: u64,
) -> Result<Recovered, OpenError> {
    let lost = |detail: String| OpenError::LostLog { path: log_dir.to_owned(), detail };
    let (store, mut content, faults) = match Store::open(log_dir, durability) {
        Ok(Some(store)) => {
            let (content, faults) = read(&store, witness);
            (Some(store), content, faults)
        }
        Ok(None) => (None, Content::default(), absence(witness)),
        Err(fault) => (None, Content::default(), vec![fault.to_string()]),
    };
    if !faults.is_empty() && !accept_loss {
        return Err(lost(faults.join("; ")));
    }
    let failed = |fault: StoreFault| lost(fault.to_string());
    match store {
        Some(store) if faults.is_empty() => {
            let log_id = store.id().map_err(failed)?.unwrap_or(new_id);
            drop_settled(&store, &mut content, witness).map_err(failed)?;
            return Ok(Recovered { store, log_id, content });
        }
        // Dropped here, so that its directory can be moved.
        Some(_) | None => {}
    }
    if !faults.is_empty() {
        tracing::warn!(
            detail = faults.join("; "),
            "starting without what is lost from the order log, as told"
        );
    }
    set_aside(log_dir).map_err(|error| failed(error.into()))?;
    fill_gaps(&mut content, witness).map_err(lost)?;
    let store = make(log_dir, 1, new_id, durability, &content).map_err(failed)?;
    Ok(Recovered { store, log_id: new_id, content })
}

/// Makes a new generation that holds `content`, and makes it the current one.
pub(crate) fn make(
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
struct Commit {
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
}

fn read(store: &Store, witness: &Witness) -> (Content, Vec<String>) {
    let mut faults = Vec::new();
    let mut commits: BTreeMap<u64, Commit> = BTreeMap::new();
    let mut content = Content::default();
    match store.id() {
        Ok(id) if witness.log_id.is_none() || id == witness.log_id => {}
        Ok(None) => faults.push("nothing of what was in it can be read".to_owned()),
        Ok(Some(_)) => faults.push("it belongs to another mall".to_owned()),
        Err(fault) => faults.push(fault.to_string()),
    }
    let scan = store.claims(|key, value| match codec::decode(key, value) {
        Ok(part) => commits.entry(part.commit).or_default().add(part),
        Err(fault) => faults.push(format!("{fault}, at key {}", hex(key))),
    });
    let scan =
        scan.and_then(|()| store.entries(|key, value| content.entries.push((key.to_vec(), value.to_vec()))));
    if let Err(fault) = scan {
        faults.push(fault.to_string());
    }
    sort_out(commits, witness, &mut content, &mut faults);
    (content, faults)
}

/// Tells settled commits, live ones and a torn tail apart, and finds what is missing.
fn sort_out(
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

/// After a loss: the numbers that are missing count as empty commits, so that the next start finds no gap.
fn fill_gaps(content: &mut Content, witness: &Witness) -> Result<(), String> {
    content.leftovers.clear();
    content.last_commit = content.last_commit.max(witness.applied).max(witness.seen);
    let missing = content.last_commit - witness.applied;
    if missing > MOST_MISSING || content.last_commit == u64::MAX {
        return Err(format!("{missing} commits are missing, which no loss of the log alone explains"));
    }
    for number in witness.applied + 1..=content.last_commit {
        content.commits.entry(number).or_default();
    }
    Ok(())
}

/// Moves a damaged log out of the way, and keeps it for whoever wants to look into it.
fn set_aside(log_dir: &Path) -> std::io::Result<()> {
    if !log_dir.exists() {
        return Ok(());
    }
    let aside = (1..)
        .map(|number| log_dir.with_extension(format!("lost-{number}")))
        .find(|path| !path.exists())
        .expect("there are more numbers than directories");
    fs::rename(log_dir, aside)
}
