//! `Feeds`: every note of every followed author, once, newest first, whether pushed or pulled.

use std::time::Duration;

use mallbox_storage::{
    FeedEntry, FinishOptions, ImportRow, ImportedNote, NoteId, ShopId, Storage, Timestamp, UserId, Visibility,
};

use crate::operator::import::user as member;
use crate::world::{HOUR, NOON, World};
use crate::writing::notes::text;

crate::cases! {
    nobody_has_a_feed_at_first,
    a_note_comes_to_fans_who_read_and_to_fans_who_sleep,
    a_follow_brings_the_last_twenty_and_an_unfollow_takes_all,
    of_one_instant_the_lower_id_comes_first_and_a_late_one_moves_nothing,
    what_is_deleted_or_hidden_keeps_its_place,
    what_is_beyond_an_inbox_comes_from_the_record,
    an_author_with_many_fans_reaches_each_of_them,
    a_note_that_was_not_passed_on_is_found,
    an_inbox_ends_after_a_day_and_the_feed_does_not,
    a_feed_outlives_a_restart,
}

/// An author or a reader.
pub const ANNE: UserId = UserId::new(1);
/// Another author or reader.
pub const BOB: UserId = UserId::new(2);
/// 24 hours.
pub const DAY: Duration = Duration::from_secs(24 * 3600);

/// Returns the user with the given number.
pub fn user(number: u64) -> UserId {
    UserId::new(number)
}

/// Returns noon plus `number` minutes.
pub fn minute(number: u32) -> Timestamp {
    NOON + Duration::from_secs(60) * number
}

/// Writes a note of any time and publishes the note at noon.
pub async fn publish(storage: &Storage, author: UserId, at: Timestamp) -> FeedEntry {
    let note = storage.writing.notes.insert(author, &text("面"), at).await.unwrap();
    let entry = FeedEntry { note, written: at };
    storage.writing.feeds.pass_on(entry, author, NOON).await.unwrap();
    entry
}

/// Makes `reader` follow `author`.
pub async fn follow(storage: &Storage, reader: UserId, author: UserId) {
    storage.people.follows.follow(reader, author, NOON).await.unwrap();
    storage.writing.feeds.refresh(reader).await.unwrap();
}

/// Makes `reader` unfollow `author`.
pub async fn unfollow(storage: &Storage, reader: UserId, author: UserId) {
    storage.people.follows.unfollow(reader, author).await.unwrap();
    storage.writing.feeds.refresh(reader).await.unwrap();
}

/// Returns the first 5,000 entries of a feed, or the whole feed if shorter.
pub async fn feed(storage: &Storage, reader: UserId) -> Vec<FeedEntry> {
    storage.writing.feeds.page(reader, Timestamp::MAX, 5_000, NOON).await.unwrap()
}

async fn nobody_has_a_feed_at_first(w: &World) {
    for reader in [user(0), ANNE, user(i64::MAX as u64)] {
        assert_eq!(feed(&w.storage, reader).await, []);
        w.storage.writing.feeds.refresh(reader).await.unwrap();
    }
    assert_eq!(w.storage.writing.feeds.pass_on_the_rest(Timestamp::MAX, 100, NOON).await.unwrap(), 0);
}

async fn a_note_comes_to_fans_who_read_and_to_fans_who_sleep(w: &World) {
    let storage = &w.storage;
    let (reads, sleeps, stranger) = (user(11), user(12), user(13));
    for reader in [reads, sleeps] {
        follow(storage, reader, ANNE).await;
    }
    assert_eq!(feed(storage, reads).await, []);
    let first = publish(storage, ANNE, minute(1)).await;
    assert_eq!(feed(storage, reads).await, [first]);
    let second = publish(storage, ANNE, minute(2)).await;
    // Twice changes nothing.
    storage.writing.feeds.pass_on(second, ANNE, minute(2)).await.unwrap();
    for reader in [reads, sleeps, reads] {
        assert_eq!(feed(storage, reader).await, [second, first]);
    }
    assert_eq!(feed(storage, stranger).await, []);
    assert_eq!(feed(storage, ANNE).await, [], "one's own notes are no news");
}

async fn a_follow_brings_the_last_twenty_and_an_unfollow_takes_all(w: &World) {
    let storage = &w.storage;
    let mut of_anne = Vec::new();
    for number in 0..25 {
        of_anne.push(publish(storage, ANNE, minute(number)).await);
    }
    let of_bob = publish(storage, BOB, minute(10)).await;
    let reader = user(11);
    follow(storage, reader, BOB).await;
    assert_eq!(feed(storage, reader).await, [of_bob]);
    follow(storage, reader, ANNE).await;
    let newest = publish(storage, ANNE, minute(30)).await;
    let mut all: Vec<FeedEntry> = of_anne[5..].iter().copied().chain([of_bob, newest]).collect();
    all.sort_unstable();
    assert_eq!(feed(storage, reader).await, all);
    unfollow(storage, reader, ANNE).await;
    assert_eq!(feed(storage, reader).await, [of_bob]);
    publish(storage, ANNE, minute(31)).await;
    assert_eq!(feed(storage, reader).await, [of_bob]);
}

