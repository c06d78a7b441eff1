//! `CashSessions`: cash of an order is in one session, sessions end in numbered reports, no sum overflows.

use std::collections::BTreeSet;
use std::sync::{Arc, Barrier};

use mallbox_storage::{
    Actor, CASH_MAX, CASH_REPORT_ACTION, CashAddOutcome, CashCount, CashDrawer, CashKind, CashLimit,
    CashReport, CashSession, CashSessionId, CashStepOutcome, Cents, CloseCashOutcome, NewCashEntry,
    OpenCashOutcome, OrderId, OrderStatus, PaymentMode, PaymentState, TillName, Transition,
    TransitionOutcome, UserId, VoucherId, hex,
};
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use crate::selling::orders::persist;
use crate::world::{HOUR, NOON, World, claim};

crate::cases! {
    a_mall_without_sessions_takes_cash_as_before,
    a_till_has_one_open_session,
    the_number_of_open_tills_is_limited,
    in_a_rush_of_openings_the_number_of_open_tills_is_exact,
    cash_of_an_order_is_an_entry_of_the_tills_session,
    without_an_open_session_cash_is_refused_and_nothing_changes,
    a_repeated_payment_succeeds_after_its_session,
    a_payment_that_is_not_open_makes_no_entry,
    paying_in_and_out_is_idempotent_by_its_key,
    an_entry_beyond_a_limit_changes_nothing,
    a_report_is_the_session_and_its_digest_is_in_the_audit_log,
    a_closed_session_stays_closed,
    reports_are_numbered_without_gaps_in_a_rush,
    of_many_closings_of_a_session_one_writes_the_report,
    in_a_rush_all_cash_is_in_exactly_one_session,
    entries_are_read_page_by_page,
    sessions_and_reports_outlive_a_reopening,
}

/// Price of the orders of [`World::sale`], in cents.
const PRICE: i64 = 100;
/// The user at every till.
const CASHIER: UserId = UserId::new(5);

fn drawer(till: &str) -> CashDrawer {
    CashDrawer { till: TillName::parse(till).unwrap(), by: CASHIER }
}

async fn open(w: &World, till: &str, float: i64) -> CashSession {
    match w.storage.selling.cash.open(&drawer(till), Cents::new(float), 8, NOON).await.unwrap() {
        OpenCashOutcome::Opened(session) => session,
        refused => panic!("{refused:?}"),
    }
}

async fn session_of(w: &World, till: &str) -> CashSession {
    let open = w.storage.selling.cash.open_sessions().await.unwrap();
    open.into_iter().find(|session| session.till.as_str() == till).unwrap()
}

fn moved(kind: CashKind, amount: i64, request: &str) -> NewCashEntry {
    let (amount, request) = (Cents::new(amount), Some(request.to_owned()));
    NewCashEntry { kind, amount, order: None, reason: "换零钱".to_owned(), by: CASHIER, request }
}

async fn add(w: &World, to: CashSessionId, entry: &NewCashEntry) -> CashAddOutcome {
    w.storage.selling.cash.add(to, entry, NOON + HOUR).await.unwrap()
}

fn count(counted: i64, expected: i64, request: &str) -> CashCount {
    let (counted, expected) = (Cents::new(counted), Cents::new(expected));
    CashCount { counted, expected, by: UserId::new(6), request: request.to_owned() }
}

async fn close(w: &World, which: CashSessionId, count: &CashCount) -> CloseCashOutcome {
    w.storage.selling.cash.close(which, count, NOON + 2 * HOUR).await.unwrap()
}

/// A sale whose orders are paid at the counter.
async fn counter_sale(w: &World) -> VoucherId {
    let upkeep = &w.storage.base.upkeep;
    upkeep.put_setting(PaymentMode::SETTING, PaymentMode::Counter.name()).await.unwrap();
    w.sale(None).await
}

/// An unpaid order, with the step that pays for it.
async fn unpaid(w: &World, voucher: VoucherId, number: u64) -> (OrderId, Transition) {
    let claim = claim(voucher, number, number);
    persist(w, &[claim]).await;
    let payment = w.storage.selling.payments.start(claim.order, Cents::new(PRICE), NOON).await.unwrap();
    (claim.order, Transition::Pay(payment.id))
}

async fn step(w: &World, order: OrderId, step: Transition, till: &str) -> CashStepOutcome {
    w.storage.selling.cash.step(order, step, &drawer(till), NOON + HOUR).await.unwrap()
}

