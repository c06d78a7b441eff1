//! Geographical index of shops.

mod shop_trees;

use async_trait::async_trait;

use crate::places::{LatLng, PlacedShop};
use crate::{ShopId, ShopTypeId, Shops, StoreError};

pub use self::shop_trees::ShopTrees;

/// Query for shops near a position.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NearbyQuery {
    /// Centre of the circle.
    pub centre: LatLng,
    /// Radius in metres. Values above [`MAX_RADIUS_M`](NearbyQuery::MAX_RADIUS_M) count as the maximum, NaN
    /// as 0.
    pub radius_m: f64,
    /// Only shops of this type; `None` for all.
    pub kind: Option<ShopTypeId>,
    /// Number of nearest shops to skip.
    pub skip: usize,
    /// Maximum number of shops to return.
    pub max: usize,
}

impl NearbyQuery {
    /// Maximum radius in metres. Nobody travels further, and the limit keeps the circle clear of the poles.
    pub const MAX_RADIUS_M: f64 = 100_000.0;

    /// Returns the effective radius in metres.
    #[must_use]
    pub fn radius_m(&self) -> f64 {
        // NaN counts as 0.
        if self.radius_m > 0.0 { self.radius_m.min(Self::MAX_RADIUS_M) } else { 0.0 }
    }

    /// Returns the number of nearest shops to determine.
    pub fn wanted(&self) -> usize {
        self.skip.saturating_add(self.max)
    }

    /// Sorts and cuts candidates, given in any order, to the requested page. The candidates must include at
    /// least the nearest [`wanted`](Self::wanted) shops within the radius.
    pub fn cut(&self, mut candidates: Vec<NearbyShop>) -> Vec<NearbyShop> {
        candidates.retain(|near| near.metres <= self.radius_m());
        candidates.sort_unstable_by(|one, other| {
            one.metres.total_cmp(&other.metres).then(one.shop.cmp(&other.shop))
        });
        candidates.into_iter().skip(self.skip).take(self.max).collect()
    }
}

/// A shop found by a query.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NearbyShop {
    /// Id of the shop.
    pub shop: ShopId,
    /// Distance in metres.
    pub metres: f64,
}

/// Geographical index of shops.
///
/// - The database is the source of truth; this index may lag behind. A back end that lost the index rebuilds
///   it from the database by itself: memory at start, Redis in the background as soon as the loss is noticed.
///   Until the rebuild is complete, calls return [`StoreError::Unavailable`] rather than partial results.
/// - A shop has one position. Every call is atomic per shop, and a shop put is found by the next call of the
///   same instance, and of other instances within a second.
/// - Distances are computed by [`LatLng::metres_to`] from the exact coordinates put, on every back end, and
///   define the order. Redis itself keeps 26 bits per axis (steps of up to 0.6 m) on a sphere of 6,372,797.56
///   m; its search only yields candidates, somewhat more than requested, and its distances are not used. All
///   back ends therefore return the same results.
/// - A query costs as much as the number of shops found and skipped.
#[async_trait]
pub trait GeoIndex: Send + Sync {
    /// Puts a shop with type and position, replacing its former entry.
    ///
    /// # Errors
    /// Any [`StoreError`]: the shop has either its old or its new entry; call again.
    async fn put(&self, shop: PlacedShop) -> Result<(), StoreError>;

    /// Inserts shops not in the index yet. Returns the shops already present at another position or under
    /// another type; their entries are unchanged.
    ///
    /// # Errors
    /// Any [`StoreError`]: some shops may have been inserted; call again.
    async fn add(&self, shops: &[PlacedShop]) -> Result<Vec<ShopId>, StoreError>;

    /// Removes a shop. A missing shop is no error.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn remove(&self, shop: ShopId) -> Result<(), StoreError>;

    /// Returns the shops matching the query, nearest first, then by id. The radius is inclusive.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn near(&self, around: &NearbyQuery) -> Result<Vec<NearbyShop>, StoreError>;

    /// Returns the number of shops in the index.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn count(&self) -> Result<u64, StoreError>;
}

/// Synchronizes a shop's index entry with the database; removes the entry if the database has no such shop,
/// or no valid position.
///
/// Call after every write of a shop. Of several concurrent calls, the last one reads the final state of the
/// database.
///
/// # Errors
/// Any [`StoreError`]: the index may lag behind the database; call again.
pub async fn place(index: &dyn GeoIndex, shops: &dyn Shops, shop: ShopId) -> Result<(), StoreError> {
    let mut written = whereabouts(shops, shop).await?;
    loop {
        match written {
            Some(placed) => index.put(placed).await?,
            None => index.remove(shop).await?,
        }
        // A concurrent write may have changed the position meanwhile and updated the index first.
        let now = whereabouts(shops, shop).await?;
        if now == written {
            return Ok(());
        }
        written = now;
    }
}

async fn whereabouts(shops: &dyn Shops, shop: ShopId) -> Result<Option<PlacedShop>, StoreError> {
    let found = shops.get(shop).await?;
    let placed = |found: crate::Shop| {
        let at = LatLng::new(found.text.x, found.text.y)?;
        Some(PlacedShop { shop, kind: found.text.kind, at })
    };
    Ok(found.and_then(placed))
}

/// Synchronizes all shops with the database. Returns the number of shops whose entry was wrong. Safe while
/// shops are being written.
///
/// # Errors
/// Any [`StoreError`]: the index may lag behind the database; call again.
pub async fn restore(index: &dyn GeoIndex, shops: &dyn Shops) -> Result<u64, StoreError> {
    /// Rows per read: some 130 KB.
    const PAGE: u32 = 4_096;
    let (mut after, mut moved) = (ShopId::new(0), 0);
    loop {
        let page = shops.places(after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(moved) };
        after = last.shop;
        for shop in index.add(&page).await? {
            place(index, shops, shop).await?;
            moved += 1;
        }
    }
}
