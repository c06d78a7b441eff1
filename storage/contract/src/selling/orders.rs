//! `Orders`: claims become orders once, within the stock, with one live order per user; and the orders'
//! transitions.

use std::sync::{Arc, Barrier};
use std::time::Duration;

use mallbox_storage::{
    Cents, Claim, DeadReason, LogPosition, LoggedClaim, Order, OrderCounts, OrderId, OrderStatus, Page,
    PaymentId, PaymentMode, PersistOutcome, StoreError, Timestamp, Transition, TransitionOutcome, UserId,
    VoucherId,
};
use tokio::runtime::Handle;

use crate::world::{HOUR, NOON, World, claim, letters};

crate::cases! {
    what_nobody_ordered_is_unknown,
    a_claim_becomes_an_unpaid_order,
    a_late_claim_leaves_five_minutes_to_pay,
    a_short_time_to_pay_became_five_minutes,
    a_repeat_changes_nothing,
    a_second_live_order_of_a_user_dies,
    what_is_beyond_the_stock_dies,
    an_id_that_is_taken_dies_and_nothing_is_lost,
    a_batch_with_an_unknown_sale_is_refused_whole,
    an_unlimited_sale_has_stock_for_all,
    a_dead_letter_keeps_its_unit_and_stays,
    each_step_leads_from_one_status_alone,
    a_closed_order_gives_unit_and_right_back,
    a_step_with_a_foreign_payment_changes_nothing,
    one_of_two_racing_steps_wins,
    lists_go_page_by_page,
    the_highest_number_of_each_day_counts_dead_letters_too,
    a_rush_of_batches_takes_exactly_the_stock,
    orders_outlive_a_restart,
}

/// Wraps a claim as a log hands it out. The position matters to the log alone.
pub fn logged(claim: Claim) -> LoggedClaim {
    LoggedClaim { position: LogPosition { major: 0, minor: claim.order.get() }, claim, attempts: 0 }
}

/// Persists claims as an order worker does.
pub async fn persist(w: &World, claims: &[Claim]) -> Vec<PersistOutcome> {
    let claims: Vec<_> = claims.iter().copied().map(logged).collect();
    w.storage.selling.orders.persist(&claims, NOON).await.unwrap()
}

/// Returns the units left in the database; `None` without a limit.
pub async fn stock(w: &World, voucher: VoucherId) -> Option<u64> {
    w.storage.catalogue.vouchers.get(voucher).await.unwrap().unwrap().sale.unwrap().stock
}

async fn status(w: &World, order: OrderId) -> OrderStatus {
    w.storage.selling.orders.get(order).await.unwrap().unwrap().status
}

async fn reasons(w: &World) -> Vec<(u64, String, bool)> {
    letters(w).await.into_iter().map(|letter| (letter.user.get(), letter.reason, letter.holds_unit)).collect()
}

/// Whether the step was taken.
pub fn is_done(stepped: &TransitionOutcome) -> bool {
    matches!(stepped, TransitionOutcome::Done(_))
}

const WRITTEN: PersistOutcome =
    PersistOutcome::Written { deadline: Some(Timestamp::from_millis(NOON.as_millis() + 900_000)) };

async fn what_nobody_ordered_is_unknown(w: &World) {
    let orders = &w.storage.selling.orders;
    for id in [0, 1, i64::MAX as u64, u64::MAX] {
        let (order, user, voucher) = (OrderId::new(id), UserId::new(id), VoucherId::new(id));
        assert_eq!(orders.get(order).await.unwrap(), None);
        for step in [
            Transition::Pay(PaymentId::new(id)),
            Transition::Cancel,
            Transition::Use,
            Transition::StartRefund,
            Transition::FinishRefund,
        ] {
            assert_eq!(orders.step(order, step, NOON).await.unwrap(), TransitionOutcome::Unknown);
        }
        assert_eq!(orders.of_user(user, Page::new(1, 10)).await.unwrap(), []);
        assert_eq!(orders.holding(voucher, user).await.unwrap(), None);
        assert_eq!(orders.count(voucher).await.unwrap(), OrderCounts::default());
        assert_eq!(orders.unpaid(order, 10).await.unwrap(), []);
        assert_eq!(orders.holdings(voucher, user).await.unwrap(), []);
    }
    assert_eq!(persist(w, &[]).await, []);
}

