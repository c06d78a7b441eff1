//! Databases whose connections check pages.
#![expect(clippy::unwrap_used, reason = "helpers of a test binary: a failure is a failed test")]

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;

use mallbox_storage_integrity::{FileState, PageChecksums, register, vfs_name};
use rusqlite::{Connection, OpenFlags, ffi};

const PAGE: usize = 4_096;

fn connect(path: &Path, is_exclusive: bool) -> Connection {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags_and_vfs(path, flags, vfs_name(is_exclusive).unwrap()).unwrap();
    conn.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0")
        .unwrap();
    conn
}

fn make(path: &Path) {
    let conn = Connection::open(path).unwrap();
    conn.execute_batch("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)").unwrap();
}

fn insert(conn: &Connection, rows: std::ops::Range<i64>) {
    let transaction = conn.unchecked_transaction().unwrap();
    for row in rows {
        conn.execute("INSERT INTO t VALUES (?1, ?2)", (row, format!("row {row} {}", "x".repeat(500))))
            .unwrap();
    }
    transaction.commit().unwrap();
}

fn text(conn: &Connection, row: i64) -> rusqlite::Result<String> {
    conn.query_row("SELECT b FROM t WHERE a = ?1", [row], |row| row.get(0))
}

fn checkpoint(conn: &Connection) {
    conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).unwrap();
}

/// Flips bits of the text of a row in the file, as a disk does under a running process.
fn damage(path: &Path, row: i64, bits: u8) {
    let bytes = fs::read(path).unwrap();
    let needle = format!("row {row} x");
    let at = bytes.windows(needle.len()).position(|bytes| bytes == needle.as_bytes()).unwrap();
    let file = fs::File::options().write(true).open(path).unwrap();
    file.write_all_at(&[bytes[at] ^ bits], at as u64).unwrap();
    // Closing it would release SQLite's locks.
    std::mem::forget(file);
}

#[test]
fn a_damaged_row_was_read_as_another_value() {
    for is_exclusive in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.sqlite");
        make(&path);
        let checksums = Arc::new(PageChecksums::open(&path, |_| false, true, true).unwrap().checksums);
        register(&checksums);
        let conn = connect(&path, is_exclusive);
        insert(&conn, 0..500);
        checkpoint(&conn);
        damage(&path, 250, 0b1000);
        damage(&path, 400, 0b1100);
        conn.execute_batch("PRAGMA cache_size = 0").unwrap();
        assert!(text(&conn, 250).unwrap().starts_with("row 250 x"), "one bit is repaired in memory");
        let error = text(&conn, 400).unwrap_err();
        let code = error.sqlite_error().map(|error| error.extended_code);
        assert_eq!(code, Some(ffi::SQLITE_IOERR_DATA), "{error}");
        assert!(text(&conn, 1).is_ok());
        let findings = checksums.findings();
        assert_eq!((findings.damaged.len(), findings.repaired.len()), (1, 1));
        let scan = checksums.scan(1, u32::MAX).unwrap();
        assert_eq!((scan.damaged.len(), scan.repaired.len()), (1, 1));
        assert!(scan.read > 60 && scan.taken <= 1, "{scan:?}");
    }
}

/// A process that was killed leaves checksums older than pages only where the `-wal` file has the page.
#[test]
fn checksums_of_a_killed_process_fit_at_every_point_of_a_checkpoint() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.sqlite");
    make(&path);
    let checksums = Arc::new(PageChecksums::open(&path, |_| false, true, true).unwrap().checksums);
    checksums.scan(1, u32::MAX).unwrap();
    register(&checksums);
    let conn = connect(&path, false);
    for round in 0..20 {
        insert(&conn, round * 30..(round + 1) * 30);
        if round % 3 == 1 {
            checkpoint(&conn);
        }
        // Also a copy with the database of now and the checksums of the round before.
        for name in ["a.sqlite", "a.sqlite-wal", "a.sqlite-checksums"] {
            let copy = dir.path().join(format!("copy.{name}"));
            let is_kept = name.ends_with("checksums") && round % 2 == 0 && copy.exists() && round % 3 == 1;
            if !is_kept {
                fs::copy(dir.path().join(name), copy).unwrap();
            }
        }
        let copy = dir.path().join("copy.a.sqlite");
        let wal = dir.path().join("copy.a.sqlite-wal");
        let pages = mallbox_storage_integrity::inspect(&wal, &copy, None).unwrap().map(|found| found.pages);
        let pages = pages.unwrap_or_default();
        let opened = PageChecksums::open(&copy, |page| pages.contains(&page), true, true).unwrap();
        assert_eq!(opened.found, FileState::Whole);
        let scan = opened.checksums.scan(1, u32::MAX).unwrap();
        assert_eq!((scan.damaged, scan.repaired), (vec![], vec![]), "round {round}");
    }
}

#[test]
fn a_database_without_checksums_is_opened_as_ever() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.sqlite");
    make(&path);
    let conn = connect(&path, false);
    insert(&conn, 0..50);
    checkpoint(&conn);
    damage(&path, 7, 0b1100);
    conn.execute_batch("PRAGMA cache_size = 0").unwrap();
    assert!(text(&conn, 8).is_ok());
    assert_eq!(fs::metadata(&path).unwrap().len() % PAGE as u64, 0);
}

#[test]
fn a_database_that_shrinks_forgets_the_pages_cut_off() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.sqlite");
    make(&path);
    let checksums = Arc::new(PageChecksums::open(&path, |_| false, true, true).unwrap().checksums);
    register(&checksums);
    let conn = connect(&path, false);
    for _ in 0..2 {
        insert(&conn, 0..500);
        checkpoint(&conn);
        conn.execute_batch("DELETE FROM t; VACUUM").unwrap();
        checkpoint(&conn);
    }
    let scan = checksums.scan(1, u32::MAX).unwrap();
    assert_eq!((scan.damaged, scan.repaired), (vec![], vec![]));
    assert!(scan.read < 10, "{}", scan.read);
}
