//! `Archive` and `VoteLines`: archived days keep every line, and lines that decide nothing leave the table.

use std::collections::BTreeMap;

use mallbox_storage::{
    ArchiveLedger, ArchiveOutcome, ArchivedDay, ArchivedVotes, Day, LineCursor, RegisterOutcome, ReviewId,
    ReviewState, Timestamp, UserId, VoteCause, VoteCursor, VoteLine, VoteOutcome, utc_day, utc_span,
};
use tokio::task::JoinSet;

use crate::world::{HOUR, NOON, World};
use crate::writing::reviews::{balanced, demo, shop, text, user};

crate::cases! {
    a_file_is_written_registered_once_and_read,
    a_draft_that_is_gone_registers_nothing,
    a_user_is_found_in_the_days_with_lines,
    lines_of_a_day_are_read_oldest_first_page_by_page,
    a_day_is_archived_once_and_only_idle_lines_leave_the_table,
    lines_that_decide_stay_whatever_is_archived,
    a_vote_taken_back_stays_while_an_older_line_is_left,
    a_line_that_differs_from_the_file_stays,
    a_late_line_of_an_archived_day_stays_in_the_table,
    votes_go_on_while_days_are_archived,
    archived_days_outlive_a_restart,
}

const LEDGER: ArchiveLedger = ArchiveLedger::Votes;
/// Hours of a day.
const DAY: u32 = 24;

/// Returns the day some days after the first.
pub fn day(after: u32) -> Day {
    utc_day(NOON + HOUR * (DAY * after)).unwrap()
}

/// Creates a review of user 1, and returns also two other users.
pub async fn review(w: &World) -> (ReviewId, UserId, UserId) {
    let shop = shop(w).await;
    let author = user(w, 1).await;
    (demo(w, shop, author, text(50), 0).await, user(w, 2).await, user(w, 3).await)
}

/// Votes at noon of a day.
async fn vote(w: &World, review: ReviewId, user: UserId, up: bool, day: u32) -> VoteOutcome {
    w.storage.writing.votes.vote(review, user, up, NOON + HOUR * (DAY * day)).await.unwrap()
}

/// Archives a day. Returns its file and the number of lines removed.
pub async fn archive(w: &World, after: u32) -> (ArchivedDay, u64) {
    let now = NOON + HOUR * (DAY * 400);
    match ArchivedVotes::of(&w.storage).archive(day(after), now).await.unwrap() {
        ArchiveOutcome::Archived { day, removed, .. } => (day, removed),
        other => panic!("{other:?}"),
    }
}

/// Returns all lines of an archived day.
pub async fn archived_lines(w: &World, day: Day, max: u32) -> Vec<VoteLine> {
    let (archived, mut from, mut lines) = (ArchivedVotes::of(&w.storage), LineCursor::default(), Vec::new());
    loop {
        let page = archived.page(day, from, max).await.unwrap().unwrap();
        assert!(page.lines.len() <= max as usize);
        lines.extend(page.lines);
        match page.next {
            Some(next) => from = next,
            None => return lines,
        }
    }
}

/// Returns the lines of a review in the table, oldest first.
pub async fn table(w: &World, review: ReviewId) -> Vec<VoteLine> {
    let mut lines = w.storage.writing.votes.lines(review, None, u32::MAX).await.unwrap();
    lines.reverse();
    lines
}

fn numbers(lines: &[VoteLine]) -> Vec<u64> {
    lines.iter().map(|line| line.number).collect()
}

/// Returns the lines of a review in table and archive, each once.
pub async fn all_lines(w: &World, review: ReviewId) -> Vec<VoteLine> {
    let mut lines: BTreeMap<u64, VoteLine> = BTreeMap::new();
    // The table first: a line that leaves the table is in the archive.
    let mut found = table(w, review).await;
    for day in w.storage.operator.archive.days(LEDGER, None, 1_000).await.unwrap() {
        assert_eq!(ArchivedVotes::of(&w.storage).check(day).await.unwrap(), None);
        found.extend(archived_lines(w, day.day, 500).await.into_iter().filter(|line| line.review == review));
    }
    for line in found {
        let same = *lines.entry(line.number).or_insert(line);
        assert_eq!(same, line);
    }
    lines.into_values().collect()
}

