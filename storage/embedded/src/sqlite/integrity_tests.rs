//! Flipped bits, and files that were cut off or put back, of a database that was killed or stopped.

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use mallbox_storage::{Durability, OpenError, PageFindings, StoreError};
use rusqlite::Connection;
use tempfile::TempDir;

use super::{Database, DatabaseOptions};
use crate::cache_sizes::CacheSizes;

const FRAME: usize = 24 + 4_096;

/// A database of which each commit added one row, and what its files were.
struct Left {
    dir: TempDir,
    rows: i64,
}

impl Left {
    /// Makes 40 commits. A killed database has the last 20 of them in its `-wal` file alone.
    async fn make(is_stopped: bool) -> Self {
        let dir = TempDir::new().unwrap();
        let database = Database::open(&path(dir.path()), Durability::Power, None).unwrap();
        let table =
            |conn: &Connection| conn.execute_batch("CREATE TABLE paid (n INTEGER PRIMARY KEY, text TEXT)");
        database.write("table", table).await.unwrap();
        for n in 0..40 {
            database.write("pay", move |conn| pay(conn, n)).await.unwrap();
            if n == 20 {
                database.write("copy", |_| Ok(())).await.unwrap();
                database.read("copy", |_| Ok(())).await.unwrap();
            }
        }
        let left = Self { dir: TempDir::new().unwrap(), rows: 40 };
        if is_stopped {
            database.close(true).await.unwrap();
        }
        for name in ["a.sqlite", "a.sqlite-wal", "a.sqlite-checksums", "a.sqlite-witness"] {
            let kept = fs::copy(dir.path().join(name), left.path(name));
            assert!(kept.is_ok() || is_stopped, "{name}: {kept:?}");
        }
        left
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn open(&self, accepted: Option<u64>) -> Result<Database, OpenError> {
        let options = DatabaseOptions {
            durability: Durability::Power,
            accepted,
            caches: CacheSizes::FULL,
            faults: None,
        };
        Database::open_accepting(&self.path("a.sqlite"), options)
    }

    /// Returns what a start says, which leaves the files to a further one.
    fn refusal(&self) -> (String, Option<u64>) {
        match self.open(None).err() {
            Some(OpenError::DamagedRecord { detail, accept, .. }) => (detail, accept),
            other => panic!("it was not refused as damaged: {other:?}"),
        }
    }

    fn change(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let path = self.path(name);
        let mut bytes = fs::read(&path).unwrap();
        change(&mut bytes);
        fs::write(&path, bytes).unwrap();
    }

    fn assert_whole(&self) {
        let database = self.open(None).unwrap();
        assert_eq!(database.read_blocking("rows", rows).unwrap(), self.rows);
    }
}

fn path(dir: &Path) -> PathBuf {
    dir.join("a.sqlite")
}

fn pay(conn: &Connection, n: i64) -> rusqlite::Result<usize> {
    conn.execute("INSERT INTO paid VALUES (?1, ?2)", (n, format!("payment {n} {}", "x".repeat(600))))
}

/// Number of rows, each of which is as it was written.
fn rows(conn: &Connection) -> rusqlite::Result<i64> {
    let right = "SELECT count(*) FROM paid WHERE text = 'payment ' || n || ' ' || replace(hex(zeroblob(300)), '0', 'x')";
    conn.query_row(right, [], |row| row.get(0))
}

fn frames(wal: &[u8]) -> usize {
    wal[32..].chunks_exact(FRAME).take_while(|frame| frame[8..16] == wal[16..24]).count()
}

#[tokio::test]
async fn what_was_left_is_whole() {
    for is_stopped in [false, true] {
        let left = Left::make(is_stopped).await;
        left.assert_whole();
        left.assert_whole();
    }
}

/// One flipped bit in the `-wal` file undid every acknowledged commit behind it, without a word.
#[tokio::test]
async fn a_flipped_bit_in_the_wal_undid_acknowledged_commits() {
    let (mut repaired, mut refused) = (0, 0);
    for step in 0..30 {
        let left = Left::make(false).await;
        left.change("a.sqlite-wal", |wal| {
            let at = 32 + step * FRAME * frames(wal) / 30 + 7 + step * 131;
            wal[at] ^= 1 << (step % 8);
        });
        match left.open(None) {
            Ok(database) => {
                assert_eq!(database.read_blocking("rows", rows).unwrap(), 40, "step {step}");
                repaired += 1;
            }
            Err(OpenError::DamagedRecord { accept: Some(lost), .. }) => {
                assert!((1..=44).contains(&lost), "step {step}: {lost}");
                refused += 1;
            }
            Err(error) => panic!("step {step}: {error}"),
        }
    }
    println!("{repaired} repaired, {refused} refused");
    assert!(repaired > 2 * refused);
}

#[tokio::test]
async fn a_broken_frame_is_refused_until_its_loss_is_accepted() {
    let left = Left::make(false).await;
    left.change("a.sqlite-wal", |wal| {
        let at = 32 + (frames(wal) - 3) * FRAME;
        wal[at + 100..at + 900].fill(0x55);
    });
    let damaged = fs::read(left.path("a.sqlite-wal")).unwrap();
    let (detail, accept) = left.refusal();
    assert!(detail.contains("acknowledged commits are lost"), "{detail}");
    let lost = accept.expect("a number of commits");
    assert!((1..=3).contains(&lost), "{lost}");
    assert!(left.open(Some(lost + 1)).is_err());
    assert!(fs::read(left.path("a.sqlite-wal")).unwrap() == damaged, "a refusal changes nothing");
    let database = left.open(Some(lost)).unwrap();
    let lost = i64::try_from(lost).unwrap();
    assert_eq!(database.read_blocking("rows", rows).unwrap(), 40 - lost);
    assert!(fs::read(left.path("a.sqlite-wal.damaged")).unwrap() == damaged);
    drop(database);
    Left { rows: 40 - lost, ..left }.assert_whole();
}

#[tokio::test]
async fn a_wal_of_former_times_is_refused() {
    let dir = TempDir::new().unwrap();
    let database = Database::open(&path(dir.path()), Durability::Power, None).unwrap();
    let table =
        |conn: &Connection| conn.execute_batch("CREATE TABLE paid (n INTEGER PRIMARY KEY, text TEXT)");
    database.write("table", table).await.unwrap();
    database.write("pay", |conn| pay(conn, 1)).await.unwrap();
    let former = fs::read(dir.path().join("a.sqlite-wal")).unwrap();
    let left = Left { dir, rows: 3 };
    for n in 2..4 {
        database.write("pay", move |conn| pay(conn, n)).await.unwrap();
    }
    drop(database);
    let now = fs::read(left.path("a.sqlite-wal")).unwrap();
    fs::write(left.path("a.sqlite-wal"), former).unwrap();
    assert_eq!(left.refusal().1, Some(2));
    fs::write(left.path("a.sqlite-wal"), now).unwrap();
    left.assert_whole();
}

#[tokio::test]
async fn a_database_of_former_times_is_refused() {
    let left = Left::make(true).await;
    let [former, sums] = ["a.sqlite", "a.sqlite-checksums"].map(|name| fs::read(left.path(name)).unwrap());
    for n in 40..43 {
        let database = left.open(None).unwrap();
        database.write("pay", move |conn| pay(conn, n)).await.unwrap();
        database.close(true).await.unwrap();
    }
    fs::write(left.path("a.sqlite"), former).unwrap();
    fs::write(left.path("a.sqlite-checksums"), sums).unwrap();
    let (detail, accept) = left.refusal();
    assert!(
        detail.contains("an older copy, from start 1 of the mall, which was started 4 times"),
        "{detail}"
    );
    let database = left.open(accept).unwrap();
    assert_eq!(database.read_blocking("rows", rows).unwrap(), 40);
    drop(database);
    left.assert_whole();
}

#[tokio::test]
async fn flipped_bits_of_rows_passed_unnoticed() {
    for is_stopped in [false, true] {
        let left = Left::make(is_stopped).await;
        if !is_stopped {
            // All commits are in the file as well once the checkpoint has run.
            drop(left.open(None).unwrap());
            fs::write(left.path("a.sqlite-wal"), fs::read(left.path("a.sqlite-wal")).unwrap()).unwrap();
        }
        let at = |bytes: &[u8]| bytes.windows(11).position(|text| text == b"payment 17 ");
        let Some(at) = at(&fs::read(left.path("a.sqlite")).unwrap()) else { continue };
        left.change("a.sqlite", |bytes| bytes[at + 8] ^= 1);
        left.assert_whole();
        if is_stopped {
            let left = Left::make(true).await;
            left.change("a.sqlite", |bytes| bytes[at + 8..at + 10].copy_from_slice(b"99"));
            let (detail, accept) = left.refusal();
            assert!(detail.contains("1 pages do not match their checksums (page"), "{detail}");
            assert_eq!(accept, Some(1));
            assert!(left.open(Some(2)).is_err());
            let database = left.open(Some(1)).unwrap();
            assert_eq!(database.read_blocking("rows", rows).unwrap(), 39);
            drop(database);
            Left { rows: 39, ..left }.assert_whole();
        }
    }
}

/// The files that a refused start writes made the next one call the damage another program's change.
#[tokio::test]
async fn a_second_start_took_over_the_damage_that_the_first_refused() {
    let left = Left::make(true).await;
    // Notes the marks of these files, rather than of those that were copied.
    left.open(None).unwrap().close(true).await.unwrap();
    left.change("a.sqlite", |bytes| {
        let at = bytes.windows(11).position(|text| text == b"payment 17 ").unwrap();
        bytes[at + 8..at + 10].copy_from_slice(b"99");
    });
    for _ in 0..3 {
        assert_eq!(left.refusal().1, Some(1));
    }
    let database = left.open(Some(1)).unwrap();
    assert_eq!(database.read_blocking("rows", rows).unwrap(), 39);
}

/// A change of one bit by another program must not be undone as a flipped bit.
#[tokio::test]
async fn changes_by_another_program_are_taken_over() {
    let left = Left::make(true).await;
    left.open(None).unwrap().close(true).await.unwrap();
    let conn = Connection::open(left.path("a.sqlite")).unwrap();
    conn.execute("UPDATE paid SET text = replace(text, 'payment 17 ', 'payment 16 ')", []).unwrap();
    drop(conn);
    let database = left.open(None).unwrap();
    assert_eq!(database.read_blocking("rows", rows).unwrap(), 39);
    assert_eq!(database.page_findings().unwrap().changed, 1);
    database.close(true).await.unwrap();
    let left = Left { rows: 39, ..left };
    left.assert_whole();
    // The same change of the file itself is a flipped bit.
    let left = Left::make(true).await;
    left.open(None).unwrap().close(true).await.unwrap();
    left.change("a.sqlite", |bytes| {
        let at = bytes.windows(11).position(|text| text == b"payment 17 ").unwrap();
        bytes[at + 9] ^= 1;
    });
    let database = left.open(None).unwrap();
    assert_eq!(database.page_findings().unwrap().repaired, 1);
    drop(database);
    left.assert_whole();
}

/// The refused start of an earlier version moves the commits of a killed mall into the database, and removes
/// the `-wal` file. No start succeeded any more, although nothing was lost.
#[tokio::test]
async fn commits_moved_by_another_program_were_refused_for_good() {
    let left = Left::make(false).await;
    let conn = Connection::open(left.path("a.sqlite")).unwrap();
    conn.pragma_query(None, "user_version", |_| Ok(())).unwrap();
    drop(conn);
    assert!(!left.path("a.sqlite-wal").exists());
    let (detail, accept) = left.refusal();
    assert!(detail.contains("commits is missing: lost, unless another program moved them"), "{detail}");
    let commits = accept.expect("a number of commits");
    assert!((1..=44).contains(&commits), "{commits}");
    assert!(left.open(Some(commits + 1)).is_err());
    let database = left.open(accept).unwrap();
    assert_eq!(database.read_blocking("rows", rows).unwrap(), 40);
    drop(database);
    left.assert_whole();
}

#[tokio::test]
async fn a_wal_that_was_removed_is_counted() {
    let left = Left::make(false).await;
    fs::remove_file(left.path("a.sqlite-wal")).unwrap();
    let (detail, accept) = left.refusal();
    assert!(accept.is_some_and(|commits| (1..=44).contains(&commits)), "{detail}");
    drop(left.open(accept).unwrap());
    drop(left.open(None).unwrap());
}

#[tokio::test]
async fn damaged_or_missing_checksums_are_made_anew() {
    for is_stopped in [false, true] {
        for name in ["a.sqlite-checksums", "a.sqlite-witness"] {
            let left = Left::make(is_stopped).await;
            left.change(name, |bytes| bytes[60] ^= 4);
            left.assert_whole();
            fs::remove_file(left.path(name)).unwrap();
            left.assert_whole();
        }
    }
}

#[tokio::test]
async fn a_page_that_rots_in_a_running_mall_is_found_by_a_check() {
    let left = Left::make(true).await;
    let database = left.open(None).unwrap();
    assert_eq!(database.check_pages().await.unwrap(), Some(PageFindings::default()));
    let bytes = fs::read(left.path("a.sqlite")).unwrap();
    let at = bytes.windows(11).position(|text| text == b"payment 17 ").unwrap();
    let file = fs::File::options().write(true).open(left.path("a.sqlite")).unwrap();
    file.write_all_at(b"99", at as u64 + 8).unwrap();
    // Closing it would release SQLite's locks.
    std::mem::forget(file);
    let found = database.check_pages().await.unwrap().unwrap();
    assert_eq!(found, PageFindings { damaged: 1, ..PageFindings::default() });
    assert_eq!(database.page_findings(), Some(found));
    let error = database.read("rows", rows).await.unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
}
