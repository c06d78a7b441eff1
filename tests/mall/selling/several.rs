//! Several processes of a mall, seen from a single process: unfinished work of another.

use std::sync::atomic::Ordering;
use std::time::Duration;

use mallbox::fixture::Fault;
use mallbox::mall::FlashSales;
use mallbox::mall::selling::order_workers::OrderWorkers;
use mallbox_storage::{
    Claim, ClaimOutcome, NewSale, Order, OrderId, OrderStatus, PaymentMode, PurchaseOutcome, Terms, VoucherId,
};
use tokio_util::sync::CancellationToken;

use super::forgetful::LossyOrderLog;
use super::world::{MINUTE, PAY_WITHIN, PRICE, World, idle, terms_token, until, world};

async fn terms(w: &World, voucher: VoucherId) -> Terms {
    w.storage.catalogue.vouchers.get(voucher).await.unwrap().unwrap().sale.unwrap().terms
}

/// An instance was killed between the writes to the store and to the database, or in the opposite
/// order.
#[tokio::test(flavor = "multi_thread")]
async fn a_half_written_change_of_a_killed_instance_is_repaired_by_the_others() {
    let w = world().await;
    let (lowered, moved) = (w.sale(10).await, w.sale(10).await);
    w.advance(MINUTE).await;
    let before = terms(&w, lowered).await;
    w.storage
        .selling
        .sales
        .put(Terms { units: Some(4), ..before }, terms_token(&w.storage).await)
        .await
        .unwrap()
        .done()
        .unwrap();
    let Terms { begin, end, .. } = terms(&w, moved).await;
    w.storage
        .catalogue
        .vouchers
        .put_window(moved, begin, end, true, terms_token(&w.storage).await, w.now())
        .await
        .unwrap()
        .done()
        .unwrap()
        .unwrap();
    assert_eq!(w.left(lowered).await, 4);
    w.advance(MINUTE).await;
    assert_eq!(w.left(lowered).await, 10);
    w.assert_balanced().await;
    let claim = Claim { order: OrderId::new(1), voucher: moved, user: w.user(1).await, at: w.now() };
    assert_eq!(w.storage.selling.sales.claim(claim).await.unwrap(), ClaimOutcome::Paused);
}

/// The instance was killed before setting the deadline, or failed to set it.
#[tokio::test(flavor = "multi_thread")]
async fn an_unpaid_order_whose_deadline_nobody_knows_ends_all_the_same() {
    let w = world().await;
    let voucher = w.record(None).await;
    w.advance(MINUTE).await;
    let deadline = w.now() + PAY_WITHIN;
    let order = Order {
        id: OrderId::new(7),
        voucher,
        user: w.user(1).await,
        status: OrderStatus::Unpaid,
        pay_value: PRICE,
        pay_type: 1,
        payment: PaymentMode::Sandbox,
        created: w.now(),
        deadline,
        paid: None,
        used: None,
        refunded: None,
    };
    let bought = w.storage.selling.orders.insert(&order, None, None).await.unwrap();
    assert_eq!(bought, PurchaseOutcome::Bought(order.id));
    w.advance(PAY_WITHIN - MINUTE).await;
    assert_eq!(w.status(order.id).await, OrderStatus::Unpaid);
    w.advance(MINUTE * 12).await;
    assert_eq!(w.status(order.id).await, OrderStatus::Cancelled);
}

/// The instance ended before the eviction of the sale; this one started later.
#[tokio::test(flavor = "multi_thread")]
async fn a_sale_that_was_over_before_the_start_leaves_memory() {
    let w = idle().await;
    let sale =
        NewSale { end: w.now() + MINUTE, begin: w.now(), units: Some(3), pay_within: MINUTE, min_level: 0 };
    let voucher = w.sale_like(sale).await;
    w.clock.advance(MINUTE * 90);
    let started_later = FlashSales::new(w.context.clone());
    assert!(w.storage.selling.sales.units(voucher).await.unwrap().is_some());
    started_later.evict_ended(w.now()).await.unwrap();
    assert_eq!(w.storage.selling.sales.units(voucher).await.unwrap(), None);
}

/// A failover lost claims while a worker was processing them, and the sale was rebuilt before the claims were
/// orders.
#[tokio::test(flavor = "multi_thread")]
async fn an_order_whose_claim_the_log_lost_holds_a_unit() {
    for (cancels, left) in [(false, 1), (true, 3)] {
        let w = idle().await;
        let voucher = w.sale(3).await;
        let log = LossyOrderLog::over(&w.storage);
        log.cancels.store(cancels, Ordering::SeqCst);
        let mut context = w.context.clone();
        context.storage.selling.order_log = log;
        let orders = [w.claim(1, voucher).await.unwrap(), w.claim(2, voucher).await.unwrap()];
        let stop = CancellationToken::new();
        let workers = OrderWorkers::new(context);
        let working = tokio::spawn({
            let stop = stop.clone();
            async move { workers.run(1, stop).await }
        });
        until("the units are what is in the record", async || {
            let mut are_there = true;
            for order in orders {
                are_there &= w.storage.selling.orders.get(order).await.unwrap().is_some();
            }
            are_there && w.left(voucher).await == left
        })
        .await;
        stop.cancel();
        working.await.unwrap();
        assert_eq!(w.left(voucher).await, left, "{cancels}");
        w.assert_balanced().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn loading_many_sales_keeps_nobody_from_changing_one() {
    // Enough for a loading that a busy machine cannot finish before both changes.
    const SALES: u64 = 150;
    let w = idle().await;
    let mut sales = Vec::new();
    for _ in 0..SALES {
        sales.push(w.sale(5).await);
    }
    let (context, faults) = w.faulty();
    faults.add(Fault::at_port("sales.put").delay(Duration::from_millis(150))).unwrap();
    let (flash_sales, now) = (FlashSales::new(context), w.now());
    let loading = tokio::spawn(async move { flash_sales.load(now).await });
    for voucher in [sales[0], sales[149]] {
        tokio::time::sleep(Duration::from_millis(100)).await;
        // On a busy machine a change may time out before it gets the lease; the caller retries.
        while let Err(error) = w.sale_admin.pause(w.by(), voucher).await {
            assert!(!loading.is_finished(), "{error}");
        }
        assert!(!loading.is_finished());
    }
    faults.cancel_all();
    assert_eq!(loading.await.unwrap().unwrap(), SALES);
}
