//! MySQL configurations, and how a mall handles each at its start.

use std::time::{Duration, Instant};

use mallbox_storage::{Durability, OpenError, Phone};
use mallbox_storage_production::ProductionOptions;
use mallbox_storage_production::mysql::{self, MysqlPorts};
use mallbox_test_patience as patience;
use mallbox_test_servers::{Database, MariaDb, certificates, free_port};
use mysql_async::prelude::Queryable as _;
use tokio::task::JoinSet;

use crate::world::NOON;

async fn try_to_connect(url: &str) -> Result<MysqlPorts, OpenError> {
    mysql::connect(url).await
}

async fn refusal(url: &str) -> String {
    try_to_connect(url).await.err().unwrap().to_string()
}

/// The schema steps recorded in a database.
async fn steps(database: &Database) -> Vec<(u64, String)> {
    let sql = "SELECT number, name FROM mallbox_schema ORDER BY number";
    database.conn().await.query(sql).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs mariadbd")]
async fn of_many_that_start_at_once_one_makes_the_tables() {
    let database = Database::fresh();
    let mut starts = JoinSet::new();
    for _ in 0..8 {
        let url = database.url().to_owned();
        starts.spawn(async move { try_to_connect(&url).await.map(|ports| ports.users) });
    }
    let phone = Phone::parse("13900000001").unwrap();
    let mut found = Vec::new();
    for users in starts.join_all().await {
        found.push(users.unwrap().find_or_create(&phone, "a", NOON).await.unwrap());
    }
    assert!(found.windows(2).all(|pair| pair[0] == pair[1]));
    let steps = steps(&database).await;
    let numbers: Vec<u64> = steps.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, (1..=steps.len() as u64).collect::<Vec<_>>());
    assert_eq!(steps[0].1, "0001_users");
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs mariadbd")]
async fn a_step_that_was_done_and_not_noted_is_no_hindrance() {
    let database = Database::fresh();
    try_to_connect(database.url()).await.unwrap().upkeep.close().await.unwrap();
    let all = steps(&database).await;
    let mut conn = database.conn().await;
    // As if processes had died before recording the last few steps, one of which was not done.
    conn.query_drop("DELETE FROM mallbox_schema WHERE number >= 17").await.unwrap();
    conn.query_drop("DROP TRIGGER audit_head_stays").await.unwrap();
    let ports = try_to_connect(database.url()).await.unwrap();
    assert_eq!(steps(&database).await, all);
    let refused = conn.query_drop("DELETE FROM audit_head").await;
    conn.query_drop("INSERT INTO audit_head VALUES (1, 0, '')").await.unwrap();
    assert!(refused.is_ok() && conn.query_drop("DELETE FROM audit_head").await.is_err());
    ports.upkeep.put_setting("zone", "Asia/Shanghai").await.unwrap();
    ports.upkeep.put_setting("zone", "UTC").await.unwrap();
    assert_eq!(ports.upkeep.setting("zone").await.unwrap().as_deref(), Some("UTC"));
    assert_eq!(ports.upkeep.setting("other").await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs mariadbd")]
async fn a_newer_record_and_another_programs_database_are_refused_and_left_alone() {
    let newer = Database::fresh();
    try_to_connect(newer.url()).await.unwrap().upkeep.close().await.unwrap();
    newer.conn().await.query_drop("INSERT INTO mallbox_schema VALUES (99, '0099_later')").await.unwrap();
    let refused = refusal(newer.url()).await;
    assert!(refused.contains("written by a newer mallbox (schema 99"), "{refused}");

    let foreign = Database::fresh();
    let server = foreign.url().rsplit_once('/').unwrap().0;
    let name = foreign.url().rsplit_once('/').unwrap().1;
    let mut conn = mysql_async::Conn::from_url(server).await.unwrap();
    conn.query_drop(format!("CREATE DATABASE {name}")).await.unwrap();
    conn.query_drop(format!("CREATE TABLE {name}.users (id INT)")).await.unwrap();
    let refused = refusal(foreign.url()).await;
    assert!(refused.contains("tables of another program"), "{refused}");
    let tables: Vec<String> = foreign.conn().await.query("SHOW TABLES").await.unwrap();
    assert_eq!(tables, ["users"]);
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs mariadbd")]
async fn a_server_that_is_not_there_is_named_without_the_password() {
    let nowhere = free_port().unwrap();
    let begun = Instant::now();
    let refused = refusal(&format!("mysql://mall:hush@127.0.0.1:{nowhere}/mall")).await;
    assert!(patience::is_within(begun.elapsed(), Duration::from_secs(6)));
    assert!(
        refused.starts_with(&format!("cannot connect to MySQL at 127.0.0.1:{nowhere}/mall")),
        "{refused}"
    );
    assert!(!refused.contains("hush"), "{refused}");
    let options = ProductionOptions::new("redis://:hush@host", "mysql://mall:hush@host/mall");
    assert!(!format!("{options:?}").contains("hush"));
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs mariadbd and openssl")]
async fn tls_and_a_password_are_used() {
    let dir = tempfile::tempdir().unwrap();
    certificates(dir.path()).unwrap();
    let file = |name: &str| dir.path().join(name).display().to_string();
    let flags = [
        format!("--ssl-cert={}", file("server.crt")),
        format!("--ssl-key={}", file("server.key")),
        "--innodb-flush-log-at-trx-commit=2".to_owned(),
    ];
    let start = move || MariaDb::start_with(&flags.each_ref().map(String::as_str)).unwrap();
    let server = tokio::task::spawn_blocking(start).await.unwrap();
    let mut root = mysql_async::Conn::from_url(server.url("mysql")).await.unwrap();
    root.query_drop("CREATE USER mall IDENTIFIED BY 'hu@sh' REQUIRE SSL").await.unwrap();
    root.query_drop("GRANT ALL ON mall.* TO mall").await.unwrap();

    let url = format!("mysql://mall:hu%40sh@127.0.0.1:{}/mall", server.port());
    let ca = file("ca.crt");
    let ports = try_to_connect(&format!("{url}?require_ssl=true&ca={ca}")).await.unwrap();
    let phone = Phone::parse("13900000001").unwrap();
    ports.users.find_or_create(&phone, "a", NOON).await.unwrap();
    assert_eq!(ports.upkeep.durability(), Durability::Process, "it flushes without waiting for the disk");
    for refused in [
        refusal(&url).await,
        // From an unknown certificate authority, and under another name.
        refusal(&format!("{url}?require_ssl=true")).await,
        refusal(&format!("{}?require_ssl=true&ca={ca}", url.replace("127.0.0.1", "localhost"))).await,
        refusal(&format!("{}?require_ssl=true&ca={ca}", url.replace("hu%40sh", "hush"))).await,
        refusal(&format!("{url}?require_ssl=true&ca={ca}.not")).await,
    ] {
        assert!(refused.contains("cannot connect to") && !refused.contains("hu"), "{refused}");
    }
}
