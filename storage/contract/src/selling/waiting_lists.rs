//! `WaitingLists`: places in order of joining, and units that become orders once.

use mallbox_storage::{
    Claim, ClaimOutcome, DeleteOutcome, FirstToJoin, JoinOutcome, OrderId, OrderStatus, OutboxEntry,
    PaidOrders, Phone, PromoteOutcome, ReleaseOutcome, ReserveOutcome, SaleUnits, StockChange, Terms,
    Timestamp, Transition, TransitionOutcome, UserId, VoucherId, WaitingEntry, WaitingPlace, WaitingState,
};
use tokio::task::JoinSet;

use crate::selling::orders::stock;
use crate::world::{HOUR, NOON, TOKEN, World, claim};

crate::cases! {
    users_wait_in_the_order_of_joining,
    a_list_has_a_maximum_and_an_end,
    only_a_first_user_begins_the_waiting,
    while_users_wait_claims_find_no_unit,
    an_offer_becomes_an_order_with_its_own_deadline_once,
    a_user_who_may_not_buy_is_dropped_and_the_unit_released,
    a_second_order_of_a_user_is_not_made,
    nobody_is_promoted_without_a_unit_or_after_the_end,
    an_offer_taken_back_keeps_the_place,
    the_waiting_ends_with_the_last_user,
    the_end_expires_the_waiting,
    a_deleted_user_gives_up_the_place,
    a_rush_has_one_place_per_user,
    a_users_entries_are_listed_in_pages,
    places_survive_a_reopening,
}

const BEFORE_THE_END: Timestamp = Timestamp::from_millis(NOON.as_millis() + 3_599_999);

/// Creates a sold-out sale of one unit, held by user 1, with a list of up to `max` users.
async fn sold_out(w: &World, max: u32) -> VoucherId {
    let voucher = w.sale(Some(1)).await;
    let taken = w.storage.selling.sales.claim(claim(voucher, 1, 1)).await.unwrap();
    assert_eq!(taken, ClaimOutcome::Accepted);
    w.persist_all().await;
    let stored = w.storage.selling.waiting_lists.put_max(voucher, Some(max), NOON).await.unwrap().unwrap();
    assert_eq!((stored.waiting_max, stored.terms.waiting), (Some(max), false));
    voucher
}

async fn join(w: &World, voucher: VoucherId, user: u64) -> JoinOutcome {
    let lists = &w.storage.selling.waiting_lists;
    lists.join(voucher, UserId::new(user), FirstToJoin::Yes, NOON).await.unwrap()
}

async fn joined(w: &World, voucher: VoucherId, user: u64) -> WaitingPlace {
    match join(w, voucher, user).await {
        JoinOutcome::Joined(place) => place,
        refused => panic!("{refused:?}"),
    }
}

async fn place(w: &World, voucher: VoucherId, user: u64) -> Option<WaitingPlace> {
    w.storage.selling.waiting_lists.place(voucher, UserId::new(user)).await.unwrap()
}

async fn state(w: &World, voucher: VoucherId, user: u64) -> WaitingState {
    place(w, voucher, user).await.unwrap().entry.state
}

/// Closes the order of user 1, and releases its unit.
async fn cancel_first(w: &World, voucher: VoucherId) {
    let order = claim(voucher, 1, 1).order;
    let cancelled = w.storage.selling.orders.step(order, Transition::Cancel, NOON).await.unwrap();
    assert!(matches!(cancelled, TransitionOutcome::Done(_)));
    let released = w.storage.selling.sales.release(voucher, UserId::new(1), order).await.unwrap();
    assert_eq!(released, ReleaseOutcome::Released);
}

fn order_of(voucher: VoucherId, number: u64) -> OrderId {
    claim(voucher, 0, number).order
}

async fn offer(w: &World, entry: &WaitingEntry, order: OrderId) -> bool {
    w.storage.selling.waiting_lists.offer(entry.number, order, NOON).await.unwrap()
}

async fn promote(w: &World, entry: &WaitingEntry, order: OrderId, may_buy: bool) -> PromoteOutcome {
    let lists = &w.storage.selling.waiting_lists;
    lists.promote(entry.number, order, may_buy, NOON + HOUR / 2).await.unwrap()
}

async fn released(w: &World) -> Vec<OutboxEntry> {
    w.storage.selling.outbox.open(10).await.unwrap()
}

