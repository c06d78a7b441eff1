//! The journal on real files: acknowledged claims are found again, and damage is detected.

mod damage;
mod former;
mod store;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::DiskFaults;
use mallbox_storage::{Durability, OpenError, OrderId, Timestamp, UserId, VoucherId};
use mallbox_test_patience::{self as patience, Deadline};
use tempfile::TempDir;

use super::commit::CommitState;
use super::contents::{CleanStop, LogEvidence};
use super::recovery::{Recovered, recover};
use super::store::Store;
use super::*;

fn claim(number: u64) -> Claim {
    Claim {
        order: OrderId::new(number),
        voucher: VoucherId::new(1),
        user: UserId::new(number),
        at: Timestamp::from_millis(7),
    }
}

/// A journal and its collaborators.
struct World {
    journal: Journal,
    settled: Arc<Settled>,
    queue: Arc<Queue>,
    faults: Arc<DiskFaults>,
    /// What the database would know of the log.
    known: Arc<Mutex<LogEvidence>>,
    database: Arc<Database>,
}

/// The database as the checkpoints see it.
#[derive(Default)]
struct Database {
    is_stuck: AtomicBool,
    /// Whether a checkpoint waits for the database.
    is_waited_for: AtomicBool,
}

impl Database {
    fn wait(&self) {
        while self.is_stuck.load(Ordering::SeqCst) {
            self.is_waited_for.store(true, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

fn find(log_dir: &Path, witness: &LogEvidence) -> Result<Recovered, OpenError> {
    recover(&Disk::new(log_dir, None), witness, StoreOptions::usual(Durability::Power), None, 42)
}

fn start(log_dir: &Path, witness: &LogEvidence) -> World {
    let faults = Arc::new(DiskFaults::default());
    let disk = Disk::new(log_dir, Some(Arc::clone(&faults)));
    let mut recovered = recover(&disk, witness, StoreOptions::usual(Durability::Power), None, 42).unwrap();
    recovered.open(log_dir).unwrap();
    let settled = Arc::new(Settled::new(witness.applied));
    let queue = Arc::new(Queue::default());
    for (number, claims) in &recovered.content.commits {
        settled.opened(*number, claims.len());
        queue.push(logged(*number, claims));
    }
    let checkpoint = witness.checkpoint.or(Some(witness.applied));
    let known = LogEvidence { log_id: Some(42), clean_stop: None, checkpoint, ..*witness };
    let known = Arc::new(Mutex::new(known));
    let collaborators = Collaborators {
        disk,
        store: StoreOptions::usual(Durability::Power),
        settled: Arc::clone(&settled),
        queue: Arc::clone(&queue),
    };
    let database = Arc::<Database>::default();
    let (notes, noting) = (Arc::clone(&known), Arc::clone(&database));
    let note = Box::new(move |checkpoint, applied| {
        noting.wait();
        let mut known = notes.lock();
        known.checkpoint = known.checkpoint.max(Some(checkpoint));
        known.applied = known.applied.max(applied);
        Ok(())
    });
    let journal = Journal::start(recovered, collaborators, note, None).unwrap();
    World { journal, settled, queue, faults, known, database }
}

impl Journal {
    fn append(&self, claim: Claim) -> Durable {
        self.append_if(claim, |_| true).expect("it is to be appended")
    }
}

impl World {
    /// Settles up to `max` claims as a worker would.
    fn settle(&self, max: usize) {
        let taken = self.queue.take("worker", max);
        let mark = self.settled.settle(&self.queue.settle("worker", &taken));
        let mut known = self.known.lock();
        known.applied = known.applied.max(mark);
        let seen = taken.iter().map(|logged| logged.position.major).max();
        known.seen = known.seen.max(seen.unwrap_or(0));
    }

    /// Closes the journal, and returns what the database knows after the end of the process.
    fn close(self) -> LogEvidence {
        self.journal.close();
        *self.known.lock()
    }
}

async fn write(journal: &Journal, numbers: std::ops::Range<u64>) {
    let waiting: Vec<_> = numbers.map(|number| journal.append(claim(number))).collect();
    for waiting in waiting {
        assert_eq!(waiting.await, CommitState::Durable);
    }
}

fn orders(recovered: &Recovered) -> Vec<u64> {
    let mut orders: Vec<u64> =
        recovered.content.commits.values().flatten().map(|claim| claim.order.get()).collect();
    orders.sort_unstable();
    orders
}

fn log_dir(dir: &TempDir) -> PathBuf {
    dir.path().join("log")
}

/// Writes a log of 600 claims in several commits, of which the first few are settled.
async fn written(dir: &TempDir) -> LogEvidence {
    let world = start(&log_dir(dir), &LogEvidence::default());
    for round in 0..6 {
        write(&world.journal, round * 100..round * 100 + 100).await;
    }
    world.settle(150);
    world.close()
}

#[tokio::test]
async fn what_was_answered_is_found_again() {
    let dir = TempDir::new().unwrap();
    let witness = written(&dir).await;
    assert!(witness.applied > 0);
    let recovered = find(&log_dir(&dir), &witness).unwrap();
    let found = orders(&recovered);
    assert!(found.len() >= 450 && found.len() < 600, "settled commits are left out: {}", found.len());
    assert!((150..600).all(|order| found.contains(&order)));
    assert_eq!(recovered.log_id, 42);
}

#[tokio::test]
async fn a_refusal_waits_for_no_group_that_nobody_joined() {
    let dir = TempDir::new().unwrap();
    let world = start(&log_dir(&dir), &LogEvidence::default());
    let mut group = 0;
    let refused = world.journal.append_if(claim(1), |number| {
        group = number;
        false
    });
    assert!(refused.is_none());
    let waiting = world.journal.until_durable("test", group);
    let answered = tokio::time::timeout(patience::scaled(Duration::from_secs(5)), waiting).await;
    answered.expect("nothing else is appended, so this would be for ever").unwrap();
}

#[tokio::test]
async fn entries_are_found_again_and_removed_ones_are_not() {
    let dir = TempDir::new().unwrap();
    let world = start(&log_dir(&dir), &LogEvidence::default());
    let change = |key: &str, value: Option<&str>| Change {
        key: key.as_bytes().to_vec(),
        value: value.map(|value| value.as_bytes().to_vec()),
    };
    for changes in
        [[change("a", Some("1")), change("b", Some("2"))], [change("a", None), change("c", Some("3"))]]
    {
        assert_eq!(world.journal.change(changes).await, CommitState::Durable);
    }
    let witness = world.close();
    let entries = find(&log_dir(&dir), &witness).unwrap().content.entries;
    assert_eq!(entries, [(b"b".to_vec(), b"2".to_vec()), (b"c".to_vec(), b"3".to_vec())]);
}

#[tokio::test]
async fn claims_and_log_ins_go_on_while_a_checkpoint_of_many_sessions_is_stuck() {
    const SESSIONS: u32 = 200_000;
    let dir = TempDir::new().unwrap();
    let world = start(&log_dir(&dir), &LogEvidence::default());
    world.database.is_stuck.store(true, Ordering::SeqCst);
    let session = |number: u32| Change { key: number.to_be_bytes().to_vec(), value: Some(vec![7; 60]) };
    for first in (0..SESSIONS).step_by(1_000) {
        assert_eq!(world.journal.change((first..first + 1_000).map(session)).await, CommitState::Durable);
    }
    let deadline = Deadline::after(Duration::from_secs(60));
    while !world.database.is_waited_for.load(Ordering::SeqCst) {
        assert!(!deadline.is_over(), "no checkpoint has begun");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    for round in 0..20_u32 {
        let first = u64::from(round) * 100;
        write(&world.journal, first..first + 100).await;
        assert_eq!(world.journal.change([session(round)]).await, CommitState::Durable);
    }
    assert_eq!(world.known.lock().checkpoint, Some(0), "the checkpoint is still stuck");
    world.database.is_stuck.store(false, Ordering::SeqCst);
    let witness = world.close();
    let recovered = find(&log_dir(&dir), &witness).unwrap();
    assert_eq!(recovered.content.entries.len(), SESSIONS as usize);
    assert_eq!(orders(&recovered), (0..2_000).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_log_goes_on_where_it_was_and_large_nodes_never_leave_its_file() {
    let dir = TempDir::new().unwrap();
    let mut witness = LogEvidence::default();
    for start_number in 0..4 {
        let world = start(&log_dir(&dir), &witness);
        write(&world.journal, start_number * 2000..start_number * 2000 + 2000).await;
        world.settle(1900);
        witness = world.close();
    }
    let recovered = find(&log_dir(&dir), &witness).unwrap();
    assert!((7600..8000).all(|order| orders(&recovered).contains(&order)));
    let blobs = log_dir(&dir).join("store-1/blobs");
    assert_eq!(fs::read_dir(blobs).unwrap().count(), 0, "sled never makes blobs durable");
}

#[tokio::test]
async fn a_closed_journal_refuses_and_answers_all_who_wait() {
    let dir = TempDir::new().unwrap();
    let world = start(&log_dir(&dir), &LogEvidence::default());
    let waiting = world.journal.append(claim(1));
    world.journal.close();
    assert_eq!(waiting.await, CommitState::Durable);
    assert!(world.journal.ready("test").is_err());
}

/// After a failed sync the log refuses claims until the claims in doubt are written once more: a failed
/// commit may be on the disk.
#[tokio::test]
async fn a_failed_sync_refuses_claims_until_what_is_in_doubt_is_written_again() {
    let dir = TempDir::new().unwrap();
    let world = start(&log_dir(&dir), &LogEvidence::default());
    let key = Change { key: b"session".to_vec(), value: Some(b"7".to_vec()) };
    assert_eq!(world.journal.change([key]).await, CommitState::Durable);
    write(&world.journal, 0..100).await;
    world.settle(30);
    world.faults.set_failing_syncs(true);
    assert_eq!(world.journal.append(claim(100)).await, CommitState::Failed);
    assert_eq!(world.journal.append(claim(101)).await, CommitState::Failed, "and it stays so");
    let late = Change { key: b"late".to_vec(), value: Some(b"8".to_vec()) };
    assert_eq!(world.journal.change([late]).await, CommitState::Failed);
    let refusal = world.journal.ready("test").unwrap_err().to_string();
    assert!(refusal.contains("injected sync failure"), "{refusal}");
    world.faults.set_failing_syncs(false);
    assert_eq!(world.journal.trouble(), None, "gone at once");
    write(&world.journal, 102..110).await;
    let handed_out = world.queue.take("another", 1000);
    assert_eq!(handed_out.len(), 80, "the workers get what was in limbo, once");
    let witness = world.close();
    let recovered = find(&log_dir(&dir), &witness).unwrap();
    assert!((30..110).all(|order| orders(&recovered).contains(&order)));
    let once: std::collections::HashSet<u64> = orders(&recovered).into_iter().collect();
    assert_eq!(once.len(), orders(&recovered).len(), "no claim is found twice");
    let entries = [(b"late".to_vec(), b"8".to_vec()), (b"session".to_vec(), b"7".to_vec())];
    assert_eq!(recovered.content.entries, entries, "changes that memory has made are not forgotten");
}

#[tokio::test]
async fn what_slips_in_on_a_full_disk_is_written_when_there_is_room() {
    let dir = TempDir::new().unwrap();
    let world = start(&log_dir(&dir), &LogEvidence::default());
    write(&world.journal, 0..10).await;
    world.faults.set_full(true);
    assert!(matches!(world.journal.ready("test"), Err(StoreError::Full { op: "test", .. })));
    assert_eq!(world.journal.append(claim(10)).await, CommitState::Failed);
    assert_eq!(world.queue.take("worker", 1000).len(), 10);
    world.faults.set_full(false);
    assert_eq!(world.journal.trouble(), None);
    assert_eq!(world.queue.take("worker", 1000).len(), 1);
    let witness = world.close();
    let recovered = find(&log_dir(&dir), &witness).unwrap();
    assert_eq!(orders(&recovered), (0..=10).collect::<Vec<_>>());
}

/// A commit that nobody was told of leaves the torn end of a log. The last commit that somebody was told of
/// must not be taken for it.
#[tokio::test]
async fn an_idle_log_notices_damage_of_its_last_commit() {
    let dir = TempDir::new().unwrap();
    let world = start(&log_dir(&dir), &LogEvidence::default());
    write(&world.journal, 0..3).await;
    let last = world.journal.last_commit();
    let deadline = Deadline::after(Duration::from_secs(10));
    while world.journal.last_commit() == last {
        assert!(!deadline.is_over(), "nothing is written behind the last commit");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // As after kill -9: the database knows nothing of the commit.
    let copy = TempDir::new().unwrap();
    copy_dir(&log_dir(&dir), &log_dir(&copy));
    let witness = LogEvidence { log_id: Some(42), checkpoint: Some(0), ..LogEvidence::default() };
    assert_eq!(orders(&find(&log_dir(&copy), &witness).unwrap()), [0, 1, 2]);
    for segment in segments(&log_dir(&copy)) {
        let bytes = fs::read(&segment).unwrap();
        // The order of the last claim, in each place where it stands.
        let spoilt = replaced(&bytes, &codec::claim_bytes(&claim(2)), &codec::claim_bytes(&claim(3)));
        fs::write(&segment, spoilt).unwrap();
    }
    fs::remove_dir_all(log_dir(&copy).join("store-1")).ok();
    let error = find(&log_dir(&copy), &witness).unwrap_err().to_string();
    assert!(error.contains(&format!("commit {last} is missing or unreadable")), "{error}");
}

/// Settled claims cost no space for long: segments are used again.
#[tokio::test]
async fn segments_are_used_again_after_a_checkpoint() {
    let dir = TempDir::new().unwrap();
    let world = start(&log_dir(&dir), &LogEvidence::default());
    let mut most = 0;
    for round in 0..6_u64 {
        // 1,200 commits of one block are more than a segment of 4 MiB holds.
        for number in 0..1200 {
            write(&world.journal, round * 2000 + number..round * 2000 + number + 1).await;
        }
        world.settle(usize::MAX);
        let (last, deadline) = (world.journal.last_commit(), Deadline::after(Duration::from_secs(10)));
        while world.known.lock().checkpoint < Some(last) || world.known.lock().applied < last {
            assert!(!deadline.is_over(), "no checkpoint reaches commit {last}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        tokio::time::sleep(Duration::from_millis(1100)).await;
        most = most.max(segments(&log_dir(&dir)).len());
    }
    assert!(most <= 4, "{most} segments");
    let witness = world.close();
    assert_eq!(orders(&find(&log_dir(&dir), &witness).unwrap()), Vec::<u64>::new());
}

/// The files with segments of the write-ahead log.
fn segments(log: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(log.join("wal")).unwrap().map(|entry| entry.unwrap().path());
    let mut segments: Vec<PathBuf> =
        entries.filter(|path| path.to_string_lossy().contains("segment-")).collect();
    segments.sort();
    segments
}

/// Returns `bytes` with another text in each place of a text of the same length.
fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut replaced = bytes.to_vec();
    for at in 0..=bytes.len() - from.len() {
        if bytes[at..].starts_with(from) {
            replaced[at..at + to.len()].copy_from_slice(to);
        }
    }
    replaced
}

fn copy_dir(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_dir(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Opens a damaged log. Expects a refusal, accepts the loss, and returns the text of the refusal.
fn noticed(dir: &TempDir, witness: &LogEvidence) -> String {
    let error = find(&log_dir(dir), witness).expect_err("the damage went unnoticed").to_string();
    assert!(error.contains("--accept-lost-log"), "{error}");
    let disk = Disk::new(&log_dir(dir), None);
    let accept = |number| recover(&disk, witness, StoreOptions::usual(Durability::Power), Some(number), 43);
    let number = number_in(&error);
    let again = accept(number + 1).expect_err("another number was taken for consent").to_string();
    assert_eq!(again, error, "refusing changes nothing");
    let accepted = accept(number).unwrap();
    assert!(accepted.content.last_commit >= witness.seen);
    drop(accepted);
    // The database knows that the stop no longer counts.
    let witness = LogEvidence { clean_stop: None, ..*witness };
    find(&log_dir(dir), &witness).expect("what was accepted once opens again");
    error
}

/// Returns the number of lost claims named in a refusal.
fn number_in(error: &str) -> u64 {
    let (_, rest) = error.split_once("--accept-lost-log ").unwrap();
    rest.split(' ').next().unwrap().parse().unwrap()
}

/// Copies a log, and flips a bit of one of its files: number `step` of so many places spread over the written
/// part. Returns the copy and the place.
fn flipped(dir: &TempDir, file: &str, step: usize, steps: usize) -> (TempDir, usize) {
    let copy = TempDir::new().unwrap();
    copy_dir(&log_dir(dir), &log_dir(&copy));
    let path = log_dir(&copy).join(file);
    let mut bytes = fs::read(&path).unwrap();
    let place = step * used(&bytes) / steps;
    bytes[place] ^= 1 << (step % 8);
    fs::write(path, bytes).unwrap();
    (copy, place)
}

/// Returns the length of the written part of a file: sled preallocates.
fn used(content: &[u8]) -> usize {
    content.iter().rposition(|byte| *byte != 0).unwrap() + 1
}
