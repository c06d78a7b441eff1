//! `Comments`: one level of replies, lists that keep the places of deleted comments, and exact counts.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use mallbox_storage::{
    Comment, CommentId, CommentOutcome, FinishOptions, ImportRow, ImportedComment, ImportedNote, NoteId,
    Page, ShopId, Thread, UserId, Visibility,
};

use crate::dice::Dice;
use crate::operator::import::user;
use crate::world::{HOUR, NOON, World};
use crate::writing::notes::text;

crate::cases! {
    a_comment_is_read_as_it_was_written,
    what_cannot_be_commented_on_stays_as_it_is,
    an_answer_to_an_answer_stands_below_the_same_comment,
    comments_are_the_newest_first_and_their_answers_the_oldest_first,
    a_deleted_comment_with_answers_leaves_its_place,
    a_notes_count_is_of_what_is_seen,
    comments_that_moved_in_are_counted_once,
    answers_that_moved_in_below_nothing_stand_below_their_note,
    a_rush_of_comments_is_counted_exactly,
    random_comments_agree_with_plain_maps,
    comments_outlive_a_restart,
}

const ANNE: UserId = UserId::new(1);
const BOB: UserId = UserId::new(2);
const ALL: Page = Page::new(1, 500);

async fn note(w: &World) -> NoteId {
    w.storage.writing.notes.insert(ANNE, &text("a note"), NOON).await.unwrap()
}

async fn count(w: &World, note: NoteId) -> u64 {
    w.storage.writing.notes.get(note).await.unwrap().unwrap().comments
}

async fn write(w: &World, note: NoteId, answers: Option<CommentId>, at: u32) -> CommentId {
    match w.storage.writing.comments.insert(BOB, note, answers, "好吃", NOON + HOUR * at).await.unwrap() {
        CommentOutcome::Written(comment) => comment,
        refused => panic!("{refused:?}"),
    }
}

fn ids(comments: &[Comment]) -> Vec<CommentId> {
    comments.iter().map(|comment| comment.id).collect()
}

/// The list as ids: each comment with its first replies and its number of replies.
async fn threads(w: &World, note: NoteId, page: Page) -> (Vec<(CommentId, Vec<CommentId>, u64)>, u64) {
    let (threads, total) = w.storage.writing.comments.threads(note, page).await.unwrap();
    let seen = |thread: Thread| (thread.comment.id, ids(&thread.answers), thread.answer_count);
    (threads.into_iter().map(seen).collect(), total)
}

async fn a_comment_is_read_as_it_was_written(w: &World) {
    let (comments, note) = (&w.storage.writing.comments, note(w).await);
    assert_eq!(threads(w, note, ALL).await, (vec![], 0));
    let id = write(w, note, None, 1).await;
    let comment = Comment {
        id,
        note,
        author: BOB,
        parent: None,
        answers: None,
        content: "好吃".to_owned(),
        liked: 0,
        visibility: Visibility::Shown,
        created: NOON + HOUR,
    };
    let answer_id = write(w, note, Some(id), 2).await;
    let answer = Comment {
        id: answer_id,
        parent: Some(id),
        answers: Some(id),
        created: NOON + HOUR * 2,
        ..comment.clone()
    };
    let thread = Thread { comment: comment.clone(), answers: vec![answer.clone()], answer_count: 1 };
    assert_eq!(comments.threads(note, ALL).await.unwrap(), (vec![thread], 1));
    assert_eq!(comments.answers(id, ALL).await.unwrap(), (vec![answer.clone()], 1));
    let asked = [answer_id, CommentId::new(999), id, answer_id];
    assert_eq!(comments.those(&asked).await.unwrap(), [answer.clone(), comment, answer]);
    assert_eq!(count(w, note).await, 2);
}

async fn what_cannot_be_commented_on_stays_as_it_is(w: &World) {
    use CommentOutcome::{NoComment, NoNote};
    let comments = &w.storage.writing.comments;
    let (open, other, hidden, deleted) = (note(w).await, note(w).await, note(w).await, note(w).await);
    w.storage.writing.notes.put_visibility(hidden, Visibility::Hidden, NOON).await.unwrap();
    w.storage.writing.notes.put_visibility(deleted, Visibility::Deleted, NOON).await.unwrap();
    for note in [hidden, deleted, NoteId::new(0), NoteId::new(u64::MAX)] {
        assert_eq!(comments.insert(BOB, note, None, "x", NOON).await.unwrap(), NoNote);
    }
    let (elsewhere, gone) = (write(w, other, None, 0).await, write(w, open, None, 0).await);
    comments.put_visibility(gone, Visibility::Hidden, NOON).await.unwrap();
    for answered in [elsewhere, gone, CommentId::new(0), CommentId::new(u64::MAX)] {
        assert_eq!(comments.insert(BOB, open, Some(answered), "x", NOON).await.unwrap(), NoComment);
    }
    assert_eq!((count(w, open).await, threads(w, open, ALL).await), (0, (vec![], 0)));
    assert_eq!((count(w, hidden).await, count(w, other).await), (0, 1));
    for comment in [CommentId::new(0), CommentId::new(u64::MAX)] {
        assert_eq!(comments.put_visibility(comment, Visibility::Hidden, NOON).await.unwrap(), None);
        assert_eq!(comments.answers(comment, ALL).await.unwrap(), (vec![], 0));
    }
}

