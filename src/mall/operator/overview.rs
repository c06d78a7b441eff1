//! What waits for an operator, in numbers.

use mallbox_storage::{DeadState, OrderFilter, OrderStatus, Page, VoucherFilter};

use crate::mall::{Context, Failure};

/// What there is, and what of it waits. Each is counted by an index, or among few.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Overview {
    /// Claims that are no orders yet.
    pub backlog: u64,
    /// Orders that wait for their payment.
    pub unpaid_orders: u64,
    /// Claims that did not become orders, and that nobody has decided about.
    pub dead_letters: u64,
    /// Notes and comments that were reported.
    pub reports: u64,
    /// Vouchers, on the shelf or not, sales among them.
    pub vouchers: u64,
    /// Sales, over or hidden ones included.
    pub sales: u64,
}

/// Counts all of it now.
///
/// # Errors
/// Only if the store is in trouble.
pub async fn overview(context: &Context) -> Result<Overview, Failure> {
    /// Of each list the number alone is wanted.
    const NO_ROWS: Page = Page::new(1, 0);
    let storage = &context.storage;
    let unpaid = OrderFilter { status: Some(OrderStatus::Unpaid), ..OrderFilter::default() };
    let [all, sales] =
        [false, true].map(|sales_only| VoucherFilter { sales_only, ..VoucherFilter::default() });
    let (unpaid, letters, reports, vouchers, sales) = tokio::try_join!(
        storage.orders.find(unpaid, NO_ROWS),
        storage.dead_letters.page(Some(DeadState::Open), NO_ROWS),
        storage.reports.open(NO_ROWS),
        storage.vouchers.page(all, NO_ROWS),
        storage.vouchers.page(sales, NO_ROWS),
    )?;
    Ok(Overview {
        backlog: storage.order_log.state().await.pending,
        unpaid_orders: unpaid.1,
        dead_letters: letters.1,
        reports: reports.1,
        vouchers: vouchers.1,
        sales: sales.1,
    })
}
