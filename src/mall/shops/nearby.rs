//! Shops around a place.

use std::collections::HashMap;

use mallbox_storage::{
    Around, LatLng, NearShop, Page, Shop, ShopId, ShopOrder, ShopTypeId, StoreError, geo_index,
};

use super::{OF_TYPE, ShopDirectory};
use crate::mall::{Failure, Refusal};

/// Shops around a place on a page.
const NEAR: u32 = 10;
/// The radius where none is asked for, in metres.
const RADIUS_M: f64 = 5_000.0;
/// No list goes further than the nearest so many, and no more are sorted by something else.
const MOST: usize = 5_000;

/// Where somebody looks for shops.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Vicinity {
    centre: LatLng,
    radius_m: f64,
    kind: Option<ShopTypeId>,
}

impl Vicinity {
    /// Around a place, within 5 km unless a radius is given, for shops of a type or of all.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] for the coordinate that is missing or not on earth ([`LatLng`]), or a radius of nothing or of more than
    /// [`Around::MAX_RADIUS_M`].
    pub fn new(
        x: Option<f64>,
        y: Option<f64>,
        radius_m: Option<f64>,
        kind: Option<ShopTypeId>,
    ) -> Result<Self, Refusal> {
        let x = x.filter(|x| LatLng::new(*x, 0.0).is_some()).ok_or(Refusal::BadValue("x"))?;
        let centre = y.and_then(|y| LatLng::new(x, y)).ok_or(Refusal::BadValue("y"))?;
        let radius_m = radius_m.unwrap_or(RADIUS_M);
        if !(0.0 < radius_m && radius_m <= Around::MAX_RADIUS_M) {
            return Err(Refusal::BadValue("radius"));
        }
        Ok(Self { centre, radius_m, kind })
    }

    fn around(&self, skip: usize, max: usize) -> Around {
        let Self { centre, radius_m, kind } = *self;
        Around { centre, radius_m, kind, skip, max: max.min(MOST.saturating_sub(skip)) }
    }
}

/// A shop, and how far away it is.
#[derive(Clone, PartialEq, Debug)]
pub struct ShopNearby {
    /// Which.
    pub shop: Shop,
    /// In metres.
    pub metres: f64,
}

impl ShopDirectory {
    /// Shops around a place, nearest first, ten a page.
    ///
    /// # Errors
    /// Only if the store is in trouble.
    pub async fn near(&self, vicinity: &Vicinity, page: u32) -> Result<Vec<ShopNearby>, Failure> {
        self.nearest(vicinity, Page::new(page, NEAR)).await
    }

    /// Shops around a place, five a page: nearest first, or in an order of their own.
    ///
    /// # Errors
    /// Only if the store is in trouble.
    pub async fn of_type_near(
        &self,
        vicinity: &Vicinity,
        order: Option<ShopOrder>,
        page: u32,
    ) -> Result<Vec<ShopNearby>, Failure> {
        let page = Page::new(page, OF_TYPE);
        let Some(order) = order else { return self.nearest(vicinity, page).await };
        let found = self.context.storage.geo_index.near(&vicinity.around(0, MOST)).await?;
        Ok(self.told(&found, order, page).await?)
    }

    /// What the index still has and the record has no longer is taken out of it, and the page filled up.
    async fn nearest(&self, vicinity: &Vicinity, page: Page) -> Result<Vec<ShopNearby>, Failure> {
        /// Ghosts behind ghosts: hardly ever one.
        const TRIES: u32 = 3;
        let index = &self.context.storage.geo_index;
        let skip = usize::try_from(page.skipped()).unwrap_or(usize::MAX);
        let around = vicinity.around(skip, page.size() as usize);
        for tries_left in (0..TRIES).rev() {
            let found = index.near(&around).await?;
            let mut shops = self.told(&found, ShopOrder::Id, Page::new(1, page.size())).await?;
            let places: HashMap<ShopId, usize> =
                found.iter().enumerate().map(|(place, near)| (near.shop, place)).collect();
            shops.sort_unstable_by_key(|near| places.get(&near.shop.id).copied());
            if shops.len() == found.len() || tries_left == 0 {
                return Ok(shops);
            }
            let is_there = |near: &&NearShop| shops.iter().any(|known| known.shop.id == near.shop);
            for ghost in found.iter().filter(|near| !is_there(near)) {
                tracing::warn!(shop = ghost.shop.get(), "a shop was found that the record has no longer");
                self.place(ghost.shop).await;
            }
        }
        Ok(Vec::new())
    }

    /// A page of what was found, as the record has it.
    async fn told(
        &self,
        found: &[NearShop],
        order: ShopOrder,
        page: Page,
    ) -> Result<Vec<ShopNearby>, StoreError> {
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let metres: HashMap<ShopId, f64> = found.iter().map(|near| (near.shop, near.metres)).collect();
        let ids: Vec<ShopId> = found.iter().map(|near| near.shop).collect();
        let shops = self.context.storage.shops.among(&ids, order, page).await?;
        let near = |shop: Shop| Some(ShopNearby { metres: *metres.get(&shop.id)?, shop });
        Ok(shops.into_iter().filter_map(near).collect())
    }

    /// Has a shop found where it is from now on. The shop is written by then; what fails here is put right by the
    /// [repairs](crate::mall::repairs).
    pub(super) async fn place(&self, shop: ShopId) {
        let storage = &self.context.storage;
        if let Err(error) = geo_index::place(&*storage.geo_index, &*storage.shops, shop).await {
            tracing::warn!(shop = shop.get(), %error, "a shop is not found where it is yet");
        }
    }
}
