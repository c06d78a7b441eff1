//! `GeoIndex`: nearest first, moved and removed at once, and refilled from the database.

use mallbox_storage::geo_index::{place, restore};
use mallbox_storage::{LatLng, NearbyQuery, NearbyShop, PlacedShop, ShopId, ShopTypeId};

use crate::catalogue::shops::text;
use crate::world::{NOON, World};

crate::cases! {
    nothing_is_near_before_a_shop_is_put,
    nearest_first_and_those_at_one_distance_by_id,
    within_the_radius_and_at_it,
    by_type_or_all,
    pages_neither_skip_nor_repeat,
    a_crowd_at_one_place_is_paged_by_id,
    a_shop_that_is_put_again_has_moved,
    a_shop_that_is_removed_is_not_found,
    adding_leaves_where_they_are_those_that_are_there,
    a_place_of_two_names_is_one_place,
    across_the_180th_meridian_and_up_to_the_ends,
    a_shop_is_placed_as_the_record_has_it,
    a_restart_finds_what_is_in_the_record,
    shops_are_moved_while_others_search,
}

/// Where hm-dianping's lists ask.
const CANAL: (f64, f64) = (120.149_993, 30.334_229);

/// Returns the position of a longitude and latitude in degrees.
pub fn at((lng, lat): (f64, f64)) -> LatLng {
    LatLng::new(lng, lat).unwrap()
}

fn placed(shop: u64, kind: u64, place: (f64, f64)) -> PlacedShop {
    PlacedShop { shop: ShopId::new(shop), kind: ShopTypeId::new(kind), at: at(place) }
}

/// Within 5 km, of all types, the first thousand.
fn around(place: (f64, f64)) -> NearbyQuery {
    NearbyQuery { centre: at(place), radius_m: 5_000.0, kind: None, skip: 0, max: 1_000 }
}

/// A point the given number of metres north of the canal.
fn north(metres: f64) -> (f64, f64) {
    let degree = std::f64::consts::PI * LatLng::EARTH_RADIUS_M / 180.0;
    (CANAL.0, CANAL.1 + metres / degree)
}

async fn near(w: &World, around: &NearbyQuery) -> Vec<u64> {
    ids(&w.storage.catalogue.geo_index.near(around).await.unwrap())
}

fn ids(found: &[NearbyShop]) -> Vec<u64> {
    found.iter().map(|near| near.shop.get()).collect()
}

async fn put(w: &World, shops: &[PlacedShop]) {
    for shop in shops {
        w.storage.catalogue.geo_index.put(*shop).await.unwrap();
    }
}

async fn nothing_is_near_before_a_shop_is_put(w: &World) {
    let index = &w.storage.catalogue.geo_index;
    assert_eq!(index.near(&around(CANAL)).await.unwrap(), []);
    let of_no_type = NearbyQuery { kind: Some(ShopTypeId::new(u64::MAX)), ..around(CANAL) };
    assert_eq!(index.near(&of_no_type).await.unwrap(), []);
    assert_eq!(index.count().await.unwrap(), 0);
    index.remove(ShopId::new(404)).await.unwrap();
    assert_eq!(index.add(&[]).await.unwrap(), []);
}

async fn nearest_first_and_those_at_one_distance_by_id(w: &World) {
    put(w, &[placed(7, 1, north(900.0)), placed(3, 2, north(20.0)), placed(20, 1, CANAL)]).await;
    put(w, &[placed(u64::MAX, 1, north(20.0)), placed(100, 3, north(20.0)), placed(9, 3, north(20.0))]).await;
    let found = w.storage.catalogue.geo_index.near(&around(CANAL)).await.unwrap();
    assert_eq!(ids(&found), [20, 3, 9, 100, u64::MAX, 7]);
    assert_eq!(found[0].metres, 0.0);
    assert!((found[5].metres - 900.0).abs() < 1e-6, "{found:?}");
    for near in &found[1..5] {
        assert_eq!(
            near.metres,
            at(CANAL).metres_to(at(north(20.0))),
            "told from the very numbers that were put"
        );
    }
}

