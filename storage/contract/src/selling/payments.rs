//! `PaymentRows`: one open payment per order, and none forgotten.

use std::sync::{Arc, Barrier};

use mallbox_storage::{
    Cents, OrderId, Payment, PaymentContradictions, PaymentId, PaymentMode, PaymentState, StoreError,
    Transition, TransitionOutcome, VoucherId,
};
use tokio::runtime::Handle;

use crate::selling::orders::persist;
use crate::world::{HOUR, NOON, World, claim};

crate::cases! {
    what_was_never_started_is_unknown,
    starting_again_answers_the_open_payment,
    a_failed_payment_makes_room_for_another,
    steps_move_order_and_payment_together,
    what_needs_a_look_is_listed_oldest_first,
    money_taken_for_a_cancelled_order_is_found,
    faults_are_counted_row_by_row,
    a_refund_that_is_not_finished_needs_a_look,
    a_payment_given_up_is_captured_all_the_same,
    a_rush_starts_one_payment,
    payments_outlive_a_restart,
}

const PRICE: Cents = Cents::new(100);

async fn order(w: &World, voucher: VoucherId, number: u64) -> OrderId {
    let claim = claim(voucher, number, number);
    persist(w, &[claim]).await;
    claim.order
}

async fn step(w: &World, order: OrderId, step: Transition) {
    let stepped = w.storage.selling.orders.step(order, step, NOON).await.unwrap();
    assert!(matches!(stepped, TransitionOutcome::Done(_)), "{step:?}: {stepped:?}");
}

async fn states(w: &World, order: OrderId) -> Vec<PaymentState> {
    w.storage.selling.payments.of_order(order).await.unwrap().iter().map(|payment| payment.state).collect()
}

async fn settle(w: &World, payment: PaymentId, state: PaymentState) {
    assert!(w.storage.selling.payments.settle(payment, state, NOON).await.unwrap());
}

async fn what_was_never_started_is_unknown(w: &World) {
    let payments = &w.storage.selling.payments;
    for id in [0, 1, i64::MAX as u64, u64::MAX] {
        assert!(!payments.settle(PaymentId::new(id), PaymentState::Failed, NOON).await.unwrap());
        assert_eq!(payments.of_order(OrderId::new(id)).await.unwrap(), []);
        let refused = payments.start(OrderId::new(id), PRICE, NOON).await;
        assert!(matches!(refused, Err(StoreError::Refused { .. })));
    }
    assert_eq!(payments.unsettled(NOON + HOUR, 10).await.unwrap(), []);
    assert_eq!(payments.faults().await.unwrap(), PaymentContradictions::default());
}

async fn starting_again_answers_the_open_payment(w: &World) {
    let payments = &w.storage.selling.payments;
    let order = order(w, w.sale(Some(9)).await, 1).await;
    let first = payments.start(order, PRICE, NOON).await.unwrap();
    let expected = Payment {
        id: first.id,
        order,
        amount: PRICE,
        state: PaymentState::Started,
        started: NOON,
        gateway: PaymentMode::Sandbox,
    };
    assert_eq!(first, expected);
    assert_eq!(payments.start(order, Cents::new(7), NOON + HOUR).await.unwrap(), first);
    step(w, order, Transition::Pay(first.id)).await;
    let captured = Payment { state: PaymentState::Captured, ..first };
    assert_eq!(payments.start(order, PRICE, NOON + HOUR).await.unwrap(), captured);
    assert_eq!(payments.of_order(order).await.unwrap(), [captured]);
}