fn is_done(outcome: &CashStepOutcome) -> bool {
    matches!(outcome, CashStepOutcome::Stepped(TransitionOutcome::Done(_)))
}

async fn status(w: &World, order: OrderId) -> OrderStatus {
    w.storage.selling.orders.get(order).await.unwrap().unwrap().status
}

async fn all_reports(w: &World) -> Vec<CashReport> {
    w.storage.selling.cash.reports(None, 1_000).await.unwrap().into_iter().map(Result::unwrap).collect()
}

async fn a_mall_without_sessions_takes_cash_as_before(w: &World) {
    let (order, pay) = unpaid(w, counter_sale(w).await, 1).await;
    assert!(is_done(&step(w, order, pay, "1").await));
    assert!(is_done(&step(w, order, Transition::StartRefund, "1").await));
    assert_eq!(status(w, order).await, OrderStatus::Refunded);
    assert_eq!(w.storage.selling.cash.open_sessions().await.unwrap(), []);
    assert_eq!(all_reports(w).await, []);
    let unknown = step(w, OrderId::new(99), Transition::StartRefund, "1").await;
    assert_eq!(unknown, CashStepOutcome::Stepped(TransitionOutcome::Unknown));
}

async fn a_till_has_one_open_session(w: &World) {
    let mut rush = JoinSet::new();
    for _ in 0..8 {
        let cash = Arc::clone(&w.storage.selling.cash);
        rush.spawn(async move { cash.open(&drawer("1"), Cents::new(500), 8, NOON).await.unwrap() });
    }
    let outcomes = rush.join_all().await;
    let opened = outcomes.iter().filter(|outcome| matches!(outcome, OpenCashOutcome::Opened(_)));
    assert_eq!(opened.count(), 1, "{outcomes:?}");
    let session = session_of(w, "1").await;
    assert!(outcomes.iter().all(|outcome| match outcome {
        OpenCashOutcome::Opened(one) | OpenCashOutcome::AlreadyOpen(one) => *one == session,
        OpenCashOutcome::TooManyTills => false,
    }));
    assert_eq!((session.float, session.opened, session.opened_by), (Cents::new(500), NOON, CASHIER));
    assert_eq!(session.expected(), Cents::new(500));
}

async fn the_number_of_open_tills_is_limited(w: &World) {
    let cash = &w.storage.selling.cash;
    let first = open(w, "收银台 1", 0).await;
    let second = cash.open(&drawer("2"), Cents::new(0), 1, NOON).await.unwrap();
    assert_eq!(second, OpenCashOutcome::TooManyTills);
    // The till's own session is found whatever the limit.
    let again = cash.open(&drawer("收银台 1"), Cents::new(7), 1, NOON + HOUR).await.unwrap();
    assert_eq!(again, OpenCashOutcome::AlreadyOpen(first.clone()));
    assert!(matches!(close(w, first.id, &count(0, 0, "a")).await, CloseCashOutcome::Closed(_)));
    let second = cash.open(&drawer("2"), Cents::new(0), 1, NOON).await.unwrap();
    let OpenCashOutcome::Opened(second) = second else { panic!("{second:?}") };
    assert_ne!(second.id, first.id);
}

async fn in_a_rush_of_openings_the_number_of_open_tills_is_exact(w: &World) {
    let mut rush = JoinSet::new();
    for till in 0..12 {
        let cash = Arc::clone(&w.storage.selling.cash);
        rush.spawn(
            async move { cash.open(&drawer(&till.to_string()), Cents::new(5), 3, NOON).await.unwrap() },
        );
    }
    let outcomes = rush.join_all().await;
    let refused = outcomes.iter().filter(|outcome| **outcome == OpenCashOutcome::TooManyTills).count();
    let open = w.storage.selling.cash.open_sessions().await.unwrap();
    assert_eq!((open.len(), refused), (3, 9), "{outcomes:?}");
}

