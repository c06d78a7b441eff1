//! The journal on real files: acknowledged claims are found again, and damage is detected.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::DiskFaults;
use mallbox_storage::{OpenError, OrderId, Timestamp, UserId, VoucherId};
use mallbox_test_patience::{self as patience, Deadline};
use tempfile::TempDir;

use super::commit::CommitState;
use super::contents::{CleanStop, LogEvidence};
use super::recovery::{Recovered, recover};
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
}

fn find(log_dir: &Path, witness: &LogEvidence) -> Result<Recovered, OpenError> {
    recover(&Disk::new(log_dir, None), witness, Durability::Power, None, 42)
}

fn start(log_dir: &Path, witness: &LogEvidence) -> World {
    let recovered = find(log_dir, witness).unwrap();
    let settled = Arc::new(Settled::new(witness.applied));
    let queue = Arc::new(Queue::default());
    for (number, claims) in &recovered.content.commits {
        settled.opened(*number, claims.len());
        queue.push(logged(*number, claims));
    }
    let faults = Arc::new(DiskFaults::default());
    let journal = Journal::start(
        recovered,
        Disk::new(log_dir, Some(Arc::clone(&faults))),
        Durability::Power,
        Arc::clone(&settled),
        Arc::clone(&queue),
        None,
    );
    World { journal: journal.unwrap(), settled, queue, faults }
}

impl Journal {
    fn append(&self, claim: Claim) -> Durable {
        self.append_if(claim, |_| true).expect("it is to be appended")
    }
}

