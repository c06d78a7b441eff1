//! `Likes`: once a person, counted exactly, first come first.

use std::collections::BTreeMap;

use mallbox_storage::{LikeChange, LikeOutcome, NoteId, Page, Post, UserId, Visibility};

use crate::dice::Dice;
use crate::world::{HOUR, NOON, World};
use crate::writing::notes::text;

crate::cases! {
    what_is_not_there_cannot_be_liked,
    a_like_is_given_once_and_taken_back_once,
    a_toggle_turns_and_turns_back,
    the_first_to_like_come_first,
    of_many_notes_those_liked_by_a_user_are_found_in_one_read,
    what_is_hidden_keeps_its_likes_and_takes_no_others,
    a_rush_on_one_note_is_counted_exactly,
    one_person_at_many_screens_likes_once,
    random_likes_agree_with_a_plain_map,
    likes_outlive_a_restart,
}

const ANNE: UserId = UserId::new(1);
const BOB: UserId = UserId::new(2);
const ALL: Page = Page::new(1, 500);

fn user(number: u64) -> UserId {
    UserId::new(number)
}

async fn note(w: &World) -> (NoteId, Post) {
    let note = w.storage.writing.notes.insert(ANNE, &text("面"), NOON).await.unwrap();
    (note, Post::Note(note))
}

async fn changed(w: &World, who: UserId, what: Post, change: LikeChange) -> Option<LikeOutcome> {
    w.storage.writing.likes.change(who, what, change, NOON).await.unwrap()
}

fn is(likes: bool, count: u64) -> Option<LikeOutcome> {
    Some(LikeOutcome { likes, count })
}

async fn what_is_not_there_cannot_be_liked(w: &World) {
    for id in [0, 1, u64::MAX] {
        let what = Post::Note(NoteId::new(id));
        assert_eq!(changed(w, ANNE, what, LikeChange::Like).await, None);
        assert_eq!(w.storage.writing.likes.likers(what, ALL).await.unwrap(), []);
        assert_eq!(w.storage.writing.likes.liked(ANNE, &[what]).await.unwrap(), []);
    }
    assert_eq!(w.storage.writing.likes.liked(ANNE, &[]).await.unwrap(), []);
}

async fn a_like_is_given_once_and_taken_back_once(w: &World) {
    let (id, what) = note(w).await;
    assert_eq!(changed(w, ANNE, what, LikeChange::Unlike).await, is(false, 0));
    for _ in 0..2 {
        assert_eq!(changed(w, ANNE, what, LikeChange::Like).await, is(true, 1));
    }
    assert_eq!(changed(w, BOB, what, LikeChange::Like).await, is(true, 2));
    assert_eq!(
        w.storage.writing.notes.get(id).await.unwrap().unwrap().liked,
        2,
        "the very next read shows it"
    );
    for _ in 0..2 {
        assert_eq!(changed(w, ANNE, what, LikeChange::Unlike).await, is(false, 1));
    }
    assert_eq!(w.storage.writing.likes.likers(what, ALL).await.unwrap(), [BOB]);
    assert_eq!(w.storage.writing.notes.get(id).await.unwrap().unwrap().liked, 1);
}

async fn a_toggle_turns_and_turns_back(w: &World) {
    let (_, what) = note(w).await;
    for (likes, count) in [(true, 1), (false, 0), (true, 1)] {
        assert_eq!(changed(w, ANNE, what, LikeChange::Toggle).await, is(likes, count));
    }
}

async fn the_first_to_like_come_first(w: &World) {
    let likes = &w.storage.writing.likes;
    let (_, what) = note(w).await;
    // Two likes at one instant, the higher id first.
    for (who, hour) in [(9, 1), (5, 2), (4, 2), (7, 3), (2, 0)] {
        likes.change(user(who), what, LikeChange::Like, NOON + HOUR * hour).await.unwrap();
    }
    assert_eq!(likes.likers(what, ALL).await.unwrap(), [2, 9, 4, 5, 7].map(user));
    assert_eq!(likes.likers(what, Page::new(2, 2)).await.unwrap(), [4, 5].map(user));
    likes.change(user(9), what, LikeChange::Like, NOON + HOUR * 8).await.unwrap();
    assert_eq!(likes.likers(what, Page::new(1, 2)).await.unwrap(), [2, 9].map(user), "a repeat moves nobody");
    likes.change(user(9), what, LikeChange::Unlike, NOON + HOUR * 8).await.unwrap();
    likes.change(user(9), what, LikeChange::Like, NOON + HOUR * 9).await.unwrap();
    assert_eq!(likes.likers(what, ALL).await.unwrap(), [2, 4, 5, 7, 9].map(user));
}

async fn of_many_notes_those_liked_by_a_user_are_found_in_one_read(w: &World) {
    let mut all = Vec::new();
    for number in 0..30 {
        let (_, what) = note(w).await;
        all.push(what);
        for who in [ANNE, BOB].iter().take(number % 3) {
            changed(w, *who, what, LikeChange::Like).await;
        }
    }
    all.reverse();
    let of_bob: Vec<Post> =
        all.iter().copied().enumerate().filter(|(n, _)| (29 - n) % 3 == 2).map(|(_, w)| w).collect();
    assert_eq!(w.storage.writing.likes.liked(BOB, &all).await.unwrap(), of_bob);
    assert_eq!(w.storage.writing.likes.liked(user(3), &all).await.unwrap(), []);
}