async fn a_failed_payment_makes_room_for_another(w: &World) {
    let payments = &w.storage.selling.payments;
    let order = order(w, w.sale(Some(9)).await, 1).await;
    let first = payments.start(order, PRICE, NOON).await.unwrap().id;
    settle(w, first, PaymentState::Failed).await;
    let second = payments.start(order, PRICE, NOON + HOUR).await.unwrap().id;
    assert_ne!(first, second);
    assert_eq!(states(w, order).await, [PaymentState::Failed, PaymentState::Started]);
    // The order has another open payment.
    for state in [PaymentState::Started, PaymentState::Captured] {
        let refused = payments.settle(first, state, NOON).await;
        assert!(matches!(refused, Err(StoreError::Refused { .. })));
    }
    // A failed payment pays for nothing.
    let refused = w.storage.selling.orders.step(order, Transition::Pay(first), NOON).await;
    assert!(matches!(refused, Err(StoreError::Refused { .. })));
    step(w, order, Transition::Pay(second)).await;
    assert_eq!(states(w, order).await, [PaymentState::Failed, PaymentState::Captured]);
}

async fn steps_move_order_and_payment_together(w: &World) {
    let order = order(w, w.sale(Some(9)).await, 1).await;
    let payment = w.storage.selling.payments.start(order, PRICE, NOON).await.unwrap().id;
    for (next, state) in [
        (Transition::Pay(payment), PaymentState::Captured),
        (Transition::StartRefund, PaymentState::Captured),
        (Transition::FinishRefund, PaymentState::Refunded),
    ] {
        step(w, order, next).await;
        assert_eq!(states(w, order).await, [state], "{next:?}");
    }
}

async fn what_needs_a_look_is_listed_oldest_first(w: &World) {
    let payments = &w.storage.selling.payments;
    let voucher = w.sale(Some(9)).await;
    let mut started = Vec::new();
    for (number, hours) in [(1, 3), (2, 1), (3, 2), (4, 1)] {
        let order = order(w, voucher, number).await;
        started.push(payments.start(order, PRICE, NOON + HOUR * hours).await.unwrap());
    }
    for (hours, max, expected) in [
        (1, 9, &[][..]),
        (2, 9, &[started[1], started[3]]),
        (4, 9, &[started[1], started[3], started[2], started[0]]),
        (4, 1, &[started[1]]),
    ] {
        let list = payments.unsettled(NOON + HOUR * hours, max).await.unwrap();
        assert_eq!(list, expected, "before {hours} h, {max}");
    }
    settle(w, started[1].id, PaymentState::Failed).await;
    step(w, started[3].order, Transition::Pay(started[3].id)).await;
    assert_eq!(payments.unsettled(NOON + HOUR * 4, 9).await.unwrap(), [started[2], started[0]]);
    settle(w, started[1].id, PaymentState::Started).await;
    assert_eq!(payments.unsettled(NOON + HOUR * 2, 9).await.unwrap(), [started[1]]);
}

async fn money_taken_for_a_cancelled_order_is_found(w: &World) {
    let payments = &w.storage.selling.payments;
    let voucher = w.sale(Some(9)).await;
    // Captured before the order was cancelled, and after.
    for (number, captured_first) in [(1, true), (2, false)] {
        let order = order(w, voucher, number).await;
        let payment = payments.start(order, PRICE, NOON).await.unwrap();
        if captured_first {
            settle(w, payment.id, PaymentState::Captured).await;
            assert_eq!(payments.unsettled(NOON, 9).await.unwrap(), []);
            step(w, order, Transition::Cancel).await;
        } else {
            step(w, order, Transition::Cancel).await;
            settle(w, payment.id, PaymentState::Captured).await;
        }
        let stray = Payment { state: PaymentState::Captured, ..payment };
        // However young the payment is.
        assert_eq!(payments.unsettled(NOON, 9).await.unwrap(), [stray]);
        settle(w, payment.id, PaymentState::Refunded).await;
        assert_eq!(payments.unsettled(NOON + HOUR, 9).await.unwrap(), []);
    }
}