async fn cash_of_an_order_is_an_entry_of_the_tills_session(w: &World) {
    let voucher = counter_sale(w).await;
    let (order, pay) = unpaid(w, voucher, 1).await;
    let (mine, other) = (open(w, "1", 1_000).await, open(w, "2", 0).await);
    assert!(is_done(&step(w, order, pay, "1").await));
    assert_eq!(status(w, order).await, OrderStatus::Paid);
    let after = session_of(w, "1").await;
    assert_eq!((after.totals.sales, after.totals.sale_count), (Cents::new(PRICE), 1));
    assert_eq!(after.expected(), Cents::new(1_000 + PRICE));
    // A repeat changes neither order nor drawer.
    let again = step(w, order, pay, "2").await;
    assert!(matches!(again, CashStepOutcome::Stepped(TransitionOutcome::Stands(_))));
    assert_eq!((session_of(w, "1").await, session_of(w, "2").await), (after, other));
    assert!(is_done(&step(w, order, Transition::StartRefund, "1").await));
    let payments = w.storage.selling.payments.of_order(order).await.unwrap();
    assert_eq!(payments[0].state, PaymentState::Refunded);
    let after = session_of(w, "1").await;
    assert_eq!((after.expected(), after.totals.refund_count), (Cents::new(1_000), 1));
    assert_eq!((after.first_payment, after.last_payment), (Some(NOON + HOUR), Some(NOON + HOUR)));
    let entries = w.storage.selling.cash.entries(mine.id, false, 0, 9).await.unwrap();
    let kinds: Vec<_> = entries.iter().map(|entry| (entry.number, entry.kind, entry.order)).collect();
    assert_eq!(kinds, [(1, CashKind::Sale, Some(order)), (2, CashKind::Refund, Some(order))]);
    assert_eq!(mine.head, mine.opening_hash());
    let head = entries.iter().fold(mine.head, |head, entry| entry.hash_after(&head));
    assert_eq!(after.head, head);
}

async fn without_an_open_session_cash_is_refused_and_nothing_changes(w: &World) {
    let voucher = counter_sale(w).await;
    let (order, pay) = unpaid(w, voucher, 1).await;
    open(w, "1", 0).await;
    assert_eq!(step(w, order, pay, "2").await, CashStepOutcome::NoSession);
    assert_eq!(status(w, order).await, OrderStatus::Unpaid);
    let payments = w.storage.selling.payments.of_order(order).await.unwrap();
    assert_eq!(payments[0].state, PaymentState::Started);
    // Another way to pay needs no drawer.
    let paid = w.storage.selling.orders.step(order, pay, NOON).await.unwrap();
    assert!(matches!(paid, TransitionOutcome::Done(_)));
    assert_eq!(session_of(w, "1").await.totals.count(), 0);
}

async fn a_repeated_payment_succeeds_after_its_session(w: &World) {
    let (order, pay) = unpaid(w, counter_sale(w).await, 1).await;
    let session = open(w, "1", 0).await;
    assert!(is_done(&step(w, order, pay, "1").await));
    assert!(matches!(close(w, session.id, &count(PRICE, PRICE, "a")).await, CloseCashOutcome::Closed(_)));
    let again = step(w, order, pay, "1").await;
    assert!(matches!(again, CashStepOutcome::Stepped(TransitionOutcome::Stands(_))), "{again:?}");
}

async fn a_payment_that_is_not_open_makes_no_entry(w: &World) {
    let voucher = counter_sale(w).await;
    let ((order, _), (_, pay_other)) = (unpaid(w, voucher, 1).await, unpaid(w, voucher, 2).await);
    let session = open(w, "1", 0).await;
    let refused = w.storage.selling.cash.step(order, pay_other, &drawer("1"), NOON).await;
    assert!(refused.is_err(), "{refused:?}");
    assert_eq!(session_of(w, "1").await, session);
    assert_eq!(w.storage.selling.cash.entries(session.id, false, 0, 9).await.unwrap(), []);
    assert_eq!(status(w, order).await, OrderStatus::Unpaid);
}

