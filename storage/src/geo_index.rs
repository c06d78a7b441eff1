//! Shops by where they are.

use async_trait::async_trait;
use geo::{Distance as _, Haversine, Point};

use crate::{ShopId, ShopTypeId, Shops, StoreError};

/// A place on earth that every back end can find again: WGS-84 degrees, longitude -180 to 180, latitude -85.05 to 85.05.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LatLng {
    lng: f64,
    lat: f64,
}

impl LatLng {
    /// The greatest longitude, east and west.
    pub const MAX_LNG: f64 = 180.0;
    /// The greatest latitude, north and south: Redis' squares end a little above it, where a map's do.
    pub const MAX_LAT: f64 = 85.05;
    /// The earth as a ball, in metres: the mean radius of the IUGG, (2 × 6,378,137 + 6,356,752.3142) / 3.
    pub const EARTH_RADIUS_M: f64 = 6_371_008.8;

    /// `None` beyond the ends, and for what is not a number. 180 degrees east are 180 degrees west, and −0 is 0.
    #[must_use]
    pub fn new(lng: f64, lat: f64) -> Option<Self> {
        let is_on_earth = lng.abs() <= Self::MAX_LNG && lat.abs() <= Self::MAX_LAT;
        // One meridian of two names. At 180 Redis' squares have ended: a shop there would not be found.
        let lng = if lng == Self::MAX_LNG { -lng } else { lng };
        // So has the equator, for floating point, and each name is another text.
        is_on_earth.then_some(Self { lng: lng + 0.0, lat: lat + 0.0 })
    }

    /// Degrees east.
    #[must_use]
    pub fn lng(self) -> f64 {
        self.lng
    }

    /// Degrees north.
    #[must_use]
    pub fn lat(self) -> f64 {
        self.lat
    }

    /// The way along the ground to another place, by the haversine formula: exact to a millimetre on a ball, and on the earth
    /// itself, which is none, to half a percent.
    #[must_use]
    pub fn metres_to(self, other: Self) -> f64 {
        let [here, there] = [self, other].map(|place| Point::new(place.lng, place.lat));
        // The far side of the earth: where rounding leaves no angle.
        Haversine.distance(here, there).min(std::f64::consts::PI * Self::EARTH_RADIUS_M)
    }
}

/// A shop, its type, and where it is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PlacedShop {
    /// Which.
    pub shop: ShopId,
    /// Its kind.
    pub kind: ShopTypeId,
    /// Where.
    pub at: LatLng,
}

/// Which shops are asked for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Around {
    /// Around here.
    pub centre: LatLng,
    /// No further away, in metres. More than [`MAX_RADIUS_M`](Around::MAX_RADIUS_M) counts as that, and what is no number as 0.
    pub radius_m: f64,
    /// Of this type; `None` for all.
    pub kind: Option<ShopTypeId>,
    /// Without the nearest so many.
    pub skip: usize,
    /// No more than so many.
    pub max: usize,
}

impl Around {
    /// Further nobody goes, and it keeps the circle clear of the poles.
    pub const MAX_RADIUS_M: f64 = 100_000.0;

    /// The radius that counts.
    #[must_use]
    pub fn radius_m(&self) -> f64 {
        // No number is no radius.
        if self.radius_m > 0.0 { self.radius_m.min(Self::MAX_RADIUS_M) } else { 0.0 }
    }

    /// How many of the nearest have to be known.
    pub(crate) fn wanted(&self) -> usize {
        self.skip.saturating_add(self.max)
    }

    /// The answer, from candidates in any order that hold at least the nearest [`wanted`](Self::wanted) within the radius.
    pub(crate) fn cut(&self, mut candidates: Vec<NearShop>) -> Vec<NearShop> {
        candidates.retain(|near| near.metres <= self.radius_m());
        candidates.sort_unstable_by(|one, other| {
            one.metres.total_cmp(&other.metres).then(one.shop.cmp(&other.shop))
        });
        candidates.into_iter().skip(self.skip).take(self.max).collect()
    }
}

/// A shop that was found.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NearShop {
    /// Which.
    pub shop: ShopId,
    /// How far away, in metres.
    pub metres: f64,
}

/// Shops by where they are, for finding those that are near.
///
/// - The record is the truth about shops; this is an index of it, and may lag behind it. A back end that has lost it fills it
///   again from the record by itself: memory at start, Redis in the background as soon as it is noticed. Until that is done
///   nothing is found, rather than a part: calls answer [`StoreError::Unavailable`].
/// - A shop is at one place. Every call is atomic for each shop, and what was put is found by the next call.
/// - Distances are told by [`LatLng::metres_to`] from the very numbers that were put, on every back end, and the order is by
///   them. Redis itself keeps 26 bits an axis (steps of up to 0.6 m) on a ball of 6,372,797.56 m; it only proposes shops, some more
///   than were asked for, and is not asked how far they are. So all back ends answer the same.
/// - Finding costs as much as is found and skipped.
#[async_trait]
pub trait GeoIndex: Send + Sync {
    /// Puts a shop where it is, of its type; it is no longer where it was before, nor of the type it was of.
    ///
    /// # Errors
    /// [`StoreError`]: it is where it was, or there already; call again.
    async fn put(&self, shop: PlacedShop) -> Result<(), StoreError>;

    /// Puts those that are nowhere yet. Those that are elsewhere, or of another type, stay so, and are answered.
    ///
    /// # Errors
    /// [`StoreError`]: some may be there; call again.
    async fn add(&self, shops: &[PlacedShop]) -> Result<Vec<ShopId>, StoreError>;

    /// Takes a shop out; no error if it is not there.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn remove(&self, shop: ShopId) -> Result<(), StoreError>;

    /// The shops asked for, nearest first, those at one distance by id. A shop exactly at the radius is within.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn near(&self, around: &Around) -> Result<Vec<NearShop>, StoreError>;

    /// How many shops are in it.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn count(&self) -> Result<u64, StoreError>;
}

/// Puts a shop where the record says that it is; takes it out if the record has none, or none that is on earth.
///
/// After every write of a shop. Of several at once the last one reads what the record says in the end.
///
/// # Errors
/// [`StoreError`]: the index may lag behind the record; call again.
pub async fn place(index: &dyn GeoIndex, shops: &dyn Shops, shop: ShopId) -> Result<(), StoreError> {
    let mut told = whereabouts(shops, shop).await?;
    loop {
        match told {
            Some(placed) => index.put(placed).await?,
            None => index.remove(shop).await?,
        }
        // Another write may have come in between, and its place may have been put before this one.
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

/// Puts all shops of the record where they are. Answers how many were elsewhere, or of another type. Shops may be written
/// meanwhile.
///
/// # Errors
/// [`StoreError`]: the index may lag behind the record; call again.
pub async fn restore(index: &dyn GeoIndex, shops: &dyn Shops) -> Result<u64, StoreError> {
    /// Rows read at once: some 130 KB.
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

    /// Palermo and Catania as in Redis' documentation, whose ball is 0.0281 % larger (166,274.15 m).
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