async fn users_wait_in_the_order_of_joining(w: &World) {
    let (voucher, other) = (sold_out(w, 10).await, sold_out(w, 10).await);
    assert_eq!(place(w, voucher, 11).await, None);
    for (ahead, user) in (0..).zip([13, 11, 12]) {
        let first = joined(w, voucher, user).await;
        assert_eq!(
            (first.ahead, first.waiting, first.entry.state),
            (ahead, ahead + 1, WaitingState::Waiting)
        );
        assert_eq!((first.entry.user, first.entry.voucher), (UserId::new(user), voucher));
        assert_eq!((first.entry.joined, first.entry.changed, first.entry.order), (NOON, NOON, None));
        assert_eq!(joined(w, voucher, user).await, first, "a repeat");
    }
    joined(w, other, 12).await;
    let (head, waiting) = w.storage.selling.waiting_lists.head(voucher, 2).await.unwrap();
    let users: Vec<u64> = head.iter().map(|entry| entry.user.get()).collect();
    assert_eq!((users, waiting), (vec![13, 11], 3));
    let lists = &w.storage.selling.waiting_lists;
    for _ in 0..2 {
        let left = lists.leave(voucher, UserId::new(13), NOON + HOUR / 2).await.unwrap().unwrap();
        assert_eq!((left.entry.state, left.ahead, left.waiting), (WaitingState::Left, 0, 2));
        assert_eq!(left.entry.changed, NOON + HOUR / 2);
    }
    assert_eq!(place(w, voucher, 11).await.unwrap().ahead, 0);
    assert_eq!(joined(w, voucher, 13).await.ahead, 2, "who joins again is last");
    assert_eq!(lists.leave(voucher, UserId::new(99), NOON).await.unwrap(), None);
}

async fn a_list_has_a_maximum_and_an_end(w: &World) {
    let voucher = sold_out(w, 2).await;
    joined(w, voucher, 11).await;
    joined(w, voucher, 12).await;
    assert_eq!(join(w, voucher, 13).await, JoinOutcome::Full);
    assert_eq!(place(w, voucher, 13).await, None);
    let lists = &w.storage.selling.waiting_lists;
    let off = lists.put_max(voucher, None, NOON).await.unwrap().unwrap();
    assert_eq!((off.waiting_max, off.terms.waiting), (None, true), "who waits keeps the place");
    assert_eq!(join(w, voucher, 13).await, JoinOutcome::NoList);
    assert_eq!(joined(w, voucher, 12).await.ahead, 1);
    let _ = lists.put_max(voucher, Some(9), NOON).await.unwrap();
    let late = lists.join(voucher, UserId::new(13), FirstToJoin::Yes, NOON + HOUR).await.unwrap();
    assert_eq!(late, JoinOutcome::NoList, "the sale has ended");
    let nowhere = VoucherId::new(9_999);
    assert_eq!(join(w, nowhere, 13).await, JoinOutcome::NoList);
    assert_eq!(lists.put_max(nowhere, Some(1), NOON).await.unwrap(), None);
    let ordinary = w.ordinary_voucher().await;
    assert_eq!(join(w, ordinary, 13).await, JoinOutcome::NoList);
}

async fn only_a_first_user_begins_the_waiting(w: &World) {
    let voucher = sold_out(w, 10).await;
    let lists = &w.storage.selling.waiting_lists;
    let further = async |user| lists.join(voucher, UserId::new(user), FirstToJoin::No, NOON).await.unwrap();
    assert_eq!(further(11).await, JoinOutcome::NobodyWaits);
    assert_eq!(lists.waited_for().await.unwrap(), []);
    joined(w, voucher, 11).await;
    assert!(w.terms(voucher).await.waiting);
    let waited_for = lists.waited_for().await.unwrap();
    assert_eq!(waited_for.iter().map(|sale| sale.terms.voucher).collect::<Vec<_>>(), [voucher]);
    assert!(matches!(further(12).await, JoinOutcome::Joined(place) if place.ahead == 1));
}

