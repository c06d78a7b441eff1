//! What a shop has on the shelf, through the cache.

use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{ShopId, Storage, StoreError, Voucher};
use serde::{Deserialize, Serialize};

use super::cache_aside::{CacheAside, Cached, Policy};

/// A shop's vouchers: one list. Of a sale that is on, only the terms are told from it, and never what is left.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct OnShelf(pub(super) Vec<Voucher>);

#[async_trait]
impl Cached for OnShelf {
    const KIND: &'static str = "shop-vouchers";
    type Id = ShopId;

    async fn load(storage: &Storage, shop: ShopId) -> Result<Option<Self>, StoreError> {
        Ok(Some(Self(storage.vouchers.of_shop(shop).await?)))
    }
}

pub(super) fn copies(storage: &Storage) -> CacheAside<OnShelf> {
    // Of a sale that is over the record counts what is left, of which nobody tells.
    let policy = Policy { fresh: Duration::from_secs(5), stale: Duration::ZERO, ..Policy::default() };
    CacheAside::new(storage, policy)
}
