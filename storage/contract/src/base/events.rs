//! `Events`: written with their change, numbered without gaps, and in order per key.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mallbox_storage::{
    Cents, DeadReason, EVENTS_MAX, EventKind, EventTarget, LogPosition, LoggedClaim, NewSubscriber, NoteText,
    Order, OrderId, PAYMENT_DUE_BEFORE, PaymentMode, ReplayOutcome, ShopId, StockChange, StoredEvent,
    SubscribeOutcome, SubscriberId, Timestamp, Transition, TransitionOutcome, UserId,
};

use crate::selling::orders::persist;
use crate::world::{HOUR, NOON, TOKEN, World, claim, letters};
use crate::writing::reviews;

crate::cases! {
    without_a_subscriber_nothing_is_written,
    every_change_of_an_order_writes_its_event,
    notes_reviews_and_stock_write_their_events,
    a_purchase_and_a_revived_claim_are_accepted_once,
    a_change_that_does_not_take_place_leaves_no_event,
    events_have_no_position_until_they_are_numbered,
    a_delayed_event_waits_for_its_instant_and_for_an_unpaid_order,
    a_rush_of_writers_leaves_no_gap_and_no_event_behind_a_reader,
    events_of_one_order_are_numbered_in_the_order_of_its_steps,
    pruned_events_are_counted_and_their_positions_not_used_again,
    events_outlive_a_restart,
}

/// Subscribes a log with the given name.
pub async fn subscribe(w: &World, name: &str) -> SubscriberId {
    let log = NewSubscriber { name: name.to_owned(), target: EventTarget::Log, kinds: BTreeSet::default() };
    match w.storage.base.event_subscribers.subscribe(&log, 9, NOON).await.unwrap() {
        SubscribeOutcome::Subscribed(subscriber) => subscriber,
        refused => panic!("{refused:?}"),
    }
}

/// Numbers everything due at `now`, and returns all events.
pub async fn numbered(w: &World, now: Timestamp) -> Vec<StoredEvent> {
    while w.storage.base.events.number(EVENTS_MAX, now).await.unwrap() > 0 {}
    let mut all: Vec<StoredEvent> = Vec::new();
    loop {
        let behind = all.last().map_or(0, |event| event.position);
        let page = w.storage.base.events.after(behind, EVENTS_MAX).await.unwrap();
        if page.events.is_empty() {
            return all;
        }
        all.extend(page.events);
    }
}

/// Returns kind and subject of each event.
fn brief(events: &[StoredEvent]) -> Vec<(EventKind, u64)> {
    events.iter().map(|event| (event.kind, event.subject)).collect()
}

/// Writes a note of the given author.
async fn write_note(w: &World, author: u64) -> u64 {
    let text = NoteText {
        shop: ShopId::new(7),
        title: "好店".to_owned(),
        images: String::new(),
        content: "好吃。".to_owned(),
    };
    w.storage.writing.notes.insert(UserId::new(author), &text, NOON).await.unwrap().get()
}

async fn step(w: &World, order: OrderId, step: Transition, now: Timestamp) {
    let stepped = w.storage.selling.orders.step(order, step, now).await.unwrap();
    assert!(matches!(stepped, TransitionOutcome::Done(_)), "{step:?} {stepped:?}");
}

async fn pay(w: &World, order: OrderId, now: Timestamp) {
    let payment = w.storage.selling.payments.start(order, Cents::new(1), now).await.unwrap();
    step(w, order, Transition::Pay(payment.id), now).await;
}

async fn without_a_subscriber_nothing_is_written(w: &World) {
    let voucher = w.sale(Some(9)).await;
    persist(w, &[claim(voucher, 1, 1)]).await;
    write_note(w, 1).await;
    assert_eq!(numbered(w, NOON + HOUR).await, []);
    let subscriber = subscribe(w, "one").await;
    let kept = write_note(w, 1).await;
    assert!(w.storage.base.event_subscribers.unsubscribe(subscriber).await.unwrap());
    assert!(w.storage.base.event_subscribers.list().await.unwrap().is_empty());
    write_note(w, 1).await;
    step(w, claim(voucher, 1, 1).order, Transition::Cancel, NOON).await;
    assert_eq!(brief(&numbered(w, NOON + HOUR).await), [(EventKind::NotePublished, kept)]);
}

