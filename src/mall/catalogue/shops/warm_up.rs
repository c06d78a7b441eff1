//! Warming the caches of shops after a start.

use mallbox_storage::{Page, ShopOrder, StoreError, Timestamp};

use super::Shops;
use crate::mall::base::Failure;

impl Shops {
    /// Warms the caches: the types, the shops with the most comments, and the neighbourhoods. The first
    /// readers need not wait then.
    ///
    /// # Errors
    /// [`Failure`]: the remaining entries are loaded on first use.
    pub(in crate::mall) async fn warm_up(&self, now: Timestamp) -> Result<(), Failure> {
        /// Number of shops loaded in advance.
        const HOT: u32 = 100;
        let _ = self.copies.types.get((), now).await?;
        let shops = &self.context.storage.catalogue.shops;
        for shop in shops.of_type(None, ShopOrder::Comments, Page::new(1, HOT)).await? {
            let _ = self.context.copies.shops.get(shop.id, now).await?;
        }
        // With a million shops, the list takes longer than a caller may wait; the load still completes in the
        // background.
        let _ = self.copies.areas.get((), now).await;
        Ok(())
    }

    /// Refills the Bloom filter of shop ids.
    ///
    /// # Errors
    /// [`StoreError`]: the filter is unchanged.
    pub(in crate::mall) async fn learn_ids(&self) -> Result<(), StoreError> {
        self.copies.ids.fill(&self.context.storage).await
    }
}