impl World {
    /// Settles up to `max` claims as a worker would, and returns the mark.
    fn settle(&self, max: usize) -> u64 {
        let taken = self.queue.take("worker", max);
        let mark = self.settled.settle(&self.queue.settle("worker", &taken));
        self.journal.settled_up_to(mark);
        mark
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
    let applied = world.settle(150);
    world.journal.close();
    LogEvidence { log_id: Some(42), applied, seen: applied + 1, clean_stop: None }
}

#[tokio::test]
async fn what_was_answered_is_found_again() {
    let dir = TempDir::new().unwrap();
    let witness = written(&dir).await;
    assert!(witness.applied > 0);
    let recovered = find(&log_dir(&dir), &witness).unwrap();
    let found = orders(&recovered);
    assert!(found.len() >= 450 && found.len() < 600, "settled commits are gone: {}", found.len());
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
    world.journal.close();
    drop(world);
    let entries = find(&log_dir(&dir), &LogEvidence { log_id: Some(42), ..LogEvidence::default() })
        .unwrap()
        .content
        .entries;
    assert_eq!(entries, [(b"b".to_vec(), b"2".to_vec()), (b"c".to_vec(), b"3".to_vec())]);
}

#[tokio::test]
async fn a_log_goes_on_where_it_was_and_large_nodes_never_leave_its_file() {
    let dir = TempDir::new().unwrap();
    let mut witness = LogEvidence::default();
    for start_number in 0..4 {
        let world = start(&log_dir(&dir), &witness);
        write(&world.journal, start_number * 2000..start_number * 2000 + 2000).await;
        witness.applied = world.settle(1900);
        witness.log_id = Some(42);
        witness.seen = witness.applied;
        world.journal.close();
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

/// After a failed sync the log refuses claims until all unsettled claims are in a new store: acknowledged
/// claims, and claims in doubt, since a failed commit may be on the disk.
#[tokio::test]
async fn a_failed_sync_refuses_claims_until_everything_is_in_a_new_store() {
    let dir = TempDir::new().unwrap();
    let world = start(&log_dir(&dir), &LogEvidence::default());
    let key = Change { key: b"session".to_vec(), value: Some(b"7".to_vec()) };
    assert_eq!(world.journal.change([key]).await, CommitState::Durable);
    write(&world.journal, 0..100).await;
    let applied = world.settle(30);
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
    world.journal.close();
    let witness = LogEvidence { log_id: Some(42), applied, seen: applied, clean_stop: None };
    let recovered = find(&log_dir(&dir), &witness).unwrap();
    assert!((30..110).all(|order| orders(&recovered).contains(&order)));
    let entries = [(b"late".to_vec(), b"8".to_vec()), (b"session".to_vec(), b"7".to_vec())];
    assert_eq!(recovered.content.entries, entries, "changes that memory has made are not forgotten");
    assert!(!log_dir(&dir).join("store-1").exists() && log_dir(&dir).join("store-2").exists());
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
    world.journal.close();
    let recovered =
        find(&log_dir(&dir), &LogEvidence { log_id: Some(42), ..LogEvidence::default() }).unwrap();
    assert_eq!(orders(&recovered), (0..=10).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_log_that_has_grown_moves_to_a_new_store_when_nobody_buys() {
    let dir = TempDir::new().unwrap();
    let world = start(&log_dir(&dir), &LogEvidence::default());
    write(&world.journal, 0..50).await;
    let entry = |number: u32| Change { key: number.to_be_bytes().to_vec(), value: Some(vec![b'x'; 500]) };
    for round in 0..8 {
        let changes: Vec<_> = (0..500).map(|number| entry(round * 500 + number)).collect();
        assert_eq!(world.journal.change(changes).await, CommitState::Durable);
    }
    let deadline = Deadline::after(Duration::from_secs(10));
    while !log_dir(&dir).join("store-2").exists() || log_dir(&dir).join("store-1").exists() {
        assert!(!deadline.is_over(), "the old store is still there");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    write(&world.journal, 50..60).await;
    world.journal.close();
    let recovered =
        find(&log_dir(&dir), &LogEvidence { log_id: Some(42), ..LogEvidence::default() }).unwrap();
    assert_eq!(orders(&recovered), (0..60).collect::<Vec<_>>());
    assert_eq!(recovered.content.entries.len(), 4000);
}

/// Opens a written log after `spoil` has damaged it. Expects a refusal, and returns its text.
async fn noticed(spoil: impl Fn(&Path, &mut LogEvidence)) -> String {
    let dir = TempDir::new().unwrap();
    let mut witness = written(&dir).await;
    spoil(&log_dir(&dir), &mut witness);
    let error = find(&log_dir(&dir), &witness).expect_err("the damage went unnoticed").to_string();
    assert!(error.contains("--accept-lost-log"), "{error}");
    let disk = Disk::new(&log_dir(&dir), None);
    let accept = |number| recover(&disk, &witness, Durability::Power, Some(number), 43);
    let number = number_in(&error);
    let again = accept(number + 1).expect_err("another number was taken for consent").to_string();
    assert_eq!(again, error, "refusing changes nothing");
    let accepted = accept(number).unwrap();
    assert!(accepted.content.last_commit >= witness.seen);
    drop(accepted);
    find(&log_dir(&dir), &witness).expect("what was accepted once opens again");
    error
}

/// Returns the number of lost claims named in a refusal.
fn number_in(error: &str) -> u64 {
    let (_, rest) = error.split_once("--accept-lost-log ").unwrap();
    rest.split(' ').next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_missing_file_is_noticed() {
    for file in ["store-1/db", "store-1/conf", "CURRENT", "store-1"] {
        let error = noticed(|log, _| {
            let path = log.join(file);
            if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
        });
        assert!(error.await.contains("missing"), "{file}");
    }
    let error = noticed(|log, _| fs::remove_dir_all(log).unwrap()).await;
    assert!(error.contains("the last stop was not clean"), "{error}");
}

#[tokio::test]
async fn a_first_start_that_was_cut_short_is_made_good() {
    let dir = TempDir::new().unwrap();
    drop(find(&log_dir(&dir), &LogEvidence::default()).unwrap());
    fs::remove_file(log_dir(&dir).join("CURRENT")).unwrap();
    let recovered = find(&log_dir(&dir), &LogEvidence::default()).unwrap();
    assert_eq!(recovered.content.last_commit, 0);
}

#[tokio::test]
async fn a_cut_off_tail_is_noticed() {
    let error = noticed(|log, witness| {
        witness.seen = find(log, witness).unwrap().content.last_commit;
        let path = log.join("store-1/db");
        let used = used(&fs::read(&path).unwrap());
        fs::OpenOptions::new().write(true).open(path).unwrap().set_len(used as u64 / 3).unwrap();
    });
    assert!(!error.await.is_empty());
}

#[tokio::test]
async fn another_malls_log_is_noticed() {
    let error = noticed(|_, witness| witness.log_id = Some(44)).await;
    assert!(error.contains("another mall"), "{error}");
}

#[tokio::test]
async fn a_log_that_is_missing_after_a_stop_in_order_is_made_anew_unless_claims_were_in_it() {
    let dir = TempDir::new().unwrap();
    let stop = |pending| Some(CleanStop { last_commit: 9, pending });
    let mut witness = LogEvidence { log_id: Some(42), applied: 9, seen: 9, clean_stop: stop(3) };
    assert!(find(&log_dir(&dir), &witness).is_err());
    witness.clean_stop = stop(0);
    let recovered = find(&log_dir(&dir), &witness).unwrap();
    assert_eq!((recovered.content.last_commit, orders(&recovered)), (9, Vec::new()));
    drop(recovered);
    assert_eq!(find(&log_dir(&dir), &witness).unwrap().content.last_commit, 9, "and it opens again");
}

/// Flips bits of sled's file one at a time. Either the log refuses to open, or all acknowledged claims are
/// present.
#[tokio::test]
async fn a_flipped_bit_loses_nothing_in_silence_and_invents_nothing() {
    let dir = TempDir::new().unwrap();
    let witness = written(&dir).await;
    let whole = orders(&find(&log_dir(&dir), &witness).unwrap());
    let db = log_dir(&dir).join("store-1/db");
    let content = fs::read(&db).unwrap();
    let used = used(&content);
    let (mut refused, mut harmless) = (0, 0);
    for step in 0..60 {
        let copy = TempDir::new().unwrap();
        copy_dir(&log_dir(&dir), &log_dir(&copy));
        let mut spoilt = content.clone();
        spoilt[step * used / 60] ^= 1 << (step % 8);
        fs::write(log_dir(&copy).join("store-1/db"), spoilt).unwrap();
        match find(&log_dir(&copy), &witness) {
            Err(_) => refused += 1,
            Ok(recovered) => {
                assert_eq!(orders(&recovered), whole, "byte {}", step * used / 60);
                harmless += 1;
            }
        }
    }
    println!("{refused} flipped bits were refused, {harmless} did no harm");
    assert!(refused > 0, "no flipped bit was noticed; {harmless} did no harm");
}

/// Returns the length of the written part of a file: sled preallocates.
fn used(content: &[u8]) -> usize {
    content.iter().rposition(|byte| *byte != 0).unwrap() + 1
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
