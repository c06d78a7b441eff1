//! Money: taken once, never kept for an order that is not paid by it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use mallbox::mall::payments::{AtGateway, Mood, Payments, Sandbox, Unreachable};
use mallbox::mall::{Cashier, OrderDesk, Refusal};
use mallbox_storage::{Cents, OrderId, OrderStatus, PaymentId, PaymentState, Step, Stepped, UserId};
use tokio::sync::Semaphore;

use crate::world::{MINUTE, PAY_WITHIN, PRICE, World, refusal, world};

const ANNE: UserId = UserId::new(1);
/// Longer than a payment is left alone.
const LATER: Duration = Duration::from_secs(31);

async fn states(w: &World, order: OrderId) -> Vec<PaymentState> {
    w.storage.payments.of_order(order).await.unwrap().iter().map(|row| row.state).collect()
}

async fn at_gateway(w: &World, order: OrderId) -> Vec<AtGateway> {
    let mut states = Vec::new();
    for row in w.storage.payments.of_order(order).await.unwrap() {
        states.push(w.gateway.status(row.id).await.unwrap());
    }
    states
}

/// The sandbox, behind a door that charges wait at once the money was taken.
struct Slow {
    sandbox: Arc<Sandbox>,
    waiting: AtomicU64,
    door: Semaphore,
}

#[async_trait]
impl Payments for Slow {
    async fn charge(&self, payment: PaymentId, amount: Cents) -> Result<AtGateway, Unreachable> {
        let answer = self.sandbox.charge(payment, amount).await;
        self.waiting.fetch_add(1, Ordering::SeqCst);
        self.door.acquire().await.unwrap().forget();
        answer
    }

    async fn refund(&self, payment: PaymentId, amount: Cents) -> Result<(), Unreachable> {
        self.sandbox.refund(payment, amount).await
    }

