//! The geo index during Redis faults: lost, truncated, or on a different server.

use std::time::{Duration, Instant};

use mallbox_storage::geo_index::place;
use mallbox_storage::{LatLng, NearbyQuery, NearbyShop, PlacedShop, ShopId, ShopTypeId, Storage, StoreError};
use mallbox_test_patience::{self as patience, Deadline};
use mallbox_test_servers::{Redis, RedisCluster, RedisOptions as ServerOptions};

use crate::redis_world::{start, tell};
use crate::world;
use crate::world::{NOON, World};
use mallbox_storage_contract::catalogue::shops::text;

/// Upper limit for the duration of any call, regardless of Redis.
const CALL_MAX: Duration = Duration::from_millis(1500);
/// Upper limit for the time until an instance knows what another has changed.
const NEWS_MAX: Duration = Duration::from_secs(1);

fn around() -> NearbyQuery {
    let centre = LatLng::new(120.149_993, 30.334_229).unwrap();
    NearbyQuery { centre, radius_m: 5_000.0, kind: None, skip: 0, max: 10 }
}

/// Creates shops in the database and in the index, nearest first.
async fn shops(w: &World, count: u32) -> Vec<ShopId> {
    let mut ids = Vec::new();
    for number in 0..count {
        let mut shop = text("one");
        shop.y += f64::from(number) * 0.000_1;
        let id = w.storage.catalogue.shops.insert(&shop, NOON).await.unwrap();
        place(&*w.storage.catalogue.geo_index, &*w.storage.catalogue.shops, id).await.unwrap();
        ids.push(id);
    }
    ids
}

/// Repeats a query until success. No result may be partial.
async fn near_again(storage: &Storage) -> Vec<ShopId> {
    let until = Deadline::after(Duration::from_secs(20));
    loop {
        let asked = Instant::now();
        let answer = storage.catalogue.geo_index.near(&around()).await;
        assert!(patience::is_within(asked.elapsed(), CALL_MAX), "{:?}", asked.elapsed());
        match answer {
            Ok(found) => return ids(&found),
            Err(StoreError::Unavailable { .. }) => assert!(!until.is_over()),
            Err(other) => panic!("{other}"),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn ids(found: &[NearbyShop]) -> Vec<ShopId> {
    found.iter().map(|near| near.shop).collect()
}

async fn own_server() -> (Redis, World) {
    let server =
        start(ServerOptions::default().with("appendonly", "yes").with("appendfsync", "always")).await;
    let w = world::fresh(server.url()).await;
    (server, w)
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server")]
async fn a_redis_that_lost_its_keys_receives_the_places_of_shops_again() {
    let single = start(ServerOptions::default()).await;
    let cluster = tokio::task::spawn_blocking(|| RedisCluster::start(3).unwrap()).await.unwrap();
    for urls in [vec![single.url()], cluster.urls()] {
        let w = world::fresh(urls[0].clone()).await;
        let shops = shops(&w, 3).await;
        assert_eq!(near_again(&w.storage).await, shops);
        for _ in 0..2 {
            urls.iter().for_each(|url| tell(url, &["FLUSHALL"]));
            assert_eq!(near_again(&w.storage).await, shops);
        }
        // A shop moved during the rebuild must not be moved back by rows read before.
        urls.iter().for_each(|url| tell(url, &["FLUSHALL"]));
        let at = LatLng::new(0.0, 0.0).unwrap();
        let moved = PlacedShop { shop: shops[0], kind: ShopTypeId::new(1), at };
        w.storage.catalogue.geo_index.put(moved).await.unwrap();
        let mut far = text("one");
        (far.x, far.y) = (0.0, 0.0);
        assert!(w.storage.catalogue.shops.update(shops[0], &far, NOON).await.unwrap());
        assert_eq!(near_again(&w.storage).await, shops[1..]);
        assert_eq!(w.storage.catalogue.geo_index.count().await.unwrap(), 3);
    }
}

/// Redis returns with an older state: shops are missing, or at old places.
#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server")]
async fn a_redis_that_comes_back_with_an_older_state_is_put_right() {
    let (mut server, w) = own_server().await;
    let shops = shops(&w, 3).await;
    assert_eq!(near_again(&w.storage).await, shops);
    // As if the last writes had not reached the disk: the database is ahead of Redis.
    let mut shop = text("one");
    shop.y += 0.001;
    w.storage.catalogue.shops.update(shops[0], &shop, NOON).await.unwrap();
    let lost = w.storage.catalogue.shops.insert(&text("new"), NOON).await.unwrap();
    assert_eq!(near_again(&w.storage).await, shops);
    tokio::task::block_in_place(|| server.kill());
    until_not_found(&w.storage).await;
    assert!(w.storage.catalogue.geo_index.count().await.is_err());
    tokio::task::block_in_place(|| server.restart().unwrap());
    assert_eq!(near_again(&w.storage).await, [lost, shops[1], shops[2], shops[0]]);
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server")]
async fn a_new_instance_finds_what_another_has_put() {
    let w = world::plain().await;
    let shops = shops(&w, 3).await;
    let other = w.other_instance().await;
    assert_eq!(near_again(&other).await, shops);
    other.catalogue.geo_index.remove(shops[1]).await.unwrap();
    until_found(&w.storage, &[shops[0], shops[2]]).await;
    // Concurrent moves of one shop: the shop ends at one of the places, and only in the lists of that place.
    let moving = (0..16_u32).map(|number| {
        let index = if number % 2 == 0 { &w.storage.catalogue.geo_index } else { &other.catalogue.geo_index };
        let kind = ShopTypeId::new(u64::from(number % 4));
        let at = LatLng::new(f64::from(number), 0.0).unwrap();
        let (index, shop) = (index.clone(), shops[0]);
        async move { index.put(PlacedShop { shop, kind, at }).await }
    });
    let moved: Vec<_> = moving.map(tokio::spawn).collect();
    for moved in moved {
        // A move with too many conflicts returns an error.
        let _ = moved.await.unwrap();
    }
    let count = async || {
        let mut found = 0;
        for number in 0..16_u32 {
            let centre = LatLng::new(f64::from(number), 0.0).unwrap();
            for kind in (0..4).map(ShopTypeId::new) {
                let asked = NearbyQuery { centre, kind: Some(kind), ..around() };
                found += other.catalogue.geo_index.near(&asked).await.unwrap().len();
            }
        }
        found
    };
    // The last moves may have been made elsewhere.
    tokio::time::sleep(NEWS_MAX).await;
    assert_eq!(count().await, 1);
}

/// Repeats a query until the result is as expected.
async fn until_found(storage: &Storage, expected: &[ShopId]) {
    let changed = Instant::now();
    loop {
        let found = ids(&storage.catalogue.geo_index.near(&around()).await.unwrap());
        if found == expected {
            return;
        }
        assert!(patience::is_within(changed.elapsed(), NEWS_MAX), "{found:?} after {:?}", changed.elapsed());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Repeats a query until it fails: Redis is away, and the copy no longer counts.
async fn until_not_found(storage: &Storage) {
    let away = Instant::now();
    while storage.catalogue.geo_index.near(&around()).await.is_ok() {
        assert!(patience::is_within(away.elapsed(), NEWS_MAX), "a copy is served after {:?}", away.elapsed());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