async fn of_one_instant_the_lower_id_comes_first_and_a_late_one_moves_nothing(w: &World) {
    let storage = &w.storage;
    let reader = user(11);
    follow(storage, reader, ANNE).await;
    follow(storage, reader, BOB).await;
    assert_eq!(feed(storage, reader).await, []);
    let mut of_noon = Vec::new();
    for number in 0..300 {
        of_noon.push(publish(storage, if number % 2 == 0 { ANNE } else { BOB }, NOON).await);
    }
    let page = |from, most| storage.writing.feeds.page(reader, from, most, NOON);
    assert_eq!(page(Timestamp::MAX, 10).await.unwrap(), of_noon[..10]);
    let later = publish(storage, ANNE, minute(1)).await;
    let late = publish(storage, BOB, NOON).await;
    let late_and_older = publish(storage, BOB, NOON - HOUR).await;
    let mut all = vec![later];
    all.extend(of_noon.iter().copied().chain([late, late_and_older]));
    assert_eq!(feed(storage, reader).await, all);
    // From an instant downwards, regardless of newer entries.
    assert_eq!(page(NOON, 301).await.unwrap(), all[1..302]);
    assert_eq!(page(NOON - HOUR, 10).await.unwrap(), [late_and_older]);
    assert_eq!(page(NOON - HOUR * 2, 10).await.unwrap(), []);
    assert_eq!(page(Timestamp::from_millis(i64::MIN), 10).await.unwrap(), []);
    assert_eq!(page(Timestamp::MAX, 0).await.unwrap(), []);
}

async fn what_is_deleted_or_hidden_keeps_its_place(w: &World) {
    let storage = &w.storage;
    let (reads, sleeps) = (user(11), user(12));
    for reader in [reads, sleeps] {
        follow(storage, reader, ANNE).await;
    }
    feed(storage, reads).await;
    let mut all = Vec::new();
    for number in 0..3 {
        all.insert(0, publish(storage, ANNE, minute(number)).await);
    }
    for (entry, visibility) in all.iter().zip([Visibility::Deleted, Visibility::Hidden]) {
        storage.writing.notes.put_visibility(entry.note, visibility, NOON).await.unwrap();
    }
    for reader in [reads, sleeps] {
        assert_eq!(feed(storage, reader).await, all);
    }
}

/// Imports people with follows among them, and notes of Anne's, one a minute.
async fn moved_in(w: &World, people: u64, follows: Vec<(UserId, UserId)>, notes: u32) -> World {
    let another = w.another().await;
    let mut into = another.storage.operator.import.begin().await.unwrap().unwrap();
    let mut rows: Vec<ImportRow> = (1..=people).map(member).collect();
    rows.extend(follows.into_iter().map(|(user, followee)| ImportRow::Follow {
        follower: user,
        followee,
        since: NOON,
    }));
    rows.extend((0..notes).map(|number| {
        ImportRow::Note(ImportedNote {
            id: NoteId::new(u64::from(number) + 1),
            shop: ShopId::new(1),
            user: ANNE,
            title: "面".to_owned(),
            images: String::new(),
            content: "好吃".to_owned(),
            liked: 0,
            comments: 0,
            created: minute(number),
            updated: minute(number),
        })
    }));
    for some in rows.chunks(1_000) {
        into.put(some.iter().cloned().map(|row| (row, false)).collect()).await.unwrap();
    }
    into.finish(FinishOptions::new(HOUR, NOON)).await.unwrap();
    another
}

async fn what_is_beyond_an_inbox_comes_from_the_record(w: &World) {
    let reader = user(11);
    let another = moved_in(w, 12, vec![(reader, ANNE)], 2_400).await;
    let storage = &another.storage;
    let all: Vec<FeedEntry> = (0..2_400)
        .rev()
        .map(|number| FeedEntry { note: NoteId::new(u64::from(number) + 1), written: minute(number) })
        .collect();
    let page = |from, most| storage.writing.feeds.page(reader, from, most, NOON);
    assert_eq!(page(Timestamp::MAX, 10).await.unwrap(), all[..10]);
    // Across the inbox's end, at its end, and below.
    for begin in [990, 995, 999, 1_000, 1_001, 1_500, 2_395] {
        let end = (begin + 10).min(2_400);
        assert_eq!(page(all[begin].written, 10).await.unwrap(), all[begin..end], "from {begin}");
    }
    // Pushed beyond the inbox's capacity: the oldest entries leave the inbox, not the feed.
    let mut newer = Vec::new();
    for number in 2_400..2_420 {
        newer.insert(0, publish(storage, ANNE, minute(number)).await);
    }
    let mut longer = newer;
    longer.extend(all);
    assert_eq!(feed(storage, reader).await, longer);
    for begin in [975, 980, 990, 1_000, 1_019] {
        assert_eq!(page(longer[begin].written, 10).await.unwrap(), longer[begin..begin + 10], "from {begin}");
    }
}