async fn what_is_hidden_keeps_its_likes_and_takes_no_others(w: &World) {
    let (id, what) = note(w).await;
    changed(w, ANNE, what, LikeChange::Like).await;
    w.storage.writing.notes.put_visibility(id, Visibility::Hidden, NOON).await.unwrap();
    assert_eq!(changed(w, BOB, what, LikeChange::Like).await, None);
    assert_eq!(changed(w, ANNE, what, LikeChange::Toggle).await, None);
    w.storage.writing.notes.put_visibility(id, Visibility::Shown, NOON).await.unwrap();
    assert_eq!(changed(w, ANNE, what, LikeChange::Like).await, is(true, 1));
    w.storage.writing.notes.put_visibility(id, Visibility::Reported, NOON).await.unwrap();
    assert_eq!(changed(w, BOB, what, LikeChange::Like).await, is(true, 2), "it is still to be seen");
}

async fn a_rush_on_one_note_is_counted_exactly(w: &World) {
    let (id, what) = note(w).await;
    let (_, other) = note(w).await;
    let mut rush = tokio::task::JoinSet::new();
    for number in 0..400 {
        let likes = w.storage.writing.likes.clone();
        rush.spawn(async move {
            let (who, at) = (user(number), NOON + std::time::Duration::from_millis(number));
            let liked = likes.change(who, what, LikeChange::Like, at).await.unwrap().unwrap();
            assert!(liked.likes);
            if number % 4 == 0 {
                likes.change(who, what, LikeChange::Unlike, at).await.unwrap();
                likes.change(who, other, LikeChange::Toggle, at).await.unwrap();
            }
        });
    }
    while let Some(done) = rush.join_next().await {
        done.unwrap();
    }
    let stay: Vec<UserId> = (0..400).filter(|number| number % 4 != 0).map(user).collect();
    assert_eq!(w.storage.writing.likes.likers(what, ALL).await.unwrap(), stay);
    assert_eq!(w.storage.writing.notes.get(id).await.unwrap().unwrap().liked, 300);
    assert_eq!(changed(w, user(0), other, LikeChange::Like).await, is(true, 100));
}

async fn one_person_at_many_screens_likes_once(w: &World) {
    let (_, what) = note(w).await;
    for (change, each, end) in [
        (LikeChange::Like, 50, is(true, 1)),
        (LikeChange::Unlike, 50, is(false, 0)),
        (LikeChange::Toggle, 51, is(true, 1)),
    ] {
        let mut rush = tokio::task::JoinSet::new();
        for _ in 0..each {
            let likes = w.storage.writing.likes.clone();
            rush.spawn(async move { likes.change(ANNE, what, change, NOON).await.unwrap() });
        }
        while let Some(done) = rush.join_next().await {
            done.unwrap();
        }
        let keep = if end == is(true, 1) { LikeChange::Like } else { LikeChange::Unlike };
        assert_eq!(changed(w, ANNE, what, keep).await, end);
        assert_eq!(w.storage.writing.likes.likers(what, ALL).await.unwrap().len() as u64, end.unwrap().count);
    }
}

async fn random_likes_agree_with_a_plain_map(w: &World) {
    let mut dice = Dice::new(5);
    let mut things = Vec::new();
    for _ in 0..4 {
        things.push(note(w).await.1);
    }
    let mut model: BTreeMap<(Post, UserId), u32> = BTreeMap::new();
    for step in 0..400 {
        let (what, who) = (dice.pick(&things), user(dice.below(8)));
        let change = dice.pick(&[LikeChange::Like, LikeChange::Unlike, LikeChange::Toggle]);
        let had = model.contains_key(&(what, who));
        let likes = match change {
            LikeChange::Like => true,
            LikeChange::Unlike => false,
            LikeChange::Toggle => !had,
        };
        if likes {
            model.entry((what, who)).or_insert(step);
        } else {
            model.remove(&(what, who));
        }
        let count = model.keys().filter(|(liked, _)| *liked == what).count() as u64;
        let change_outcome =
            w.storage.writing.likes.change(who, what, change, NOON + HOUR * step).await.unwrap();
        assert_eq!(change_outcome, is(likes, count), "step {step}");
    }
    for what in &things {
        let mut likers: Vec<_> = model
            .iter()
            .filter(|((liked, _), _)| liked == what)
            .map(|((_, who), step)| (*step, *who))
            .collect();
        likers.sort_unstable();
        let likers: Vec<UserId> = likers.into_iter().map(|(_, who)| who).collect();
        assert_eq!(w.storage.writing.likes.likers(*what, ALL).await.unwrap(), likers);
    }
    assert_eq!(w.storage.writing.likes.miscounted().await.unwrap(), 0);
    for who in (0..8).map(user) {
        let liked: Vec<Post> =
            things.iter().copied().filter(|what| model.contains_key(&(*what, who))).collect();
        assert_eq!(w.storage.writing.likes.liked(who, &things).await.unwrap(), liked);
    }
}

async fn likes_outlive_a_restart(w: &World) {
    let another = w.another().await;
    let (_, what) = note(&another).await;
    changed(&another, BOB, what, LikeChange::Like).await;
    let another = another.reopen().await;
    assert_eq!(changed(&another, BOB, what, LikeChange::Like).await, is(true, 1));
    assert_eq!(another.storage.writing.likes.likers(what, ALL).await.unwrap(), [BOB]);
}
