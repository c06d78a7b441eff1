//! Money is taken once, and never kept for an order it did not pay.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use mallbox::mall::selling::payments::{GatewayError, GatewayState, Mood, Payments, Sandbox, Transfers};
use mallbox::mall::{Cashier, Failure, Orders, Refusal};
use mallbox_storage::{
    Cents, OrderId, OrderStatus, PaymentId, PaymentState, Transition, TransitionOutcome, UserId,
};
use tokio::sync::Semaphore;

use super::world::{MINUTE, PAY_WITHIN, PRICE, World, refusal, until, world};

const ANNE: UserId = UserId::new(1);
/// Longer than the delay before a payment in doubt is checked.
const SETTLE_DELAY: Duration = Duration::from_secs(31);

async fn states(w: &World, order: OrderId) -> Vec<PaymentState> {
    w.storage.selling.payments.of_order(order).await.unwrap().iter().map(|row| row.state).collect()
}

async fn at_gateway(w: &World, order: OrderId) -> Vec<GatewayState> {
    let rows = w.storage.selling.payments.of_order(order).await.unwrap();
    rows.iter().map(|row| w.gateway.stands(row.id).unwrap()).collect()
}

/// Returns the number of captures and refunds.
fn transfers(w: &World) -> (u64, u64) {
    let Transfers { taken, given_back } = w.gateway.moved();
    (taken, given_back)
}

/// The sandbox, with charges blocked after the money was captured.
struct Slow {
    sandbox: Arc<Sandbox>,
    waiting: AtomicU64,
    door: Semaphore,
}

#[async_trait]
impl Payments for Slow {
    async fn charge(&self, payment: PaymentId, amount: Cents) -> Result<GatewayState, GatewayError> {
        let answer = self.sandbox.charge(payment, amount).await;
        self.waiting.fetch_add(1, Ordering::SeqCst);
        self.door.acquire().await.unwrap().forget();
        answer
    }

    async fn refund(&self, payment: PaymentId, amount: Cents) -> Result<(), GatewayError> {
        self.sandbox.refund(payment, amount).await
    }

