//! The way back to the version before: a directory rewritten for it has no write-ahead log, an older
//! schema, and all pending claims and sessions.

use std::fs;
use std::path::Path;

use mallbox_storage::{Durability, OpenError};
use mallbox_storage_embedded::downgrade;
use rusqlite::Connection;

use crate::left::{has_everything, left};
use crate::world::World;

fn version(dir: &Path) -> i64 {
    let database = Connection::open(dir.join("mall.sqlite")).unwrap();
    database.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_goes_back_to_the_version_before_and_forward_again() {
    let mut closed = left().await;
    for _ in 0..2 {
        downgrade(closed.dir()).await.unwrap();
        assert_eq!(version(closed.dir()), 33);
        let log = closed.dir().join("log");
        let mut names: Vec<String> = fs::read_dir(&log)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert!(names.len() == 2 && names[0] == "CURRENT" && names[1].starts_with("store-"), "{names:?}");
        let world = closed.open().await;
        has_everything(&world).await;
        closed = world.closed().await;
        assert!(log.join("wal").is_dir());
    }
}

/// A crash before the change of the schema, and one behind it.
#[tokio::test(flavor = "multi_thread")]
async fn a_way_back_that_was_cut_short_is_made_good() {
    let closed = left().await;
    let log = closed.dir().join("log");
    fs::rename(log.join("wal"), log.join("wal.former")).unwrap();
    let world = closed.open().await;
    has_everything(&world).await;
    let closed = world.closed().await;
    assert!(!log.join("wal.former").exists());
    downgrade(closed.dir()).await.unwrap();
    fs::create_dir(log.join("wal.former")).unwrap();
    fs::write(log.join("wal.former/segment-1"), "an old segment").unwrap();
    let world = closed.open().await;
    has_everything(&world).await;
    assert!(!log.join("wal.former").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_mall_does_not_go_back() {
    let world = World::open(Durability::Process).await;
    let refused = downgrade(world.dir()).await.unwrap_err();
    assert!(matches!(refused, OpenError::InUse { .. }), "{refused}");
}
