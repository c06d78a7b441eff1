//! What only Redis can do to a mall: go away, forget scripts, lose messages, and be shared by instances that die.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mallbox_storage::production::redis::{RedisDurability, RedisOptions, RedisPorts};
use mallbox_storage::{
    Claim, ClaimAnswer, LockOwner, Locker, Logged, OpenError, Release, Step, Storage, StoreError, VoucherId,
};
use mallbox_test_servers::{Redis, RedisCluster, RedisOptions as ServerOptions};

use crate::redis_world;
use crate::world::{NOON, WORKER, World, claim, embedded};

/// What no call may take longer than, whatever Redis does.
const LONGEST: Duration = Duration::from_millis(1500);
const SILENCE: Duration = Duration::from_millis(400);

/// A test that needs redis-server.
macro_rules! on_servers {
    ($(async fn $name:ident() $body:block)+) => {
        $(#[tokio::test(flavor = "multi_thread")]
        #[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server")]
        async fn $name() $body)+
    };
}

/// A world whose record is empty.
async fn connect(options: &RedisOptions) -> Result<RedisPorts, OpenError> {
    redis_world::ports(&embedded().storage, options).await
}

async fn start(options: ServerOptions) -> Redis {
    tokio::task::spawn_blocking(move || Redis::start_with(options).unwrap()).await.unwrap()
}

/// Says something to a server behind the mall's back.
fn tell(url: &str, words: &[&str]) {
    let mut connection = ::redis::Client::open(url).unwrap().get_connection().unwrap();
    let mut command = ::redis::cmd(words[0]);
    command.arg(&words[1..]);
    let _: ::redis::Value = command.query(&mut connection).unwrap();
}

async fn accepted(storage: &Storage, claim: Claim) -> bool {
    storage.sales.claim(claim).await.unwrap() == ClaimAnswer::Accepted
}

async fn take(storage: &Storage, wait: Duration) -> Vec<Logged> {
    storage.order_log.take(WORKER, 1000, wait).await.unwrap()
}