async fn while_users_wait_claims_find_no_unit(w: &World) {
    let voucher = w.sale(Some(5)).await;
    let sales = &w.storage.selling.sales;
    let held = claim(voucher, 1, 1);
    assert_eq!(sales.claim(held).await.unwrap(), ClaimOutcome::Accepted);
    let terms = w.terms(voucher).await;
    let waiting = Terms { waiting: true, ..terms };
    assert_eq!(
        sales.put(waiting, TOKEN).await.unwrap().done().unwrap(),
        SaleUnits { units: Some(5), taken: 1 }
    );
    assert_eq!(sales.claim(claim(voucher, 2, 2)).await.unwrap(), ClaimOutcome::SoldOut);
    assert_eq!(sales.claim(held).await.unwrap(), ClaimOutcome::Accepted, "a repeat");
    let again = Claim { order: order_of(voucher, 3), ..held };
    assert_eq!(sales.claim(again).await.unwrap(), ClaimOutcome::AlreadyBought(held.order));
    let late = Claim { at: NOON + HOUR, ..claim(voucher, 2, 2) };
    assert_eq!(sales.claim(late).await.unwrap(), ClaimOutcome::Ended);
    let _ = sales.put(Terms { paused: true, ..waiting }, TOKEN).await.unwrap().done().unwrap();
    assert_eq!(sales.claim(claim(voucher, 2, 2)).await.unwrap(), ClaimOutcome::Paused);
    let _ = sales.put(waiting, TOKEN).await.unwrap().done().unwrap();
    let reserved = sales.reserve(voucher, UserId::new(7), order_of(voucher, 7)).await.unwrap();
    assert_eq!(reserved, ReserveOutcome::Taken, "an offer takes a unit");
    assert_eq!(sales.units(voucher).await.unwrap(), Some(SaleUnits { units: Some(5), taken: 2 }));
    let _ = sales.put(terms, TOKEN).await.unwrap().done().unwrap();
    assert_eq!(sales.claim(claim(voucher, 2, 2)).await.unwrap(), ClaimOutcome::Accepted);
}

async fn an_offer_becomes_an_order_with_its_own_deadline_once(w: &World) {
    let voucher = sold_out(w, 10).await;
    let entry = joined(w, voucher, 11).await.entry;
    cancel_first(w, voucher).await;
    let order = order_of(voucher, 11);
    assert_eq!(promote(w, &entry, order, true).await, PromoteOutcome::Stands, "not offered yet");
    for _ in 0..2 {
        assert!(offer(w, &entry, order).await);
        assert_eq!(state(w, voucher, 11).await, WaitingState::Offered);
    }
    assert!(!offer(w, &entry, order_of(voucher, 12)).await, "offered under another order");
    assert_eq!(w.storage.selling.orders.count(voucher).await.unwrap().offered, 1);
    let lists = &w.storage.selling.waiting_lists;
    let left = lists.leave(voucher, entry.user, NOON).await.unwrap().unwrap();
    assert_eq!(left.entry.state, WaitingState::Offered, "too late to leave");
    let reserved = w.storage.selling.sales.reserve(voucher, entry.user, order).await.unwrap();
    assert_eq!(reserved, ReserveOutcome::Taken);
    let promotion = promote(w, &entry, order, true).await;
    assert_eq!(promote(w, &entry, order, true).await, promotion, "a repeat");
    let PromoteOutcome::Promoted(made) = promotion else { panic!("{promotion:?}") };
    assert_eq!((made.id, made.user, made.status), (order, entry.user, OrderStatus::Unpaid));
    assert_eq!(made.created, NOON, "the id carries the time of the offer");
    assert_eq!(made.deadline, NOON + HOUR * 3 / 4);
    assert_eq!(stock(w, voucher).await, Some(0));
    let counts = w.storage.selling.orders.count(voucher).await.unwrap();
    assert_eq!((counts.unpaid, counts.cancelled, counts.offered), (1, 1, 0));
    let after = place(w, voucher, 11).await.unwrap();
    assert_eq!(
        (after.entry.state, after.entry.order, after.waiting),
        (WaitingState::Promoted, Some(order), 0)
    );
    assert!(!offer(w, &entry, order).await);
}

async fn a_user_who_may_not_buy_is_dropped_and_the_unit_released(w: &World) {
    let voucher = sold_out(w, 10).await;
    let (entry, next) = (joined(w, voucher, 11).await.entry, joined(w, voucher, 12).await.entry);
    cancel_first(w, voucher).await;
    w.storage.selling.outbox.done(&released(w).await).await.unwrap();
    let order = order_of(voucher, 11);
    assert!(offer(w, &entry, order).await);
    let sales = &w.storage.selling.sales;
    assert_eq!(sales.reserve(voucher, entry.user, order).await.unwrap(), ReserveOutcome::Taken);
    assert_eq!(promote(w, &entry, order, false).await, PromoteOutcome::Dropped);
    assert_eq!(promote(w, &entry, order, true).await, PromoteOutcome::Stands);
    assert_eq!(released(w).await, [OutboxEntry::Release { voucher, user: entry.user, order }]);
    assert_eq!(state(w, voucher, 11).await, WaitingState::Dropped);
    assert_eq!(place(w, voucher, 12).await.unwrap().ahead, 0);
    assert_eq!(sales.release(voucher, entry.user, order).await.unwrap(), ReleaseOutcome::Released);
    assert_eq!(sales.release(voucher, entry.user, order).await.unwrap(), ReleaseOutcome::NotHeld);
    let order = order_of(voucher, 12);
    assert!(offer(w, &next, order).await);
    assert_eq!(sales.reserve(voucher, next.user, order).await.unwrap(), ReserveOutcome::Taken);
    assert!(matches!(promote(w, &next, order, true).await, PromoteOutcome::Promoted(_)));
}