async fn a_file_is_written_registered_once_and_read(w: &World) {
    let archive = &w.storage.operator.archive;
    assert_eq!(archive.day(LEDGER, day(0)).await.unwrap(), None);
    assert_eq!(archive.read(LEDGER, day(0), 0).await.unwrap(), None);
    let described = |day, bytes| ArchivedDay {
        ledger: LEDGER,
        day,
        lines: 3,
        bytes,
        text_bytes: 99,
        sha256: [0xa5; 32],
        archived: NOON,
    };
    let draft = archive.begin(LEDGER, day(0), NOON).await.unwrap();
    assert_eq!((draft.ledger, draft.day), (LEDGER, day(0)));
    for _ in 0..2 {
        assert!(archive.append(draft, 0, vec![0, 1, 255], vec![]).await.unwrap(), "a repeat changes nothing");
    }
    assert!(archive.append(draft, 3, vec![7; 100_000], vec![]).await.unwrap());
    assert_eq!(archive.read(LEDGER, day(0), 0).await.unwrap(), None, "a draft is visible to nobody");
    assert_eq!(archive.strays(9).await.unwrap(), Vec::<String>::new());
    let short = described(day(0), 100_002);
    assert_eq!(archive.register(draft, short).await.unwrap(), RegisterOutcome::DraftGone);
    assert_eq!(archive.day(LEDGER, day(0)).await.unwrap(), None);
    let whole = described(day(0), 100_003);
    assert_eq!(archive.register(draft, whole).await.unwrap(), RegisterOutcome::Registered);
    let other = archive.begin(LEDGER, day(0), NOON).await.unwrap();
    assert!(archive.append(other, 0, vec![1], vec![]).await.unwrap());
    assert_eq!(
        archive.register(other, described(day(0), 1)).await.unwrap(),
        RegisterOutcome::AlreadyArchived
    );
    assert_eq!(archive.day(LEDGER, day(0)).await.unwrap(), Some(whole));
    let start = archive.read(LEDGER, day(0), 0).await.unwrap().unwrap();
    assert_eq!(start[..3], [0, 1, 255]);
    let rest = archive.read(LEDGER, day(0), 3).await.unwrap().unwrap();
    assert_eq!(rest, vec![7; 100_000]);
    for at in [100_003, u64::MAX] {
        assert_eq!(archive.read(LEDGER, day(0), at).await.unwrap(), Some(Vec::new()), "{at}");
    }
    for after in [2, 1] {
        let draft = archive.begin(LEDGER, day(after), NOON).await.unwrap();
        assert!(archive.append(draft, 0, vec![1], vec![]).await.unwrap());
        let registered = archive.register(draft, described(day(after), 1)).await.unwrap();
        assert_eq!(registered, RegisterOutcome::Registered);
    }
    let days = async |after, max| {
        let days = archive.days(LEDGER, after, max).await.unwrap();
        days.iter().map(|archived| archived.day).collect::<Vec<_>>()
    };
    assert_eq!(days(None, 9).await, [day(0), day(1), day(2)]);
    assert_eq!(days(Some(day(0)), 1).await, [day(1)]);
    assert_eq!(days(Some(day(2)), 9).await, []);
    assert_eq!(days(None, 0).await, []);
}

async fn a_draft_that_is_gone_registers_nothing(w: &World) {
    let archive = &w.storage.operator.archive;
    let draft = archive.begin(LEDGER, day(0), NOON).await.unwrap();
    assert!(archive.append(draft, 0, vec![1], vec![]).await.unwrap());
    for _ in 0..2 {
        archive.discard(draft).await.unwrap();
    }
    assert!(!archive.append(draft, 1, vec![2], vec![]).await.unwrap());
    let described = ArchivedDay {
        ledger: LEDGER,
        day: day(0),
        lines: 1,
        bytes: 1,
        text_bytes: 1,
        sha256: [0; 32],
        archived: NOON,
    };
    assert_eq!(archive.register(draft, described).await.unwrap(), RegisterOutcome::DraftGone);
    assert_eq!(archive.day(LEDGER, day(0)).await.unwrap(), None);
}

