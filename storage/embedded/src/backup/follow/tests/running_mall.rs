//! The database of the mall, with its writer, its checkpointer and its guards against damage.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use mallbox_storage::Durability;

use super::super::connections::Connections;
use super::*;
use crate::sqlite::Database;

/// Lower bound on generations of the `-wal` file under full load. Two occur at the beginning, before the
/// first long wait.
const RESTARTS_MIN: u32 = 4;

/// A mall's database in this process.
struct Mall {
    dir: TempDir,
    lock: DirLock,
    database: Database,
}

impl Mall {
    fn open(durability: Durability) -> Self {
        let dir = TempDir::new().unwrap();
        let lock = DirLock::take(dir.path()).unwrap();
        let database = Database::open(&dir.path().join("mall.sqlite"), durability, None).unwrap();
        Self { dir, lock, database }
    }

    fn write_in_background(&self, stop: &Arc<AtomicBool>) -> JoinHandle<u64> {
        let (database, stop) = (self.database.clone(), Arc::clone(stop));
        thread::spawn(move || {
            let mut commits = 0_u64;
            while !stop.load(Ordering::Relaxed) {
                let value = "v".repeat(1_000 + usize::try_from(commits % 50_000).unwrap());
                database.put_setting_blocking(&format!("test.{}", commits % 500), &value).unwrap();
                commits += 1;
            }
            commits
        })
    }

    fn wal_bytes(&self) -> u64 {
        fs::metadata(self.dir.path().join("mall.sqlite-wal")).map_or(0, |wal| wal.len())
    }

    fn stop(self) -> (TempDir, DirLock) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(self.database.close(true)).unwrap();
        (self.dir, self.lock)
    }
}

fn reader(dir: &Path) -> Connection {
    crate::backup::copy::source(&dir.join("mall.sqlite"), false).unwrap()
}

fn thread_cpu() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split_whitespace().next().unwrap().parse().unwrap())
}

/// A mall under full load. Without restarts, the file would grow to many times its bound.
#[test]
fn wal_of_a_mall_that_commits_without_pause_is_bounded_while_followed() {
    let seconds = std::env::var("MALLBOX_FOLLOWED_SECONDS").ok().and_then(|text| text.parse().ok());
    let mall = Mall::open(Durability::Process);
    let mut copy = LiveCopy::begin(mall.dir.path());
    let stop = Arc::new(AtomicBool::new(false));
    let writer = mall.write_in_background(&stop);
    let began = Instant::now();
    let (mut calls, mut pages, mut cpu, mut longest) = (0_u32, 0, Duration::ZERO, Duration::ZERO);
    let (mut lost, mut longest_wal, mut restarts, mut generation) = (Vec::new(), 0, 0, Vec::new());
    let is_under_way = |restarts: u32| {
        let elapsed = began.elapsed();
        elapsed < Duration::from_secs(seconds.unwrap_or(12))
            || restarts < RESTARTS_MIN && elapsed < Duration::from_secs(60)
    };
    while is_under_way(restarts) {
        let (cpu_before, before) = (thread_cpu(), Instant::now());
        let followed = copy.follower.next().unwrap();
        (cpu, longest) = (cpu + (thread_cpu() - cpu_before), longest.max(before.elapsed()));
        calls += 1;
        match followed {
            Followed::Nothing => {}
            Followed::Pages(changes) => {
                pages += changes.pages.len();
                apply(&copy.file(), &changes).unwrap();
            }
            Followed::Lost(reason) => {
                lost.push(reason);
                copy = LiveCopy::begin(mall.dir.path());
            }
        }
        longest_wal = longest_wal.max(mall.wal_bytes());
        let now = copy.follower.position.map(|position| position.header.salts().to_vec());
        restarts += u32::from(now.as_ref() != Some(&generation));
        generation = now.unwrap_or_default();
        if calls.is_multiple_of(8) {
            copy.finished();
        }
        if !copy.follower.is_awaiting_restart() {
            thread::sleep(Duration::from_millis(200));
        }
    }
    stop.store(true, Ordering::Relaxed);
    let commits = writer.join().unwrap();
    println!(
        "{commits} commits in {:?}, {calls} calls, {pages} pages, {restarts} generations, at most {} MiB of WAL, \
         {cpu:?} of CPU, longest call {longest:?}, lost: {lost:?}",
        began.elapsed(),
        longest_wal >> 20
    );
    if copy.next().is_ok() {
        copy.assert_equals(&reader(mall.dir.path()));
    }
    assert!(restarts >= RESTARTS_MIN, "the file was not begun anew");
    assert_eq!(mall.database.page_findings().unwrap_or_default().damaged, 0);
}

/// The mall keeps checksums of pages, which confirm a commit read only after the restart.
#[test]
fn unread_commit_before_a_restart_is_confirmed_by_the_checksums_of_the_mall() {
    let mall = Mall::open(Durability::Process);
    let mut copy = LiveCopy::begin(mall.dir.path());
    mall.database.put_setting_blocking("test.1", &"v".repeat(200_000)).unwrap();
    assert_ne!(copy.next(), Ok(0));
    copy.follower.release();
    mall.database.put_setting_blocking("test.2", &"v".repeat(30_000)).unwrap();
    let counter = Connections::open(&mall.dir.path().join("mall.sqlite")).unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while counter.frames().is_ok_and(|frames| frames.copied < frames.committed) {
        assert!(Instant::now() < until, "no checkpoint");
        thread::sleep(Duration::from_millis(20));
    }
    mall.database.put_setting_blocking("test.3", "v").unwrap();
    assert!(counter.frames().unwrap().committed < 50, "the file was not begun anew");
    assert_ne!(copy.next(), Ok(0));
    copy.assert_equals(&reader(mall.dir.path()));
}

