//! The sales that a home page shows.

use mallbox_storage::{SaleRecord, Shop, Terms, Timestamp, Voucher, VoucherId};

use super::{LiveSale, SaleCounter, SaleState};
use crate::mall::Failure;

/// Sales on a page.
const PAGE: usize = 10;

/// A sale that is open or will open, with all that its card shows.
#[derive(Clone, PartialEq, Debug)]
pub struct SaleOn {
    /// The voucher, from a copy.
    pub voucher: Voucher,
    /// The sale at this instant.
    pub live: LiveSale,
    /// Its shop, from a copy, if there still is one.
    pub shop: Option<Shop>,
}

impl SaleCounter {
    /// A page of the sales that are not over, counted from 1, and their number: first those that sell, by their end; then
    /// those to come, by their begin; then those on hold or sold out. Of more than 200 the first ones.
    ///
    /// Which sales are on which page comes from a copy that is seconds old and dropped with every change of a sale. Stock
    /// and state of each sale are current, and a sale that has just sold its last unit is last on its page.
    ///
    /// # Errors
    /// [`Refusal::Busy`](crate::mall::Refusal::Busy) while the record is slow and there is no copy; or the store is in
    /// trouble.
    pub async fn on(&self, page: u32, now: Timestamp) -> Result<(Vec<SaleOn>, u64), Failure> {
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
            on.push(SaleOn { voucher, live, shop });
        }
        // The copy may not know yet.
        on.sort_by_key(|sale| sale.live.state == SaleState::SoldOut);
        Ok((on, total))
    }
}

/// Sort key of the list; the database's order may have been another when the copy was made.
fn place(sale: &SaleRecord, now: Timestamp) -> (u8, Timestamp, VoucherId) {
    let Terms { begin, end, paused, voucher, .. } = sale.terms;
    let (rank, instant) = match () {
        () if paused || sale.stock == Some(0) => (2, end),
        () if now < begin => (1, begin),
        () => (0, end),
    };
    (rank, instant, voucher)
}
