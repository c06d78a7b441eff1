//! `Orders`: an order takes the mall's payment mode at its insertion, and keeps the mode.

use std::time::Duration;

use mallbox_storage::{
    Cents, Claim, Order, OrderId, OrderStatus, PaymentContradictions, PaymentId, PaymentMode, PaymentState,
    PersistOutcome, ReplayOutcome, Transition, TransitionOutcome, VoucherId,
};

use crate::selling::dead_letters::{insert_dead_letter, replay};
use crate::selling::orders::{persist, stock};
use crate::world::{HOUR, NOON, World, claim};

crate::cases! {
    without_a_payment_an_order_is_final_when_it_is_written,
    without_a_payment_a_refund_takes_one_step_and_gives_the_unit_back,
    a_changed_mode_touches_no_existing_order,
    a_replayed_letter_takes_the_mode_of_its_replay,
    a_mode_that_is_not_known_writes_no_order,
    at_the_counter_an_order_waits_for_a_day_after_its_sale,
    at_the_counter_a_refund_takes_one_step_with_its_payment,
    a_payment_keeps_the_gateway_of_its_order,
    a_payment_that_waits_for_its_buyer_is_listed_apart,
    a_payment_is_reversed_only_for_a_used_order,
}

async fn set_mode(w: &World, mode: &str) {
    w.storage.base.upkeep.put_setting(PaymentMode::SETTING, mode).await.unwrap();
}

async fn written(w: &World, claim: Claim) -> Order {
    assert!(matches!(persist(w, &[claim]).await[..], [PersistOutcome::Written { .. }]));
    order(w, claim.order).await
}

async fn order(w: &World, order: OrderId) -> Order {
    w.storage.selling.orders.get(order).await.unwrap().unwrap()
}

async fn step(w: &World, order: OrderId, step: Transition) -> TransitionOutcome {
    w.storage.selling.orders.step(order, step, NOON + HOUR).await.unwrap()
}

/// Checks that no deadline is loaded at a start, and that no money is missing.
async fn assert_final(w: &World) {
    assert_eq!(w.storage.selling.orders.unpaid(OrderId::new(0), 9).await.unwrap(), []);
    assert_eq!(w.storage.selling.payments.faults().await.unwrap(), PaymentContradictions::default());
}

async fn sale_without_payment(w: &World) -> VoucherId {
    set_mode(w, "none").await;
    w.sale(Some(5)).await
}

async fn without_a_payment_an_order_is_final_when_it_is_written(w: &World) {
    let voucher = sale_without_payment(w).await;
    let claims = [claim(voucher, 7, 1), claim(voucher, 8, 2)];
    assert_eq!(persist(w, &claims).await, [const { PersistOutcome::Written { deadline: None } }; 2]);
    let bought = order(w, claims[0].order).await;
    assert_eq!((bought.status, bought.payment, bought.paid), (OrderStatus::Paid, PaymentMode::None, None));
    assert_final(w).await;
    assert_eq!(step(w, bought.id, Transition::Cancel).await, TransitionOutcome::Stands(bought.clone()));
    assert!(
        matches!(step(w, bought.id, Transition::Use).await, TransitionOutcome::Done(used) if used.used.is_some())
    );
    assert_final(w).await;
    assert_eq!(w.storage.selling.payments.of_order(bought.id).await.unwrap(), []);
    // Claim by claim, since the batch has a second order of the same user.
    let second = [claim(voucher, 9, 3), claim(voucher, 9, 4)];
    let answers = persist(w, &second).await;
    assert_eq!(answers[0], PersistOutcome::Written { deadline: None });
    assert_eq!(order(w, second[0].order).await.payment, PaymentMode::None);
}

async fn without_a_payment_a_refund_takes_one_step_and_gives_the_unit_back(w: &World) {
    let voucher = sale_without_payment(w).await;
    let bought = written(w, claim(voucher, 7, 1)).await;
    assert_eq!(stock(w, voucher).await, Some(4));
    let TransitionOutcome::Done(refunded) = step(w, bought.id, Transition::StartRefund).await else {
        panic!()
    };
    assert_eq!((refunded.status, refunded.refunded), (OrderStatus::Refunded, Some(NOON + HOUR)));
    assert_eq!(refunded, order(w, bought.id).await);
    assert_eq!(
        (stock(w, voucher).await, w.storage.selling.outbox.open(9).await.unwrap().len()),
        (Some(5), 1)
    );
    assert_eq!(step(w, bought.id, Transition::StartRefund).await, TransitionOutcome::Stands(refunded));
    assert_final(w).await;
    written(w, claim(voucher, 7, 2)).await;
}

