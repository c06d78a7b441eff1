//! What is on the shelf, of a shop and of the whole mall, through the cache.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{ShopId, Storage, StoreError, Timestamp, Voucher};
use serde::{Deserialize, Serialize};

use super::Failure;
use super::cache_aside::{CacheAside, CacheFigures, Cached, Policy};

/// A shop's vouchers: one list. Of a sale that is on, only the terms are told from it, and never what is left.
#[derive(Clone, Serialize, Deserialize)]
struct OfShop(Vec<Voucher>);

#[async_trait]
impl Cached for OfShop {
    const KIND: &'static str = "shop-vouchers";
    type Id = ShopId;

    async fn load(storage: &Storage, shop: ShopId, _: Timestamp) -> Result<Option<Self>, StoreError> {
        Ok(Some(Self(storage.vouchers.of_shop(shop).await?)))
    }
}

/// The sales of the mall that are not over: one list, told from in the same way.
#[derive(Clone, Serialize, Deserialize)]
struct OnSale(Vec<Voucher>);

/// All of them are read from one copy: some 60 KB.
const MOST_ON_SALE: u32 = 200;

#[async_trait]
impl Cached for OnSale {
    const KIND: &'static str = "sales-on";
    type Id = ();

    async fn load(storage: &Storage, (): (), now: Timestamp) -> Result<Option<Self>, StoreError> {
        Ok(Some(Self(storage.vouchers.on_sale(now, MOST_ON_SALE).await?)))
    }
}

/// Copies of what is on the shelf.
pub(super) struct Shelf {
    of_shop: CacheAside<OfShop>,
    on_sale: CacheAside<OnSale>,
}

impl Shelf {
    pub(super) fn of(storage: &Storage) -> Self {
        let fresh = Duration::from_secs(5);
        // Of a sale that is over the record counts what is left, of which nobody tells.
        let of_shop = Policy { fresh, stale: Duration::ZERO, ..Policy::default() };
        let on_sale = Policy { fresh, ..Policy::default() };
        Self { of_shop: CacheAside::new(storage, of_shop), on_sale: CacheAside::new(storage, on_sale) }
    }

    /// The vouchers of a shop.
    pub(super) async fn of_shop(&self, shop: ShopId, now: Timestamp) -> Result<Vec<Voucher>, Failure> {
        Ok(self.of_shop.get(shop, now).await?.map(|list| list.0).unwrap_or_default())
    }

    /// The sales that are open or will open, the first [`MOST_ON_SALE`] when the copy was made. Some may be over since.
    pub(super) async fn on_sale(&self, now: Timestamp) -> Result<Vec<Voucher>, Failure> {
        Ok(self.on_sale.get((), now).await?.map(|list| list.0).unwrap_or_default())
    }

    /// The record has other vouchers of this shop, or other terms of one.
    pub(super) async fn changed(&self, shop: ShopId) {
        self.of_shop.changed(&[shop]).await;
        self.on_sale.changed(&[()]).await;
    }

    /// What has been counted.
    pub(super) fn figures(&self) -> [Arc<CacheFigures>; 2] {
        [self.of_shop.figures(), self.on_sale.figures()]
    }
}