async fn every_change_of_an_order_writes_its_event(w: &World) {
    subscribe(w, "one").await;
    let voucher = w.sale(Some(9)).await;
    let orders: Vec<OrderId> = (1..=3).map(|user| claim(voucher, user, user).order).collect();
    persist(w, &[1, 2, 3].map(|user| claim(voucher, user, user))).await;
    let later = NOON + Duration::from_secs(60);
    pay(w, orders[0], later).await;
    step(w, orders[0], Transition::Use, later).await;
    let cancelled = w.storage.selling.orders.cancel(&orders[1..2], later).await.unwrap();
    assert!(matches!(cancelled[..], [TransitionOutcome::Done(_)]));
    pay(w, orders[2], later).await;
    step(w, orders[2], Transition::StartRefund, later).await;
    step(w, orders[2], Transition::FinishRefund, later).await;
    let events = numbered(w, NOON + HOUR).await;
    let mut found: BTreeMap<u64, Vec<EventKind>> = BTreeMap::new();
    for event in &events {
        found.entry(event.subject).or_default().push(event.kind);
    }
    use EventKind::{OrderAccepted, OrderCancelled, OrderPaid, OrderRefunded, OrderUsed};
    let expected = [
        (orders[0], vec![OrderAccepted, OrderPaid, OrderUsed]),
        (orders[1], vec![OrderAccepted, OrderCancelled]),
        (orders[2], vec![OrderAccepted, OrderPaid, OrderRefunded]),
    ];
    let expected = expected.map(|(order, kinds)| (order.get(), kinds));
    assert_eq!(found, BTreeMap::from(expected));
    let (accepted, paid) = (&events[0], &events[3]);
    assert_eq!((accepted.kind, accepted.at), (OrderAccepted, NOON));
    let deadline = (NOON + Duration::from_secs(900)).as_millis();
    let head = format!("{{\"orderId\":\"{}\",\"voucherId\":\"{voucher}\",\"userId\":\"1\"", orders[0]);
    assert!(accepted.body.starts_with(&format!("{head},\"status\":1,\"payValue\":")), "{}", accepted.body);
    assert!(accepted.body.ends_with(&format!(",\"deadlineMs\":{deadline}}}")), "{}", accepted.body);
    assert_eq!((paid.kind, paid.at, paid.key()), (OrderPaid, later, format!("order/{}", orders[0])));
    assert!(paid.body.starts_with(&format!("{head},\"status\":2,\"payValue\":")), "{}", paid.body);
}

async fn notes_reviews_and_stock_write_their_events(w: &World) {
    let (author, shop) = (reviews::user(w, 1).await, reviews::shop(w).await);
    let voucher = w.sale(Some(9)).await;
    subscribe(w, "one").await;
    let note = write_note(w, 5).await;
    let review = reviews::demo(w, shop, author, reviews::text(45), 0).await;
    let change = StockChange { asked: -4, by: -4, request: None };
    let _ = w
        .storage
        .catalogue
        .vouchers
        .change_stock(voucher, &change, TOKEN, NOON)
        .await
        .unwrap()
        .done()
        .unwrap();
    let events = numbered(w, NOON).await;
    let found: Vec<(String, String)> = events.iter().map(|event| (event.key(), event.body.clone())).collect();
    assert_eq!(
        found,
        [
            (format!("note/{note}"), format!("{{\"noteId\":\"{note}\",\"userId\":\"5\",\"shopId\":\"7\"}}")),
            (
                format!("review/{review}"),
                format!(
                    "{{\"reviewId\":\"{review}\",\"userId\":\"{author}\",\"shopId\":\"{shop}\",\"stars\":4.5}}"
                )
            ),
            (
                format!("voucher/{voucher}"),
                format!("{{\"voucherId\":\"{voucher}\",\"change\":-4,\"stock\":5,\"units\":5}}")
            ),
        ]
    );
}

async fn purchase(w: &World, number: u64, deadline: Timestamp) -> Order {
    Order {
        id: OrderId::new(number),
        voucher: w.ordinary_voucher().await,
        user: UserId::new(1),
        status: PaymentMode::Sandbox.first_status(),
        pay_value: Cents::new(100),
        pay_type: 1,
        payment: PaymentMode::Sandbox,
        created: NOON,
        deadline,
        paid: None,
        used: None,
        refunded: None,
    }
}

