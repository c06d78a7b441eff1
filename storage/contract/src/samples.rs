//! Shops, vouchers and sales for tests and benches to which the details do not matter.

use std::time::Duration;

use mallbox_storage::{
    Cents, NewSale, ShopId, ShopText, ShopType, ShopTypeId, Shops, StoreError, Timestamp, VoucherId,
    VoucherStatus, VoucherText, Vouchers,
};

/// Returns a shop in Hangzhou of type 1, without pictures, visitors and sales.
#[must_use]
pub fn shop() -> ShopText {
    ShopText {
        name: "茶馆".to_owned(),
        kind: ShopTypeId::new(1),
        images: String::new(),
        area: String::new(),
        address: "某路 1 号".to_owned(),
        x: 120.149_993,
        y: 30.334_229,
        avg_price: None,
        open_hours: String::new(),
        sold: 0,
        comments: 0,
        score: 0,
    }
}

/// Stores type 1 and a [`shop`] of this type. Returns the shop's id.
///
/// # Errors
/// If the store fails.
pub async fn insert_shop(shops: &dyn Shops, now: Timestamp) -> Result<ShopId, StoreError> {
    let text = shop();
    let kind =
        ShopType { id: text.kind, name: "美食".to_owned(), icon: "/types/ms.png".to_owned(), sort: 1 };
    shops.put_type(&kind, now).await?;
    shops.insert(&text, now).await
}

/// Returns a voucher of shop 1 on the shelf, with a face value of ten times the price.
#[must_use]
pub fn voucher() -> VoucherText {
    VoucherText {
        shop: ShopId::new(1),
        title: "One bowl of noodles".to_owned(),
        sub_title: String::new(),
        rules: String::new(),
        pay_value: Cents::new(100),
        actual_value: Cents::new(1_000),
        status: VoucherStatus::OnShelf,
    }
}

/// Returns a sale that begins at `begin` and never ends, for users of every level, with 15 min to pay.
#[must_use]
pub fn sale(units: Option<u64>, begin: Timestamp) -> NewSale {
    NewSale { units, begin, end: Timestamp::MAX, pay_within: Duration::from_secs(900), min_level: 0 }
}

/// Stores a [`voucher`] with a [`sale`] that begins at `now`. Returns the voucher's id.
///
/// # Errors
/// If the store fails.
pub async fn insert_sale(
    vouchers: &dyn Vouchers,
    units: Option<u64>,
    now: Timestamp,
) -> Result<VoucherId, StoreError> {
    vouchers.insert(&voucher(), Some(&sale(units, now)), now).await
}
