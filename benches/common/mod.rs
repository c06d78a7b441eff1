//! Set-up for several benches.
#![expect(clippy::unwrap_used, reason = "a bench that cannot run has nothing to say")]

use std::time::Duration;

use mallbox_storage::{Cents, NewSale, ShopId, Storage, Timestamp, VoucherId, VoucherStatus, VoucherText};

/// The clock's time in benches.
pub const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Stores a sale that is open from a day before to a day after [`NOON`]. Returns the voucher's id.
pub async fn insert_sale(storage: &Storage, units: Option<u64>, pay_within: Duration) -> VoucherId {
    let text = VoucherText {
        shop: ShopId::new(1),
        title: "Bench".to_owned(),
        sub_title: String::new(),
        rules: String::new(),
        pay_value: Cents::new(1),
        actual_value: Cents::new(1),
        status: VoucherStatus::OnShelf,
    };
    let sale = NewSale { units, begin: NOON - DAY, end: NOON + DAY, pay_within, min_level: 0 };
    storage.catalogue.vouchers.insert(&text, Some(&sale), NOON).await.unwrap()
}
