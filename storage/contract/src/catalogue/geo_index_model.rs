//! `GeoIndex` against a plain list with every distance computed: random shops are put, moved and removed, in
//! cities, around the 180th meridian and at both ends of the latitudes.

use std::collections::BTreeMap;

use mallbox_storage::{GeoIndex, LatLng, NearbyQuery, NearbyShop, PlacedShop, ShopId, ShopTypeId};

use crate::catalogue::geo_index::at;
use crate::dice::Dice;
use crate::world::World;

crate::cases! {
    a_plain_list_answers_the_same,
}

/// Cities, some of them where a plane would be torn.
const CITIES: [(f64, f64); 9] = [
    (120.149_993, 30.334_229),
    (0.0, 0.0),
    (180.0, 0.0),
    (180.0, 52.0),
    (-180.0, -85.04),
    (0.0, 85.05),
    (90.0, -85.05),
    (-180.0, 71.0),
    (-0.000_3, 80.0),
];
const SHOPS: u64 = 400;
const STEPS: u64 = 1_200;

async fn a_plain_list_answers_the_same(w: &World) {
    let mut dice = Dice::from_environment("a_plain_list_answers_the_same");
    let index = &*w.storage.catalogue.geo_index;
    let mut list = BTreeMap::new();
    let first: Vec<_> = (0..SHOPS / 2).map(|_| shop(&mut dice)).collect();
    for shop in &first {
        list.entry(shop.shop).or_insert(*shop);
    }
    let _ = index.add(&first).await.unwrap();
    for _ in 0..STEPS {
        match dice.below(10) {
            0..3 => {
                let shop = shop(&mut dice);
                index.put(shop).await.unwrap();
                list.insert(shop.shop, shop);
            }
            3 => {
                let shop = ShopId::new(dice.below(SHOPS));
                index.remove(shop).await.unwrap();
                list.remove(&shop);
            }
            4 => add(index, &mut list, [shop(&mut dice), shop(&mut dice)]).await,
            _ => {
                let around = question(&mut dice, &list);
                let nearby = index.near(&around).await.unwrap();
                assert_eq!(nearby, from_list(&list, &around), "{around:?}");
            }
        }
    }
    assert_eq!(index.count().await.unwrap(), list.len() as u64);
}

async fn add(index: &dyn GeoIndex, list: &mut BTreeMap<ShopId, PlacedShop>, shops: [PlacedShop; 2]) {
    let mut elsewhere = Vec::new();
    for shop in shops {
        if *list.entry(shop.shop).or_insert(shop) != shop {
            elsewhere.push(shop.shop);
        }
    }
    assert_eq!(index.add(&shops).await.unwrap(), elsewhere);
}

fn from_list(list: &BTreeMap<ShopId, PlacedShop>, around: &NearbyQuery) -> Vec<NearbyShop> {
    let of_kind = list.values().filter(|shop| around.kind.is_none_or(|kind| kind == shop.kind));
    let mut found: Vec<_> =
        of_kind.map(|it| NearbyShop { shop: it.shop, metres: around.centre.metres_to(it.at) }).collect();
    found.retain(|near| near.metres <= around.radius_m);
    // Stable: the list is by id.
    found.sort_by(|one, other| one.metres.total_cmp(&other.metres));
    found.into_iter().skip(around.skip).take(around.max).collect()
}

fn shop(dice: &mut Dice) -> PlacedShop {
    let (shop, kind) = (ShopId::new(dice.below(SHOPS)), ShopTypeId::new(1 + dice.below(3)));
    PlacedShop { shop, kind, at: place(dice) }
}

/// Near a city, from a few metres to some 100 km away; now and then anywhere on earth.
fn place(dice: &mut Dice) -> LatLng {
    let city = dice.pick(&CITIES);
    let spread = dice.pick(&[0.0, 0.000_01, 0.001, 0.05, 1.0, 180.0]);
    let mut moved = |by: f64| by * (dice.below(2_000_001) as f64 / 1e6 - 1.0);
    // Degrees of longitude are short in the north.
    let narrow = city.1.to_radians().cos().max(0.1);
    let (lng, lat) = (city.0 + moved(spread / narrow), city.1 + moved(spread));
    let lng = if lng.abs() > 180.0 { lng - 360.0_f64.copysign(lng) } else { lng };
    at((lng.clamp(-180.0, 180.0), lat.clamp(-LatLng::MAX_LAT, LatLng::MAX_LAT)))
}

fn question(dice: &mut Dice, list: &BTreeMap<ShopId, PlacedShop>) -> NearbyQuery {
    let shops: Vec<_> = list.values().collect();
    // Some stand just where a shop is.
    let centre = if dice.chance(20) && !shops.is_empty() { dice.pick(&shops).at } else { place(dice) };
    NearbyQuery {
        centre,
        radius_m: dice.pick(&[0.0, 3.0, 500.0, 5_000.0, 30_000.0, NearbyQuery::MAX_RADIUS_M]),
        kind: dice.chance(50).then(|| ShopTypeId::new(1 + dice.below(4))),
        skip: dice.pick(&[0, 0, 1, 5, 40]),
        max: dice.pick(&[0, 1, 5, 10, 1_000, usize::MAX]),
    }
}
