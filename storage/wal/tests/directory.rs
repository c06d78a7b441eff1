//! The log in a real directory, in both ways of writing.

#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

use std::fs;
use std::path::Path;

use mallbox_storage_wal::{
    BLOCK_BYTES, Damage, Directory, Evidence, Options, RECORD_MAX_BYTES, Recovery, Repair, SyncPoint, Wal,
    WalError, WriteMode,
};

const OPTIONS: Options = Options { segment_bytes: 8 * BLOCK_BYTES as u64, spare_segments: 2 };
const EVIDENCE: Evidence = Evidence { log_id: 42, needed_from: 1, kept_from: 1, seen: 0 };

/// Runs a test in a directory of its own, in each way that the file system takes.
fn in_each_mode(test: impl Fn(&Directory, &Path)) {
    for mode in [WriteMode::Unsynced, WriteMode::Buffered, WriteMode::Direct] {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        if mode == WriteMode::Direct && !Directory::takes_direct_writes(dir.path()).unwrap() {
            println!("not tried: this file system takes no direct writes");
            continue;
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "the probe leaves nothing");
        test(&Directory::new(dir.path(), mode), dir.path());
    }
}

fn open(directory: &Directory, evidence: &Evidence) -> (Recovery, Wal<Directory>) {
    let recovery = Recovery::read(directory, evidence).unwrap();
    let wal = recovery.open(directory.clone(), OPTIONS).unwrap();
    (recovery, wal)
}

fn body(number: u64) -> Vec<u8> {
    number.to_le_bytes().repeat(usize::try_from(number % 700).unwrap())
}

fn segments(path: &Path) -> usize {
    let names = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("segment-")).count()
}

#[test]
fn records_are_found_after_any_number_of_starts() {
    in_each_mode(|directory, _| {
        let mut written = Vec::new();
        for start in 0..5 {
            let (recovery, mut wal) = open(directory, &EVIDENCE);
            assert_eq!(recovery.is_new, start == 0);
            assert_eq!((&recovery.damage, &recovery.repairs), (&vec![], &vec![]));
            let found = recovery.records.iter().filter(|record| !record.body.is_empty());
            let found: Vec<(u64, &Vec<u8>)> = found.map(|record| (record.number, &record.body)).collect();
            let expected: Vec<(u64, &Vec<u8>)> =
                written.iter().map(|(number, body)| (*number, body)).collect();
            assert_eq!(found, expected);
            for _ in 0..30 {
                let body = body(wal.last() * 37 + 1);
                wal.commit(&body, SyncPoint::Now).unwrap();
                written.push((wal.last(), body));
            }
            assert_eq!(wal.durable(), wal.last());
        }
    });
}

#[test]
fn released_segments_are_used_again() {
    in_each_mode(|directory, path| {
        let (_, mut wal) = open(directory, &EVIDENCE);
        for _ in 0..400 {
            wal.commit(&[1; 5_000], SyncPoint::Now).unwrap();
            wal.release(wal.last() - 1).unwrap();
        }
        assert!(segments(path) <= 4, "{} segments", segments(path));
        let last = wal.last();
        drop(wal);
        let evidence = Evidence { needed_from: last, kept_from: last, seen: last - 1, ..EVIDENCE };
        let (recovery, mut wal) = open(directory, &evidence);
        let wanted: Vec<u64> = recovery
            .records
            .iter()
            .filter(|record| !record.body.is_empty())
            .map(|record| record.number)
            .collect();
        assert_eq!(wanted, [last]);
        wal.release(last).unwrap();
        wal.prepare().unwrap();
    });
}

#[test]
fn flipped_bit_in_a_durable_record_is_damage_and_nothing_is_written() {
    in_each_mode(|directory, path| {
        let (_, mut wal) = open(directory, &EVIDENCE);
        for _ in 0..3 {
            wal.commit(b"a claim", SyncPoint::Now).unwrap();
        }
        drop(wal);
        let file = path.join("segment-1");
        let mut bytes = fs::read(&file).unwrap();
        bytes[2 * BLOCK_BYTES + 66] ^= 4;
        fs::write(&file, &bytes).unwrap();
        let recovery = Recovery::read(directory, &EVIDENCE).unwrap();
        assert_eq!(recovery.damage, [Damage::Records(3..=3)]);
        let numbers: Vec<u64> = recovery.records.iter().map(|record| record.number).collect();
        assert_eq!(numbers, [1, 2, 4], "what is readable is returned");
        assert_eq!(fs::read(&file).unwrap(), bytes);
    });
}

