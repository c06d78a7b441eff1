//! `Orders`: direct purchases of ordinary vouchers, idempotent by request key.

use std::sync::Arc;

use mallbox_storage::{
    Cents, Order, OrderCounts, OrderId, OrderStatus, PaymentMode, PurchaseOutcome, StoreError, Transition,
    UserId, VoucherId,
};
use tokio::task::JoinSet;

use crate::selling::orders::is_done;
use crate::world::{HOUR, NOON, World};

crate::cases! {
    ordinary_vouchers_may_be_bought_often,
    a_request_that_was_made_before_buys_nothing_more,
    of_many_requests_of_one_name_at_once_one_buys,
    unpaid_orders_are_limited_and_repeats_are_not,
    concurrent_purchases_stay_within_the_limit,
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

/// Buys without a limit on unpaid orders. Returns the stored order's number.
async fn buy(w: &World, order: &Order, request: Option<&str>) -> u64 {
    match w.storage.selling.orders.insert(order, request, None).await.unwrap() {
        PurchaseOutcome::Bought(order) => order.get(),
        refused => panic!("{refused:?}"),
    }
}

async fn ordinary_vouchers_may_be_bought_often(w: &World) {
    let orders = &w.storage.selling.orders;
    let voucher = w.ordinary_voucher().await;
    for number in 1..=3 {
        for _ in 0..2 {
            assert_eq!(buy(w, &order(number, voucher), None).await, number);
        }
        assert_eq!(orders.get(OrderId::new(number)).await.unwrap(), Some(order(number, voucher)));
    }
    assert!(is_done(&orders.step(OrderId::new(2), Transition::Cancel, NOON).await.unwrap()));
    let counts = orders.count(voucher).await.unwrap();
    assert_eq!(counts, OrderCounts { unpaid: 2, cancelled: 1, ..OrderCounts::default() });
    assert_eq!(orders.holding(voucher, UserId::new(1)).await.unwrap(), None);

    let stranger = Order { user: UserId::new(2), ..order(1, voucher) };
    for refused in [order(9, w.sale(Some(1)).await), order(9, VoucherId::new(404)), stranger] {
        let refused = orders.insert(&refused, None, None).await;
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
        assert_eq!(buy(&w, &order(number, voucher), Some(NAME)).await, 1);
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
        assert_eq!(buy(&w, &order, Some(name)).await, order.id.get(), "{name:?}");
        assert_eq!(orders.requested(order.user, order.voucher, name).await.unwrap(), Some(order.id));
        assert_eq!(orders.get(order.id).await.unwrap(), Some(order));
    }
    // A refused purchase does not use up the request key.
    for voucher in [sale, VoucherId::new(404)] {
        assert!(orders.insert(&order(9, voucher), Some(NAME), None).await.is_err());
        assert_eq!(orders.requested(anne, voucher, NAME).await.unwrap(), None);
    }
    assert!(is_done(&orders.step(OrderId::new(1), Transition::Cancel, NOON).await.unwrap()));
    let w = w.reopen().await;
    assert_eq!(buy(&w, &order(9, voucher), Some(NAME)).await, 1);
    assert_eq!(w.storage.selling.orders.get(OrderId::new(9)).await.unwrap(), None);
}

async fn of_many_requests_of_one_name_at_once_one_buys(w: &World) {
    let voucher = w.ordinary_voucher().await;
    let mut buyers = JoinSet::new();
    for number in 1..=16 {
        let orders = Arc::clone(&w.storage.selling.orders);
        buyers
            .spawn(async move { orders.insert(&order(number, voucher), Some("cart"), None).await.unwrap() });
    }
    let bought: Vec<PurchaseOutcome> = buyers.join_all().await;
    assert!(bought.iter().all(|outcome| *outcome == bought[0]), "{bought:?}");
    assert_eq!(w.storage.selling.orders.count(voucher).await.unwrap().unpaid, 1);
}

async fn unpaid_orders_are_limited_and_repeats_are_not(w: &World) {
    const MAX: Option<u32> = Some(2);
    const TOO_MANY: PurchaseOutcome = PurchaseOutcome::TooManyUnpaid;
    let w = w.another().await;
    let orders = &w.storage.selling.orders;
    let voucher = w.ordinary_voucher().await;
    let bought = |number| PurchaseOutcome::Bought(OrderId::new(number));
    assert_eq!(orders.insert(&order(1, voucher), None, MAX).await.unwrap(), bought(1));
    assert_eq!(orders.insert(&order(2, voucher), Some("cart"), MAX).await.unwrap(), bought(2));
    assert_eq!(orders.insert(&order(3, voucher), None, MAX).await.unwrap(), TOO_MANY);
    assert_eq!(orders.insert(&order(3, voucher), Some("bag"), MAX).await.unwrap(), TOO_MANY);
    assert_eq!(orders.get(OrderId::new(3)).await.unwrap(), None);
    assert_eq!(orders.requested(UserId::new(1), voucher, "bag").await.unwrap(), None, "the key is free");

    // Repeats after a lost response, by id and by request.
    assert_eq!(orders.insert(&order(1, voucher), None, MAX).await.unwrap(), bought(1));
    assert_eq!(orders.insert(&order(4, voucher), Some("cart"), MAX).await.unwrap(), bought(2));
    // Another buyer, an order without a payment, and no limit.
    let of_another = Order { user: UserId::new(2), ..order(5, voucher) };
    assert_eq!(orders.insert(&of_another, None, MAX).await.unwrap(), bought(5));
    let free = Order { status: OrderStatus::Paid, payment: PaymentMode::None, ..order(6, voucher) };
    assert_eq!(orders.insert(&free, None, MAX).await.unwrap(), bought(6));
    assert_eq!(orders.insert(&order(7, voucher), None, None).await.unwrap(), bought(7));

    for closed in [1, 2] {
        assert!(is_done(&orders.step(OrderId::new(closed), Transition::Cancel, NOON).await.unwrap()));
    }
    assert_eq!(orders.insert(&order(3, voucher), Some("bag"), MAX).await.unwrap(), bought(3));
    assert_eq!(orders.insert(&order(8, voucher), None, MAX).await.unwrap(), TOO_MANY);
}

async fn concurrent_purchases_stay_within_the_limit(w: &World) {
    let w = w.another().await;
    let voucher = w.ordinary_voucher().await;
    let phone = mallbox_storage::Phone::parse("13900000001").unwrap();
    let buyer = w.storage.people.users.find_or_create(&phone, "user_0123456789", NOON).await.unwrap().id;
    let mut buyers = JoinSet::new();
    for number in 1..=16 {
        let orders = Arc::clone(&w.storage.selling.orders);
        let order = Order { user: buyer, ..order(number, voucher) };
        buyers.spawn(async move { orders.insert(&order, None, Some(5)).await.unwrap() });
    }
    let outcomes = buyers.join_all().await;
    let refused = outcomes.iter().filter(|outcome| **outcome == PurchaseOutcome::TooManyUnpaid).count();
    assert_eq!(refused, 11, "{outcomes:?}");
    assert_eq!(w.storage.selling.orders.count(voucher).await.unwrap().unpaid, 5);
}
