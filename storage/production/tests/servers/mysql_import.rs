//! An import while other processes use the database.

use std::time::{Duration, Instant};

use mallbox_storage::{FinishOptions, Importing, Page, Phone, Storage, StoreError, User, UserFilter, UserId};
use mallbox_test_patience::{self as patience, Deadline};
use mysql_async::Conn;
use mysql_async::prelude::Queryable as _;
use tokio::task::JoinSet;

use crate::world;
use crate::world::{NOON, World};
use mallbox_storage_contract::operator::import::user;

const QUARTER: Duration = Duration::from_secs(900);

async fn users(storage: &Storage) -> Vec<User> {
    storage.people.users.list(&UserFilter::default(), Page::new(1, 10)).await.unwrap()
}

/// Begins as soon as whatever was given up has been undone.
async fn begin(storage: &Storage) -> Box<dyn Importing> {
    let until = Deadline::after(Duration::from_secs(20));
    loop {
        match storage.operator.import.begin().await {
            Ok(into) => return into.expect("an empty mall"),
            Err(error) => assert!(error.is_transient() && !until.is_over(), "{error}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
async fn while_somebody_moves_in_everybody_reads_and_nobody_writes() {
    let w = world::plain().await;
    let other = w.other_instance().await;
    let phone = Phone::parse("13800000000").unwrap();
    let mut into = begin(&w.storage).await;
    assert_eq!(into.put((1..=600).map(|id| (user(id), false)).collect()).await.unwrap(), [true; 600]);
    for storage in [&w.storage, &other] {
        let begun = Instant::now();
        assert_eq!(users(storage).await, []);
        assert!(patience::is_within(begun.elapsed(), Duration::from_millis(500)), "{:?}", begun.elapsed());
        let made = storage.people.users.find_or_create(&phone, "a", NOON).await;
        assert!(matches!(made, Err(StoreError::Unavailable { .. })), "{made:?}");
        assert!(patience::is_within(begun.elapsed(), Duration::from_millis(2000)), "{:?}", begun.elapsed());
        assert!(storage.operator.import.begin().await.is_err(), "two at once");
    }
    assert_eq!(into.finish(FinishOptions::new(QUARTER, NOON)).await.unwrap(), []);
    assert!(other.operator.import.begin().await.unwrap().is_none());
    assert!(other.people.users.find_or_create(&phone, "a", NOON).await.unwrap().id > UserId::new(600));
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
async fn of_those_who_begin_at_once_one_moves_in_unless_somebody_is_there() {
    let w = world::plain().await;
    let mut begins = JoinSet::new();
    for _ in 0..4 {
        let import = w.other_instance().await.operator.import;
        begins.spawn(async move { import.begin().await });
    }
    let begun: Vec<_> = begins.join_all().await;
    assert_eq!(begun.iter().filter(|begun| matches!(begun, Ok(Some(_)))).count(), 1);
    assert_eq!(begun.iter().filter(|begun| matches!(begun, Ok(None))).count(), 0);
    drop(begun);
    begin(&w.storage).await;
    // The import waits for a writer in progress, whose rows count.
    let mut rival: Conn = Conn::from_url(&w.production().mysql).await.unwrap();
    // The abandoned import is rolled back after a moment.
    rival.query_drop("SET innodb_lock_wait_timeout = 20").await.unwrap();
    rival.query_drop("START TRANSACTION").await.unwrap();
    rival.query_drop("INSERT INTO shop_types VALUES (1, 'food', '', 1, 0)").await.unwrap();
    assert!(w.storage.operator.import.begin().await.is_err());
    rival.query_drop("COMMIT").await.unwrap();
    assert!(w.storage.operator.import.begin().await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
async fn of_an_import_that_loses_its_connection_nothing_stays() {
    let w = world::plain().await;
    let mut into = begin(&w.storage).await;
    into.put(vec![(user(1), false)]).await.unwrap();
    let killed = kill_transactions(&w).await;
    assert_eq!(killed, 1);
    for _ in 0..2 {
        let put = into.put(vec![(user(2), false)]).await;
        assert!(matches!(put, Err(StoreError::Unavailable { .. })), "{put:?}");
    }
    assert!(into.finish(FinishOptions::new(QUARTER, NOON)).await.is_err());
    assert_eq!(users(&w.storage).await, []);
    begin(&w.storage).await.finish(FinishOptions::new(QUARTER, NOON)).await.unwrap();
    assert_eq!(users(&w.storage).await, []);
}

/// Kills the connections with an open transaction on the database. Returns their number.
async fn kill_transactions(w: &World) -> usize {
    let mut rival: Conn = Conn::from_url(&w.production().mysql).await.unwrap();
    let sql = "SELECT trx_mysql_thread_id FROM information_schema.innodb_trx
               JOIN information_schema.processlist ON id = trx_mysql_thread_id WHERE db = DATABASE()";
    let ids: Vec<u64> = rival.query(sql).await.unwrap();
    for id in &ids {
        rival.query_drop(format!("KILL {id}")).await.unwrap();
    }
    ids.len()
}
