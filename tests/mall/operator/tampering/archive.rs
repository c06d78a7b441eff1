//! Tampering with the archive, and with the table beside it.

use std::time::Duration;

use mallbox_storage::{ArchiveLedger, ArchiveOutcome, ArchivedVotes, utc_day, utc_span};
use mallbox_test_servers::Sql;

use super::{Kind, Whole, kind, whole};

/// Kinds of tampering with rows of both engines.
const KINDS: &[Kind] = &[
    update!("archived_days", "bytes = bytes + 1", "bytes = bytes - 1", "ARCHIVE_FILE"),
    update!("archived_days", "line_count = line_count + 1", "line_count = line_count - 1", "ARCHIVE_FILE"),
    update!("archived_days", "day = day + 7", "day = day - 7", "ARCHIVE_FILE"),
    update!("vote_lines", "number = 2", "at_ms = at_ms + 1", "at_ms = at_ms - 1", "ARCHIVE_LINE"),
    update!("vote_lines", "number = 2", "user_id = {4}", "user_id = {3}", "ARCHIVE_LINE"),
    update!("vote_lines", "number = 4", "sum_after = 3", "sum_after = 2", "VOTE_LINE"),
    update!("vote_lines", "number = 4", "user_id = {3}", "user_id = {4}", "VOTE_TWICE"),
    update!("vote_lines", "number = 4", "cause = 7", "cause = 1", "VOTE_LINE"),
    kind(
        "UPDATE vote_lines SET number = 5 WHERE number = 4",
        "UPDATE vote_lines SET number = 4 WHERE number = 5",
        "VOTE_SUM",
    ),
    update!("reviews", "votes = 5", "votes = 2", "VOTE_SUM"),
    update!("reviews", "vote_lines = 5", "vote_lines = 4", "VOTE_LINE"),
    update!("reviews", "closed_line = 3", "closed_line = 0", "VOTE_SUM"),
    kind("UPDATE vote_marks SET user_id = {2}", "UPDATE vote_marks SET user_id = {4}", "VOTE_MARK"),
];

/// Archives the day of the three lines of votes, and adds a fourth line on the next day: line 2 stays, line 4
/// is the newest.
async fn archived() -> Whole {
    let whole = whole().await;
    let (storage, now) = (&whole.w.storage, whole.w.now());
    let votes = ArchivedVotes::of(storage);
    let first = storage.writing.vote_lines.first_since(utc_span(utc_day(now).unwrap()).0).await.unwrap();
    let review = storage.writing.votes.newest_lines(None, 1).await.unwrap()[0].review;
    let next = now + Duration::from_secs(24 * 3600);
    let _ = storage.writing.votes.prune_marks(now + mallbox_storage::VOTE_MARK_TTL, 99).await.unwrap();
    let _ = storage.writing.votes.vote(review, whole.users[4], true, next).await.unwrap();
    let day = utc_day(first.unwrap()).unwrap();
    let archived = votes.archive(day, next).await.unwrap();
    assert!(matches!(archived, ArchiveOutcome::Archived { removed: 2, is_new: true, .. }), "{archived:?}");
    assert_eq!(storage.operator.archive.days(ArchiveLedger::Votes, None, 9).await.unwrap().len(), 1);
    whole
}

#[tokio::test(flavor = "multi_thread")]
async fn tampering_with_the_archive_is_named_and_a_whole_archive_is_not_found_fault_with() {
    let whole = archived().await;
    assert_eq!(whole.found().await, [].into());
    let mut missed = Vec::new();
    for Kind { spoil, undo, code } in KINDS {
        let (spoil, undo) = (Sql { sqlite: spoil, mysql: &[spoil] }, Sql { sqlite: undo, mysql: &[undo] });
        whole.is_named(spoil, undo, code, &mut missed).await;
    }
    assert!(missed.is_empty(), "{}:\n{}", missed.len(), missed.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_shortened_flipped_or_foreign_file_is_named() {
    let whole = archived().await;
    let Some(options) = whole.w.ground().embedded() else {
        // In MySQL the files are rows.
        for (spoil, undo) in [
            (
                "UPDATE archive_parts SET draft_id = draft_id + 1",
                "UPDATE archive_parts SET draft_id = draft_id - 1",
            ),
            (
                "UPDATE archive_parts SET content = CONCAT(content, 'x')",
                "UPDATE archive_parts SET content = LEFT(content, LENGTH(content) - 1)",
            ),
        ] {
            let mut missed = Vec::new();
            let (spoil, undo) = (Sql { sqlite: "", mysql: &[spoil] }, Sql { sqlite: "", mysql: &[undo] });
            whole.is_named(spoil, undo, "ARCHIVE_FILE", &mut missed).await;
            assert!(missed.is_empty(), "{missed:?}");
        }
        return;
    };
    let folder = options.dir.join("archive");
    let files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let [file] = &*files else { panic!("{files:?}") };
    let bytes = std::fs::read(file).unwrap();
    let mut flipped = bytes.clone();
    flipped[bytes.len() / 2] ^= 1;
    for contents in [&flipped[..], &bytes[..bytes.len() - 1], &[&*bytes, b"x"].concat(), b"", b"foreign"] {
        std::fs::write(file, contents).unwrap();
        assert_eq!(whole.found().await, ["ARCHIVE_FILE".to_owned()].into(), "{} bytes", contents.len());
    }
    std::fs::remove_file(file).unwrap();
    assert_eq!(whole.found().await, ["ARCHIVE_FILE".to_owned()].into());
    std::fs::write(file, &bytes).unwrap();
    assert_eq!(whole.found().await, [].into());
    std::fs::copy(file, folder.join("votes-2026-01-01.jsonl.gz")).unwrap();
    let report = whole.w.ledger.verify().await.unwrap();
    assert!(report.balances() && report.warnings.len() == 1, "{report}");
    assert_eq!(report.warnings[0].code, "ARCHIVE_FILE_UNKNOWN");
}
