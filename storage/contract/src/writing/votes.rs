//! `Votes`: nobody counts twice, each line continues the sum of the line before, and the sum is the newest
//! line's.

use mallbox_storage::{
    ReviewId, ReviewState, UserId, VOTE_MARK_TTL, Visibility, VoteCause, VoteCursor, VoteLine, VoteOutcome,
};
use tokio::task::JoinSet;

use super::reviews::{balanced, demo, shop, text, user};
use crate::world::{HOUR, NOON, World};

crate::cases! {
    a_vote_counts_once_and_is_taken_back_once,
    a_mark_fades_and_the_vote_stays,
    nobody_votes_where_votes_are_not_accepted,
    a_review_that_counts_no_longer_loses_its_votes_and_begins_anew,
    lines_are_listed_newest_first,
    of_a_rush_of_votes_every_voter_counts_once,
    votes_and_decisions_at_once_leave_books_that_balance,
    faded_marks_are_pruned_in_batches,
    votes_outlive_a_restart,
}

/// Creates a review of user 1. Returns also another user.
async fn review(w: &World) -> (ReviewId, UserId) {
    let shop = shop(w).await;
    let author = user(w, 1).await;
    (demo(w, shop, author, text(50), 0).await, user(w, 2).await)
}

async fn vote(w: &World, review: ReviewId, user: UserId, up: bool) -> VoteOutcome {
    w.storage.writing.votes.vote(review, user, up, NOON).await.unwrap()
}

async fn marked(w: &World, review: ReviewId, user: UserId, days: u32) -> bool {
    let now = NOON + HOUR * 24 * days;
    !w.storage.writing.votes.marked(user, &[review], now).await.unwrap().is_empty()
}

async fn lines(w: &World, review: ReviewId) -> Vec<VoteLine> {
    let mut lines = w.storage.writing.votes.lines(review, None, 1_000).await.unwrap();
    lines.reverse();
    lines
}

/// Returns the sum of a review, after a check of the ledger.
async fn sum(w: &World, review: ReviewId) -> u64 {
    balanced(w).await;
    let found = w.storage.writing.reviews.get(review).await.unwrap().unwrap();
    let lines = lines(w, review).await;
    assert_eq!(found.vote_lines, lines.len() as u64);
    assert_eq!(found.votes, lines.last().map_or(0, |line| line.sum));
    found.votes
}

async fn a_vote_counts_once_and_is_taken_back_once(w: &World) {
    let (review, ben) = review(w).await;
    for (up, outcome) in [
        (false, VoteOutcome::Counted { sum: 0, number: 0, changed: false }),
        (true, VoteOutcome::Counted { sum: 1, number: 1, changed: true }),
        (true, VoteOutcome::Counted { sum: 1, number: 1, changed: false }),
        (false, VoteOutcome::Counted { sum: 0, number: 2, changed: true }),
        (false, VoteOutcome::Counted { sum: 0, number: 2, changed: false }),
        (true, VoteOutcome::Counted { sum: 1, number: 3, changed: true }),
    ] {
        assert_eq!(vote(w, review, ben, up).await, outcome);
        assert_eq!(marked(w, review, ben, 0).await, up);
        balanced(w).await;
    }
    let line = |number, cause, change, sum| VoteLine {
        review,
        number,
        user: Some(ben),
        cause,
        change,
        sum,
        at: NOON,
    };
    let expected =
        [line(1, VoteCause::Up, 1, 1), line(2, VoteCause::Down, -1, 0), line(3, VoteCause::Up, 1, 1)];
    assert_eq!(lines(w, review).await, expected);
    assert_eq!(sum(w, review).await, 1);
}

async fn a_mark_fades_and_the_vote_stays(w: &World) {
    let (review, ben) = review(w).await;
    let _ = vote(w, review, ben, true).await;
    assert!(marked(w, review, ben, 9).await);
    assert!(!marked(w, review, ben, 10).await);
    assert_eq!(sum(w, review).await, 1);
    // Whoever votes again counts no second time, and sees the own vote again.
    let later = NOON + VOTE_MARK_TTL + HOUR;
    let again = w.storage.writing.votes.vote(review, ben, true, later).await.unwrap();
    assert_eq!(again, VoteOutcome::Counted { sum: 1, number: 1, changed: false });
    assert!(marked(w, review, ben, 19).await);
    let back = w.storage.writing.votes.vote(review, ben, false, later + VOTE_MARK_TTL * 2).await.unwrap();
    assert_eq!(back, VoteOutcome::Counted { sum: 0, number: 2, changed: true });
    assert_eq!(sum(w, review).await, 0);
}

