//! Running sales for the operators.

use mallbox_storage::{Timestamp, VoucherId};

use crate::mall::base::{Context, Failure, Refusal};
use crate::mall::selling::FlashSales;
use crate::mall::selling::sales::RunningSale;

/// Returns the sales inside their window, ordered by voucher: at most `max`. Sales with a voucher off the
/// shelf are excluded.
///
/// # Errors
/// [`Failure::Store`] if the store fails.
pub async fn running_sales(
    context: &Context,
    flash_sales: &FlashSales,
    max: usize,
    now: Timestamp,
) -> Result<Vec<RunningSale>, Failure> {
    /// Sales read per page.
    const PAGE: u32 = 500;
    let mut running = Vec::new();
    let mut after = VoucherId::new(0);
    loop {
        let sales = context.storage.catalogue.vouchers.sales(Some(now), after, PAGE).await?;
        let Some(last) = sales.last() else { return Ok(running) };
        after = last.terms.voucher;
        for sale in sales.iter().filter(|sale| sale.terms.begin <= now) {
            if running.len() >= max {
                return Ok(running);
            }
            match flash_sales.running(sale.terms.voucher, now).await {
                Ok(sale) => running.push(sale),
                Err(Failure::Refused(Refusal::UnknownSale)) => {}
                Err(trouble) => return Err(trouble),
            }
        }
    }
}