async fn a_changed_mode_touches_no_existing_order(w: &World) {
    let voucher = w.sale(Some(5)).await;
    let before = written(w, claim(voucher, 7, 1)).await;
    assert_eq!((before.status, before.payment), (OrderStatus::Unpaid, PaymentMode::Sandbox));
    set_mode(w, "none").await;
    let without = written(w, claim(voucher, 8, 2)).await;
    assert_eq!(order(w, before.id).await, before);
    set_mode(w, "sandbox").await;
    let after = written(w, claim(voucher, 9, 3)).await;
    assert_eq!((after.status, after.payment), (OrderStatus::Unpaid, PaymentMode::Sandbox));
    assert_eq!(order(w, without.id).await, without);
    let unpaid = w.storage.selling.orders.unpaid(OrderId::new(0), 9).await.unwrap();
    assert_eq!(unpaid, [(before.id, before.deadline), (after.id, after.deadline)]);
    assert!(matches!(step(w, before.id, Transition::Cancel).await, TransitionOutcome::Done(_)));
    assert!(matches!(step(w, without.id, Transition::Cancel).await, TransitionOutcome::Stands(_)));
}

async fn a_replayed_letter_takes_the_mode_of_its_replay(w: &World) {
    let voucher = w.sale(Some(5)).await;
    let letter = insert_dead_letter(w, voucher, 7, 4).await;
    set_mode(w, "none").await;
    let ReplayOutcome::Order(revived) = replay(w, &letter).await else { panic!() };
    assert_eq!((revived.status, revived.payment), (OrderStatus::Paid, PaymentMode::None));
    assert_final(w).await;
}

async fn a_mode_that_is_not_known_writes_no_order(w: &World) {
    let voucher = w.sale(Some(5)).await;
    set_mode(w, "of a later version").await;
    let claims = [crate::selling::orders::logged(claim(voucher, 7, 1))];
    assert!(w.storage.selling.orders.persist(&claims, NOON).await.is_err());
    set_mode(w, "sandbox").await;
    assert!(w.storage.selling.orders.persist(&claims, NOON).await.is_ok());
}

async fn at_the_counter_an_order_waits_for_a_day_after_its_sale(w: &World) {
    const DAY: Duration = Duration::from_secs(24 * 3600);
    set_mode(w, "counter").await;
    let voucher = w.sale(Some(5)).await;
    let end = w.terms(voucher).await.end;
    let bought = written(w, claim(voucher, 7, 1)).await;
    assert_eq!((bought.status, bought.payment), (OrderStatus::Unpaid, PaymentMode::Counter));
    assert_eq!(bought.deadline, end + DAY);
    // Persisted after the sale, and in a sale with a longer time to pay.
    let late = claim(voucher, 8, 2);
    w.storage.selling.orders.persist(&[super::orders::logged(late)], end + HOUR).await.unwrap();
    assert_eq!(order(w, late.order).await.deadline, end + HOUR + DAY);
    let long = w.sale_to_pay_within(DAY * 30).await;
    let patient = claim(long, 9, 3);
    assert_eq!(written(w, patient).await.deadline, patient.at + DAY * 30);
    let unpaid = w.storage.selling.orders.unpaid(OrderId::new(0), 9).await.unwrap();
    assert_eq!(unpaid.len(), 3, "deadlines that a start loads: {unpaid:?}");
}

async fn at_the_counter_a_refund_takes_one_step_with_its_payment(w: &World) {
    set_mode(w, "counter").await;
    let voucher = w.sale(Some(5)).await;
    let bought = written(w, claim(voucher, 7, 1)).await;
    let payments = &w.storage.selling.payments;
    let payment = payments.start(bought.id, bought.pay_value, NOON).await.unwrap();
    assert!(matches!(step(w, bought.id, Transition::Pay(payment.id)).await, TransitionOutcome::Done(_)));
    assert_eq!(w.storage.selling.payments.faults().await.unwrap(), PaymentContradictions::default());
    let TransitionOutcome::Done(refunded) = step(w, bought.id, Transition::StartRefund).await else {
        panic!()
    };
    assert_eq!((refunded.status, refunded.refunded), (OrderStatus::Refunded, Some(NOON + HOUR)));
    let rows = payments.of_order(bought.id).await.unwrap();
    assert_eq!(rows.iter().map(|row| row.state).collect::<Vec<_>>(), [PaymentState::Refunded]);
    assert_eq!(payments.unsettled(NOON + HOUR * 2, 9).await.unwrap(), []);
    let outbox = w.storage.selling.outbox.open(9).await.unwrap();
    assert_eq!((stock(w, voucher).await, outbox.len()), (Some(5), 1));
    assert_eq!(step(w, bought.id, Transition::StartRefund).await, TransitionOutcome::Stands(refunded));
    assert_eq!(w.storage.selling.payments.faults().await.unwrap(), PaymentContradictions::default());
}