async fn a_purchase_and_a_revived_claim_are_accepted_once(w: &World) {
    subscribe(w, "one").await;
    let order = purchase(w, 77, NOON + PAYMENT_DUE_BEFORE).await;
    for _ in 0..2 {
        let _ = w.storage.selling.orders.insert(&order, Some("a"), None).await.unwrap();
        let _ = w.storage.selling.orders.insert(&order, None, None).await.unwrap();
    }
    assert_eq!(brief(&numbered(w, NOON).await), [(EventKind::OrderAccepted, 77)]);
    let voucher = w.sale(Some(9)).await;
    let position = LogPosition { major: 1, minor: 0 };
    let logged = LoggedClaim { claim: claim(voucher, 1, 1), position, attempts: 0 };
    let orders = &w.storage.selling.orders;
    orders.insert_dead_letter(&logged, DeadReason::Refused, "no", NOON).await.unwrap();
    assert_eq!(numbered(w, NOON).await.len(), 1, "a dead letter is no order");
    let letter = letters(w).await[0].id;
    for _ in 0..2 {
        let revived = w.storage.selling.dead_letters.replay(letter, NOON).await.unwrap();
        assert!(matches!(revived, ReplayOutcome::Order(_)), "{revived:?}");
    }
    let events = brief(&numbered(w, NOON).await);
    assert_eq!(events[1..], [(EventKind::OrderAccepted, logged.claim.order.get())]);
}

async fn a_change_that_does_not_take_place_leaves_no_event(w: &World) {
    let voucher = w.sale(Some(1)).await;
    persist(w, &[claim(voucher, 1, 1)]).await;
    let order = claim(voucher, 1, 1).order;
    step(w, order, Transition::Cancel, NOON).await;
    subscribe(w, "one").await;
    persist(w, &[claim(voucher, 1, 1)]).await;
    let again = w.storage.selling.orders.step(order, Transition::Cancel, NOON).await.unwrap();
    assert!(matches!(again, TransitionOutcome::Stands(_)));
    let both = w.storage.selling.orders.cancel(&[order, OrderId::new(5)], NOON).await.unwrap();
    assert!(!both.iter().any(|stepped| matches!(stepped, TransitionOutcome::Done(_))));
    // The payment is of no order: the status is compared first, and the whole step is rolled back.
    let unpaid = purchase(w, 78, NOON + PAYMENT_DUE_BEFORE).await;
    let _ = w.storage.selling.orders.insert(&unpaid, None, None).await.unwrap();
    let paid = Transition::Pay(mallbox_storage::PaymentId::new(99));
    assert!(w.storage.selling.orders.step(unpaid.id, paid, NOON).await.is_err());
    let of_sale = Order { voucher, id: OrderId::new(79), ..unpaid };
    assert!(w.storage.selling.orders.insert(&of_sale, None, None).await.is_err());
    // The second claim finds no unit left.
    persist(w, &[claim(voucher, 2, 2), claim(voucher, 3, 3)]).await;
    assert_eq!(letters(w).await.len(), 1);
    let events = brief(&numbered(w, NOON).await);
    let accepted = |order: u64| (EventKind::OrderAccepted, order);
    assert_eq!(events, [accepted(78), accepted(claim(voucher, 2, 2).order.get())]);
}

async fn events_have_no_position_until_they_are_numbered(w: &World) {
    subscribe(w, "one").await;
    for author in 1..=5 {
        write_note(w, author).await;
    }
    let events = &w.storage.base.events;
    assert_eq!(events.after(0, 9).await.unwrap().events, []);
    assert_eq!(events.counts().await.unwrap().waiting, 5);
    assert_eq!(events.number(2, NOON).await.unwrap(), 2);
    let page = events.after(0, 9).await.unwrap();
    assert_eq!((page.events.len(), page.lost, page.ends.head, page.ends.pruned), (2, 0, 2, 0));
    assert_eq!(events.number(9, NOON).await.unwrap(), 3);
    assert_eq!(events.number(9, NOON).await.unwrap(), 0);
    let positions = |events: &[StoredEvent]| events.iter().map(|event| event.position).collect::<Vec<_>>();
    assert_eq!(positions(&events.after(1, 3).await.unwrap().events), [2, 3, 4]);
    assert_eq!(positions(&events.after(4, 3).await.unwrap().events), [5]);
    assert_eq!(events.after(5, 3).await.unwrap().events, []);
    assert_eq!(events.after(u64::MAX, 3).await.unwrap().events, []);
    let counts = events.counts().await.unwrap();
    assert_eq!((counts.ends.head, counts.waiting), (5, 0));
    let ids: BTreeSet<String> = numbered(w, NOON).await.iter().map(StoredEvent::id).collect();
    assert_eq!(ids.len(), 5);
}

