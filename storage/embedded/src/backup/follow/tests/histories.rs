//! Random histories, from a printed seed.

use std::env;

use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};

use super::*;

/// One writer, one follower and readers that come and go, in one thread: every interleaving of their calls is
/// possible.
#[test]
fn copy_equals_the_database_after_every_call_of_random_histories() {
    let histories = env::var("MALLBOX_FOLLOWED_HISTORIES").ok().and_then(|text| text.parse().ok());
    let seed = env::var("MALLBOX_FOLLOWED_SEED").ok().and_then(|text| text.parse().ok());
    let seed: u64 = seed.unwrap_or_else(rand::random);
    let histories: u64 = histories.unwrap_or(12);
    let mut outcomes = Outcomes::default();
    for seed in (0..histories).map(|number| seed.wrapping_add(number)) {
        println!("MALLBOX_FOLLOWED_SEED={seed} MALLBOX_FOLLOWED_HISTORIES=1");
        run(seed, &mut outcomes);
    }
    println!("{histories} histories: {outcomes:?}");
    assert_eq!(outcomes.lost_guarded, 0, "{outcomes:?}");
    assert!(histories < 12 || outcomes.lost_released > 0 && outcomes.went_on > 0, "{outcomes:?}");
    assert!(outcomes.pages > 0 && outcomes.restarts > 0, "{outcomes:?}");
}

#[derive(Debug, Default)]
struct Outcomes {
    pages: usize,
    nothing: usize,
    restarts: usize,
    lost_guarded: usize,
    /// Losses of a follower that had been released.
    lost_released: usize,
    /// Followers that had been released and went on.
    went_on: usize,
}

fn run(seed: u64, outcomes: &mut Outcomes) {
    let mut random = SmallRng::seed_from_u64(seed);
    let site = Site::make();
    // Spills of open transactions.
    site.writer.pragma_update(None, "cache_size", random.random_range(10..200)).unwrap();
    let readers = [(); 2].map(|()| Connection::open(site.path().join("mall.sqlite")).unwrap());
    for reader in &readers {
        reader.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
    }
    let mut copy = site.follow();
    let (mut is_released, mut salts) = (false, Vec::new());
    for _ in 0..250 {
        match random.random_range(0..100) {
            0..45 => write(&site.writer, &mut random),
            45..60 => {
                let modes = ["PASSIVE", "PASSIVE", "FULL", "RESTART", "TRUNCATE"];
                site.checkpoint(modes[random.random_range(0..modes.len())]);
            }
            60..68 => {
                let reader = &readers[random.random_range(0..2)];
                if reader.is_autocommit() {
                    reader.execute_batch("BEGIN; SELECT count(*) FROM rows").unwrap();
                } else {
                    reader.execute_batch("ROLLBACK").unwrap();
                }
            }
            68..72 => {
                copy.follower.release();
                is_released = true;
            }
            _ => {
                match copy.next() {
                    Ok(pages) => {
                        outcomes.went_on += usize::from(is_released);
                        outcomes.pages += pages;
                        outcomes.nothing += usize::from(pages == 0);
                    }
                    Err(_) => {
                        outcomes.lost_released += usize::from(is_released);
                        outcomes.lost_guarded += usize::from(!is_released);
                        copy = site.follow();
                        copy.next().unwrap();
                    }
                }
                is_released = false;
                copy.assert_equals(&site.writer);
            }
        }
        let now = fs::read(site.wal()).unwrap().get(16..24).map(<[u8]>::to_vec).unwrap_or_default();
        outcomes.restarts += usize::from(now != salts);
        salts = now;
    }
    let rows_of_copy = match copy.next() {
        Ok(_) => rows(&copy.finished()),
        Err(_) => return,
    };
    assert_eq!(rows_of_copy, rows(&site.writer));
}

fn write(writer: &Connection, random: &mut SmallRng) {
    let some = random.random_range(1..300);
    let sql = match random.random_range(0..20) {
        0..8 => format!("INSERT INTO rows (value) VALUES (randomblob({}))", some * 20),
        8..10 => "INSERT INTO rows (value) VALUES (randomblob(300000))".to_owned(),
        10..13 => format!("UPDATE rows SET value = randomblob({some}) WHERE id % 50 = {}", some % 50),
        13..15 => format!("DELETE FROM rows WHERE id % 3 = {}", some % 3),
        15 => return shrink(writer, 20),
        16 => "VACUUM".to_owned(),
        17 => format!("CREATE TABLE IF NOT EXISTS t{} (a, b UNIQUE)", some % 5),
        18 => format!("DROP TABLE IF EXISTS t{}", some % 5),
        _ => "BEGIN; DELETE FROM rows; ROLLBACK".to_owned(),
    };
    match writer.execute_batch(&sql) {
        Ok(()) => {}
        // A reader holds the tables that VACUUM wants.
        Err(error) if error.to_string().contains("locked") => {}
        Err(error) => panic!("{sql}: {error}"),
    }
}
