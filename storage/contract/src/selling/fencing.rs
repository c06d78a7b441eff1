//! Fencing of terms: `Sales::put` and the rows of `Vouchers` refuse a holder of the lock who comes late.

use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{
    Cents, ClaimOutcome, Fenced, FencingToken, LockEntry, LockOutcome, LockOwner, Locker, SaleUnits,
    StockChange, StockChangeOutcome, Terms, VoucherEdit, VoucherId,
};
use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use rand::{RngExt, SeedableRng};

use crate::world::{HOUR, NOON, World, claim};

crate::cases! {
    a_holder_stopped_past_its_lease_cannot_put_its_terms,
    a_late_put_changes_nothing,
    a_forgotten_sale_remembers_its_token,
    a_load_under_way_does_not_let_a_late_put_win,
    puts_at_once_leave_the_terms_of_the_greatest_token,
    rows_of_terms_refuse_a_late_write,
    a_voucher_without_a_sale_takes_any_token,
    tokens_of_a_restarted_mall_are_accepted,
}

const LOCK: &str = "sale-terms";
const SHORT: Duration = Duration::from_millis(120);
const LONG: Duration = Duration::from_secs(60);

fn token(number: u64) -> FencingToken {
    FencingToken::new(number)
}

fn stale<T>(seen: FencingToken) -> Fenced<T> {
    Fenced::Stale { seen }
}

async fn put(w: &World, terms: Terms, number: u64) -> Fenced<SaleUnits> {
    w.storage.selling.sales.put(terms, token(number)).await.unwrap()
}

async fn is_paused(w: &World, voucher: VoucherId, user: u64) -> bool {
    match w.storage.selling.sales.claim(claim(voucher, user, user)).await.unwrap() {
        ClaimOutcome::Paused => true,
        ClaimOutcome::Accepted => false,
        other => panic!("{other:?}"),
    }
}

async fn a_holder_stopped_past_its_lease_cannot_put_its_terms(w: &World) {
    let (sales, locks) = (&w.storage.selling.sales, &w.storage.base.locks);
    let voucher = w.sale(Some(5)).await;
    let terms = w.terms(voucher).await;
    // Stopped after reading the terms: nobody renews the lease.
    let entry = LockEntry { owner: LockOwner::new(1), number: 0 };
    let LockOutcome::Held(stopped) = locks.enter(LOCK, entry, SHORT).await.unwrap() else {
        panic!("the lock is free")
    };
    assert!(sales.put(terms, stopped).await.unwrap().done().is_some());
    let next =
        Locker::new(Arc::clone(locks)).hold(LOCK, LockOwner::new(2), LONG, LONG).await.unwrap().unwrap();
    let newer = Terms { paused: true, units: Some(3), ..terms };
    let in_force = SaleUnits { units: Some(3), taken: 0 };
    assert_eq!(sales.put(newer, next.token()).await.unwrap(), Fenced::Done(in_force));
    assert_eq!(sales.put(terms, stopped).await.unwrap(), stale(next.token()), "the stopped holder goes on");
    assert_eq!(sales.units(voucher).await.unwrap(), Some(in_force));
    assert!(is_paused(w, voucher, 1).await, "terms of the next holder");
    assert_eq!(sales.put(newer, next.token()).await.unwrap(), Fenced::Done(in_force), "a repeat");
    assert!(next.leave().await.unwrap());
}

async fn a_late_put_changes_nothing(w: &World) {
    let (sale, other) = (w.sale(Some(5)).await, w.sale(Some(5)).await);
    let (terms, terms_of_other) = (w.terms(sale).await, w.terms(other).await);
    for greatest in [2, 3, u64::from(u32::MAX), 1 << 52] {
        let units = SaleUnits { units: Some(greatest), taken: 0 };
        assert_eq!(put(w, Terms { units: Some(greatest), ..terms }, greatest).await, Fenced::Done(units));
        for late in [0, 1, greatest - 1] {
            let changed = Terms { paused: true, units: None, waiting: true, end: NOON, ..terms };
            assert_eq!(put(w, changed, late).await, stale(token(greatest)), "{late} after {greatest}");
        }
        assert_eq!(w.storage.selling.sales.units(sale).await.unwrap(), Some(units));
        assert_eq!(
            put(w, terms_of_other, 1).await.done().map(|units| units.units),
            Some(Some(5)),
            "per sale"
        );
    }
    assert!(!is_paused(w, sale, 1).await);
}

