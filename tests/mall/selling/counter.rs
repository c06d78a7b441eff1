//! Payments at the counter: recorded by operators, once, and returned through the till.

use std::sync::Arc;
use std::time::Duration;

use mallbox::fixture::faults::Fault;
use mallbox::mall::operator::orders::{CounterMoney, CounterOutcome};
use mallbox::mall::{Cashier, Failure, Orders, Refusal};
use mallbox_storage::{
    Cents, OrderId, OrderStatus, PaymentMode, PaymentState, Transition, TransitionOutcome, UserId,
};
use serde_json::json;
use tokio::task::JoinSet;

use super::world::{MINUTE, PAY_WITHIN, PRICE, World, refusal, world};

const ANNE: UserId = UserId::new(1);
/// Longer than the delay before a payment in doubt is checked.
const SETTLE_DELAY: Duration = Duration::from_secs(31);
const DAY: Duration = Duration::from_secs(24 * 3600);
/// Tills that record the same step at once.
const TILLS: usize = 64;

async fn at_the_counter() -> World {
    let w = world().await;
    set_mode(&w, PaymentMode::Counter).await;
    w
}

async fn set_mode(w: &World, mode: PaymentMode) {
    w.context.set_payment_mode(mode).await.unwrap();
}

fn cash(amount: Cents) -> CounterMoney {
    CounterMoney { amount, method: "cash".to_owned(), till: None }
}

async fn pay(w: &World, order: OrderId) -> Result<CounterOutcome, Failure> {
    w.order_admin.pay_at_counter(w.by(), order, &cash(PRICE)).await
}

async fn refund(w: &World, order: OrderId) -> Result<CounterOutcome, Failure> {
    w.order_admin.refund_at_counter(w.by(), order, &cash(PRICE), "changed her mind").await
}

