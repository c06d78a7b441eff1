//! Backups that are whole, cut off, flipped, foreign or meant to do harm.

use std::io::Cursor;

use mallbox_storage::{OrderId, Timestamp, UserId, VoucherId};

use super::super::writer::BackupWriter;
use super::*;

fn claim(order: u64) -> Claim {
    Claim {
        order: OrderId::new(order),
        voucher: VoucherId::new(7),
        user: UserId::new(order),
        at: Timestamp::from_millis(-1),
    }
}

fn header(bytes: u64, claims: u64) -> Header {
    Header {
        format: FORMAT,
        program: "0.1.0".to_owned(),
        taken: "2026-11-30T00:00:00Z".to_owned(),
        incarnation: None,
        is_demo: false,
        claims,
        bytes,
    }
}

fn claim_lines() -> Vec<u8> {
    let lines =
        [claim(1), claim(u64::MAX)].map(|claim| serde_json::to_string(&ClaimLine::from(claim)).unwrap());
    format!("{}\n{}\n", lines[0], lines[1]).into_bytes()
}

const PICTURE: &[u8] = &[7; 70_000];

/// A backup with two claims and a picture, written in full.
fn backup() -> Vec<u8> {
    let database = b"SQLite format 3\0".repeat(1_000);
    let (claims, picture) = (claim_lines(), "uploads/1/面 1.png");
    let bytes = (database.len() + claims.len() + PICTURE.len()) as u64;
    let mut writer = BackupWriter::begin(Vec::new(), &header(bytes, 2)).unwrap();
    writer.add_bytes(DATABASE, &database).unwrap();
    writer.add_bytes(CLAIMS, &claims).unwrap();
    writer.add_bytes(picture, PICTURE).unwrap();
    writer.finish().unwrap()
}

/// Unpacks a file with this content. Returns the directory as well.
fn unpacked(content: &[u8]) -> (tempfile::TempDir, Result<Unpacked, BackupFault>) {
    let dir = tempfile::tempdir().unwrap();
    let (file, into) = (dir.path().join("file"), dir.path().join("into"));
    fs::write(&file, content).unwrap();
    fs::create_dir(&into).unwrap();
    let outcome = unpack(&file, &into, |_| {});
    (dir, outcome)
}

#[test]
fn what_was_written_is_read_again() {
    let (dir, outcome) = unpacked(&backup());
    let Unpacked { header, claims } = outcome.unwrap();
    assert_eq!((claims, header.taken.as_str()), (vec![claim(1), claim(u64::MAX)], "2026-11-30T00:00:00Z"));
    let into = dir.path().join("into");
    assert_eq!(fs::read(into.join("uploads/1/面 1.png")).unwrap(), PICTURE);
    let mut names: Vec<_> = fs::read_dir(&into).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["mall.sqlite", "uploads"], "the claims are handed over");
}

#[test]
fn a_flipped_bit_anywhere_is_found() {
    let whole = backup();
    let content = |dir: &tempfile::TempDir| {
        let into = dir.path().join("into");
        ["mall.sqlite", "uploads/1/面 1.png"].map(|name| fs::read(into.join(name)).unwrap())
    };
    let (dir, outcome) = unpacked(&whole);
    let (expected, claims) = (content(&dir), outcome.unwrap().claims);
    let (mut refused, mut harmless) = (0, 0);
    for bit in 0..whole.len() * 8 {
        let mut flipped = whole.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        match unpacked(&flipped) {
            (_, Err(_)) => refused += 1,
            // In bytes that say nothing, such as the time of gzip, or where a repetition is compressed.
            (dir, Ok(found)) => {
                harmless += 1;
                assert_eq!((content(&dir), found.claims), (expected.clone(), claims.clone()), "bit {bit}");
            }
        }
    }
    assert!(refused > 6 * harmless, "{refused} refused, {harmless} harmless");
}

#[test]
fn a_file_cut_off_anywhere_is_refused() {
    let whole = backup();
    for length in (0..whole.len() - 600).step_by(97) {
        let (_dir, outcome) = unpacked(&whole[..length]);
        assert!(
            matches!(outcome, Err(BackupFault::CutOff | BackupFault::NotABackup)),
            "{length}: {outcome:?}"
        );
    }
}

