//! A mall during Redis faults: outages, lost scripts, lost messages.

use std::path::Path;
use std::time::{Duration, Instant};

use mallbox_storage::{CircuitState, ClaimOutcome, LockOwner, Locker, OrderId, StoreError, VoucherId};
use mallbox_storage_production::redis::RedisOptions;
use mallbox_test_patience::{self as patience, Deadline};
use mallbox_test_servers::{RedisCluster, RedisOptions as ServerOptions};
use tempfile::TempDir;

use crate::redis_world::{accepted, connect, recovers, says, start, tell};
use crate::world;
use crate::world::{NOON, WORKER, World, claim};

/// Upper limit for the duration of any call, regardless of Redis.
const CALL_MAX: Duration = Duration::from_millis(1500);

/// Makes many calls against an unreachable server: each fails, and in time.
async fn all_fail_fast(w: &World, voucher: VoucherId) {
    let mut calls = tokio::task::JoinSet::new();
    for number in 1000..1032 {
        let storage = w.storage.clone();
        calls.spawn(async move {
            let began = Instant::now();
            let answer = storage.selling.sales.claim(claim(voucher, number, number)).await;
            (answer, began.elapsed())
        });
    }
    for (answer, took) in calls.join_all().await {
        assert!(matches!(answer, Err(StoreError::Unavailable { .. })), "{answer:?}");
        assert!(patience::is_within(took, CALL_MAX), "{took:?}");
    }
    let began = Instant::now();
    assert!(w.storage.selling.order_log.state().await.trouble.is_some());
    assert!(w.storage.selling.order_log.take(WORKER, 10, Duration::ZERO).await.is_err());
    assert!(patience::is_within(began.elapsed(), 2 * CALL_MAX), "{:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server")]
async fn a_server_that_is_killed_is_found_again_with_all_it_answered() {
    let mut server =
        start(ServerOptions::default().with("appendonly", "yes").with("appendfsync", "always")).await;
    let w = world::fresh(server.url()).await;
    let voucher = w.sale(Some(3)).await;
    assert!(accepted(&w.storage, claim(voucher, 1, 1)).await);
    server.kill();
    all_fail_fast(&w, voucher).await;
    tokio::task::block_in_place(|| server.restart().unwrap());
    assert_eq!(recovers(&w.storage, claim(voucher, 1, 1)).await, ClaimOutcome::Accepted, "a repeat");
    assert_eq!(recovers(&w.storage, claim(voucher, 2, 2)).await, ClaimOutcome::Accepted);
    assert_eq!(w.persist_all().await.len(), 2);
    assert_eq!(w.storage.selling.sales.units(voucher).await.unwrap().unwrap().taken, 2);
}

/// Possible effects of `appendfsync everysec`, or of a failover, on a mall.
#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server")]
async fn a_server_that_lost_the_end_of_what_it_answered_sells_nothing_twice() {
    let mut server =
        start(ServerOptions::default().with("appendonly", "yes").with("appendfsync", "always")).await;
    let w = world::fresh(server.url()).await;
    let (voucher, other) = (w.sale(Some(5)).await, w.other_instance().await);
    assert!(accepted(&w.storage, claim(voucher, 1, 1)).await);
    w.persist_all().await;
    tokio::task::block_in_place(|| server.kill());
    let before = copy_of(server.dir());
    tokio::task::block_in_place(|| server.restart().unwrap());
    for user in 2..=4 {
        assert_eq!(recovers(&w.storage, claim(voucher, user, user)).await, ClaimOutcome::Accepted);
    }
    assert_eq!(w.persist_all().await.len(), 3);
    let due: Vec<_> = w.storage.selling.orders.unpaid(OrderId::new(0), 9).await.unwrap();
    w.storage.selling.deadlines.set(&due).await.unwrap();

    tokio::task::block_in_place(|| {
        server.kill();
        restore(before.path(), server.dir());
        server.restart().unwrap();
    });
    // The database has three orders unknown to the restored server. No instance is notified.
    let again = recovers(&w.storage, claim(voucher, 3, 33)).await;
    assert_eq!(again, ClaimOutcome::AlreadyBought(claim(voucher, 3, 3).order));
    assert!(accepted(&other, claim(voucher, 5, 5)).await);
    assert_eq!(recovers(&w.storage, claim(voucher, 6, 6)).await, ClaimOutcome::SoldOut);
    assert_eq!(w.storage.selling.sales.units(voucher).await.unwrap().unwrap().taken, 5);
    w.persist_all().await;
    assert_eq!(w.storage.selling.orders.count(voucher).await.unwrap().dead_letters, 0);
    assert_eq!(w.storage.selling.deadlines.next().await.unwrap(), Some(due[0].1));
    assert_eq!(w.storage.selling.deadlines.count().await.unwrap(), 5, "of those too that were not set");
}

