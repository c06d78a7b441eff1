//! Current and coming sales for the home page.

use mallbox_storage::{SaleRecord, Shop, Terms, Timestamp, Voucher, VoucherId};

use super::{FlashSales, LiveSale, SaleState};
use crate::mall::base::Failure;

/// Sales per page.
const PAGE: usize = 10;

/// A current or coming sale with the content of its card.
#[derive(Clone, PartialEq, Debug)]
pub struct ListedSale {
    /// The voucher, from a cached copy.
    pub voucher: Voucher,
    /// State of the sale at the time of the call.
    pub live: LiveSale,
    /// The shop, from a cached copy; `None` if deleted.
    pub shop: Option<Shop>,
}

impl FlashSales {
    /// Returns a page of the sales that have not ended, counted from 1, and their number. Selling sales come
    /// first, ordered by end; then coming sales, ordered by begin; then paused and sold-out sales. Only the
    /// first 200 are listed.
    ///
    /// The assignment of sales to pages comes from a copy some seconds old, which every change of a sale
    /// invalidates. Stock and state of each sale are current. A sale that has just sold out is last on its
    /// page.
    ///
    /// # Errors
    /// [`Refusal::Busy`](crate::mall::base::Refusal::Busy) while the database is slow and no copy exists;
    /// [`Failure::Store`] if the store fails.
    pub async fn on(&self, page: u32, now: Timestamp) -> Result<(Vec<ListedSale>, u64), Failure> {
        let mut vouchers = self.inner.shelf.on_sale(now).await?;
        vouchers.retain(|voucher| voucher.sale.is_some_and(|sale| now < sale.terms.end));
        vouchers.sort_by_key(|voucher| voucher.sale.map(|sale| place(&sale, now)));
        let total = vouchers.len() as u64;
        let skipped = (page.max(1) as usize - 1).saturating_mul(PAGE);
        let mut on = Vec::with_capacity(PAGE);
        for voucher in vouchers.into_iter().skip(skipped).take(PAGE) {
            let Some(sale) = voucher.sale else { continue };
            let (live, _) = self.inner.live(&sale, now).await?;
            let shop = self.inner.context.copies.shops.get(voucher.text.shop, now).await?;
            on.push(ListedSale { voucher, live, shop });
        }
        // The copy may be older than the last unit sold.
        on.sort_by_key(|sale| sale.live.state == SaleState::SoldOut);
        Ok((on, total))
    }
}

/// Returns the sort key of the list. The database's order may have been different when the copy was made.
fn place(sale: &SaleRecord, now: Timestamp) -> (u8, Timestamp, VoucherId) {
    let Terms { begin, end, paused, voucher, .. } = sale.terms;
    let (rank, instant) = match () {
        () if paused || sale.stock == Some(0) => (2, end),
        () if now < begin => (1, begin),
        () => (0, end),
    };
    (rank, instant, voucher)
}
