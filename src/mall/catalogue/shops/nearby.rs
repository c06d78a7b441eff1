//! Geographic search for shops.

use std::collections::HashMap;
use std::sync::Arc;

use mallbox_storage::{
    LatLng, NearbyQuery, NearbyShop, Page, Shop, ShopId, ShopOrder, ShopTypeId, StoreError, Timestamp,
    geo_index,
};

use super::{OF_TYPE, Shops};
use crate::mall::base::{Failure, Refusal};

/// Shops per page of a search by distance.
const NEARBY_PAGE: u32 = 10;
/// Default search radius, in metres.
const RADIUS_M: f64 = 5_000.0;
/// Maximum number of nearest shops that a search pages through, or sorts by another key.
const RESULTS_MAX: usize = 5_000;

/// Area and filter of a geographic search.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NearbyRequest {
    centre: LatLng,
    radius_m: f64,
    kind: Option<ShopTypeId>,
}

impl NearbyRequest {
    /// Creates a search around a position, for shops of one type or of all. The default radius is 5 km.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] for a missing or invalid coordinate ([`LatLng`]), or a radius outside 0 to
    /// [`NearbyQuery::MAX_RADIUS_M`] metres; 0 itself is invalid.
    pub fn new(
        x: Option<f64>,
        y: Option<f64>,
        radius_m: Option<f64>,
        kind: Option<ShopTypeId>,
    ) -> Result<Self, Refusal> {
        let x = x.filter(|x| LatLng::new(*x, 0.0).is_some()).ok_or(Refusal::BadValue("x"))?;
        let centre = y.and_then(|y| LatLng::new(x, y)).ok_or(Refusal::BadValue("y"))?;
        let radius_m = radius_m.unwrap_or(RADIUS_M);
        if !(0.0 < radius_m && radius_m <= NearbyQuery::MAX_RADIUS_M) {
            return Err(Refusal::BadValue("radius"));
        }
        Ok(Self { centre, radius_m, kind })
    }

    fn around(&self, skip: usize, max: usize) -> NearbyQuery {
        let Self { centre, radius_m, kind } = *self;
        NearbyQuery { centre, radius_m, kind, skip, max: max.min(RESULTS_MAX.saturating_sub(skip)) }
    }
}

/// A shop with its distance.
#[derive(Clone, PartialEq, Debug)]
pub struct ShopNearby {
    /// The shop.
    pub shop: Arc<Shop>,
    /// Distance from the centre, in metres.
    pub metres: f64,
}

impl Shops {
    /// Returns a page of ten shops, nearest first.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn near(
        &self,
        vicinity: &NearbyRequest,
        page: u32,
        now: Timestamp,
    ) -> Result<Vec<ShopNearby>, Failure> {
        self.nearest(vicinity, Page::new(page, NEARBY_PAGE), now).await
    }

    /// Returns a page of five shops, nearest first or in the given order.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn of_type_near(
        &self,
        vicinity: &NearbyRequest,
        order: Option<ShopOrder>,
        page: u32,
        now: Timestamp,
    ) -> Result<Vec<ShopNearby>, Failure> {
        let page = Page::new(page, OF_TYPE);
        let Some(order) = order else { return self.nearest(vicinity, page, now).await };
        let found = self.context.storage.catalogue.geo_index.near(&vicinity.around(0, RESULTS_MAX)).await?;
        Ok(self.sorted(&found, order, page).await?)
    }

    /// Returns a page of the nearest shops, from the cache. Index entries without a shop in the database are
    /// removed, and the page is read again.
    async fn nearest(
        &self,
        vicinity: &NearbyRequest,
        page: Page,
        now: Timestamp,
    ) -> Result<Vec<ShopNearby>, Failure> {
        /// Maximum number of reads of a page with stale index entries; hardly ever more than one.
        const READS_MAX: u32 = 3;
        let index = &self.context.storage.catalogue.geo_index;
        let skip = usize::try_from(page.skipped()).unwrap_or(usize::MAX);
        let around = vicinity.around(skip, page.size() as usize);
        for tries_left in (0..READS_MAX).rev() {
            let found = index.near(&around).await?;
            let (mut shops, mut ghosts) = (Vec::with_capacity(found.len()), Vec::new());
            for NearbyShop { shop: id, metres } in found {
                match self.context.copies.shops.shared(id, now).await? {
                    Some(shop) => shops.push(ShopNearby { shop, metres }),
                    None => ghosts.push(id),
                }
            }
            if ghosts.is_empty() || tries_left == 0 {
                return Ok(shops);
            }
            for ghost in ghosts {
                tracing::warn!(shop = ghost.get(), "a shop in the geo index is not in the database");
                self.place(ghost).await;
            }
        }
        Ok(Vec::new())
    }

    /// Returns a page of the shops found, sorted by the database.
    async fn sorted(
        &self,
        found: &[NearbyShop],
        order: ShopOrder,
        page: Page,
    ) -> Result<Vec<ShopNearby>, StoreError> {
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let metres: HashMap<ShopId, f64> = found.iter().map(|near| (near.shop, near.metres)).collect();
        let ids: Vec<ShopId> = found.iter().map(|near| near.shop).collect();
        let shops = self.context.storage.catalogue.shops.among(&ids, order, page).await?;
        let near = |shop: Shop| Some(ShopNearby { metres: *metres.get(&shop.id)?, shop: Arc::new(shop) });
        Ok(shops.into_iter().filter_map(near).collect())
    }

    /// Updates the shop's position in the geo index from the database. On failure, the database is already
    /// written, and the [reconciliation](crate::mall::selling::reconciliation) corrects the index later.
    pub(super) async fn place(&self, shop: ShopId) {
        let storage = &self.context.storage;
        if let Err(error) =
            geo_index::place(&*storage.catalogue.geo_index, &*storage.catalogue.shops, shop).await
        {
            tracing::warn!(shop = shop.get(), %error, "could not update a shop in the geo index");
        }
    }
}
