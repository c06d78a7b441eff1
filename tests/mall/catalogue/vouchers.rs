//! Ordinary vouchers on the shelf.

use std::time::Duration;

use mallbox::mall::catalogue::shops::ShopEdit;
use mallbox::mall::catalogue::vouchers::{RemainingStock, SaleForm, VoucherForm};
use mallbox::mall::{InputError, Refusal};
use mallbox_storage::{Claim, ClaimOutcome, OrderId, ShopId, ShopTypeId, UserId, VoucherId, VoucherStatus};

use super::world::{World, mistake, refusal, world};

/// Returns a mall with one shop.
async fn with_shop() -> (World, ShopId) {
    let w = world().await;
    let edit = ShopEdit {
        name: Some("103茶餐厅".into()),
        kind: Some(ShopTypeId::new(1)),
        x: Some(120.149993),
        y: Some(30.334229),
        ..ShopEdit::default()
    };
    let shop = w.shops.add(&edit, w.now()).await.unwrap();
    (w, shop)
}

fn form(shop: ShopId) -> VoucherForm {
    VoucherForm {
        shop: Some(shop),
        title: Some("100元代金券".into()),
        pay_value: Some(8000),
        actual_value: Some(10_000),
        ..VoucherForm::default()
    }
}

/// Returns a sale open from now on for an hour.
fn sale(w: &World, stock: i64) -> SaleForm {
    let end = w.now() + Duration::from_secs(3600);
    SaleForm { stock: Some(stock), begin: Some(w.now()), end: Some(end), ..SaleForm::default() }
}

async fn claim(w: &World, voucher: VoucherId, user: u64) -> ClaimOutcome {
    let order = OrderId::compose(w.now(), user, voucher).unwrap();
    w.storage
        .selling
        .sales
        .claim(Claim { order, voucher, user: UserId::new(user), at: w.now() })
        .await
        .unwrap()
}

async fn left(w: &World, shop: ShopId) -> Vec<Option<RemainingStock>> {
    w.vouchers.of_shop(shop, w.now()).await.unwrap().into_iter().map(|offer| offer.left).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_is_open_for_claims_as_soon_as_it_is_added() {
    let (w, shop) = with_shop().await;
    let voucher = w.vouchers.add_sale(&form(shop), &sale(&w, 2), w.now()).await.unwrap();
    assert_eq!(claim(&w, voucher, 1).await, ClaimOutcome::Accepted);
    assert_eq!(left(&w, shop).await, [Some(RemainingStock::Units(1))], "the page shows what is left now");
    assert_eq!(claim(&w, voucher, 2).await, ClaimOutcome::Accepted);
    assert_eq!(left(&w, shop).await, [Some(RemainingStock::Units(0))]);
    assert_eq!(claim(&w, voucher, 3).await, ClaimOutcome::SoldOut);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_that_came_too_early_does_not_hide_the_sale() {
    let (w, shop) = with_shop().await;
    let early = w.sales.claim(UserId::new(1), VoucherId::new(1), w.now()).await;
    assert_eq!(refusal(early), Refusal::UnknownSale);
    let voucher = w.vouchers.add_sale(&form(shop), &sale(&w, 1), w.now()).await.unwrap();
    assert_eq!(voucher, VoucherId::new(1));
    w.sales.claim(UserId::new(1), voucher, w.now()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_keeps_its_terms() {
    let (w, shop) = with_shop().await;
    let later = w.now() + Duration::from_secs(60);
    let terms = SaleForm {
        begin: Some(later),
        pay_within: Some(Duration::from_secs(5)),
        min_level: 2,
        ..sale(&w, 7)
    };
    let voucher = w.vouchers.add_sale(&form(shop), &terms, w.now()).await.unwrap();
    assert_eq!(claim(&w, voucher, 1).await, ClaimOutcome::NotOpen);
    let record = w.storage.catalogue.vouchers.get(voucher).await.unwrap().unwrap().sale.unwrap();
    assert_eq!((record.terms.begin, record.terms.end), (later, terms.end.unwrap()));
    assert_eq!((record.initial, record.stock, record.added), (Some(7), Some(7), 0));
    assert_eq!((record.pay_within, record.min_level), (Duration::from_secs(5), 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unlimited_sale_says_so_before_and_after_it_is_over() {
    let (w, shop) = with_shop().await;
    let voucher = w.vouchers.add_sale(&form(shop), &sale(&w, -1), w.now()).await.unwrap();
    for user in 1..=20 {
        assert_eq!(claim(&w, voucher, user).await, ClaimOutcome::Accepted);
    }
    assert_eq!(left(&w, shop).await, [Some(RemainingStock::Unlimited)]);
    w.storage.selling.sales.forget(voucher).await.unwrap();
    assert_eq!(left(&w, shop).await, [Some(RemainingStock::Unlimited)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_that_is_over_shows_what_the_record_has() {
    let (w, shop) = with_shop().await;
    let voucher = w.vouchers.add_sale(&form(shop), &sale(&w, 5), w.now()).await.unwrap();
    w.advance_ms(7_200_000);
    w.storage.selling.sales.forget(voucher).await.unwrap();
    assert_eq!(left(&w, shop).await, [Some(RemainingStock::Units(5))]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shop_shows_what_is_on_its_shelf() {
    let (w, shop) = with_shop().await;
    assert_eq!(w.vouchers.of_shop(shop, w.now()).await.unwrap(), []);
    assert_eq!(w.vouchers.of_shop(ShopId::new(99), w.now()).await.unwrap(), []);
    let ordinary = w.vouchers.add(&form(shop), w.now()).await.unwrap();
    let hidden = VoucherForm { status: Some(VoucherStatus::OffShelf), ..form(shop) };
    w.vouchers.add(&hidden, w.now()).await.unwrap();
    let flash = w.vouchers.add_sale(&form(shop), &sale(&w, 5), w.now()).await.unwrap();
    let offers = w.vouchers.of_shop(shop, w.now()).await.unwrap();
    let ids: Vec<_> = offers.iter().map(|offer| (offer.voucher.id, offer.left)).collect();
    assert_eq!(ids, [(ordinary, None), (flash, Some(RemainingStock::Units(5)))]);
    assert_eq!(claim(&w, ordinary, 1).await, ClaimOutcome::Unknown, "an ordinary voucher is no sale");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_voucher_is_not_there() {
    let (w, shop) = with_shop().await;
    let nowhere = form(ShopId::new(99));
    assert_eq!(refusal(w.vouchers.add(&nowhere, w.now()).await), Refusal::NotFound("shop"));
    assert_eq!(
        refusal(w.vouchers.add_sale(&nowhere, &sale(&w, 1), w.now()).await),
        Refusal::NotFound("shop")
    );
    let untitled = VoucherForm { title: None, ..form(shop) };
    assert_eq!(mistake(w.vouchers.add(&untitled, w.now()).await), InputError::Missing("title"));
    let none = w.vouchers.add_sale(&form(shop), &sale(&w, 0), w.now()).await;
    assert_eq!(mistake(none), InputError::OutOfRange("stock"));
    assert_eq!(w.vouchers.of_shop(shop, w.now()).await.unwrap(), []);
}