async fn a_refund_that_is_not_finished_needs_a_look(w: &World) {
    let payments = &w.storage.selling.payments;
    let order = order(w, w.sale(Some(9)).await, 1).await;
    let payment = payments.start(order, PRICE, NOON).await.unwrap();
    step(w, order, Transition::Pay(payment.id)).await;
    assert_eq!(payments.unsettled(NOON + HOUR, 9).await.unwrap(), []);
    step(w, order, Transition::StartRefund).await;
    let refunding = Payment { state: PaymentState::Captured, ..payment };
    assert_eq!(payments.unsettled(NOON, 9).await.unwrap(), [refunding]);
    step(w, order, Transition::FinishRefund).await;
    assert_eq!(payments.unsettled(NOON + HOUR, 9).await.unwrap(), []);
}

async fn faults_are_counted_row_by_row(w: &World) {
    let payments = &w.storage.selling.payments;
    let voucher = w.sale(Some(9)).await;
    let mut rows = Vec::new();
    for number in 1..=4 {
        let order = order(w, voucher, number).await;
        rows.push(payments.start(order, PRICE, NOON).await.unwrap());
    }
    for row in &rows[..3] {
        step(w, row.order, Transition::Pay(row.id)).await;
    }
    step(w, rows[1].order, Transition::Use).await;
    assert_eq!(payments.faults().await.unwrap(), PaymentContradictions::default());
    // No late response of the gateway undoes a capture.
    for (row, late) in [(0, PaymentState::Failed), (0, PaymentState::Refunded), (1, PaymentState::Refunded)] {
        assert!(!payments.settle(rows[row].id, late, NOON).await.unwrap());
    }
    assert_eq!(payments.faults().await.unwrap(), PaymentContradictions::default());
    for row in &rows[..2] {
        settle(w, row.id, PaymentState::Started).await;
    }
    settle(w, rows[3].id, PaymentState::Captured).await;
    step(w, rows[3].order, Transition::Cancel).await;
    let expected = PaymentContradictions { paid_without_payment: 2, captured_on_cancelled: 1 };
    assert_eq!(payments.faults().await.unwrap(), expected);
}

async fn a_payment_given_up_is_captured_all_the_same(w: &World) {
    let voucher = w.sale(Some(9)).await;
    let order = order(w, voucher, 1).await;
    let payment = w.storage.selling.payments.start(order, PRICE, NOON).await.unwrap();
    // The gateway was queried before the capture, and the response came late.
    settle(w, payment.id, PaymentState::Failed).await;
    step(w, order, Transition::Pay(payment.id)).await;
    assert_eq!(states(w, order).await, [PaymentState::Captured]);
    assert_eq!(w.storage.selling.payments.faults().await.unwrap(), PaymentContradictions::default());
}

async fn a_rush_starts_one_payment(w: &World) {
    let voucher = w.sale(Some(99)).await;
    let mut orders = Vec::new();
    for number in 1..=50 {
        orders.push(order(w, voucher, number).await);
    }
    let (orders, barrier) = (Arc::new(orders), Arc::new(Barrier::new(8)));
    let rush: Vec<_> = (0..8)
        .map(|_| {
            let (orders, barrier) = (Arc::clone(&orders), Arc::clone(&barrier));
            let (payments, runtime) = (Arc::clone(&w.storage.selling.payments), Handle::current());
            tokio::task::spawn_blocking(move || {
                barrier.wait();
                let start = |order: &OrderId| runtime.block_on(payments.start(*order, PRICE, NOON)).unwrap();
                orders.iter().map(start).collect::<Vec<_>>()
            })
        })
        .collect();
    let mut answers = Vec::new();
    for thread in rush {
        answers.push(thread.await.unwrap());
    }
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]));
    assert_eq!(w.storage.selling.payments.unsettled(NOON + HOUR, 1000).await.unwrap().len(), orders.len());
}

async fn payments_outlive_a_restart(w: &World) {
    let w = w.another().await;
    let order = order(&w, w.sale(Some(9)).await, 1).await;
    let payment = w.storage.selling.payments.start(order, PRICE, NOON).await.unwrap();
    let w = w.reopen().await;
    assert_eq!(w.storage.selling.payments.of_order(order).await.unwrap(), [payment]);
}
