//! Geographical index of shops.

use async_trait::async_trait;
use geo::{Distance as _, Haversine, Point};

use crate::{ShopId, ShopTypeId, Shops, StoreError};

/// A position that every back end can represent: WGS-84 degrees, longitude -180 to 180, latitude -85.05 to
/// 85.05.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LatLng {
    lng: f64,
    lat: f64,
}

impl LatLng {
    /// Maximum absolute longitude, in degrees.
    pub const MAX_LNG: f64 = 180.0;
    /// Maximum absolute latitude, in degrees. Redis' geohash cells end slightly above, at the limit of the
    /// Mercator projection.
    pub const MAX_LAT: f64 = 85.05;
    /// Mean radius of the earth in metres, as defined by the IUGG: (2 × 6,378,137 + 6,356,752.3142) / 3.
    pub const EARTH_RADIUS_M: f64 = 6_371_008.8;

    /// Builds a position; `None` out of range and for NaN. 180° east is normalized to 180° west, and −0 to 0.
    #[must_use]
    pub fn new(lng: f64, lat: f64) -> Option<Self> {
        let is_on_earth = lng.abs() <= Self::MAX_LNG && lat.abs() <= Self::MAX_LAT;
        // Both names denote one meridian. Redis' geohash cells end at 180: a shop at 180 would not be found.
        let lng = if lng == Self::MAX_LNG { -lng } else { lng };
        // Zero has two floating-point representations as well, with different texts.
        is_on_earth.then_some(Self { lng: lng + 0.0, lat: lat + 0.0 })
    }

    /// Returns the longitude in degrees east.
    #[must_use]
    pub fn lng(self) -> f64 {
        self.lng
    }

    /// Returns the latitude in degrees north.
    #[must_use]
    pub fn lat(self) -> f64 {
        self.lat
    }

    /// Returns the great-circle distance in metres, by the haversine formula: exact to a millimetre on a
    /// sphere, and within half a percent on the real, flattened earth.
    #[must_use]
    pub fn metres_to(self, other: Self) -> f64 {
        let [here, there] = [self, other].map(|place| Point::new(place.lng, place.lat));
        // Caps the result at half the circumference, for antipodes where rounding yields no valid angle.
        Haversine.distance(here, there).min(std::f64::consts::PI * Self::EARTH_RADIUS_M)
    }
}

/// A shop with type and position.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PlacedShop {
    /// Id of the shop.
    pub shop: ShopId,
    /// Type of the shop.
    pub kind: ShopTypeId,
    /// Position of the shop.
    pub at: LatLng,
}

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
/// - A shop has one position. Every call is atomic per shop, and a shop put is found by the next call.
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
    let mut told = whereabouts(shops, shop).await?;
    loop {
        match told {
            Some(placed) => index.put(placed).await?,
            None => index.remove(shop).await?,
        }
        // A concurrent write may have changed the position meanwhile and updated the index first.
        let now = whereabouts(shops, shop).await?;
        if now == told {
            return Ok(());
        }
        told = now;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn at(lng: f64, lat: f64) -> LatLng {
        LatLng::new(lng, lat).unwrap()
    }

    #[test]
    fn what_is_not_on_earth_is_no_place() {
        for (lng, lat) in [(180.0, 85.05), (-180.0, -85.05), (0.0, 0.0), (-0.0, 85.05)] {
            assert!(LatLng::new(lng, lat).is_some(), "{lng} {lat}");
        }
        let (nan, infinity) = (f64::NAN, f64::INFINITY);
        for (lng, lat) in [
            (180.001, 0.0),
            (-180.001, 0.0),
            (0.0, 85.051),
            (0.0, -85.051),
            (nan, 0.0),
            (0.0, nan),
            (infinity, 0.0),
        ] {
            assert_eq!(LatLng::new(lng, lat), None, "{lng} {lat}");
        }
    }

    /// Palermo and Catania as in Redis' documentation, whose sphere is 0.0281 % larger (166,274.15 m).
    #[test]
    fn distances_are_those_on_a_ball_of_the_mean_radius() {
        let metres = at(13.361_389, 38.115_556).metres_to(at(15.087_269, 37.502_669));
        assert!((metres - 166_227.59).abs() < 0.01, "{metres}");
        let half = std::f64::consts::PI * LatLng::EARTH_RADIUS_M;
        let degree = half / 180.0;
        for (one, other, metres) in [
            (at(0.0, 0.0), at(0.0, 0.0), 0.0),
            (at(180.0, 10.0), at(-180.0, 10.0), 0.0),
            (at(179.5, 0.0), at(-179.5, 0.0), degree),
            (at(7.0, 85.05), at(7.0, 84.05), degree),
            (at(0.0, 0.0), at(180.0, 0.0), half),
            (at(0.0, 85.05), at(180.0, 85.05), 9.9 * degree),
        ] {
            let told = one.metres_to(other);
            assert!((told - metres).abs() < 1e-6, "{one:?} {other:?}: {told}");
            assert_eq!(told, other.metres_to(one));
        }
    }
}