async fn a_second_order_of_a_user_is_not_made(w: &World) {
    let voucher = sold_out(w, 10).await;
    // An operator's replay, for instance, gave the waiting user an order in the meantime.
    let entry = joined(w, voucher, 1).await.entry;
    let added = StockChange { asked: 1, by: 1, request: None };
    let _ = w
        .storage
        .catalogue
        .vouchers
        .change_stock(voucher, &added, TOKEN, NOON)
        .await
        .unwrap()
        .done()
        .unwrap();
    let order = order_of(voucher, 11);
    assert!(offer(w, &entry, order).await);
    assert_eq!(promote(w, &entry, order, true).await, PromoteOutcome::Dropped);
    assert_eq!(stock(w, voucher).await, Some(1));
    assert_eq!(w.storage.selling.orders.get(order).await.unwrap(), None);
    let user = UserId::new(1);
    assert!(released(w).await.contains(&OutboxEntry::Release { voucher, user, order }));
}

async fn nobody_is_promoted_without_a_unit_or_after_the_end(w: &World) {
    let voucher = sold_out(w, 10).await;
    let entry = joined(w, voucher, 11).await.entry;
    let order = order_of(voucher, 11);
    assert!(offer(w, &entry, order).await);
    assert!(matches!(promote(w, &entry, order, true).await, PromoteOutcome::Postponed(_)));
    assert_eq!(state(w, voucher, 11).await, WaitingState::Waiting);
    assert_eq!(promote(w, &entry, order, true).await, PromoteOutcome::Stands);
    cancel_first(w, voucher).await;
    let order = order_of(voucher, 12);
    assert!(offer(w, &entry, order).await);
    let lists = &w.storage.selling.waiting_lists;
    let late = lists.promote(entry.number, order, true, NOON + HOUR).await.unwrap();
    assert_eq!(late, PromoteOutcome::Dropped);
    assert_eq!(state(w, voucher, 11).await, WaitingState::Expired);
    assert_eq!(w.storage.selling.orders.get(order).await.unwrap(), None);
    assert_eq!(stock(w, voucher).await, Some(1));
}

async fn an_offer_taken_back_keeps_the_place(w: &World) {
    let voucher = sold_out(w, 10).await;
    let (entry, next) = (joined(w, voucher, 11).await.entry, joined(w, voucher, 12).await.entry);
    let lists = &w.storage.selling.waiting_lists;
    lists.withdraw_offer(entry.number, NOON).await.unwrap();
    assert!(offer(w, &entry, order_of(voucher, 11)).await);
    for _ in 0..2 {
        lists.withdraw_offer(entry.number, NOON).await.unwrap();
        assert_eq!(state(w, voucher, 11).await, WaitingState::Waiting);
    }
    let (head, _) = lists.head(voucher, 9).await.unwrap();
    let numbers: Vec<u64> = head.iter().map(|entry| entry.number).collect();
    assert_eq!(numbers, [entry.number, next.number]);
    assert!(!offer(w, &WaitingEntry { number: 99_999, ..entry }, order_of(voucher, 13)).await);
}

async fn the_waiting_ends_with_the_last_user(w: &World) {
    let voucher = sold_out(w, 10).await;
    let lists = &w.storage.selling.waiting_lists;
    let entry = joined(w, voucher, 11).await.entry;
    assert!(!lists.close(voucher).await.unwrap());
    assert!(offer(w, &entry, order_of(voucher, 11)).await);
    assert!(!lists.close(voucher).await.unwrap(), "a unit is being handed on");
    assert!(w.terms(voucher).await.waiting);
    lists.withdraw_offer(entry.number, NOON).await.unwrap();
    let _ = lists.leave(voucher, entry.user, NOON).await.unwrap();
    for _ in 0..2 {
        assert!(lists.close(voucher).await.unwrap());
        assert!(!w.terms(voucher).await.waiting);
    }
    assert_eq!(lists.waited_for().await.unwrap(), []);
}