async fn within_the_radius_and_at_it(w: &World) {
    put(w, &[placed(1, 1, north(0.2)), placed(2, 1, north(999.99)), placed(3, 1, north(1_000.01))]).await;
    put(w, &[placed(4, 1, north(99_999.0)), placed(5, 1, north(100_001.0))]).await;
    let exactly = at(CANAL).metres_to(at(north(999.99)));
    for (radius_m, expected) in [
        (1_000.0, &[1, 2][..]),
        (exactly, &[1, 2]),
        (exactly - 0.001, &[1]),
        (1_000.02, &[1, 2, 3]),
        (0.1, &[]),
        (0.0, &[]),
        (-5.0, &[]),
        (f64::NAN, &[]),
        (f64::INFINITY, &[1, 2, 3, 4]),
        (30_000_000.0, &[1, 2, 3, 4]),
    ] {
        let asked = NearbyQuery { radius_m, ..around(CANAL) };
        assert_eq!(near(w, &asked).await, expected, "{radius_m}");
    }
    let here = NearbyQuery { radius_m: 0.0, ..around(north(999.99)) };
    assert_eq!(near(w, &here).await, [2], "a shop is within no distance of itself");
}

async fn by_type_or_all(w: &World) {
    put(w, &[placed(1, 1, north(10.0)), placed(2, 2, north(5.0)), placed(3, 1, north(1.0))]).await;
    let of = |kind: u64| NearbyQuery { kind: Some(ShopTypeId::new(kind)), ..around(CANAL) };
    assert_eq!(near(w, &around(CANAL)).await, [3, 2, 1]);
    assert_eq!(near(w, &of(1)).await, [3, 1]);
    assert_eq!(near(w, &of(2)).await, [2]);
    assert_eq!(near(w, &of(404)).await, [0_u64; 0]);
}

async fn pages_neither_skip_nor_repeat(w: &World) {
    // A metre and less apart: closer than Redis can tell.
    let shops: Vec<_> =
        (0..60_u32).map(|n| placed(60 - u64::from(n), 1, north(f64::from(n) * 0.3))).collect();
    put(w, &shops).await;
    let mut seen = Vec::new();
    for skip in (0..70).step_by(7) {
        seen.extend(near(w, &NearbyQuery { skip, max: 7, ..around(CANAL) }).await);
    }
    assert_eq!(seen, (1..=60).rev().collect::<Vec<_>>());
    for (skip, max, expected) in
        [(58, 7, &[2, 1][..]), (60, 7, &[]), (0, 0, &[]), (usize::MAX, usize::MAX, &[])]
    {
        assert_eq!(near(w, &NearbyQuery { skip, max, ..around(CANAL) }).await, expected, "{skip} {max}");
    }
}

async fn a_crowd_at_one_place_is_paged_by_id(w: &World) {
    let shops: Vec<_> = (1..=1_500).rev().map(|shop| placed(shop, 1 + shop % 3, CANAL)).collect();
    assert_eq!(w.storage.catalogue.geo_index.add(&shops).await.unwrap(), []);
    assert_eq!(near(w, &NearbyQuery { skip: 1_200, max: 3, ..around(CANAL) }).await, [1_201, 1_202, 1_203]);
    let of_one = NearbyQuery { kind: Some(ShopTypeId::new(1)), skip: 2, max: 3, ..around(CANAL) };
    assert_eq!(near(w, &of_one).await, [9, 12, 15]);
}

