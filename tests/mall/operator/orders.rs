//! An operator's actions on orders: search, and void.

use mallbox::mall::Refusal;
use mallbox::mall::operator::orders::OrderQuery;
use mallbox::mall::selling::payments::Mood;
use mallbox_storage::{OrderId, OrderStatus, Page, UserId};

use super::world::{World, refusal, world};

async fn found(w: &World, query: &OrderQuery) -> (Vec<OrderId>, u64) {
    let (orders, total) = w.order_admin.find(query, 1).await.unwrap();
    (orders.into_iter().map(|found| found.view.order.id).collect(), total)
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_are_found_by_what_is_known_of_them_pending_ones_too() {
    let mut w = world().await;
    let (one, other) = (w.sale(9).await, w.sale(9).await);
    let (anne, bob) = (w.user(1).await, w.user(2).await);
    let mut ids = Vec::new();
    for (user, voucher) in [(anne, one), (bob, one), (anne, other)] {
        ids.push(w.order(user.get(), voucher).await);
    }
    w.orders.pay(bob, ids[1], w.now()).await.unwrap();
    w.rest().await;
    let pending = w.claim(bob.get(), other).await.unwrap();
    let all = OrderQuery::default();
    let phone = |number: u64| OrderQuery { phone: Some(format!("139{number:08}")), ..OrderQuery::default() };
    let id = |order| OrderQuery { id: Some(order), ..OrderQuery::default() };
    for (query, expected) in [
        (all.clone(), &[ids[2], ids[1], ids[0]][..]),
        (OrderQuery { user: Some(anne), ..all.clone() }, &[ids[2], ids[0]]),
        (phone(1), &[ids[2], ids[0]]),
        (phone(77), &[]),
        (OrderQuery { user: Some(bob), ..phone(1) }, &[]),
        (OrderQuery { voucher: Some(one), ..all.clone() }, &[ids[1], ids[0]]),
        (OrderQuery { status: Some(2), ..all.clone() }, &[ids[1]]),
        (OrderQuery { status: Some(1), voucher: Some(one), ..phone(1) }, &[ids[0]]),
        (id(ids[1]), &[ids[1]]),
        (OrderQuery { user: Some(anne), ..id(ids[1]) }, &[]),
        (OrderQuery { status: Some(1), ..id(ids[1]) }, &[]),
        (id(pending), &[pending]),
        (OrderQuery { voucher: Some(other), ..id(pending) }, &[pending]),
        (id(OrderId::new(u64::MAX)), &[]),
    ] {
        assert_eq!(found(&w, &query).await, (expected.to_vec(), expected.len() as u64), "{query:?}");
    }
    let shown = w.order_admin.find(&id(pending), 1).await.unwrap().0.remove(0);
    assert_eq!((shown.view.order.status, shown.view.title.as_str()), (OrderStatus::Pending, "一百元代金券"));
    assert_eq!(shown.phone.unwrap().as_str(), "13900000002");
    assert_eq!(w.order_admin.find(&id(pending), 2).await.unwrap(), (vec![], 1));
    for (query, wrong) in [
        (OrderQuery { status: Some(0), ..all.clone() }, "order status"),
        (OrderQuery { status: Some(7), ..all.clone() }, "order status"),
        (OrderQuery { phone: Some("x".to_owned()), ..all }, "phone"),
    ] {
        assert_eq!(refusal(w.order_admin.find(&query, 1).await), Refusal::BadValue(wrong));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_voided_order_gives_back_money_unit_and_right_and_a_used_one_never() {
    let w = world().await;
    let voucher = w.sale(4).await;
    let orders = [w.order(1, voucher).await, w.order(2, voucher).await, w.order(3, voucher).await];
    for user in [2, 3] {
        let order = orders[usize::try_from(user).unwrap() - 1];
        w.orders.pay(UserId::new(user), order, w.now()).await.unwrap();
    }
    w.orders.redeem(orders[2], w.now()).await.unwrap();
    for (order, status, left) in
        [(orders[0], OrderStatus::Cancelled, 2), (orders[1], OrderStatus::Refunded, 3)]
    {
        for _ in 0..2 {
            let voided = w.order_admin.void(w.by(), order, "a complaint", None).await.unwrap();
            assert_eq!((voided.view.order.status, w.left(voucher).await), (status, left));
        }
    }
    let used = w.order_admin.void(w.by(), orders[2], "a complaint", None).await;
    assert_eq!(refusal(used), Refusal::OrderStands(3));
    w.order(1, voucher).await;
    for (order, reason, expected) in [
        (orders[0], "", Refusal::BadValue("reason")),
        (orders[0], "  ", Refusal::BadValue("reason")),
        (orders[0], &"x".repeat(201), Refusal::BadValue("reason")),
        (OrderId::new(404), "a complaint", Refusal::NotFound("order")),
    ] {
        assert_eq!(refusal(w.order_admin.void(w.by(), order, reason, None).await), expected);
    }
    assert_eq!(w.storage.selling.payments.faults().await.unwrap(), Default::default());
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_whose_gateway_is_away_is_refunding_and_is_refunded_by_itself() {
    let w = world().await;
    let voucher = w.sale(1).await;
    let order = w.order(1, voucher).await;
    w.orders.pay(UserId::new(1), order, w.now()).await.unwrap();
    w.gateway.behave(Mood::Unreachable);
    let voided = w.order_admin.void(w.by(), order, "a complaint", None).await.unwrap();
    assert_eq!((voided.view.order.status, w.left(voucher).await), (OrderStatus::Refunding, 0));
    w.gateway.behave(Mood::Accepts);
    w.advance(std::time::Duration::from_secs(60)).await;
    assert_eq!((w.status(order).await, w.left(voucher).await), (OrderStatus::Refunded, 1));
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_is_voided_while_it_is_paid_ends_in_one_way() {
    let w = std::sync::Arc::new(world().await);
    let voucher = w.sale(40).await;
    let mut races = tokio::task::JoinSet::new();
    for user in 1..=40 {
        let order = w.order(user, voucher).await;
        let (payer, operator) = (std::sync::Arc::clone(&w), std::sync::Arc::clone(&w));
        races.spawn(async move { drop(payer.orders.pay(UserId::new(user), order, payer.now()).await) });
        races.spawn(async move {
            operator.order_admin.void(operator.by(), order, "too late", None).await.unwrap();
        });
    }
    races.join_all().await;
    w.advance(std::time::Duration::from_secs(60)).await;
    let counts = w.storage.selling.orders.count(voucher).await.unwrap();
    assert_eq!((counts.cancelled + counts.refunded, w.left(voucher).await), (40, 40), "{counts:?}");
    assert_eq!(w.storage.selling.payments.faults().await.unwrap(), Default::default());
    let (all, _) = w.storage.selling.orders.find(Default::default(), Page::new(1, 100)).await.unwrap();
    assert!(all.iter().all(|order| !order.status.is_live()));
    w.assert_balanced().await;
}
