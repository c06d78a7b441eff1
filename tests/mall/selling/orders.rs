//! The life cycle of an order: transitions, deadline, owner.

use std::time::Duration;

use mallbox::fixture::Fault;
use mallbox::mall::base::chores::Chores;
use mallbox::mall::selling::sale_chores;
use mallbox::mall::{Cashier, Orders, Refusal};
use mallbox_storage::{OrderId, OrderStatus, UserId};

use super::world::{MINUTE, NOON, PAY_WITHIN, PRICE, idle, refusal, until, world};

const ANNE: UserId = UserId::new(1);
const BOB: UserId = UserId::new(2);

#[tokio::test(flavor = "multi_thread")]
async fn each_step_may_be_repeated_and_excludes_the_others() {
    let w = world().await;
    let voucher = w.sale(9).await;
    let stands = |status| Refusal::OrderStands(status);
    let paid = w.order(1, voucher).await;
    for _ in 0..2 {
        let view = w.orders.pay(ANNE, paid, w.now()).await.unwrap();
        assert_eq!((view.order.status, view.order.paid), (OrderStatus::Paid, Some(NOON)));
        assert_eq!(view.deadline(), None);
    }
    assert_eq!(refusal(w.orders.cancel(ANNE, paid, w.now()).await), stands(2));
    for _ in 0..2 {
        assert_eq!(w.orders.redeem(paid, w.now()).await.unwrap().0.order.status, OrderStatus::Used);
    }
    assert_eq!(refusal(w.orders.refund(ANNE, paid, w.now()).await), stands(3));
    assert_eq!(refusal(w.orders.pay(ANNE, paid, w.now()).await), stands(3));
    let cancelled = w.order(2, voucher).await;
    for _ in 0..2 {
        let view = w.orders.cancel(BOB, cancelled, w.now()).await.unwrap();
        assert_eq!(view.order.status, OrderStatus::Cancelled);
        assert_eq!(w.left(voucher).await, 8, "one unit came back, once");
    }
    assert_eq!(refusal(w.orders.pay(BOB, cancelled, w.now()).await), stands(4));
    assert_eq!(refusal(w.orders.redeem(cancelled, w.now()).await), stands(4));
    assert_eq!(refusal(w.orders.refund(BOB, cancelled, w.now()).await), stands(4));
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_unit_that_could_not_be_given_back_is_given_back_soon_after() {
    let w = world().await;
    let (context, faults) = w.faulty();
    let cashier = Cashier::new(context.clone(), w.gateway.clone());
    let chores = Chores::new(w.clock.clone(), sale_chores::chores(&context, &w.sales, &cashier));
    let orders = Orders::new(context, cashier);
    let voucher = w.sale(2).await;
    let (refunded, cancelled) = (w.order(1, voucher).await, w.order(2, voucher).await);
    orders.pay(ANNE, refunded, w.now()).await.unwrap();
    faults.add(Fault::at_port("sales.release").error().times(2)).unwrap();
    faults.add(Fault::at_port("sales.release_all").error().times(1)).unwrap();
    orders.refund(ANNE, refunded, w.now()).await.unwrap_err();
    orders.cancel(BOB, cancelled, w.now()).await.unwrap_err();
    assert_eq!(w.left(voucher).await, 0);
    // The first attempt fails once more.
    for left in [0, 2] {
        w.clock.advance(Duration::from_secs(1));
        chores.run_all_due(w.now()).await;
        assert_eq!(w.left(voucher).await, left);
    }
    assert_eq!(w.storage.selling.outbox.open(9).await.unwrap(), []);
    w.advance(PAY_WITHIN).await;
    assert_eq!(w.storage.selling.deadlines.count().await.unwrap(), 0);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refunded_order_gives_back_the_unit_and_the_right_to_buy() {
    let w = world().await;
    let voucher = w.sale(1).await;
    let first = w.order(1, voucher).await;
    w.orders.pay(ANNE, first, w.now()).await.unwrap();
    for _ in 0..2 {
        let view = w.orders.refund(ANNE, first, w.now()).await.unwrap();
        assert_eq!((view.order.status, view.order.refunded), (OrderStatus::Refunded, Some(NOON)));
        assert_eq!(w.left(voucher).await, 1);
    }
    let second = w.order(1, voucher).await;
    assert_ne!(first, second);
    w.orders.refund(ANNE, first, w.now()).await.unwrap();
    assert_eq!(w.left(voucher).await, 0, "a repeat for the first order leaves the second alone");
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unpaid_order_is_cancelled_at_its_deadline_and_not_before() {
    let w = world().await;
    let voucher = w.sale(1).await;
    let order = w.order(1, voucher).await;
    w.advance(PAY_WITHIN - Duration::from_millis(1)).await;
    assert_eq!(w.status(order).await, OrderStatus::Unpaid);
    assert_eq!(refusal(w.claim(2, voucher).await), Refusal::SoldOut);
    w.advance(Duration::from_millis(1)).await;
    assert_eq!(w.status(order).await, OrderStatus::Cancelled);
    assert_eq!(w.storage.selling.deadlines.count().await.unwrap(), 0);
    assert_ne!(w.claim(1, voucher).await.unwrap(), order, "the same buyer may buy again");
    w.drain().await;
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paid_order_has_no_deadline_and_a_thousand_due_ones_go_at_once() {
    let w = world().await;
    let voucher = w.sale(1_001).await;
    for user in 1..=1_001 {
        w.claim(user, voucher).await.unwrap();
    }
    w.drain().await;
    let paid = w.storage.selling.orders.holding(voucher, ANNE).await.unwrap().unwrap();
    w.orders.pay(ANNE, paid, w.now()).await.unwrap();
    assert_eq!(w.storage.selling.deadlines.count().await.unwrap(), 1_000);
    w.advance(PAY_WITHIN).await;
    let counts = w.storage.selling.orders.count(voucher).await.unwrap();
    assert_eq!((counts.paid, counts.cancelled), (1, 1_000));
    assert_eq!(w.left(voucher).await, 1_000);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_payment_and_expiry_exactly_one_wins() {
    let w = std::sync::Arc::new(world().await);
    let voucher = w.sale(200).await;
    let mut orders = Vec::new();
    for user in 1..=200 {
        orders.push((UserId::new(user), w.claim(user, voucher).await.unwrap()));
    }
    w.drain().await;
    w.clock.advance(PAY_WITHIN);
    let now = w.now();
    let mut payers = tokio::task::JoinSet::new();
    for (user, order) in orders {
        let orders = w.orders.clone();
        payers.spawn(async move { (order, orders.pay(user, order, now).await) });
    }
    w.advance(Duration::ZERO).await;
    let mut paid = 0;
    for (order, answer) in payers.join_all().await {
        match w.status(order).await {
            OrderStatus::Paid => {
                answer.unwrap();
                paid += 1;
            }
            OrderStatus::Cancelled => assert_eq!(refusal(answer), Refusal::OrderStands(4)),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(w.left(voucher).await, 200 - paid);
    let faults = w.storage.selling.payments.faults().await.unwrap();
    assert_eq!((faults.paid_without_payment, faults.captured_on_cancelled), (0, 0));
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pending_order_is_known_at_once_and_a_step_on_it_waits_for_the_record() {
    let mut w = idle().await;
    let voucher = w.sale(5).await;
    let order = w.claim(1, voucher).await.unwrap();
    let view = w.orders.queries().get(ANNE, order).await.unwrap();
    assert_eq!((view.order.status, view.order.pay_value), (OrderStatus::Pending, PRICE));
    assert_eq!(view.deadline(), None, "only an unpaid order shows one");
    assert_eq!(view.title, "一百元代金券");
    assert_eq!(w.orders.queries().of_user(ANNE, 1).await.unwrap(), [view]);
    assert_eq!(refusal(w.orders.pay(ANNE, order, w.now()).await), Refusal::NotYet);
    assert_eq!(refusal(w.orders.pay(BOB, order, w.now()).await), Refusal::NotFound("order"));
    let (orders, now) = (w.orders.clone(), w.now());
    let waiting = tokio::spawn(async move { orders.pay(ANNE, order, now).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    w.start_workers();
    assert_eq!(waiting.await.unwrap().unwrap().order.status, OrderStatus::Paid);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_on_its_way_to_the_database_is_listed_once() {
    let mut w = idle().await;
    let (context, faults) = w.faulty();
    let cashier = Cashier::new(context.clone(), w.gateway.clone());
    let orders = Orders::new(context, cashier);
    let (order, now) = (w.claim(1, w.sale(1).await).await.unwrap(), w.now());
    // A list reads the database twice while claims are pending: 200 ms and 400 ms from here.
    faults.add(Fault::at_port("orders.of_user").delay(Duration::from_millis(200))).unwrap();
    let listing = tokio::spawn(async move { orders.queries().of_user(ANNE, 1).await });
    tokio::time::sleep(Duration::from_millis(250)).await;
    w.start_workers();
    let listed: Vec<_> = listing.await.unwrap().unwrap().iter().map(|view| view.order.id).collect();
    assert_eq!(listed, [order]);
    w.orders.pay(ANNE, order, now).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_is_its_owners_alone() {
    let w = world().await;
    let order = w.order(1, w.sale(5).await).await;
    let unknown = Refusal::NotFound("order");
    assert_eq!(refusal(w.orders.queries().get(BOB, order).await), unknown);
    assert_eq!(refusal(w.orders.pay(BOB, order, w.now()).await), unknown);
    assert_eq!(refusal(w.orders.cancel(BOB, order, w.now()).await), unknown);
    assert_eq!(refusal(w.orders.refund(BOB, order, w.now()).await), unknown);
    for id in [0, 1, u64::MAX] {
        assert_eq!(refusal(w.orders.queries().get(ANNE, OrderId::new(id)).await), unknown);
        assert_eq!(refusal(w.orders.redeem(OrderId::new(id), w.now()).await), unknown);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_orders_neither_skip_nor_repeat_while_some_are_pending() {
    let mut w = world().await;
    let mut expected = Vec::new();
    for number in 0..25 {
        if number == 22 {
            w.drain().await;
            w.rest().await;
        }
        w.clock.advance(Duration::from_secs(1));
        expected.insert(0, w.claim(1, w.sale(None).await).await.unwrap());
    }
    let mut listed = Vec::new();
    for page in 1..=4 {
        let views = w.orders.queries().of_user(ANNE, page).await.unwrap();
        assert_eq!(views.len(), [10, 10, 5, 0][page as usize - 1], "page {page}");
        listed.extend(views.into_iter().map(|view| (view.order.id, view.order.status)));
    }
    assert_eq!(listed.iter().map(|(id, _)| *id).collect::<Vec<_>>(), expected);
    assert!(listed[..3].iter().all(|(_, status)| *status == OrderStatus::Pending));
    assert!(listed[3..].iter().all(|(_, status)| *status == OrderStatus::Unpaid));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ordinary_voucher_is_bought_as_often_as_one_likes() {
    let w = world().await;
    let voucher = w.record(None).await;
    let first = w.orders.buy(ANNE, voucher, None, w.now()).await.unwrap();
    let second = w.orders.buy(ANNE, voucher, None, w.now()).await.unwrap();
    assert_ne!(first, second);
    let view = w.orders.queries().get(ANNE, first).await.unwrap();
    assert_eq!((view.order.status, view.deadline()), (OrderStatus::Unpaid, Some(NOON + PAY_WITHIN)));
    assert_eq!(w.orders.pay(ANNE, first, w.now()).await.unwrap().order.status, OrderStatus::Paid);
    w.advance(PAY_WITHIN).await;
    assert_eq!(w.status(first).await, OrderStatus::Paid);
    assert_eq!(w.status(second).await, OrderStatus::Cancelled);
    assert_eq!(
        refusal(w.orders.buy(ANNE, mallbox_storage::VoucherId::new(99), None, w.now()).await),
        Refusal::NotFound("voucher")
    );
    let sale = w.sale(5).await;
    assert!(matches!(refusal(w.orders.buy(ANNE, sale, None, w.now()).await), Refusal::SoldInSale));
}

#[tokio::test(flavor = "multi_thread")]
async fn deadlines_and_sales_are_there_again_after_a_restart() {
    let w = world().await;
    let voucher = w.sale(3).await;
    let order = w.order(1, voucher).await;
    w.order(2, voucher).await;
    w.orders
        .pay(BOB, w.storage.selling.orders.holding(voucher, BOB).await.unwrap().unwrap(), w.now())
        .await
        .unwrap();
    let mut w = w.restart().await;
    assert_eq!(w.storage.selling.deadlines.count().await.unwrap(), 1);
    assert_eq!(w.left(voucher).await, 1);
    w.start_workers();
    w.advance(PAY_WITHIN + MINUTE).await;
    assert_eq!(w.status(order).await, OrderStatus::Cancelled);
    assert_eq!(w.left(voucher).await, 2);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_made_before_the_clock_is_moved_has_its_own_deadline() {
    let mut w = idle().await;
    let voucher = w.sale(3).await;
    let order = w.claim(1, voucher).await.unwrap();
    w.start_workers();
    // Drains the log first: otherwise the order would get five minutes from the new time.
    w.advance(PAY_WITHIN).await;
    assert_eq!(w.status(order).await, OrderStatus::Cancelled);
    until("the unit is back", async || w.left(voucher).await == 3).await;
}