async fn a_payment_keeps_the_gateway_of_its_order(w: &World) {
    let voucher = w.sale(Some(5)).await;
    let mut bought = Vec::new();
    for (number, mode) in [(1, PaymentMode::Sandbox), (2, PaymentMode::Counter), (3, PaymentMode::Webhook)] {
        set_mode(w, mode.name()).await;
        bought.push((written(w, claim(voucher, number, number)).await.id, mode));
    }
    set_mode(w, "none").await;
    let payments = &w.storage.selling.payments;
    for (order, mode) in bought {
        let started = payments.start(order, Cents::new(100), NOON).await.unwrap();
        assert_eq!(started.gateway, mode);
        assert_eq!(payments.start(order, Cents::new(100), NOON).await.unwrap(), started);
        assert_eq!(payments.of_order(order).await.unwrap(), [started]);
        let unsettled = payments.unsettled(NOON + HOUR, 9).await.unwrap();
        assert_eq!(unsettled.contains(&started), mode != PaymentMode::Webhook);
        let listed = payments.started(mode, PaymentId::new(0), 9).await.unwrap();
        assert_eq!(listed, [started]);
    }
}

async fn a_payment_that_waits_for_its_buyer_is_listed_apart(w: &World) {
    const PAY_WITHIN: Duration = Duration::from_secs(900);
    set_mode(w, "webhook").await;
    let voucher = w.sale_to_pay_within(PAY_WITHIN).await;
    let payments = &w.storage.selling.payments;
    let mut waiting = Vec::new();
    for number in 1..=4 {
        let bought = written(w, claim(voucher, number, number)).await;
        assert_eq!((bought.status, bought.payment), (OrderStatus::Unpaid, PaymentMode::Webhook));
        assert_eq!(bought.deadline, bought.created + PAY_WITHIN);
        waiting.push(payments.start(bought.id, bought.pay_value, NOON + HOUR).await.unwrap());
    }
    let listed = |after: u64, max| async move {
        payments.started(PaymentMode::Webhook, PaymentId::new(after), max).await.unwrap()
    };
    assert_eq!(listed(0, 9).await, waiting);
    assert_eq!(listed(0, 2).await, waiting[..2]);
    assert_eq!(listed(waiting[1].id.get(), 9).await, waiting[2..]);
    assert_eq!(listed(u64::MAX, 9).await, []);
    assert_eq!(payments.started(PaymentMode::Sandbox, PaymentId::new(0), 9).await.unwrap(), []);
    assert_eq!(payments.unsettled(NOON + HOUR * 9, 9).await.unwrap(), []);
    // Captured, failed, and captured for a cancelled order.
    let _ = step(w, waiting[0].order, Transition::Pay(waiting[0].id)).await;
    assert!(payments.settle(waiting[1].id, PaymentState::Failed, NOON).await.unwrap());
    let _ = step(w, waiting[2].order, Transition::Cancel).await;
    assert_eq!(listed(0, 9).await, waiting[2..], "a cancelled order has a payment to close");
    assert!(payments.settle(waiting[2].id, PaymentState::Captured, NOON).await.unwrap());
    assert_eq!(listed(0, 9).await, waiting[3..]);
    let unsettled: Vec<_> = payments.unsettled(NOON, 9).await.unwrap().iter().map(|row| row.id).collect();
    assert_eq!(unsettled, [waiting[2].id], "the money has to go back");
}

async fn a_payment_is_reversed_only_for_a_used_order(w: &World) {
    set_mode(w, "webhook").await;
    let voucher = w.sale(Some(9)).await;
    let payments = &w.storage.selling.payments;
    let bought = written(w, claim(voucher, 7, 1)).await;
    let payment = payments.start(bought.id, bought.pay_value, NOON).await.unwrap();
    let settle = |state| async move { payments.settle(payment.id, state, NOON).await.unwrap() };
    assert!(!settle(PaymentState::Reversed).await, "no money was taken");
    let _ = step(w, bought.id, Transition::Pay(payment.id)).await;
    assert!(!settle(PaymentState::Reversed).await, "the order can be refunded");
    let _ = step(w, bought.id, Transition::Use).await;
    assert!(settle(PaymentState::Reversed).await);
    assert!(settle(PaymentState::Reversed).await, "a repeat");
    for late in [PaymentState::Failed, PaymentState::Refunded] {
        assert!(!settle(late).await, "{late:?}");
    }
    let rows = payments.of_order(bought.id).await.unwrap();
    assert_eq!(rows.iter().map(|row| row.state).collect::<Vec<_>>(), [PaymentState::Reversed]);
    assert_eq!(payments.unsettled(NOON + HOUR, 9).await.unwrap(), []);
    assert_final(w).await;
}
