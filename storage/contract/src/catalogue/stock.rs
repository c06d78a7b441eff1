//! `Vouchers`: a sale's units change during the sale, and no request is applied twice.

use mallbox_storage::{StockChange, StockChangeOutcome, StoreError, VoucherId};

use crate::selling::orders::{persist, stock};
use crate::world::{HOUR, NOON, TOKEN, World, claim};

crate::cases! {
    units_are_added_and_taken_away,
    what_is_held_is_not_taken_away,
    a_named_request_is_done_once,
    what_is_no_limited_sale_has_no_units_to_change,
    more_units_than_can_be_counted_are_refused,
}

async fn change(w: &World, voucher: VoucherId, by: i64, request: Option<&str>) -> StockChangeOutcome {
    let change = StockChange { asked: by, by, request: request.map(str::to_owned) };
    w.storage
        .catalogue
        .vouchers
        .change_stock(voucher, &change, TOKEN, NOON + HOUR)
        .await
        .unwrap()
        .done()
        .unwrap()
}

/// By how many units, and `added`, the units in all, and the stock then.
fn done(changed: &StockChangeOutcome) -> (i64, i64, Option<u64>, Option<u64>) {
    let StockChangeOutcome::Done(by, sale) = changed else { panic!("{changed:?}") };
    (*by, sale.added, sale.terms.units, sale.stock)
}

async fn units_are_added_and_taken_away(w: &World) {
    let (voucher, other) = (w.sale(Some(10)).await, w.sale(Some(10)).await);
    let untouched = w.storage.catalogue.vouchers.get(other).await.unwrap();
    let before = w.storage.catalogue.vouchers.get(voucher).await.unwrap().unwrap();
    for (by, expected) in [
        (5, (5, 5, Some(15), Some(15))),
        (-12, (-12, -7, Some(3), Some(3))),
        (0, (0, -7, Some(3), Some(3))),
        (-9, (-3, -10, Some(0), Some(0))),
        (-1, (0, -10, Some(0), Some(0))),
        (2, (2, -8, Some(2), Some(2))),
    ] {
        assert_eq!(done(&change(w, voucher, by, None).await), expected, "{by}");
    }
    let after = w.storage.catalogue.vouchers.get(voucher).await.unwrap().unwrap();
    let sale = after.sale.unwrap();
    assert_eq!((sale.initial, sale.added, sale.stock, sale.terms.units), (Some(10), -8, Some(2), Some(2)));
    assert_eq!((after.text, after.created, after.updated), (before.text, before.created, NOON + HOUR));
    assert_eq!(w.storage.catalogue.vouchers.get(other).await.unwrap(), untouched);
}

async fn what_is_held_is_not_taken_away(w: &World) {
    let voucher = w.sale(Some(5)).await;
    persist(w, &[claim(voucher, 1, 1), claim(voucher, 2, 2)]).await;
    assert_eq!(done(&change(w, voucher, -4, None).await), (-3, -3, Some(2), Some(0)));
    assert_eq!(stock(w, voucher).await, Some(0));
}

async fn a_named_request_is_done_once(w: &World) {
    let (voucher, other) = (w.sale(Some(5)).await, w.sale(Some(5)).await);
    let find = async |name| w.storage.catalogue.vouchers.stock_change(voucher, name).await.unwrap();
    assert_eq!(find("a").await, None);
    assert_eq!(done(&change(w, voucher, -7, Some("a")).await).0, -5);
    let first = StockChange { asked: -7, by: -5, request: Some("a".to_owned()) };
    assert_eq!(find("a").await, Some(first.clone()));
    assert_eq!(done(&change(w, voucher, 3, Some("b")).await).0, 3);
    for again in [-7, 100] {
        let StockChangeOutcome::Before(change, sale) = change(w, voucher, again, Some("a")).await else {
            panic!("done twice")
        };
        assert_eq!((change, sale.added, sale.stock), (first.clone(), -2, Some(3)));
    }
    // For another sale, an equal key is another request.
    assert_eq!(done(&change(w, other, 1, Some("a")).await).0, 1);
}

async fn what_is_no_limited_sale_has_no_units_to_change(w: &World) {
    let unlimited = w.sale(None).await;
    for by in [1, -1, 0] {
        assert_eq!(change(w, unlimited, by, Some("a")).await, StockChangeOutcome::Unlimited);
        for unknown in [0, 404, u64::MAX] {
            assert_eq!(change(w, VoucherId::new(unknown), by, None).await, StockChangeOutcome::Unknown);
        }
    }
    assert_eq!(stock(w, unlimited).await, None);
    assert_eq!(w.storage.catalogue.vouchers.stock_change(unlimited, "a").await.unwrap(), None);
}

async fn more_units_than_can_be_counted_are_refused(w: &World) {
    let voucher = w.sale(Some(5)).await;
    for by in [i64::MAX, i64::MAX - 4] {
        let change = StockChange { asked: by, by, request: None };
        let refused = w.storage.catalogue.vouchers.change_stock(voucher, &change, TOKEN, NOON).await;
        assert!(matches!(refused, Err(StoreError::Refused { .. })), "{refused:?}");
    }
    assert_eq!(done(&change(w, voucher, i64::MIN, None).await), (-5, -5, Some(0), Some(0)));
    let all = change(w, voucher, i64::MAX - 5, None).await;
    assert_eq!(done(&all).2, Some(i64::MAX as u64 - 5));
}
