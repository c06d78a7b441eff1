//! `Orders` counted: each sale alone, and all sales in one read.

use std::time::Duration;

use mallbox_storage::{ClaimOutcome, OrderCounts, Transition, TransitionOutcome};

use crate::world::{NOON, WORKER, World, claim};

crate::cases! { all_sales_are_counted_as_each_is }

async fn all_sales_are_counted_as_each_is(w: &World) {
    let vouchers = [w.sale(Some(4)).await, w.sale(Some(9)).await, w.sale(None).await];
    assert!(w.storage.selling.orders.count_all().await.unwrap().is_empty());
    for user in 1..=4 {
        for voucher in &vouchers[..2] {
            let number = voucher.get() * 100 + user;
            assert_eq!(
                w.storage.selling.sales.claim(claim(*voucher, user, number)).await.unwrap(),
                ClaimOutcome::Accepted
            );
        }
    }
    let logged = w.storage.selling.order_log.take(WORKER, 100, Duration::ZERO).await.unwrap();
    w.storage.selling.orders.persist(&logged, NOON).await.unwrap();
    let cancelled =
        w.storage.selling.orders.step(logged[0].claim.order, Transition::Cancel, NOON).await.unwrap();
    assert!(matches!(cancelled, TransitionOutcome::Done(_)));

    let counted = w.storage.selling.orders.count_all().await.unwrap();
    assert_eq!(counted.keys().copied().collect::<Vec<_>>(), vouchers[..2], "and none that has no orders");
    for voucher in vouchers {
        let alone = w.storage.selling.orders.count(voucher).await.unwrap();
        assert_eq!(counted.get(&voucher).copied().unwrap_or_default(), alone);
    }
    let one_cancelled = OrderCounts { unpaid: 3, cancelled: 1, ..OrderCounts::default() };
    assert_eq!(counted[&vouchers[0]], one_cancelled);
    assert_eq!(counted[&vouchers[1]], OrderCounts { unpaid: 4, ..OrderCounts::default() });
}
