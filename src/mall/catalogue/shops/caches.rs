//! Caches of shop types, neighbourhoods and existing shop ids.

use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{ShopArea, ShopId, ShopType, Storage, StoreError, Timestamp};
use serde::{Deserialize, Serialize};

use crate::mall::base::cache_aside::{CacheAside, Cached, IdFilter, Policy};

/// All shop types as one cached list.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Types(pub(super) Vec<ShopType>);

#[async_trait]
impl Cached for Types {
    const KIND: &'static str = "shop-types";
    type Id = ();

    async fn load(storage: &Storage, (): (), _: Timestamp) -> Result<Option<Self>, StoreError> {
        let types = storage.catalogue.shops.types().await?;
        Ok((!types.is_empty()).then_some(Self(types)))
    }
}

/// All neighbourhoods as one cached list.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Areas(pub(super) Vec<ShopArea>);

#[async_trait]
impl Cached for Areas {
    const KIND: &'static str = "shop-areas";
    type Id = ();

    async fn load(storage: &Storage, (): (), _: Timestamp) -> Result<Option<Self>, StoreError> {
        /// Maximum number of neighbourhoods: more than a small map can show.
        const AREAS_MAX: u32 = 100;
        let areas = storage.catalogue.shops.areas(AREAS_MAX).await?;
        Ok((!areas.is_empty()).then_some(Self(areas)))
    }
}

/// Caches of shop data, except the shops themselves.
pub(super) struct ShopCaches {
    pub(super) types: CacheAside<Types>,
    pub(super) areas: CacheAside<Areas>,
    pub(super) ids: IdFilter<ShopId>,
}

impl ShopCaches {
    pub(super) fn of(storage: &Storage) -> Self {
        // Types rarely change. No negative caching: a mall without types is just being set up.
        let types =
            Policy { fresh: Duration::from_secs(5 * 60), absent: Duration::ZERO, ..Policy::default() };
        // Computing neighbourhoods reads every shop, and one more shop hardly changes a map.
        let areas = Policy { stale: Duration::from_secs(25 * 60), ..types };
        Self {
            types: CacheAside::new(storage, types),
            areas: CacheAside::new(storage, areas),
            ids: IdFilter::default(),
        }
    }
}
