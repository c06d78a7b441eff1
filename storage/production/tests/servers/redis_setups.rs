//! Redis configurations: behind sentinels, with TLS and passwords, and with various durability settings.

use std::time::Duration;

use mallbox_storage::{ClaimOutcome, OpenError};
use mallbox_storage_production::redis::{RedisDurability, RedisOptions};
use mallbox_test_patience::Deadline;
use mallbox_test_servers::{Host, RedisOptions as ServerOptions, RedisSentinel, free_port};

use crate::redis_world::{accepted, connect, recovers, start, tell, try_says};
use crate::world;
use crate::world::claim;

/// Waits for something to come true.
async fn until(is_so: impl Fn() -> bool) {
    let until = Deadline::after(Duration::from_secs(20));
    while !tokio::task::block_in_place(&is_so) {
        assert!(!until.is_over());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Whether a server's `INFO replication` contains `line`.
fn heard_of(url: &str, line: &str) -> bool {
    // A server closes its connections when its role changes.
    try_says(url, "replication").is_ok_and(|reply| reply.contains(line))
}

fn sentinel_knows_a_replica(port: u16) -> bool {
    let client = ::redis::Client::open(format!("redis://127.0.0.1:{port}")).unwrap();
    let mut command = ::redis::cmd("SENTINEL");
    command.arg("REPLICAS").arg("mall");
    let known: Vec<::redis::Value> = command.query(&mut client.get_connection().unwrap()).unwrap();
    !known.is_empty()
}

/// A certificate for 127.0.0.1, with its certificate authority.
fn certificates(dir: &std::path::Path) {
    std::fs::write(dir.join("names"), "subjectAltName=IP:127.0.0.1\n").unwrap();
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    for command in [
        format!("req -x509 {key} -keyout ca.key -out ca.crt -subj /CN=authority -days 2"),
        format!("req {key} -keyout server.key -out server.csr -subj /CN=redis"),
        "x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -out server.crt -days 2 -extfile names".to_owned(),
    ] {
        let done = std::process::Command::new("openssl").args(command.split(' ')).current_dir(dir).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server")]
async fn the_master_that_sentinels_name_is_followed() {
    let mut master = start(ServerOptions::default()).await;
    let replica = start(ServerOptions::default()).await;
    tell(&replica.url(), &["REPLICAOF", "127.0.0.1", &master.port().to_string()]);
    let port = master.port();
    let sentinel =
        tokio::task::spawn_blocking(move || RedisSentinel::start("mall", port, &Host::default()).unwrap());
    let sentinel = sentinel.await.unwrap();
    let w = world::fresh(format!("redis+sentinel://127.0.0.1:{}/mall", sentinel.port())).await;
    let voucher = w.sale(Some(9)).await;
    assert!(accepted(&w.storage, claim(voucher, 1, 1)).await);
    until(|| {
        heard_of(&master.url(), "connected_slaves:1") && heard_of(&replica.url(), "master_link_status:up")
    })
    .await;
    until(|| sentinel_knows_a_replica(sentinel.port())).await;
    tell(&master.url(), &["WAIT", "1", "5000"]);
    // By the operator's wish: the old master goes on as a replica, and refuses writes.
    tell(&format!("redis://127.0.0.1:{}", sentinel.port()), &["SENTINEL", "FAILOVER", "mall"]);
    until(|| heard_of(&master.url(), "role:slave") && heard_of(&replica.url(), "role:master")).await;
    assert_eq!(recovers(&w.storage, claim(voucher, 1, 1)).await, ClaimOutcome::Accepted, "a repeat");
    assert_eq!(recovers(&w.storage, claim(voucher, 2, 2)).await, ClaimOutcome::Accepted);
    until(|| {
        heard_of(&replica.url(), "connected_slaves:1") && heard_of(&master.url(), "master_link_status:up")
    })
    .await;
    tell(&replica.url(), &["WAIT", "1", "5000"]);
    drop(replica);
    assert_eq!(recovers(&w.storage, claim(voucher, 3, 3)).await, ClaimOutcome::Accepted, "by its death");
    assert_eq!(w.storage.selling.sales.units(voucher).await.unwrap().unwrap().taken, 3);
    master.kill();
    assert!(w.storage.selling.sales.units(voucher).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server")]
async fn tls_and_a_password_are_used() {
    let dir = tempfile::tempdir().unwrap();
    certificates(dir.path());
    let file = |name: &str| dir.path().join(name).display().to_string();
    let port = free_port().unwrap();
    let options = ServerOptions::default()
        .with("port", "0")
        .with("tls-port", &port.to_string())
        .with("tls-cert-file", &file("server.crt"))
        .with("tls-key-file", &file("server.key"))
        .with("tls-ca-cert-file", &file("ca.crt"))
        .with("tls-auth-clients", "no")
        .with("requirepass", "hu sh");
    let _server = start(options).await;
    let url = format!("rediss://:hu%20sh@127.0.0.1:{port}");
    let w = world::fresh(format!("{url}?ca={}", file("ca.crt"))).await;
    let voucher = w.sale(Some(1)).await;
    assert!(accepted(&w.storage, claim(voucher, 1, 1)).await);
    assert_eq!(w.persist_all().await.len(), 1);
    let refused = connect(&RedisOptions::new(url)).await.err().unwrap().to_string();
    assert!(
        refused.contains("cannot connect to") && !refused.contains("hu"),
        "an unknown authority: {refused}"
    );
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server")]
async fn a_redis_that_may_throw_things_away_is_refused() {
    let server =
        start(ServerOptions::default().with("maxmemory-policy", "allkeys-lru").with("requirepass", "hush"))
            .await;
    let url = format!("redis://:hush@127.0.0.1:{}", server.port());
    let refused = connect(&RedisOptions::new(url)).await.err().unwrap();
    assert!(matches!(refused, OpenError::Unfit { .. }), "{refused}");
    assert!(
        refused.to_string().contains("allkeys-lru") && !refused.to_string().contains("hush"),
        "{refused}"
    );
    let wrong = format!("redis://:hush-hush@127.0.0.1:{}", server.port());
    let refused = connect(&RedisOptions::new(wrong)).await.err().unwrap();
    assert!(matches!(refused, OpenError::Unreachable { .. }), "{refused}");
    assert!(!refused.to_string().contains("hush"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server")]
async fn health_names_the_durability_in_force() {
    for (append, fsync, expected) in [
        ("no", "always", RedisDurability::Memory),
        ("yes", "no", RedisDurability::System),
        ("yes", "everysec", RedisDurability::EverySecond),
        ("yes", "always", RedisDurability::Always),
    ] {
        let mut server =
            start(ServerOptions::default().with("appendonly", append).with("appendfsync", fsync)).await;
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
    let w = world::cluster().await;
    let health = connect(&w.production().redis).await.unwrap().upkeep.health().await;
    assert_eq!(health.durability, Some(RedisDurability::Memory));
}