async fn a_claim_becomes_an_unpaid_order(w: &World) {
    let voucher = w.sale(Some(5)).await;
    let claim = claim(voucher, 7, 1);
    assert_eq!(persist(w, &[claim]).await, [WRITTEN]);
    let expected = Order {
        id: claim.order,
        voucher,
        user: claim.user,
        status: OrderStatus::Unpaid,
        pay_value: Cents::new(100),
        pay_type: 1,
        payment: PaymentMode::Sandbox,
        created: NOON,
        deadline: NOON + Duration::from_secs(900),
        paid: None,
        used: None,
        refunded: None,
    };
    let orders = &w.storage.selling.orders;
    assert_eq!(orders.get(claim.order).await.unwrap(), Some(expected));
    assert_eq!(orders.holding(voucher, claim.user).await.unwrap(), Some(claim.order));
    assert_eq!(stock(w, voucher).await, Some(4));
    assert_eq!(orders.count(voucher).await.unwrap(), OrderCounts { unpaid: 1, ..OrderCounts::default() });
}

async fn a_late_claim_leaves_five_minutes_to_pay(w: &World) {
    let voucher = w.sale(Some(5)).await;
    let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
    for (number, late, expected) in [(1, 9, 15), (2, 10, 15), (3, 11, 16), (4, 60, 65)] {
        let claim = logged(claim(voucher, number, number));
        let answer = w.storage.selling.orders.persist(&[claim], NOON + minutes(late)).await.unwrap();
        assert_eq!(
            answer,
            [PersistOutcome::Written { deadline: Some(NOON + minutes(expected)) }],
            "{late} minutes late"
        );
    }
}

async fn a_short_time_to_pay_became_five_minutes(w: &World) {
    for pay_within in [1, 60, 299] {
        let voucher = w.sale_to_pay_within(Duration::from_secs(pay_within)).await;
        // Persisted halfway to the deadline, and after twice the time.
        for (number, late_ms, expected_ms) in [(1, 0, 1000), (2, 500, 1000), (3, 501, 1501), (4, 2000, 3000)]
        {
            let at = |ms| NOON + Duration::from_millis(ms * pay_within);
            let claim = logged(claim(voucher, number, number));
            let answer = w.storage.selling.orders.persist(&[claim], at(late_ms)).await.unwrap();
            assert_eq!(
                answer,
                [PersistOutcome::Written { deadline: Some(at(expected_ms)) }],
                "{pay_within} s, {late_ms}"
            );
        }
    }
}

async fn a_repeat_changes_nothing(w: &World) {
    let voucher = w.sale(Some(1)).await;
    let (first, beyond) = (claim(voucher, 1, 1), claim(voucher, 2, 2));
    assert_eq!(persist(w, &[first, first]).await, [WRITTEN, PersistOutcome::Repeat]);
    assert_eq!(persist(w, &[beyond]).await, [PersistOutcome::DeadLetter(DeadReason::Oversold)]);
    assert!(is_done(&w.storage.selling.orders.step(first.order, Transition::Cancel, NOON).await.unwrap()));
    // A unit is free again, but both claims have had their outcome.
    for _ in 0..2 {
        assert_eq!(persist(w, &[beyond, first]).await, [PersistOutcome::Repeat, PersistOutcome::Repeat]);
    }
    assert_eq!(stock(w, voucher).await, Some(1));
    assert_eq!(status(w, first.order).await, OrderStatus::Cancelled);
    assert_eq!(reasons(w).await, [(2, "OVERSOLD".into(), false)]);
}

async fn a_second_live_order_of_a_user_dies(w: &World) {
    let (voucher, other) = (w.sale(Some(9)).await, w.sale(Some(9)).await);
    let double = PersistOutcome::DeadLetter(DeadReason::Double);
    let answers = persist(w, &[claim(voucher, 1, 1), claim(voucher, 1, 2), claim(other, 1, 3)]).await;
    assert_eq!(answers, [WRITTEN, double.clone(), WRITTEN]);
    assert_eq!(persist(w, &[claim(voucher, 1, 4)]).await, [double]);
    // Neither holds a unit, and each leaves an outbox entry to release the unit taken in memory.
    assert_eq!(stock(w, voucher).await, Some(8));
    assert_eq!(w.storage.selling.outbox.open(9).await.unwrap().len(), 2);
    let counts = w.storage.selling.orders.count(voucher).await.unwrap();
    assert_eq!(counts, OrderCounts { unpaid: 1, ..OrderCounts::default() });
    let held = w.storage.selling.orders.holding(voucher, UserId::new(1)).await.unwrap();
    assert_eq!(held, Some(claim(voucher, 1, 1).order));
}

