//! Backups that are whole, cut off, flipped, foreign or meant to do harm.

use std::io::Cursor;

use ed25519_dalek::SigningKey;
use mallbox_storage::{OrderId, Timestamp, UserId, VoucherId};

use super::super::encryption::Output;
use super::super::manifest::{FORMAT, OfServers};
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
        signer: None,
        is_base: false,
        servers: None,
        point: None,
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
    let mut writer = BackupWriter::begin(Vec::new(), header(bytes, 2), None).unwrap();
    writer.add_bytes(DATABASE, &database).unwrap();
    writer.add_bytes(CLAIMS, &claims).unwrap();
    writer.add_bytes(picture, PICTURE).unwrap();
    writer.finish().unwrap()
}

/// Unpacks a file with this content. Returns the directory as well.
fn unpacked(content: &[u8]) -> (tempfile::TempDir, Result<Unpacked, BackupFault>) {
    unpacked_with(content, &Credentials::default())
}

/// Unpacks a file with keys.
fn unpacked_with(
    content: &[u8],
    credentials: &Credentials,
) -> (tempfile::TempDir, Result<Unpacked, BackupFault>) {
    let dir = tempfile::tempdir().unwrap();
    let (file, into) = (dir.path().join("file"), dir.path().join("into"));
    fs::write(&file, content).unwrap();
    fs::create_dir(&into).unwrap();
    let outcome = unpack(&file, Kind::Directory, &into, credentials, |_| {});
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
        &Header { format: FORMAT_OF_SERVERS + 1, ..header(9, 0) },
        &mut tar::Header::new_gnu(),
        b"mall.sqlite",
        b"",
    );
    let large = with_entry(&header(u64::MAX, 0), &mut tar::Header::new_gnu(), b"mall.sqlite", b"");
    for (content, is_expected) in [
        (bomb, (|fault| matches!(fault, BackupFault::Damaged { .. })) as fn(&BackupFault) -> bool),
        (newer, |fault| matches!(fault, BackupFault::Newer(4))),
        (large, |fault| matches!(fault, BackupFault::NoRoom { needed: u64::MAX, .. })),
    ] {
        let (dir, outcome) = unpacked(&content);
        assert!(outcome.as_ref().is_err_and(is_expected), "{outcome:?}");
        assert_eq!(fs::read_dir(dir.path().join("into")).unwrap().count(), 0);
    }
}

/// The backup, encrypted and signed as wanted.
fn protected(recipients: &[age::x25519::Recipient], signer: Option<SigningKey>) -> Vec<u8> {
    let database = b"SQLite format 3\0".repeat(1_000);
    let out = Output::begin(Vec::new(), recipients).unwrap();
    let mut writer = BackupWriter::begin(out, header(database.len() as u64, 0), signer).unwrap();
    writer.add_bytes(DATABASE, &database).unwrap();
    writer.add_bytes(CLAIMS, b"").unwrap();
    writer.finish().unwrap().finish().unwrap()
}

fn signing_key(seed: u8) -> SigningKey {
    SigningKey::from_bytes(&[seed; 32])
}

#[test]
fn an_encrypted_backup_opens_with_each_of_its_keys_and_with_no_other() {
    let [one, two, other] = [(); 3].map(|()| Identity::generate());
    let content = protected(&[one.to_public(), two.to_public()], None);
    let with = |identities| unpacked_with(&content, &Credentials { identities, signer: None }).1;
    assert!(matches!(with(vec![]), Err(BackupFault::Encrypted)));
    assert!(matches!(with(vec![other.clone()]), Err(BackupFault::OtherKey)));
    for key in [one, two] {
        assert!(with(vec![other.clone(), key]).is_ok());
    }
    let readable = content.windows(6).filter(|window| [&b"mall.s"[..], b"SQLite"].contains(window)).count();
    assert_eq!(readable, 0);
}

#[test]
fn an_encrypted_backup_that_is_flipped_or_cut_off_anywhere_is_refused() {
    let key = Identity::generate();
    let content = protected(&[key.to_public()], None);
    let credentials = Credentials { identities: vec![key], signer: None };
    for bit in (0..content.len() * 8).step_by(5) {
        let mut flipped = content.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let (_dir, outcome) = unpacked_with(&flipped, &credentials);
        assert!(outcome.is_err(), "bit {bit}");
    }
    for length in (0..content.len()).step_by(41) {
        let (_dir, outcome) = unpacked_with(&content[..length], &credentials);
        assert!(outcome.is_err(), "{length} bytes");
    }
}