#[test]
fn missing_files_are_named_or_made_again() {
    in_each_mode(|directory, path| {
        let (_, mut wal) = open(directory, &EVIDENCE);
        for _ in 0..20 {
            wal.commit(&[1; 5_000], SyncPoint::Now).unwrap();
        }
        drop(wal);
        fs::write(path.join("manifest"), "no manifest").unwrap();
        let (recovery, wal) = open(directory, &EVIDENCE);
        assert_eq!(recovery.repairs, [Repair::Manifest]);
        assert_eq!(recovery.last, 21);
        drop(wal);
        fs::remove_file(path.join("segment-2")).unwrap();
        let recovery = Recovery::read(directory, &EVIDENCE).unwrap();
        assert_eq!(recovery.damage[0], Damage::Segment("segment-2".to_owned()));
        let theirs = Recovery::read(directory, &Evidence { log_id: 43, ..EVIDENCE }).unwrap();
        assert_eq!(theirs.damage[0], Damage::Foreign("manifest".to_owned()));
    });
}

#[test]
fn record_longer_than_a_segment_gets_a_segment_of_its_own() {
    in_each_mode(|directory, path| {
        let (_, mut wal) = open(directory, &EVIDENCE);
        let long = vec![7; 20 * BLOCK_BYTES];
        wal.commit(b"before", SyncPoint::Now).unwrap();
        wal.commit(&long, SyncPoint::Now).unwrap();
        wal.commit(b"behind", SyncPoint::Now).unwrap();
        drop(wal);
        let (recovery, mut wal) = open(directory, &EVIDENCE);
        let bodies: Vec<&[u8]> = recovery.records.iter().map(|record| &record.body[..]).collect();
        assert_eq!(bodies, [&[], &b"before"[..], &long, b"behind"]);
        wal.commit(b"last", SyncPoint::Now).unwrap();
        wal.release(wal.last() - 1).unwrap();
        assert!(segments(path) <= 3, "the long segment is removed");
        let lengths = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len());
        assert!(lengths.max() <= Some(OPTIONS.segment_bytes));
    });
}

#[test]
fn record_beyond_all_limits_is_refused_before_it_is_written() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let directory = Directory::new(dir.path(), WriteMode::Buffered);
    let (_, mut wal) = open(&directory, &EVIDENCE);
    let refused = wal.commit(&vec![0; RECORD_MAX_BYTES + 1], SyncPoint::Now).unwrap_err();
    assert!(matches!(refused, WalError::TooLong { bytes, max } if bytes == max + 1));
    wal.commit(b"short", SyncPoint::Now).unwrap();
    assert_eq!(wal.last(), 2);
}

#[test]
fn log_is_created_with_records_of_a_former_one() {
    in_each_mode(|directory, _| {
        let evidence = Evidence { needed_from: 41, kept_from: 41, ..EVIDENCE };
        let former = || vec![b"41".to_vec(), Vec::new(), b"43".to_vec()];
        let recovery = Recovery::read(directory, &evidence).unwrap();
        assert!(recovery.is_new);
        let mut wal = recovery.create_with(directory.clone(), OPTIONS, former()).unwrap();
        assert_eq!((wal.last(), wal.durable()), (44, 44));
        wal.commit(b"45", SyncPoint::Now).unwrap();
        drop(wal);
        let recovery = Recovery::read(directory, &evidence).unwrap();
        assert!(!recovery.is_new);
        let found: Vec<(u64, &[u8])> =
            recovery.records.iter().map(|record| (record.number, &record.body[..])).collect();
        assert_eq!(found, [(41, &b"41"[..]), (42, b""), (43, b"43"), (44, b""), (45, b"45")]);
    });
}

/// The records since the last sync may be more than fill a segment of the next start.
#[test]
fn start_with_shorter_segments_takes_over_a_longer_tail() {
    in_each_mode(|directory, path| {
        let (_, mut wal) = open(directory, &EVIDENCE);
        for _ in 0..6 {
            wal.commit(&[5; 4_000], SyncPoint::Later).unwrap();
        }
        drop(wal);
        let short = Options { segment_bytes: 2 * BLOCK_BYTES as u64, spare_segments: 0 };
        let recovery = Recovery::read(directory, &EVIDENCE).unwrap();
        let mut wal = recovery.open(directory.clone(), short).unwrap();
        wal.commit(&[6; 100], SyncPoint::Now).unwrap();
        wal.release(wal.last() - 1).unwrap();
        assert_eq!(segments(path), 1, "segments of other lengths are removed");
        let last = wal.last();
        let evidence = Evidence { needed_from: last, kept_from: last, ..EVIDENCE };
        assert_eq!(Recovery::read(directory, &evidence).unwrap().records.last().unwrap().body, [6; 100]);
    });
}