/// Calls until it is answered again.
async fn recovers(w: &World, attempt: Claim) -> ClaimAnswer {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        match w.storage.sales.claim(attempt).await {
            Ok(answer) => return answer,
            Err(error) => assert!(Instant::now() < until, "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Many calls against a server that is away: each is refused, and in time.
async fn all_fail_fast(w: &World, voucher: VoucherId) {
    let mut calls = tokio::task::JoinSet::new();
    for number in 1000..1032 {
        let storage = w.storage.clone();
        calls.spawn(async move {
            let began = Instant::now();
            let answer = storage.sales.claim(claim(voucher, number, number)).await;
            (answer, began.elapsed())
        });
    }
    for (answer, took) in calls.join_all().await {
        assert!(matches!(answer, Err(StoreError::Unavailable { .. })), "{answer:?}");
        assert!(took < LONGEST, "{took:?}");
    }
    let began = Instant::now();
    assert!(w.storage.order_log.state().await.trouble.is_some());
    assert!(w.storage.order_log.take(WORKER, 10, Duration::ZERO).await.is_err());
    assert!(began.elapsed() < 2 * LONGEST, "{:?}", began.elapsed());
}

on_servers! {
    async fn a_server_that_is_killed_is_found_again_with_all_it_answered() {
        let mut server = start(ServerOptions::default().with("appendonly", "yes").with("appendfsync", "always")).await;
        let w = redis_world::fresh(server.url()).await;
        let voucher = w.sale(Some(3)).await;
        assert!(accepted(&w.storage, claim(voucher, 1, 1)).await);
        server.kill();
        all_fail_fast(&w, voucher).await;
        tokio::task::block_in_place(|| server.restart().unwrap());
        assert_eq!(recovers(&w, claim(voucher, 1, 1)).await, ClaimAnswer::Accepted, "a repeat");
        assert_eq!(recovers(&w, claim(voucher, 2, 2)).await, ClaimAnswer::Accepted);
        assert_eq!(w.persist_all().await.len(), 2);
        assert_eq!(w.storage.sales.units(voucher).await.unwrap().unwrap().taken, 2);
    }

    async fn a_cluster_that_lost_a_node_is_whole_again_with_it() {
        let mut cluster = tokio::task::spawn_blocking(|| RedisCluster::start(3).unwrap()).await.unwrap();
        let w = redis_world::fresh(cluster.urls()[0].clone()).await;
        // So many that each node has some.
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
            failed += u32::from(w.storage.sales.claim(claim(*voucher, 2, 100 + voucher.get())).await.is_err());
            assert!(asked.elapsed() < LONGEST, "{:?}", asked.elapsed());
        }
        assert!(failed > 0, "some are on that node ({:?})", began.elapsed());
        tokio::task::block_in_place(|| cluster.node_mut(1).unwrap().restart().unwrap());
        for voucher in &vouchers {
            // That node kept nothing: its sales are not known any more, and the others are whole.
            let answer = recovers(&w, claim(*voucher, 3, 200 + voucher.get())).await;
            assert!(matches!(answer, ClaimAnswer::Accepted | ClaimAnswer::Unknown), "{answer:?}");
        }
    }

    async fn scripts_that_redis_forgot_are_sent_again() {
        let cluster = tokio::task::spawn_blocking(|| RedisCluster::start(3).unwrap()).await.unwrap();
        let single = start(ServerOptions::default()).await;
        for urls in [vec![single.url()], cluster.urls()] {
            let w = redis_world::fresh(urls[0].clone()).await;
            let voucher = w.sale(Some(9)).await;
            for number in 1..=3 {
                assert!(accepted(&w.storage, claim(voucher, number, number)).await);
                urls.iter().for_each(|url| tell(url, &["SCRIPT", "FLUSH"]));
            }
            assert_eq!(w.persist_all().await.len(), 3);
        }
    }

    async fn instances_that_share_a_sale_sell_exactly_its_units() {
        const UNITS: u64 = 500;
        for w in [redis_world::single().await, redis_world::cluster().await] {
            let voucher = w.sale(Some(UNITS)).await;
            let mut tasks = tokio::task::JoinSet::new();
            for instance in 0..4 {
                let storage = Arc::new(w.other_instance().await);
                for part in 0..8 {
                    let storage = Arc::clone(&storage);
                    tasks.spawn(async move {
                        let mut won = Vec::new();
                        for n in 0..40 {
                            // Every user tries on two instances.
                            let user = (instance * 320 + part * 40 + n) % 640;
                            let attempt = claim(voucher, user, instance * 1000 + part * 40 + n);
                            if accepted(&storage, attempt).await {
                                won.push(attempt);
                            }
                        }
                        won
                    });
                }
            }
            let won: Vec<Claim> = tasks.join_all().await.into_iter().flatten().collect();
            let users: std::collections::HashSet<_> = won.iter().map(|claim| claim.user).collect();
            assert_eq!((won.len() as u64, users.len() as u64), (UNITS, UNITS));
            assert_eq!(w.storage.sales.units(voucher).await.unwrap().unwrap().left(), Some(0));
            assert_eq!(w.storage.order_log.count(voucher).await.unwrap(), UNITS);
            // Their workers share the work, and nothing is handed out twice.
            let (left, right) = (w.other_instance().await, w.other_instance().await);
            let mut handed = Vec::new();
            for _ in 0..40 {
                for storage in [&left, &right] {
                    let taken = storage.order_log.take(WORKER, 30, Duration::ZERO).await.unwrap();
                    storage.order_log.done(WORKER, &taken).await.unwrap();
                    handed.extend(taken.iter().map(|logged| logged.claim.order));
                }
            }
            assert_eq!(handed.len() as u64, UNITS);
            handed.sort_unstable();
            handed.dedup();
            assert_eq!(handed.len() as u64, UNITS);
            assert_eq!(w.storage.order_log.state().await.pending, 0);
        }
    }

    async fn a_sale_loaded_by_many_at_once_while_units_come_back_is_right() {
        const ORDERS: u64 = 240;
        for w in [redis_world::single().await, redis_world::cluster().await] {
            let voucher = w.sale(Some(1000)).await;
            let terms = w.terms(voucher).await;
            let attempts: Vec<Claim> = (1..=ORDERS).map(|user| claim(voucher, user, user)).collect();
            for attempt in &attempts {
                assert!(accepted(&w.storage, *attempt).await);
            }
            w.persist_all().await;
            // These are only in the log while the sale is loaded.
            for number in 1001..=1020 {
                assert!(accepted(&w.storage, claim(voucher, number, number)).await);
            }
            let mut instances = Vec::new();
            for _ in 0..3 {
                instances.push(w.other_instance().await);
            }
            let closing = {
                let (storage, attempts) = (instances[0].clone(), attempts.clone());
                tokio::spawn(async move {
                    for attempt in attempts.iter().take(100) {
                        let _ = storage.orders.step(attempt.order, Step::Cancel, NOON).await.unwrap();
                        let _ = storage.sales.release(voucher, attempt.user, attempt.order).await.unwrap();
                    }
                })
            };
            let mut new = 0;
            while !closing.is_finished() {
                w.storage.sales.forget(voucher).await.unwrap();
                let puts = instances.iter().map(|storage| storage.sales.put(terms));
                for put in futures_util::future::join_all(puts).await {
                    put.unwrap();
                }
                new += 1;
                assert!(accepted(&w.storage, claim(voucher, 2000 + new, 2000 + new)).await);
            }
            closing.await.unwrap();
            let units = w.storage.sales.units(voucher).await.unwrap().unwrap();
            assert_eq!(units.taken, ORDERS - 100 + 20 + new);
            for attempt in &attempts[..100] {
                let again = Claim { order: claim(voucher, 1, 5000 + attempt.user.get()).order, ..*attempt };
                assert!(accepted(&w.storage, again).await, "whoever gave back may buy again");
            }
            let held = w.storage.sales.claim(claim(voucher, 200, 9000)).await.unwrap();
            assert_eq!(held, ClaimAnswer::AlreadyBought(attempts[199].order));
        }
    }

    async fn what_a_dead_instance_had_in_hand_goes_to_another_and_a_slow_one_keeps_its_own() {
        for w in [redis_world::single().await, redis_world::cluster().await] {
            let options = RedisOptions { worker_silence: SILENCE, ..w.redis.clone().unwrap() };
            let fresh = async || {
                let RedisPorts { sales, order_log, .. } = connect(&options).await.unwrap();
                Storage { sales, order_log, ..w.storage.clone() }
            };
            let voucher = w.sale(None).await;
            let (dead, slow) = (fresh().await, fresh().await);
            for number in 1..=5 {
                assert!(accepted(&w.storage, claim(voucher, number, number)).await);
            }
            let in_dead_hands = dead.order_log.take(WORKER, 2, Duration::ZERO).await.unwrap();
            let in_slow_hands = take(&slow, Duration::ZERO).await;
            assert_eq!((in_dead_hands.len(), in_slow_hands.len()), (2, 3));
            let live = fresh().await;
            drop(dead);
            let began = Instant::now();
            let rescued = take(&live, Duration::from_secs(10)).await;
            let took = began.elapsed();
            assert_eq!(rescued.iter().map(|logged| logged.claim).collect::<Vec<_>>(),
                in_dead_hands.iter().map(|logged| logged.claim).collect::<Vec<_>>());
            assert!(took >= SILENCE / 2 && took < SILENCE * 5, "{took:?}");
            // The slow one has been silent for long by now, but its process says that it lives.
            assert!(take(&live, SILENCE * 4).await.is_empty());
            slow.order_log.done(WORKER, &in_slow_hands).await.unwrap();
            live.order_log.done(WORKER, &rescued).await.unwrap();
            assert_eq!(live.order_log.state().await.pending, 0);
        }
    }

    async fn a_claim_made_elsewhere_is_found_without_being_told_of() {
        let w = redis_world::single().await;
        let voucher = w.sale(None).await;
        let other = w.other_instance().await;
        let waiting = tokio::spawn(async move { take(&other, Duration::from_secs(10)).await });
        tokio::time::sleep(Duration::from_millis(100)).await;
        let began = Instant::now();
        assert!(accepted(&w.storage, claim(voucher, 1, 1)).await);
        assert_eq!(waiting.await.unwrap().len(), 1);
        assert!(began.elapsed() < Duration::from_millis(600), "{:?}", began.elapsed());
    }

    async fn one_who_waits_for_a_lock_looks_for_itself_when_nobody_tells() {
        let server = start(ServerOptions::default()).await;
        let ports = connect(&RedisOptions::new(server.url())).await.unwrap();
        let locker = Arc::new(Locker::new(ports.locks));
        let long = Duration::from_secs(60);
        let held = locker.hold("a", LockOwner::new(1), long, Duration::ZERO).await.unwrap().unwrap();
        let waiting = {
            let locker = Arc::clone(&locker);
            tokio::spawn(async move { locker.hold("a", LockOwner::new(2), long, long).await.unwrap().is_some() })
        };
        tokio::time::sleep(Duration::from_millis(100)).await;
        tell(&server.url(), &["CLIENT", "KILL", "TYPE", "pubsub"]);
        let began = Instant::now();
        assert!(held.leave().await.unwrap());
        assert!(waiting.await.unwrap());
        assert!(began.elapsed() < Duration::from_millis(1000), "{:?}", began.elapsed());
    }

    async fn a_release_that_is_repeated_gives_back_once() {
        let w = redis_world::single().await;
        let voucher = w.sale(Some(2)).await;
        let mine = claim(voucher, 1, 1);
        assert!(accepted(&w.storage, mine).await);
        let mut releases = Vec::new();
        for _ in 0..3 {
            releases.push(w.storage.sales.release(voucher, mine.user, mine.order).await.unwrap());
        }
        assert_eq!(releases, [Release::Released, Release::NotHeld, Release::NotHeld]);
        assert_eq!(w.storage.sales.units(voucher).await.unwrap().unwrap().taken, 0);
    }

    async fn a_redis_that_may_throw_things_away_is_refused() {
        let server = start(ServerOptions::default().with("maxmemory-policy", "allkeys-lru").with("requirepass", "hush")).await;
        let url = format!("redis://:hush@127.0.0.1:{}", server.port());
        let refused = connect(&RedisOptions::new(url)).await.err().unwrap();
        assert!(matches!(refused, OpenError::Unfit { .. }), "{refused}");
        assert!(refused.to_string().contains("allkeys-lru") && !refused.to_string().contains("hush"), "{refused}");
        let wrong = format!("redis://:hush-hush@127.0.0.1:{}", server.port());
        let refused = connect(&RedisOptions::new(wrong)).await.err().unwrap();
        assert!(matches!(refused, OpenError::Unreachable { .. }), "{refused}");
        assert!(!refused.to_string().contains("hush"), "{refused}");
    }

    async fn health_names_the_durability_in_force() {
        for (append, fsync, expected) in [
            ("no", "always", RedisDurability::Memory),
            ("yes", "no", RedisDurability::System),
            ("yes", "everysec", RedisDurability::EverySecond),
            ("yes", "always", RedisDurability::Always),
        ] {
            let mut server = start(ServerOptions::default().with("appendonly", append).with("appendfsync", fsync)).await;
            let health = connect(&RedisOptions::new(server.url())).await.unwrap().upkeep.health().await;
            assert_eq!((health.durability, health.troubles.len()), (Some(expected), 0));
            assert!(health.clock.is_some());
            // Without the right to ask.
            tell(&server.url(), &["ACL", "SETUSER", "mall", "on", ">hush", "~*", "&*", "+@all", "-config"]);
            let url = format!("redis://mall:hush@127.0.0.1:{}", server.port());
            let ports = connect(&RedisOptions::new(url)).await.unwrap();
            let unknown = if append == "yes" { RedisDurability::Unknown } else { RedisDurability::Memory };
            assert_eq!(ports.upkeep.health().await.durability, Some(unknown));
            server.kill();
            let health = ports.upkeep.health().await;
            assert_eq!((health.durability, health.troubles.len()), (None, 1), "{:?}", health.troubles);
        }
        let w = redis_world::cluster().await;
        let health = connect(w.redis.as_ref().unwrap()).await.unwrap().upkeep.health().await;
        assert_eq!(health.durability, Some(RedisDurability::Memory));
    }
}
