//! Injected disk faults: reported like real ones, gone once removed, and without loss of acknowledged claims.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mallbox_storage::sessions::TokenHash;
use mallbox_storage::{ClaimOutcome, Durability, NewSession, StoreError, UserId};

use mallbox_test_patience as patience;

use crate::world::{HOUR, NOON, World, claim};

/// Long enough for a machine busy with other work.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Longer than the sum of all waits in a case, but bounded: a mall closes only after its pending commits.
const SLOW: Duration = Duration::from_secs(60);

/// Outcomes of the claims of a rush, by user.
#[derive(Default)]
struct Answers {
    accepted: Mutex<HashSet<u64>>,
    refused: Mutex<HashSet<u64>>,
    /// Admitted before the disk was full, and failed on the full disk.
    left_open: Mutex<HashSet<u64>>,
}

impl Answers {
    fn note(&self, user: u64, answer: &Result<ClaimOutcome, StoreError>) {
        let whose = match answer {
            Ok(ClaimOutcome::Accepted) => &self.accepted,
            Err(StoreError::Full { .. }) => &self.refused,
            Err(StoreError::Unavailable { .. }) => &self.left_open,
            other => panic!("{other:?}"),
        };
        assert!(whose.lock().unwrap().insert(user));
    }
}

/// Waits for a condition that other tasks bring about.
async fn until(mut is_so: impl FnMut() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(patience::scaled(TIMEOUT), waiting).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_rush_meets_a_full_disk_and_nothing_that_was_answered_is_lost() {
    for durability in [Durability::Process, Durability::Memory] {
        let mut world = World::open(durability).await;
        let answers = rush(&world).await;
        let [accepted, refused, left_open] = [&answers.accepted, &answers.refused, &answers.left_open]
            .map(|users| users.lock().unwrap().clone());
        println!("{} accepted, {} refused, {} left open", accepted.len(), refused.len(), left_open.len());
        let held: HashSet<u64> = accepted.union(&left_open).copied().collect();
        for _ in 0..2 {
            assert_eq!(world.taken().await, held.len() as u64, "a refused claim has cost no unit");
            let waiting = world.take(usize::MAX).await;
            assert_eq!(waiting.len(), held.len(), "each is there once");
            assert_eq!(waiting.iter().map(|logged| logged.claim.user.get()).collect::<HashSet<_>>(), held);
            world = world.reopen().await;
        }
    }
}

/// Eight tasks claim before, while and after the disk is full. Each answer is one of three.
async fn rush(world: &World) -> Arc<Answers> {
    let (answers, is_over) = (Arc::new(Answers::default()), Arc::new(AtomicBool::new(false)));
    let next = Arc::new(AtomicU64::new(1));
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let (storage, voucher) = (world.storage.clone(), world.voucher);
            let (answers, next, is_over) = (Arc::clone(&answers), Arc::clone(&next), Arc::clone(&is_over));
            tokio::spawn(async move {
                while !is_over.load(Ordering::Relaxed) {
                    let user = next.fetch_add(1, Ordering::Relaxed);
                    answers.note(user, &claim(&storage, voucher, user).await);
                    tokio::task::yield_now().await;
                }
            })
        })
        .collect();
    let count = |users: &Mutex<HashSet<u64>>| users.lock().unwrap().len();
    for _ in 0..3 {
        let before = (count(&answers.accepted), count(&answers.refused));
        until(|| count(&answers.accepted) > before.0 + 100).await;
        world.faults.set_full(true);
        until(|| count(&answers.refused) > before.1 + 100).await;
        world.faults.set_full(false);
    }
    is_over.store(true, Ordering::Relaxed);
    for task in tasks {
        task.await.unwrap();
    }
    let asked = next.load(Ordering::Relaxed) - 1;
    let answered = count(&answers.accepted) + count(&answers.refused) + count(&answers.left_open);
    assert_eq!(answered as u64, asked);
    assert!(world.faults.refusals() >= 300, "{}", world.faults.refusals());
    answers
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_is_reported_at_once_and_forgotten_at_once() {
    let world = World::open(Durability::Memory).await;
    let session = TokenHash([1; 32]);
    assert_eq!(world.claim(1).await.unwrap(), ClaimOutcome::Accepted);
    world.faults.set_full(true);

    let full = |answer: StoreError| {
        assert!(matches!(answer, StoreError::Full { .. }), "{answer:?}");
        answer.to_string()
    };
    let refusal = full(world.claim(2).await.unwrap_err());
    assert!(refusal.starts_with("sales.claim: disk full: 0 MiB free at "), "{refusal}");
    full(
        world
            .storage
            .people
            .sessions
            .begin(session, &NewSession::of(UserId::new(1), HOUR), NOON)
            .await
            .unwrap_err(),
    );
    let refusal = full(world.storage.base.upkeep.put_setting("zone", "UTC").await.unwrap_err());
    assert!(refusal.contains(": disk full: 0 KiB left in "), "{refusal}");
    let troubles = world.troubles().await;
    assert!(troubles.len() == 2 && troubles[0].starts_with("disk full: 0 MiB free at "), "{troubles:?}");
    let reported = world.storage.selling.order_log.state().await.trouble.unwrap();
    assert_eq!(reported, troubles[0]);
    assert_eq!(world.storage.base.upkeep.setting("zone").await.unwrap(), None, "reading goes on");
    assert_eq!(world.claim(1).await.ok(), None, "as on a disk that is really full");

    world.faults.set_full(false);
    assert_eq!(world.troubles().await, [""; 0]);
    assert_eq!(world.storage.selling.order_log.state().await.trouble, None);
    assert_eq!(world.claim(2).await.unwrap(), ClaimOutcome::Accepted);
    world.storage.people.sessions.begin(session, &NewSession::of(UserId::new(1), HOUR), NOON).await.unwrap();
    world.storage.base.upkeep.put_setting("zone", "UTC").await.unwrap();
    assert_eq!(world.faults.refusals(), 5, "four calls, and the look of the record itself");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_disk_holds_up_each_commit_until_it_is_fast_again() {
    let world = World::open(Durability::Memory).await;
    world.faults.set_slow(Some(SLOW));
    let (storage, voucher) = (world.storage.clone(), world.voucher);
    let claiming = tokio::spawn(async move { claim(&storage, voucher, 1).await });
    until(|| world.faults.delays() == 1).await;
    let upkeep = Arc::clone(&world.storage.base.upkeep);
    let setting = tokio::spawn(async move { upkeep.put_setting("zone", "UTC").await });
    until(|| world.faults.delays() == 2).await;
    assert_eq!(world.storage.base.upkeep.setting("zone").await.unwrap(), None, "reading does not wait");
    assert!(!claiming.is_finished() && !setting.is_finished());

    world.faults.set_slow(None);
    let answers = async { (claiming.await.unwrap().unwrap(), setting.await.unwrap().unwrap()) };
    let (claimed, ()) = tokio::time::timeout(patience::scaled(TIMEOUT), answers).await.unwrap();
    assert_eq!(claimed, ClaimOutcome::Accepted);
    assert_eq!(world.claim(2).await.unwrap(), ClaimOutcome::Accepted);
    assert_eq!(world.faults.delays(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mall_that_is_stopped_and_started_on_a_full_disk_loses_nothing_and_is_not_called_damaged() {
    let world = World::open(Durability::Memory).await;
    assert_eq!(world.claim(1).await.unwrap(), ClaimOutcome::Accepted);
    world.faults.set_full(true);
    let closed = world.closed().await;
    let world = closed.open().await;
    assert_eq!(world.take(10).await.len(), 1, "it opens, to be read");
    assert!(matches!(world.claim(2).await, Err(StoreError::Full { .. })));
    let closed = world.closed().await;
    closed.faults.set_full(false);
    let world = closed.open().await;
    assert_eq!(world.take(10).await.len(), 1);
    assert_eq!(world.claim(2).await.unwrap(), ClaimOutcome::Accepted);
}