/// A master that was demoted and comes back still has all scripts, and lacks the sales made meanwhile.
#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server")]
async fn a_master_that_was_demoted_and_promoted_again_is_not_believed() {
    let (first, second) = (start(ServerOptions::default()).await, start(ServerOptions::default()).await);
    let w = world::fresh(first.url()).await;
    let voucher = w.sale(Some(5)).await;
    assert!(accepted(&w.storage, claim(voucher, 1, 1)).await);
    w.persist_all().await;
    // The second server takes over and sells, and disappears before the first, now its replica, has received
    // the sales.
    follow(&second.url(), first.port());
    tell(&second.url(), &["REPLICAOF", "NO", "ONE"]);
    follow(&first.url(), second.port());
    let there = w.on_redis_at(second.url()).await;
    let sold_there = recovers(&there, claim(voucher, 2, 2)).await;
    assert_eq!(sold_there, ClaimOutcome::Accepted, "its script is sent to the second");
    tell(&second.url(), &["WAIT", "1", "5000"]);
    // A replica of nobody.
    tell(&first.url(), &["REPLICAOF", "127.0.0.1", "1"]);
    for user in 3..=4 {
        assert!(accepted(&there, claim(voucher, user, user)).await);
    }
    let taken = there.selling.order_log.take(WORKER, 1000, Duration::from_secs(5)).await.unwrap();
    let answers = there.selling.orders.persist(&taken, NOON).await.unwrap();
    assert_eq!(answers.len(), 3, "{taken:?} {answers:?}");
    there.selling.order_log.done(WORKER, &taken).await.unwrap();

    tell(&first.url(), &["REPLICAOF", "NO", "ONE"]);
    let again = recovers(&w.storage, claim(voucher, 3, 33)).await;
    assert_eq!(again, ClaimOutcome::AlreadyBought(claim(voucher, 3, 3).order));
    assert!(accepted(&w.storage, claim(voucher, 5, 5)).await);
    assert_eq!(recovers(&w.storage, claim(voucher, 6, 6)).await, ClaimOutcome::SoldOut);
    w.persist_all().await;
    assert_eq!(w.storage.selling.orders.count(voucher).await.unwrap().dead_letters, 0);
}

