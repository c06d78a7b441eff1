//! `DeadLetters`: operators' decisions about claims that did not become orders.

use std::time::Duration;

use mallbox_storage::{
    Cents, Claim, ClaimOutcome, DeadLetter, DeadLetterId, DeadReason, DeadState, LoggedClaim, Order,
    OrderCounts, OrderId, OrderStatus, OutboxEntry, Page, PaymentMode, PersistOutcome, ReleaseOutcome,
    ReplayOutcome, ReserveOutcome, SaleUnits, StockChange, StockChangeOutcome, Transition, UserId,
    VoidOutcome, VoucherId,
};

use crate::selling::orders::{logged, persist, stock};
use crate::world::{HOUR, NOON, TOKEN, World, claim, letters};

crate::cases! {
    dead_letters_are_listed_last_first_and_by_state,
    a_replayed_letter_is_an_order_with_a_fresh_deadline,
    what_the_record_still_refuses_stays_open_and_counts,
    a_replay_takes_the_unit_that_a_letter_does_not_hold,
    a_voided_letter_gives_its_unit_back_once,
    a_settled_claim_stays_settled_whatever_became_of_its_letter,
    a_double_held_a_unit_beside_the_order_of_its_user,
    a_letter_is_voided_and_the_order_beside_it_stays,
    a_double_of_an_order_that_memory_forgot_leaves_it_the_unit,
}

/// Dead-letters a fresh claim of `user` after this number of attempts.
pub async fn insert_dead_letter(w: &World, voucher: VoucherId, user: u64, attempts: u32) -> DeadLetter {
    insert_dead_claim(w, claim(voucher, user, user), attempts).await
}

/// Inserts the dead letter of a claim, refused after some attempts.
pub async fn insert_dead_claim(w: &World, claim: Claim, attempts: u32) -> DeadLetter {
    let claim = LoggedClaim { attempts, ..logged(claim) };
    w.storage
        .selling
        .orders
        .insert_dead_letter(&claim, DeadReason::Refused, "the record's words", NOON)
        .await
        .unwrap();
    letters(w).await.pop().unwrap()
}

/// Replays a dead letter at noon.
pub async fn replay(w: &World, letter: &DeadLetter) -> ReplayOutcome {
    w.storage.selling.dead_letters.replay(letter.id, NOON + HOUR).await.unwrap()
}

async fn void(w: &World, letter: &DeadLetter) -> VoidOutcome {
    w.storage.selling.dead_letters.void(letter.id, NOON + HOUR).await.unwrap()
}

async fn holding(w: &World, voucher: VoucherId, user: u64) -> Option<OrderId> {
    w.storage.selling.orders.holding(voucher, UserId::new(user)).await.unwrap()
}

async fn dead_letters_are_listed_last_first_and_by_state(w: &World) {
    let port = &w.storage.selling.dead_letters;
    let voucher = w.sale(Some(9)).await;
    for user in 1..=4 {
        insert_dead_letter(w, voucher, user, 4).await;
    }
    let all = letters(w).await;
    let first = &all[0];
    let expected = DeadLetter {
        id: first.id,
        order: claim(voucher, 1, 1).order,
        voucher,
        user: UserId::new(1),
        claimed: NOON,
        reason: "REFUSED".to_owned(),
        detail: "the record's words".to_owned(),
        attempts: 5,
        holds_unit: true,
        created: NOON,
        state: DeadState::Open,
        closed: None,
    };
    assert_eq!(*first, expected);
    assert!(matches!(void(w, &all[1]).await, VoidOutcome::Void(_)));
    assert!(matches!(replay(w, &all[2]).await, ReplayOutcome::Order(_)));
    for (state, users) in [
        (None, &[4, 3, 2, 1][..]),
        (Some(DeadState::Open), &[4, 1]),
        (Some(DeadState::Replayed), &[3]),
        (Some(DeadState::Voided), &[2]),
    ] {
        let (page, total) = port.page(state, Page::new(1, 10)).await.unwrap();
        assert_eq!(page.iter().map(|letter| letter.user.get()).collect::<Vec<_>>(), users, "{state:?}");
        assert_eq!(total, users.len() as u64);
    }
    let (page, total) = port.page(None, Page::new(2, 3)).await.unwrap();
    assert_eq!((page, total), (vec![expected.clone()], 4));
    assert_eq!(port.of_order(expected.order).await.unwrap(), [expected]);
    assert_eq!(port.of_order(OrderId::new(u64::MAX)).await.unwrap(), []);
    for unknown in [0, 99, u64::MAX] {
        let unknown = DeadLetterId::new(unknown);
        assert_eq!(port.replay(unknown, NOON).await.unwrap(), ReplayOutcome::Unknown);
        assert_eq!(port.void(unknown, NOON).await.unwrap(), VoidOutcome::Unknown);
    }
}

