//! `Reports`: one per reporter and target, decided together with the target's visibility.

use mallbox_storage::{
    CommentId, CommentOutcome, NoteId, OpenReports, Page, Post, ReportOutcome, ReviewState, UserId,
    Visibility,
};

use crate::world::{HOUR, NOON, World};
use crate::writing::notes::text;

crate::cases! {
    nothing_is_reported_at_first,
    a_person_reports_a_thing_once,
    what_an_operator_shows_again_is_not_reported_anew_by_the_same,
    whatever_is_decided_waits_for_nobody,
    what_most_have_reported_comes_first,
    a_rush_of_reporters_is_counted_exactly,
    reports_outlive_a_restart,
}

const ALL: Page = Page::new(1, 500);

async fn note(w: &World) -> NoteId {
    w.storage.writing.notes.insert(UserId::new(1), &text("a note"), NOON).await.unwrap()
}

async fn comment(w: &World, note: NoteId) -> CommentId {
    match w.storage.writing.comments.insert(UserId::new(2), note, None, "a comment", NOON).await.unwrap() {
        CommentOutcome::Written(comment) => comment,
        refused => panic!("{refused:?}"),
    }
}

async fn report(w: &World, user: u64, target: Post, reason: &str, hours: u32) -> ReportOutcome {
    w.storage.writing.reports.report(UserId::new(user), target, reason, NOON + HOUR * hours).await.unwrap()
}

async fn visibility(w: &World, target: Post) -> Visibility {
    match target {
        Post::Note(note) => w.storage.writing.notes.get(note).await.unwrap().unwrap().visibility,
        Post::Comment(comment) => w.storage.writing.comments.those(&[comment]).await.unwrap()[0].visibility,
        Post::Review(review) => {
            w.storage.writing.reviews.get(review).await.unwrap().unwrap().state.visibility
        }
    }
}

async fn decide(w: &World, target: Post, to: Visibility) {
    let is_known = match target {
        Post::Note(note) => w.storage.writing.notes.put_visibility(note, to, NOON).await.unwrap().is_some(),
        Post::Comment(comment) => {
            w.storage.writing.comments.put_visibility(comment, to, NOON).await.unwrap().is_some()
        }
        Post::Review(review) => {
            let state = ReviewState { visibility: to, is_folded: false };
            w.storage.writing.reviews.put_state(review, state, NOON).await.unwrap().is_some()
        }
    };
    assert!(is_known);
}

fn open(target: Post, count: u64, reasons: &[&str], hours: u32) -> OpenReports {
    let reasons = reasons.iter().map(|&reason| reason.to_owned()).collect();
    OpenReports { target, count, reasons, latest: NOON + HOUR * hours }
}

async fn nothing_is_reported_at_first(w: &World) {
    assert_eq!(w.storage.writing.reports.open(ALL).await.unwrap(), (vec![], 0));
    for id in [0, 1, i64::MAX as u64, u64::MAX] {
        for target in [Post::Note(NoteId::new(id)), Post::Comment(CommentId::new(id))] {
            assert_eq!(report(w, 1, target, "x", 0).await, ReportOutcome::NotThere);
        }
    }
    assert_eq!(w.storage.writing.reports.open(ALL).await.unwrap(), (vec![], 0));
}

async fn a_person_reports_a_thing_once(w: &World) {
    let note = note(w).await;
    let comment = comment(w, note).await;
    assert_eq!(note.get(), comment.get(), "a note and a comment with one number are two things");
    for target in [Post::Note(note), Post::Comment(comment)] {
        assert_eq!(visibility(w, target).await, Visibility::Shown);
        assert_eq!(report(w, 5, target, "广告", 1).await, ReportOutcome::Taken);
        assert_eq!(visibility(w, target).await, Visibility::Reported);
        assert_eq!(report(w, 5, target, "again", 2).await, ReportOutcome::Repeat);
        assert_eq!(report(w, 6, target, "", 3).await, ReportOutcome::Taken);
    }
    let waiting =
        [Post::Note(note), Post::Comment(comment)].map(|target| open(target, 2, &["广告"], 3)).to_vec();
    assert_eq!(w.storage.writing.reports.open(ALL).await.unwrap(), (waiting, 2));
    assert_eq!(w.storage.writing.notes.get(note).await.unwrap().unwrap().comments, 1, "it is seen still");
}