async fn paying_in_and_out_is_idempotent_by_its_key(w: &World) {
    let session = open(w, "1", 0).await;
    let paid_in = moved(CashKind::PaidIn, 2_000, "key");
    let CashAddOutcome::Added(after) = add(w, session.id, &paid_in).await else { panic!() };
    assert_eq!(after.expected(), Cents::new(2_000));
    assert_eq!(add(w, session.id, &paid_in).await, CashAddOutcome::Repeat(after.clone()));
    let milk = NewCashEntry { reason: "milk".to_owned(), ..paid_in.clone() };
    for other in [moved(CashKind::PaidIn, 2_001, "key"), moved(CashKind::PaidOut, 2_000, "key"), milk] {
        assert_eq!(add(w, session.id, &other).await, CashAddOutcome::KeyUsed, "{other:?}");
    }
    // A trailing space is another key.
    let other = moved(CashKind::PaidOut, 300, "key ");
    let CashAddOutcome::Added(after) = add(w, session.id, &other).await else { panic!() };
    assert_eq!((after.expected(), after.totals.paid_out_count), (Cents::new(1_700), 1));
    let entries = w.storage.selling.cash.entries(session.id, true, 0, 9).await.unwrap();
    assert_eq!(entries.len(), 2);
    let first = &entries[0];
    assert_eq!((&*first.reason, first.by, first.at), ("换零钱", CASHIER, NOON + HOUR));
    assert_eq!(first.request.as_deref(), Some("key"));
    // The same key in another session is another entry.
    let next = open(w, "2", 0).await;
    assert!(matches!(add(w, next.id, &paid_in).await, CashAddOutcome::Added(_)));
    for unknown in [0, 99, u64::MAX] {
        assert_eq!(add(w, CashSessionId::new(unknown), &paid_in).await, CashAddOutcome::Unknown);
    }
}

async fn an_entry_beyond_a_limit_changes_nothing(w: &World) {
    let voucher = counter_sale(w).await;
    let (order, pay) = unpaid(w, voucher, 1).await;
    let session = open(w, "1", 50).await;
    for (kind, amount, limit) in [
        (CashKind::PaidOut, 51, CashLimit::Short(Cents::new(50))),
        (CashKind::PaidIn, CASH_MAX.get(), CashLimit::TooMuch),
        (CashKind::PaidIn, i64::MAX, CashLimit::TooMuch),
        (CashKind::PaidIn, -1, CashLimit::TooMuch),
        (CashKind::PaidOut, i64::MIN, CashLimit::TooMuch),
    ] {
        let refused = add(w, session.id, &moved(kind, amount, "key")).await;
        assert_eq!(refused, CashAddOutcome::Limit(limit), "{kind:?} {amount}");
    }
    assert_eq!(session_of(w, "1").await, session);
    // A refund of more than the drawer holds leaves the order paid.
    assert!(matches!(w.storage.selling.orders.step(order, pay, NOON).await, Ok(TransitionOutcome::Done(_))));
    let short = CashStepOutcome::Limit(CashLimit::Short(Cents::new(50)));
    assert_eq!(step(w, order, Transition::StartRefund, "1").await, short);
    assert_eq!(status(w, order).await, OrderStatus::Paid);
    assert_eq!(session_of(w, "1").await, session);
}

async fn a_report_is_the_session_and_its_digest_is_in_the_audit_log(w: &World) {
    let (order, pay) = unpaid(w, counter_sale(w).await, 1).await;
    let session = open(w, "1", 1_000).await;
    assert!(is_done(&step(w, order, pay, "1").await));
    let before = session_of(w, "1").await;
    let closed = close(w, session.id, &count(1_090, 1_100, "evening")).await;
    let CloseCashOutcome::Closed(report) = closed else { panic!("{closed:?}") };
    let expected = CashReport {
        number: 1,
        session: before,
        closed: NOON + 2 * HOUR,
        closed_by: UserId::new(6),
        expected: Cents::new(1_100),
        counted: Cents::new(1_090),
    };
    assert_eq!((&report, report.difference()), (&expected, Cents::new(-10)));
    assert_eq!(all_reports(w).await, std::slice::from_ref(&report));
    let entry = &w.storage.operator.audit.page(None, 1).await.unwrap()[0];
    assert_eq!((&*entry.action, &*entry.subject), (CASH_REPORT_ACTION, "Z report 1"));
    assert_eq!(entry.actor, Actor::User(UserId::new(6)));
    assert!(entry.detail.contains(&hex(&report.digest())), "{}", entry.detail);
    assert_eq!(w.storage.operator.audit.verify().await.unwrap().fault, None);
}

