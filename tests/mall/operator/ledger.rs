//! The ledger check reports every imbalance, and nothing else.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mallbox_storage::{OrderId, UserId, VoucherId};
use mallbox_test_servers::Sql;

use super::world::{World, world};

/// Returns a sale with every term non-zero: 20 units, one order each unpaid, paid, used and refunding, and a
/// dead letter.
async fn varied() -> (World, VoucherId, Vec<OrderId>) {
    let mut w = world().await;
    let voucher = w.sale(20).await;
    let mut orders = Vec::new();
    for user in 1..=4 {
        orders.push(w.order(user, voucher).await);
    }
    for (user, order) in (2..=4).zip(&orders[1..]) {
        w.orders.pay(UserId::new(user), *order, w.now()).await.unwrap();
    }
    w.orders.redeem(orders[2], w.now()).await.unwrap();
    w.gateway.behave(mallbox::mall::selling::payments::Mood::Unreachable);
    w.orders.refund(UserId::new(4), orders[3], w.now()).await.unwrap();
    w.ground().refuse_rows("orders", "NEW.user_id = 5", "poison");
    w.claim(5, voucher).await.unwrap();
    w.drain().await;
    w.rest().await;
    w.claim(6, voucher).await.unwrap();
    (w, voucher, orders)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_term_is_counted() {
    let (w, voucher, _) = varied().await;
    let report = w.verify().await;
    assert!(report.balances(), "{report}");
    let sale = report.sales[0];
    assert_eq!(sale.voucher, voucher.get());
    assert_eq!((sale.initial, sale.remaining), (Some(20), Some(14)));
    assert_eq!([sale.pending, sale.unpaid, sale.paid, sale.used, sale.refunding, sale.dead_letters], [1; 6]);
    assert_eq!(report.pending, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_spoiled_term_is_named() {
    let stock = "stock kept by the order transactions";
    let memory = "units taken in memory";
    let (w, voucher, _) = varied().await;
    for (spoil, undo, term) in [
        ("UPDATE sales SET initial = 21", "UPDATE sales SET initial = 20", "initial + added"),
        ("UPDATE sales SET added = -1", "UPDATE sales SET added = 0", "initial + added"),
        ("UPDATE sales SET stock = stock - 1", "UPDATE sales SET stock = stock + 1", stock),
        (
            "UPDATE orders SET status = 4 WHERE user_id = 1",
            "UPDATE orders SET status = 1 WHERE user_id = 1",
            stock,
        ),
        (
            "UPDATE orders SET status = 6 WHERE user_id = 2",
            "UPDATE orders SET status = 2 WHERE user_id = 2",
            memory,
        ),
        (
            "UPDATE orders SET status = 4 WHERE user_id = 3",
            "UPDATE orders SET status = 3 WHERE user_id = 3",
            stock,
        ),
        (
            "UPDATE orders SET status = 6 WHERE user_id = 4",
            "UPDATE orders SET status = 5 WHERE user_id = 4",
            stock,
        ),
        ("UPDATE dead_letters SET holds_unit = 0", "UPDATE dead_letters SET holds_unit = 1", stock),
        (
            "UPDATE payments SET state = 3 WHERE id = 1",
            "UPDATE payments SET state = 1 WHERE id = 1",
            "captured payment of a paid order",
        ),
        (
            "UPDATE orders SET status = 4 WHERE user_id = 2",
            "UPDATE orders SET status = 2 WHERE user_id = 2",
            "captured payment of a cancelled order",
        ),
        (
            "UPDATE orders SET id = id + 200000 * 16 WHERE user_id = 1",
            "UPDATE orders SET id = id - 200000 * 16 WHERE user_id = 1",
            "order ids' high-water mark",
        ),
    ] {
        w.ground().sql(spoil);
        let report = w.verify().await;
        assert!(!report.balances(), "{spoil}");
        let found = report.findings.iter().find(|finding| finding.term == term);
        let found = found.unwrap_or_else(|| panic!("{spoil} is not named: {report}"));
        assert!(found.voucher.is_none_or(|named| named == voucher.get()), "{found:?}");
        assert_ne!(found.expected, found.found, "{found:?}");
        w.ground().sql(undo);
        w.assert_balanced().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_with_two_live_orders_is_named() {
    let (w, voucher, _) = varied().await;
    // The database's own unique key against duplicates must be dropped first.
    w.ground().sql_of_each(Sql {
        sqlite: "UPDATE orders SET user_id = 1, slot = id WHERE user_id = 2",
        mysql: &[
            "ALTER TABLE orders DROP KEY orders_by_user",
            "UPDATE orders SET user_id = 1 WHERE user_id = 2",
        ],
    });
    let report = w.verify().await;
    let doubles = report
        .findings
        .iter()
        .find(|finding| finding.term == "users with more live orders than the sale allows");
    let doubles = doubles.unwrap_or_else(|| panic!("not named: {report}"));
    assert_eq!((doubles.voucher, &*doubles.found), (Some(voucher.get()), "1"), "{doubles:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mall_in_full_swing_is_not_found_fault_with() {
    let w = Arc::new(world().await);
    let voucher = w.sale(None).await;
    let limited = w.sale(3_000).await;
    let stop = Arc::new(AtomicBool::new(false));
    let mut crowd = tokio::task::JoinSet::new();
    for buyer in 0..16_u64 {
        let (w, stop) = (Arc::clone(&w), Arc::clone(&stop));
        crowd.spawn(async move {
            let mut number = 0;
            while !stop.load(Ordering::SeqCst) {
                number += 1;
                let user = buyer * 1_000_000 + number;
                let which = if number % 2 == 0 { voucher } else { limited };
                let Ok(order) = w.claim(user, which).await else { continue };
                match number % 3 {
                    0 => drop(w.orders.pay(UserId::new(user), order, w.now()).await),
                    1 => drop(w.orders.cancel(UserId::new(user), order, w.now()).await),
                    _ => {}
                }
            }
        });
    }
    for _ in 0..5 {
        let report = w.verify().await;
        assert!(report.balances(), "{report}");
    }
    stop.store(true, Ordering::SeqCst);
    crowd.join_all().await;
    w.drain().await;
    w.assert_balanced().await;
}
