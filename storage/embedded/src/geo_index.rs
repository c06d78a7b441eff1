//! The [`GeoIndex`] port: [`ShopTrees`] in memory, filled from the database at start.

use async_trait::async_trait;
use mallbox_storage::backend::ShopTrees;
use mallbox_storage::{GeoIndex, NearbyQuery, NearbyShop, PlacedShop, ShopId, StoreError};
use parking_lot::RwLock;

#[derive(Debug, Default)]
pub(crate) struct EmbeddedGeoIndex {
    trees: RwLock<ShopTrees>,
}

impl EmbeddedGeoIndex {
    /// Builds an index of all shops.
    pub(crate) fn of(shops: Vec<PlacedShop>) -> Self {
        Self { trees: RwLock::new(ShopTrees::of(shops)) }
    }
}

#[async_trait]
impl GeoIndex for EmbeddedGeoIndex {
    async fn put(&self, shop: PlacedShop) -> Result<(), StoreError> {
        self.trees.write().put(shop);
        Ok(())
    }

    async fn add(&self, shops: &[PlacedShop]) -> Result<Vec<ShopId>, StoreError> {
        /// Shops added under one write lock, which blocks searches for about a millisecond.
        const SHOPS_PER_LOCK: usize = 256;
        let mut elsewhere = Vec::new();
        for some in shops.chunks(SHOPS_PER_LOCK) {
            let mut trees = self.trees.write();
            elsewhere.extend(some.iter().filter(|shop| trees.add(**shop)).map(|shop| shop.shop));
        }
        Ok(elsewhere)
    }

    async fn remove(&self, shop: ShopId) -> Result<(), StoreError> {
        self.trees.write().remove(shop);
        Ok(())
    }

    async fn near(&self, around: &NearbyQuery) -> Result<Vec<NearbyShop>, StoreError> {
        Ok(self.trees.read().near(around))
    }

    async fn count(&self) -> Result<u64, StoreError> {
        Ok(self.trees.read().count() as u64)
    }
}