    async fn status(&self, payment: PaymentId) -> Result<AtGateway, Unreachable> {
        self.sandbox.status(payment).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_that_comes_after_the_expiry_goes_back() {
    let w = world();
    let order = w.order(1, w.sale(1).await).await;
    let slow = Arc::new(Slow {
        sandbox: Arc::clone(&w.gateway),
        waiting: AtomicU64::new(0),
        door: Semaphore::new(0),
    });
    let desk = OrderDesk::new(w.context.clone(), Cashier::new(w.context.clone(), slow.clone()));
    let now = w.now();
    let paying = tokio::spawn(async move { desk.pay(ANNE, order, now).await });
    while slow.waiting.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    // Cancelled while the gateway has the money and its answer is on the way.
    let step = w.storage.orders.step(order, Step::Cancel, w.now()).await.unwrap();
    assert!(matches!(step, Stepped::Done(_)));
    slow.door.add_permits(1);
    assert_eq!(refusal(paying.await.unwrap()), Refusal::OrderStands(4));
    assert_eq!(w.status(order).await, OrderStatus::Cancelled);
    assert_eq!(states(&w, order).await, [PaymentState::Refunded]);
    assert_eq!(at_gateway(&w, order).await, [AtGateway::Refunded]);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_who_pay_the_same_order_pay_once() {
    let w = world();
    let order = w.order(1, w.sale(1).await).await;
    let mut payers = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let (desk, now) = (w.orders.clone(), w.now());
        payers.spawn(async move { desk.pay(ANNE, order, now).await });
    }
    for answer in payers.join_all().await {
        assert_eq!(answer.unwrap().order.status, OrderStatus::Paid);
    }
    assert_eq!(states(&w, order).await, [PaymentState::Captured]);
    assert_eq!(at_gateway(&w, order).await, [AtGateway::Captured]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declined_payment_leaves_the_order_to_be_paid_again() {
    let w = world();
    let order = w.order(1, w.sale(1).await).await;
    w.gateway.behave(Mood::Declines);
    for _ in 0..2 {
        assert_eq!(refusal(w.orders.pay(ANNE, order, w.now()).await), Refusal::PaymentDeclined);
    }
    assert_eq!(w.status(order).await, OrderStatus::Unpaid);
    w.gateway.behave(Mood::Accepts);
    w.orders.pay(ANNE, order, w.now()).await.unwrap();
    let expected = [PaymentState::Failed, PaymentState::Failed, PaymentState::Captured];
    assert_eq!(states(&w, order).await, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_gateway_is_asked_later_what_became_of_the_payment() {
    for (mood, order_then, row_then) in [
        (Mood::LosesAnswers, OrderStatus::Paid, PaymentState::Captured),
        (Mood::Unreachable, OrderStatus::Unpaid, PaymentState::Failed),
    ] {
        let w = world();
        let order = w.order(1, w.sale(1).await).await;
        w.gateway.behave(mood);
        assert_eq!(refusal(w.orders.pay(ANNE, order, w.now()).await), Refusal::Busy, "{mood:?}");
        assert_eq!(states(&w, order).await, [PaymentState::Started]);
        w.advance(LATER).await;
        assert_eq!(states(&w, order).await, [PaymentState::Started], "still unreachable");
        w.gateway.behave(Mood::Accepts);
        w.advance(LATER).await;
        assert_eq!(states(&w, order).await, [row_then], "{mood:?}");
        assert_eq!(w.status(order).await, order_then, "{mood:?}");
        w.assert_balanced().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn money_taken_for_an_order_that_expired_meanwhile_is_found_and_given_back() {
    let w = world();
    let order = w.order(1, w.sale(1).await).await;
    w.gateway.behave(Mood::LosesAnswers);
    assert_eq!(refusal(w.orders.pay(ANNE, order, w.now()).await), Refusal::Busy);
    w.gateway.behave(Mood::Unreachable);
    w.advance(PAY_WITHIN).await;
    assert_eq!(w.status(order).await, OrderStatus::Cancelled);
    w.gateway.behave(Mood::Accepts);
    w.advance(LATER).await;
    assert_eq!(states(&w, order).await, [PaymentState::Refunded]);
    assert_eq!(at_gateway(&w, order).await, [AtGateway::Refunded]);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refund_that_broke_off_is_finished_by_itself() {
    let w = world();
    let voucher = w.sale(1).await;
    let order = w.order(1, voucher).await;
    w.orders.pay(ANNE, order, w.now()).await.unwrap();
    w.gateway.behave(Mood::Unreachable);
    let view = w.orders.refund(ANNE, order, w.now()).await.unwrap();
    assert_eq!(view.order.status, OrderStatus::Refunding);
    assert_eq!(w.left(voucher).await, 0, "the unit is not back before the money is");
    w.assert_balanced().await;
    w.gateway.behave(Mood::Accepts);
    w.advance(LATER).await;
    assert_eq!(w.status(order).await, OrderStatus::Refunded);
    assert_eq!(states(&w, order).await, [PaymentState::Refunded]);
    assert_eq!(w.left(voucher).await, 1);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_started_payment_of_a_mall_that_stopped_is_settled_after_the_restart() {
    let w = world();
    let voucher = w.sale(2).await;
    let order = w.order(1, voucher).await;
    w.storage.payments.start(order, PRICE, w.now()).await.unwrap();
    // The sandbox forgets what it captured; nobody does who was told that the order is paid.
    let paid = w.order(2, voucher).await;
    w.orders.pay(UserId::new(2), paid, w.now()).await.unwrap();
    let mut w = w.restart().await;
    w.work();
    w.advance(LATER).await;
    assert_eq!(states(&w, order).await, [PaymentState::Failed]);
    w.orders.pay(ANNE, order, w.now()).await.unwrap();
    assert_eq!(
        w.orders.refund(UserId::new(2), paid, w.now()).await.unwrap().order.status,
        OrderStatus::Refunded
    );
    w.advance(MINUTE * 60).await;
    assert_eq!(w.status(order).await, OrderStatus::Paid);
    w.assert_balanced().await;
}