#[test]
fn a_signature_is_checked_and_demanded() {
    let demanding =
        |seed| Credentials { signer: Some(signing_key(seed).verifying_key()), ..Credentials::default() };
    let (signed, unsigned) = (protected(&[], Some(signing_key(1))), protected(&[], None));
    for credentials in [Credentials::default(), demanding(1)] {
        let unpacked = unpacked_with(&signed, &credentials).1.unwrap();
        assert_eq!(unpacked.header.signer, Some(keys::name_of(&signing_key(1).verifying_key())));
    }
    assert!(matches!(unpacked_with(&signed, &demanding(2)).1, Err(BackupFault::OtherSigner(_))));
    let (dir, outcome) = unpacked_with(&unsigned, &demanding(1));
    assert!(matches!(outcome, Err(BackupFault::Unsigned)));
    assert_eq!(fs::read_dir(dir.path().join("into")).unwrap().count(), 0, "refused by its header");
}

#[test]
fn a_backup_with_the_signature_of_another_is_refused() {
    // Each entry of a signed backup in an archive of its own: what a forger can put together.
    let entries = |content: &[u8]| {
        let mut tar = tar::Archive::new(GzDecoder::new(content));
        let read = tar.entries().unwrap().map(|entry| {
            let mut entry = entry.unwrap();
            let (path, mut content) = (entry.path().unwrap().display().to_string(), Vec::new());
            entry.read_to_end(&mut content).unwrap();
            (path, content)
        });
        read.collect::<Vec<_>>()
    };
    let archive = |entries: &[(String, Vec<u8>)]| {
        let mut tar =
            tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
        for (path, content) in entries {
            let mut entry = tar::Header::new_gnu();
            entry.set_size(content.len() as u64);
            tar.append_data(&mut entry, path, &content[..]).unwrap();
        }
        tar.into_inner().unwrap().finish().unwrap()
    };
    let whole = entries(&protected(&[], Some(signing_key(1))));
    let other = entries(&protected(&[], Some(signing_key(2))));
    assert_eq!(whole.last().unwrap().0, SIGNATURE);
    let outcome = |entries: &[(String, Vec<u8>)]| unpacked(&archive(entries)).1;
    assert!(outcome(&whole).is_ok(), "the archive itself is well made");
    let mut swapped = whole.clone();
    *swapped.last_mut().unwrap() = other.last().unwrap().clone();
    assert!(matches!(outcome(&swapped), Err(BackupFault::Forged)));
    assert!(matches!(outcome(&whole[..whole.len() - 1]), Err(BackupFault::CutOff)));
    let mut late = whole.clone();
    late.swap(whole.len() - 2, 1);
    assert!(outcome(&late).is_err());
}

/// A backup of a mall on servers, with a table.
fn backup_of_servers() -> Vec<u8> {
    let (table, visits) = (b"{}\n[1]\n", b"{}\n");
    let servers = Some(OfServers { schema: 85 });
    let header =
        Header { format: FORMAT_OF_SERVERS, servers, ..header((table.len() + visits.len()) as u64, 0) };
    let mut writer = BackupWriter::begin(Vec::new(), header, None).unwrap();
    writer.add_bytes("tables/users.jsonl", table).unwrap();
    writer.add_bytes(CLAIMS, b"").unwrap();
    writer.add_bytes(VISITS, visits).unwrap();
    writer.finish().unwrap()
}

#[test]
fn a_backup_of_the_other_kind_is_refused_at_its_header() {
    let (dir, outcome) = unpacked(&backup_of_servers());
    assert!(matches!(outcome, Err(BackupFault::OfServers)), "{outcome:?}");
    assert!(fs::read_dir(dir.path().join("into")).unwrap().next().is_none());
    let unpacked = |content: &[u8]| {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("file"), content).unwrap();
        let into = dir.path().join("into");
        fs::create_dir(&into).unwrap();
        let outcome = unpack(&dir.path().join("file"), Kind::Servers, &into, &Credentials::default(), |_| {});
        (fs::read(into.join("tables/users.jsonl")).ok(), outcome)
    };
    let (table, outcome) = unpacked(&backup());
    assert!(matches!(outcome, Err(BackupFault::OfDirectory)) && table.is_none(), "{outcome:?}");
    let (table, outcome) = unpacked(&backup_of_servers());
    assert_eq!((table.as_deref(), outcome.unwrap().claims.len()), (Some(&b"{}\n[1]\n"[..]), 0));
    // A mall on servers has no archived days as files.
    let servers = Header { servers: Some(OfServers { schema: 85 }), ..header(9, 0) };
    let foreign = with_entry(&servers, &mut tar::Header::new_gnu(), b"archive/x", b"");
    assert!(matches!(unpacked(&foreign).1, Err(BackupFault::Foreign(_))));
}
