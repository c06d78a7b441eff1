//! Steps on [`GeoIndex`](mallbox_storage::GeoIndex), and on its reconciliation with the database.

use mallbox_storage::geo_index::{place, restore};
use mallbox_storage::{CataloguePorts, LatLng, NearbyQuery, PlacedShop, ShopId, Storage};

use crate::dice::Dice;
use crate::normal::said;
use crate::scene::Scene;
use crate::step::Side;

/// Few places, so that shops meet: some closer together than Redis can tell, some on both sides of the 180th
/// meridian, some at both ends of the latitudes.
const PLACES: [(f64, f64); 10] = [
    (120.149_993, 30.334_229),
    (120.149_993, 30.334_23),
    (120.16, 30.33),
    (0.0, -0.0),
    (-0.000_001, 0.0),
    (180.0, 0.0),
    (-180.0, 0.0),
    (179.999_999, 0.000_3),
    (90.0, 85.05),
    (89.99, 85.05),
];

#[derive(Clone, Debug)]
pub enum GeoIndexStep {
    Put(PlacedShop),
    Add(Vec<PlacedShop>),
    Remove(ShopId),
    Near(NearbyQuery),
    Count,
    /// As after a write of the shop.
    Place(ShopId),
    /// Restores the index, as reconciliation does.
    Restore,
}

impl GeoIndexStep {
    pub fn roll(dice: &mut Dice, scene: &Scene) -> Self {
        match dice.below(100) {
            0..25 => Self::Put(shop(dice, scene)),
            25..35 => Self::Add((0..dice.below(4)).map(|_| shop(dice, scene)).collect()),
            35..42 => Self::Remove(scene.shop(dice)),
            42..80 => Self::Near(NearbyQuery {
                centre: somewhere(dice),
                radius_m: dice.pick(&[0.0, 0.2, 800.0, 5_000.0, f64::INFINITY, f64::NAN, -1.0]),
                kind: dice.chance(50).then(|| scene.shop_type(dice)),
                skip: dice.pick(&[0, 0, 1, 3, usize::MAX]),
                max: dice.pick(&[0, 1, 2, 10, usize::MAX]),
            }),
            80..85 => Self::Count,
            85..95 => Self::Place(scene.shop(dice)),
            _ => Self::Restore,
        }
    }

    pub async fn take(&self, side: &mut Side) -> String {
        let CataloguePorts { geo_index: index, shops, .. } = &side.storage.catalogue;
        match self {
            Self::Put(shop) => said(index.put(*shop).await),
            Self::Add(shops) => said(index.add(shops).await),
            Self::Remove(shop) => said(index.remove(*shop).await),
            Self::Near(around) => said(index.near(around).await),
            Self::Count => said(index.count().await),
            Self::Place(shop) => said(place(&**index, &**shops, *shop).await),
            Self::Restore => said(restore(&**index, &**shops).await),
        }
    }
}

fn somewhere(dice: &mut Dice) -> LatLng {
    let (lng, lat) = dice.pick(&PLACES);
    LatLng::new(lng, lat).unwrap()
}

fn shop(dice: &mut Dice, scene: &Scene) -> PlacedShop {
    PlacedShop { shop: scene.shop(dice), kind: scene.shop_type(dice), at: somewhere(dice) }
}

/// Lists the whole index, as seen from each place.
pub async fn everywhere(storage: &Storage) -> Vec<String> {
    let mut lines = vec![format!("shops by place: {}", said(storage.catalogue.geo_index.count().await))];
    for (lng, lat) in PLACES {
        let centre = LatLng::new(lng, lat).unwrap();
        let around = NearbyQuery { centre, radius_m: f64::INFINITY, kind: None, skip: 0, max: usize::MAX };
        lines.push(format!("near {centre:?}: {}", said(storage.catalogue.geo_index.near(&around).await)));
    }
    lines
}
