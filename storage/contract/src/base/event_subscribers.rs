//! `EventSubscribers`: names, cursors, and events behind a new subscriber only.

use std::collections::BTreeSet;
use std::sync::Arc;

use mallbox_storage::{
    EventKind, EventTarget, NewSubscriber, SUBSCRIBER_ERROR_MAX_CHARS, SubscribeOutcome, Subscriber,
    SubscriberId,
};

use super::events::{numbered, subscribe};
use crate::world::{NOON, World};

crate::cases! {
    a_subscriber_is_listed_as_it_was_made,
    a_name_is_taken_once_and_the_number_is_limited,
    a_cursor_moves_only_from_where_it_is,
    of_many_moves_at_once_one_takes_place,
    a_paused_subscriber_keeps_events_coming,
    an_error_is_kept_until_a_success,
    an_unknown_subscriber_is_nobody,
    only_a_shared_server_has_streams,
}

async fn only(w: &World) -> Subscriber {
    let mut all = w.storage.base.event_subscribers.list().await.unwrap();
    assert_eq!(all.len(), 1);
    all.remove(0)
}

async fn write_notes(w: &World, notes: u64) {
    let text = mallbox_storage::NoteText {
        shop: mallbox_storage::ShopId::new(1),
        title: String::new(),
        images: String::new(),
        content: String::new(),
    };
    for _ in 0..notes {
        w.storage.writing.notes.insert(mallbox_storage::UserId::new(1), &text, NOON).await.unwrap();
    }
}

async fn a_subscriber_is_listed_as_it_was_made(w: &World) {
    let w = w.another().await;
    let log = subscribe(&w, "log").await;
    write_notes(&w, 3).await;
    numbered(&w, NOON).await;
    let target = EventTarget::Webhook {
        url: format!("https://example.com/{}", "x".repeat(1_900)),
        secret: "s".repeat(64),
    };
    let kinds = BTreeSet::from([EventKind::OrderPaid, EventKind::StockChanged]);
    let new = NewSubscriber { name: "erp".to_owned(), target, kinds };
    let made = w.storage.base.event_subscribers.subscribe(&new, 9, NOON).await.unwrap();
    let SubscribeOutcome::Subscribed(id) = made else { panic!("{made:?}") };
    assert!(id > log);
    let w = w.reopen().await;
    let listed = w.storage.base.event_subscribers.list().await.unwrap();
    let expected = Subscriber {
        id,
        name: new.name,
        target: new.target,
        kinds: new.kinds,
        cursor: 3,
        is_paused: false,
        lost: 0,
        error: None,
        created: NOON,
    };
    assert_eq!(listed[1], expected, "begins behind the newest event");
    let (first, second) = (&listed[0], &listed[1]);
    assert_eq!((first.id, first.cursor, first.wants(EventKind::NotePublished)), (log, 0, true));
    assert!(second.wants(EventKind::OrderPaid) && !second.wants(EventKind::NotePublished));
}

async fn a_name_is_taken_once_and_the_number_is_limited(w: &World) {
    let subscribers = &w.storage.base.event_subscribers;
    let first = subscribe(w, "a").await;
    let named = |name: &str| NewSubscriber {
        name: name.to_owned(),
        target: EventTarget::Stream,
        kinds: BTreeSet::default(),
    };
    let again = subscribers.subscribe(&named("a"), 9, NOON).await.unwrap();
    assert_eq!(again, SubscribeOutcome::NameTaken);
    assert_eq!(only(w).await.target, EventTarget::Log);
    assert_eq!(subscribers.subscribe(&named("b"), 1, NOON).await.unwrap(), SubscribeOutcome::TooMany);
    assert!(subscribers.unsubscribe(first).await.unwrap());
    let made = subscribers.subscribe(&named("a"), 1, NOON).await.unwrap();
    assert!(matches!(made, SubscribeOutcome::Subscribed(id) if id > first), "{made:?}");
}

async fn a_cursor_moves_only_from_where_it_is(w: &World) {
    let subscribers = &w.storage.base.event_subscribers;
    let id = subscribe(w, "a").await;
    assert!(subscribers.advance(id, 0, 5, 0).await.unwrap());
    assert!(!subscribers.advance(id, 0, 9, 7).await.unwrap(), "a second dispatcher was slower");
    let found = only(w).await;
    assert_eq!((found.cursor, found.lost), (5, 0));
    assert!(subscribers.advance(id, 5, 8, 2).await.unwrap());
    assert!(subscribers.advance(id, 8, 8, 1).await.unwrap());
    let found = only(w).await;
    assert_eq!((found.cursor, found.lost), (8, 3));
}

async fn of_many_moves_at_once_one_takes_place(w: &World) {
    let id = subscribe(w, "a").await;
    for round in 0..5 {
        let mut moves = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let subscribers = Arc::clone(&w.storage.base.event_subscribers);
            moves.spawn(async move { subscribers.advance(id, round, round + 1, 0).await.unwrap() });
        }
        assert_eq!(moves.join_all().await.into_iter().filter(|moved| *moved).count(), 1);
    }
    assert_eq!(only(w).await.cursor, 5);
}

async fn a_paused_subscriber_keeps_events_coming(w: &World) {
    let subscribers = &w.storage.base.event_subscribers;
    let id = subscribe(w, "a").await;
    for paused in [true, true] {
        assert!(subscribers.put_paused(id, paused).await.unwrap());
        assert!(only(w).await.is_paused);
    }
    write_notes(w, 1).await;
    assert_eq!(numbered(w, NOON).await.len(), 1);
    assert!(subscribers.put_paused(id, false).await.unwrap());
    assert!(!only(w).await.is_paused);
}

async fn an_error_is_kept_until_a_success(w: &World) {
    let subscribers = &w.storage.base.event_subscribers;
    let id = subscribe(w, "a").await;
    subscribers.report(id, "不通", NOON).await.unwrap();
    assert_eq!(only(w).await.error, Some(("不通".to_owned(), NOON)));
    subscribers.report(id, &"长".repeat(500), NOON).await.unwrap();
    let error = only(w).await.error.unwrap().0;
    assert_eq!(error.chars().count(), SUBSCRIBER_ERROR_MAX_CHARS);
    assert!(subscribers.advance(id, 0, 1, 0).await.unwrap());
    assert_eq!(only(w).await.error, None);
}

async fn an_unknown_subscriber_is_nobody(w: &World) {
    let subscribers = &w.storage.base.event_subscribers;
    let nobody = SubscriberId::new(99);
    assert!(!subscribers.unsubscribe(nobody).await.unwrap());
    assert!(!subscribers.put_paused(nobody, true).await.unwrap());
    assert!(!subscribers.advance(nobody, 0, 1, 0).await.unwrap());
    subscribers.report(nobody, "no", NOON).await.unwrap();
    assert_eq!(subscribers.list().await.unwrap(), []);
}

async fn only_a_shared_server_has_streams(w: &World) {
    subscribe(w, "a").await;
    write_notes(w, 2).await;
    let events = numbered(w, NOON).await;
    let streams = &w.storage.base.event_streams;
    for _ in 0..2 {
        let appended = streams.append("a", &events).await;
        assert_eq!(appended.is_ok(), streams.are_supported(), "{appended:?}");
    }
    streams.remove("a").await.unwrap();
    streams.remove("a").await.unwrap();
}