async fn an_answer_to_an_answer_stands_below_the_same_comment(w: &World) {
    let note = note(w).await;
    let top = write(w, note, None, 0).await;
    let first = write(w, note, Some(top), 1).await;
    let second = write(w, note, Some(first), 2).await;
    let third = write(w, note, Some(second), 3).await;
    let (answers, total) = w.storage.writing.comments.answers(top, ALL).await.unwrap();
    let below = |answer: &Comment| (answer.id, answer.parent, answer.answers);
    assert_eq!(
        answers.iter().map(below).collect::<Vec<_>>(),
        [(first, Some(top), Some(top)), (second, Some(top), Some(first)), (third, Some(top), Some(second))]
    );
    assert_eq!(total, 3);
    assert_eq!(w.storage.writing.comments.answers(first, ALL).await.unwrap(), (vec![], 0));
}

async fn comments_are_the_newest_first_and_their_answers_the_oldest_first(w: &World) {
    let note = note(w).await;
    let mut tops = Vec::new();
    for number in 0..7 {
        // Two per instant: the higher id is the newer.
        tops.push(write(w, note, None, number / 2).await);
    }
    let mut answers = Vec::new();
    for number in 0..5 {
        answers.push(write(w, note, Some(tops[2]), 10 - number).await);
    }
    answers.reverse();
    tops.reverse();
    let want: Vec<_> = tops
        .iter()
        .map(|top| if *top == tops[4] { (*top, answers[..3].to_vec(), 5) } else { (*top, vec![], 0) })
        .collect();
    assert_eq!(threads(w, note, ALL).await, (want.clone(), 7));
    for (number, want) in [(1, &want[..3]), (2, &want[3..6]), (3, &want[6..]), (4, &[])] {
        assert_eq!(threads(w, note, Page::new(number, 3)).await, (want.to_vec(), 7));
    }
    for (number, want) in [(1, &answers[..2]), (2, &answers[2..4]), (3, &answers[4..]), (4, &[])] {
        let (found, total) = w.storage.writing.comments.answers(tops[4], Page::new(number, 2)).await.unwrap();
        assert_eq!((ids(&found).as_slice(), total), (want, 5));
    }
}

async fn a_deleted_comment_with_answers_leaves_its_place(w: &World) {
    use Visibility::{Deleted, Hidden, Shown};
    let (comments, note) = (&w.storage.writing.comments, note(w).await);
    let (with, without) = (write(w, note, None, 1).await, write(w, note, None, 0).await);
    let answer = write(w, note, Some(with), 2).await;
    for gone in [with, without] {
        assert_eq!(comments.put_visibility(gone, Deleted, NOON).await.unwrap(), Some(Shown));
    }
    let (found, total) = comments.threads(note, ALL).await.unwrap();
    assert_eq!((found.len(), total, found[0].answer_count), (1, 1, 1));
    let place = &found[0].comment;
    assert_eq!((place.id, &*place.content, place.visibility), (with, "", Deleted));
    for again in [Shown, Hidden, Deleted] {
        assert_eq!(comments.put_visibility(with, again, NOON).await.unwrap(), Some(Deleted));
    }
    let onward = write(w, note, Some(answer), 3).await;
    assert_eq!(threads(w, note, ALL).await, (vec![(with, vec![answer, onward], 2)], 1));
    assert_eq!(
        comments.insert(BOB, note, Some(with), "x", NOON).await.unwrap(),
        CommentOutcome::NoComment,
        "its place is not answered to"
    );
    for gone in [answer, onward] {
        let _ = comments.put_visibility(gone, Hidden, NOON).await.unwrap();
    }
    assert_eq!(threads(w, note, ALL).await, (vec![], 0), "with nothing below it, the place goes too");
}

async fn a_notes_count_is_of_what_is_seen(w: &World) {
    use Visibility::{Deleted, Hidden, Reported, Shown};
    let (comments, note) = (&w.storage.writing.comments, note(w).await);
    let top = write(w, note, None, 0).await;
    let answer = write(w, note, Some(top), 1).await;
    for (comment, to, want) in [
        (top, Reported, 2),
        (top, Hidden, 1),
        (top, Hidden, 1),
        (answer, Hidden, 0),
        (top, Shown, 1),
        (answer, Reported, 2),
        (answer, Deleted, 1),
        (answer, Shown, 1),
        (top, Hidden, 0),
        (top, Deleted, 0),
    ] {
        assert!(comments.put_visibility(comment, to, NOON).await.unwrap().is_some());
        assert_eq!(count(w, note).await, want, "{comment} {to:?}");
    }
}