/// Makes a server a replica of another, and waits for complete replication.
pub fn follow(url: &str, port: u16) {
    tell(url, &["REPLICAOF", "127.0.0.1", &port.to_string()]);
    let until = Deadline::after(Duration::from_secs(20));
    while !says(url, "replication").contains("master_link_status:up") {
        assert!(!until.is_over());
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn copy_of(dir: &Path) -> TempDir {
    let copy = TempDir::new().unwrap();
    restore(dir, copy.path());
    copy
}

/// Replaces a directory by a copy of another.
fn restore(from: &Path, to: &Path) {
    std::fs::remove_dir_all(to).unwrap();
    std::fs::create_dir(to).unwrap();
    let done = std::process::Command::new("cp").arg("-a").arg(from.join(".")).arg(to).status().unwrap();
    assert!(done.success());
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server")]
async fn a_cluster_that_lost_a_node_is_whole_again_with_it() {
    let mut cluster = tokio::task::spawn_blocking(|| RedisCluster::start(3).unwrap()).await.unwrap();
    let w = world::fresh(cluster.urls()[0].clone()).await;
    // Enough sales for some on each node.
    let mut vouchers = Vec::new();
    for _ in 0..16 {
        vouchers.push(w.sale(Some(5)).await);
    }
    for voucher in &vouchers {
        assert!(accepted(&w.storage, claim(*voucher, 1, voucher.get())).await);
    }
    cluster.node_mut(1).unwrap().kill();
    let began = Instant::now();
    let mut failed = 0;
    for voucher in &vouchers {
        let asked = Instant::now();
        failed +=
            u32::from(w.storage.selling.sales.claim(claim(*voucher, 2, 100 + voucher.get())).await.is_err());
        assert!(patience::is_within(asked.elapsed(), CALL_MAX), "{:?}", asked.elapsed());
    }
    assert!(failed > 0, "some are on that node ({:?})", began.elapsed());
    tokio::task::block_in_place(|| cluster.node_mut(1).unwrap().restart().unwrap());
    for voucher in &vouchers {
        // The restarted node is empty: its sales are reloaded, and the other nodes are intact.
        assert_eq!(
            recovers(&w.storage, claim(*voucher, 3, 200 + voucher.get())).await,
            ClaimOutcome::Accepted
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server")]
async fn scripts_that_redis_forgot_are_sent_again() {
    let cluster = tokio::task::spawn_blocking(|| RedisCluster::start(3).unwrap()).await.unwrap();
    let single = start(ServerOptions::default()).await;
    for urls in [vec![single.url()], cluster.urls()] {
        let w = world::fresh(urls[0].clone()).await;
        let voucher = w.sale(Some(9)).await;
        for number in 1..=3 {
            assert!(accepted(&w.storage, claim(voucher, number, number)).await);
            urls.iter().for_each(|url| tell(url, &["SCRIPT", "FLUSH"]));
        }
        assert_eq!(w.persist_all().await.len(), 3);
    }
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server")]
async fn one_who_waits_for_a_lock_looks_for_itself_when_nobody_tells() {
    let server = start(ServerOptions::default()).await;
    let ports = connect(&RedisOptions::new(server.url())).await.unwrap();
    // Another process: callers of one process queue without messages.
    let other = connect(&RedisOptions::new(server.url())).await.unwrap();
    let (locker, waiter) = (Locker::new(ports.locks), Locker::new(other.locks));
    let long = Duration::from_secs(60);
    let held = locker.hold("a", LockOwner::new(1), long, Duration::ZERO).await.unwrap().unwrap();
    let waiting =
        tokio::spawn(async move { waiter.hold("a", LockOwner::new(2), long, long).await.unwrap().is_some() });
    tokio::time::sleep(Duration::from_millis(100)).await;
    tell(&server.url(), &["CLIENT", "KILL", "TYPE", "pubsub"]);
    let began = Instant::now();
    assert!(held.leave().await.unwrap());
    assert!(waiting.await.unwrap());
    assert!(patience::is_within(began.elapsed(), Duration::from_millis(1000)), "{:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
async fn one_silent_master_of_three_took_the_time_of_calls_to_it_and_nothing_from_the_others() {
    let mut cluster = tokio::task::spawn_blocking(|| RedisCluster::start(3).unwrap()).await.unwrap();
    let urls = cluster.urls();
    for url in &urls {
        tell(url, &["CONFIG", "SET", "cluster-require-full-coverage", "no"]);
    }
    let w = world::fresh(urls[0].clone()).await;
    let mut sales = Vec::new();
    for _ in 0..16 {
        let voucher = w.sale(Some(1_000)).await;
        assert!(accepted(&w.storage, claim(voucher, 1, voucher.get())).await);
        sales.push(voucher);
    }
    let circuits = async || {
        let parts = w.storage.base.upkeep.health().await.parts;
        parts.into_iter().find(|part| part.name == "Redis").unwrap().circuits
    };
    let open = async || circuits().await.into_iter().filter(|circuit| circuit.state == CircuitState::Open);
    // Claims a unit of each sale concurrently. Returns the number of accepted claims.
    let round = async |number: u64| {
        let claims = sales
            .iter()
            .map(|sale| w.storage.selling.sales.claim(claim(*sale, number, 1_000 * number + sale.get())));
        let answers = futures_util::future::join_all(claims).await;
        answers.iter().filter(|answer| matches!(answer, Ok(ClaimOutcome::Accepted))).count()
    };
    assert_eq!(circuits().await.len(), 3);
    assert_eq!(round(2).await, 16);

    let silent = cluster.node_mut(1).unwrap();
    silent.pause().unwrap();
    let until = Deadline::after(Duration::from_secs(20));
    let mut number = 3;
    while open().await.count() == 0 {
        assert!(!until.is_over(), "{:?}", circuits().await);
        round(number).await;
        number += 1;
    }
    let before: Vec<_> = open().await.collect();
    let taken = round(number).await;
    let after: Vec<_> = open().await.collect();
    assert!(taken > 0 && taken < 16, "{taken}");
    assert_eq!((before.len(), after.len()), (1, 1), "{after:?}");
    assert_eq!(before[0].node, format!("127.0.0.1:{}", silent.port()));
    assert!(after[0].refused >= before[0].refused + 16 - taken as u64, "{before:?} {after:?}");

    silent.resume().unwrap();
    number += 1;
    let until = Deadline::after(Duration::from_secs(20));
    while round(number).await < 16 {
        assert!(!until.is_over(), "{:?}", circuits().await);
        number += 1;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
