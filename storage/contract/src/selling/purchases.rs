//! `Orders`: direct purchases of ordinary vouchers, idempotent by request key.

use std::collections::BTreeSet;
use std::sync::Arc;

use mallbox_storage::{
    Cents, Order, OrderCounts, OrderId, OrderStatus, PaymentMode, StoreError, Transition, UserId, VoucherId,
};
use tokio::task::JoinSet;

use crate::selling::orders::is_done;
use crate::world::{HOUR, NOON, World};

crate::cases! {
    ordinary_vouchers_may_be_bought_often,
    a_request_that_was_made_before_buys_nothing_more,
    of_many_requests_of_one_name_at_once_one_buys,
}

/// The order of an ordinary voucher, of user 1.
fn order(number: u64, voucher: VoucherId) -> Order {
    Order {
        id: OrderId::new(number),
        voucher,
        user: UserId::new(1),
        status: OrderStatus::Unpaid,
        pay_value: Cents::new(50),
        pay_type: 3,
        payment: PaymentMode::Sandbox,
        created: NOON,
        deadline: NOON + HOUR,
        paid: None,
        used: None,
        refunded: None,
    }
}

async fn ordinary_vouchers_may_be_bought_often(w: &World) {
    let orders = &w.storage.selling.orders;
    let voucher = w.ordinary_voucher().await;
    for number in 1..=3 {
        for _ in 0..2 {
            assert_eq!(orders.insert(&order(number, voucher), None).await.unwrap().get(), number);
        }
        assert_eq!(orders.get(OrderId::new(number)).await.unwrap(), Some(order(number, voucher)));
    }
    assert!(is_done(&orders.step(OrderId::new(2), Transition::Cancel, NOON).await.unwrap()));
    let counts = orders.count(voucher).await.unwrap();
    assert_eq!(counts, OrderCounts { unpaid: 2, cancelled: 1, ..OrderCounts::default() });
    assert_eq!(orders.holding(voucher, UserId::new(1)).await.unwrap(), None);

    let stranger = Order { user: UserId::new(2), ..order(1, voucher) };
    for refused in [order(9, w.sale(Some(1)).await), order(9, VoucherId::new(404)), stranger] {
        let refused = orders.insert(&refused, None).await;
        assert!(matches!(refused, Err(StoreError::Refused { .. })));
    }
    assert_eq!(orders.get(OrderId::new(9)).await.unwrap(), None);
}

async fn a_request_that_was_made_before_buys_nothing_more(w: &World) {
    const NAME: &str = "cart 7";
    let w = w.another().await;
    let (voucher, other, sale) =
        (w.ordinary_voucher().await, w.ordinary_voucher().await, w.sale(Some(1)).await);
    let (anne, ben) = (UserId::new(1), UserId::new(2));
    let orders = &w.storage.selling.orders;
    assert_eq!(orders.requested(anne, voucher, NAME).await.unwrap(), None);
    for number in [1, 1, 2] {
        assert_eq!(orders.insert(&order(number, voucher), Some(NAME)).await.unwrap().get(), 1);
    }
    assert_eq!(orders.get(OrderId::new(2)).await.unwrap(), None);
    // Another name, another voucher, another user.
    let of_ben = Order { user: ben, ..order(5, voucher) };
    for (order, name) in [
        (order(3, voucher), "cart 7 "),
        (order(4, other), NAME),
        (of_ben, NAME),
        (order(6, voucher), "Cart 7"),
        (order(7, voucher), ""),
        (order(8, voucher), "购物车"),
    ] {
        assert_eq!(orders.insert(&order, Some(name)).await.unwrap(), order.id, "{name:?}");
        assert_eq!(orders.requested(order.user, order.voucher, name).await.unwrap(), Some(order.id));
        assert_eq!(orders.get(order.id).await.unwrap(), Some(order));
    }
    // A refused purchase does not use up the request key.
    for voucher in [sale, VoucherId::new(404)] {
        assert!(orders.insert(&order(9, voucher), Some(NAME)).await.is_err());
        assert_eq!(orders.requested(anne, voucher, NAME).await.unwrap(), None);
    }
    assert!(is_done(&orders.step(OrderId::new(1), Transition::Cancel, NOON).await.unwrap()));
    let w = w.reopen().await;
    assert_eq!(w.storage.selling.orders.insert(&order(9, voucher), Some(NAME)).await.unwrap().get(), 1);
    assert_eq!(w.storage.selling.orders.get(OrderId::new(9)).await.unwrap(), None);
}

async fn of_many_requests_of_one_name_at_once_one_buys(w: &World) {
    let voucher = w.ordinary_voucher().await;
    let mut buyers = JoinSet::new();
    for number in 1..=16 {
        let orders = Arc::clone(&w.storage.selling.orders);
        buyers.spawn(async move { orders.insert(&order(number, voucher), Some("cart")).await.unwrap() });
    }
    let bought: BTreeSet<OrderId> = buyers.join_all().await.into_iter().collect();
    assert_eq!(bought.len(), 1, "{bought:?}");
    assert_eq!(w.storage.selling.orders.count(voucher).await.unwrap().unpaid, 1);
}
