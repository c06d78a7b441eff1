//! Copies of shop locations in each instance: searches need no Redis, and miss no change for long.

use std::time::{Duration, Instant};

use mallbox_storage::{LatLng, NearbyQuery, PlacedShop, ShopId, ShopTypeId, Storage};
use mallbox_test_patience::{self as patience, Deadline};
use mallbox_test_servers::{Redis, RedisCluster, RedisOptions as ServerOptions};

use crate::redis_world::{says, start, tell};
use crate::world::{self, World};

/// Upper limit for the time until an instance knows what another has changed.
const NEWS_MAX: Duration = Duration::from_secs(1);

fn placed(shop: u64, lng: f64) -> PlacedShop {
    PlacedShop { shop: ShopId::new(shop), kind: ShopTypeId::new(1), at: LatLng::new(lng, 30.0).unwrap() }
}

async fn near(storage: &Storage, lng: f64) -> Vec<u64> {
    let centre = LatLng::new(lng, 30.0).unwrap();
    let around = NearbyQuery { centre, radius_m: 5_000.0, kind: None, skip: 0, max: 10 };
    let found = storage.catalogue.geo_index.near(&around).await.unwrap();
    found.iter().map(|near| near.shop.get()).collect()
}

/// Number of searches that the servers have answered since their start.
fn searches(urls: &[String]) -> u64 {
    let of_server = |url: &String| -> u64 {
        let said = says(url, "commandstats");
        let of = said.lines().find_map(|line| line.strip_prefix("cmdstat_geosearch:calls="));
        of.map_or(0, |line| line.split(',').next().unwrap().parse().unwrap())
    };
    urls.iter().map(of_server).sum()
}

/// Searches until Redis is no longer asked.
async fn until_copied(urls: &[String], storage: &Storage) {
    let deadline = Deadline::after(Duration::from_secs(20));
    loop {
        let before = searches(urls);
        for _ in 0..200 {
            near(storage, 120.0).await;
        }
        if searches(urls) == before {
            return;
        }
        assert!(!deadline.is_over(), "no search was ever answered by a copy");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn own_server() -> (Redis, World) {
    let server = start(ServerOptions::default()).await;
    let w = with_shops(server.url()).await;
    (server, w)
}

async fn with_shops(url: String) -> World {
    let w = world::fresh(url).await;
    for shop in 1..=3 {
        w.storage.catalogue.geo_index.put(placed(shop, 120.0)).await.unwrap();
    }
    w
}

/// Searches until an instance finds these shops.
async fn until_near(storage: &Storage, lng: f64, expected: &[u64], bound: Duration) {
    let changed = Instant::now();
    loop {
        let found = near(storage, lng).await;
        if found == expected {
            return;
        }
        assert!(patience::is_within(changed.elapsed(), bound), "{found:?} after {:?}", changed.elapsed());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
async fn searches_are_answered_without_redis_and_know_each_own_change_at_once() {
    let single = start(ServerOptions::default()).await;
    let cluster = tokio::task::spawn_blocking(|| RedisCluster::start(3).unwrap()).await.unwrap();
    for urls in [vec![single.url()], cluster.urls()] {
        let w = with_shops(urls[0].clone()).await;
        let index = &w.storage.catalogue.geo_index;
        until_copied(&urls, &w.storage).await;
        let before = searches(&urls);
        for round in 0..50_u32 {
            let lng = 121.0 + f64::from(round);
            index.put(placed(1, lng)).await.unwrap();
            assert_eq!(near(&w.storage, lng).await, [1]);
            assert_eq!(near(&w.storage, 120.0).await, [2, 3]);
            assert_eq!(index.add(&[placed(7, lng), placed(2, lng)]).await.unwrap(), [ShopId::new(2)]);
            assert_eq!(near(&w.storage, lng).await, [1, 7]);
            index.remove(ShopId::new(7)).await.unwrap();
            assert_eq!(near(&w.storage, lng).await, [1]);
        }
        assert!(searches(&urls) < before + 50, "at most while Redis was slow");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
async fn a_change_at_one_instance_is_known_to_all_within_a_second() {
    let (server, w) = own_server().await;
    let other = w.other_instance().await;
    // So many that reading all of them again takes longer than the bound.
    let crowd: Vec<PlacedShop> = (100_000..120_000).map(|shop| placed(shop, 10.0)).collect();
    w.storage.catalogue.geo_index.add(&crowd).await.unwrap();
    until_copied(&[server.url()], &other).await;
    w.storage.catalogue.geo_index.put(placed(1, 121.0)).await.unwrap();
    until_near(&other, 121.0, &[1], NEWS_MAX).await;
    w.storage.catalogue.geo_index.remove(ShopId::new(2)).await.unwrap();
    until_near(&other, 120.0, &[3], NEWS_MAX).await;
    // More shops than one call reads.
    let many: Vec<PlacedShop> = (1_000..6_000).map(|shop| placed(shop, 122.0)).collect();
    w.storage.catalogue.geo_index.add(&many).await.unwrap();
    let first: Vec<u64> = (1_000..1_010).collect();
    until_near(&other, 122.0, &first, NEWS_MAX).await;
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
async fn changes_that_nobody_announced_are_found_by_reading_again() {
    let (server, w) = own_server().await;
    until_copied(&[server.url()], &w.storage).await;
    // As a former version does.
    let key = |name: &str| format!("{{{}:shops}}:{name}", w.production().redis.prefix);
    let url = &w.production().redis.url;
    tell(url, &["HSET", &key("places"), "1", "1 121 30"]);
    tell(url, &["HDEL", &key("places"), "2"]);
    tell(url, &["ZREM", &key("geo"), "2"]);
    let while_few = Duration::from_secs(5);
    until_near(&w.storage, 121.0, &[1], while_few).await;
    until_near(&w.storage, 120.0, &[3], while_few).await;
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
async fn an_instance_that_lost_redis_serves_no_copy_after_a_second() {
    let (server, w) = own_server().await;
    until_copied(&[server.url()], &w.storage).await;
    server.pause().unwrap();
    let paused = Instant::now();
    let centre = LatLng::new(120.0, 30.0).unwrap();
    let around = NearbyQuery { centre, radius_m: 5_000.0, kind: None, skip: 0, max: 10 };
    while w.storage.catalogue.geo_index.near(&around).await.is_ok() {
        assert!(patience::is_within(paused.elapsed(), NEWS_MAX), "still served after {:?}", paused.elapsed());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    server.resume().unwrap();
    let deadline = Deadline::after(Duration::from_secs(20));
    while w.storage.catalogue.geo_index.near(&around).await.is_err() {
        assert!(!deadline.is_over(), "not found after Redis went on");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(near(&w.storage, 120.0).await, [1, 2, 3]);
}