#[test]
fn other_files_are_no_backups() {
    for other in [&b""[..], b"mall", &[0; 4096], &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]] {
        let (_dir, outcome) = unpacked(other);
        assert!(matches!(outcome, Err(BackupFault::NotABackup)), "{outcome:?}");
    }
    let gz = |content: &[u8]| {
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(content).unwrap();
        gz.finish().unwrap()
    };
    let (_dir, outcome) = unpacked(&gz(b"a text"));
    assert!(matches!(outcome, Err(BackupFault::NotABackup)), "{outcome:?}");
}

/// An archive with a header and one more entry.
fn with_entry(header: &Header, entry: &mut tar::Header, path: &[u8], content: &[u8]) -> Vec<u8> {
    let gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut tar = tar::Builder::new(gz);
    let text = serde_json::to_vec(header).unwrap();
    let mut first = tar::Header::new_gnu();
    first.set_size(text.len() as u64);
    tar.append_data(&mut first, HEADER, Cursor::new(text)).unwrap();
    // Written by hand: the builder refuses such paths.
    entry.as_mut_bytes()[..path.len()].copy_from_slice(path);
    entry.set_size(content.len() as u64);
    entry.set_cksum();
    tar.append(entry, Cursor::new(content)).unwrap();
    tar.into_inner().unwrap().finish().unwrap()
}

#[test]
fn nothing_is_written_outside_and_nothing_unknown() {
    for path in [
        &b"../mall.sqlite"[..],
        b"/etc/passwd",
        b"uploads/../../x",
        b"uploads/./x",
        b"uploads//x",
        b"uploads",
        b"uploads/",
        b"log/wal/1",
        b"mall.sqlite-wal",
        b"lock",
        b"control.sock",
        b"DEMO",
        b"mallbox-backup.json",
        b"uploads/\\x",
    ] {
        let (dir, outcome) =
            unpacked(&with_entry(&header(9, 0), &mut tar::Header::new_gnu(), path, b"content"));
        assert!(matches!(outcome, Err(BackupFault::Foreign(_))), "{path:?}: {outcome:?}");
        assert_eq!(fs::read_dir(dir.path().join("into")).unwrap().count(), 0, "{path:?}");
    }
    for kind in
        [tar::EntryType::Symlink, tar::EntryType::Link, tar::EntryType::Directory, tar::EntryType::Fifo]
    {
        let mut entry = tar::Header::new_gnu();
        entry.set_entry_type(kind);
        let (_dir, outcome) = unpacked(&with_entry(&header(9, 0), &mut entry, b"uploads/x", b""));
        assert!(matches!(outcome, Err(BackupFault::Foreign(_))), "{kind:?}: {outcome:?}");
    }
}

#[test]
fn a_bomb_a_newer_format_and_a_full_disk_are_refused_before_anything_is_written() {
    let bomb = with_entry(&header(3, 0), &mut tar::Header::new_gnu(), b"mall.sqlite", &[0; 4096]);
    let newer = with_entry(
        &Header { format: FORMAT + 1, ..header(9, 0) },
        &mut tar::Header::new_gnu(),
        b"mall.sqlite",
        b"",
    );
    let large = with_entry(&header(u64::MAX, 0), &mut tar::Header::new_gnu(), b"mall.sqlite", b"");
    for (content, is_expected) in [
        (bomb, (|fault| matches!(fault, BackupFault::Damaged { .. })) as fn(&BackupFault) -> bool),
        (newer, |fault| matches!(fault, BackupFault::Newer(2))),
        (large, |fault| matches!(fault, BackupFault::NoRoom { needed: u64::MAX, .. })),
    ] {
        let (dir, outcome) = unpacked(&content);
        assert!(outcome.as_ref().is_err_and(is_expected), "{outcome:?}");
        assert_eq!(fs::read_dir(dir.path().join("into")).unwrap().count(), 0);
    }
}
