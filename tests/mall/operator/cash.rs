//! Cash sessions: cash at the counter is in the drawer's session, and a closed session stays as it was.

use std::sync::Arc;

use mallbox::fixture::faults::Fault;
use mallbox::mall::operator::CashAdmin;
use mallbox::mall::operator::bookkeeping::{AccountsPlace, AccountsScope, Bookkeeping};
use mallbox::mall::operator::cash::{CashMove, DrawerCount, XReport, ZReport};
use mallbox::mall::operator::ledger::{Code, Report};
use mallbox::mall::operator::orders::{CounterMoney, CounterOutcome};
use mallbox::mall::{CashRefusal, Failure, Refusal};
use mallbox_storage::{CashSessionId, Cents, OrderId, OrderStatus, PaymentMode, PaymentState};
use serde_json::json;
use tokio::task::JoinSet;

use super::world::{MINUTE, PRICE, World, refusal, world};

async fn at_the_counter() -> World {
    let w = world().await;
    w.context.set_payment_mode(PaymentMode::Counter).await.unwrap();
    w
}

fn cash(w: &World) -> CashAdmin {
    CashAdmin::new(w.context.clone(), w.audit.clone())
}

fn money(method: &str, till: Option<&str>) -> CounterMoney {
    CounterMoney { amount: PRICE, method: method.to_owned(), till: till.map(str::to_owned) }
}

async fn pay(w: &World, order: OrderId, method: &str) -> Result<CounterOutcome, Failure> {
    w.order_admin.pay_at_counter(w.by(), order, &money(method, None)).await
}

fn paid(is_in: bool, amount: i64, reason: &str, request: &str) -> CashMove {
    CashMove { is_in, amount, reason: reason.to_owned(), request: request.to_owned() }
}

fn count(counted: i64, expected: i64, request: &str) -> DrawerCount {
    DrawerCount { counted, expected, request: request.to_owned() }
}

fn cash_refusal<T>(result: Result<T, Failure>) -> CashRefusal {
    match refusal(result) {
        Refusal::Cash(why) => why,
        other => panic!("{other:?}"),
    }
}

async fn open(w: &World) -> XReport {
    cash(w).open(w.by(), None, 30_000).await.unwrap()
}

async fn close(w: &World, session: CashSessionId, counted: i64, expected: i64) -> ZReport {
    cash(w).close(w.by(), session, count(counted, expected, "evening")).await.unwrap().0
}