async fn nobody_votes_where_votes_are_not_accepted(w: &World) {
    let (review, ben) = review(w).await;
    let author = user(w, 1).await;
    assert_eq!(vote(w, ReviewId::new(404), ben, true).await, VoteOutcome::NoSuchReview);
    assert_eq!(vote(w, ReviewId::new(u64::MAX), ben, false).await, VoteOutcome::NoSuchReview);
    assert_eq!(vote(w, review, author, true).await, VoteOutcome::OwnReview);
    for (visibility, is_folded, outcome) in [
        (Visibility::Shown, true, VoteOutcome::Folded),
        (Visibility::Hidden, false, VoteOutcome::NoSuchReview),
        (Visibility::Deleted, false, VoteOutcome::NoSuchReview),
    ] {
        let state = ReviewState { visibility, is_folded };
        let _ = w.storage.writing.reviews.put_state(review, state, NOON).await.unwrap();
        for up in [true, false] {
            assert_eq!(vote(w, review, ben, up).await, outcome);
        }
    }
    assert_eq!(lines(w, review).await, []);
}

async fn a_review_that_counts_no_longer_loses_its_votes_and_begins_anew(w: &World) {
    let (review, ben) = review(w).await;
    let (carl, reviews) = (user(w, 3).await, &w.storage.writing.reviews);
    let folded = ReviewState { is_folded: true, ..ReviewState::SHOWN };
    let _ = reviews.put_state(review, folded, NOON).await.unwrap();
    let _ = reviews.put_state(review, ReviewState::SHOWN, NOON).await.unwrap();
    assert_eq!(lines(w, review).await, [], "without votes there is nothing to close");
    for voter in [ben, carl] {
        let _ = vote(w, review, voter, true).await;
    }
    let reported = ReviewState { visibility: Visibility::Reported, ..ReviewState::SHOWN };
    let _ = reviews.put_state(review, reported, NOON).await.unwrap();
    assert_eq!(sum(w, review).await, 2, "it counts still");
    let _ = reviews.put_state(review, folded, NOON + HOUR).await.unwrap();
    assert_eq!(sum(w, review).await, 0);
    let closed = lines(w, review).await[2];
    let (cause, at) = (VoteCause::Closed, NOON + HOUR);
    assert_eq!(closed, VoteLine { review, number: 3, user: None, cause, change: -2, sum: 0, at });
    assert!(!marked(w, review, ben, 0).await);
    let _ = reviews.put_state(review, ReviewState::SHOWN, NOON).await.unwrap();
    let none = VoteOutcome::Counted { sum: 0, number: 3, changed: false };
    assert_eq!(vote(w, review, ben, false).await, none, "no vote is left to take back");
    let one = VoteOutcome::Counted { sum: 1, number: 4, changed: true };
    assert_eq!(vote(w, review, ben, true).await, one);
    let _ = reviews
        .put_state(review, ReviewState { visibility: Visibility::Deleted, ..ReviewState::SHOWN }, NOON)
        .await
        .unwrap();
    assert_eq!(sum(w, review).await, 0);
    assert_eq!(lines(w, review).await.len(), 5);
}