async fn an_author_with_many_fans_reaches_each_of_them(w: &World) {
    let fans = 10..5_100;
    let mut follows: Vec<_> = fans.clone().map(|fan| (user(fan), ANNE)).collect();
    follows.push((user(10), BOB));
    let another = moved_in(w, 5_100, follows, 3).await;
    let storage = &another.storage;
    let some = [10, 11, 2_000, 5_099].map(user);
    let mut all: Vec<FeedEntry> = (0..3)
        .rev()
        .map(|number| FeedEntry { note: NoteId::new(u64::from(number) + 1), written: minute(number) })
        .collect();
    for reader in some {
        assert_eq!(feed(storage, reader).await, all);
    }
    for number in 3..6 {
        all.insert(0, publish(storage, ANNE, minute(number)).await);
        for reader in some {
            assert_eq!(feed(storage, reader).await, all);
        }
    }
    let of_bob = publish(storage, BOB, minute(2)).await;
    let mut with_bob = all.clone();
    with_bob.push(of_bob);
    with_bob.sort_unstable();
    assert_eq!(feed(storage, user(10)).await, with_bob);
    assert_eq!(storage.writing.feeds.page(user(10), minute(4), 3, NOON).await.unwrap(), with_bob[1..4]);
    unfollow(storage, user(10), ANNE).await;
    assert_eq!(feed(storage, user(10)).await, [of_bob]);
    follow(storage, user(10), ANNE).await;
    assert_eq!(feed(storage, user(10)).await, with_bob);
    let another = another.reopen().await;
    assert_eq!(feed(&another.storage, user(10)).await, with_bob);
    let newest = publish(&another.storage, ANNE, minute(6)).await;
    assert_eq!(feed(&another.storage, user(10)).await[0], newest);
}

async fn a_note_that_was_not_passed_on_is_found(w: &World) {
    let storage = &w.storage;
    let reader = user(11);
    follow(storage, reader, ANNE).await;
    feed(storage, reader).await;
    let mut all = Vec::new();
    for number in 0..3 {
        let note = storage.writing.notes.insert(ANNE, &text("面"), minute(number)).await.unwrap();
        all.insert(0, FeedEntry { note, written: minute(number) });
    }
    let rest = |before, max| storage.writing.feeds.pass_on_the_rest(before, max, minute(9));
    assert_eq!(rest(minute(0), 10).await.unwrap(), 0, "written before, not at");
    assert_eq!(rest(minute(9), 1).await.unwrap(), 1);
    assert_eq!(feed(storage, reader).await, all[2..]);
    assert_eq!(rest(minute(9), 10).await.unwrap(), 2);
    assert_eq!(feed(storage, reader).await, all);
    publish(storage, ANNE, minute(4)).await;
    assert_eq!(rest(minute(9), 10).await.unwrap(), 0);
}

async fn an_inbox_ends_after_a_day_and_the_feed_does_not(w: &World) {
    let storage = &w.storage;
    let reader = user(11);
    follow(storage, reader, ANNE).await;
    let page = |now| storage.writing.feeds.page(reader, Timestamp::MAX, 10, now);
    assert_eq!(page(NOON).await.unwrap(), []);
    // The note is in the database without having been pushed: a refill adds missed notes to the inbox.
    let note = storage.writing.notes.insert(ANNE, &text("面"), minute(1)).await.unwrap();
    assert_eq!(page(NOON + DAY - HOUR).await.unwrap(), []);
    let missed = FeedEntry { note, written: minute(1) };
    assert_eq!(page(NOON + DAY).await.unwrap(), [missed]);
    let pushed = FeedEntry {
        note: storage.writing.notes.insert(ANNE, &text("面"), NOON + DAY).await.unwrap(),
        written: NOON + DAY,
    };
    storage.writing.feeds.pass_on(pushed, ANNE, NOON + DAY).await.unwrap();
    assert_eq!(page(NOON + DAY).await.unwrap(), [pushed, missed]);
    assert_eq!(page(NOON + DAY * 3).await.unwrap(), [pushed, missed]);
}

async fn a_feed_outlives_a_restart(w: &World) {
    let another = w.another().await;
    follow(&another.storage, BOB, ANNE).await;
    let first = publish(&another.storage, ANNE, minute(1)).await;
    assert_eq!(feed(&another.storage, BOB).await, [first]);
    let another = another.reopen().await;
    let second = publish(&another.storage, ANNE, minute(2)).await;
    assert_eq!(feed(&another.storage, BOB).await, [second, first]);
}
