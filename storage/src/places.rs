//! Positions on earth, and shops at them.

use geo::{Distance as _, Haversine, Point};

use crate::{ShopId, ShopTypeId};

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
            let computed = one.metres_to(other);
            assert!((computed - metres).abs() < 1e-6, "{one:?} {other:?}: {computed}");
            assert_eq!(computed, other.metres_to(one));
        }
    }
}