async fn a_replayed_letter_is_an_order_with_a_fresh_deadline(w: &World) {
    let voucher = w.sale(Some(1)).await;
    let letter = insert_dead_letter(w, voucher, 7, 4).await;
    let order = Order {
        id: letter.order,
        voucher,
        user: UserId::new(7),
        status: OrderStatus::Unpaid,
        pay_value: Cents::new(100),
        pay_type: 1,
        payment: PaymentMode::Sandbox,
        created: NOON,
        deadline: NOON + HOUR + Duration::from_secs(900),
        paid: None,
        used: None,
        refunded: None,
    };
    for _ in 0..2 {
        assert_eq!(replay(w, &letter).await, ReplayOutcome::Order(order.clone()));
    }
    assert_eq!(w.storage.selling.orders.get(order.id).await.unwrap(), Some(order.clone()));
    let counts = w.storage.selling.orders.count(voucher).await.unwrap();
    assert_eq!(counts, OrderCounts { unpaid: 1, ..OrderCounts::default() });
    assert_eq!((stock(w, voucher).await, holding(w, voucher, 7).await), (Some(0), Some(order.id)));
    let after = letters(w).await.remove(0);
    let replayed = DeadLetter {
        state: DeadState::Replayed,
        closed: Some(NOON + HOUR),
        holds_unit: false,
        attempts: 6,
        ..letter
    };
    assert_eq!(after, replayed);
    assert_eq!(void(w, &after).await, VoidOutcome::Replayed(after.clone()));
    // The order is like any other.
    let _ = w.storage.selling.orders.step(order.id, Transition::Cancel, NOON).await.unwrap();
    assert_eq!((stock(w, voucher).await, holding(w, voucher, 7).await), (Some(1), None));
}

async fn what_the_record_still_refuses_stays_open_and_counts(w: &World) {
    let (voucher, full) = (w.sale(Some(9)).await, w.sale(Some(1)).await);
    let orders = [claim(voucher, 1, 1), claim(full, 2, 20)];
    persist(w, &orders).await;
    let dying = [claim(voucher, 1, 3), claim(voucher, 5, 1), claim(full, 6, 6)];
    let reasons = [DeadReason::Double, DeadReason::IdClash, DeadReason::Oversold];
    assert_eq!(persist(w, &dying).await, reasons.map(PersistOutcome::DeadLetter));
    insert_dead_letter(w, VoucherId::new(404), 8, 0).await;
    let before = letters(w).await;
    for (letter, reason) in before.iter().zip(reasons.into_iter().chain([DeadReason::Refused])) {
        for attempts in [2, 3] {
            let ReplayOutcome::Refused(why, words) = replay(w, letter).await else { panic!("{letter:?}") };
            assert_eq!((why, words.is_empty()), (reason, false), "{letter:?}");
            let counted = DeadLetter { attempts, ..letter.clone() };
            assert_eq!(
                w.storage.selling.dead_letters.of_order(letter.order).await.unwrap().pop(),
                Some(counted)
            );
        }
    }
    assert_eq!((stock(w, voucher).await, stock(w, full).await), (Some(7), Some(0)));
    assert_eq!(w.storage.selling.orders.get(dying[2].order).await.unwrap(), None, "nothing is left of it");
    // Without the other order, the duplicate becomes an order.
    let _ = w.storage.selling.orders.step(orders[0].order, Transition::Cancel, NOON).await.unwrap();
    assert!(matches!(replay(w, &before[0]).await, ReplayOutcome::Order(order) if order.id == dying[0].order));
}

