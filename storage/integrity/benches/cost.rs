//! Cost of the checks: commits and checkpoints, reads from the file, a scan, and the inspection of a `-wal`
//! file.
//!
//! `cargo bench -p mallbox-storage-integrity --bench cost`. Each way in turns, three rounds, in the system's
//! temporary directory (set `TMPDIR` to choose the disk). CPU time is that of the thread.
#![expect(clippy::unwrap_used, reason = "a bench that cannot run has nothing to say")]

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use mallbox_storage_integrity::{PageChecksums, Witness, WitnessFile, inspect, register, vfs_name};
use rusqlite::{Connection, OpenFlags};
use rustix::time::{ClockId, clock_gettime};

/// Rows of a transaction: as many orders as reach SQLite at once in a rush.
const ROWS: u64 = 44;
const TRANSACTIONS: u64 = 2_000;
/// Transactions between two checkpoints; the mall makes one after 16,000 pages, or every 5 s.
const PER_CHECKPOINT: u64 = 500;
const READS: u64 = 100_000;

fn main() {
    for round in 1..=3 {
        for way in [Way::Plain, Way::Pages, Way::PagesAndWitness] {
            run(round, way);
        }
    }
}

/// What is checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    Plain,
    Pages,
    PagesAndWitness,
}

fn run(round: u32, way: Way) {
    let is_checked = way != Way::Plain;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.sqlite");
    let schema = "CREATE TABLE o (id INTEGER PRIMARY KEY, user INTEGER, voucher INTEGER, price INTEGER, at INTEGER);
                  CREATE INDEX of_user ON o (user); CREATE TABLE m (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID";
    Connection::open(&path).unwrap().execute_batch(schema).unwrap();
    let checksums = is_checked.then(|| {
        let checksums = Arc::new(PageChecksums::open(&path, |_| false, true, true).unwrap().checksums);
        register(&checksums);
        checksums
    });
    let conn = connect(&path, is_checked);
    let write = timed(|| write(&conn, &path, way == Way::PagesAndWitness));
    conn.execute_batch("PRAGMA cache_size = 64").unwrap();
    let read = timed(|| read(&conn));
    println!(
        "round {round} {way:<16?} {TRANSACTIONS} × {ROWS} rows: {:>6.0} ms, CPU {:>6.1} µs a transaction; \
         {READS} reads: CPU {:>5.2} µs each",
        ms(write.0),
        us(write.1) / TRANSACTIONS as f64,
        us(read.1) / READS as f64
    );
    if let Some(checksums) = checksums {
        let began = Instant::now();
        let scan = checksums.scan(1, u32::MAX).unwrap();
        assert!(scan.damaged.is_empty());
        let mib = f64::from(scan.read) * 4_096.0 / 1_048_576.0;
        println!("  scan: {mib:.0} MiB, {:.0} MiB/s", mib / began.elapsed().as_secs_f64());
        let wal = dir.path().join("a.sqlite-wal");
        let began = Instant::now();
        let found = inspect(&wal, &path, None).unwrap().unwrap();
        let mib = fs::metadata(&wal).unwrap().len() >> 20;
        println!("  inspection: {mib} MiB, {} commits, {:.0} ms", found.commits, ms(began.elapsed()));
    }
}

fn connect(path: &Path, is_checked: bool) -> Connection {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let vfs = if is_checked { vfs_name(false).unwrap() } else { c"unix" };
    let conn = Connection::open_with_flags_and_vfs(path, flags, vfs).unwrap();
    let options = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;
                   PRAGMA cache_size = -65536";
    conn.execute_batch(options).unwrap();
    conn
}

/// Writes transactions, each with a note in the witness if `is_noted`, and checkpoints.
fn write(conn: &Connection, path: &Path, is_noted: bool) {
    // Makes the `-wal` file.
    conn.execute("INSERT INTO m VALUES ('mark', '')", []).unwrap();
    let mut witness = is_noted.then(|| WitnessFile::open(path).unwrap().0);
    let wal = File::open(mallbox_storage_integrity::beside(path, "-wal")).unwrap();
    let (mut last, frames) = (Witness::default(), AtomicU32::new(1));
    let mut user = 1_u64;
    for transaction in 0..TRANSACTIONS {
        conn.execute_batch("BEGIN IMMEDIATE").unwrap();
        {
            let mut insert = conn.prepare("INSERT INTO o VALUES (?1, ?2, 7, 4750, 1795262400000)").unwrap();
            for row in 0..ROWS {
                user = user.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                insert
                    .execute([(transaction * ROWS + row).cast_signed(), (user >> 44).cast_signed()])
                    .unwrap();
            }
        }
        conn.execute(
            "INSERT INTO m VALUES ('mark', ?1) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            [transaction.to_string()],
        )
        .unwrap();
        conn.execute_batch("COMMIT").unwrap();
        if let Some(witness) = &mut witness {
            // As the mall does after each commit: the header of the last frame.
            let mut frame = [0; 24];
            wal.read_exact_at(&mut frame, 32).unwrap();
            last.sum.copy_from_slice(&frame[16..]);
            last.frames = frames.fetch_add(1, Ordering::Relaxed);
            last.commits += 1;
            witness.note(&last).unwrap();
        }
        if transaction % PER_CHECKPOINT == PER_CHECKPOINT - 1 {
            conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).unwrap();
        }
    }
}

/// Reads rows at random, with a cache that has next to none of them.
fn read(conn: &Connection) {
    let mut select = conn.prepare("SELECT price FROM o WHERE id = ?1").unwrap();
    let mut id = 1_u64;
    for _ in 0..READS {
        id = id.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let id = ((id >> 33) % (TRANSACTIONS * ROWS)).cast_signed();
        let _: i64 = select.query_row([id], |row| row.get(0)).unwrap();
    }
}

/// Returns wall time and CPU time.
fn timed(work: impl FnOnce()) -> (Duration, Duration) {
    let (began, before) = (Instant::now(), cpu());
    work();
    (began.elapsed(), cpu() - before)
}

fn cpu() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap())
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn us(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
