//! `Feeds` against plain collections: step by step, and in a rush.

use std::collections::{BTreeMap, BTreeSet};

use mallbox_storage::{FeedEntry, Timestamp, UserId, Visibility};

use crate::dice::Dice;
use crate::world::{NOON, World};
use crate::writing::feeds::{follow, minute, publish, unfollow, user};

crate::cases! {
    random_steps_agree_with_plain_collections,
    after_a_rush_every_feed_is_what_the_record_says,
}

const PEOPLE: u64 = 6;
/// Number of earlier notes that a follow brings into an inbox.
const BROUGHT_IN: usize = 20;

/// All notes by author, and all follows with their start.
#[derive(Default)]
struct Model {
    notes: BTreeMap<UserId, BTreeSet<FeedEntry>>,
    unseen: BTreeSet<FeedEntry>,
    follows: BTreeMap<(UserId, UserId), Timestamp>,
}

impl Model {
    fn follow(&mut self, reader: UserId, author: UserId) {
        let seen =
            self.notes.get(&author).into_iter().flatten().filter(|entry| !self.unseen.contains(*entry));
        let since = seen.map(|entry| entry.written).nth(BROUGHT_IN - 1).unwrap_or(Timestamp::from_millis(0));
        self.follows.entry((reader, author)).or_insert(since);
    }

    fn feed(&self, reader: UserId) -> Vec<FeedEntry> {
        let of = self.follows.iter().filter(|((who, _), _)| *who == reader);
        let entries = of.flat_map(|((_, author), since)| {
            self.notes.get(author).into_iter().flatten().filter(move |entry| entry.written >= *since)
        });
        entries.copied().collect::<BTreeSet<_>>().into_iter().collect()
    }
}

async fn random_steps_agree_with_plain_collections(w: &World) {
    let storage = &w.storage;
    let mut dice = Dice::from_environment("feeds");
    let mut model = Model::default();
    for step in 0..400_u32 {
        let (one, other) = (user(1 + dice.below(PEOPLE)), user(1 + dice.below(PEOPLE)));
        match dice.below(10) {
            0 | 1 if one != other => {
                follow(storage, one, other).await;
                model.follow(one, other);
            }
            2 => {
                unfollow(storage, one, other).await;
                model.follows.remove(&(one, other));
            }
            3 => {
                let entries: Vec<FeedEntry> = model.notes.values().flatten().copied().collect();
                if let Some(entry) = entries.get(usize::try_from(dice.below(64)).unwrap()) {
                    storage
                        .writing
                        .notes
                        .put_visibility(entry.note, Visibility::Deleted, NOON)
                        .await
                        .unwrap();
                    model.unseen.insert(*entry);
                }
            }
            4..8 => {
                // Clocks of instances differ: not every note is the newest.
                let at = minute(step / 8 * 2 + u32::try_from(dice.below(3)).unwrap());
                let entry = publish(storage, one, at).await;
                model.notes.entry(one).or_default().insert(entry);
            }
            _ => {
                let (from, most) = (minute(u32::try_from(dice.below(120)).unwrap()), dice.below(30));
                let want: Vec<FeedEntry> =
                    model.feed(one).into_iter().filter(|entry| entry.written <= from).collect();
                let want = &want[..want.len().min(usize::try_from(most).unwrap())];
                let most = u32::try_from(most).unwrap();
                assert_eq!(
                    storage.writing.feeds.page(one, from, most, NOON).await.unwrap(),
                    want,
                    "step {step}"
                );
            }
        }
    }
    for reader in (1..=PEOPLE).map(user) {
        assert_eq!(crate::writing::feeds::feed(storage, reader).await, model.feed(reader));
    }
}

/// Concurrent writers, readers and followers: afterwards an inbox equals a fresh one.
async fn after_a_rush_every_feed_is_what_the_record_says(w: &World) {
    let mut rush = tokio::task::JoinSet::new();
    for author in (1..=3).map(user) {
        let storage = w.storage.clone();
        rush.spawn(async move {
            for number in 0..40 {
                publish(&storage, author, minute(number)).await;
            }
        });
    }
    for reader in (11..=16).map(user) {
        let storage = w.storage.clone();
        rush.spawn(async move {
            let mut dice = Dice::new(reader.get());
            for _ in 0..25 {
                let author = user(1 + dice.below(3));
                if dice.chance(60) {
                    follow(&storage, reader, author).await;
                } else {
                    unfollow(&storage, reader, author).await;
                }
                let feed = storage.writing.feeds.page(reader, Timestamp::MAX, 500, NOON).await.unwrap();
                assert!(feed.is_sorted() && feed.windows(2).all(|pair| pair[0] != pair[1]));
            }
        });
    }
    while let Some(done) = rush.join_next().await {
        done.unwrap();
    }
    for reader in (11..=16).map(user) {
        let pushed = crate::writing::feeds::feed(&w.storage, reader).await;
        w.storage.writing.feeds.refresh(reader).await.unwrap();
        assert_eq!(pushed, crate::writing::feeds::feed(&w.storage, reader).await, "{reader}");
        let mut all = 0;
        for author in (1..=3).map(user) {
            if w.storage.people.follows.is_following(reader, author).await.unwrap() {
                all += 1;
                let newest = w
                    .storage
                    .writing
                    .notes
                    .of_author(author, mallbox_storage::Page::new(1, 20))
                    .await
                    .unwrap();
                let missing = newest.iter().filter(|note| !pushed.iter().any(|entry| entry.note == note.id));
                assert_eq!(missing.count(), 0, "{reader} of {author}");
            }
        }
        assert_eq!(all == 0, pushed.is_empty());
    }
}