async fn a_closed_session_stays_closed(w: &World) {
    let session = open(w, "1", 100).await;
    assert_eq!(close(w, session.id, &count(100, 99, "a")).await, CloseCashOutcome::Changed(Cents::new(100)));
    let CloseCashOutcome::Closed(report) = close(w, session.id, &count(100, 100, "a")).await else {
        panic!()
    };
    // The response was lost: the same call returns the same report, whatever it says now.
    for (counted, expected) in [(100, 100), (1, 7)] {
        let again = close(w, session.id, &count(counted, expected, "a")).await;
        assert_eq!(again, CloseCashOutcome::Repeat(report.clone()));
    }
    for other in ["b", "a ", "A"] {
        let refused = close(w, session.id, &count(100, 100, other)).await;
        assert_eq!(refused, CloseCashOutcome::ClosedBefore(1), "{other:?}");
    }
    assert_eq!(add(w, session.id, &moved(CashKind::PaidIn, 1, "c")).await, CashAddOutcome::Closed(1));
    for unknown in [0, 99, u64::MAX] {
        let closed = close(w, CashSessionId::new(unknown), &count(0, 0, "a")).await;
        assert_eq!(closed, CloseCashOutcome::Unknown);
    }
    assert_eq!(
        (all_reports(w).await.len(), w.storage.selling.cash.open_sessions().await.unwrap().len()),
        (1, 0)
    );
    let next = open(w, "1", 0).await;
    assert!(next.id > session.id);
    let CloseCashOutcome::Closed(second) = close(w, next.id, &count(0, 0, "a")).await else { panic!() };
    assert_eq!(second.number, 2);
    let pages = |before| async move { w.storage.selling.cash.reports(before, 1).await.unwrap() };
    assert_eq!((pages(None).await, pages(Some(2)).await), (vec![Ok(second)], vec![Ok(report)]));
    assert_eq!((pages(Some(1)).await, pages(Some(0)).await), (vec![], vec![]));
}

async fn reports_are_numbered_without_gaps_in_a_rush(w: &World) {
    const TILLS: u64 = 8;
    const ROUNDS: u64 = 5;
    let barrier = Arc::new(Barrier::new(8));
    let rush: Vec<_> = (0..TILLS)
        .map(|till| {
            let (barrier, runtime) = (Arc::clone(&barrier), Handle::current());
            let cash = Arc::clone(&w.storage.selling.cash);
            tokio::task::spawn_blocking(move || {
                let drawer = drawer(&till.to_string());
                barrier.wait();
                for round in 0..ROUNDS {
                    let opened = cash.open(&drawer, Cents::new(5), 8, NOON);
                    let OpenCashOutcome::Opened(session) = runtime.block_on(opened).unwrap() else {
                        panic!()
                    };
                    let count = count(5, 5, &round.to_string());
                    let closed = runtime.block_on(cash.close(session.id, &count, NOON)).unwrap();
                    assert!(matches!(closed, CloseCashOutcome::Closed(_)), "{closed:?}");
                }
            })
        })
        .collect();
    for thread in rush {
        thread.await.unwrap();
    }
    let numbers: Vec<u64> = all_reports(w).await.iter().map(|report| report.number).collect();
    assert_eq!(numbers, (1..=TILLS * ROUNDS).rev().collect::<Vec<_>>());
    assert_eq!(w.storage.operator.audit.verify().await.unwrap().fault, None);
}

