//! Restarts of the `-wal` file: with a guard nothing is lost, without one a loss is always noticed.

use super::*;

/// Commits until the `-wal` file has been begun anew, of which every frame can be copied.
fn restart(site: &Site) {
    assert!(!site.checkpoint("PASSIVE"));
    site.commit(100);
}

#[test]
fn every_commit_arrives_in_the_copy() {
    let site = Site::make();
    let mut copy = site.follow();
    assert_eq!(copy.next(), Ok(0));
    copy.assert_equals(&site.writer);
    for bytes in [10, 100_000, 3] {
        site.commit(bytes);
        assert!(copy.next().unwrap() > 0);
        copy.assert_equals(&site.writer);
    }
    assert_eq!(copy.next(), Ok(0));
    assert_eq!(rows(&copy.finished()), 3);
}

#[test]
fn commits_between_the_beginning_and_the_base_arrive() {
    let site = Site::make();
    site.commit(10);
    let follower = DatabaseFollower::begin(site.path()).unwrap().unwrap();
    site.commit(50_000);
    let dir = TempDir::new().unwrap();
    copy_base(site.path(), &dir.path().join("copy"), |_| {}).unwrap();
    let mut copy = LiveCopy { follower, dir };
    site.commit(10);
    copy.next().unwrap();
    copy.assert_equals(&site.writer);
}

#[test]
fn restart_under_a_guard_loses_nothing() {
    let site = Site::make();
    let mut copy = site.follow();
    for round in 0..5 {
        site.commit(20_000);
        copy.next().unwrap();
        // All is copied: the guard after it lets the file be begun anew, once.
        assert!(!site.checkpoint("PASSIVE"));
        copy.next().unwrap();
        for _ in 0..3 {
            site.commit(30_000);
            site.checkpoint("PASSIVE");
        }
        assert_ne!(copy.next(), Ok(0), "round {round}");
        copy.assert_equals(&site.writer);
    }
    assert!(fs::metadata(site.wal()).unwrap().len() < 1 << 20, "the file was never begun anew");
}

#[test]
fn emptied_wal_loses_nothing_under_a_guard() {
    let site = Site::make();
    let mut copy = site.follow();
    site.commit(20_000);
    copy.next().unwrap();
    site.checkpoint("PASSIVE");
    copy.next().unwrap();
    // Each time, SQLite counts a generation.
    (0..3).for_each(|_| assert!(!site.checkpoint("TRUNCATE")));
    assert_eq!(fs::metadata(site.wal()).unwrap().len(), 0);
    assert_eq!(copy.next(), Ok(0));
    site.commit(20_000);
    assert_ne!(copy.next(), Ok(0));
    copy.assert_equals(&site.writer);
}

/// The number in the header is of the connection that writes the header, and need not grow.
#[test]
fn wal_emptied_by_another_connection_loses_nothing_under_a_guard() {
    let site = Site::make();
    let other = writer(&site.path().join("mall.sqlite"));
    let empty =
        || other.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0)).unwrap();
    let mut copy = site.follow();
    for round in 0..3 {
        site.commit(20_000);
        copy.next().unwrap();
        site.checkpoint("PASSIVE");
        copy.next().unwrap();
        assert_eq!(empty(), 0, "round {round}");
        site.commit(20_000);
        assert_ne!(copy.next(), Ok(0), "round {round}");
        copy.assert_equals(&site.writer);
    }
}

#[test]
fn follower_of_an_empty_wal_begins_with_its_first_commit() {
    let site = Site::make();
    assert!(!site.checkpoint("TRUNCATE"));
    let mut copy = site.follow();
    assert_eq!(copy.next(), Ok(0));
    site.commit(9_000);
    assert_ne!(copy.next(), Ok(0));
    copy.assert_equals(&site.writer);
    // Without the guard, generations may have come and gone before the first.
    let other = Site::make();
    other.checkpoint("TRUNCATE");
    let mut copy = other.follow();
    copy.follower.release();
    other.commit(10);
    assert_eq!(copy.next(), Err(LossReason::Overwritten));
}

#[test]
fn released_follower_goes_on_if_the_wal_was_not_begun_anew() {
    let site = Site::make();
    let mut copy = site.follow();
    site.commit(20_000);
    copy.next().unwrap();
    copy.follower.release();
    site.commit(20_000);
    site.checkpoint("PASSIVE");
    assert_ne!(copy.next(), Ok(0));
    copy.assert_equals(&site.writer);
}

#[test]
fn released_follower_goes_on_if_a_short_generation_followed_the_last_commit() {
    let site = Site::make();
    let mut copy = site.follow();
    site.commit(200_000);
    copy.next().unwrap();
    copy.follower.release();
    restart(&site);
    assert_ne!(copy.next(), Ok(0));
    copy.assert_equals(&site.writer);
}

#[test]
fn overwritten_commits_are_lost() {
    let site = Site::make();
    let mut copy = site.follow();
    site.commit(20_000);
    copy.next().unwrap();
    copy.follower.release();
    // Behind the position, and then overwritten by a generation that is longer than the position.
    site.commit(20_000);
    site.checkpoint("PASSIVE");
    site.commit(60_000);
    assert_eq!(copy.next(), Err(LossReason::Overwritten));
}

#[test]
fn two_restarts_without_a_guard_are_a_loss() {
    let site = Site::make();
    let mut copy = site.follow();
    site.commit(200_000);
    copy.next().unwrap();
    copy.follower.release();
    restart(&site);
    restart(&site);
    assert_eq!(copy.next(), Err(LossReason::Overwritten));
}

#[test]
fn emptied_wal_is_a_loss_without_a_guard() {
    let site = Site::make();
    let mut copy = site.follow();
    site.commit(20_000);
    copy.next().unwrap();
    copy.follower.release();
    site.commit(20_000);
    assert!(!site.checkpoint("TRUNCATE"));
    assert_eq!(copy.next(), Err(LossReason::Overwritten));
}

/// The new generation has overwritten frames of the former one, but none of its commits is visible yet.
#[test]
fn open_transaction_that_overwrites_commits_is_noticed() {
    let site = Site::make();
    let mut copy = site.follow();
    site.commit(20_000);
    copy.next().unwrap();
    copy.follower.release();
    site.commit(20_000);
    site.checkpoint("PASSIVE");
    // A small cache spills the pages of the transaction into the file.
    site.writer.pragma_update(None, "cache_size", 10).unwrap();
    site.writer.execute_batch("BEGIN").unwrap();
    (0..30).for_each(|_| site.commit(4_000));
    assert_eq!(copy.next(), Err(LossReason::Overwritten));
    site.writer.execute_batch("ROLLBACK").unwrap();
}
