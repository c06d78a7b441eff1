//! Guarantees of the writer to concurrent callers, and checks on opening.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};

use mallbox_storage::{Durability, OpenError, StoreError};
use parking_lot::Mutex;
use rusqlite::Connection;
use tempfile::TempDir;
use tokio::task::JoinSet;

use super::Database;

fn fresh() -> (TempDir, PathBuf, Database) {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("record.db");
    let database = Database::open(&path, Durability::Power, None).unwrap();
    database
        .write_blocking("make", |conn| conn.execute_batch("CREATE TABLE t (n INTEGER PRIMARY KEY)"))
        .unwrap();
    (dir, path, database)
}

fn add(conn: &Connection, n: i64) -> rusqlite::Result<usize> {
    conn.execute("INSERT INTO t (n) VALUES (?1)", [n])
}

fn rows(conn: &Connection) -> rusqlite::Result<Vec<i64>> {
    conn.prepare("SELECT n FROM t ORDER BY n")?.query_map([], |row| row.get(0))?.collect()
}

/// Keeps the writer busy until the returned sender is used or dropped. Later calls wait together meanwhile.
fn hold(database: &Database) -> mpsc::Sender<()> {
    let (release, released) = mpsc::channel::<()>();
    let (began, begun) = mpsc::channel();
    let job = move |_: &Connection| {
        let _ = began.send(());
        let _ = released.recv();
        Ok(())
    };
    database.write_then("hold", job, drop);
    begun.recv().unwrap();
    release
}

#[tokio::test]
async fn nobody_is_answered_before_the_commit_that_all_share() {
    let (_dir, path, database) = fresh();
    let release = hold(&database);
    let answered = Arc::new(AtomicBool::new(false));
    let first = Arc::clone(&answered);
    database.write_then("first", |conn| add(conn, 1), move |_| first.store(true, Ordering::SeqCst));
    let (sender, receiver) = mpsc::channel();
    let look = move |conn: &Connection| {
        let outside = Connection::open(&path)?;
        let _ = sender.send((rows(conn)?, rows(&outside)?, answered.load(Ordering::SeqCst)));
        Ok(())
    };
    let (done, is_done) = mpsc::channel();
    database.write_then("second", look, move |_| done.send(()).unwrap());
    drop(release);
    is_done.recv().unwrap();
    assert_eq!(receiver.recv().unwrap(), (vec![1], vec![], false));
    assert_eq!(database.read("rows", rows).await.unwrap(), [1]);
}

#[tokio::test]
async fn failed_job_is_undone_alone() {
    let (_dir, _path, database) = fresh();
    let release = hold(&database);
    let mut calls = JoinSet::new();
    for n in 0..6_i64 {
        let database = database.clone();
        calls.spawn(async move {
            let job = move |conn: &Connection| {
                add(conn, n)?;
                match n {
                    // The first insert is to be rolled back.
                    2 => add(conn, n).map(drop),
                    4 => panic!("seeded"),
                    _ => Ok(()),
                }
            };
            (n, database.write("add", job).await)
        });
    }
    tokio::task::yield_now().await;
    drop(release);
    while let Some(call) = calls.join_next().await {
        match call.unwrap() {
            (2 | 4, answer) => assert!(matches!(answer, Err(StoreError::Refused { .. })), "{answer:?}"),
            (_, answer) => answer.unwrap(),
        }
    }
    assert_eq!(database.read("rows", rows).await.unwrap(), [0, 1, 3, 5]);
}

#[tokio::test]
async fn failed_batch_is_undone_whole_and_a_panic_ends_no_thread() {
    let (_dir, _path, database) = fresh();
    let refused = database.write_bulk("bulk", |conn| add(conn, 1).and(add(conn, 1))).await;
    assert!(matches!(refused, Err(StoreError::Refused { .. })));
    let job = |conn: &Connection| -> rusqlite::Result<()> {
        add(conn, 2)?;
        panic!("seeded")
    };
    assert!(database.write_bulk("bulk", job).await.is_err());
    let seeded = |_: &Connection| -> rusqlite::Result<()> { panic!("seeded") };
    for _ in 0..4 {
        assert!(database.read("read", seeded).await.is_err());
    }
    database.write("add", |conn| add(conn, 3)).await.unwrap();
    assert_eq!(database.read("rows", rows).await.unwrap(), [3]);
}

