//! Starts after an unclean stop: a full disk, an unfinished snapshot, a damaged snapshot or a damaged log.

use std::fs;
use std::path::PathBuf;

use mallbox_storage::{ClaimOutcome, Durability, LogLoss, OpenError, StoreError, UserId};

use crate::left::{CLAIMS, TOKEN, has_everything, left};
use crate::world::{Closed, HOUR, NOON, World};

/// The directory of the log's current store.
fn store(closed: &Closed) -> PathBuf {
    let log = closed.dir().join("log");
    let current = fs::read_to_string(log.join("CURRENT")).unwrap();
    log.join(format!("store-{}", current.trim()))
}

/// sled takes the unfinished snapshot for the newest one. A full disk or a power cut leaves such a snapshot
/// behind.
#[tokio::test(flavor = "multi_thread")]
async fn an_unfinished_snapshot_made_the_log_unopenable() {
    let mut closed = left().await;
    for content in [&b""[..], b"half of it"] {
        let unfinished = store(&closed).join("snap.00000000FFFFFFFF.generating");
        fs::write(&unfinished, content).unwrap();
        let world = closed.open().await;
        has_everything(&world).await;
        assert!(!unfinished.exists());
        closed = world.closed().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_without_room_did_not_know_the_pending_claims() {
    let closed = left().await;
    closed.faults.set_full(true);
    let before = fs::read(store(&closed).join("db")).unwrap();
    let closed = {
        let world = closed.open().await;
        has_everything(&world).await;
        let refused = world.claim(CLAIMS + 1).await.unwrap_err();
        assert!(matches!(refused, StoreError::Full { .. }), "{refused}");
        let troubles = world.troubles().await;
        assert!(troubles[0].starts_with("disk full: "), "{troubles:?}");
        world.closed().await
    };
    assert_eq!(fs::read(store(&closed).join("db")).unwrap(), before, "the log itself is only read");

    let world = closed.open().await;
    has_everything(&world).await;
    world.faults.set_full(false);
    assert_eq!(world.troubles().await, [""; 0], "without a restart");
    assert_eq!(world.claim(CLAIMS + 1).await.unwrap(), ClaimOutcome::Accepted);
    let world = world.reopen().await;
    assert_eq!(world.taken().await, CLAIMS + 1);
    let found = world.storage.people.sessions.find(TOKEN, HOUR, NOON).await.unwrap();
    assert_eq!(found.map(|session| session.user), Some(UserId::new(1)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_mall_is_made_when_there_is_room_and_not_before() {
    let closed = World::open(Durability::Process).await.closed().await;
    let log = closed.dir().join("log");
    fs::remove_dir_all(&log).unwrap();
    closed.faults.set_full(true);
    let world = closed.open().await;
    assert!(world.claim(1).await.is_err() && !log.exists());
    world.faults.set_full(false);
    assert_eq!(world.claim(1).await.unwrap(), ClaimOutcome::Accepted);
    let world = world.reopen().await;
    assert_eq!(world.taken().await, 1);
}

fn loss(refused: &OpenError) -> LogLoss {
    let OpenError::LostLog { loss: Some(loss), .. } = refused else { panic!("{refused}") };
    *loss
}

/// Claims dropped by `--accept-lost-log`, though only the store's snapshot was damaged.
#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_snapshot_cost_claims_that_the_log_still_had() {
    let closed = left().await;
    fs::write(store(&closed).join("snap.00000000FFFFFFFF"), b"a snapshot of something else").unwrap();
    let world = closed.open().await;
    has_everything(&world).await;
}

/// The store goes at any moment, while claims are accepted, and with `kill -9` right behind.
#[tokio::test(flavor = "multi_thread")]
async fn a_store_removed_at_any_moment_costs_no_accepted_claim() {
    let world = World::open(Durability::Process).await;
    let mut accepted = 0;
    for round in 0..20 {
        for user in 1..=round * 7 + 3 {
            assert_eq!(world.claim(round * 1000 + user).await.unwrap(), ClaimOutcome::Accepted);
            accepted += 1;
        }
        tokio::time::sleep(std::time::Duration::from_millis(round * 13)).await;
        let image = world.image();
        let log = image.dir().join("log");
        for entry in fs::read_dir(&log).unwrap().map(|entry| entry.unwrap().path()) {
            let is_of_store = !entry.ends_with("wal");
            if is_of_store && entry.is_dir() {
                fs::remove_dir_all(entry).unwrap();
            } else if is_of_store {
                fs::remove_file(entry).unwrap();
            }
        }
        assert_eq!(image.open().await.taken().await, accepted, "round {round}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_log_was_given_up_without_a_word_about_what_was_in_it() {
    let mut closed = left().await;
    fs::remove_dir_all(closed.dir().join("log")).unwrap();
    let refused = closed.try_open().await.err().expect("a missing log was not missed");
    assert_eq!(loss(&refused).claims, CLAIMS, "{refused}");
    for other in [0, 1, CLAIMS - 1, CLAIMS + 1] {
        closed.accept(other);
        let again = closed.try_open().await.err().expect("another number is no consent");
        assert_eq!(again.to_string(), refused.to_string());
    }
    closed.accept(CLAIMS);
    let world = closed.open().await;
    assert_eq!(world.taken().await, 0);
    let world = world.reopen().await;
    assert_eq!(world.claim(1).await.unwrap(), ClaimOutcome::Accepted);
}

/// A power cut during the replacement of a damaged log: before the new log is complete, and before its
/// rename.
#[tokio::test(flavor = "multi_thread")]
async fn a_cut_while_a_damaged_log_was_replaced_cost_what_could_be_saved() {
    let closed = left().await;
    let (log, new) = (closed.dir().join("log"), closed.dir().join("log.new"));
    fs::create_dir_all(new.join("store-1")).unwrap();
    let closed = {
        let world = closed.open().await;
        has_everything(&world).await;
        assert!(!new.exists(), "half a log is none");
        world.closed().await
    };
    fs::rename(&log, &new).unwrap();
    let world = closed.open().await;
    has_everything(&world).await;
    assert!(log.exists() && !new.exists());
}
