//! Files of real databases with flipped bits, and in every state that a power cut may leave.
#![expect(clippy::unwrap_used, reason = "helpers of a test binary: a failure is a failed test")]

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use mallbox_storage_integrity::{Inspection, Witness, inspect};
use rusqlite::Connection;
use tempfile::TempDir;

const HEADER: usize = 32;
const FRAME: usize = 24 + 4_096;

/// A database whose `-wal` file has several transactions.
struct Place {
    dir: TempDir,
    wal: Vec<u8>,
    /// Number of the last frame of each transaction.
    ends: Vec<u32>,
}

impl Place {
    /// Writes `rows[i]` rows, several pages each, in transaction `i`. With `recycled`, frames of a former
    /// beginning of the file lie behind.
    fn make(rows: &[usize], recycled: bool) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let conn = Connection::open(dir.path().join("a.sqlite")).unwrap();
        conn.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (a, b)")
            .unwrap();
        if recycled {
            write(&conn, 60);
            conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).unwrap();
        }
        let mut place = Self { dir, wal: Vec::new(), ends: Vec::new() };
        for rows in rows {
            write(&conn, *rows);
            place.wal = fs::read(place.path("a.sqlite-wal")).unwrap();
            let salts = place.wal[16..24].to_vec();
            let frames = place.wal[HEADER..].chunks(FRAME).take_while(|frame| frame[8..16] == salts);
            place.ends.push(u32::try_from(frames.count()).unwrap());
        }
        // The files of a process that was killed.
        let killed = tempfile::tempdir().unwrap();
        for name in ["a.sqlite", "a.sqlite-wal"] {
            fs::copy(place.path(name), killed.path().join(name)).unwrap();
        }
        drop(conn);
        place.dir = killed;
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Returns the witness after transaction `last`, the first being 0.
    fn witness(&self, last: usize) -> Witness {
        let frames = self.ends[last];
        let at = HEADER + (frames as usize - 1) * FRAME;
        Witness {
            is_synced: true,
            commits: last as u64 + 1,
            frames,
            header: self.wal[..HEADER].try_into().unwrap(),
            sum: self.wal[at + 16..at + 24].try_into().unwrap(),
            ..Witness::default()
        }
    }

    fn inspect(&self, wal: &[u8], witness: Option<&Witness>) -> Inspection {
        let path = self.path("a.sqlite-wal");
        fs::write(&path, wal).unwrap();
        inspect(&path, &self.path("a.sqlite"), witness).unwrap().unwrap()
    }

    /// Number of rows that SQLite finds.
    fn rows(&self) -> i64 {
        let copy = tempfile::tempdir().unwrap();
        for name in ["a.sqlite", "a.sqlite-wal"] {
            fs::copy(self.path(name), copy.path().join(name)).unwrap();
        }
        let conn = Connection::open(copy.path().join("a.sqlite")).unwrap();
        conn.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap()
    }
}

fn write(conn: &Connection, rows: usize) {
    let transaction = conn.unchecked_transaction().unwrap();
    for _ in 0..rows {
        conn.execute("INSERT INTO t VALUES (1, randomblob(3000))", []).unwrap();
    }
    transaction.commit().unwrap();
}

fn at(frame: u32) -> usize {
    HEADER + (frame as usize - 1) * FRAME
}

#[test]
fn whole_files_have_all_commits_and_no_damage() {
    for recycled in [false, true] {
        let place = Place::make(&[1, 3, 2], recycled);
        let commits = if recycled { 3 } else { 4 };
        for witness in [None, Some(Witness { commits, ..place.witness(2) })] {
            let found = place.inspect(&place.wal, witness.as_ref());
            assert_eq!((found.damage.clone(), found.repairs(), found.commits), (None, 0, commits));
            assert!(!found.has_remains);
            assert!(found.pages.contains(&2));
        }
    }
}

/// Upper bits of a word are left: flips of several words have the same effect on SQLite's checksum.
#[test]
fn one_flipped_bit_is_repaired_or_named_and_never_repaired_wrongly() {
    let place = Place::make(&[1, 2, 1], true);
    let witness = place.witness(2);
    let last = at(place.ends[2] + 1);
    let mut places: Vec<usize> = (0..HEADER).collect();
    places.extend((1..=place.ends[2]).flat_map(|frame| (0..24).step_by(3).map(move |byte| at(frame) + byte)));
    places.extend((HEADER + 24..last).step_by(1_501));
    let (mut repaired, mut named) = (0, 0);
    for (bit, byte) in places.into_iter().enumerate() {
        let mut wal = place.wal.clone();
        wal[byte] ^= 1 << (bit % 8);
        let found = place.inspect(&wal, Some(&witness));
        if let Some(damage) = found.damage {
            let frame = u32::try_from((byte - HEADER) / FRAME + 1).unwrap();
            let lost = 3 - place.ends.iter().filter(|end| **end < frame).count() as u64;
            assert_eq!((damage.lost_commits, damage.was_synced), (lost, true), "byte {byte}");
            named += 1;
            continue;
        }
        assert_eq!((found.repairs(), found.commits), (1, 3), "byte {byte}");
        found.repair().unwrap();
        assert!(fs::read(place.path("a.sqlite-wal")).unwrap() == place.wal, "byte {byte}");
        repaired += 1;
    }
    println!("{repaired} repaired, {named} named");
    assert!(repaired > 2 * named);
}

