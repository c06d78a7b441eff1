//! Damage of the write-ahead log: noticed, named, and accepted with the exact number only.

use super::*;

/// Opens a written log, without the store that could make up for the damage, after `spoil`. Expects a
/// refusal, and returns its text.
async fn refused_after(spoil: impl Fn(&Path, &mut LogEvidence)) -> String {
    let dir = TempDir::new().unwrap();
    let mut witness = written(&dir).await;
    for name in ["store-1", "CURRENT"] {
        let path = log_dir(&dir).join(name);
        if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
    }
    spoil(&log_dir(&dir), &mut witness);
    noticed(&dir, &witness)
}

#[tokio::test]
async fn a_missing_segment_is_noticed() {
    let error = refused_after(|log, _| fs::remove_file(&segments(log)[0]).unwrap()).await;
    assert!(error.contains("segment segment-1 is missing"), "{error}");
    for path in ["wal", ""] {
        let error = refused_after(|log, _| fs::remove_dir_all(log.join(path)).unwrap()).await;
        assert!(error.contains("the last stop was not clean"), "{error}");
    }
}

#[tokio::test]
async fn a_missing_manifest_loses_nothing() {
    let dir = TempDir::new().unwrap();
    let witness = written(&dir).await;
    fs::remove_file(log_dir(&dir).join("wal/manifest")).unwrap();
    assert!((150..600).all(|order| orders(&find(&log_dir(&dir), &witness).unwrap()).contains(&order)));
}

#[tokio::test]
async fn a_first_start_that_was_cut_short_is_made_good() {
    let dir = TempDir::new().unwrap();
    drop(find(&log_dir(&dir), &LogEvidence::default()).unwrap());
    // The database never knew of the log, so that the next start has another id for a new one.
    let disk = Disk::new(&log_dir(&dir), None);
    let mut again =
        recover(&disk, &LogEvidence::default(), StoreOptions::usual(Durability::Power), None, 43).unwrap();
    assert_eq!(again.log_id, 42);
    again.open(&log_dir(&dir)).unwrap();
    drop(again);
    for name in ["manifest", "segment-1"] {
        fs::remove_file(log_dir(&dir).join("wal").join(name)).unwrap();
        let recovered = find(&log_dir(&dir), &LogEvidence::default()).unwrap();
        assert!(orders(&recovered).is_empty());
    }
    assert!(!dir.path().join("log.lost-1").exists());
}

#[tokio::test]
async fn a_cut_off_tail_is_noticed() {
    let error = refused_after(|log, witness| {
        witness.seen = find(log, witness).unwrap().content.last_commit - 1;
        let path = &segments(log)[0];
        let bytes = fs::read(path).unwrap();
        fs::write(path, &bytes[..used(&bytes) / 3]).unwrap();
    });
    let error = error.await;
    assert!(error.contains("are missing or unreadable"), "{error}");
}

#[tokio::test]
async fn another_malls_log_is_noticed() {
    let error = refused_after(|_, witness| witness.log_id = Some(44)).await;
    assert!(error.contains("another mall"), "{error}");
}

#[tokio::test]
async fn a_log_ahead_of_a_clean_stop_shows_an_old_database() {
    let error = refused_after(|_, witness| {
        witness.clean_stop = Some(CleanStop { last_commit: witness.applied, pending: 0 });
    });
    let error = error.await;
    assert!(error.contains("but the mall stopped at commit"), "{error}");
}

#[tokio::test]
async fn a_log_that_is_missing_after_a_stop_in_order_is_made_anew_unless_claims_were_in_it() {
    let dir = TempDir::new().unwrap();
    let stop = |pending| Some(CleanStop { last_commit: 9, pending });
    let mut witness =
        LogEvidence { log_id: Some(42), applied: 9, seen: 9, clean_stop: stop(3), checkpoint: Some(9) };
    assert!(find(&log_dir(&dir), &witness).is_err());
    witness.clean_stop = stop(0);
    let recovered = find(&log_dir(&dir), &witness).unwrap();
    assert!(recovered.content.last_commit >= 9 && orders(&recovered).is_empty());
    drop(recovered);
    witness.clean_stop = None;
    assert!(find(&log_dir(&dir), &witness).unwrap().content.last_commit >= 9, "and it opens again");
}

/// Flips bits of a segment one at a time, with and without a store. All acknowledged claims are present, or
/// the log refuses to open.
#[tokio::test]
async fn a_flipped_bit_loses_nothing_in_silence_and_invents_nothing() {
    let dir = TempDir::new().unwrap();
    let witness = written(&dir).await;
    let last = find(&log_dir(&dir), &witness).unwrap().content.last_commit;
    let witness = LogEvidence { clean_stop: Some(CleanStop { last_commit: last, pending: 450 }), ..witness };
    let (mut refused, mut whole) = (0, 0);
    for step in 0..120 {
        let (copy, place) = flipped(&dir, "wal/segment-1", step, 120);
        if step % 2 == 0 {
            fs::remove_dir_all(log_dir(&copy).join("store-1")).unwrap();
        }
        match find(&log_dir(&copy), &witness) {
            Err(error) => {
                assert!(step % 2 == 0, "byte {place}: the store has everything: {error}");
                refused += 1;
            }
            Ok(recovered) => {
                let found = orders(&recovered);
                assert!((150..600).all(|order| found.contains(&order)), "byte {place}");
                assert!(found.iter().all(|order| *order < 600));
                whole += 1;
            }
        }
    }
    println!("{refused} flipped bits were refused, {whole} did no harm");
    assert!(refused > 0, "no flipped bit was noticed; {whole} did no harm");
}