async fn of_many_closings_of_a_session_one_writes_the_report(w: &World) {
    for round in 0..10 {
        let session = open(w, "1", 100).await;
        let barrier = Arc::new(Barrier::new(8));
        let rush: Vec<_> = (0..8)
            .map(|caller| {
                let (barrier, runtime) = (Arc::clone(&barrier), Handle::current());
                let (cash, id) = (Arc::clone(&w.storage.selling.cash), session.id);
                tokio::task::spawn_blocking(move || {
                    barrier.wait();
                    let count = count(caller, 100, &format!("{}", caller / 2));
                    runtime.block_on(cash.close(id, &count, NOON)).unwrap()
                })
            })
            .collect();
        let (mut closed, mut repeats) = (0, 0);
        for thread in rush {
            match thread.await.unwrap() {
                CloseCashOutcome::Closed(report) => {
                    assert_eq!(report.number, round + 1);
                    closed += 1;
                }
                CloseCashOutcome::Repeat(_) => repeats += 1,
                CloseCashOutcome::ClosedBefore(number) => assert_eq!(number, round + 1),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!((closed, repeats), (1, 1));
    }
}

async fn in_a_rush_all_cash_is_in_exactly_one_session(w: &World) {
    const ORDERS: u64 = 40;
    let voucher = counter_sale(w).await;
    let mut orders = Vec::new();
    for number in 1..=ORDERS {
        orders.push(unpaid(w, voucher, number).await);
    }
    open(w, "1", 0).await;
    let (orders, barrier) = (Arc::new(orders), Arc::new(Barrier::new(5)));
    let mut rush: Vec<_> = (0..4)
        .map(|_| {
            let (orders, barrier) = (Arc::clone(&orders), Arc::clone(&barrier));
            let (cash, runtime) = (Arc::clone(&w.storage.selling.cash), Handle::current());
            tokio::task::spawn_blocking(move || {
                let drawer = drawer("1");
                barrier.wait();
                for (order, pay) in &*orders {
                    let stepped = loop {
                        let stepped = cash.step(*order, *pay, &drawer, NOON);
                        match runtime.block_on(stepped).unwrap() {
                            CashStepOutcome::NoSession => {}
                            stepped => break stepped,
                        }
                    };
                    assert!(matches!(stepped, CashStepOutcome::Stepped(_)), "{stepped:?}");
                }
            })
        })
        .collect();
    let (cash, runtime) = (Arc::clone(&w.storage.selling.cash), Handle::current());
    rush.push(tokio::task::spawn_blocking(move || {
        barrier.wait();
        // Until the cash is in several sessions for sure.
        let mut closed = 0;
        for round in 0.. {
            if round >= 20 && closed >= 3 {
                break;
            }
            let open = runtime.block_on(cash.open_sessions()).unwrap();
            let expected = open[0].expected().get();
            let count = count(expected, expected, &round.to_string());
            let closing = cash.close(open[0].id, &count, NOON);
            // A payment since is refused with the new amount, and the session stays open.
            if matches!(runtime.block_on(closing).unwrap(), CloseCashOutcome::Closed(_)) {
                let opened = runtime.block_on(cash.open(&drawer("1"), Cents::new(0), 8, NOON)).unwrap();
                assert!(matches!(opened, OpenCashOutcome::Opened(_)));
                closed += 1;
            }
        }
    }));
    for thread in rush {
        thread.await.unwrap();
    }
    let mut sessions: Vec<CashSession> =
        all_reports(w).await.into_iter().map(|report| report.session).collect();
    assert!(sessions.len() >= 3, "{} sessions were closed", sessions.len());
    sessions.extend(w.storage.selling.cash.open_sessions().await.unwrap());
    let mut paid = BTreeSet::new();
    for session in &sessions {
        let entries = w.storage.selling.cash.entries(session.id, false, 0, 1_000).await.unwrap();
        let sum: i64 = entries.iter().map(|entry| entry.amount.get()).sum();
        assert_eq!((sum, entries.len() as u64), (session.totals.sales.get(), session.totals.sale_count));
        for entry in entries {
            assert!(paid.insert(entry.order), "{:?} is in two sessions", entry.order);
        }
    }
    assert_eq!(paid.len() as u64, ORDERS);
}

async fn entries_are_read_page_by_page(w: &World) {
    let (order, pay) = unpaid(w, counter_sale(w).await, 1).await;
    let session = open(w, "1", 0).await;
    for number in 1..=3 {
        let added = add(w, session.id, &moved(CashKind::PaidIn, number, &number.to_string())).await;
        assert!(matches!(added, CashAddOutcome::Added(_)));
    }
    assert!(is_done(&step(w, order, pay, "1").await));
    for (moves_only, after, max, numbers) in [
        (false, 0, 9, &[1, 2, 3, 4][..]),
        (true, 0, 9, &[1, 2, 3]),
        (false, 2, 9, &[3, 4]),
        (false, 1, 2, &[2, 3]),
        (false, u64::MAX, 9, &[]),
    ] {
        let page = w.storage.selling.cash.entries(session.id, moves_only, after, max).await.unwrap();
        assert_eq!(page.iter().map(|entry| entry.number).collect::<Vec<_>>(), numbers);
    }
    assert_eq!(w.storage.selling.cash.entries(CashSessionId::new(99), false, 0, 9).await.unwrap(), []);
}

async fn sessions_and_reports_outlive_a_reopening(w: &World) {
    let w = w.another().await;
    let first = open(&w, "1", 10).await;
    let CloseCashOutcome::Closed(report) = close(&w, first.id, &count(9, 10, "a")).await else { panic!() };
    let second = open(&w, "1", 20).await;
    let CashAddOutcome::Added(after) = add(&w, second.id, &moved(CashKind::PaidOut, 5, "b")).await else {
        panic!()
    };
    let w = w.reopen().await;
    assert_eq!(all_reports(&w).await, [report]);
    assert_eq!(w.storage.selling.cash.open_sessions().await.unwrap(), [after]);
    let CloseCashOutcome::Closed(next) = close(&w, second.id, &count(15, 15, "a")).await else { panic!() };
    assert_eq!(next.number, 2);
}