async fn what_is_beyond_the_stock_dies(w: &World) {
    let (short, wide) = (w.sale(Some(2)).await, w.sale(Some(9)).await);
    let mut claims: Vec<_> = (1..=4).map(|user| claim(short, user, user)).collect();
    claims.push(claim(wide, 1, 5));
    let oversold = PersistOutcome::DeadLetter(DeadReason::Oversold);
    assert_eq!(persist(w, &claims).await, [WRITTEN, WRITTEN, oversold.clone(), oversold, WRITTEN]);
    assert_eq!((stock(w, short).await, stock(w, wide).await), (Some(0), Some(8)));
    assert_eq!(reasons(w).await, [(3, "OVERSOLD".into(), false), (4, "OVERSOLD".into(), false)]);
    for (user, held) in [(2, Some(claims[1].order)), (3, Some(claims[2].order)), (9, None)] {
        assert_eq!(w.storage.selling.orders.holding(short, UserId::new(user)).await.unwrap(), held);
    }
    // A double takes none.
    let double = PersistOutcome::DeadLetter(DeadReason::Double);
    assert_eq!(persist(w, &[claim(short, 1, 6)]).await, [double]);
    assert_eq!(reasons(w).await.last(), Some(&(1, "DOUBLE".into(), false)));
}

async fn an_id_that_is_taken_dies_and_nothing_is_lost(w: &World) {
    let voucher = w.sale(Some(9)).await;
    let claims: Vec<_> = (1..=3).map(|user| claim(voucher, user, 1)).collect();
    let clash = PersistOutcome::DeadLetter(DeadReason::IdClash);
    assert_eq!(persist(w, &claims).await, [WRITTEN, clash.clone(), clash]);
    assert_eq!(
        persist(w, &claims).await,
        [PersistOutcome::Repeat, PersistOutcome::Repeat, PersistOutcome::Repeat]
    );
    assert_eq!(stock(w, voucher).await, Some(6));
    assert_eq!(w.storage.selling.orders.get(claims[0].order).await.unwrap().unwrap().user, UserId::new(1));
    assert_eq!(
        w.storage.selling.orders.holding(voucher, UserId::new(3)).await.unwrap(),
        Some(claims[0].order)
    );
}

async fn a_batch_with_an_unknown_sale_is_refused_whole(w: &World) {
    let voucher = w.sale(Some(9)).await;
    let ordinary = w.ordinary_voucher().await;
    for unknown in [VoucherId::new(404), ordinary] {
        let batch = [claim(voucher, 1, 1), claim(unknown, 2, 2)].map(logged);
        let refused = w.storage.selling.orders.persist(&batch, NOON).await;
        assert!(matches!(refused, Err(StoreError::Refused { .. })), "{refused:?}");
    }
    assert_eq!(stock(w, voucher).await, Some(9));
    assert_eq!(w.storage.selling.orders.get(claim(voucher, 1, 1).order).await.unwrap(), None);
    assert_eq!(reasons(w).await, []);
}

async fn an_unlimited_sale_has_stock_for_all(w: &World) {
    let voucher = w.sale(None).await;
    let claims: Vec<_> = (1..=300).map(|user| claim(voucher, user, user)).collect();
    assert_eq!(persist(w, &claims).await, vec![WRITTEN; 300]);
    assert!(is_done(
        &w.storage.selling.orders.step(claims[0].order, Transition::Cancel, NOON).await.unwrap()
    ));
    assert_eq!(stock(w, voucher).await, None);
    let counts = w.storage.selling.orders.count(voucher).await.unwrap();
    assert_eq!(counts, OrderCounts { unpaid: 299, cancelled: 1, ..OrderCounts::default() });
}

