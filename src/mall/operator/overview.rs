//! Counts for the operators' home page.

use mallbox_storage::{DeadState, OrderFilter, OrderStatus, Page, VoucherFilter};

use crate::mall::base::{Context, Failure};

/// Counts of objects and of open work. Each count uses an index or a small table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Overview {
    /// Pending claims in the order log.
    pub backlog: u64,
    /// Orders waiting for payment.
    pub unpaid_orders: u64,
    /// Dead letters still open.
    pub dead_letters: u64,
    /// Reported notes and comments without a decision.
    pub reports: u64,
    /// All vouchers, hidden vouchers and sales included.
    pub vouchers: u64,
    /// All sales, ended and hidden sales included.
    pub sales: u64,
}

/// Counts everything at the time of the call.
///
/// # Errors
/// [`Failure::Store`] if the store fails.
pub async fn overview(context: &Context) -> Result<Overview, Failure> {
    /// An empty page: only the totals are needed.
    const NO_ROWS: Page = Page::new(1, 0);
    let storage = &context.storage;
    let unpaid = OrderFilter { status: Some(OrderStatus::Unpaid), ..OrderFilter::default() };
    let [all, sales] =
        [false, true].map(|sales_only| VoucherFilter { sales_only, ..VoucherFilter::default() });
    let (unpaid, letters, reports, vouchers, sales) = tokio::try_join!(
        storage.selling.orders.find(unpaid, NO_ROWS),
        storage.selling.dead_letters.page(Some(DeadState::Open), NO_ROWS),
        storage.writing.reports.open(NO_ROWS),
        storage.catalogue.vouchers.page(all, NO_ROWS),
        storage.catalogue.vouchers.page(sales, NO_ROWS),
    )?;
    Ok(Overview {
        backlog: storage.selling.order_log.state().await.pending,
        unpaid_orders: unpaid.1,
        dead_letters: letters.1,
        reports: reports.1,
        vouchers: vouchers.1,
        sales: sales.1,
    })
}