async fn a_replay_takes_the_unit_that_a_letter_does_not_hold(w: &World) {
    let voucher = w.sale(Some(1)).await;
    persist(w, &[claim(voucher, 1, 1), claim(voucher, 2, 2)]).await;
    // Memory begins anew, as after a restart: the oversold claim has no unit there either.
    w.storage.selling.sales.forget(voucher).await.unwrap();
    let one = SaleUnits { units: Some(1), taken: 1 };
    assert_eq!(
        w.storage.selling.sales.put(w.terms(voucher).await, TOKEN).await.unwrap().done().unwrap(),
        one
    );
    let letter = letters(w).await.remove(0);
    let reserve = async || w.storage.selling.sales.reserve(voucher, letter.user, letter.order).await.unwrap();
    assert_eq!(reserve().await, ReserveOutcome::SoldOut);
    let more = StockChange { asked: 1, by: 1, request: None };
    let changed =
        w.storage.catalogue.vouchers.change_stock(voucher, &more, TOKEN, NOON).await.unwrap().done().unwrap();
    assert!(matches!(changed, StockChangeOutcome::Done(1, _)), "{changed:?}");
    let _ = w.storage.selling.sales.put(w.terms(voucher).await, TOKEN).await.unwrap().done().unwrap();
    for expected in [ReserveOutcome::Taken, ReserveOutcome::Held] {
        assert_eq!(reserve().await, expected);
        let both = Some(SaleUnits { units: Some(2), taken: 2 });
        assert_eq!(w.storage.selling.sales.units(voucher).await.unwrap(), both);
    }
    // Given up again, and taken again.
    let release = async || w.storage.selling.sales.release(voucher, letter.user, letter.order).await.unwrap();
    assert_eq!(release().await, ReleaseOutcome::Released);
    assert_eq!(release().await, ReleaseOutcome::NotHeld);
    assert_eq!(reserve().await, ReserveOutcome::Taken);
    assert!(matches!(replay(w, &letter).await, ReplayOutcome::Order(_)));
    assert_eq!(release().await, ReleaseOutcome::NotHeld, "it is the order's");
    assert_eq!(stock(w, voucher).await, Some(0));
    let nowhere =
        w.storage.selling.sales.reserve(VoucherId::new(404), letter.user, letter.order).await.unwrap();
    assert_eq!(nowhere, ReserveOutcome::Held);
}

async fn a_voided_letter_gives_its_unit_back_once(w: &World) {
    let voucher = w.sale(Some(1)).await;
    let attempt = claim(voucher, 7, 7);
    assert_eq!(w.storage.selling.sales.claim(attempt).await.unwrap(), ClaimOutcome::Accepted);
    let taken = w.storage.selling.order_log.take("worker", 1, Duration::ZERO).await.unwrap();
    w.storage.selling.orders.insert_dead_letter(&taken[0], DeadReason::Refused, "", NOON).await.unwrap();
    w.storage.selling.order_log.done("worker", &taken).await.unwrap();
    let letter = letters(w).await.remove(0);
    let release = async || w.storage.selling.sales.release(voucher, letter.user, letter.order).await.unwrap();
    assert_eq!(
        (release().await, stock(w, voucher).await),
        (ReleaseOutcome::NotHeld, Some(0)),
        "it holds its unit"
    );
    let voided = DeadLetter {
        state: DeadState::Voided,
        closed: Some(NOON + HOUR),
        holds_unit: false,
        ..letter.clone()
    };
    for expected in [ReleaseOutcome::Released, ReleaseOutcome::NotHeld] {
        assert_eq!(void(w, &letter).await, VoidOutcome::Void(voided.clone()));
        assert_eq!((stock(w, voucher).await, holding(w, voucher, 7).await), (Some(1), None));
        assert_eq!(release().await, expected);
    }
    assert_eq!(replay(w, &letter).await, ReplayOutcome::Voided);
    assert_eq!(w.storage.selling.sales.claim(claim(voucher, 7, 8)).await.unwrap(), ClaimOutcome::Accepted);
}

async fn a_settled_claim_stays_settled_whatever_became_of_its_letter(w: &World) {
    let voucher = w.sale(Some(9)).await;
    for user in 1..=2 {
        insert_dead_letter(w, voucher, user, 0).await;
    }
    let all = letters(w).await;
    assert!(matches!(replay(w, &all[0]).await, ReplayOutcome::Order(_)));
    assert!(matches!(void(w, &all[1]).await, VoidOutcome::Void(_)));
    let (counts, left) = (w.storage.selling.orders.count(voucher).await.unwrap(), stock(w, voucher).await);
    // The log hands the claims out again after a crash.
    let again = [claim(voucher, 1, 1), claim(voucher, 2, 2)];
    assert_eq!(persist(w, &again).await, [PersistOutcome::Repeat, PersistOutcome::Repeat]);
    for claim in again {
        w.storage
            .selling
            .orders
            .insert_dead_letter(&logged(claim), DeadReason::Refused, "", NOON)
            .await
            .unwrap();
    }
    assert_eq!(letters(w).await.len(), 2);
    assert_eq!(
        (w.storage.selling.orders.count(voucher).await.unwrap(), stock(w, voucher).await),
        (counts, left)
    );
}

