//! Only durable data is visible: claims, failed commits, reads and crashes in random order, and each kind of
//! read separately.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mallbox_storage::{ClaimOutcome, Durability, OrderId, StoreError, UserId};
use mallbox_test_patience as patience;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tokio::task::JoinHandle;

use crate::world::{Closed, NOON, WORKER, World, claim_as, order};

/// Long enough for a machine busy with other work.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Longer than the sum of all waits in a case, but bounded: a mall closes only after its pending commits.
const SLOW: Duration = Duration::from_secs(30);

/// What clients have observed of a sale without releases.
#[derive(Clone, Default)]
struct Shown {
    /// Observed orders with their buyers.
    orders: BTreeSet<(OrderId, UserId)>,
    /// The largest number of units ever reported as taken.
    taken: u64,
}

/// A mall whose clients record their observations.
struct Stage {
    world: World,
    shown: Arc<Mutex<Shown>>,
    /// Calls still pending at the last check.
    open: Vec<JoinHandle<()>>,
    /// Copy of the directory from the start of the hold: nothing has become durable since.
    image: Option<Closed>,
    units: u64,
}

/// Calls whose results reveal claims.
#[derive(Clone, Copy, Debug)]
enum Call {
    /// A claim by `user` under the order id with number `order`.
    Claim {
        user: u64,
        number: u64,
    },
    Find(u64),
    OfUser(u64),
    Units,
}

impl Stage {
    async fn new(units: u64) -> Self {
        let world = World::selling(Durability::Process, units).await;
        Self { world, shown: Arc::default(), open: Vec::new(), image: None, units }
    }

    /// Holds all commits from now on.
    async fn hold(&mut self) {
        self.answer_all().await;
        self.image = Some(self.world.image());
        self.world.faults.set_slow(Some(SLOW));
    }

    /// Fails the commits on hold, and later ones.
    fn fail(&self) {
        assert!(self.image.is_some());
        self.world.faults.set_failing_syncs(true);
        self.world.faults.set_slow(None);
    }

    /// Ends the hold, after checking that all results shown so far were durable when the hold began: a crash
    /// may lose the rest. The disk is healthy afterwards.
    async fn end_hold(&mut self) {
        let Some(image) = self.image.take() else { return };
        let shown = self.shown.lock().unwrap().clone();
        crash(image, shown).await;
        self.answer_all().await;
        self.world.faults.set_failing_syncs(false);
    }

    /// Starts a call and runs it until the first wait.
    async fn call(&mut self, call: Call) {
        let (storage, voucher) = (self.world.storage.clone(), self.world.voucher);
        let (shown, units) = (Arc::clone(&self.shown), self.units);
        self.open.push(tokio::spawn(async move {
            let mut seen = Shown::default();
            let answered: Result<(), StoreError> = async {
                match call {
                    Call::Claim { user, number } => {
                        let order = order(voucher, number);
                        match claim_as(&storage, voucher, user, order).await? {
                            ClaimOutcome::Accepted => drop(seen.orders.insert((order, UserId::new(user)))),
                            ClaimOutcome::AlreadyBought(held) => {
                                seen.orders.insert((held, UserId::new(user)));
                            }
                            ClaimOutcome::SoldOut => seen.taken = units,
                            other => panic!("{other:?}"),
                        }
                    }
                    Call::Find(number) => {
                        let found = storage.selling.order_log.find(order(voucher, number)).await?;
                        seen.orders.extend(found.map(|claim| (claim.order, claim.user)));
                    }
                    Call::OfUser(user) => {
                        let found = storage.selling.order_log.of_user(UserId::new(user)).await?;
                        seen.orders.extend(found.into_iter().map(|claim| (claim.order, claim.user)));
                    }
                    Call::Units => seen.taken = storage.selling.sales.units(voucher).await?.unwrap().taken,
                }
                Ok(())
            }
            .await;
            assert!(
                matches!(answered, Ok(()) | Err(StoreError::Unavailable { .. })),
                "{call:?}: {answered:?}"
            );
            let mut shown = shown.lock().unwrap();
            shown.orders.extend(seen.orders);
            shown.taken = shown.taken.max(seen.taken);
        }));
        self.settle().await;
    }

    /// Lets every task reach the next wait; all tasks run on one thread.
    async fn settle(&mut self) {
        for _ in 0..16 {
            tokio::task::yield_now().await;
        }
        self.open.retain(|call| !call.is_finished());
    }

    /// Removes the delay from the disk and waits for all pending calls.
    async fn answer_all(&mut self) {
        self.world.faults.set_slow(None);
        for call in self.open.drain(..) {
            in_time(call).await.unwrap();
        }
    }

    async fn persist(&self) {
        let taken = self.world.take(usize::MAX).await;
        self.world.storage.selling.orders.persist(&taken, NOON).await.unwrap();
        let done = self.world.storage.selling.order_log.done(WORKER, &taken).await.unwrap();
        assert!(done.is_empty());
    }
}

