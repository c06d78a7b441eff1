//! The sales that a home page shows.

use mallbox_storage::{SaleRecord, Shop, Timestamp, Voucher, VoucherId};

use super::{LiveSale, SaleCounter};
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
    /// A page of the sales that are not over, counted from 1, and how many there are of them: first those in their window,
    /// by their end; then those to come, by their begin. Of more than 200 the first ones.
    ///
    /// Which there are is told from a copy that is seconds old, and forgotten with every change of a sale; what is left of
    /// each is asked for.
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
        Ok((on, total))
    }
}

/// What the list is ordered by, which is the record's order too: it may have been another when the copy was made.
fn place(sale: &SaleRecord, now: Timestamp) -> (bool, Timestamp, VoucherId) {
    let terms = &sale.terms;
    let is_to_come = now < terms.begin;
    (is_to_come, if is_to_come { terms.begin } else { terms.end }, terms.voucher)
}