async fn a_double_held_a_unit_beside_the_order_of_its_user(w: &World) {
    let voucher = w.sale(Some(9)).await;
    let (order, double) = (claim(voucher, 1, 1), claim(voucher, 1, 2));
    persist(w, &[order, double]).await;
    w.storage.selling.sales.forget(voucher).await.unwrap();
    let units = w.storage.selling.sales.put(w.terms(voucher).await, TOKEN).await.unwrap().done().unwrap();
    assert_eq!((units.taken, stock(w, voucher).await), (1, Some(8)));
    assert_eq!(w.storage.selling.orders.holdings(voucher, order.user).await.unwrap(), [order.order]);
    let entry = OutboxEntry::Release { voucher, user: double.user, order: double.order };
    assert_eq!(w.storage.selling.outbox.open(9).await.unwrap(), [entry]);
}

async fn a_letter_is_voided_and_the_order_beside_it_stays(w: &World) {
    let voucher = w.sale(Some(9)).await;
    persist(w, &[claim(voucher, 1, 1)]).await;
    for number in 2..=3 {
        let dying = logged(claim(voucher, 1, number));
        w.storage.selling.orders.insert_dead_letter(&dying, DeadReason::Refused, "", NOON).await.unwrap();
    }
    w.storage.selling.sales.forget(voucher).await.unwrap();
    let units = w.storage.selling.sales.put(w.terms(voucher).await, TOKEN).await.unwrap().done().unwrap();
    assert_eq!(units.taken, 3, "one for the order, one for each letter");
    let mut held = w.storage.selling.orders.holdings(voucher, UserId::new(1)).await.unwrap();
    held.sort_unstable();
    assert_eq!(held, [1, 2, 3].map(|number| claim(voucher, 1, number).order));
    let all = letters(w).await;
    let release =
        async |order| w.storage.selling.sales.release(voucher, UserId::new(1), order).await.unwrap();
    let taken = async || w.storage.selling.sales.units(voucher).await.unwrap().unwrap().taken;
    assert!(matches!(void(w, &all[0]).await, VoidOutcome::Void(_)));
    assert_eq!((release(all[0].order).await, taken().await), (ReleaseOutcome::Released, 2));
    assert_eq!((release(all[0].order).await, taken().await), (ReleaseOutcome::NotHeld, 2));
    // The order is cancelled while the other letter still stands for its user.
    let order = claim(voucher, 1, 1).order;
    let _ = w.storage.selling.orders.step(order, Transition::Cancel, NOON).await.unwrap();
    assert_eq!((release(order).await, taken().await), (ReleaseOutcome::Released, 1));
    let again = w.storage.selling.sales.claim(claim(voucher, 1, 4)).await.unwrap();
    assert_eq!(again, ClaimOutcome::AlreadyBought(all[1].order));
    assert!(matches!(void(w, &all[1]).await, VoidOutcome::Void(_)));
    assert_eq!((release(all[1].order).await, taken().await), (ReleaseOutcome::Released, 0));
    assert_eq!(stock(w, voucher).await, Some(9));
    assert_eq!(w.storage.selling.sales.claim(claim(voucher, 1, 5)).await.unwrap(), ClaimOutcome::Accepted);
}

async fn a_double_of_an_order_that_memory_forgot_leaves_it_the_unit(w: &World) {
    let voucher = w.sale(Some(9)).await;
    // In the database alone, as after memory loses its buyers in the middle of a sale.
    let (first, second) = (claim(voucher, 1, 1), claim(voucher, 1, 2));
    persist(w, &[first]).await;
    assert_eq!(w.storage.selling.sales.claim(second).await.unwrap(), ClaimOutcome::Accepted);
    w.persist_all().await;
    let letter = letters(w).await.remove(0);
    let release =
        async |order| w.storage.selling.sales.release(voucher, UserId::new(1), order).await.unwrap();
    let taken = async || w.storage.selling.sales.units(voucher).await.unwrap().unwrap().taken;
    assert_eq!(
        (release(second.order).await, taken().await),
        (ReleaseOutcome::NotHeld, 1),
        "it holds its unit"
    );
    assert!(matches!(void(w, &letter).await, VoidOutcome::Void(_)));
    for _ in 0..2 {
        assert_eq!(
            (release(second.order).await, taken().await),
            (ReleaseOutcome::NotHeld, 1),
            "it is the order's now"
        );
    }
    let again = w.storage.selling.sales.claim(claim(voucher, 1, 3)).await.unwrap();
    assert_eq!(again, ClaimOutcome::AlreadyBought(first.order));
    let _ = w.storage.selling.orders.step(first.order, Transition::Cancel, NOON).await.unwrap();
    assert_eq!((release(first.order).await, taken().await), (ReleaseOutcome::Released, 0));
    assert_eq!((release(first.order).await, taken().await), (ReleaseOutcome::NotHeld, 0));
    assert_eq!(stock(w, voucher).await, Some(9));
}