#[tokio::test]
async fn batches_wait_for_those_who_wait() {
    let (_dir, _path, database) = fresh();
    let release = hold(&database);
    let order = Arc::new(Mutex::new(Vec::new()));
    let note = |name: &'static str| {
        let order = Arc::clone(&order);
        move |_: &Connection| {
            order.lock().push(name);
            Ok(())
        }
    };
    let bulk = tokio::spawn({
        let (database, job) = (database.clone(), note("bulk"));
        async move { database.write_bulk("bulk", job).await }
    });
    tokio::task::yield_now().await;
    for name in ["one", "two", "three"] {
        database.write_then(name, note(name), drop);
    }
    drop(release);
    bulk.await.unwrap().unwrap();
    assert_eq!(*order.lock(), ["one", "two", "three", "bulk"]);
}

#[tokio::test]
async fn dropped_future_undoes_nothing() {
    let (_dir, _path, database) = fresh();
    let release = hold(&database);
    let call = tokio::spawn({
        let database = database.clone();
        async move { database.write("add", |conn| add(conn, 1)).await }
    });
    tokio::task::yield_now().await;
    call.abort();
    drop(release);
    database.write("add", |conn| add(conn, 2)).await.unwrap();
    assert_eq!(database.read("rows", rows).await.unwrap(), [1, 2]);
}

#[tokio::test]
async fn a_full_disk_is_reported_to_all_waiters_of_the_commit_and_passes() {
    let (_dir, _path, database) = fresh();
    let pages = |conn: &Connection, max: i64| -> rusqlite::Result<()> {
        conn.query_row(&format!("PRAGMA max_page_count = {max}"), [], |_| Ok(()))
    };
    let release = hold(&database);
    let (sender, receiver) = mpsc::channel();
    for n in 0..3_i64 {
        let sender = sender.clone();
        let job = move |conn: &Connection| {
            if n == 1 {
                pages(conn, 1)?;
                conn.execute_batch("CREATE TABLE fat (text TEXT)")?;
                conn.execute("INSERT INTO fat VALUES (?1)", ["x".repeat(1 << 20)])?;
            }
            add(conn, n)
        };
        database.write_then("add", job, move |answer| drop(sender.send((n, answer))));
    }
    drop(release);
    let mut full = 0;
    for _ in 0..3 {
        match receiver.recv().unwrap() {
            (1, answer) => {
                assert!(matches!(answer, Err(StoreError::Full { .. })), "{answer:?}");
                full += 1;
            }
            // Rolled back together with the culprit, or done: never half.
            (n, Ok(_)) => assert!(database.read("rows", rows).await.unwrap().contains(&n)),
            (_, Err(error)) => assert!(error.is_transient(), "{error}"),
        }
    }
    assert_eq!(full, 1);
    database.write("lift", move |conn| pages(conn, 1 << 30)).await.unwrap();
    database.write("add", |conn| add(conn, 9)).await.unwrap();
    assert!(database.read("rows", rows).await.unwrap().contains(&9));
}

#[tokio::test]
async fn closing_does_what_waits_and_refuses_what_comes_later() {
    let (_dir, path, database) = fresh();
    let release = hold(&database);
    let answers = Arc::new(Mutex::new(Vec::new()));
    for n in 0..20 {
        let answers = Arc::clone(&answers);
        database.write_then(
            "add",
            move |conn| add(conn, n),
            move |answer| answers.lock().push(answer.is_ok()),
        );
    }
    drop(release);
    database.close(true).await.unwrap();
    assert_eq!(*answers.lock(), [true; 20]);
    let late = database.write("add", |conn| add(conn, 99)).await;
    assert!(matches!(late, Err(StoreError::Unavailable { .. })));
    assert!(database.read("rows", rows).await.is_err());
    database.close(true).await.unwrap();
    assert!(!path.with_file_name("record.db-wal").exists());

    let database = Database::open(&path, Durability::Power, None).unwrap();
    assert_eq!(database.read("rows", rows).await.unwrap().len(), 20);
}

#[tokio::test]
async fn record_that_was_only_left_is_whole() {
    let (_dir, path, database) = fresh();
    database.write("add", |conn| add(conn, 1)).await.unwrap();
    drop(database);
    let database = Database::open(&path, Durability::Process, None).unwrap();
    assert_eq!(database.read_blocking("rows", rows).unwrap(), [1]);
}