async fn a_dead_letter_keeps_its_unit_and_stays(w: &World) {
    let voucher = w.sale(Some(1)).await;
    let orders = &w.storage.selling.orders;
    let refused = DeadReason::Refused;
    for user in [1, 2, 1] {
        orders
            .insert_dead_letter(
                &logged(claim(voucher, user, user)),
                refused,
                "the record's words",
                NOON + HOUR,
            )
            .await
            .unwrap();
    }
    // Of an unknown sale too: the log must get rid of the claim.
    orders.insert_dead_letter(&logged(claim(VoucherId::new(404), 3, 3)), refused, "", NOON).await.unwrap();
    let expected = [(1, "REFUSED".into(), true), (2, "REFUSED".into(), false), (3, "REFUSED".into(), false)];
    assert_eq!(reasons(w).await, expected);
    assert_eq!(stock(w, voucher).await, Some(0));
    assert_eq!(persist(w, &[claim(voucher, 1, 1)]).await, [PersistOutcome::Repeat]);
    let letter = letters(w).await.remove(0);
    assert_eq!((letter.order, letter.voucher), (claim(voucher, 1, 1).order, voucher));
    assert_eq!((letter.claimed, letter.created), (NOON, NOON + HOUR));
    assert_eq!(letter.detail, "the record's words");
    assert_eq!(orders.holding(voucher, UserId::new(1)).await.unwrap(), Some(letter.order));

    // A claim with an order is settled and does not become a dead letter as well.
    let sale = w.sale(Some(1)).await;
    assert_eq!(persist(w, &[claim(sale, 4, 4)]).await, [WRITTEN]);
    orders.insert_dead_letter(&logged(claim(sale, 4, 4)), refused, "", NOON).await.unwrap();
    assert_eq!(reasons(w).await, expected);
}

/// Takes an order to a status through the necessary transitions.
async fn order_at(w: &World, voucher: VoucherId, number: u64, to: OrderStatus) -> (OrderId, PaymentId) {
    let claim = claim(voucher, number, number);
    assert_eq!(persist(w, &[claim]).await, [WRITTEN]);
    let payment = w.storage.selling.payments.start(claim.order, Cents::new(100), NOON).await.unwrap().id;
    let pay = Transition::Pay(payment);
    let steps = match to {
        OrderStatus::Pending | OrderStatus::Unpaid => vec![],
        OrderStatus::Paid => vec![pay],
        OrderStatus::Used => vec![pay, Transition::Use],
        OrderStatus::Cancelled => vec![Transition::Cancel],
        OrderStatus::Refunding => vec![pay, Transition::StartRefund],
        OrderStatus::Refunded => vec![pay, Transition::StartRefund, Transition::FinishRefund],
    };
    for step in steps {
        assert!(
            is_done(&w.storage.selling.orders.step(claim.order, step, NOON).await.unwrap()),
            "{to:?} {step:?}"
        );
    }
    (claim.order, payment)
}

async fn each_step_leads_from_one_status_alone(w: &World) {
    use OrderStatus::{Cancelled, Paid, Refunded, Refunding, Unpaid, Used};
    let voucher = w.sale(Some(1000)).await;
    let later = NOON + HOUR;
    let mut number = 0;
    for from in [Unpaid, Paid, Used, Cancelled, Refunding, Refunded] {
        for kind in 0..5 {
            number += 1;
            let (order, payment) = order_at(w, voucher, number, from).await;
            let before = w.storage.selling.orders.get(order).await.unwrap().unwrap();
            let (step, needs, leads) = [
                (Transition::Pay(payment), Unpaid, Paid),
                (Transition::Cancel, Unpaid, Cancelled),
                (Transition::Use, Paid, Used),
                (Transition::StartRefund, Paid, Refunding),
                (Transition::FinishRefund, Refunding, Refunded),
            ][kind];
            let mut expected = before.clone();
            if from == needs {
                expected.status = leads;
                match leads {
                    Paid => expected.paid = Some(later),
                    Used => expected.used = Some(later),
                    Refunded => expected.refunded = Some(later),
                    _ => {}
                }
            }
            let answer = w.storage.selling.orders.step(order, step, later).await.unwrap();
            assert_eq!(is_done(&answer), from == needs, "{from:?} {step:?}");
            let (TransitionOutcome::Done(order_now) | TransitionOutcome::Stands(order_now)) = answer else {
                panic!("unknown")
            };
            assert_eq!(order_now, expected, "{from:?} {step:?}");
            assert_eq!(w.storage.selling.orders.get(order).await.unwrap(), Some(expected));
            // A repeated step changes nothing.
            let again = w.storage.selling.orders.step(order, step, later + HOUR).await.unwrap();
            assert_eq!(again, TransitionOutcome::Stands(order_now));
        }
    }
}

