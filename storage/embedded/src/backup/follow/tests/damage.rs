//! Contents of a `-wal` file beside commits, and removal of the file.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::process::Command;

use super::*;

/// Appends the frames of one more transaction to the `-wal` file, as a commit does whose sync fails:
/// complete, and not counted by SQLite.
fn fail_to_commit(site: &Site) {
    let dir = TempDir::new().unwrap();
    let len = fs::metadata(site.wal()).unwrap().len();
    // By another process: see the module.
    let files = ["mall.sqlite", "mall.sqlite-wal"].map(|name| site.path().join(name));
    assert!(Command::new("cp").args(files).arg(dir.path()).status().unwrap().success());
    let other = writer(&dir.path().join("mall.sqlite"));
    other.execute("INSERT INTO rows (value) VALUES (randomblob(20000))", []).unwrap();
    let frames = fs::read(dir.path().join("mall.sqlite-wal")).unwrap();
    let wal = File::options().write(true).open(site.wal()).unwrap();
    wal.write_all_at(&frames[usize::try_from(len).unwrap()..], len).unwrap();
}

#[test]
fn foreign_bytes_behind_the_last_commit_are_ignored() {
    let site = Site::make();
    let mut copy = site.follow();
    site.commit(20_000);
    let end = fs::metadata(site.wal()).unwrap().len();
    let wal = File::options().write(true).open(site.wal()).unwrap();
    wal.write_all_at(&[0xA5; 9_000], end).unwrap();
    copy.next().unwrap();
    copy.assert_equals(&site.writer);
    // A frame that is torn.
    let mut frame = vec![0; 4_120];
    wal.read_exact_at(&mut frame, end - 4_120).unwrap_err();
    File::open(site.wal()).unwrap().read_exact_at(&mut frame, end - 4_120).unwrap();
    wal.write_all_at(&frame[..2_000], end).unwrap();
    assert_eq!(copy.next(), Ok(0));
    site.commit(9_000);
    copy.next().unwrap();
    copy.assert_equals(&site.writer);
}

#[test]
fn failed_commit_is_none() {
    let site = Site::make();
    let mut copy = site.follow();
    site.commit(20_000);
    fail_to_commit(&site);
    copy.next().unwrap();
    copy.assert_equals(&site.writer);
    let mut later = site.follow();
    fail_to_commit(&site);
    assert_eq!(later.next(), Ok(0));
    site.commit(9_000);
    for copy in [&mut copy, &mut later] {
        assert_ne!(copy.next(), Ok(0));
        copy.assert_equals(&site.writer);
    }
}

#[test]
fn failed_commit_before_a_restart_is_none() {
    let site = Site::make();
    let mut guarded = site.follow();
    let mut released = site.follow();
    site.commit(200_000);
    guarded.next().unwrap();
    released.next().unwrap();
    site.checkpoint("PASSIVE");
    guarded.next().unwrap();
    released.follower.release();
    fail_to_commit(&site);
    site.commit(10);
    guarded.next().unwrap();
    guarded.assert_equals(&site.writer);
    // The failed commit cannot be told from one that succeeded.
    assert_eq!(released.next(), Err(LossReason::Unconfirmed));
}

#[test]
fn other_wal_is_a_loss() {
    let site = Site::make();
    let mut copy = site.follow();
    site.commit(20_000);
    copy.next().unwrap();
    let moved = site.path().join("moved");
    fs::rename(site.wal(), &moved).unwrap();
    fs::copy(&moved, site.wal()).unwrap();
    assert_eq!(copy.next(), Err(LossReason::Replaced));
    let site = Site::make();
    let mut copy = site.follow();
    fs::remove_file(site.wal()).unwrap();
    assert_eq!(copy.next(), Err(LossReason::Replaced));
}

#[test]
fn unreadable_commit_is_a_loss() {
    let site = Site::make();
    let mut copy = site.follow();
    site.commit(20_000);
    let end = fs::metadata(site.wal()).unwrap().len();
    let wal = File::options().read(true).write(true).open(site.wal()).unwrap();
    let mut bytes = [0; 7];
    wal.read_exact_at(&mut bytes, end - 5_000).unwrap();
    wal.write_all_at(b"flipped", end - 5_000).unwrap();
    assert_eq!(copy.next(), Err(LossReason::Unreadable));
    wal.write_all_at(&bytes, end - 5_000).unwrap();
    assert_eq!(copy.next(), Err(LossReason::Unreadable), "a loss is final");
}

#[test]
fn stopped_mall_is_not_followed_and_not_touched() {
    let dir = TempDir::new().unwrap();
    drop(DirLock::take(dir.path()).unwrap());
    let stopped = writer(&dir.path().join("mall.sqlite"));
    stopped.execute_batch("CREATE TABLE meta (name TEXT PRIMARY KEY, value)").unwrap();
    stopped.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).unwrap();
    drop(stopped);
    assert!(DatabaseFollower::begin(dir.path()).unwrap().is_none());
    let mut names: Vec<_> =
        fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["lock", "mall.sqlite"]);
}

#[test]
fn database_that_is_none_is_an_error_that_names_the_file() {
    let dir = TempDir::new().unwrap();
    let _lock = DirLock::take(dir.path()).unwrap();
    let error = DatabaseFollower::begin(dir.path()).map(drop).unwrap_err().to_string();
    assert!(error.contains("mall.sqlite"), "{error}");
    fs::write(dir.path().join("mall.sqlite"), "no database at all").unwrap();
    let error = DatabaseFollower::begin(dir.path()).map(drop).unwrap_err().to_string();
    assert!(error.contains("mall.sqlite"), "{error}");
}