/// Reopens a crash image, and checks for all results shown.
async fn crash(image: Closed, shown: Shown) {
    let image = image.open().await;
    for (order, user) in shown.orders {
        let pending = image.storage.selling.order_log.find(order).await.unwrap().map(|claim| claim.user);
        let recorded = image.storage.selling.orders.get(order).await.unwrap().map(|order| order.user);
        assert_eq!(pending.or(recorded), Some(user), "order {order} was shown, and a crash lost it");
    }
    let taken = image.taken().await;
    assert!(shown.taken <= taken, "{} taken units were shown, and a crash left {taken}", shown.taken);
}

async fn in_time<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(patience::scaled(TIMEOUT), work).await.expect("it waits for ever")
}

/// A sale with the last unit in a claim delayed by a slow disk.
async fn held_up() -> Stage {
    let mut stage = Stage::new(1).await;
    stage.hold().await;
    stage.call(Call::Claim { user: 7, number: 1 }).await;
    stage
}

async fn shows_nothing_before_it_is_durable(call: Call) {
    let mut stage = held_up().await;
    stage.call(call).await;
    assert_eq!(stage.open.len(), 2, "{call:?} did not wait for the claim");
    stage.end_hold().await;
    let shown = stage.shown.lock().unwrap().clone();
    assert_eq!(shown.orders, BTreeSet::from([(order(stage.world.voucher, 1), UserId::new(7))]));
    crash(stage.world.image(), shown).await;
}

#[tokio::test]
async fn already_bought_named_an_order_that_a_crash_lost() {
    shows_nothing_before_it_is_durable(Call::Claim { user: 7, number: 2 }).await;
}

#[tokio::test]
async fn an_order_was_found_that_a_crash_lost() {
    shows_nothing_before_it_is_durable(Call::Find(1)).await;
}

#[tokio::test]
async fn a_users_list_held_an_order_that_a_crash_lost() {
    shows_nothing_before_it_is_durable(Call::OfUser(7)).await;
}

#[tokio::test]
async fn live_stock_missed_a_unit_that_a_crash_gave_back() {
    shows_nothing_before_it_is_durable(Call::Units).await;
}

#[tokio::test]
async fn sold_out_was_said_of_a_unit_that_a_crash_gave_back() {
    shows_nothing_before_it_is_durable(Call::Claim { user: 8, number: 2 }).await;
}

/// A failed commit is in doubt: its orders are neither shown nor denied, and statistics omit them.
#[tokio::test]
async fn after_a_failed_commit_readers_are_refused_at_once_and_statistics_go_on() {
    let mut stage = held_up().await;
    let asked = [Call::Claim { user: 7, number: 2 }, Call::Claim { user: 8, number: 3 }, Call::OfUser(7)];
    for call in asked {
        stage.call(call).await;
    }
    stage.fail();
    stage.answer_all().await;
    for call in asked.into_iter().chain([Call::Find(1)]) {
        stage.call(call).await;
        stage.answer_all().await;
        assert!(stage.shown.lock().unwrap().orders.is_empty(), "{call:?}");
        assert_eq!((in_time(stage.world.taken()).await, count(&stage.world).await), (0, (0, 1)));
    }
    stage.end_hold().await;
    assert_eq!(
        (stage.world.taken().await, count(&stage.world).await),
        (1, (1, 0)),
        "it was written after all"
    );
    for call in asked {
        stage.call(call).await;
    }
    stage.answer_all().await;
    let shown = stage.shown.lock().unwrap().clone();
    assert_eq!(shown.orders.len(), 1);
    crash(stage.world.image(), shown).await;
}

async fn count(world: &World) -> (u64, u64) {
    let pending = world.storage.selling.order_log.count(world.voucher).await.unwrap();
    (pending.durable, pending.in_doubt)
}

/// A random sequence of claims, reads, slow and failing commits, persisted orders, and crashes.
#[tokio::test]
async fn whatever_the_order_of_claims_failures_and_reads_a_crash_loses_nothing_that_was_shown() {
    /// Few users: most calls then concern an existing claim.
    const USERS: u64 = 6;
    for _ in 0..3 {
        let seed: u64 = rand::random();
        println!("seed {seed}");
        let mut dice = StdRng::seed_from_u64(seed);
        let mut stage = Stage::new(4).await;
        let mut buyers: Vec<u64> = Vec::new();
        for _ in 0..80 {
            match dice.random_range(0..20) {
                0..7 => {
                    // Sometimes the number of an earlier claim.
                    let number = if dice.random_bool(0.8) {
                        buyers.len()
                    } else {
                        dice.random_range(0..=buyers.len())
                    };
                    if number == buyers.len() {
                        buyers.push(dice.random_range(1..=USERS));
                    }
                    stage.call(Call::Claim { user: buyers[number], number: number as u64 }).await;
                }
                7..9 => stage.call(Call::Find(dice.random_range(0..=buyers.len() as u64))).await,
                9..11 => stage.call(Call::OfUser(dice.random_range(1..=USERS))).await,
                11..13 => stage.call(Call::Units).await,
                13..15 if stage.image.is_none() => stage.hold().await,
                15..17 if stage.image.is_some() => stage.fail(),
                17 if stage.image.is_none() => {
                    stage.answer_all().await;
                    stage.persist().await;
                }
                18 => stage.end_hold().await,
                _ => {}
            }
        }
        stage.end_hold().await;
        stage.hold().await;
        stage.end_hold().await;
    }
}
