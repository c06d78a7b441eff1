//! Steps on [`Events`](mallbox_storage::Events) and [`EventSubscribers`](mallbox_storage::EventSubscribers).
//! The steps on orders, payments, stocks and reviews write the events.

use std::collections::BTreeSet;
use std::time::Duration;

use mallbox_storage::{
    EVENTS_MAX, EventKind, EventPage, EventTarget, NewSubscriber, Order, Storage, SubscribeOutcome,
    Subscriber, SubscriberId, Timestamp, Transition as Move,
};

use crate::dice::Dice;
use crate::normal::said;
use crate::orders::order;
use crate::scene::{Scene, minutes};
use crate::step::Side;

/// Names of subscribers: a store could confuse them.
const NAMES: [&str; 5] = ["erp", "Erp", "erp.", "till-1", "till_1"];
/// Readers, each with a position of its own.
const READERS: [&str; 2] = ["tail", "browser"];

#[derive(Clone, Debug)]
pub enum EventStep {
    /// A list follows each change, as the relay reads one every second: with the first and the last
    /// subscriber a process begins and ends to write events.
    Subscribe(NewSubscriber, u32, Timestamp),
    Unsubscribe(&'static str),
    Pause(&'static str, bool),
    Report(&'static str, String, Timestamp),
    /// Moves a cursor that is, or is not, `off` behind the one expected.
    Advance {
        name: &'static str,
        off: u64,
        by: u64,
        lost: u64,
    },
    Number(u32, Timestamp),
    /// Numbers all events due, and hands a page over to each subscriber that is not paused.
    Relay(u32, Timestamp),
    /// Two purchases, of which the first may be cancelled. Five minutes before their deadlines, their
    /// reminders are numbered, with everything else due or after it.
    Remind {
        orders: [Order; 2],
        is_cancelled: bool,
        is_apart: bool,
    },
    /// A page behind any position.
    After(u64, u32),
    /// The next page of a reader.
    ReadOn(&'static str, u32),
    Prune(Timestamp, u32),
    /// At the instant of the oldest event, and a millisecond later.
    PruneOldest(u32),
    Counts,
}

fn subscriber(dice: &mut Dice) -> NewSubscriber {
    let target = match dice.below(3) {
        0 => EventTarget::Log,
        1 => EventTarget::Stream,
        _ => EventTarget::Webhook { url: "https://e.example/键?k=%1".to_owned(), secret: "s ".to_owned() },
    };
    let kinds: BTreeSet<EventKind> =
        (0..dice.pick(&[0, 0, 1, 3])).map(|_| dice.pick(&EventKind::ALL)).collect();
    NewSubscriber { name: dice.pick(&NAMES).to_owned(), target, kinds }
}

impl EventStep {
    pub fn roll(dice: &mut Dice, scene: &mut Scene) -> Self {
        let (now, name) = (scene.now, dice.pick(&NAMES));
        let max = dice.pick(&[0, 1, 3, 10, EVENTS_MAX, u32::MAX]);
        match dice.below(100) {
            0..16 => Self::Subscribe(subscriber(dice), dice.pick(&[0, 2, 9, 9]), now),
            16..20 => Self::Unsubscribe(name),
            20..26 => Self::Pause(name, dice.chance(50)),
            26..32 => {
                let error = dice.pick(&["", "拒绝\n", "no route"]).repeat(dice.pick(&[1, 150]));
                Self::Report(name, error, now)
            }
            32..40 => Self::Advance {
                name,
                off: dice.pick(&[0, 0, 0, 1]),
                by: dice.below(4),
                lost: dice.pick(&[0, 0, 7]),
            },
            40..50 => Self::Number(max, now),
            50..65 => Self::Relay(max, now),
            65..75 => Self::Remind {
                orders: [order(dice, scene), order(dice, scene)],
                is_cancelled: dice.chance(40),
                is_apart: dice.chance(40),
            },
            75..81 => {
                let position = dice.pick(&[0, 1, 5, 20, 1_000, i64::MAX as u64, u64::MAX]);
                Self::After(position, max)
            }
            81..91 => Self::ReadOn(dice.pick(&READERS), max),
            91..94 => Self::Prune(scene.instant(dice), dice.pick(&[0, 1, 5, 100])),
            94..97 => Self::PruneOldest(dice.pick(&[1, 5, 100])),
            _ => Self::Counts,
        }
    }

    pub async fn take(&self, side: &mut Side) -> String {
        let (events, subscribers) =
            (side.storage.base.events.clone(), side.storage.base.event_subscribers.clone());
        match self {
            Self::Subscribe(subscriber, most, now) => {
                let outcome = subscribers.subscribe(subscriber, *most, *now).await;
                let listed = list(&side.storage).await;
                format!("{}, {listed}", said(outcome.map(without_id)))
            }
            Self::Unsubscribe(name) => {
                let gone = said(subscribers.unsubscribe(id(side, name).await).await);
                format!("{gone}, {}", list(&side.storage).await)
            }
            Self::Pause(name, paused) => said(subscribers.put_paused(id(side, name).await, *paused).await),
            Self::Report(name, error, now) => {
                said(subscribers.report(id(side, name).await, error, *now).await)
            }
            Self::Advance { name, off, by, lost } => {
                let (id, cursor) = match named(side, name).await {
                    Some(Subscriber { id, cursor, .. }) => (id, cursor),
                    None => (SubscriberId::new(404), 0),
                };
                said(subscribers.advance(id, cursor + off, cursor + by, *lost).await)
            }
            Self::Number(max, now) => said(events.number(*max, *now).await),
            Self::Relay(max, now) => relay(side, *max, *now).await,
            Self::Remind { orders, is_cancelled, is_apart } => {
                remind(side, orders, *is_cancelled, *is_apart).await
            }
            Self::After(position, max) => said(events.after(*position, *max).await),
            Self::ReadOn(reader, max) => {
                let position = side.readers.entry(reader).or_default();
                let page = events.after(*position, *max).await;
                *position = page.as_ref().map_or(*position, |page| end_of(page, *position));
                said(page)
            }
            Self::Prune(before, max) => said(events.prune(*before, *max).await),
            Self::PruneOldest(max) => {
                let page = events.after(0, 1).await.unwrap();
                let Some(oldest) = page.events.first() else { return "none".into() };
                let later = oldest.at + Duration::from_millis(1);
                let (at, after) = (events.prune(oldest.at, *max).await, events.prune(later, *max).await);
                format!("{}, {}", said(at), said(after))
            }
            Self::Counts => said(events.counts().await),
        }
    }
}

async fn remind(side: &Side, both: &[Order; 2], is_cancelled: bool, is_apart: bool) -> String {
    let (orders, events) = (&side.storage.selling.orders, &side.storage.base.events);
    let mut done = String::new();
    for order in both {
        done += &said(orders.insert(order, None, None).await);
    }
    let Order { id, created, deadline, .. } = both[0];
    if is_cancelled {
        done += &said(orders.step(id, Move::Cancel, created).await);
    }
    let due = deadline - minutes(5);
    if is_apart {
        done += &said(events.number(EVENTS_MAX, due - Duration::from_millis(1)).await);
    }
    done + &said(events.number(EVENTS_MAX, due).await)
}

async fn relay(side: &Side, max: u32, now: Timestamp) -> String {
    let base = &side.storage.base;
    let mut done = said(base.events.number(EVENTS_MAX, now).await);
    for subscriber in base.event_subscribers.list().await.unwrap() {
        if subscriber.is_paused {
            continue;
        }
        let Subscriber { id, name, cursor, .. } = subscriber;
        let page = base.events.after(cursor, max).await.unwrap();
        let moved = base.event_subscribers.advance(id, cursor, end_of(&page, cursor), page.lost).await;
        done += &format!(", {name}: {page:?}, {}", said(moved));
    }
    done
}

/// Returns the position up to which a page reaches, as the dispatcher's.
fn end_of(page: &EventPage, position: u64) -> u64 {
    page.events.last().map_or(page.ends.pruned, |event| event.position).max(position)
}

/// Failed transactions leave gaps in the ids: only their order counts.
fn without_id(outcome: SubscribeOutcome) -> SubscribeOutcome {
    match outcome {
        SubscribeOutcome::Subscribed(_) => SubscribeOutcome::Subscribed(SubscriberId::new(0)),
        other => other,
    }
}

async fn named(side: &Side, name: &str) -> Option<Subscriber> {
    let all = side.storage.base.event_subscribers.list().await.unwrap();
    all.into_iter().find(|subscriber| subscriber.name == name)
}

async fn id(side: &Side, name: &str) -> SubscriberId {
    named(side, name).await.map_or(SubscriberId::new(404), |subscriber| subscriber.id)
}

/// Returns all subscribers, with URL and secret, in the order of their ids.
pub async fn list(storage: &Storage) -> String {
    let listed = storage.base.event_subscribers.list().await;
    said(listed.map(|all| all.into_iter().map(as_text).collect::<Vec<_>>()))
}

fn as_text(subscriber: Subscriber) -> String {
    let (url, secret) = match &subscriber.target {
        EventTarget::Webhook { url, secret } => (url.clone(), secret.clone()),
        EventTarget::Log | EventTarget::Stream => Default::default(),
    };
    format!("{:?} {url} {secret}", Subscriber { id: SubscriberId::new(0), ..subscriber })
}

/// Returns everything stored of events.
pub async fn all(storage: &Storage) -> Vec<String> {
    let events = &storage.base.events;
    let mut lines = vec![
        format!("subscribers: {}", list(storage).await),
        format!("counts of events: {}", said(events.counts().await)),
    ];
    let mut position = 0;
    loop {
        let page = events.after(position, EVENTS_MAX).await;
        let end = page.as_ref().map_or(position, |page| end_of(page, position));
        lines.push(format!("events behind {position}: {}", said(page)));
        if end == position {
            return lines;
        }
        position = end;
    }
}
