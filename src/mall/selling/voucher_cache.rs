//! Cached lists of vouchers on the shelf: per shop, and the sales of the whole mall.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{ShopId, Storage, StoreError, Timestamp, Voucher};
use serde::{Deserialize, Serialize};

use crate::mall::base::Failure;
use crate::mall::base::cache_aside::{CacheAside, CacheMetrics, Cached, Policy};

/// A shop's vouchers as one list. For running sales only the terms are used, never the stock.
#[derive(Clone, Serialize, Deserialize)]
struct OfShop(Vec<Voucher>);

#[async_trait]
impl Cached for OfShop {
    const KIND: &'static str = "shop-vouchers";
    type Id = ShopId;

    async fn load(storage: &Storage, shop: ShopId, _: Timestamp) -> Result<Option<Self>, StoreError> {
        Ok(Some(Self(storage.catalogue.vouchers.of_shop(shop).await?)))
    }
}

/// The mall's sales that have not ended, as one list. Used in the same way.
#[derive(Clone, Serialize, Deserialize)]
struct OnSale(Vec<Voucher>);

/// Maximum number of sales in the copy: some 60 KB, read as one.
const ON_SALE_MAX: u32 = 200;

#[async_trait]
impl Cached for OnSale {
    const KIND: &'static str = "sales-on";
    type Id = ();

    async fn load(storage: &Storage, (): (), now: Timestamp) -> Result<Option<Self>, StoreError> {
        Ok(Some(Self(storage.catalogue.vouchers.on_sale(now, ON_SALE_MAX).await?)))
    }
}

/// Cached lists of vouchers on the shelf.
pub(in crate::mall) struct VoucherCache {
    of_shop: CacheAside<OfShop>,
    on_sale: CacheAside<OnSale>,
}

impl VoucherCache {
    pub(in crate::mall) fn of(storage: &Storage) -> Self {
        let fresh = Duration::from_secs(5);
        // An ended sale's stock comes from the database, and no event reports a change of the stock.
        let of_shop = Policy { fresh, stale: Duration::ZERO, ..Policy::default() };
        let on_sale = Policy { fresh, ..Policy::default() };
        Self { of_shop: CacheAside::new(storage, of_shop), on_sale: CacheAside::new(storage, on_sale) }
    }

    /// Returns the vouchers on a shop's shelf.
    pub(in crate::mall) async fn of_shop(
        &self,
        shop: ShopId,
        now: Timestamp,
    ) -> Result<Vec<Voucher>, Failure> {
        Ok(self.of_shop.get(shop, now).await?.map(|list| list.0).unwrap_or_default())
    }

    /// Returns the first [`ON_SALE_MAX`] current and coming sales at the time of the copy. Some may have
    /// ended since.
    pub(in crate::mall) async fn on_sale(&self, now: Timestamp) -> Result<Vec<Voucher>, Failure> {
        Ok(self.on_sale.get((), now).await?.map(|list| list.0).unwrap_or_default())
    }

    /// Invalidates the lists after a change of the shop's vouchers or their terms.
    pub(in crate::mall) async fn changed(&self, shop: ShopId) {
        self.of_shop.changed(&[shop]).await;
        self.on_sale.changed(&[()]).await;
    }

    /// Returns the cache metrics.
    pub(in crate::mall) fn figures(&self) -> [Arc<CacheMetrics>; 2] {
        [self.of_shop.figures(), self.on_sale.figures()]
    }
}