#[test]
fn a_page_that_the_database_has_as_well_is_taken_from_there() {
    let place = Place::make(&[1, 2, 1], false);
    let first = at(2) + 24;
    let page = u32::from_be_bytes(place.wal[at(2)..at(2) + 4].try_into().unwrap());
    let file = fs::File::options().write(true).open(place.path("a.sqlite")).unwrap();
    file.write_all_at(&place.wal[first..first + 4_096], u64::from(page - 1) * 4_096).unwrap();
    let mut wal = place.wal.clone();
    wal[first..first + 4_096].fill(0xA5);
    let found = place.inspect(&wal, None);
    assert_eq!((found.damage.clone(), found.repairs()), (None, 1));
    found.repair().unwrap();
    assert!(fs::read(place.path("a.sqlite-wal")).unwrap() == place.wal);
}

/// SQLite went on with the commits in front of the frame, and said nothing.
#[test]
fn a_broken_frame_in_front_of_acknowledged_commits_was_taken_for_a_torn_end() {
    let place = Place::make(&[1, 3, 1, 2], true);
    for frame in 1..=place.ends[3] {
        let mut wal = place.wal.clone();
        wal[at(frame) + 900..at(frame) + 1_400].fill(0x5A);
        let lost = 4 - place.ends.iter().filter(|end| **end < frame).count() as u64;
        let damage = place.inspect(&wal, Some(&place.witness(3))).damage.expect("it was noted");
        assert_eq!((damage.lost_commits, damage.was_synced), (lost, true), "frame {frame}");
        // The last note was not on the disk yet: two commits behind prove as much.
        let early = place.inspect(&wal, Some(&place.witness(0))).damage;
        let is_proven = frame <= place.ends[0] || place.ends.iter().filter(|end| **end > frame).count() >= 2;
        assert_eq!(early.is_some(), is_proven, "frame {frame}: {early:?}");
        assert!(early.is_none_or(|damage| damage.lost_commits + 1 >= lost && damage.lost_commits <= lost));
    }
}

#[test]
fn a_file_that_was_cut_off_replaced_or_is_old_is_damaged() {
    let place = Place::make(&[1, 3, 1], true);
    let witness = place.witness(2);
    for bytes in [at(place.ends[2] + 1) - 1, at(place.ends[1]), HEADER, 20] {
        let damage = place.inspect(&place.wal[..bytes], Some(&witness)).damage;
        assert!(damage.is_some_and(|damage| damage.was_synced && damage.lost_commits > 0), "{bytes} bytes");
    }
    let mut wal = place.wal.clone();
    wal[..HEADER].fill(0);
    wal[at(1)..at(2)].fill(0);
    assert!(place.inspect(&wal, Some(&witness)).damage.is_some());
    let other = Place::make(&[1, 3, 1], true);
    assert!(place.inspect(&other.wal, Some(&witness)).damage.is_some());
    // The file as it was before it was begun anew.
    let mut later = witness;
    let former = Place::make(&[1], false);
    later.header = place.wal[..HEADER].try_into().unwrap();
    assert!(place.inspect(&former.wal, Some(&later)).damage.is_some());
}

#[test]
fn a_file_that_was_begun_anew_after_the_last_note_is_not_damaged() {
    for times in 1..=2 {
        let place = Place::make(&[2], false);
        let former = place.witness(0);
        let conn = Connection::open(place.path("a.sqlite")).unwrap();
        conn.execute_batch("PRAGMA wal_autocheckpoint = 0").unwrap();
        for _ in 0..times {
            conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).unwrap();
            write(&conn, 1);
        }
        let wal = fs::read(place.path("a.sqlite-wal")).unwrap();
        drop(conn);
        let found = place.inspect(&wal, Some(&former));
        assert_eq!((found.damage.clone(), found.commits), (None, 1));
    }
    // A header that was torn: the former beginning is read once more.
    let place = Place::make(&[2], false);
    let mut wal = place.wal.clone();
    wal[12..HEADER].fill(0x77);
    let found = place.inspect(&wal, Some(&Witness { commits: 2, ..place.witness(0) }));
    assert_eq!((found.damage.clone(), found.repairs()), (None, 1));
    found.repair().unwrap();
    assert_eq!(place.rows(), 2);
}

