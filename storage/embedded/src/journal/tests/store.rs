//! The sled store behind the write-ahead log: it may be lost, old, or damaged, and loses no claim.

use super::*;

fn session(name: &str, value: &str) -> Change {
    Change { key: name.as_bytes().to_vec(), value: Some(value.as_bytes().to_vec()) }
}

fn keys(recovered: &Recovered) -> Vec<String> {
    let keys = recovered.content.entries.iter().map(|(key, _)| String::from_utf8(key.clone()).unwrap());
    keys.collect()
}

/// Writes claims and sessions before and after a checkpoint, and ends as a killed process does: copies the
/// directory while the journal runs.
async fn killed(copy: &TempDir) -> LogEvidence {
    let dir = TempDir::new().unwrap();
    let world = start(&log_dir(&dir), &LogEvidence::default());
    write(&world.journal, 0..50).await;
    assert_eq!(
        world.journal.change([session("early", "1"), session("left", "1")]).await,
        CommitState::Durable
    );
    world.settle(20);
    let (last, deadline) = (world.journal.last_commit(), Deadline::after(Duration::from_secs(10)));
    while world.known.lock().checkpoint < Some(last) {
        assert!(!deadline.is_over(), "no checkpoint");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    write(&world.journal, 50..80).await;
    let left = Change { key: b"left".to_vec(), value: None };
    assert_eq!(world.journal.change([session("late", "2"), left]).await, CommitState::Durable);
    copy_dir(&log_dir(&dir), &log_dir(copy));
    *world.known.lock()
}

#[tokio::test]
async fn a_killed_journal_finds_what_the_store_and_the_write_ahead_log_have_together() {
    let dir = TempDir::new().unwrap();
    let witness = killed(&dir).await;
    let recovered = find(&log_dir(&dir), &witness).unwrap();
    assert!((20..80).all(|order| orders(&recovered).contains(&order)));
    assert_eq!(keys(&recovered), ["early", "late"]);
}

/// A store of no use is made anew: from all of the write-ahead log that is there, which is more than the last
/// checkpoint needs.
#[tokio::test]
async fn a_lost_or_spoilt_store_is_made_anew() {
    type Spoil = fn(&Path);
    let spoilt: [(&str, Spoil); 7] = [
        ("no CURRENT", |log| fs::remove_file(log.join("CURRENT")).unwrap()),
        ("no store", |log| fs::remove_dir_all(log.join("store-1")).unwrap()),
        ("no file", |log| fs::remove_file(log.join("store-1/db")).unwrap()),
        ("an empty file", |log| fs::write(log.join("store-1/db"), "").unwrap()),
        ("garbage", |log| fs::write(log.join("store-1/db"), [0xa5; 100_000]).unwrap()),
        ("a strange CURRENT", |log| fs::write(log.join("CURRENT"), "seven\n").unwrap()),
        ("neither", |log| {
            fs::remove_file(log.join("CURRENT")).unwrap();
            fs::remove_dir_all(log.join("store-1")).unwrap();
        }),
    ];
    for (what, spoil) in spoilt {
        let dir = TempDir::new().unwrap();
        let witness = killed(&dir).await;
        spoil(&log_dir(&dir));
        let world = start(&log_dir(&dir), &witness);
        write(&world.journal, 80..90).await;
        let witness = world.close();
        let recovered = find(&log_dir(&dir), &witness).unwrap();
        assert!((20..90).all(|order| orders(&recovered).contains(&order)), "{what}");
        assert_eq!(keys(&recovered), ["early", "late"], "{what}");
    }
}

#[tokio::test]
async fn a_store_older_than_its_checkpoint_is_made_anew() {
    let (dir, old) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let world = start(&log_dir(&dir), &LogEvidence::default());
    assert_eq!(world.journal.change([session("left", "1")]).await, CommitState::Durable);
    let witness = world.close();
    copy_dir(&log_dir(&dir), &log_dir(&old));
    let world = start(&log_dir(&dir), &witness);
    let left = Change { key: b"left".to_vec(), value: None };
    assert_eq!(world.journal.change([session("other", "2"), left]).await, CommitState::Durable);
    let witness = world.close();
    fs::remove_dir_all(log_dir(&dir).join("store-1")).unwrap();
    copy_dir(&log_dir(&old).join("store-1"), &log_dir(&dir).join("store-1"));
    let recovered = find(&log_dir(&dir), &witness).unwrap();
    assert_eq!(keys(&recovered), ["other"], "a session that was ended is not back");
}

/// Flips bits of sled's file one at a time: each is noticed or harmless, and costs no claim.
#[tokio::test]
async fn a_flipped_bit_in_the_store_costs_no_claim_and_no_start() {
    let dir = TempDir::new().unwrap();
    let witness = killed(&dir).await;
    for step in 0..60 {
        let (copy, place) = flipped(&dir, "store-1/db", step, 60);
        let recovered = find(&log_dir(&copy), &witness).unwrap();
        let whole = (20..80).all(|order| orders(&recovered).contains(&order));
        assert!(whole, "byte {place}: {:?}", orders(&recovered));
        assert!(!keys(&recovered).contains(&"left".to_owned()), "a session that was ended is not back");
    }
}

/// The claims of an unreadable record are still in the store.
#[tokio::test]
async fn what_the_write_ahead_log_loses_is_taken_from_the_store() {
    let dir = TempDir::new().unwrap();
    let world = start(&log_dir(&dir), &LogEvidence::default());
    for number in 0..20 {
        write(&world.journal, number..number + 1).await;
    }
    assert_eq!(world.journal.change([session("one", "1")]).await, CommitState::Durable);
    let witness = world.close();
    for segment in segments(&log_dir(&dir)) {
        let bytes = fs::read(&segment).unwrap();
        let spoilt = replaced(&bytes, &codec::claim_bytes(&claim(7)), &codec::claim_bytes(&claim(8)));
        fs::write(&segment, spoilt).unwrap();
    }
    let recovered = find(&log_dir(&dir), &witness).unwrap();
    assert_eq!(orders(&recovered), (0..20).collect::<Vec<_>>());
    assert_eq!(keys(&recovered), ["one"]);
    assert!(dir.path().join("log.lost-1").exists(), "the damaged log is kept for inspection");
    drop(recovered);
    assert_eq!(orders(&find(&log_dir(&dir), &witness).unwrap()), (0..20).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_log_that_has_grown_moves_to_a_new_store_when_nobody_buys() {
    let dir = TempDir::new().unwrap();
    let world = start(&log_dir(&dir), &LogEvidence::default());
    write(&world.journal, 0..50).await;
    let deadline = Deadline::after(Duration::from_secs(10));
    while !log_dir(&dir).join("CURRENT").exists() {
        assert!(!deadline.is_over(), "there is no store yet");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let entry = |number: u32| Change { key: number.to_be_bytes().to_vec(), value: Some(vec![b'x'; 500]) };
    for round in 0..40 {
        let changes: Vec<_> = (0..1000).map(|number| entry(round * 1000 + number)).collect();
        assert_eq!(world.journal.change(changes).await, CommitState::Durable);
    }
    let deadline = Deadline::after(Duration::from_secs(10));
    while !log_dir(&dir).join("store-2").exists() || log_dir(&dir).join("store-1").exists() {
        assert!(!deadline.is_over(), "the old store is still there");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    write(&world.journal, 50..60).await;
    let witness = world.close();
    let recovered = find(&log_dir(&dir), &witness).unwrap();
    assert_eq!(orders(&recovered), (0..60).collect::<Vec<_>>());
    assert_eq!(recovered.content.entries.len(), 40_000);
}

/// A child process of a test held the lock of a store just closed, and the start was refused.
#[tokio::test]
async fn a_store_that_is_locked_for_a_moment_is_waited_for() {
    let dir = TempDir::new().unwrap();
    let world = start(&log_dir(&dir), &LogEvidence::default());
    write(&world.journal, 0..10).await;
    let witness = world.close();
    let held = std::fs::File::open(log_dir(&dir).join("store-1/db")).unwrap();
    held.lock().unwrap();
    let holder = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(100));
        drop(held);
    });
    assert_eq!(orders(&find(&log_dir(&dir), &witness).unwrap()).len(), 10);
    holder.join().unwrap();
}