async fn a_user_is_found_in_the_days_with_lines(w: &World) {
    let (review, ben, carl) = review(w).await;
    for (voter, up, day) in [(ben, true, 0), (carl, true, 1), (ben, false, 2), (ben, true, 3)] {
        let _ = vote(w, review, voter, up, day).await;
    }
    for day in [0, 1, 2] {
        let _ = archive(w, day).await;
    }
    let days = async |user, after, max| {
        let days = w.storage.operator.archive.days_of(LEDGER, user, after, max).await.unwrap();
        days.iter().map(|archived| archived.day).collect::<Vec<_>>()
    };
    assert_eq!(days(ben, None, 9).await, [day(0), day(2)]);
    assert_eq!(days(ben, Some(day(0)), 9).await, [day(2)]);
    assert_eq!(days(ben, None, 1).await, [day(0)]);
    assert_eq!(days(carl, None, 9).await, [day(1)]);
    assert_eq!(days(UserId::new(u64::MAX), None, 9).await, []);
    let archived = ArchivedVotes::of(&w.storage);
    let (lines, _) = archived.lines_of(ben, day(0), 0).await.unwrap();
    assert_eq!(numbers(&lines), [1]);
    let (lines, next) = archived.lines_of(carl, day(1), 0).await.unwrap();
    assert_eq!((numbers(&lines), next), (vec![], None), "a line in the table is no line of the archive");
}

async fn lines_of_a_day_are_read_oldest_first_page_by_page(w: &World) {
    let (review, ben, carl) = review(w).await;
    for turn in 0..5 {
        for voter in [ben, carl] {
            let at = NOON + HOUR * (5 - turn) / 7;
            let _ = w.storage.writing.votes.vote(review, voter, turn % 2 == 0, at).await.unwrap();
        }
    }
    let mut expected = table(w, review).await;
    expected.sort_by_key(|line| (line.at, line.review, line.number));
    let (archived, _) = archive(w, 0).await;
    assert_eq!((archived.lines, archived.ledger), (10, LEDGER));
    for max in [1, 3, 9, 10, 11] {
        assert_eq!(archived_lines(w, day(0), max).await, expected, "{max}");
    }
    let votes = ArchivedVotes::of(&w.storage);
    for (which, from) in [
        (day(1), LineCursor::default()),
        (day(0), LineCursor { at: 1, skip: 0 }),
        (day(0), LineCursor { at: u64::MAX, skip: 0 }),
    ] {
        assert_eq!(votes.page(which, from, 9).await.unwrap(), None, "{from:?}");
    }
    let over = LineCursor { at: 0, skip: u32::MAX };
    assert_eq!(votes.page(day(0), over, 9).await.unwrap().unwrap().lines, []);
}

async fn a_day_is_archived_once_and_only_idle_lines_leave_the_table(w: &World) {
    let (review, ben, carl) = review(w).await;
    for up in [true, false, true] {
        let _ = vote(w, review, ben, up, 0).await;
    }
    let _ = vote(w, review, carl, true, 1).await;
    let before = table(w, review).await;
    let votes = ArchivedVotes::of(&w.storage);
    assert_eq!(votes.next_day(None, day(9)).await.unwrap(), Some(day(0)));
    assert_eq!(votes.next_day(None, day(0)).await.unwrap(), None, "a day is archived when it is over");
    let (first, removed) = archive(w, 0).await;
    assert_eq!((first.lines, removed), (3, 2));
    assert_eq!(numbers(&table(w, review).await), [3, 4]);
    assert_eq!(archive(w, 0).await, (first, 0), "a repeat ends in the same state");
    assert_eq!(votes.next_day(None, day(9)).await.unwrap(), Some(day(1)));
    let (_, removed) = archive(w, 1).await;
    assert_eq!(removed, 0, "the newest line stays");
    assert_eq!(votes.next_day(None, day(9)).await.unwrap(), None);
    let _ = vote(w, review, ben, false, 5).await;
    assert_eq!(votes.next_day(None, day(5)).await.unwrap(), Some(day(0)), "line 3 decides nothing any more");
    assert_eq!(archive(w, 0).await, (first, 1));
    assert_eq!(votes.next_day(None, day(5)).await.unwrap(), None);
    assert_eq!(all_lines(w, review).await[..4], before);
    balanced(w).await;
}