async fn the_end_expires_the_waiting(w: &World) {
    let voucher = sold_out(w, 10).await;
    let other = sold_out(w, 10).await;
    for user in [11, 12, 13] {
        joined(w, voucher, user).await;
    }
    joined(w, other, 11).await;
    let lists = &w.storage.selling.waiting_lists;
    assert_eq!(lists.expire(voucher, BEFORE_THE_END).await.unwrap(), 0);
    let _ = lists.leave(voucher, UserId::new(13), NOON).await.unwrap();
    assert_eq!(lists.expire(voucher, NOON + HOUR).await.unwrap(), 2);
    assert_eq!(lists.expire(voucher, NOON + HOUR).await.unwrap(), 0);
    assert_eq!(state(w, voucher, 11).await, WaitingState::Expired);
    assert_eq!(state(w, voucher, 13).await, WaitingState::Left);
    assert_eq!(state(w, other, 11).await, WaitingState::Waiting);
    assert!(lists.close(voucher).await.unwrap());
}

async fn a_deleted_user_gives_up_the_place(w: &World) {
    let voucher = sold_out(w, 10).await;
    // Nobody with an unpaid order.
    cancel_first(w, voucher).await;
    let phone = Phone::parse("13900000001").unwrap();
    let user = w.storage.people.users.find_or_create(&phone, "小鱼", NOON).await.unwrap().id;
    joined(w, voucher, user.get()).await;
    joined(w, voucher, 900).await;
    let people = &w.storage.people.personal_data;
    assert_eq!(people.delete(user, PaidOrders::Keep, NOON).await.unwrap(), DeleteOutcome::Deleted);
    assert_eq!(state(w, voucher, user.get()).await, WaitingState::Left);
    assert_eq!(place(w, voucher, 900).await.unwrap().ahead, 0);
}

async fn a_rush_has_one_place_per_user(w: &World) {
    const USERS: u64 = 40;
    let voucher = sold_out(w, 1_000).await;
    joined(w, voucher, 1_000).await;
    let mut calls = JoinSet::new();
    for call in 0..USERS * 3 {
        let lists = w.storage.selling.waiting_lists.clone();
        calls.spawn(async move {
            lists.join(voucher, UserId::new(2_000 + call % USERS), FirstToJoin::No, NOON).await.unwrap()
        });
    }
    while let Some(outcome) = calls.join_next().await {
        assert!(matches!(outcome.unwrap(), JoinOutcome::Joined(_)));
    }
    let (head, waiting) = w.storage.selling.waiting_lists.head(voucher, 1_000).await.unwrap();
    assert_eq!((head.len() as u64, waiting), (USERS + 1, USERS + 1));
    for (ahead, entry) in (0..).zip(head) {
        assert_eq!(place(w, voucher, entry.user.get()).await.unwrap().ahead, ahead);
    }
}

async fn a_users_entries_are_listed_in_pages(w: &World) {
    let mut expected = Vec::new();
    for _ in 0..3 {
        let voucher = sold_out(w, 10).await;
        joined(w, voucher, 12).await;
        expected.push(joined(w, voucher, 11).await.entry);
    }
    let lists = &w.storage.selling.waiting_lists;
    let user = UserId::new(11);
    let first = lists.of_user(user, 0, 2).await.unwrap();
    assert_eq!(first, expected[..2]);
    assert_eq!(lists.of_user(user, first[1].number, 2).await.unwrap(), expected[2..]);
    assert_eq!(lists.of_user(user, expected[2].number, 2).await.unwrap(), []);
    assert_eq!(lists.of_user(user, u64::MAX, 2).await.unwrap(), []);
}

async fn places_survive_a_reopening(w: &World) {
    let w = w.another().await;
    let voucher = sold_out(&w, 10).await;
    let entry = joined(&w, voucher, 11).await.entry;
    let last = joined(&w, voucher, 12).await;
    assert!(offer(&w, &entry, order_of(voucher, 11)).await);
    let w = w.reopen().await;
    assert_eq!(place(&w, voucher, 12).await, Some(last));
    assert_eq!(place(&w, voucher, 11).await.unwrap().entry.order, Some(order_of(voucher, 11)));
    let sales = &w.storage.selling.sales;
    let _ = sales.put(w.terms(voucher).await, TOKEN).await.unwrap().done().unwrap();
    assert_eq!(sales.claim(claim(voucher, 20, 20)).await.unwrap(), ClaimOutcome::SoldOut);
    cancel_first(&w, voucher).await;
    assert_eq!(sales.claim(claim(voucher, 20, 20)).await.unwrap(), ClaimOutcome::SoldOut);
}
