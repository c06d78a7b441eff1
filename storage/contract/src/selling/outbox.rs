//! `Outbox`: the entries of a closed order remain until they are done.

use mallbox_storage::{
    OrderId, OrderStatus, OutboxEntry, PurchaseOutcome, Transition, TransitionOutcome, UserId,
};

use crate::world::{NOON, World, claim};

crate::cases! {
    an_order_that_is_closed_leaves_its_unit_to_be_released,
    other_steps_leave_nothing,
    an_ordinary_voucher_has_nothing_to_release,
    what_is_done_is_gone_and_the_rest_stays_in_order,
}

async fn closed(w: &World, user: u64, voucher: mallbox_storage::VoucherId) -> OutboxEntry {
    let attempt = claim(voucher, user, user);
    assert_eq!(
        w.storage.selling.sales.claim(attempt).await.unwrap(),
        mallbox_storage::ClaimOutcome::Accepted
    );
    w.persist_all().await;
    let stepped = w.storage.selling.orders.step(attempt.order, Transition::Cancel, NOON).await.unwrap();
    assert!(matches!(stepped, TransitionOutcome::Done(_)), "{stepped:?}");
    OutboxEntry::Release { voucher, user: UserId::new(user), order: attempt.order }
}

async fn an_order_that_is_closed_leaves_its_unit_to_be_released(w: &World) {
    let voucher = w.sale(Some(9)).await;
    let cancelled = closed(w, 1, voucher).await;
    assert_eq!(w.storage.selling.outbox.open(9).await.unwrap(), [cancelled]);
    let OutboxEntry::Release { order, .. } = cancelled;
    let again = w.storage.selling.orders.step(order, Transition::Cancel, NOON).await.unwrap();
    assert!(matches!(again, TransitionOutcome::Stands(_)), "{again:?}");
    assert_eq!(w.storage.selling.outbox.open(9).await.unwrap(), [cancelled], "a repeat leaves no second one");

    let attempt = claim(voucher, 2, 2);
    assert_eq!(
        w.storage.selling.sales.claim(attempt).await.unwrap(),
        mallbox_storage::ClaimOutcome::Accepted
    );
    w.persist_all().await;
    let payment =
        w.storage.selling.payments.start(attempt.order, mallbox_storage::Cents::new(1), NOON).await.unwrap();
    for step in [Transition::Pay(payment.id), Transition::StartRefund, Transition::FinishRefund] {
        let stepped = w.storage.selling.orders.step(attempt.order, step, NOON).await.unwrap();
        assert!(matches!(stepped, TransitionOutcome::Done(_)), "{stepped:?}");
    }
    let refunded = OutboxEntry::Release { voucher, user: UserId::new(2), order: attempt.order };
    assert_eq!(w.storage.selling.outbox.open(9).await.unwrap(), [cancelled, refunded]);
}

async fn other_steps_leave_nothing(w: &World) {
    let voucher = w.sale(Some(9)).await;
    let attempt = claim(voucher, 1, 1);
    assert_eq!(
        w.storage.selling.sales.claim(attempt).await.unwrap(),
        mallbox_storage::ClaimOutcome::Accepted
    );
    w.persist_all().await;
    let payment =
        w.storage.selling.payments.start(attempt.order, mallbox_storage::Cents::new(1), NOON).await.unwrap();
    for step in [Transition::Pay(payment.id), Transition::Use] {
        let stepped = w.storage.selling.orders.step(attempt.order, step, NOON).await.unwrap();
        assert!(matches!(stepped, TransitionOutcome::Done(_)), "{stepped:?}");
    }
    assert_eq!(w.storage.selling.outbox.open(9).await.unwrap(), []);
}

async fn an_ordinary_voucher_has_nothing_to_release(w: &World) {
    let voucher = w.ordinary_voucher().await;
    let order = mallbox_storage::Order {
        id: OrderId::compose(NOON, 1, voucher).unwrap(),
        voucher,
        user: UserId::new(1),
        status: OrderStatus::Unpaid,
        pay_value: mallbox_storage::Cents::new(100),
        pay_type: 1,
        payment: mallbox_storage::PaymentMode::Sandbox,
        created: NOON,
        deadline: NOON,
        paid: None,
        used: None,
        refunded: None,
    };
    let bought = w.storage.selling.orders.insert(&order, None, None).await.unwrap();
    assert_eq!(bought, PurchaseOutcome::Bought(order.id));
    let stepped = w.storage.selling.orders.step(order.id, Transition::Cancel, NOON).await.unwrap();
    assert!(matches!(stepped, TransitionOutcome::Done(_)), "{stepped:?}");
    assert_eq!(w.storage.selling.outbox.open(9).await.unwrap(), []);
}

async fn what_is_done_is_gone_and_the_rest_stays_in_order(w: &World) {
    let voucher = w.sale(Some(9)).await;
    let mut entries = Vec::new();
    for user in 1..=4 {
        entries.push(closed(w, user, voucher).await);
    }
    assert_eq!(w.storage.selling.outbox.open(2).await.unwrap(), entries[..2]);
    w.storage.selling.outbox.done(&[entries[1], entries[2]]).await.unwrap();
    w.storage.selling.outbox.done(&[entries[1]]).await.unwrap();
    assert_eq!(w.storage.selling.outbox.open(9).await.unwrap(), [entries[0], entries[3]]);
}