async fn lines_that_decide_stay_whatever_is_archived(w: &World) {
    let (review, ben, carl) = review(w).await;
    let _ = vote(w, review, ben, true, 0).await;
    let _ = vote(w, review, carl, true, 0).await;
    let _ = vote(w, review, carl, false, 1).await;
    let _ = vote(w, review, user(w, 4).await, true, 2).await;
    for day in [1, 0, 2] {
        let _ = archive(w, day).await;
    }
    assert_eq!(numbers(&table(w, review).await), [1, 3, 4], "line 3 had an older line beside it");
    let _ = archive(w, 1).await;
    assert_eq!(numbers(&table(w, review).await), [1, 4]);
    balanced(w).await;
    let same = VoteOutcome::Counted { sum: 2, number: 4, changed: false };
    assert_eq!(vote(w, review, ben, true, 9).await, same, "nobody counts twice");
    assert_eq!(vote(w, review, carl, false, 9).await, same);
    let one = VoteOutcome::Counted { sum: 3, number: 5, changed: true };
    assert_eq!(vote(w, review, carl, true, 9).await, one);
    let folded = ReviewState { is_folded: true, ..ReviewState::SHOWN };
    let at = NOON + HOUR * (DAY * 10);
    let _ = w.storage.writing.reviews.put_state(review, folded, at).await.unwrap();
    let _ = w.storage.writing.reviews.put_state(review, ReviewState::SHOWN, at).await.unwrap();
    for day in [0, 1, 2, 9, 10] {
        let _ = archive(w, day).await;
    }
    let left = table(w, review).await;
    assert_eq!((numbers(&left), left[0].cause), (vec![6], VoteCause::Closed));
    let none = VoteOutcome::Counted { sum: 0, number: 6, changed: false };
    assert_eq!(vote(w, review, ben, false, 11).await, none);
    let again = VoteOutcome::Counted { sum: 1, number: 7, changed: true };
    assert_eq!(vote(w, review, ben, true, 11).await, again);
    balanced(w).await;
    assert_eq!(numbers(&all_lines(w, review).await), [1, 2, 3, 4, 5, 6, 7]);
}

async fn a_vote_taken_back_stays_while_an_older_line_is_left(w: &World) {
    let (review, ben, carl) = review(w).await;
    // Clocks may lag behind: the vote is on a later day than the line that took it back.
    let _ = vote(w, review, ben, true, 3).await;
    let _ = vote(w, review, ben, false, 1).await;
    let _ = vote(w, review, carl, true, 4).await;
    let (_, removed) = archive(w, 1).await;
    assert_eq!((removed, numbers(&table(w, review).await)), (0, vec![1, 2, 3]));
    let none = VoteOutcome::Counted { sum: 1, number: 3, changed: false };
    assert_eq!(vote(w, review, ben, false, 5).await, none, "the vote stays taken back");
    assert_eq!(archive(w, 3).await.1, 1);
    assert_eq!(archive(w, 1).await.1, 1);
    assert_eq!(numbers(&table(w, review).await), [3]);
    assert_eq!(vote(w, review, ben, false, 5).await, none);
}