#[tokio::test(flavor = "multi_thread")]
async fn a_day_at_the_till_ends_in_a_report_that_adds_up() {
    let w = at_the_counter().await;
    let voucher = w.sale(9).await;
    let session = open(&w).await.session.id;
    w.clock.advance(MINUTE);
    let (first, returned, by_card) =
        (w.order(1, voucher).await, w.order(2, voucher).await, w.order(3, voucher).await);
    for (order, method) in [(first, "cash"), (returned, "cash"), (by_card, "terminal")] {
        assert!(!pay(&w, order, method).await.unwrap().was_recorded);
    }
    w.order_admin
        .refund_at_counter(w.by(), returned, &money("cash", None), "changed her mind")
        .await
        .unwrap();
    let (x, _) = cash(&w).pay_in_or_out(w.by(), session, paid(false, 1_250, "milk", "a")).await.unwrap();
    assert_eq!(x.session.expected(), Cents::new(30_000 + PRICE.get() - 1_250));
    assert_eq!((x.moves.len(), &*x.moves[0].reason), (1, "milk"));
    let again = cash(&w).pay_in_or_out(w.by(), session, paid(false, 1_250, "milk", "a")).await.unwrap();
    assert_eq!(again, (x.clone(), true), "a repeat changes nothing");
    let other = cash(&w).pay_in_or_out(w.by(), session, paid(false, 1_300, "milk", "a")).await;
    assert_eq!(cash_refusal(other), CashRefusal::KeyUsed);
    assert_eq!(cash(&w).x(session).await.unwrap(), x);

    let expected = x.session.expected().get();
    let z = close(&w, session, expected - 50, expected).await;
    let totals = z.report.session.totals;
    assert_eq!((totals.sale_count, totals.sales), (2, Cents::new(2 * PRICE.get())));
    assert_eq!((totals.refund_count, totals.refunds), (1, PRICE));
    assert_eq!((z.report.number, z.report.difference()), (1, Cents::new(-50)));
    assert_eq!(cash(&w).running().await.unwrap(), []);
    let page = cash(&w).reports(None).await.unwrap();
    assert_eq!((&page.reports[..], page.next_before), (std::slice::from_ref(&z), None));
    assert_eq!(cash(&w).report(1).await.unwrap(), z);
    let audited: Vec<String> = w.audited().await.into_iter().map(|(action, ..)| action).collect();
    for action in ["cash.open", "cash.out", "cash.close", "cash.report"] {
        assert!(audited.iter().any(|logged| logged == action), "{action} is not in {audited:?}");
    }
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_the_first_session_cash_needs_an_open_drawer_and_a_card_does_not() {
    let w = at_the_counter().await;
    let voucher = w.sale(9).await;
    let before = w.order(1, voucher).await;
    pay(&w, before, "cash").await.unwrap();
    let session = open(&w).await.session.id;
    close(&w, session, 30_000, 30_000).await;

    let order = w.order(2, voucher).await;
    assert_eq!(cash_refusal(pay(&w, order, "cash").await), CashRefusal::NoSession);
    assert_eq!(w.status(order).await, OrderStatus::Unpaid);
    let payments = w.storage.selling.payments.of_order(order).await.unwrap();
    assert_eq!(payments[0].state, PaymentState::Failed, "the buyer keeps the money");
    let refund = w.order_admin.refund_at_counter(w.by(), before, &money("cash", None), "a mistake").await;
    assert_eq!(cash_refusal(refund), CashRefusal::NoSession);
    pay(&w, order, "terminal").await.unwrap();
    // A repeat of a payment made before is no new cash.
    assert!(pay(&w, before, "cash").await.unwrap().was_recorded);
    assert!(pay(&w, order, "cash").await.unwrap().was_recorded);

    open(&w).await;
    let other_till = w.order(3, voucher).await;
    let elsewhere = w.order_admin.pay_at_counter(w.by(), other_till, &money("cash", Some("terrace"))).await;
    assert_eq!(cash_refusal(elsewhere), CashRefusal::NoSession);
    cash(&w).open(w.by(), Some(" terrace "), 0).await.unwrap();
    w.order_admin.pay_at_counter(w.by(), other_till, &money("cash", Some("terrace"))).await.unwrap();
    let running = cash(&w).running().await.unwrap();
    let sales: Vec<_> =
        running.iter().map(|x| (x.session.till.as_str(), x.session.totals.sale_count)).collect();
    assert_eq!(sales, [("1", 0), ("terrace", 1)]);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_input_is_refused_and_changes_nothing() {
    let w = at_the_counter().await;
    let long = "a".repeat(201);
    for (till, float, name) in [
        (Some(""), 0, "till"),
        (Some(&*"a".repeat(21)), 0, "till"),
        (Some("a\nb"), 0, "till"),
        (None, -1, "float"),
        (None, i64::MIN, "float"),
        (None, 100_000_000_001, "float"),
        (None, i64::MAX, "float"),
    ] {
        assert_eq!(
            refusal(cash(&w).open(w.by(), till, float).await),
            Refusal::BadValue(name),
            "{till:?} {float}"
        );
    }
    assert_eq!(cash(&w).running().await.unwrap(), []);
    let x = open(&w).await;
    let session = x.session.id;
    assert_eq!(cash_refusal(cash(&w).open(w.by(), None, 5).await), CashRefusal::SessionOpen);
    for (amount, reason, request, name) in [
        (0, "milk", "a", "cash amount"),
        (-5, "milk", "a", "cash amount"),
        (i64::MAX, "milk", "a", "cash amount"),
        (5, "", "a", "reason"),
        (5, " \n ", "a", "reason"),
        (5, &*long, "a", "reason"),
        (5, "milk", "", "requestId"),
        (5, "milk", &*long, "requestId"),
    ] {
        let refused = cash(&w).pay_in_or_out(w.by(), session, paid(true, amount, reason, request)).await;
        assert_eq!(refusal(refused), Refusal::BadValue(name), "{amount} {reason:?} {request:?}");
    }
    let out = cash(&w).pay_in_or_out(w.by(), session, paid(false, 30_001, "bank", "a")).await;
    assert_eq!(cash_refusal(out), CashRefusal::Short(Cents::new(30_000)));
    let much = cash(&w).pay_in_or_out(w.by(), session, paid(true, 100_000_000_000, "bank", "a")).await;
    assert_eq!(cash_refusal(much), CashRefusal::TooMuch);
    for (counted, expected, name) in
        [(-1, 30_000, "counted"), (i64::MAX, 30_000, "counted"), (0, -1, "expected")]
    {
        let refused = cash(&w).close(w.by(), session, count(counted, expected, "a")).await;
        assert_eq!(refusal(refused), Refusal::BadValue(name));
    }
    let early = cash(&w).close(w.by(), session, count(0, 29_999, "a")).await;
    assert_eq!(cash_refusal(early), CashRefusal::Changed(Cents::new(30_000)));
    let unknown = CashSessionId::new(99);
    assert_eq!(refusal(cash(&w).x(unknown).await), Refusal::NotFound("cash session"));
    let added = cash(&w).pay_in_or_out(w.by(), unknown, paid(true, 5, "bank", "a")).await;
    assert_eq!(refusal(added), Refusal::NotFound("cash session"));
    assert_eq!(refusal(cash(&w).report(1).await), Refusal::NotFound("Z report"));
    assert_eq!(refusal(cash(&w).report(u64::MAX).await), Refusal::NotFound("Z report"));
    assert_eq!(cash(&w).running().await.unwrap(), [x]);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_closings_at_once_make_one_report_and_a_clear_refusal() {
    let w = Arc::new(at_the_counter().await);
    for round in 1..=8 {
        let session = open(&w).await.session.id;
        let mut rush = JoinSet::new();
        for caller in 0..2 {
            let w = Arc::clone(&w);
            rush.spawn(async move {
                cash(&w).close(w.by(), session, count(caller, 30_000, &caller.to_string())).await
            });
        }
        let (done, refused): (Vec<_>, Vec<_>) = rush.join_all().await.into_iter().partition(Result::is_ok);
        let [Ok((z, false))] = &done[..] else { panic!("{done:?} {refused:?}") };
        assert_eq!(z.report.number, round);
        let why = refused.into_iter().map(cash_refusal).collect::<Vec<_>>();
        assert_eq!(why, [CashRefusal::Closed(round)]);
    }
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_tills_at_once_one_entry_is_made_per_order() {
    let w = Arc::new(at_the_counter().await);
    let voucher = w.sale(9).await;
    let session = open(&w).await.session.id;
    let orders = [w.order(1, voucher).await, w.order(2, voucher).await];
    let mut rush = JoinSet::new();
    for caller in 0..32 {
        let (w, order) = (Arc::clone(&w), orders[caller % 2]);
        rush.spawn(async move { pay(&w, order, "cash").await.unwrap().was_recorded });
    }
    let new = rush.join_all().await.into_iter().filter(|was_recorded| !was_recorded).count();
    let totals = cash(&w).x(session).await.unwrap().session.totals;
    assert_eq!((new, totals.sale_count, totals.sales), (2, 2, Cents::new(2 * PRICE.get())));
    w.assert_balanced().await;
}

/// The report is written, and the mall dies before the response: the same call returns the same report.
#[tokio::test(flavor = "multi_thread")]
async fn a_closing_whose_response_was_lost_returns_the_same_report() {
    let w = at_the_counter().await;
    let session = open(&w).await.session.id;
    // Dropped before the restart: the storage is open only once.
    {
        let (context, faults) = w.faulty();
        faults.add(Fault::at_port("cash.close").lose_answer()).unwrap();
        let broken = CashAdmin::new(context, w.audit.clone());
        let failed = broken.close(w.by(), session, count(29_000, 30_000, "evening")).await;
        assert!(matches!(failed, Err(Failure::Store(_))));
    }
    let (z, is_repeat) = cash(&w).close(w.by(), session, count(29_000, 30_000, "evening")).await.unwrap();
    assert!(is_repeat, "the lost call wrote the report");
    let mut w = w.restart().await;
    w.start_workers();
    let again = cash(&w).close(w.by(), session, count(29_000, 30_000, "evening")).await.unwrap();
    assert_eq!((again.0.report, again.1), (z.report, true));
    assert_eq!(cash(&w).reports(None).await.unwrap().reports.len(), 1);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_report_is_named_and_hides_no_other() {
    let w = at_the_counter().await;
    for _ in 1..=3 {
        let session = open(&w).await.session.id;
        close(&w, session, 30_000, 30_000).await;
    }
    w.ground().sql("DROP TRIGGER cash_reports_are_not_changed");
    w.ground().sql("UPDATE cash_reports SET body = '{}' WHERE number = 2");
    let page = cash(&w).reports(None).await.unwrap();
    let numbers: Vec<u64> = page.reports.iter().map(|z| z.report.number).collect();
    assert_eq!((numbers, page.unreadable), (vec![3, 1], vec![2]));
    assert!(matches!(cash(&w).report(2).await, Err(Failure::Store(_))));

    let books = Bookkeeping::new(w.context.clone(), w.audit.clone(), false);
    let scope = AccountsScope { days: None, sale: None };
    let page = books.page(scope, AccountsPlace::CashReports(None)).await.unwrap();
    assert_eq!((page.cash_reports.len(), page.unreadable_cash_reports), (2, vec![2]));

    // The people of this ground have no accounts.
    let found = |report: &Report| -> Vec<String> {
        let others = report.findings.iter().filter(|finding| finding.code != Code::AuditUser);
        others.map(|finding| finding.expected.clone()).collect()
    };
    let report = w.ledger.verify().await.unwrap();
    assert_eq!(found(&report), ["a report that matches its digest"], "{report}");
    // A planted number, whatever its distance, is one gap.
    w.ground().sql("UPDATE cash_reports SET number = 4611686018427387904 WHERE number = 3");
    let report = w.ledger.verify().await.unwrap();
    assert!(found(&report).contains(&"reports 3 to 4611686018427387903".to_owned()), "{report}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_books_of_an_open_session_are_compared_with_orders() {
    let w = at_the_counter().await;
    let voucher = w.sale(9).await;
    open(&w).await;
    let order = w.order(1, voucher).await;
    pay(&w, order, "cash").await.unwrap();
    w.assert_balanced().await;
    w.ground().sql("UPDATE cash_sessions SET sales = sales - 1");
    let report = w.ledger.verify().await.unwrap();
    let codes: Vec<Code> = report.findings.iter().map(|finding| finding.code).collect();
    assert!(codes.contains(&Code::CashSession), "{report}");
    let audited = w.audited().await;
    let opened = audited.iter().find(|(action, ..)| action == "cash.open").unwrap();
    assert_eq!((&*opened.1, &opened.2), ("till 1", &json!({ "float": 30_000 })));
}