async fn a_forgotten_sale_remembers_its_token(w: &World) {
    let sales = &w.storage.selling.sales;
    let voucher = w.sale(Some(5)).await;
    let terms = w.terms(voucher).await;
    assert!(put(w, Terms { paused: true, ..terms }, 7).await.done().is_some());
    for _ in 0..2 {
        sales.forget(voucher).await.unwrap();
        assert_eq!(put(w, terms, 6).await, stale(token(7)));
        assert_eq!(sales.units(voucher).await.unwrap(), None, "still unknown");
    }
    assert!(put(w, terms, 7).await.done().is_some(), "the holder itself");
    assert_eq!(put(w, terms, 6).await, stale(token(7)));
    assert!(!is_paused(w, voucher, 1).await);
}

/// The sale is loaded by whoever comes first; the order of the tokens decides all the same.
async fn a_load_under_way_does_not_let_a_late_put_win(w: &World) {
    const BUYERS: u64 = 300;
    let sales = &w.storage.selling.sales;
    let voucher = w.sale(None).await;
    let terms = w.terms(voucher).await;
    for user in 1..=BUYERS {
        assert_eq!(sales.claim(claim(voucher, user, user)).await.unwrap(), ClaimOutcome::Accepted);
    }
    for round in 1..=20_u64 {
        sales.forget(voucher).await.unwrap();
        let (late, newer) = (token(round * 2), token(round * 2 + 1));
        let paused = Terms { paused: true, ..terms };
        let (late, newer) = tokio::join!(sales.put(terms, late), sales.put(paused, newer));
        assert!(newer.unwrap().done().is_some(), "round {round}: {late:?}");
        assert!(is_paused(w, voucher, BUYERS + round).await, "round {round}: {late:?}");
    }
}

async fn puts_at_once_leave_the_terms_of_the_greatest_token(w: &World) {
    const THREADS: usize = 8;
    const PUTS: u64 = 400;
    const FORGET_EVERY: usize = 4;
    let seed = rand::random();
    println!("seed {seed}");
    let mut dice = StdRng::seed_from_u64(seed);
    let voucher = w.sale(Some(1)).await;
    let terms = w.terms(voucher).await;
    let mut tokens: Vec<u64> = (2..PUTS).collect();
    tokens.shuffle(&mut dice);
    let start = Arc::new(std::sync::Barrier::new(THREADS));
    let threads: Vec<_> = tokens
        .chunks(tokens.len().div_ceil(THREADS))
        .map(|tokens| {
            let (sales, start, tokens) =
                (Arc::clone(&w.storage.selling.sales), Arc::clone(&start), tokens.to_vec());
            let forgets = dice.random_range(0..FORGET_EVERY);
            tokio::task::spawn_blocking(move || {
                let runtime = tokio::runtime::Handle::current();
                start.wait();
                for (number, token) in tokens.into_iter().enumerate() {
                    if number % FORGET_EVERY == forgets {
                        runtime.block_on(sales.forget(voucher)).unwrap();
                    }
                    let terms = Terms { units: Some(1000 + token), ..terms };
                    let _ = runtime.block_on(sales.put(terms, FencingToken::new(token))).unwrap();
                }
            })
        })
        .collect();
    for thread in threads {
        thread.await.unwrap();
    }
    // The sale may be forgotten after the greatest put.
    let sales = &w.storage.selling.sales;
    let of_greatest = SaleUnits { units: Some(1000 + PUTS - 1), taken: 0 };
    if let Some(units) = sales.units(voucher).await.unwrap() {
        assert_eq!(units, of_greatest);
    }
    assert_eq!(put(w, terms, PUTS - 2).await, stale(token(PUTS - 1)));
}