#[test]
fn lost_wal_is_noticed() {
    let (_dir, path, database) = fresh();
    drop(database);
    fs::remove_file(path.with_file_name("record.db-wal")).unwrap();
    assert!(matches!(Database::open(&path, Durability::Power, None), Err(OpenError::DamagedRecord { .. })));
}

#[test]
fn lost_file_is_noticed() {
    let (_dir, path, database) = fresh();
    drop(database);
    fs::remove_file(&path).unwrap();
    assert!(matches!(Database::open(&path, Durability::Power, None), Err(OpenError::DamagedRecord { .. })));
}

#[test]
fn damaged_files_are_refused_and_left_alone() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("record.db");
    for content in [&b""[..], b"no database", &[b'x'; 9000]] {
        fs::write(&path, content).unwrap();
        let opened = Database::open(&path, Durability::Power, None);
        assert!(matches!(opened, Err(OpenError::DamagedRecord { .. })), "{:?}", opened.err());
        assert_eq!(fs::read(&path).unwrap(), content);
    }
}

#[tokio::test]
async fn flipped_bits_are_found_after_a_stop_that_was_not_clean() {
    let (_dir, path, database) = fresh();
    let fill = |conn: &Connection| (0..2000).try_for_each(|n| add(conn, n).map(drop));
    database.write("fill", fill).await.unwrap();
    // Pages still in the WAL would be read from there, and a flipped bit in the file would do no harm.
    database.close(true).await.unwrap();
    drop(Database::open(&path, Durability::Power, None).unwrap());
    let mut bytes = fs::read(&path).unwrap();
    let last = bytes.len() - 4096;
    bytes[last..last + 16].fill(0xFF);
    fs::write(&path, bytes).unwrap();
    assert!(matches!(Database::open(&path, Durability::Power, None), Err(OpenError::DamagedRecord { .. })));
}

#[test]
fn other_programs_and_newer_records_are_refused_and_left_alone() {
    let (_dir, path, database) = fresh();
    database.write_blocking("age", |conn| conn.pragma_update(None, "user_version", 9999)).unwrap();
    drop(database);
    let opened = Database::open(&path, Durability::Power, None);
    assert!(matches!(opened, Err(OpenError::NotOurs { .. })));
    // Without the file, the newer version would miss its latest commits.
    assert!(path.with_file_name("record.db-wal").exists());

    let foreign = path.with_file_name("foreign.db");
    Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
    let before = fs::read(&foreign).unwrap();
    assert!(matches!(Database::open(&foreign, Durability::Power, None), Err(OpenError::NotOurs { .. })));
    assert_eq!(fs::read(&foreign).unwrap(), before);
}

#[tokio::test]
async fn settings_outlive_the_record() {
    let (_dir, path, database) = fresh();
    assert_eq!(database.setting("zone").await.unwrap(), None);
    database.put_setting("zone", "Asia/Shanghai").await.unwrap();
    database.put_setting_blocking("zone", "UTC").unwrap();
    database.close(true).await.unwrap();
    let database = Database::open(&path, Durability::Power, None).unwrap();
    assert_eq!(database.setting("zone").await.unwrap().as_deref(), Some("UTC"));
    assert_eq!(database.setting_blocking("stop").unwrap(), None);
}

#[tokio::test]
async fn long_wal_begins_anew_under_writing_without_pause() {
    let (_dir, path, database) = fresh();
    database
        .write("fat", |conn| conn.execute_batch("CREATE TABLE fat (n INTEGER, text TEXT)"))
        .await
        .unwrap();
    // 400 MiB in batches of 4 MiB: six times the intended size of a WAL.
    for n in 0..100_i64 {
        let fill = move |conn: &Connection| {
            conn.execute("DELETE FROM fat", [])?;
            let text = "x".repeat(4 << 20);
            conn.execute("INSERT INTO fat VALUES (?1, ?2)", rusqlite::params![n, text])
        };
        database.write_bulk("fill", fill).await.unwrap();
    }
    let wal = fs::metadata(path.with_file_name("record.db-wal")).unwrap().len();
    assert!(wal < 300 << 20, "{} MiB", wal >> 20);
}
