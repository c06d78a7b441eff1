//! Tests of following: real files, real connections, real threads and processes.
//!
//! No test opens `mall.sqlite` or `mall.sqlite-shm` but by SQLite: closing the file would release the locks
//! of all connections of this process.

mod apply;
mod damage;
mod histories;
mod restarts;
mod running_mall;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::backup::Progress;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, MAIN_DB};
use tempfile::TempDir;

use super::{ChangedPages, DatabaseFollower, Followed, LossReason, apply};
use crate::backup::{copy_base, finish_copy};
use crate::lock::DirLock;

/// A directory with the lock of a running mall, and a database that the test writes.
struct Site {
    dir: TempDir,
    _lock: DirLock,
    writer: Connection,
}

impl Site {
    fn make() -> Self {
        let dir = TempDir::new().unwrap();
        let lock = DirLock::take(dir.path()).unwrap();
        let writer = writer(&dir.path().join("mall.sqlite"));
        writer
            .execute_batch(
                "CREATE TABLE rows (id INTEGER PRIMARY KEY, value BLOB);
                 CREATE TABLE meta (name TEXT PRIMARY KEY, value);",
            )
            .unwrap();
        Self { dir, _lock: lock, writer }
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn wal(&self) -> PathBuf {
        self.path().join("mall.sqlite-wal")
    }

    /// Commits one row of so many bytes.
    fn commit(&self, bytes: u32) {
        self.writer.execute("INSERT INTO rows (value) VALUES (randomblob(?1))", [bytes]).unwrap();
    }

    /// Runs a checkpoint. Returns whether it was blocked.
    fn checkpoint(&self, mode: &str) -> bool {
        let sql = format!("PRAGMA wal_checkpoint({mode})");
        self.writer.query_row(&sql, [], |row| row.get::<_, i64>(0)).unwrap() != 0
    }

    fn follow(&self) -> LiveCopy {
        LiveCopy::begin(self.path())
    }
}

fn writer(path: &Path) -> Connection {
    let writer = Connection::open(path).unwrap();
    writer.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
    writer.busy_timeout(Duration::from_millis(20)).unwrap();
    writer.pragma_update(None, "auto_vacuum", "incremental").unwrap();
    writer.pragma_update(None, "journal_mode", "wal").unwrap();
    writer.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    writer.pragma_update(None, "synchronous", "off").unwrap();
    writer
}

/// A follower, and the copy that it keeps up.
struct LiveCopy {
    follower: DatabaseFollower,
    dir: TempDir,
}

impl LiveCopy {
    fn begin(mall: &Path) -> Self {
        let follower = DatabaseFollower::begin(mall).unwrap().unwrap();
        let dir = TempDir::new().unwrap();
        copy_base(mall, &dir.path().join("copy"), |_| {}).unwrap();
        Self { follower, dir }
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join("copy")
    }

    /// Applies what was committed. Returns the number of changed pages.
    fn next(&mut self) -> Result<usize, LossReason> {
        match self.follower.next().unwrap() {
            Followed::Nothing => Ok(0),
            Followed::Pages(changes) => {
                apply(&self.file(), &changes).unwrap();
                Ok(changes.pages.len())
            }
            Followed::Lost(reason) => Err(reason),
        }
    }

    /// Fails unless the copy is, page by page, the database that `conn` sees.
    fn assert_equals(&self, conn: &Connection) {
        let now = self.dir.path().join("now");
        conn.backup(MAIN_DB, &now, None::<fn(Progress)>).unwrap();
        let [expected, copied] = [&now, &self.file()].map(|file| comparable(fs::read(file).unwrap()));
        fs::remove_file(now).unwrap();
        assert_eq!(copied.len(), expected.len(), "bytes of the copy and of the database");
        let pages = copied.chunks(4_096).zip(expected.chunks(4_096)).zip(1..);
        let different: Vec<u32> =
            pages.filter(|((copied, expected), _)| copied != expected).map(|(_, page)| page).collect();
        assert!(different.is_empty(), "pages {different:?} differ");
    }

    /// Finishes a copy of the copy, and returns a connection to it.
    fn finished(&self) -> Connection {
        let finished = self.dir.path().join("finished");
        fs::copy(self.file(), &finished).unwrap();
        finish_copy(&finished).unwrap();
        for ending in ["-wal", "-shm", "-journal"] {
            assert!(!mallbox_storage_integrity::beside(&finished, ending).exists(), "{ending} is left");
        }
        assert_eq!(fs::read(&finished).unwrap()[18..20], [1, 1], "the modes of a file without WAL");
        let conn = Connection::open(&finished).unwrap();
        let found: String = conn.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(found, "ok");
        conn
    }
}

/// Clears what SQLite's own copying changes on page 1: change counter, number of the schema, and the version
/// that wrote the file last.
fn comparable(mut file: Vec<u8>) -> Vec<u8> {
    for field in [24..28, 40..44, 92..100] {
        file[field].fill(0);
    }
    file
}

/// Gives up to so many free pages back.
fn shrink(conn: &Connection, pages: u32) {
    let mut shrink = conn.prepare(&format!("PRAGMA incremental_vacuum({pages})")).unwrap();
    let mut steps = shrink.query([]).unwrap();
    while steps.next().unwrap().is_some() {}
}

fn rows(conn: &Connection) -> i64 {
    conn.query_row("SELECT count(*) FROM rows", [], |row| row.get(0)).unwrap()
}