async fn a_shop_that_is_put_again_has_moved(w: &World) {
    let elsewhere = (-70.0, -33.0);
    put(w, &[placed(1, 1, CANAL), placed(2, 1, CANAL), placed(1, 1, elsewhere)]).await;
    assert_eq!(near(w, &around(CANAL)).await, [2]);
    assert_eq!(near(w, &around(elsewhere)).await, [1]);
    // The shop changes to another type in place, and back.
    let of = |kind: u64| NearbyQuery { kind: Some(ShopTypeId::new(kind)), ..around(elsewhere) };
    for (kind, other) in [(2, 1), (1, 2)] {
        for _ in 0..2 {
            put(w, &[placed(1, kind, elsewhere)]).await;
        }
        assert_eq!((near(w, &of(kind)).await, near(w, &of(other)).await), (vec![1], vec![]));
        assert_eq!(near(w, &around(elsewhere)).await, [1]);
    }
    assert_eq!(w.storage.catalogue.geo_index.count().await.unwrap(), 2);
}

async fn a_shop_that_is_removed_is_not_found(w: &World) {
    let index = &w.storage.catalogue.geo_index;
    put(w, &[placed(1, 1, CANAL), placed(2, 2, CANAL)]).await;
    for _ in 0..2 {
        index.remove(ShopId::new(1)).await.unwrap();
        assert_eq!(near(w, &around(CANAL)).await, [2]);
        let of_its_type = NearbyQuery { kind: Some(ShopTypeId::new(1)), ..around(CANAL) };
        assert_eq!(near(w, &of_its_type).await, [0_u64; 0]);
        assert_eq!(index.count().await.unwrap(), 1);
    }
    put(w, &[placed(1, 1, CANAL)]).await;
    assert_eq!(near(w, &around(CANAL)).await, [1, 2]);
}

async fn adding_leaves_where_they_are_those_that_are_there(w: &World) {
    let index = &w.storage.catalogue.geo_index;
    put(w, &[placed(1, 1, CANAL), placed(2, 1, CANAL), placed(3, 1, CANAL)]).await;
    let added = [placed(1, 1, CANAL), placed(2, 2, CANAL), placed(3, 1, north(1.0)), placed(4, 9, CANAL)];
    for _ in 0..2 {
        let elsewhere = index.add(&added).await.unwrap();
        assert_eq!(elsewhere, [2, 3].map(ShopId::new));
    }
    assert_eq!(near(w, &around(CANAL)).await, [1, 2, 3, 4]);
    let of_new_type = NearbyQuery { kind: Some(ShopTypeId::new(2)), ..around(CANAL) };
    assert_eq!(near(w, &of_new_type).await, [0_u64; 0]);
}

async fn a_place_of_two_names_is_one_place(w: &World) {
    let index = &w.storage.catalogue.geo_index;
    for (shop, (one, other)) in
        [((0.0, 0.0), (0.0, -0.0)), ((0.0, 30.0), (-0.0, 30.0)), ((180.0, 0.0), (-180.0, -0.0))]
            .into_iter()
            .enumerate()
    {
        let shop = shop as u64 + 1;
        put(w, &[placed(shop, 1, one)]).await;
        assert_eq!(index.add(&[placed(shop, 1, other)]).await.unwrap(), [], "{one:?} {other:?}");
    }
}

async fn across_the_180th_meridian_and_up_to_the_ends(w: &World) {
    let ends = [
        placed(1, 1, (179.99, 0.0)),
        placed(2, 1, (-179.98, 0.0)),
        placed(3, 1, (180.0, 0.0)),
        placed(4, 1, (-180.0, 0.0)),
        placed(5, 1, (0.0, 85.05)),
        placed(6, 1, (0.4, 85.05)),
        placed(7, 1, (180.0, -85.05)),
        placed(8, 1, (-179.7, -85.03)),
    ];
    put(w, &ends).await;
    for (place, expected) in [
        ((179.994, 0.0), &[1, 3, 4, 2][..]),
        ((-179.994, 0.0), &[3, 4, 2, 1]),
        ((180.0, 0.0), &[3, 4, 1, 2]),
        ((-180.0, 0.0), &[3, 4, 1, 2]),
        ((0.0, 85.05), &[5, 6]),
        ((-180.0, -85.05), &[7, 8]),
        ((179.9, -85.04), &[7, 8]),
    ] {
        assert_eq!(near(w, &around(place)).await, expected, "{place:?}");
    }
}