    async fn close(&self, payment: PaymentId) -> Result<GatewayState, GatewayError> {
        self.sandbox.close(payment).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_that_comes_after_the_expiry_goes_back() {
    let w = world().await;
    let order = w.order(1, w.sale(1).await).await;
    let slow = Arc::new(Slow {
        sandbox: Arc::clone(&w.gateway),
        waiting: AtomicU64::new(0),
        door: Semaphore::new(0),
    });
    let desk = Orders::new(w.context.clone(), Cashier::new(w.context.clone(), slow.clone()));
    let now = w.now();
    let paying = tokio::spawn(async move { desk.pay(ANNE, order, now).await });
    while slow.waiting.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    // Cancelled while the gateway has the money and its response is in transit.
    let step = w.storage.selling.orders.step(order, Transition::Cancel, w.now()).await.unwrap();
    assert!(matches!(step, TransitionOutcome::Done(_)));
    slow.door.add_permits(1);
    assert_eq!(refusal(paying.await.unwrap()), Refusal::OrderStands(4));
    assert_eq!(w.status(order).await, OrderStatus::Cancelled);
    assert_eq!(states(&w, order).await, [PaymentState::Refunded]);
    assert_eq!(at_gateway(&w, order).await, [GatewayState::Refunded]);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_who_pay_the_same_order_pay_once() {
    let w = world().await;
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
    assert_eq!(at_gateway(&w, order).await, [GatewayState::Captured]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declined_payment_leaves_the_order_to_be_paid_again() {
    let w = world().await;
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
        (Mood::LosesResponses, OrderStatus::Paid, PaymentState::Captured),
        (Mood::Unreachable, OrderStatus::Unpaid, PaymentState::Failed),
    ] {
        let w = world().await;
        let order = w.order(1, w.sale(1).await).await;
        w.gateway.behave(mood);
        assert_eq!(refusal(w.orders.pay(ANNE, order, w.now()).await), Refusal::Busy, "{mood:?}");
        assert_eq!(states(&w, order).await, [PaymentState::Started]);
        w.advance(SETTLE_DELAY).await;
        assert_eq!(states(&w, order).await, [PaymentState::Started], "still unreachable");
        w.gateway.behave(Mood::Accepts);
        w.advance(SETTLE_DELAY).await;
        assert_eq!(states(&w, order).await, [row_then], "{mood:?}");
        assert_eq!(w.status(order).await, order_then, "{mood:?}");
        w.assert_balanced().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn money_taken_for_an_order_that_expired_meanwhile_is_found_and_given_back() {
    let w = world().await;
    let order = w.order(1, w.sale(1).await).await;
    w.gateway.behave(Mood::LosesResponses);
    assert_eq!(refusal(w.orders.pay(ANNE, order, w.now()).await), Refusal::Busy);
    w.gateway.behave(Mood::Unreachable);
    w.advance(PAY_WITHIN).await;
    assert_eq!(w.status(order).await, OrderStatus::Cancelled);
    w.gateway.behave(Mood::Accepts);
    w.advance(SETTLE_DELAY).await;
    assert_eq!(states(&w, order).await, [PaymentState::Refunded]);
    assert_eq!(at_gateway(&w, order).await, [GatewayState::Refunded]);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refund_that_broke_off_is_finished_by_itself() {
    let w = world().await;
    let voucher = w.sale(1).await;
    let order = w.order(1, voucher).await;
    w.orders.pay(ANNE, order, w.now()).await.unwrap();
    w.gateway.behave(Mood::Unreachable);
    let view = w.orders.refund(ANNE, order, w.now()).await.unwrap();
    assert_eq!(view.order.status, OrderStatus::Refunding);
    assert_eq!(w.left(voucher).await, 0, "the unit is not back before the money is");
    w.assert_balanced().await;
    w.gateway.behave(Mood::Accepts);
    w.advance(SETTLE_DELAY).await;
    assert_eq!(w.status(order).await, OrderStatus::Refunded);
    assert_eq!(states(&w, order).await, [PaymentState::Refunded]);
    assert_eq!(w.left(voucher).await, 1);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_started_payment_of_a_mall_that_stopped_is_settled_after_the_restart() {
    let w = world().await;
    let voucher = w.sale(2).await;
    let order = w.order(1, voucher).await;
    w.storage.selling.payments.start(order, PRICE, w.now()).await.unwrap();
    // The sandbox forgets its captures; the order stays paid, as its buyer was told.
    let paid = w.order(2, voucher).await;
    w.orders.pay(UserId::new(2), paid, w.now()).await.unwrap();
    let mut w = w.restart().await;
    w.start_workers();
    w.advance(SETTLE_DELAY).await;
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

/// Buyers pay at the very instant of the deadline. Whichever wins, no buyer pays for a cancelled order.
#[tokio::test(flavor = "multi_thread")]
async fn of_payment_and_expiry_exactly_one_wins() {
    const BUYERS: u64 = 200;
    let w = Arc::new(world().await);
    let voucher = w.sale(BUYERS).await;
    let mut orders = Vec::new();
    for number in 1..=BUYERS {
        w.user(number).await;
        orders.push(w.claim(number, voucher).await.unwrap());
    }
    w.drain().await;
    let payers: Vec<_> = orders
        .iter()
        .zip(1..)
        .map(|(order, number)| {
            let (w, order) = (Arc::clone(&w), *order);
            tokio::spawn(async move {
                // Spread over the duration of the expiry.
                tokio::time::sleep(Duration::from_micros(number * 200)).await;
                w.orders.pay(UserId::new(number), order, w.now()).await
            })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(20)).await;
    w.advance(PAY_WITHIN).await;
    let mut paid = 0;
    for (payer, order) in payers.into_iter().zip(&orders) {
        let (answer, status) = (payer.await.unwrap(), w.status(*order).await);
        match answer {
            Ok(view) => assert_eq!((view.order.status, status), (OrderStatus::Paid, OrderStatus::Paid)),
            Err(Failure::Refused(Refusal::OrderStands(4))) => assert_eq!(status, OrderStatus::Cancelled),
            Err(other) => panic!("order {order}: {other}"),
        }
        paid += u64::from(status == OrderStatus::Paid);
    }
    let (taken, given_back) = transfers(&w);
    println!("{paid} of {BUYERS} paid in time; {given_back} late payments went back");
    assert_eq!(taken - given_back, paid);
    assert_eq!(w.left(voucher).await, BUYERS - paid);
    w.assert_balanced().await;
}

/// The row is written, the gateway has captured the money, and the mall dies before updating the order.
#[tokio::test(flavor = "multi_thread")]
async fn a_crash_between_gateway_and_order_is_made_good_after_the_restart() {
    for (away, order_then, row_then, money) in [
        (MINUTE, OrderStatus::Paid, PaymentState::Captured, (1, 0)),
        // The payment deadline passes while the mall is down.
        (PAY_WITHIN * 2, OrderStatus::Cancelled, PaymentState::Refunded, (1, 1)),
    ] {
        let w = world().await;
        let voucher = w.sale(1).await;
        let order = w.order(1, voucher).await;
        let row = w.storage.selling.payments.start(order, PRICE, w.now()).await.unwrap();
        w.gateway.charge(row.id, row.amount).await.unwrap();
        w.clock.advance(away);
        let gateway = Arc::clone(&w.gateway);
        let mut w = w.restart_at(gateway).await;
        w.start_workers();
        w.advance(SETTLE_DELAY).await;
        assert_eq!(
            (w.status(order).await, states(&w, order).await),
            (order_then, vec![row_then]),
            "{away:?}"
        );
        assert_eq!(transfers(&w), money, "{away:?}");
        assert_eq!(w.left(voucher).await, u64::from(order_then == OrderStatus::Cancelled));
        w.advance(PAY_WITHIN * 2).await;
        assert_eq!(w.status(order).await, order_then, "and it stays so");
        w.assert_balanced().await;
    }
}

/// The money is refunded, and the mall dies before updating the order.
#[tokio::test(flavor = "multi_thread")]
async fn a_crash_in_the_middle_of_a_refund_is_made_good_after_the_restart() {
    for is_back in [false, true] {
        let w = world().await;
        let voucher = w.sale(1).await;
        let order = w.order(1, voucher).await;
        w.orders.pay(ANNE, order, w.now()).await.unwrap();
        let row = w.storage.selling.payments.of_order(order).await.unwrap()[0];
        assert!(matches!(
            w.storage.selling.orders.step(order, Transition::StartRefund, w.now()).await.unwrap(),
            TransitionOutcome::Done(_)
        ));
        if is_back {
            w.gateway.refund(row.id, row.amount).await.unwrap();
        }
        let gateway = Arc::clone(&w.gateway);
        let mut w = w.restart_at(gateway).await;
        w.start_workers();
        w.advance(SETTLE_DELAY).await;
        assert_eq!(w.status(order).await, OrderStatus::Refunded);
        assert_eq!((states(&w, order).await, transfers(&w)), (vec![PaymentState::Refunded], (1, 1)));
        assert_eq!(w.left(voucher).await, 1, "the unit is back, once");
        w.assert_balanced().await;
    }
}

/// A charge arriving after the mall gave up takes no money: the order to pay no longer exists.
#[tokio::test(flavor = "multi_thread")]
async fn a_charge_that_arrives_after_the_mall_gave_it_up_takes_no_money() {
    let w = world().await;
    let order = w.order(1, w.sale(1).await).await;
    let later = Duration::from_millis(1_500);
    w.gateway.behave(Mood::Slow(later));
    assert_eq!(refusal(w.orders.pay(ANNE, order, w.now()).await), Refusal::Busy);
    w.gateway.behave(Mood::Accepts);
    w.advance(SETTLE_DELAY).await;
    assert_eq!(states(&w, order).await, [PaymentState::Failed]);
    w.orders.pay(ANNE, order, w.now()).await.unwrap();
    tokio::time::sleep(later).await;
    assert_eq!(at_gateway(&w, order).await, [GatewayState::Declined, GatewayState::Captured]);
    assert_eq!((w.status(order).await, transfers(&w)), (OrderStatus::Paid, (1, 0)));
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_is_merely_slow_is_waited_for() {
    let w = world().await;
    let order = w.order(1, w.sale(1).await).await;
    w.gateway.behave(Mood::Slow(Duration::from_millis(300)));
    let paid = w.orders.pay(ANNE, order, w.now()).await.unwrap();
    assert_eq!(paid.order.status, OrderStatus::Paid);
    let refunded = w.orders.refund(ANNE, order, w.now()).await.unwrap();
    assert_eq!((refunded.order.status, transfers(&w)), (OrderStatus::Refunded, (1, 1)));
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_answers_twice_moves_money_once() {
    let w = world().await;
    let voucher = w.sale(2).await;
    let (order, late) = (w.order(1, voucher).await, w.order(2, voucher).await);
    w.gateway.behave(Mood::DuplicatesRequests);
    for _ in 0..2 {
        assert_eq!(w.orders.pay(ANNE, order, w.now()).await.unwrap().order.status, OrderStatus::Paid);
    }
    assert_eq!((states(&w, order).await, transfers(&w)), (vec![PaymentState::Captured], (1, 0)));
    for _ in 0..2 {
        let view = w.orders.refund(ANNE, order, w.now()).await.unwrap();
        assert_eq!(view.order.status, OrderStatus::Refunded);
    }
    assert_eq!((states(&w, order).await, transfers(&w)), (vec![PaymentState::Refunded], (1, 1)));
    // The response to a lost charge is duplicated as well: after the order has expired.
    w.gateway.behave(Mood::LosesResponses);
    assert_eq!(refusal(w.orders.pay(UserId::new(2), late, w.now()).await), Refusal::Busy);
    w.gateway.behave(Mood::DuplicatesRequests);
    w.advance(PAY_WITHIN).await;
    w.advance(SETTLE_DELAY).await;
    assert_eq!((states(&w, late).await, transfers(&w)), (vec![PaymentState::Refunded], (2, 2)));
    assert_eq!(w.left(voucher).await, 2);
    w.assert_balanced().await;
}

/// The money is refunded, the response is lost, and both the buyer and the background job repeat the request.
#[tokio::test(flavor = "multi_thread")]
async fn a_refund_whose_answer_is_lost_or_late_gives_the_money_back_once() {
    for mood in [Mood::LosesResponses, Mood::Slow(Duration::from_millis(1_200))] {
        for again in [false, true] {
            let w = world().await;
            let voucher = w.sale(1).await;
            let order = w.order(1, voucher).await;
            w.orders.pay(ANNE, order, w.now()).await.unwrap();
            w.gateway.behave(mood);
            let view = w.orders.refund(ANNE, order, w.now()).await.unwrap();
            assert_eq!(view.order.status, OrderStatus::Refunding, "{mood:?}");
            assert_eq!(w.left(voucher).await, 0, "the unit is not back before the money is known to be");
            w.gateway.behave(Mood::Accepts);
            if again {
                let view = w.orders.refund(ANNE, order, w.now()).await.unwrap();
                assert_eq!(view.order.status, OrderStatus::Refunded, "{mood:?}");
            }
            w.advance(SETTLE_DELAY).await;
            until("the late call has come through", || async { transfers(&w) == (1, 1) }).await;
            assert_eq!(
                (w.status(order).await, w.left(voucher).await),
                (OrderStatus::Refunded, 1),
                "{mood:?}"
            );
            w.assert_balanced().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_payment_goes_back_when_the_gateway_does_and_not_twice() {
    let w = world().await;
    let voucher = w.sale(1).await;
    let order = w.order(1, voucher).await;
    w.gateway.behave(Mood::LosesResponses);
    assert_eq!(refusal(w.orders.pay(ANNE, order, w.now()).await), Refusal::Busy);
    w.clock.advance(PAY_WITHIN);
    // Every response is lost, also to the refund: hours of retries.
    for _ in 0..5 {
        w.advance(MINUTE * 30).await;
        assert_eq!(w.status(order).await, OrderStatus::Cancelled);
        assert_eq!(w.left(voucher).await, 1, "the unit does not wait for the money");
    }
    w.gateway.behave(Mood::Accepts);
    w.advance(SETTLE_DELAY).await;
    assert_eq!(states(&w, order).await, [PaymentState::Refunded]);
    w.advance(SETTLE_DELAY).await;
    assert_eq!(transfers(&w), (1, 1));
    w.assert_balanced().await;
}