async fn lines_are_listed_newest_first(w: &World) {
    let (first, ben) = review(w).await;
    let (second, _) = review(w).await;
    let votes = &w.storage.writing.votes;
    let carl = user(w, 3).await;
    for (review, user, hours) in [(first, ben, 1), (second, ben, 2), (first, carl, 2), (second, carl, 2)] {
        let _ = votes.vote(review, user, true, NOON + HOUR * hours).await.unwrap();
    }
    let key = |line: &VoteLine| (line.review, line.number);
    let numbers = async |below, max| {
        let lines = votes.lines(first, below, max).await.unwrap();
        lines.iter().map(|line| line.number).collect::<Vec<_>>()
    };
    for (below, max, expected) in [
        (None, 9, &[2, 1][..]),
        (None, 1, &[2]),
        (Some(2), 9, &[1]),
        (Some(1), 9, &[]),
        (Some(0), 9, &[]),
        (Some(u64::MAX), 1, &[2]),
        (None, 0, &[]),
    ] {
        assert_eq!(numbers(below, max).await, expected, "{below:?} {max}");
    }
    let all = [(second, 2), (second, 1), (first, 2), (first, 1)];
    for size in [1, 2, 3, 4, 5] {
        let (mut after, mut found) = (None, Vec::new());
        loop {
            let page = votes.newest_lines(after, size).await.unwrap();
            let Some(last) = page.last() else { break };
            after = Some(VoteCursor { at: last.at, review: last.review, number: last.number });
            found.extend(page.iter().map(key));
            assert!(found.len() <= all.len(), "{size}: {found:?}");
        }
        assert_eq!(found, all, "{size}");
    }
    let own = w.storage.people.personal_data.vote_lines(ben, None, 9).await.unwrap();
    assert_eq!(own.iter().map(key).collect::<Vec<_>>(), [(first, 1), (second, 1)]);
    let rest = w.storage.people.personal_data.vote_lines(ben, Some((first, 1)), 9).await.unwrap();
    assert_eq!(rest.iter().map(key).collect::<Vec<_>>(), [(second, 1)]);
    let written = w.storage.people.personal_data.reviews(user(w, 1).await, first, 9).await.unwrap();
    assert_eq!(written.iter().map(|review| review.id).collect::<Vec<_>>(), [second]);
}

async fn of_a_rush_of_votes_every_voter_counts_once(w: &World) {
    let (review, _) = review(w).await;
    let mut calls = JoinSet::new();
    for number in 0..32 {
        let voter = user(w, 100 + number).await;
        for _ in 0..3 {
            let votes = w.storage.writing.votes.clone();
            calls.spawn(async move {
                match votes.vote(review, voter, true, NOON).await.unwrap() {
                    VoteOutcome::Counted { changed, .. } => changed,
                    refused => panic!("{refused:?}"),
                }
            });
        }
    }
    let counted = calls.join_all().await.into_iter().filter(|changed| *changed).count();
    assert_eq!((counted, sum(w, review).await), (32, 32));
}

async fn votes_and_decisions_at_once_leave_books_that_balance(w: &World) {
    let (review, _) = review(w).await;
    let mut calls = JoinSet::new();
    for number in 0..24_u64 {
        let voter = user(w, 100 + number).await;
        let storage = w.storage.clone();
        calls.spawn(async move {
            for turn in 0..4 {
                if number == 0 {
                    let state = ReviewState { is_folded: turn % 2 == 0, ..ReviewState::SHOWN };
                    storage.writing.reviews.put_state(review, state, NOON).await.unwrap().unwrap();
                } else {
                    let _ = storage.writing.votes.vote(review, voter, turn % 3 != 1, NOON).await.unwrap();
                }
            }
        });
    }
    while let Some(done) = calls.join_next().await {
        done.unwrap();
    }
    let votes = sum(w, review).await;
    assert!(votes <= 23, "{votes}");
}

async fn faded_marks_are_pruned_in_batches(w: &World) {
    let (review, _) = review(w).await;
    for number in 0..5_u32 {
        let voter = user(w, 100 + u64::from(number)).await;
        let _ = w.storage.writing.votes.vote(review, voter, true, NOON + HOUR * number).await.unwrap();
    }
    let prune = async |hours, max| {
        let now = NOON + VOTE_MARK_TTL + HOUR * hours;
        w.storage.writing.votes.prune_marks(now, max).await.unwrap()
    };
    let pruned =
        [prune(0, 9).await, prune(3, 2).await, prune(3, 2).await, prune(3, 2).await, prune(9, 9).await];
    assert_eq!(pruned, [1, 2, 1, 0, 1]);
    assert_eq!(sum(w, review).await, 5);
}

async fn votes_outlive_a_restart(w: &World) {
    let w = w.another().await;
    let (review, ben) = review(&w).await;
    let _ = vote(&w, review, ben, true).await;
    let before = lines(&w, review).await;
    let w = w.reopen().await;
    assert_eq!((lines(&w, review).await, sum(&w, review).await), (before, 1));
    assert!(marked(&w, review, ben, 0).await);
}