async fn what_an_operator_shows_again_is_not_reported_anew_by_the_same(w: &World) {
    let target = Post::Note(note(w).await);
    assert_eq!(report(w, 5, target, "spam", 1).await, ReportOutcome::Taken);
    decide(w, target, Visibility::Shown).await;
    assert_eq!(w.storage.writing.reports.open(ALL).await.unwrap(), (vec![], 0));
    assert_eq!(report(w, 5, target, "spam", 2).await, ReportOutcome::Repeat);
    assert_eq!(visibility(w, target).await, Visibility::Shown);
    assert_eq!(report(w, 6, target, "spam indeed", 3).await, ReportOutcome::Taken);
    assert_eq!(visibility(w, target).await, Visibility::Reported);
    let waiting = vec![open(target, 1, &["spam indeed"], 3)];
    assert_eq!(
        w.storage.writing.reports.open(ALL).await.unwrap(),
        (waiting, 1),
        "what was decided is decided"
    );
}

async fn whatever_is_decided_waits_for_nobody(w: &World) {
    let on = note(w).await;
    let other = note(w).await;
    let untouched = Post::Note(other);
    assert_eq!(report(w, 9, untouched, "", 9).await, ReportOutcome::Taken);
    for to in [Visibility::Hidden, Visibility::Deleted, Visibility::Shown, Visibility::Reported] {
        for target in [Post::Comment(comment(w, on).await), Post::Note(note(w).await)] {
            assert_eq!(report(w, 5, target, "", 1).await, ReportOutcome::Taken);
            decide(w, target, to).await;
            let (waiting, _) = w.storage.writing.reports.open(ALL).await.unwrap();
            let waits = waiting.iter().any(|open| open.target == target);
            assert_eq!(waits, to == Visibility::Reported, "{target:?} {to:?}");
            let want = if to.is_seen() { ReportOutcome::Taken } else { ReportOutcome::NotThere };
            assert_eq!(report(w, 6, target, "", 2).await, want);
            decide(w, target, Visibility::Deleted).await;
        }
    }
    assert_eq!(w.storage.writing.reports.open(ALL).await.unwrap(), (vec![open(untouched, 1, &[], 9)], 1));
}

async fn what_most_have_reported_comes_first(w: &World) {
    let notes = [note(w).await, note(w).await, note(w).await];
    let first = Post::Comment(comment(w, notes[0]).await);
    let [old, new, newest] = notes.map(Post::Note);
    for (user, hours) in [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (7, 6)] {
        assert_eq!(report(w, user, first, &format!("reason {user}"), hours).await, ReportOutcome::Taken);
    }
    for (target, hours) in [(old, 7), (newest, 8), (new, 8)] {
        assert_eq!(report(w, 1, target, "", hours).await, ReportOutcome::Taken);
    }
    let last = ["reason 7", "reason 6", "reason 5", "reason 4", "reason 3"];
    let want =
        [open(first, 7, &last, 6), open(newest, 1, &[], 8), open(new, 1, &[], 8), open(old, 1, &[], 7)];
    assert_eq!(w.storage.writing.reports.open(ALL).await.unwrap(), (want.to_vec(), 4));
    for (number, want) in [(1, &want[..3]), (2, &want[3..]), (3, &[])] {
        assert_eq!(w.storage.writing.reports.open(Page::new(number, 3)).await.unwrap(), (want.to_vec(), 4));
    }
}

async fn a_rush_of_reporters_is_counted_exactly(w: &World) {
    let target = Post::Note(note(w).await);
    let mut rush = tokio::task::JoinSet::new();
    for user in 0..40 {
        let reports = w.storage.writing.reports.clone();
        rush.spawn(async move {
            let user = UserId::new(user);
            let answers = tokio::join!(
                reports.report(user, target, "both", NOON),
                reports.report(user, target, "both", NOON)
            );
            let mut answers = [answers.0.unwrap(), answers.1.unwrap()];
            answers.sort_by_key(|answer| *answer == ReportOutcome::Repeat);
            assert_eq!(answers, [ReportOutcome::Taken, ReportOutcome::Repeat]);
        });
    }
    while let Some(done) = rush.join_next().await {
        done.unwrap();
    }
    assert_eq!(
        w.storage.writing.reports.open(ALL).await.unwrap(),
        (vec![open(target, 40, &["both"; 5], 0)], 1)
    );
}

async fn reports_outlive_a_restart(w: &World) {
    let another = w.another().await;
    let target = Post::Note(note(&another).await);
    assert_eq!(report(&another, 5, target, "spam", 1).await, ReportOutcome::Taken);
    let another = another.reopen().await;
    assert_eq!(report(&another, 5, target, "spam", 2).await, ReportOutcome::Repeat);
    assert_eq!(
        another.storage.writing.reports.open(ALL).await.unwrap(),
        (vec![open(target, 1, &["spam"], 1)], 1)
    );
}
