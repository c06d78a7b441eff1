//! An operator's changes to a sale's window, and the view of a sale.

use std::time::Duration;

use mallbox::mall::Refusal;
use mallbox::mall::operator::sales::WindowForm;
use mallbox::mall::selling::sales::SaleState;
use mallbox_storage::{NewSale, OrderStatus, VoucherId};
use serde_json::json;

use super::world::{MINUTE, NOON, PAY_WITHIN, World, refusal, world};

const NOWHERE: VoucherId = VoucherId::new(404);

async fn in_memory(w: &World, voucher: VoucherId) -> bool {
    w.storage.selling.sales.units(voucher).await.unwrap().is_some()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_sale_takes_no_claim_until_it_is_resumed() {
    let w = world().await;
    let voucher = w.sale(9).await;
    w.order(1, voucher).await;
    for _ in 0..2 {
        let view = w.sale_admin.pause(w.by(), voucher).await.unwrap();
        assert_eq!((view.state, view.sale.terms.paused), (SaleState::Paused, true));
        assert_eq!(refusal(w.claim(2, voucher).await), Refusal::Paused);
    }
    let w = w.restart().await;
    assert_eq!(refusal(w.claim(2, voucher).await), Refusal::Paused, "it stays so after a restart");
    for _ in 0..2 {
        assert_eq!(w.sale_admin.resume(w.by(), voucher).await.unwrap().state, SaleState::Open);
    }
    w.claim(2, voucher).await.unwrap();
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ended_sale_is_over_and_a_later_end_opens_it_again_with_its_buyers() {
    let w = world().await;
    let voucher = w.sale(3).await;
    let order = w.order(1, voucher).await;
    for _ in 0..2 {
        w.clock.advance(MINUTE);
        let view = w.sale_admin.end(w.by(), voucher).await.unwrap();
        assert_eq!((view.state, view.sale.terms.end), (SaleState::Ended, NOON + MINUTE), "it ended once");
        assert_eq!(refusal(w.claim(2, voucher).await), Refusal::Ended);
    }
    w.orders.pay(mallbox_storage::UserId::new(1), order, w.now()).await.unwrap();
    w.advance(MINUTE * 62).await;
    assert!(!in_memory(&w, voucher).await, "it has left memory");
    let view = w.sale_admin.page(1, w.now()).await.unwrap().0.remove(0);
    assert_eq!((view.left, view.taken, view.pending), (Some(2), 1, 0), "and is shown all the same");

    let later = WindowForm { begin: None, end: Some(w.now() + MINUTE) };
    let view = w.sale_admin.put_window(w.by(), voucher, later).await.unwrap();
    assert_eq!((view.state, view.left), (SaleState::Open, Some(2)));
    assert_eq!(refusal(w.claim(1, voucher).await), Refusal::AlreadyBought(order));
    w.claim(2, voucher).await.unwrap();
    w.drain().await;
    w.assert_balanced().await;
    // The sale is evicted from memory again.
    w.advance(MINUTE * 62).await;
    assert!(!in_memory(&w, voucher).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_that_has_not_begun_can_be_moved_and_ended() {
    let w = world().await;
    let hour = MINUTE * 60;
    let terms = NewSale {
        units: Some(5),
        begin: NOON + hour,
        end: NOON + hour * 2,
        pay_within: PAY_WITHIN,
        min_level: 0,
    };
    let voucher = w.sale_like(terms).await;
    assert_eq!(refusal(w.claim(1, voucher).await), Refusal::NotOpen);
    let earlier = WindowForm { begin: Some(NOON), end: None };
    let view = w.sale_admin.put_window(w.by(), voucher, earlier).await.unwrap();
    assert_eq!((view.sale.terms.begin, view.sale.terms.end), (NOON, NOON + hour * 2));
    w.claim(1, voucher).await.unwrap();
    let other = w.sale_like(terms).await;
    let ended = w.sale_admin.end(w.by(), other).await.unwrap();
    assert_eq!((ended.state, ended.sale.terms.begin, ended.sale.terms.end), (SaleState::Ended, NOON, NOON));
    assert_eq!(refusal(w.claim(1, other).await), Refusal::Ended);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_must_have_an_end_that_is_still_to_come() {
    let w = world().await;
    let voucher = w.sale(5).await;
    let before = w.storage.catalogue.vouchers.get(voucher).await.unwrap();
    let second = Duration::from_secs(1);
    let (begin, end) = (Some("beginTime"), Some("endTime"));
    for (form, wrong) in [
        (WindowForm::default(), begin),
        (WindowForm { begin: None, end: Some(NOON) }, end),
        (WindowForm { begin: Some(NOON + second), end: Some(NOON + second) }, end),
        (WindowForm { begin: Some(NOON + MINUTE * 600), end: None }, end),
    ] {
        let refused = refusal(w.sale_admin.put_window(w.by(), voucher, form).await);
        assert_eq!(Some(refused), wrong.map(Refusal::BadValue), "{form:?}");
    }
    assert_eq!(w.storage.catalogue.vouchers.get(voucher).await.unwrap(), before);
    let ordinary = w.record(None).await;
    let unknown = Refusal::NotFound("sale");
    for which in [NOWHERE, ordinary] {
        let later = WindowForm { begin: None, end: Some(NOON + MINUTE) };
        assert_eq!(refusal(w.sale_admin.put_window(w.by(), which, later).await), unknown);
        assert_eq!(refusal(w.sale_admin.pause(w.by(), which).await), unknown);
        assert_eq!(refusal(w.sale_admin.resume(w.by(), which).await), unknown);
        assert_eq!(refusal(w.sale_admin.end(w.by(), which).await), unknown);
        assert_eq!(refusal(w.sale_admin.account(which, w.now()).await), unknown);
    }
    assert_eq!(w.audited().await, [], "what was not begun is not in the log");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_is_shown_with_its_ledger() {
    let mut w = world().await;
    let (limited, unlimited) = (w.sale(9).await, w.sale(None).await);
    w.order(1, limited).await;
    w.order(1, unlimited).await;
    w.rest().await;
    w.claim(2, limited).await.unwrap();
    let (views, total) = w.sale_admin.page(1, w.now()).await.unwrap();
    let shown: Vec<_> =
        views.iter().map(|view| (view.voucher.id, view.left, view.taken, view.pending)).collect();
    assert_eq!((shown, total), (vec![(unlimited, None, 1, 0), (limited, Some(7), 2, 1)], 2));
    let account = w.sale_admin.account(limited, w.now()).await.unwrap();
    let books = account.books;
    assert_eq!((books.initial, books.added, books.remaining), (Some(9), 0, Some(7)));
    assert_eq!((books.pending, books.unpaid, account.findings), (1, 1, Some(vec![])));
    w.ground().sql("UPDATE sales SET stock = stock - 1 WHERE initial IS NOT NULL");
    let account = w.sale_admin.account(limited, w.now()).await.unwrap();
    let findings = account.findings.unwrap();
    assert_eq!(findings[0].term, "stock kept by the order transactions");
    // Ended and evicted from memory: the unlimited sale, too, is shown with the units taken.
    w.ground().sql("UPDATE sales SET stock = stock + 1 WHERE initial IS NOT NULL");
    w.start_workers();
    w.advance(MINUTE * 60 * 11).await;
    assert!(!in_memory(&w, unlimited).await);
    let view = w.sale_admin.account(unlimited, w.now()).await.unwrap().view;
    assert_eq!((view.left, view.taken, view.state), (None, 0, SaleState::Ended), "the order was cancelled");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_action_is_in_the_log_before_it_is_done() {
    let w = world().await;
    let voucher = w.sale(9).await;
    let order = w.order(1, voucher).await;
    w.sale_admin.pause(w.by(), voucher).await.unwrap();
    w.sale_admin.resume(w.by(), voucher).await.unwrap();
    let later = WindowForm { begin: None, end: Some(NOON + MINUTE) };
    w.sale_admin.put_window(w.by(), voucher, later).await.unwrap();
    w.sale_admin.end(w.by(), voucher).await.unwrap();
    w.order_admin.void(w.by(), order, " <b>typed</b> wrongly ", None).await.unwrap();
    assert_eq!(w.status(order).await, OrderStatus::Cancelled);
    let sale = format!("sale {voucher}");
    let entry = |action: &str, detail| (action.to_owned(), sale.clone(), detail);
    let end_ms = (NOON + MINUTE).as_millis();
    let reason =
        ("order.void".to_owned(), format!("order {order}"), json!({ "reason": "<b>typed</b> wrongly" }));
    let expected = [
        entry("sale.pause", json!(null)),
        entry("sale.resume", json!(null)),
        entry("sale.window", json!({ "beginMs": null, "endMs": end_ms })),
        entry("sale.end", json!(null)),
        reason,
    ];
    assert_eq!(w.audited().await, expected);
    // An action that cannot be audited is not performed.
    w.ground().refuse_rows("audit", "1", "full");
    w.sale_admin.pause(w.by(), voucher).await.unwrap_err();
    assert!(!w.storage.catalogue.vouchers.get(voucher).await.unwrap().unwrap().sale.unwrap().terms.paused);
}
