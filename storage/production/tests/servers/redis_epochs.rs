//! Two Redis servers for one mall, in sequence or at once. Only the server whose epoch is in the database
//! takes and settles claims; that server also knows the claims in workers' hands.

use std::time::{Duration, Instant};

use mallbox_storage::{
    ClaimOutcome, ReleaseOutcome, SellingPorts, Storage, StoreError, Transition, VoucherId,
};
use mallbox_storage_production::redis::{RedisOptions, RedisPorts};
use mallbox_test_patience::{self as patience, Deadline};
use mallbox_test_servers::{Redis, RedisOptions as ServerOptions};

use crate::redis_faults::follow;
use crate::redis_world::{accepted, attempt, connect_beside, recovers, start, tell};
use crate::world;
use crate::world::{NOON, TOKEN, WORKER, World, claim};

fn is_refused<T>(answer: &Result<T, StoreError>) -> bool {
    matches!(answer, Err(StoreError::Unavailable { .. }))
}

/// Starts a master and a replica.
async fn pair() -> (Redis, Redis) {
    let (first, second) = (start(ServerOptions::default()).await, start(ServerOptions::default()).await);
    follow(&second.url(), first.port());
    (first, second)
}

/// Opens an instance on the second server, the master from now on.
async fn fail_over(w: &World, second: &Redis, other: VoucherId) -> Storage {
    tell(&second.url(), &["REPLICAOF", "NO", "ONE"]);
    let there = w.on_redis_at(second.url()).await;
    let until = Deadline::after(Duration::from_secs(20));
    while is_refused(&there.selling.sales.claim(claim(other, 99, 99)).await) {
        assert!(!until.is_over());
    }
    there
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server")]
async fn claims_in_hand_when_redis_was_replaced_were_sold_again() {
    let mut server = start(ServerOptions::default()).await;
    let w = world::fresh(server.url()).await;
    let (voucher, other) = (w.sale(Some(5)).await, w.other_instance().await);
    for user in 1..=3 {
        assert!(accepted(&w.storage, claim(voucher, user, user)).await);
    }
    let in_hand = w.storage.selling.order_log.take(WORKER, 9, Duration::from_secs(5)).await.unwrap();
    assert_eq!(in_hand.len(), 3);
    // The server restarts empty, and only the worker still has the three claims.
    tokio::task::block_in_place(|| server.restart().unwrap());
    for storage in [&other, &w.storage] {
        let again = attempt(storage, claim(voucher, 1, 11)).await;
        assert!(is_refused(&again), "{again:?}");
    }
    w.storage.selling.orders.persist(&in_hand, NOON).await.unwrap();
    let others = w.storage.selling.order_log.done(WORKER, &in_hand).await.unwrap();
    assert_eq!(others.len(), 3, "that log never had them");
    let first = claim(voucher, 1, 1).order;
    assert_eq!(recovers(&w.storage, claim(voucher, 1, 12)).await, ClaimOutcome::AlreadyBought(first));
    for user in 4..=5 {
        assert!(accepted(&other, claim(voucher, user, user)).await);
    }
    assert_eq!(recovers(&w.storage, claim(voucher, 6, 6)).await, ClaimOutcome::SoldOut);
    w.persist_all().await;
    assert_eq!(w.storage.selling.orders.count(voucher).await.unwrap().dead_letters, 0);
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server")]
async fn claims_that_were_put_back_into_a_log_that_is_gone_were_lost() {
    for breaks_off in [false, true] {
        let mut server = start(ServerOptions::default()).await;
        let w = world::fresh(server.url()).await;
        let voucher = w.sale(Some(5)).await;
        assert!(accepted(&w.storage, claim(voucher, 1, 1)).await);
        let in_hand = w.storage.selling.order_log.take(WORKER, 9, Duration::from_secs(5)).await.unwrap();
        tokio::task::block_in_place(|| server.restart().unwrap());
        if breaks_off {
            while w.storage.selling.order_log.reclaim(WORKER).await.is_err() {}
        } else {
            while w.storage.selling.order_log.put_back(WORKER, &in_hand, true).await.is_err() {}
        }
        let again = w.storage.selling.order_log.take("another", 9, Duration::from_secs(5)).await.unwrap();
        assert_eq!(again.iter().map(|logged| logged.claim).collect::<Vec<_>>(), [claim(voucher, 1, 1)]);
        assert_eq!(again[0].attempts, u32::from(!breaks_off));
        w.storage.selling.orders.persist(&again, NOON).await.unwrap();
        w.storage.selling.order_log.done("another", &again).await.unwrap();
        let bought = ClaimOutcome::AlreadyBought(claim(voucher, 1, 1).order);
        assert_eq!(recovers(&w.storage, claim(voucher, 1, 2)).await, bought);
    }
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server")]
async fn a_unit_given_back_on_a_master_that_was_followed_by_another_was_never_sold() {
    let (first, second) = pair().await;
    let w = world::fresh(first.url()).await;
    let (voucher, other) = (w.sale(Some(1)).await, w.sale(None).await);
    let mine = claim(voucher, 1, 1);
    assert!(accepted(&w.storage, mine).await);
    w.persist_all().await;
    tell(&first.url(), &["WAIT", "1", "5000"]);
    let there = fail_over(&w, &second, other).await;
    // Loaded there while the order is live.
    assert_eq!(attempt(&there, claim(voucher, 2, 2)).await.unwrap(), ClaimOutcome::SoldOut);
    let _ = w.storage.selling.orders.step(mine.order, Transition::Cancel, NOON).await.unwrap();
    let released = w.storage.selling.sales.release(voucher, mine.user, mine.order).await;
    assert!(is_refused(&released), "{released:?}");
    assert_eq!(
        there.selling.sales.release(voucher, mine.user, mine.order).await.unwrap(),
        ReleaseOutcome::Released
    );
    assert!(accepted(&there, claim(voucher, 2, 2)).await);
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server")]
async fn a_master_that_was_followed_by_another_went_on_selling() {
    let (first, second) = pair().await;
    let w = world::fresh(first.url()).await;
    let (voucher, other) = (w.sale(Some(9)).await, w.sale(None).await);
    assert!(accepted(&w.storage, claim(voucher, 1, 1)).await);
    let there = fail_over(&w, &second, other).await;
    assert!(accepted(&there, claim(voucher, 2, 2)).await);
    let terms = w.storage.catalogue.vouchers.get(voucher).await.unwrap().unwrap().sale.unwrap().terms;
    for user in 3..6 {
        let old = w.storage.selling.sales.claim(claim(voucher, user, user)).await;
        assert!(is_refused(&old), "{old:?}");
        let old = w.storage.selling.sales.put(terms, TOKEN).await;
        assert!(is_refused(&old), "{old:?}");
        assert!(w.storage.selling.order_log.take(WORKER, 9, Duration::ZERO).await.unwrap().is_empty());
        assert!(accepted(&there, claim(voucher, user, user)).await, "no epoch for the old one");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server")]
async fn live_stock_of_a_new_master_missed_a_unit_that_a_worker_had_in_hand() {
    let (first, second) = pair().await;
    let w = world::fresh(first.url()).await;
    let voucher = w.sale(Some(5)).await;
    assert!(accepted(&w.storage, claim(voucher, 1, 1)).await);
    tell(&first.url(), &["WAIT", "1", "5000"]);
    tell(&second.url(), &["REPLICAOF", "NO", "ONE"]);
    // Replication has ended: the second server never receives the next claim.
    assert!(accepted(&w.storage, claim(voucher, 2, 2)).await);
    let in_hand = w.storage.selling.order_log.take(WORKER, 9, Duration::from_secs(5)).await.unwrap();
    assert_eq!(in_hand.len(), 2);
    let there = w.on_redis_at(second.url()).await;
    for _ in 0..4 {
        let shown = there.selling.sales.units(voucher).await;
        assert!(is_refused(&shown), "{shown:?}");
    }
    w.storage.selling.orders.persist(&in_hand, NOON).await.unwrap();
    w.storage.selling.order_log.done(WORKER, &in_hand).await.unwrap();
    assert_eq!(recovers(&there, claim(voucher, 3, 3)).await, ClaimOutcome::Accepted);
    assert_eq!(there.selling.sales.units(voucher).await.unwrap().unwrap().taken, 3);
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server")]
async fn an_old_master_that_is_back_showed_a_claim_that_its_replica_never_had() {
    let (first, second) = pair().await;
    let w = world::fresh(first.url()).await;
    let (voucher, other) = (w.sale(Some(5)).await, w.sale(None).await);
    tell(&first.url(), &["WAIT", "1", "5000"]);
    tell(&second.url(), &["REPLICAOF", "NO", "ONE"]);
    let lost = claim(voucher, 1, 1);
    assert!(accepted(&w.storage, lost).await);
    fail_over(&w, &second, other).await;
    // The instance is still connected to the old master.
    let found = w.storage.selling.order_log.find(lost.order).await;
    assert!(is_refused(&found), "{found:?}");
    let found = w.storage.selling.order_log.of_user(lost.user).await;
    assert!(is_refused(&found), "{found:?}");
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server")]
async fn an_instance_that_died_with_claims_in_hand_kept_a_sale_closed_for_ever() {
    const SILENCE: Duration = Duration::from_secs(2);
    let mut server = start(ServerOptions::default()).await;
    let w = world::fresh(server.url()).await;
    let options = RedisOptions { worker_silence: SILENCE, ..w.production().redis.clone() };
    let fresh = async || {
        let ports = connect_beside(&options, &w.production().mysql).await.unwrap();
        let RedisPorts { sales, order_log, .. } = ports;
        let selling = SellingPorts { sales, order_log, ..w.storage.selling.clone() };
        Storage { selling, ..w.storage.clone() }
    };
    let (live, dead, voucher) = (fresh().await, fresh().await, w.sale(Some(9)).await);
    assert!(accepted(&live, claim(voucher, 1, 1)).await);
    assert_eq!(dead.selling.order_log.take(WORKER, 9, Duration::from_secs(5)).await.unwrap().len(), 1);
    drop(dead);
    tokio::task::block_in_place(|| server.restart().unwrap());
    let began = Instant::now();
    while is_refused(&attempt(&live, claim(voucher, 2, 2)).await) {
        assert!(patience::is_within(began.elapsed(), 5 * SILENCE));
    }
}
