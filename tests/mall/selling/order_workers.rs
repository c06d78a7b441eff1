//! Workers persist claims from the log to the database, regardless of database errors.

use std::sync::atomic::Ordering;
use std::time::Duration;

use mallbox_storage::{DeadLetter, OrderStatus, Page, UserId};

use super::world::{PAY_WITHIN, World, idle, until, world};

async fn dead_letters(w: &World) -> Vec<DeadLetter> {
    let (mut letters, _) = w.storage.selling.dead_letters.page(None, Page::new(1, 10_000)).await.unwrap();
    letters.sort_by_key(|letter| letter.order);
    letters
}

/// Makes the database refuse the orders of `users`.
fn refuse_orders_of(w: &World, users: &str) {
    w.ground().refuse_rows("orders", &format!("NEW.user_id IN ({users})"), "poison");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_that_the_record_refuses_dies_after_five_attempts_and_holds_nobody_up() {
    let mut w = idle().await;
    let voucher = w.sale(2_000).await;
    refuse_orders_of(&w, "13, 700");
    for user in 1..=1_000 {
        w.claim(user, voucher).await.unwrap();
    }
    w.start_workers();
    until("the others are in the record", async || {
        w.storage.selling.orders.count(voucher).await.unwrap().unpaid == 998
    })
    .await;
    assert!(dead_letters(&w).await.is_empty(), "five attempts take longer than the others need");
    // Claims made meanwhile are not held up either.
    w.claim(2_000, voucher).await.unwrap();
    until("a late claim", async || w.storage.selling.orders.count(voucher).await.unwrap().unpaid == 999)
        .await;
    w.drain().await;
    let dead = dead_letters(&w).await;
    let mut users: Vec<u64> = dead.iter().map(|letter| letter.user.get()).collect();
    users.sort_unstable();
    assert_eq!(users, [13, 700]);
    assert!(dead.iter().all(|letter| letter.reason == "REFUSED" && letter.holds_unit));
    assert!(dead.iter().all(|letter| letter.detail.contains("poison")), "{dead:?}");
    assert_eq!(w.figures.refused.load(Ordering::Relaxed), 10);
    assert_eq!(w.figures.dead_letters.load(Ordering::Relaxed), 2);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_that_is_refused_all_alone_dies_as_well() {
    let w = world().await;
    let voucher = w.sale(10).await;
    refuse_orders_of(&w, "13");
    w.claim(13, voucher).await.unwrap();
    w.drain().await;
    assert_eq!(dead_letters(&w).await.len(), 1);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_that_refuses_everything_kills_no_claim() {
    let mut w = idle().await;
    let voucher = w.sale(None).await;
    w.ground().refuse_rows("orders", "1", "all of them");
    for user in 1..=400 {
        w.claim(user, voucher).await.unwrap();
    }
    w.start_workers();
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert!(dead_letters(&w).await.is_empty());
    assert_eq!(w.storage.selling.order_log.state().await.pending, 400);
    w.ground().accept_rows("orders");
    w.drain().await;
    assert_eq!(w.storage.selling.orders.count(voucher).await.unwrap().unpaid, 400);
    assert!(dead_letters(&w).await.is_empty());
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_that_is_busy_counts_for_nobody_and_is_caught_up_with() {
    let w = world().await;
    let voucher = w.sale(None).await;
    // Reserves a block of numbers in the database, which a claim needs.
    w.order(1_000, voucher).await;
    let busy = w.ground().keep_busy().await;
    for user in 1..=300 {
        w.claim(user, voucher).await.unwrap();
    }
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert_eq!(w.storage.selling.orders.count(voucher).await.unwrap().unpaid, 1);
    busy.end().await;
    w.drain().await;
    assert_eq!(w.storage.selling.orders.count(voucher).await.unwrap().unpaid, 301);
    assert_eq!(w.figures.refused.load(Ordering::Relaxed), 0);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn buyers_wiped_in_the_middle_of_a_sale_cannot_buy_twice() {
    let mut w = world().await;
    let voucher = w.sale(100).await;
    let (_, second) = w.buy_around_a_wipe(voucher, 1..=30, 21..=50).await;
    let dead = dead_letters(&w).await;
    assert_eq!(dead.len(), 10);
    assert!(dead.iter().all(|letter| letter.reason == "DOUBLE" && !letter.holds_unit));
    for (letter, order) in dead.iter().zip(&second) {
        assert_eq!(letter.order, *order);
    }
    let counts = w.storage.selling.orders.count(voucher).await.unwrap();
    assert_eq!((counts.unpaid, counts.dead_letters, counts.doubles), (50, 0, 0));
    // The stock memory does not know the first thirty orders; rebuilt from the database it does, and the
    // ledger balances.
    let report = w.verify().await;
    assert!(report.findings.iter().any(|finding| finding.term == "units taken in memory"), "{report}");
    w.rebuild(voucher).await;
    assert_eq!(w.left(voucher).await, 50);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn more_claims_than_the_record_has_units_become_dead_letters() {
    let w = idle().await;
    let voucher = w.sale(10).await;
    for user in 1..=10 {
        w.claim(user, voucher).await.unwrap();
    }
    w.ground().sql("UPDATE sales SET stock = 7, initial = 7");
    let mut w = w;
    w.start_workers();
    w.drain().await;
    let dead = dead_letters(&w).await;
    assert_eq!(dead.len(), 3);
    assert!(dead.iter().all(|letter| letter.reason == "OVERSOLD"), "{dead:?}");
    assert_eq!(w.storage.selling.orders.count(voucher).await.unwrap().unpaid, 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn stopped_workers_leave_nothing_in_hand() {
    let mut w = idle().await;
    let voucher = w.sale(None).await;
    for round in 0..10 {
        for user in 1..=50 {
            w.claim(round * 100 + user, voucher).await.unwrap();
        }
        w.start_workers();
        tokio::time::sleep(Duration::from_millis(round)).await;
        w.rest().await;
    }
    w.start_workers();
    w.drain().await;
    assert_eq!(w.storage.selling.orders.count(voucher).await.unwrap().unpaid, 500);
    assert_eq!(w.storage.selling.deadlines.count().await.unwrap(), 500);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_mall_goes_on_where_it_was() {
    let w = idle().await;
    let voucher = w.sale(50).await;
    for user in 1..=20 {
        w.claim(user, voucher).await.unwrap();
    }
    let mut w = w.restart().await;
    assert_eq!(w.storage.selling.order_log.state().await.pending, 20);
    assert_eq!(w.left(voucher).await, 30);
    w.assert_balanced().await;
    w.start_workers();
    w.drain().await;
    w.advance(PAY_WITHIN).await;
    let order = w.storage.selling.orders.of_user(UserId::new(3), Page::new(1, 10)).await.unwrap();
    assert_eq!(order[0].status, OrderStatus::Cancelled);
    assert_eq!(w.left(voucher).await, 50);
    w.assert_balanced().await;
}
