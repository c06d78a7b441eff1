//! Spans of time and texts of vouchers in the demo.

use std::time::Duration;

use mallbox_storage::{Cents, ShopId, VoucherStatus, VoucherText};

pub(super) const HOUR: Duration = Duration::from_secs(60 * 60);
pub(super) const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Returns the text of a voucher on the shelf.
pub(super) fn voucher_text(shop: u64, words: [&str; 3], cents: [i64; 2]) -> VoucherText {
    let [title, sub_title, rules] = words.map(str::to_owned);
    let [pay_value, actual_value] = cents.map(Cents::new);
    let (shop, status) = (ShopId::new(shop), VoucherStatus::OnShelf);
    VoucherText { shop, title, sub_title, rules, pay_value, actual_value, status }
}
