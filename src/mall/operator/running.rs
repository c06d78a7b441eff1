//! The sales that are on.

use mallbox_storage::{Timestamp, VoucherId};

use crate::mall::sales::RunningSale;
use crate::mall::{Failure, Mall, Refusal};

/// The sales in their window, by voucher: at most `max`. One whose voucher is off the shelf is not on.
///
/// # Errors
/// Only if the store is in trouble.
pub async fn running_sales(mall: &Mall, max: usize, now: Timestamp) -> Result<Vec<RunningSale>, Failure> {
    /// Sales read at once.
    const PAGE: u32 = 500;
    let mut running = Vec::new();
    let mut after = VoucherId::new(0);
    loop {
        let sales = mall.context.storage.vouchers.sales(Some(now), after, PAGE).await?;
        let Some(last) = sales.last() else { return Ok(running) };
        after = last.terms.voucher;
        for sale in sales.iter().filter(|sale| sale.terms.begin <= now) {
            if running.len() >= max {
                return Ok(running);
            }
            match mall.sales.running(sale.terms.voucher, now).await {
                Ok(sale) => running.push(sale),
                Err(Failure::Refused(Refusal::UnknownSale)) => {}
                Err(trouble) => return Err(trouble),
            }
        }
    }
}
