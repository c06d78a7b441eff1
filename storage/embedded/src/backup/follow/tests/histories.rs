//! Random histories, from a printed seed.

use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};

use super::*;

/// Bounds on the number of histories where none is asked for.
const HISTORIES_MIN: u64 = 8;
const HISTORIES_MAX: u64 = 64;

/// One writer, one follower and two readers on one thread: every interleaving of calls is possible.
#[test]
fn copy_equals_the_database_after_every_call_of_random_histories() {
    let histories = env::var("MALLBOX_FOLLOWED_HISTORIES").ok().and_then(|text| text.parse().ok());
    let seed = env::var("MALLBOX_FOLLOWED_SEED").ok().and_then(|text| text.parse().ok());
    let seed: u64 = seed.unwrap_or_else(rand::random);
    let mut outcomes = Outcomes::default();
    for number in 0..histories.unwrap_or(HISTORIES_MAX) {
        // One history in two has no loss of a released follower.
        if histories.is_none() && number >= HISTORIES_MIN && outcomes.have_all_kinds() {
            break;
        }
        let seed = seed.wrapping_add(number);
        println!("MALLBOX_FOLLOWED_SEED={seed} MALLBOX_FOLLOWED_HISTORIES=1");
        run(seed, &mut outcomes);
    }
    println!("{outcomes:?}");
    assert_eq!(outcomes.lost_guarded, 0, "{outcomes:?}");
    assert!(histories.is_some() || outcomes.have_all_kinds(), "{outcomes:?}");
}

/// A writer and a checkpointer without a pause, on separate threads. Each transaction notes the number of
/// rows and bytes, so that a mixture of two states is noticed.
#[test]
fn copy_is_a_state_of_a_database_that_is_written_and_copied_without_pause() {
    let seed = env::var("MALLBOX_FOLLOWED_SEED").ok().and_then(|text| text.parse().ok());
    let seconds = env::var("MALLBOX_FOLLOWED_SECONDS").ok().and_then(|text| text.parse().ok());
    let seed: u64 = seed.unwrap_or_else(rand::random);
    println!("MALLBOX_FOLLOWED_SEED={seed}");
    let site = Site::make();
    site.writer.execute_batch("INSERT INTO meta VALUES ('rows', 0), ('bytes', 0)").unwrap();
    let database = site.path().join("mall.sqlite");
    let stop = Arc::new(AtomicBool::new(false));
    // A connection that is opened beside a writer without a pause may find the database busy.
    let [writing, checkpointing] = [(), ()].map(|()| writer(&database));
    let in_background = |conn: Connection, work: fn(&Connection, &mut SmallRng), seed| {
        let stop = Arc::clone(&stop);
        let mut random = SmallRng::seed_from_u64(seed);
        thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                work(&conn, &mut random);
            }
        })
    };
    let threads =
        [in_background(writing, write_and_note, seed), in_background(checkpointing, checkpoint, !seed)];
    let (mut random, mut copy) = (SmallRng::seed_from_u64(seed ^ 1), site.follow());
    let (mut outcomes, mut is_released, began) = (Outcomes::default(), false, Instant::now());
    while began.elapsed() < Duration::from_secs(seconds.unwrap_or(4)) {
        let is_awaiting = copy.follower.is_awaiting_restart();
        match copy.next() {
            Ok(pages) => {
                outcomes.pages += pages;
                outcomes.nothing += usize::from(pages == 0);
                outcomes.went_on += usize::from(is_released || is_awaiting);
            }
            Err(reason) => {
                println!("released {is_released}, awaiting a restart {is_awaiting}: {reason}");
                outcomes.lost_released += usize::from(is_released || is_awaiting);
                outcomes.lost_guarded += usize::from(!is_released && !is_awaiting);
                copy = site.follow();
                copy.next().unwrap();
            }
        }
        assert_noted(&copy.finished());
        is_released = random.random_range(0..4) == 0;
        if is_released {
            copy.follower.release();
        }
        if !copy.follower.is_awaiting_restart() {
            thread::sleep(Duration::from_millis(random.random_range(0..20)));
        }
    }
    stop.store(true, Ordering::Relaxed);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    println!("{outcomes:?}, {} MiB of WAL", fs::metadata(site.wal()).unwrap().len() >> 20);
    if copy.next().is_ok() {
        copy.assert_equals(&site.writer);
    }
    assert_eq!(outcomes.lost_guarded, 0, "{outcomes:?}");
    assert!(outcomes.pages > 0 && outcomes.lost_released + outcomes.went_on > 0, "{outcomes:?}");
}

fn write_and_note(conn: &Connection, random: &mut SmallRng) {
    // A checkpoint may hold the lock.
    if conn.execute_batch("BEGIN IMMEDIATE").is_err() {
        return;
    }
    for _ in 0..random.random_range(1..5) {
        let (bytes, id) = (random.random_range(1..9_000), random.random_range(0..400));
        let sql = match random.random_range(0..5) {
            0..3 => "INSERT OR REPLACE INTO rows VALUES (?2, randomblob(?1))",
            3 => "DELETE FROM rows WHERE id > ?2 AND id < ?2 + ?1 / 200",
            _ => "UPDATE rows SET value = randomblob(?1) WHERE id BETWEEN ?2 AND ?2 + 5",
        };
        conn.execute(sql, [bytes, id]).unwrap();
    }
    if random.random_range(0..20) == 0 {
        shrink(conn, 200);
    }
    conn.execute_batch(
        "UPDATE meta SET value = (SELECT count(*) FROM rows) WHERE name = 'rows';
         UPDATE meta SET value = (SELECT coalesce(sum(length(value)), 0) FROM rows) WHERE name = 'bytes';
         COMMIT",
    )
    .unwrap();
}

fn checkpoint(conn: &Connection, random: &mut SmallRng) {
    let mode = ["PASSIVE", "PASSIVE", "PASSIVE", "RESTART", "TRUNCATE"][random.random_range(0..5)];
    // A writer may hold the lock.
    let _ = conn.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_| Ok(()));
    thread::sleep(Duration::from_millis(random.random_range(0..8)));
}

fn assert_noted(conn: &Connection) {
    let sql = "SELECT (SELECT count(*) FROM rows), (SELECT value FROM meta WHERE name = 'rows'),
                      (SELECT coalesce(sum(length(value)), 0) FROM rows),
                      (SELECT value FROM meta WHERE name = 'bytes')";
    let found: [i64; 4] =
        conn.query_row(sql, [], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?])).unwrap();
    assert_eq!([found[0], found[2]], [found[1], found[3]], "rows and bytes, counted and noted");
}

#[derive(Debug, Default)]
struct Outcomes {
    pages: usize,
    nothing: usize,
    restarts: usize,
    lost_guarded: usize,
    /// Losses of a follower without a guard.
    lost_released: usize,
    /// Followers that had no guard and went on.
    went_on: usize,
}

impl Outcomes {
    /// Returns whether each kind of outcome was seen, except for losses under a guard.
    fn have_all_kinds(&self) -> bool {
        [self.pages, self.nothing, self.restarts, self.lost_released, self.went_on]
            .iter()
            .all(|&count| count > 0)
    }
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
