//! What is kept of shops: their types, and which there are.

use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{Page, ShopArea, ShopId, ShopOrder, ShopType, Storage, StoreError, Timestamp};
use serde::{Deserialize, Serialize};

use super::ShopDirectory;
use crate::mall::Failure;
use crate::mall::cache_aside::{CacheAside, Cached, IdFilter, Policy};

/// All types: one list.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Types(pub(super) Vec<ShopType>);

#[async_trait]
impl Cached for Types {
    const KIND: &'static str = "shop-types";
    type Id = ();

    async fn load(storage: &Storage, (): (), _: Timestamp) -> Result<Option<Self>, StoreError> {
        let types = storage.shops.types().await?;
        Ok((!types.is_empty()).then_some(Self(types)))
    }
}

/// The neighbourhoods of the mall: one list.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Areas(pub(super) Vec<ShopArea>);

#[async_trait]
impl Cached for Areas {
    const KIND: &'static str = "shop-areas";
    type Id = ();

    async fn load(storage: &Storage, (): (), _: Timestamp) -> Result<Option<Self>, StoreError> {
        /// As many as a small map can show, and more.
        const MOST: u32 = 100;
        let areas = storage.shops.areas(MOST).await?;
        Ok((!areas.is_empty()).then_some(Self(areas)))
    }
}

/// What is kept of shops, but for the shops themselves.
pub(super) struct Copies {
    pub(super) types: CacheAside<Types>,
    pub(super) areas: CacheAside<Areas>,
    pub(super) ids: IdFilter<ShopId>,
}

impl Copies {
    pub(super) fn of(storage: &Storage) -> Self {
        // They hardly change. A mall that has none is being furnished.
        let types =
            Policy { fresh: Duration::from_secs(5 * 60), absent: Duration::ZERO, ..Policy::default() };
        // Every shop is looked at for them, and one more changes a map little.
        let areas = Policy { stale: Duration::from_secs(25 * 60), ..types };
        Self {
            types: CacheAside::new(storage, types),
            areas: CacheAside::new(storage, areas),
            ids: IdFilter::default(),
        }
    }
}

impl ShopDirectory {
    /// Reads what people are likely to ask for, so that the first who do need not wait: the types, and the shops that are
    /// talked about most.
    ///
    /// # Errors
    /// [`Failure`]: those that are left are read when they are asked for.
    pub(in crate::mall) async fn warm_up(&self, now: Timestamp) -> Result<(), Failure> {
        /// Shops.
        const HOT: u32 = 100;
        let _ = self.copies.types.get((), now).await?;
        let shops = &self.context.storage.shops;
        for shop in shops.of_type(None, ShopOrder::Comments, Page::new(1, HOT)).await? {
            let _ = self.context.copies.shops.get(shop.id, now).await?;
        }
        // Of a million shops not at once: then it is there a moment later.
        let _ = self.copies.areas.get((), now).await;
        Ok(())
    }

    /// Learns anew which shops there are.
    ///
    /// # Errors
    /// [`StoreError`]: it knows what it knew.
    pub(in crate::mall) async fn learn_ids(&self) -> Result<(), StoreError> {
        self.copies.ids.fill(&self.context.storage).await
    }
}
