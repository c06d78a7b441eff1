//! Set-up for several benches.
#![expect(clippy::unwrap_used, reason = "a bench that cannot run has nothing to say")]

use std::time::Duration;

use mallbox_storage::{NewSale, Storage, Timestamp, VoucherId};
use mallbox_storage_contract::samples;

/// The clock's time in benches.
pub const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Stores a sale that is open from a day before to a day after [`NOON`]. Returns the voucher's id.
pub async fn insert_sale(storage: &Storage, units: Option<u64>, pay_within: Duration) -> VoucherId {
    let sale = NewSale { end: NOON + DAY, pay_within, ..samples::sale(units, NOON - DAY) };
    storage.catalogue.vouchers.insert(&samples::voucher(), Some(&sale), NOON).await.unwrap()
}
