//! Units added and removed during a sale: the ledger balances under every interleaving.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use mallbox::fixture::Fault;
use mallbox::mall::operator::SaleAdmin;
use mallbox::mall::operator::sales::{RestockOutcome, StockForm, WindowForm};
use mallbox::mall::{AuditLog, Context, Failure, FlashSales, LedgerCheck, Refusal, Shops};
use mallbox_storage::{Page, UserId, VoucherId};

use super::watched::CountingVouchers;
use super::world::{MINUTE, NOON, World, idle, refusal, world};

async fn add(
    w: &World,
    voucher: VoucherId,
    add: i64,
    request: Option<&str>,
) -> Result<RestockOutcome, Failure> {
    let form = StockForm { add: Some(add), request: request.map(str::to_owned) };
    w.sale_admin.restock(w.by(), voucher, form).await
}

/// Returns the units added by the change, the units left, and the total added.
fn change_summary(restocked: &RestockOutcome) -> (i64, Option<u64>, i64) {
    (restocked.by, restocked.view.left, restocked.view.sale.added)
}

#[tokio::test(flavor = "multi_thread")]
async fn units_that_are_added_can_be_bought_and_those_taken_away_cannot() {
    let w = world().await;
    let voucher = w.sale(1).await;
    w.order(1, voucher).await;
    assert_eq!(refusal(w.claim(2, voucher).await), Refusal::SoldOut);
    assert_eq!(change_summary(&add(&w, voucher, 3, None).await.unwrap()), (3, Some(3), 3));
    w.order(2, voucher).await;
    assert_eq!(
        change_summary(&add(&w, voucher, -9, None).await.unwrap()),
        (-2, Some(0), 1),
        "what is left, no more"
    );
    assert_eq!(refusal(w.claim(3, voucher).await), Refusal::SoldOut);
    assert_eq!(change_summary(&add(&w, voucher, -9, None).await.unwrap()), (0, Some(0), 1));
    w.assert_balanced().await;
    let w = w.restart().await;
    assert_eq!(w.left(voucher).await, 0);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pending_claims_are_not_taken_away() {
    let mut w = idle().await;
    let voucher = w.sale(10).await;
    for user in 1..=4 {
        w.claim(user, voucher).await.unwrap();
    }
    assert_eq!(change_summary(&add(&w, voucher, -10, None).await.unwrap()), (-6, Some(0), -6));
    w.assert_balanced().await;
    w.start_workers();
    w.drain().await;
    assert_eq!(w.storage.selling.orders.count(voucher).await.unwrap().unpaid, 4, "none was oversold");
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_named_change_is_done_once_and_a_name_stands_for_one_change() {
    let w = world().await;
    let voucher = w.sale(5).await;
    for _ in 0..3 {
        assert_eq!(change_summary(&add(&w, voucher, 4, Some("a")).await.unwrap()), (4, Some(9), 4));
    }
    for _ in 0..2 {
        assert_eq!(change_summary(&add(&w, voucher, -20, Some("b")).await.unwrap()), (-9, Some(0), -5));
    }
    assert_eq!(refusal(add(&w, voucher, 5, Some("a")).await), Refusal::BadValue("requestId"));
    let w = w.restart().await;
    assert_eq!(change_summary(&add(&w, voucher, 4, Some("a")).await.unwrap()), (4, Some(0), -5));
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_changed_is_refused() {
    let w = world().await;
    let (voucher, unlimited) = (w.sale(5).await, w.sale(None).await);
    let long = "x".repeat(65);
    for (form, wrong) in [
        (StockForm { add: None, request: None }, "add"),
        (StockForm { add: Some(0), request: None }, "add"),
        (StockForm { add: Some(i64::MIN), request: None }, "add"),
        (StockForm { add: Some(1 << 53), request: None }, "add"),
        (StockForm { add: Some((1 << 53) - 1), request: None }, "add"),
        (StockForm { add: Some(1), request: Some(String::new()) }, "requestId"),
        (StockForm { add: Some(1), request: Some(long) }, "requestId"),
        (StockForm { add: Some(1), request: Some("a\nb".to_owned()) }, "requestId"),
    ] {
        let refused = refusal(w.sale_admin.restock(w.by(), voucher, form.clone()).await);
        assert_eq!(refused, Refusal::BadValue(wrong), "{form:?}");
    }
    for by in [1, -1] {
        assert_eq!(refusal(add(&w, unlimited, by, None).await), Refusal::Unlimited);
        assert_eq!(refusal(add(&w, VoucherId::new(404), by, None).await), Refusal::NotFound("sale"));
    }
    assert_eq!(w.left(voucher).await, 5);
    w.assert_balanced().await;
    let refused = w.audited().await.into_iter().filter(|(_, _, detail)| detail["ended"] == "refused").count();
    assert_eq!(refused, 3, "what was begun and refused is said to be");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_that_is_over_can_be_stocked_up_and_opened_again() {
    let w = world().await;
    let voucher = w.sale(2).await;
    w.order(1, voucher).await;
    w.advance(MINUTE).await;
    w.sale_admin.end(w.by(), voucher).await.unwrap();
    w.advance(MINUTE * 62).await;
    assert_eq!(w.storage.selling.sales.units(voucher).await.unwrap(), None);
    for (by, left) in [(3, 5), (-1, 4), (-9, 0), (2, 2)] {
        assert_eq!(add(&w, voucher, by, None).await.unwrap().view.left, Some(left));
        assert_eq!(w.storage.selling.sales.units(voucher).await.unwrap(), None, "it does not stay in memory");
        w.assert_balanced().await;
    }
    let again = WindowForm { begin: None, end: Some(w.now() + MINUTE) };
    w.sale_admin.put_window(w.by(), voucher, again).await.unwrap();
    assert_eq!(w.left(voucher).await, 2);
    w.assert_balanced().await;
}

/// Returns the service of sales built from `context`.
fn admin_of(context: Context) -> (Arc<SaleAdmin>, FlashSales) {
    let sales = FlashSales::new(context.clone());
    let ledger = LedgerCheck::new(context.clone(), sales.clone());
    let shops = Arc::new(Shops::new(context.clone()));
    let admin = SaleAdmin::new(context.clone(), sales.clone(), shops, ledger, AuditLog::new(context));
    (Arc::new(admin), sales)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fails_half_way_is_put_right_and_a_repeat_finds_out() {
    let w = world().await;
    let voucher = w.sale(10).await;
    let (context, faults) = w.faulty();
    let (admin, sales) = admin_of(context);
    let add = async |add: i64, request: &str| {
        let form = StockForm { add: Some(add), request: Some(request.to_owned()) };
        admin.restock(w.by(), voucher, form).await
    };
    let mut expected = 10_i64;
    let changing = || Fault::at_port("vouchers.change_stock");
    let (before, after) = (changing().error().times(1), changing().lose_answer().times(1));
    for (number, (by, fault)) in
        [(5, &before), (5, &after), (-5, &before), (-5, &after)].into_iter().enumerate()
    {
        faults.add(fault.clone()).unwrap();
        let name = number.to_string();
        add(by, &name).await.unwrap_err();
        assert!(sales.has_to_refresh());
        sales.refresh(w.now()).await.unwrap();
        w.assert_balanced().await;
        assert_eq!(change_summary(&add(by, &name).await.unwrap()).0, by, "{by}, {fault:?}");
        expected += by;
        assert_eq!(w.left(voucher).await.cast_signed(), expected, "{by}, {fault:?}: once");
        w.assert_balanced().await;
    }
}

/// A stale read of a sale must not undo concurrent changes.
#[tokio::test(flavor = "multi_thread")]
async fn changes_at_once_take_turns() {
    const LONG_ENOUGH: Duration = Duration::from_millis(200);
    let w = world().await;
    let voucher = w.sale(100).await;
    let (vouchers, mut context) = (CountingVouchers::over(&w.storage.catalogue.vouchers), w.context.clone());
    context.storage.catalogue.vouchers = vouchers.clone();
    let (admin, sales) = admin_of(context);
    let add = |add| {
        let (admin, by) = (Arc::clone(&admin), w.by());
        let form = StockForm { add: Some(add), request: None };
        tokio::spawn(async move { drop(admin.restock(by, voucher, form).await.unwrap()) })
    };
    let pause = || {
        let (admin, by) = (Arc::clone(&admin), w.by());
        tokio::spawn(async move { drop(admin.pause(by, voucher).await.unwrap()) })
    };
    // A claim that loads a sale into memory does the same.
    let open = || {
        let sales = sales.clone();
        tokio::spawn(async move { sales.opened(voucher).await.unwrap() })
    };
    let others: [&dyn Fn() -> tokio::task::JoinHandle<()>; 3] = [&|| add(-30), &pause, &open];
    for (round, other) in others.into_iter().enumerate() {
        let gate = vouchers.hold_up();
        let first = add(10);
        gate.reached.notified().await;
        let mut other = other();
        let early = tokio::time::timeout(LONG_ENOUGH, &mut other).await;
        assert!(early.is_err(), "round {round}: it did not wait for its turn");
        gate.opened.notify_one();
        first.await.unwrap();
        other.await.unwrap();
        w.assert_balanced().await;
    }
    assert_eq!(w.left(voucher).await, 100);
    assert!(matches!(w.claim(1, voucher).await, Err(Failure::Refused(Refusal::Paused))));
}

/// 24 concurrent buyers, who also cancel, and four operators who raise, lower, pause, resume, end and reopen.
#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn claims_that_race_with_every_change_of_the_sale_leave_a_ledger_that_balances() {
    const BUYERS: u64 = 24;
    /// Minimum number of claims, however slow the machine is.
    const RACED: u64 = 200;
    let w = Arc::new(world().await);
    let voucher = w.sale(200).await;
    let stop = Arc::new(AtomicBool::new(false));
    let (bought, added) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicI64::new(0)));
    let mut crowd = tokio::task::JoinSet::new();
    for buyer in 0..BUYERS {
        let (w, stop, bought) = (Arc::clone(&w), Arc::clone(&stop), Arc::clone(&bought));
        crowd.spawn(async move {
            let mut number = 0;
            while !stop.load(Ordering::SeqCst) {
                number += 1;
                let user = buyer * 100_000 + number;
                match w.claim(user, voucher).await {
                    Ok(order) => {
                        bought.fetch_add(1, Ordering::SeqCst);
                        if number % 3 == 0 {
                            let _ = w.orders.cancel(UserId::new(user), order, w.now()).await;
                        }
                    }
                    Err(_) => tokio::task::yield_now().await,
                }
            }
        });
    }
    let mut operators = tokio::task::JoinSet::new();
    for operator in 0..4 {
        let (w, added, bought) = (Arc::clone(&w), Arc::clone(&added), Arc::clone(&bought));
        operators.spawn(async move {
            let mut round = 0;
            while round < 40 || bought.load(Ordering::SeqCst) < RACED {
                round += 1;
                let by = [7, -5, 40, -30][(round + operator) % 4];
                added.fetch_add(add(&w, voucher, by, None).await.unwrap().by, Ordering::SeqCst);
                if operator == 0 && round % 6 == 0 {
                    w.sale_admin.pause(w.by(), voucher).await.unwrap();
                    w.sale_admin.resume(w.by(), voucher).await.unwrap();
                }
                if operator == 1 && round % 20 == 0 {
                    w.sale_admin.end(w.by(), voucher).await.unwrap();
                    let again = WindowForm { begin: None, end: Some(NOON + MINUTE * 60) };
                    w.sale_admin.put_window(w.by(), voucher, again).await.unwrap();
                }
                if operator == 2 && round % 10 == 0 {
                    let report = w.verify().await;
                    assert!(report.balances(), "{report}");
                }
            }
        });
    }
    operators.join_all().await;
    stop.store(true, Ordering::SeqCst);
    crowd.join_all().await;
    w.drain().await;
    w.assert_balanced().await;
    let sale = w.storage.catalogue.vouchers.get(voucher).await.unwrap().unwrap().sale.unwrap();
    assert_eq!(sale.added, added.load(Ordering::SeqCst), "the answers say what was done");
    assert_eq!(
        w.storage.selling.dead_letters.page(None, Page::new(1, 1)).await.unwrap().1,
        0,
        "none was oversold"
    );
    println!("{} claims; added {}", bought.load(Ordering::SeqCst), sale.added);
}