async fn a_shop_is_placed_as_the_record_has_it(w: &World) {
    let (shops, index) = (&w.storage.catalogue.shops, &*w.storage.catalogue.geo_index);
    let mut shop = text("one");
    (shop.x, shop.y) = CANAL;
    // Redis fills the index at start, perhaps a moment later.
    assert_eq!(index.count().await.unwrap(), 0);
    let id = shops.insert(&shop, NOON).await.unwrap();
    // Cut off between the two writes: the index lags behind until the next update.
    assert_eq!(near(w, &around(CANAL)).await, [0_u64; 0]);
    place(index, &**shops, id).await.unwrap();
    assert_eq!(near(w, &around(CANAL)).await, [id.get()]);
    (shop.x, shop.y) = north(40_000.0);
    shops.update(id, &shop, NOON).await.unwrap();
    let lost = shops.insert(&text("two"), NOON).await.unwrap();
    assert_eq!(restore(index, &**shops).await.unwrap(), 1, "one has moved, and one was nowhere");
    assert_eq!(near(w, &around(CANAL)).await, [lost.get()]);
    assert_eq!(near(w, &around(north(40_000.0))).await, [id.get()]);
    // The database may hold coordinates off the earth, and has no row for another shop that was in the index.
    shop.y = 90.0;
    shops.update(id, &shop, NOON).await.unwrap();
    put(w, &[placed(404, 1, CANAL)]).await;
    for shop in [id, ShopId::new(404)] {
        place(index, &**shops, shop).await.unwrap();
    }
    assert_eq!(restore(index, &**shops).await.unwrap(), 0);
    assert_eq!(index.count().await.unwrap(), 1);
}

async fn a_restart_finds_what_is_in_the_record(w: &World) {
    let w = w.another().await;
    let mut shop = text("one");
    let mut kept = Vec::new();
    for metres in [30.0, 10.0, 20.0] {
        (shop.x, shop.y) = north(metres);
        let id = w.storage.catalogue.shops.insert(&shop, NOON).await.unwrap();
        place(&*w.storage.catalogue.geo_index, &*w.storage.catalogue.shops, id).await.unwrap();
        kept.push(id.get());
    }
    let before = w.storage.catalogue.geo_index.near(&around(CANAL)).await.unwrap();
    assert_eq!(ids(&before), [kept[1], kept[2], kept[0]]);
    let w = w.reopen().await;
    assert_eq!(w.storage.catalogue.geo_index.near(&around(CANAL)).await.unwrap(), before);
}

/// Two shops go to and fro, each always somewhere; a third stays.
async fn shops_are_moved_while_others_search(w: &World) {
    const MOVES: u64 = 200;
    put(w, &[placed(1, 1, CANAL), placed(2, 2, CANAL), placed(3, 3, CANAL)]).await;
    let moving = [1, 2].map(|shop| {
        let index = w.storage.catalogue.geo_index.clone();
        tokio::spawn(async move {
            for number in 1..=MOVES {
                let to = if number % 2 == 0 { CANAL } else { north(3_000.0) };
                index.put(placed(shop, shop, to)).await.unwrap();
            }
        })
    });
    while !moving.iter().all(tokio::task::JoinHandle::is_finished) {
        let mut found = near(w, &around(CANAL)).await;
        found.sort_unstable();
        assert_eq!(found, [1, 2, 3]);
    }
    for moved in moving {
        moved.await.unwrap();
    }
    assert_eq!(near(w, &NearbyQuery { radius_m: 1.0, ..around(CANAL) }).await, [1, 2, 3]);
}