async fn a_delayed_event_waits_for_its_instant_and_for_an_unpaid_order(w: &World) {
    subscribe(w, "one").await;
    let voucher = w.sale(Some(9)).await;
    persist(w, &[1, 2, 3].map(|user| claim(voucher, user, user))).await;
    let order = |user: u64| claim(voucher, user, user).order;
    let due = NOON + Duration::from_secs(900) - PAYMENT_DUE_BEFORE;
    pay(w, order(1), NOON).await;
    assert_eq!(numbered(w, due - Duration::from_millis(1)).await.len(), 4);
    step(w, order(2), Transition::Cancel, NOON).await;
    let events = numbered(w, due).await;
    let reminders: Vec<u64> = events
        .iter()
        .filter(|event| event.kind == EventKind::PaymentDue)
        .map(|event| event.subject)
        .collect();
    assert_eq!(reminders, [order(3).get()], "neither the paid nor the cancelled order");
    assert_eq!(events.len(), 6);
    assert_eq!(w.storage.base.events.number(9, due + HOUR).await.unwrap(), 0, "the others are gone");
    // Written late, a reminder still comes behind the acceptance.
    persist(w, &[claim(voucher, 4, 4)]).await;
    let events = numbered(w, due).await;
    let of_order = events.iter().filter(|event| event.subject == order(4).get()).map(|event| event.kind);
    assert_eq!(of_order.collect::<Vec<_>>(), [EventKind::OrderAccepted, EventKind::PaymentDue]);
}

async fn a_rush_of_writers_leaves_no_gap_and_no_event_behind_a_reader(w: &World) {
    const WRITERS: u64 = 8;
    const NOTES: u64 = 60;
    subscribe(w, "one").await;
    let is_over = Arc::new(AtomicBool::new(false));
    let mut relays = tokio::task::JoinSet::new();
    for _ in 0..2 {
        let (events, is_over) = (Arc::clone(&w.storage.base.events), Arc::clone(&is_over));
        relays.spawn(async move {
            let mut seen: Vec<u64> = Vec::new();
            loop {
                // Read first: what was written before the end is numbered by this round.
                let is_last = is_over.load(Ordering::Acquire);
                let settled = events.number(7, NOON).await.unwrap();
                let behind = u64::try_from(seen.len()).unwrap();
                seen.extend(
                    events.after(behind, 50).await.unwrap().events.iter().map(|event| event.position),
                );
                if is_last && settled == 0 {
                    return seen;
                }
            }
        });
    }
    let mut writers = tokio::task::JoinSet::new();
    for writer in 1..=WRITERS {
        let notes = Arc::clone(&w.storage.writing.notes);
        writers.spawn(async move {
            let text = NoteText {
                shop: ShopId::new(writer),
                title: String::new(),
                images: String::new(),
                content: String::new(),
            };
            let mut written = Vec::new();
            for _ in 0..NOTES {
                written.push(notes.insert(UserId::new(writer), &text, NOON).await.unwrap().get());
            }
            written
        });
    }
    let written: BTreeSet<u64> = writers.join_all().await.into_iter().flatten().collect();
    is_over.store(true, Ordering::Release);
    for seen in relays.join_all().await {
        let gapless: Vec<u64> = (1..=u64::try_from(seen.len()).unwrap()).collect();
        assert_eq!(seen, gapless, "a reader saw every position, in order");
    }
    let events = numbered(w, NOON).await;
    assert_eq!(events.len() as u64, WRITERS * NOTES);
    assert_eq!(events.last().unwrap().position, WRITERS * NOTES);
    assert_eq!(events.iter().map(|event| event.subject).collect::<BTreeSet<_>>(), written);
}