async fn a_closed_order_gives_unit_and_right_back(w: &World) {
    let voucher = w.sale(Some(10)).await;
    for (number, to, left) in [
        (1, OrderStatus::Used, 9),
        (2, OrderStatus::Refunding, 8),
        (3, OrderStatus::Cancelled, 8),
        (4, OrderStatus::Refunded, 8),
    ] {
        let (order, _) = order_at(w, voucher, number, to).await;
        assert_eq!(stock(w, voucher).await, Some(left), "{to:?}");
        let held = w.storage.selling.orders.holding(voucher, UserId::new(number)).await.unwrap();
        assert_eq!(held, to.is_live().then_some(order));
    }
    for (user, answer) in [(1, PersistOutcome::DeadLetter(DeadReason::Double)), (3, WRITTEN), (4, WRITTEN)] {
        assert_eq!(persist(w, &[claim(voucher, user, 10 + user)]).await, [answer]);
    }
    // Once the second order is closed, the user has two closed orders of the sale and may buy a third time.
    let again = claim(voucher, 3, 13).order;
    assert!(is_done(&w.storage.selling.orders.step(again, Transition::Cancel, NOON).await.unwrap()));
    assert_eq!(persist(w, &[claim(voucher, 3, 23)]).await, [WRITTEN]);
    assert_eq!(w.storage.selling.orders.of_user(UserId::new(3), Page::new(1, 9)).await.unwrap().len(), 3);
}

async fn a_step_with_a_foreign_payment_changes_nothing(w: &World) {
    let voucher = w.sale(Some(10)).await;
    let (order, _) = order_at(w, voucher, 1, OrderStatus::Unpaid).await;
    let (_, foreign) = order_at(w, voucher, 2, OrderStatus::Unpaid).await;
    for payment in [foreign, PaymentId::new(404)] {
        let refused = w.storage.selling.orders.step(order, Transition::Pay(payment), NOON).await;
        assert!(matches!(refused, Err(StoreError::Refused { .. })));
    }
    assert_eq!(status(w, order).await, OrderStatus::Unpaid);
}

/// Pay and cancel race for each of many orders.
async fn one_of_two_racing_steps_wins(w: &World) {
    const ORDERS: u64 = 150;
    let voucher = w.sale(Some(ORDERS)).await;
    let mut orders = Vec::new();
    for number in 1..=ORDERS {
        orders.push(order_at(w, voucher, number, OrderStatus::Unpaid).await);
    }
    let (orders, barrier) = (Arc::new(orders), Arc::new(Barrier::new(4)));
    let racers: Vec<_> = [true, false, true, false]
        .into_iter()
        .map(|pays| {
            let (orders, barrier) = (Arc::clone(&orders), Arc::clone(&barrier));
            let (storage, runtime) = (w.storage.clone(), Handle::current());
            tokio::task::spawn_blocking(move || {
                barrier.wait();
                let mut won = 0;
                for &(order, payment) in orders.iter() {
                    let step = if pays { Transition::Pay(payment) } else { Transition::Cancel };
                    won += u64::from(is_done(
                        &runtime.block_on(storage.selling.orders.step(order, step, NOON)).unwrap(),
                    ));
                }
                won
            })
        })
        .collect();
    let mut won = Vec::new();
    for racer in racers {
        won.push(racer.await.unwrap());
    }
    let counts = w.storage.selling.orders.count(voucher).await.unwrap();
    assert_eq!((won[0] + won[2], won[1] + won[3]), (counts.paid, counts.cancelled));
    assert_eq!(counts.paid + counts.cancelled, ORDERS);
    assert_eq!(stock(w, voucher).await, Some(counts.cancelled));
}

