//! Logs of former versions, in the sled store alone: they are taken over into a write-ahead log.

use super::*;

/// Makes a log as former versions wrote it: 6 commits of 100 claims, of which the first is settled and
/// removed, and a session.
fn former(dir: &TempDir) -> LogEvidence {
    let store = Store::create(&log_dir(dir), 1, 42, StoreOptions::usual(Durability::Power)).unwrap();
    for commit in 2..=6 {
        let claims: Vec<Claim> = (commit * 100 - 100..commit * 100).map(claim).collect();
        store.write(Some((commit, &claims)), &[], &[]).unwrap();
    }
    let session = Change { key: b"session".to_vec(), value: Some(b"7".to_vec()) };
    store.write(None, &[session], &[]).unwrap();
    store.make_current().unwrap();
    LogEvidence { log_id: Some(42), applied: 1, seen: 2, ..LogEvidence::default() }
}

fn is_whole(recovered: &Recovered) {
    assert_eq!(orders(recovered), (100..600).collect::<Vec<_>>());
    assert_eq!(recovered.content.entries, [(b"session".to_vec(), b"7".to_vec())]);
}

#[tokio::test]
async fn a_former_log_is_taken_over_and_goes_on() {
    let dir = TempDir::new().unwrap();
    let world = start(&log_dir(&dir), &former(&dir));
    assert!(world.journal.last_commit() > 6, "numbers go on");
    world.settle(250);
    write(&world.journal, 600..650).await;
    let witness = world.close();
    let recovered = find(&log_dir(&dir), &witness).unwrap();
    let found = orders(&recovered);
    assert!((350..650).all(|order| found.contains(&order)) && !found.contains(&150), "{found:?}");
    assert_eq!(recovered.content.entries.len(), 1);
}

/// A crash at any step of the takeover leaves the former log, or the new one.
#[tokio::test]
async fn a_takeover_that_was_cut_short_is_made_good() {
    let dir = TempDir::new().unwrap();
    let witness = former(&dir);
    for cut in 0..4 {
        is_whole(&find(&log_dir(&dir), &witness).unwrap());
        match cut {
            // Before the first record.
            0 => fs::remove_dir_all(log_dir(&dir).join("wal")).unwrap(),
            1 => {
                fs::remove_dir_all(log_dir(&dir).join("wal")).unwrap();
                fs::create_dir(log_dir(&dir).join("wal")).unwrap();
                fs::write(log_dir(&dir).join("wal/segment-1"), [0; 9000]).unwrap();
            }
            2 => segments(&log_dir(&dir)).iter().for_each(|segment| fs::write(segment, [0; 4096]).unwrap()),
            // Before the database knew of it.
            _ => {}
        }
    }
    let world = start(&log_dir(&dir), &witness);
    write(&world.journal, 600..601).await;
    let witness = world.close();
    assert_eq!(orders(&find(&log_dir(&dir), &witness).unwrap()), (100..601).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_missing_file_of_a_former_log_is_noticed() {
    for file in ["store-1/db", "store-1/conf", "CURRENT", "store-1"] {
        let dir = TempDir::new().unwrap();
        let witness = former(&dir);
        let path = log_dir(&dir).join(file);
        if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
        assert!(noticed(&dir, &witness).contains("missing"), "{file}");
    }
}

#[tokio::test]
async fn a_cut_off_tail_of_a_former_log_is_noticed() {
    let dir = TempDir::new().unwrap();
    let witness = LogEvidence { seen: 6, ..former(&dir) };
    let path = log_dir(&dir).join("store-1/db");
    let used = used(&fs::read(&path).unwrap());
    fs::OpenOptions::new().write(true).open(path).unwrap().set_len(used as u64 / 3).unwrap();
    assert!(!noticed(&dir, &witness).is_empty());
}

/// Flips bits of sled's file one at a time. Either the log refuses to open, or all acknowledged claims are
/// present.
#[tokio::test]
async fn a_flipped_bit_in_a_former_log_loses_nothing_in_silence_and_invents_nothing() {
    let dir = TempDir::new().unwrap();
    let witness = LogEvidence { seen: 6, ..former(&dir) };
    let (mut refused, mut harmless) = (0, 0);
    for step in 0..60 {
        let (copy, place) = flipped(&dir, "store-1/db", step, 60);
        match find(&log_dir(&copy), &witness) {
            Err(_) => refused += 1,
            Ok(recovered) => {
                assert_eq!(orders(&recovered), (100..600).collect::<Vec<_>>(), "byte {place}");
                harmless += 1;
            }
        }
    }
    println!("{refused} flipped bits were refused, {harmless} did no harm");
    assert!(refused > 0, "no flipped bit was noticed; {harmless} did no harm");
}