async fn a_line_that_differs_from_the_file_stays(w: &World) {
    let (review, ben, _) = review(w).await;
    for up in [true, false, true] {
        let _ = vote(w, review, ben, up, 0).await;
    }
    let lines = &w.storage.writing.vote_lines;
    let mut given = table(w, review).await;
    given[0].at = NOON + HOUR;
    assert_eq!(lines.remove_idle(&given).await.unwrap(), 1, "line 2 alone is idle and the same");
    assert_eq!(numbers(&table(w, review).await), [1, 3]);
    assert_eq!(lines.remove_idle(&[]).await.unwrap(), 0);
    assert_eq!(numbers(&lines.at(&[(review, 3), (review, 2), (review, 1)]).await.unwrap()).len(), 2);
    assert_eq!(lines.at(&[]).await.unwrap(), []);
    let sums = lines.sums(ReviewId::new(0), 9).await.unwrap();
    assert_eq!((sums.len(), sums[0].votes, sums[0].lines, sums[0].closed_line), (1, 1, 3, 0));
    assert_eq!(lines.sums(review, 9).await.unwrap(), []);
}

async fn a_late_line_of_an_archived_day_stays_in_the_table(w: &World) {
    let (review, ben, carl) = review(w).await;
    let _ = vote(w, review, ben, true, 0).await;
    let (first, _) = archive(w, 0).await;
    for up in [true, false, true] {
        let _ = vote(w, review, carl, up, 0).await;
    }
    assert_eq!(archive(w, 0).await, (first, 0));
    assert_eq!(numbers(&table(w, review).await), [1, 2, 3, 4]);
    let (from, until) = utc_span(day(0));
    let lines = &w.storage.writing.vote_lines;
    let second = |line: &VoteLine| VoteCursor { at: line.at, review: line.review, number: line.number };
    let page = lines.between(from, until, None, 2).await.unwrap();
    assert_eq!(numbers(&page), [1, 2]);
    let rest = lines.between(from, until, Some(second(&page[1])), 9).await.unwrap();
    assert_eq!(numbers(&rest), [3, 4]);
    assert_eq!(lines.between(until, until, None, 9).await.unwrap(), []);
    assert_eq!(lines.first_since(Timestamp::from_millis(0)).await.unwrap(), Some(NOON));
    assert_eq!(lines.first_since(NOON).await.unwrap(), Some(NOON));
    assert_eq!(lines.first_since(NOON + HOUR).await.unwrap(), None);
}

async fn votes_go_on_while_days_are_archived(w: &World) {
    let (review, _, _) = review(w).await;
    let mut calls = JoinSet::new();
    for number in 0..16_u64 {
        let voter = user(w, 100 + number).await;
        let votes = w.storage.writing.votes.clone();
        calls.spawn(async move {
            for turn in 0..12_u32 {
                let at = NOON + HOUR * (DAY * (turn / 4));
                let _ = votes.vote(review, voter, turn % 2 == 0 || number % 2 == 0, at).await.unwrap();
            }
        });
    }
    let archived = ArchivedVotes::of(&w.storage);
    while !calls.is_empty() {
        for after in [0, 1, 2] {
            let _ = archived.archive(day(after), NOON).await.unwrap();
        }
        while let Some(done) = calls.try_join_next() {
            done.unwrap();
        }
    }
    for after in [0, 1, 2] {
        let _ = archive(w, after).await;
    }
    balanced(w).await;
    let lines = all_lines(w, review).await;
    assert_eq!(numbers(&lines), (1..=lines.len() as u64).collect::<Vec<_>>());
    let found = w.storage.writing.reviews.get(review).await.unwrap().unwrap();
    assert_eq!((found.votes, found.vote_lines), (8, lines.len() as u64));
    assert_eq!(lines.last().unwrap().sum, 8);
}

async fn archived_days_outlive_a_restart(w: &World) {
    let w = w.another().await;
    let (review, ben, _) = review(&w).await;
    for (up, day) in [(true, 0), (false, 0), (true, 1)] {
        let _ = vote(&w, review, ben, up, day).await;
    }
    let before = table(&w, review).await;
    let first = archive(&w, 0).await;
    let w = w.reopen().await;
    assert_eq!(archive(&w, 0).await, (first.0, 0));
    assert_eq!(all_lines(&w, review).await, before);
    let same = VoteOutcome::Counted { sum: 1, number: 3, changed: false };
    assert_eq!(vote(&w, review, ben, true, 2).await, same);
}