#[test]
fn stop_after_a_release_is_clean_and_a_loss() {
    let mall = Mall::open(Durability::Process);
    let mut copy = LiveCopy::begin(mall.dir.path());
    mall.database.put_setting_blocking("test", "1").unwrap();
    assert_ne!(copy.next(), Ok(0));
    copy.follower.release();
    let (dir, lock) = mall.stop();
    for ending in ["-wal", "-shm"] {
        assert!(!dir.path().join(format!("mall.sqlite{ending}")).exists(), "{ending} is left");
    }
    assert_eq!(copy.next(), Err(LossReason::Replaced));
    // The same at the next start of the mall.
    let mut copy = {
        let database = Database::open(&dir.path().join("mall.sqlite"), Durability::Process, None).unwrap();
        let copy = LiveCopy::begin(dir.path());
        drop(database);
        copy
    };
    copy.follower.release();
    drop(lock);
    assert!(matches!(copy.next(), Err(LossReason::Stopped | LossReason::Replaced)));
}

#[test]
fn stop_under_a_guard_loses_nothing_and_the_mall_starts_again() {
    let mall = Mall::open(Durability::Process);
    let mut copy = LiveCopy::begin(mall.dir.path());
    mall.database.put_setting_blocking("test", "1").unwrap();
    let (dir, _lock) = mall.stop();
    assert_ne!(copy.next(), Ok(0));
    copy.assert_equals(&reader(dir.path()));
    let database = Database::open(&dir.path().join("mall.sqlite"), Durability::Process, None).unwrap();
    database.put_setting_blocking("test", "2").unwrap();
    match copy.next() {
        Ok(_) => copy.assert_equals(&reader(dir.path())),
        Err(reason) => println!("lost: {reason}"),
    }
    assert_eq!(database.page_findings().unwrap_or_default().damaged, 0);
}

/// The mall of [`killed_mall_is_followed_through_its_next_start`]: notes each acknowledged commit in a file.
#[test]
fn mall_of_another_process() {
    let Some(dir) = std::env::var_os("MALLBOX_FOLLOWED_MALL").map(PathBuf::from) else { return };
    let lock = DirLock::take(&dir).unwrap();
    let database = Database::open(&dir.join("mall.sqlite"), Durability::Process, None).unwrap();
    let mut acknowledged = OpenOptions::new().create(true).append(true).open(dir.join("acked")).unwrap();
    let first = database.setting_blocking("test.number").unwrap().map_or(0, |text| text.parse().unwrap());
    for number in first + 1_u64.. {
        database.put_setting_blocking("test.number", &number.to_string()).unwrap();
        database.put_setting_blocking(&format!("test.{}", number % 50), &"v".repeat(9_000)).unwrap();
        writeln!(acknowledged, "{number}").unwrap();
    }
    drop(lock);
}

fn spawn(dir: &Path) -> Child {
    let before = last_acknowledged(dir);
    let name = "backup::follow::tests::running_mall::mall_of_another_process";
    let mall = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env("MALLBOX_FOLLOWED_MALL", dir)
        .stdout(File::create(dir.join("output")).unwrap())
        .stderr(File::create(dir.join("errors")).unwrap())
        .spawn()
        .unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while last_acknowledged(dir) == before {
        assert!(Instant::now() < until, "{}", fs::read_to_string(dir.join("errors")).unwrap());
        thread::sleep(Duration::from_millis(5));
    }
    mall
}

fn last_acknowledged(dir: &Path) -> u64 {
    let text = fs::read_to_string(dir.join("acked")).unwrap_or_default();
    text.lines().last().and_then(|line| line.parse().ok()).unwrap_or(0)
}

fn number(conn: &Connection) -> u64 {
    let sql = "SELECT value FROM meta WHERE name = 'setting.test.number'";
    let number: String = conn.query_row(sql, [], |row| row.get(0)).unwrap();
    number.parse().unwrap()
}

#[test]
fn killed_mall_is_followed_through_its_next_start() {
    let dir = TempDir::new().unwrap();
    let mut mall = spawn(dir.path());
    let mut copy = LiveCopy::begin(dir.path());
    let (mut went_on, mut lost) = (0, Vec::new());
    for round in 0..6 {
        for _ in 0..5 {
            let acknowledged = last_acknowledged(dir.path());
            copy.next().unwrap();
            let copied = number(&copy.finished());
            assert!(copied >= acknowledged, "{acknowledged} was acknowledged, the copy has {copied}");
            thread::sleep(Duration::from_millis(20 * round));
        }
        mall.kill().unwrap();
        mall.wait().unwrap();
        if round % 2 == 1 {
            copy.follower.release();
        } else {
            copy.next().unwrap();
            copy.assert_equals(&reader(dir.path()));
        }
        mall = spawn(dir.path());
        match copy.next() {
            Ok(_) => went_on += 1,
            Err(reason) => {
                lost.push(reason);
                copy = LiveCopy::begin(dir.path());
                copy.next().unwrap();
            }
        }
    }
    mall.kill().unwrap();
    mall.wait().unwrap();
    println!("went on: {went_on}, lost: {lost:?}");
    copy.next().unwrap();
    copy.assert_equals(&reader(dir.path()));
    assert!(number(&copy.finished()) >= last_acknowledged(dir.path()));
    assert!(went_on >= 3, "{lost:?}");
}