/// Imports two notes: the first claims 5 comments, the second none.
async fn move_in(w: &World, comments: &[(u64, u64, u64, u8)]) {
    let mut rows = vec![(user(1), false)];
    for (id, comments) in [(1, 5), (2, 0)] {
        let (id, shop, user, title) = (NoteId::new(id), ShopId::new(1), ANNE, "a note".to_owned());
        let (images, content, liked) = (String::new(), String::new(), 0);
        let (created, updated) = (NOON, NOON);
        let note = ImportedNote { id, shop, user, title, images, content, liked, comments, created, updated };
        rows.push((ImportRow::Note(note), false));
    }
    for (id, note, parent, status) in comments.iter().copied() {
        let parent = (parent > 0).then_some(CommentId::new(parent));
        let comment = ImportedComment {
            id: CommentId::new(id),
            note: NoteId::new(note),
            user: ANNE,
            parent,
            answers: parent,
            content: format!("comment {id}"),
            liked: 3,
            status,
            created: NOON + HOUR * u32::try_from(id).unwrap(),
        };
        rows.push((ImportRow::Comment(comment), false));
    }
    let mut into = w.storage.operator.import.begin().await.unwrap().expect("an empty mall");
    assert!(into.put(rows).await.unwrap().into_iter().all(|written| written));
    into.finish(FinishOptions::new(HOUR, NOON)).await.unwrap();
}

async fn comments_that_moved_in_are_counted_once(w: &World) {
    use Visibility::{Deleted, Hidden, Reported, Shown};
    move_in(w, &[(10, 1, 0, 0), (11, 1, 0, 1), (12, 1, 0, 2), (20, 2, 0, 0), (21, 2, 20, 0)]).await;
    let (comments, first, second) = (&w.storage.writing.comments, NoteId::new(1), NoteId::new(2));
    assert_eq!((count(w, first).await, count(w, second).await), (5, 2));
    let moved = comments.those(&[10, 11, 12].map(CommentId::new)).await.unwrap();
    let seen: Vec<_> = moved.iter().map(|comment| (comment.visibility, comment.liked)).collect();
    assert_eq!(seen, [(Shown, 3), (Reported, 3), (Hidden, 3)]);
    for (comment, to, want) in [(10, Deleted, 4), (12, Shown, 5), (11, Hidden, 4), (12, Hidden, 3)] {
        comments.put_visibility(CommentId::new(comment), to, NOON).await.unwrap();
        assert_eq!(count(w, first).await, want);
    }
    let own = write(w, first, None, 100).await;
    assert!(own.get() > 21);
    assert_eq!(count(w, first).await, 4);
    for (comment, want) in [(21, 1), (20, 0)] {
        comments.put_visibility(CommentId::new(comment), Deleted, NOON).await.unwrap();
        assert_eq!(count(w, second).await, want);
    }
    write(w, second, None, 0).await;
    assert_eq!(count(w, second).await, 1);
    assert_eq!(comments.miscounted().await.unwrap(), 0);
}

async fn answers_that_moved_in_below_nothing_stand_below_their_note(w: &World) {
    // 11 replies to 10, and 12 to 11, as if nested below 11; 13 replies to a missing comment, and 14 to a
    // comment on another note.
    let below = [(10, 1, 0, 0), (11, 1, 10, 0), (12, 1, 11, 0), (13, 1, 99, 0), (14, 2, 10, 0)];
    move_in(w, &below).await;
    let id = CommentId::new;
    let want = vec![(id(13), vec![], 0), (id(12), vec![], 0), (id(10), vec![id(11)], 1)];
    assert_eq!(threads(w, NoteId::new(1), ALL).await, (want, 3));
    assert_eq!(threads(w, NoteId::new(2), ALL).await, (vec![(id(14), vec![], 0)], 1));
    assert_eq!(w.storage.writing.comments.those(&[id(12)]).await.unwrap()[0].answers, None);
}