/// Frames of the last transaction are on the disk in any combination, whole, in part, or not at all.
#[test]
fn no_state_that_a_power_cut_leaves_counts_as_damage() {
    for recycled in [false, true] {
        let place = Place::make(&[1, 2, 4], recycled);
        let extra = u64::from(!recycled);
        let witness = Witness { commits: 2 + extra, ..place.witness(1) };
        let frames: Vec<u32> = (place.ends[1] + 1..=place.ends[2]).collect();
        let rows = if recycled { 60 } else { 0 };
        for state in 0..3_u32.pow(u32::try_from(frames.len()).unwrap()) {
            let mut wal = place.wal.clone();
            let (mut rest, mut is_whole, mut end) = (state, true, wal.len());
            for frame in &frames {
                let bytes = at(*frame)..at(frame + 1);
                match rest % 3 {
                    0 => {}
                    // Of eight sectors, some.
                    1 => wal[bytes][24 + 1_000..24 + 3_000].fill(0x33),
                    _ => wal[bytes].fill(0),
                }
                is_whole &= rest % 3 == 0;
                rest /= 3;
                // The file may not have grown.
                if !recycled && state % 5 == 1 && *frame == frames[frames.len() - 1] {
                    end = at(*frame) + 700;
                    is_whole = false;
                }
            }
            let found = place.inspect(&wal[..end], Some(&witness));
            assert_eq!((found.damage.clone(), found.repairs()), (None, 0), "state {state}");
            assert_eq!(found.commits, if is_whole { 3 } else { 2 } + extra, "state {state}");
            if found.has_remains && state % 7 == 0 {
                found.cut().unwrap();
                let found = inspect(&place.path("a.sqlite-wal"), Path::new("none"), Some(&witness)).unwrap();
                assert!(found.is_some_and(|found| !found.has_remains && found.damage.is_none()));
            }
            if state % 5 == 0 {
                assert_eq!(place.rows(), if is_whole { 7 } else { 3 } + rows, "state {state}");
            }
        }
    }
}

/// Two power cuts tore two transactions at the same place; the second one was shorter.
#[test]
fn remains_of_several_torn_transactions_count_as_no_damage() {
    let place = Place::make(&[1, 2, 4], false);
    let witness = Witness { commits: 3, ..place.witness(1) };
    let mut wal = place.wal.clone();
    let first = place.ends[1] + 1;
    wal[at(first) + 24..at(first) + 2_000].fill(0);
    place.inspect(&wal, Some(&witness)).repair().unwrap();
    // A further process, without the cut of this crate.
    let conn = Connection::open(place.path("a.sqlite")).unwrap();
    conn.execute_batch("PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = FULL").unwrap();
    write(&conn, 1);
    let mut wal = fs::read(place.path("a.sqlite-wal")).unwrap();
    drop(conn);
    wal[at(first) + 24..at(first) + 2_000].fill(0);
    let found = place.inspect(&wal, Some(&witness));
    assert_eq!((found.damage.clone(), found.has_remains), (None, true));
}

#[test]
fn commits_that_were_not_synced_are_named_but_not_called_certain() {
    let place = Place::make(&[1, 2, 4], true);
    let witness = Witness { is_synced: false, ..place.witness(2) };
    let damage = place.inspect(&place.wal[..at(2)], Some(&witness)).damage.expect("it was noted");
    assert!(!damage.was_synced && damage.lost_commits > 0);
}

/// A page that a power cut left out is completed from the database file, which looks like a repair.
#[test]
fn repair_of_the_last_transaction_may_be_a_torn_write_unless_the_transaction_is_noted() {
    let place = Place::make(&[1, 2, 1], true);
    let flipped = |frame: u32| {
        let mut wal = place.wal.clone();
        wal[at(frame) + 24 + 100] ^= 1;
        wal
    };
    let former = place.witness(1);
    for (frame, witness, is_maybe_torn) in [
        (place.ends[2], None, true),
        (place.ends[2], Some(&former), true),
        (place.ends[2], Some(&place.witness(2)), false),
        (place.ends[1], None, false),
        (place.ends[0], Some(&former), false),
    ] {
        let found = place.inspect(&flipped(frame), witness);
        assert_eq!((found.repairs(), found.is_maybe_torn), (1, is_maybe_torn), "frame {frame}");
    }
}