async fn states(w: &World, order: OrderId) -> Vec<PaymentState> {
    w.storage.selling.payments.of_order(order).await.unwrap().iter().map(|row| row.state).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn only_an_operator_pays_and_only_the_price() {
    let w = at_the_counter().await;
    let order = w.order(1, w.sale(2).await).await;
    assert_eq!(refusal(w.orders.pay(ANNE, order, w.now()).await), Refusal::PayAtCounter);
    for wrong in [0, PRICE.get() - 1, PRICE.get() + 1, -PRICE.get(), i64::MIN, i64::MAX] {
        let refused = w.order_admin.pay_at_counter(w.by(), order, &cash(Cents::new(wrong))).await;
        assert_eq!(refusal(refused), Refusal::AmountDiffers(PRICE), "{wrong}");
    }
    let coins = CounterMoney { amount: PRICE, method: "coins".to_owned(), till: None };
    let refused = w.order_admin.pay_at_counter(w.by(), order, &coins).await;
    assert_eq!(refusal(refused), Refusal::BadValue("method"));
    assert_eq!(refusal(pay(&w, OrderId::new(7)).await), Refusal::NotFound("order"));
    assert_eq!((w.status(order).await, states(&w, order).await), (OrderStatus::Unpaid, vec![]));

    let paid = pay(&w, order).await.unwrap();
    assert_eq!((paid.found.view.order.status, paid.was_recorded), (OrderStatus::Paid, false));
    w.clock.advance(MINUTE);
    let again = pay(&w, order).await.unwrap();
    assert_eq!((again.found.view.order.paid, again.was_recorded), (paid.found.view.order.paid, true));
    assert_eq!(states(&w, order).await, [PaymentState::Captured]);
    assert_eq!(w.orders.pay(ANNE, order, w.now()).await.unwrap().order.status, OrderStatus::Paid);
    let audited = w.audited().await;
    let taken = (
        "order.pay".to_owned(),
        format!("order {order}"),
        json!({ "amount": 4750, "method": "cash", "till": "1" }),
    );
    assert_eq!((&audited[audited.len() - 2], &audited[audited.len() - 1]), (&taken, &taken));
    let refused = &audited[0].2;
    assert_eq!(refused["amount"], 0, "an attempt with another amount stays in the log: {audited:?}");
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_tills_at_once_one_takes_the_money_and_one_returns_it() {
    let w = Arc::new(at_the_counter().await);
    let voucher = w.sale(1).await;
    let order = w.order(1, voucher).await;
    for (is_refund, state) in [(false, PaymentState::Captured), (true, PaymentState::Refunded)] {
        let mut tills = JoinSet::new();
        for _ in 0..TILLS {
            let w = Arc::clone(&w);
            tills
                .spawn(async move { if is_refund { refund(&w, order).await } else { pay(&w, order).await } });
        }
        let outcomes = tills.join_all().await;
        let new = outcomes.into_iter().filter(|outcome| !outcome.as_ref().unwrap().was_recorded).count();
        assert_eq!((new, states(&w, order).await), (1, vec![state]));
    }
    assert_eq!((w.status(order).await, w.left(voucher).await), (OrderStatus::Refunded, 1));
    let second = w.order(1, voucher).await;
    assert_eq!(w.status(second).await, OrderStatus::Unpaid, "the buyer may buy again");
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn money_goes_back_at_the_till_and_nowhere_else() {
    let w = at_the_counter().await;
    let order = w.order(1, w.sale(1).await).await;
    assert_eq!(refusal(refund(&w, order).await), Refusal::OrderStands(1));
    assert_eq!(refusal(w.orders.refund(ANNE, order, w.now()).await), Refusal::OrderStands(1));
    pay(&w, order).await.unwrap();
    assert_eq!(refusal(w.orders.refund(ANNE, order, w.now()).await), Refusal::RefundAtCounter);
    let voided = w.order_admin.void(w.by(), order, "a mistake", None).await;
    assert_eq!(refusal(voided), Refusal::RefundAtCounter);
    let seen_unpaid = w.order_admin.void(w.by(), order, "a mistake", Some(1)).await;
    assert_eq!(refusal(seen_unpaid), Refusal::OrderStands(2));
    let less = w.order_admin.refund_at_counter(w.by(), order, &cash(Cents::new(1)), "a mistake").await;
    assert_eq!(refusal(less), Refusal::AmountDiffers(PRICE));
    let unexplained = w.order_admin.refund_at_counter(w.by(), order, &cash(PRICE), " ").await;
    assert_eq!(refusal(unexplained), Refusal::BadValue("reason"));
    assert_eq!(w.status(order).await, OrderStatus::Paid);
    refund(&w, order).await.unwrap();
    let (action, _, detail) = w.audited().await.pop().unwrap();
    let wanted = json!({ "amount": 4750, "method": "cash", "till": "1", "reason": "changed her mind" });
    assert_eq!((action.as_str(), detail), ("order.refund", wanted));
    assert_eq!(w.orders.refund(ANNE, order, w.now()).await.unwrap().order.status, OrderStatus::Refunded);
    assert_eq!(
        w.order_admin.void(w.by(), order, "again", None).await.unwrap().view.order.status,
        OrderStatus::Refunded
    );
    assert_eq!(refusal(pay(&w, order).await), Refusal::OrderStands(6));
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_used_order_is_not_refunded_and_an_order_of_another_mode_not_paid_at_the_counter() {
    let w = world().await;
    let voucher = w.sale(2).await;
    let sandbox = w.order(1, voucher).await;
    set_mode(&w, PaymentMode::Counter).await;
    let counter = w.order(2, voucher).await;
    assert_eq!(refusal(pay(&w, sandbox).await), Refusal::NotAtCounter);
    w.orders.pay(ANNE, sandbox, w.now()).await.unwrap();
    assert_eq!(refusal(refund(&w, sandbox).await), Refusal::NotAtCounter);
    pay(&w, counter).await.unwrap();
    w.orders.redeem(counter, w.now()).await.unwrap();
    for refused in [pay(&w, counter).await, refund(&w, counter).await] {
        assert_eq!(refusal(refused), Refusal::OrderStands(3));
    }
    // Each payment goes back through its own gateway.
    assert_eq!(w.orders.refund(ANNE, sandbox, w.now()).await.unwrap().order.status, OrderStatus::Refunded);
    assert_eq!(w.gateway.moved().given_back, 1);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_waits_at_the_counter_until_a_day_after_its_sale() {
    let w = at_the_counter().await;
    let voucher = w.sale(1).await;
    let order = w.order(1, voucher).await;
    let end = w.storage.catalogue.vouchers.get(voucher).await.unwrap().unwrap().sale.unwrap().terms.end;
    w.advance(end.since(w.now()) + DAY - MINUTE).await;
    assert_eq!(w.status(order).await, OrderStatus::Unpaid);
    w.advance(MINUTE).await;
    assert_eq!(w.status(order).await, OrderStatus::Cancelled);
    // The sale is over and no longer in memory: the unit is back in the database.
    let stock = w.storage.catalogue.vouchers.get(voucher).await.unwrap().unwrap().sale.unwrap().stock;
    assert_eq!(stock, Some(1));
    assert_eq!(refusal(pay(&w, order).await), Refusal::OrderStands(4));
    w.advance(SETTLE_DELAY).await;
    assert!(!states(&w, order).await.contains(&PaymentState::Captured), "the money stays with the buyer");
    let ordinary = w.orders.buy(ANNE, w.record(None).await, None, w.now()).await.unwrap();
    w.advance(DAY * 7 - MINUTE).await;
    assert_eq!(w.status(ordinary).await, OrderStatus::Unpaid);
    w.advance(MINUTE).await;
    assert_eq!(w.status(ordinary).await, OrderStatus::Cancelled);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_that_were_there_keep_their_mode_and_deadline() {
    let w = world().await;
    let voucher = w.sale(2).await;
    let before = w.order(1, voucher).await;
    let deadline = w.storage.selling.orders.get(before).await.unwrap().unwrap().deadline;
    set_mode(&w, PaymentMode::Counter).await;
    let mut w = w.restart().await;
    w.start_workers();
    let kept = w.storage.selling.orders.get(before).await.unwrap().unwrap();
    assert_eq!((kept.payment, kept.deadline), (PaymentMode::Sandbox, deadline));
    w.order(2, voucher).await;
    w.advance(PAY_WITHIN).await;
    assert_eq!(w.status(before).await, OrderStatus::Cancelled);
    assert_eq!(w.left(voucher).await, 1, "the other order still waits for its buyer at the counter");
    w.assert_balanced().await;
}

/// The payment is started, and the mall dies before the order is paid: nobody was told of a payment, and a
/// repeat records the payment once.
#[tokio::test(flavor = "multi_thread")]
async fn a_recording_that_broke_off_counts_for_nothing_and_is_repeated() {
    for is_repeated_first in [true, false] {
        let w = at_the_counter().await;
        let order = w.order(1, w.sale(1).await).await;
        // Dropped before the restart: the storage is open only once.
        {
            let (context, faults) = w.faulty();
            let broken = Orders::new(context.clone(), Cashier::new(context, w.gateway.clone()));
            faults.add(Fault::at_port("orders.step").error()).unwrap();
            assert!(matches!(
                broken.pay_at_counter(order, PRICE, None, w.now()).await,
                Err(Failure::Store(_))
            ));
        }
        assert_eq!(states(&w, order).await, [PaymentState::Started]);
        let mut w = w.restart().await;
        w.start_workers();
        if is_repeated_first {
            assert!(!pay(&w, order).await.unwrap().was_recorded);
            assert_eq!(states(&w, order).await, [PaymentState::Captured]);
        }
        w.advance(SETTLE_DELAY).await;
        if !is_repeated_first {
            assert_eq!(states(&w, order).await, [PaymentState::Failed]);
            assert_eq!(w.status(order).await, OrderStatus::Unpaid);
            assert!(!pay(&w, order).await.unwrap().was_recorded);
        }
        assert_eq!(w.status(order).await, OrderStatus::Paid);
        w.assert_balanced().await;
    }
}

/// The order is paid or refunded, and the mall dies before the response: a repeat reports the earlier step.
#[tokio::test(flavor = "multi_thread")]
async fn a_step_whose_response_was_lost_is_reported_as_recorded_before() {
    let w = at_the_counter().await;
    let voucher = w.sale(1).await;
    let order = w.order(1, voucher).await;
    w.orders.pay_at_counter(order, PRICE, None, w.now()).await.unwrap();
    let mut w = w.restart().await;
    w.start_workers();
    assert!(pay(&w, order).await.unwrap().was_recorded);
    // The step is committed, and the unit not yet released.
    let step = w.storage.selling.orders.step(order, Transition::StartRefund, w.now()).await.unwrap();
    assert!(matches!(step, TransitionOutcome::Done(_)));
    let mut w = w.restart().await;
    w.start_workers();
    assert!(refund(&w, order).await.unwrap().was_recorded);
    assert_eq!((w.status(order).await, w.left(voucher).await), (OrderStatus::Refunded, 1));
    assert_eq!(states(&w, order).await, [PaymentState::Refunded]);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_buyer_who_cancels_first_keeps_the_money() {
    let w = at_the_counter().await;
    let order = w.order(1, w.sale(1).await).await;
    w.orders.cancel(ANNE, order, w.now()).await.unwrap();
    assert_eq!(refusal(pay(&w, order).await), Refusal::OrderStands(4));
    let audited = w.audited().await;
    assert_eq!(audited.last().unwrap().2["ended"], "refused", "{audited:?}");
    assert!(!states(&w, order).await.contains(&PaymentState::Captured));
    w.assert_balanced().await;
}