async fn rows_of_terms_refuse_a_late_write(w: &World) {
    let vouchers = &w.storage.catalogue.vouchers;
    let voucher = w.sale(Some(5)).await;
    let (begin, end) = (NOON - HOUR, NOON + HOUR * 2);
    let window = async |paused, number| {
        vouchers.put_window(voucher, begin, end, paused, token(number), NOON).await.unwrap()
    };
    let change = async |asked, request: Option<&str>, number| {
        let change = StockChange { asked, by: asked, request: request.map(ToOwned::to_owned) };
        vouchers.change_stock(voucher, &change, token(number), NOON).await.unwrap()
    };
    let reprice = async |value, number| {
        let edit = VoucherEdit { pay_value: Some(Cents::new(value)), ..VoucherEdit::default() };
        vouchers.update(voucher, &edit, token(number), NOON).await.unwrap()
    };
    // Each call raises the token that the other two must have.
    assert!(window(true, 3).await.done().flatten().is_some_and(|sale| sale.terms.paused));
    let is_done = |changed| matches!(changed, Fenced::Done(StockChangeOutcome::Done(2, _)));
    assert!(is_done(change(2, Some("a"), 4).await));
    assert!(reprice(7, 5).await.done().flatten().is_some());
    let before = vouchers.get(voucher).await.unwrap();
    assert_eq!(window(false, 4).await, stale(token(5)));
    assert_eq!(change(1, Some("b"), 4).await, stale(token(5)));
    assert_eq!(change(-1, None, 0).await, stale(token(5)));
    assert_eq!(reprice(8, 4).await, stale(token(5)));
    assert_eq!(vouchers.get(voucher).await.unwrap(), before);
    assert_eq!(vouchers.stock_change(voucher, "b").await.unwrap(), None, "the name is free");
    let repeat = change(9, Some("a"), 1).await;
    assert!(matches!(repeat, Fenced::Done(StockChangeOutcome::Before(..))), "{repeat:?}");
    assert!(is_done(change(2, Some("b"), 5).await), "the holder itself");
    assert!(window(false, 6).await.done().flatten().is_some_and(|sale| !sale.terms.paused));
    assert_eq!(change(2, None, 5).await, stale(token(6)));
    // A sale's settings and waves need no token, and leave the token as it is.
    assert!(vouchers.put_guard(voucher, None, NOON).await.unwrap().is_some());
    assert_eq!(window(true, 5).await, stale(token(6)));
}

async fn a_voucher_without_a_sale_takes_any_token(w: &World) {
    let vouchers = &w.storage.catalogue.vouchers;
    let voucher = w.ordinary_voucher().await;
    for number in [9, 1] {
        let edit = VoucherEdit { title: Some(number.to_string()), ..VoucherEdit::default() };
        let edited = vouchers.update(voucher, &edit, token(number), NOON).await.unwrap();
        assert_eq!(edited.done().flatten().map(|voucher| voucher.text.title), Some(number.to_string()));
        let window =
            vouchers.put_window(voucher, NOON, NOON + HOUR, true, token(number), NOON).await.unwrap();
        assert_eq!(window, Fenced::Done(None));
    }
}

async fn tokens_of_a_restarted_mall_are_accepted(w: &World) {
    let mut w = w.another().await;
    let voucher = w.sale(Some(5)).await;
    let mut before = token(0);
    for _ in 0..3 {
        let locker = Locker::new(Arc::clone(&w.storage.base.locks));
        let held = locker.hold(LOCK, LockOwner::random(), LONG, LONG).await.unwrap().unwrap();
        let (terms, token) = (w.terms(voucher).await, held.token());
        let vouchers = &w.storage.catalogue.vouchers;
        let window = async |token| {
            vouchers.put_window(voucher, terms.begin, terms.end, false, token, NOON).await.unwrap()
        };
        assert!(token > before && window(token).await.done().flatten().is_some());
        assert_eq!(window(before).await, stale(token), "the row remembers");
        assert!(w.storage.selling.sales.put(terms, token).await.unwrap().done().is_some());
        assert_eq!(w.storage.selling.sales.put(terms, before).await.unwrap(), stale(token));
        assert!(held.leave().await.unwrap());
        before = token;
        w = w.reopen().await;
    }
}