async fn lists_go_page_by_page(w: &World) {
    let orders = &w.storage.selling.orders;
    let mut ids = Vec::new();
    for number in 1..=5 {
        let voucher = w.sale(Some(9)).await;
        // Other people's orders in between.
        persist(w, &[claim(voucher, 1, number * 2), claim(voucher, 2, number * 2 + 1)]).await;
        ids.push(claim(voucher, 1, number * 2).order);
    }
    for (page, expected) in
        [(Page::new(1, 2), &[ids[4], ids[3]][..]), (Page::new(3, 2), &[ids[0]]), (Page::new(4, 2), &[])]
    {
        let list = orders.of_user(UserId::new(1), page).await.unwrap();
        assert_eq!(list.iter().map(|order| order.id).collect::<Vec<_>>(), expected);
    }
    assert!(is_done(&orders.step(ids[1], Transition::Cancel, NOON).await.unwrap()));
    let (mut after, mut unpaid) = (OrderId::new(0), Vec::new());
    loop {
        let page = orders.unpaid(after, 2).await.unwrap();
        let Some(&(last, deadline)) = page.last() else { break };
        assert!(page.len() <= 2 && deadline == NOON + Duration::from_secs(900));
        after = last;
        unpaid.extend(page.into_iter().map(|(order, _)| order));
    }
    assert_eq!(unpaid.len(), 9);
    assert!(unpaid.is_sorted() && !unpaid.contains(&ids[1]));
}

/// Eight workers write claims of one sale, two workers per claim.
async fn the_highest_number_of_each_day_counts_dead_letters_too(w: &World) {
    let orders = &w.storage.selling.orders;
    assert_eq!(orders.highest_counts().await.unwrap(), []);
    let voucher = w.sale(Some(9)).await;
    let numbered = |user, days: u32, count| {
        let at = NOON + HOUR * (24 * days);
        Claim { order: OrderId::compose(at, count, voucher).unwrap(), at, ..claim(voucher, user, 0) }
    };
    let first = OrderId::day(NOON).unwrap();
    persist(w, &[numbered(1, 0, 7), numbered(2, 0, 5), numbered(3, 1, 0)]).await;
    assert_eq!(orders.highest_counts().await.unwrap(), [(first, 7), (first + 1, 0)]);
    let dead = logged(numbered(4, 1, OrderId::MAX_COUNT));
    orders.insert_dead_letter(&dead, DeadReason::Refused, "", NOON).await.unwrap();
    assert_eq!(orders.highest_counts().await.unwrap(), [(first, 7), (first + 1, OrderId::MAX_COUNT)]);
}

async fn a_rush_of_batches_takes_exactly_the_stock(w: &World) {
    const UNITS: u64 = 1000;
    let voucher = w.sale(Some(UNITS)).await;
    let barrier = Arc::new(Barrier::new(8));
    let workers: Vec<_> = (0..8_u64)
        .map(|worker| {
            let (storage, barrier, runtime) = (w.storage.clone(), Arc::clone(&barrier), Handle::current());
            tokio::task::spawn_blocking(move || {
                // 600 claims each, identical for both workers of a pair.
                let first = worker / 2 * 600 + 1;
                let claims: Vec<_> = (first..first + 600).map(|n| logged(claim(voucher, n, n))).collect();
                barrier.wait();
                let persist = |batch| runtime.block_on(storage.selling.orders.persist(batch, NOON)).unwrap();
                claims.chunks(50).flat_map(persist).collect::<Vec<_>>()
            })
        })
        .collect();
    let mut answers = Vec::new();
    for worker in workers {
        answers.extend(worker.await.unwrap());
    }
    let count = |answer: &PersistOutcome| answers.iter().filter(|other| *other == answer).count();
    assert_eq!(count(&WRITTEN), 1000);
    assert_eq!(count(&PersistOutcome::DeadLetter(DeadReason::Oversold)), 1400);
    assert_eq!(count(&PersistOutcome::Repeat), 2400);
    let counts = w.storage.selling.orders.count(voucher).await.unwrap();
    assert_eq!(counts, OrderCounts { unpaid: UNITS, ..OrderCounts::default() });
    assert_eq!(stock(w, voucher).await, Some(0));
}

async fn orders_outlive_a_restart(w: &World) {
    let w = w.another().await;
    let voucher = w.sale(Some(2)).await;
    persist(&w, &[claim(voucher, 1, 1), claim(voucher, 1, 2)]).await;
    let (order, letters) =
        (w.storage.selling.orders.get(claim(voucher, 1, 1).order).await.unwrap(), reasons(&w).await);
    let w = w.reopen().await;
    assert!(order.is_some());
    assert_eq!(w.storage.selling.orders.get(claim(voucher, 1, 1).order).await.unwrap(), order);
    assert_eq!((reasons(&w).await, stock(&w, voucher).await), (letters, Some(1)));
}