async fn a_rush_of_comments_is_counted_exactly(w: &World) {
    let (note, other) = (note(w).await, note(w).await);
    let top = write(w, note, None, 0).await;
    let mut rush = tokio::task::JoinSet::new();
    for number in 0..60_u64 {
        // A third are replies; a quarter are deleted by two callers at once; some are on another note.
        let (comments, on) = (w.storage.writing.comments.clone(), if number % 5 == 0 { other } else { note });
        let answers = (on == note && number % 3 == 0).then_some(top);
        rush.spawn(async move {
            let written = comments.insert(UserId::new(number), on, answers, "人真多", NOON).await.unwrap();
            let CommentOutcome::Written(comment) = written else { panic!("{written:?}") };
            if number % 4 == 0 {
                let (one, two) = tokio::join!(
                    comments.put_visibility(comment, Visibility::Deleted, NOON),
                    comments.put_visibility(comment, Visibility::Deleted, NOON)
                );
                assert!(one.unwrap() != two.unwrap(), "one of the two deletes it");
            }
        });
    }
    while let Some(done) = rush.join_next().await {
        done.unwrap();
    }
    let left = |on_other: bool| (0..60).filter(|n| (n % 5 == 0) == on_other && n % 4 != 0).count() as u64;
    assert_eq!((count(w, note).await, count(w, other).await), (left(false) + 1, left(true)));
    let (threads, total) = w.storage.writing.comments.threads(note, ALL).await.unwrap();
    let answers: u64 = threads.iter().map(|thread| thread.answer_count).sum();
    assert_eq!(total + answers, left(false) + 1);
}

async fn random_comments_agree_with_plain_maps(w: &World) {
    use Visibility::{Deleted, Hidden, Reported, Shown};
    let mut dice = Dice::from_environment("random_comments_agree_with_plain_maps");
    let comments = &w.storage.writing.comments;
    let notes = [note(w).await, note(w).await];
    let mut model: BTreeMap<CommentId, Comment> = BTreeMap::new();
    for step in 0..250_u32 {
        let created = NOON + HOUR * (step / 4);
        let known: Vec<CommentId> = model.keys().copied().collect();
        if known.is_empty() || dice.chance(60) {
            let (note, author, content) = (dice.pick(&notes), UserId::new(dice.below(4)), step.to_string());
            let answers = (!known.is_empty() && dice.chance(60)).then(|| dice.pick(&known));
            let answered = answers.map(|id| &model[&id]);
            let fits = answered.is_none_or(|it| it.note == note && it.visibility.is_seen());
            match comments.insert(author, note, answers, &content, created).await.unwrap() {
                CommentOutcome::Written(id) => {
                    assert!(fits, "{answered:?}");
                    let parent = answered.map(|it| it.parent.unwrap_or(it.id));
                    let (liked, visibility) = (0, Shown);
                    let comment =
                        Comment { id, note, author, parent, answers, content, liked, visibility, created };
                    assert!(model.insert(id, comment).is_none());
                }
                refused => assert!(!fits && refused == CommentOutcome::NoComment, "{answered:?}"),
            }
        } else {
            let comment = model.get_mut(&dice.pick(&known)).unwrap();
            let to = dice.pick(&[Shown, Reported, Hidden, Hidden, Deleted]);
            let was = comments.put_visibility(comment.id, to, created).await.unwrap();
            assert_eq!(was, Some(comment.visibility));
            if comment.visibility != Deleted {
                comment.visibility = to;
                if to == Deleted {
                    comment.content.clear();
                }
            }
        }
    }
    for note in notes {
        let of_note = |comment: &&Comment| comment.note == note;
        let seen = model.values().filter(of_note).filter(|comment| comment.visibility.is_seen());
        assert_eq!(count(w, note).await, seen.clone().count() as u64);
        let mut want: Vec<Thread> = Vec::new();
        for top in model.values().filter(of_note).filter(|comment| comment.parent.is_none()) {
            let mut answers: Vec<Comment> =
                seen.clone().filter(|comment| comment.parent == Some(top.id)).cloned().collect();
            answers.sort_by_key(|answer| (answer.created, answer.id));
            let answer_count = answers.len() as u64;
            assert_eq!(comments.answers(top.id, ALL).await.unwrap(), (answers.clone(), answer_count));
            if top.visibility.is_seen() || answer_count > 0 {
                answers.truncate(Thread::REPLIES_MAX as usize);
                want.push(Thread { comment: top.clone(), answers, answer_count });
            }
        }
        want.sort_by_key(|thread| Reverse((thread.comment.created, thread.comment.id)));
        let total = want.len() as u64;
        assert_eq!(comments.threads(note, ALL).await.unwrap(), (want, total));
    }
    assert_eq!(comments.miscounted().await.unwrap(), 0);
}

async fn comments_outlive_a_restart(w: &World) {
    let another = w.another().await;
    let note = note(&another).await;
    let top = write(&another, note, None, 0).await;
    let answer = write(&another, note, Some(top), 1).await;
    another.storage.writing.comments.put_visibility(top, Visibility::Hidden, NOON).await.unwrap();
    let another = another.reopen().await;
    assert_eq!(threads(&another, note, ALL).await, (vec![(top, vec![answer], 1)], 1));
    assert_eq!(count(&another, note).await, 1);
    assert!(write(&another, note, None, 2).await > answer);
}