async fn events_of_one_order_are_numbered_in_the_order_of_its_steps(w: &World) {
    const ORDERS: u64 = 40;
    subscribe(w, "one").await;
    let voucher = w.sale(Some(ORDERS)).await;
    let is_over = Arc::new(AtomicBool::new(false));
    let relay = {
        let (events, is_over) = (Arc::clone(&w.storage.base.events), Arc::clone(&is_over));
        tokio::spawn(async move {
            while !is_over.load(Ordering::Acquire) {
                events.number(3, NOON).await.unwrap();
            }
        })
    };
    let claims: Vec<_> = (1..=ORDERS).map(|user| claim(voucher, user, user)).collect();
    persist(w, &claims).await;
    let mut buyers = tokio::task::JoinSet::new();
    for claim in claims {
        let (orders, payments) =
            (Arc::clone(&w.storage.selling.orders), Arc::clone(&w.storage.selling.payments));
        buyers.spawn(async move {
            let payment = payments.start(claim.order, Cents::new(1), NOON).await.unwrap().id;
            for step in [Transition::Pay(payment), Transition::StartRefund, Transition::FinishRefund] {
                let stepped = orders.step(claim.order, step, NOON).await.unwrap();
                assert!(matches!(stepped, TransitionOutcome::Done(_)));
            }
        });
    }
    buyers.join_all().await;
    is_over.store(true, Ordering::Release);
    relay.await.unwrap();
    let mut found: BTreeMap<u64, Vec<EventKind>> = BTreeMap::new();
    for event in numbered(w, NOON).await {
        found.entry(event.subject).or_default().push(event.kind);
    }
    assert_eq!(found.len() as u64, ORDERS);
    for (order, kinds) in found {
        let steps = [EventKind::OrderAccepted, EventKind::OrderPaid, EventKind::OrderRefunded];
        assert_eq!(kinds, steps, "{order}");
    }
}

async fn pruned_events_are_counted_and_their_positions_not_used_again(w: &World) {
    subscribe(w, "one").await;
    let events = &w.storage.base.events;
    let voucher = w.sale(Some(9)).await;
    for _ in 0..4 {
        write_note(w, 1).await;
    }
    let change = StockChange { asked: 1, by: 1, request: None };
    let _ = w
        .storage
        .catalogue
        .vouchers
        .change_stock(voucher, &change, TOKEN, NOON + HOUR)
        .await
        .unwrap()
        .done()
        .unwrap();
    numbered(w, NOON).await;
    assert_eq!(events.prune(NOON, 9).await.unwrap(), 0);
    let old = NOON + Duration::from_millis(1);
    assert_eq!(events.prune(old, 3).await.unwrap(), 3);
    let page = events.after(1, 9).await.unwrap();
    assert_eq!((page.events[0].position, page.lost, page.ends.pruned, page.ends.head), (4, 2, 3, 5));
    assert_eq!(events.after(3, 9).await.unwrap().lost, 0);
    assert_eq!(events.prune(old, 9).await.unwrap(), 1);
    assert_eq!(events.prune(old, 9).await.unwrap(), 0);
    assert_eq!(events.prune(NOON + 2 * HOUR, 9).await.unwrap(), 1);
    let page = events.after(2, 9).await.unwrap();
    assert_eq!((page.events.len(), page.lost, page.ends.head, page.ends.pruned), (0, 3, 5, 5));
    write_note(w, 1).await;
    let events = numbered(w, NOON).await;
    assert_eq!(events.iter().map(|event| event.position).collect::<Vec<_>>(), [6]);
}

async fn events_outlive_a_restart(w: &World) {
    let w = w.another().await;
    subscribe(&w, "one").await;
    let first = write_note(&w, 1).await;
    numbered(&w, NOON).await;
    let second = write_note(&w, 1).await;
    let w = w.reopen().await;
    let third = write_note(&w, 1).await;
    let expected = [first, second, third].map(|note| (EventKind::NotePublished, note));
    assert_eq!(brief(&numbered(&w, NOON).await), expected);
    let w = w.reopen().await;
    assert_eq!(brief(&numbered(&w, NOON).await), expected);
}
