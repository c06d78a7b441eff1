//! Shops around a location, over HTTP.

use std::time::Duration;

use mallbox::fixture::{Fault, Mall};
use mallbox_storage::{LatLng, PlacedShop, ShopId, ShopTypeId};
use serde_json::{Value, json};

use super::world::{World, shop, world};

/// The location used by the pages; shop 1 is 2,019.77 m further south.
const HERE: &str = "x=120.149993&y=30.334229";

/// Returns ids and distances of a list.
fn distances(w: &World, path: &str) -> Vec<(u64, f64)> {
    let response = w.call("GET", path, "", "");
    assert_eq!(
        (response.status, &response.body["success"]),
        (200, &json!(true)),
        "{path}: {}",
        response.text
    );
    let list = response.body["data"].as_array().unwrap_or_else(|| panic!("{path}: {}", response.text));
    list.iter().map(|shop| (shop["id"].as_u64().unwrap(), shop["distance"].as_f64().unwrap())).collect()
}

fn ids(w: &World, path: &str) -> Vec<u64> {
    distances(w, path).into_iter().map(|(id, _)| id).collect()
}

/// Adds a shop `metres` north of [`HERE`].
fn shop_north(w: &World, metres: f64, type_id: u64, comments: u64, score: u64) -> u64 {
    let mut body = shop();
    let y = 30.334229 + metres / 111_195.080;
    body.as_object_mut().unwrap().extend([
        ("typeId".to_owned(), json!(type_id)),
        ("x".to_owned(), json!(120.149993)),
        ("y".to_owned(), json!(y)),
        ("comments".to_owned(), json!(comments)),
        ("score".to_owned(), json!(score)),
    ]);
    w.add("/shop", &body)
}

#[test]
fn shops_nearby_are_as_the_pages_know_them() {
    let w = world();
    let response = w.call("GET", &format!("/shop/of/type?&typeId=2&current=1&{HERE}"), "", "");
    let mut want = shop();
    want.as_object_mut().unwrap().extend([
        ("id".to_owned(), json!(1)),
        ("createTime".to_owned(), json!("2026-11-21T20:00:00")),
        ("updateTime".to_owned(), json!("2026-11-21T20:00:00")),
        ("distance".to_owned(), json!(2019.77)),
    ]);
    assert_eq!(response.body, json!({"success": true, "data": [want]}));
    let far = "x=121&y=31";
    for path in [
        format!("/shop/of/type?typeId=1&{HERE}"),
        format!("/shop/of/type?typeId=2&current=2&{HERE}"),
        format!("/shop/of/type?current=4294967295&{HERE}"),
        format!("/shop/of/type?typeId=99&sortBy=score&{HERE}"),
        format!("/shop/of/type?{far}"),
        format!("/shop/of/type?sortBy=comments&{far}"),
        format!("/shop/near?{far}"),
        format!("/shop/near?radius=2019.7&{HERE}"),
        format!("/shop/near?current=4294967295&{HERE}"),
    ] {
        let response = w.call("GET", &path, "", "");
        assert_eq!((response.status, response.body), (200, json!({"success": true, "data": []})), "{path}");
    }
    assert_eq!(distances(&w, &format!("/shop/near?radius=2019.8&{HERE}")), [(1, 2019.77)]);
}

#[test]
fn shops_nearby_come_nearest_first_a_page_at_a_time_or_sorted() {
    let w = world();
    // Ids 2 to 8: 600, 500, … metres away, the last one here; 9 and 10 are of the other type, 11 is too far.
    for n in 0..7_u32 {
        shop_north(&w, f64::from(600 - 100 * n), 2, u64::from(n % 3), u64::from(20 + n));
    }
    shop_north(&w, 50.0, 1, 9, 50);
    shop_north(&w, 4_999.0, 1, 9, 10);
    shop_north(&w, 5_001.0, 1, 9, 49);
    for (query, expected) in [
        ("/shop/of/type?typeId=2&current=1", &[8, 7, 6, 5, 4][..]),
        ("/shop/of/type?&typeId=2&current=2", &[3, 2, 1]),
        ("/shop/of/type?typeId=2&current=3", &[]),
        ("/shop/of/type?typeId=0", &[8, 9, 7, 6, 5]),
        ("/shop/of/type?current=2", &[4, 3, 2, 1, 10]),
        ("/shop/of/type?typeId=2&sortBy=comments", &[1, 4, 7, 3, 6]),
        ("/shop/of/type?typeId=2&sortBy=comments&current=2", &[2, 5, 8]),
        ("/shop/of/type?sortBy=score", &[9, 1, 8, 7, 6]),
        ("/shop/of/type?sortBy=score&current=2", &[5, 4, 3, 2, 10]),
        ("/shop/of/type?sortBy=price", &[8, 9, 7, 6, 5]),
        ("/shop/near?", &[8, 9, 7, 6, 5, 4, 3, 2, 1, 10]),
        ("/shop/near?current=2", &[]),
        ("/shop/near?radius=6000&current=2", &[11]),
        ("/shop/near?typeId=1&radius=100000", &[9, 10, 11]),
        ("/shop/near?radius=150&typeId=0", &[8, 9, 7]),
    ] {
        assert_eq!(ids(&w, &format!("{query}&{HERE}")), expected, "{query}");
    }
    let shops = distances(&w, &format!("/shop/near?typeId=1&{HERE}"));
    assert_eq!(shops, [(9, 50.0), (10, 4_999.0)]);
}

#[test]
fn a_shop_that_moves_is_found_where_it_is_at_once() {
    let w = world();
    let there = "/shop/near?x=-179.9999&y=-85.05";
    assert_eq!(ids(&w, there), [0_u64; 0]);
    let edit = json!({"id": 1, "x": 180, "y": -85.05}).to_string();
    assert_eq!(w.call("PUT", "/shop", &w.operator, &edit).status, 200);
    assert_eq!(distances(&w, there), [(1, 0.96)]);
    assert_eq!(ids(&w, &format!("/shop/near?{HERE}")), [0_u64; 0]);
    // Also after a change of type.
    assert_eq!(w.call("PUT", "/shop", &w.operator, r#"{"id":1,"typeId":1}"#).status, 200);
    assert_eq!(ids(&w, &format!("{there}&typeId=1")), [1]);
    assert_eq!(ids(&w, &format!("{there}&typeId=2")), [0_u64; 0]);
}

#[test]
fn what_is_not_where_the_index_has_it_is_put_right() {
    let w = world();
    let index = w.mall.app().unwrap().context.storage.catalogue.geo_index.clone();
    let here = LatLng::new(120.149993, 30.334229).unwrap();
    // Shops no longer in the database are skipped, and removed from the index.
    for id in 404..407 {
        let ghost = PlacedShop { shop: ShopId::new(id), kind: ShopTypeId::new(2), at: here };
        let index = index.clone();
        w.mall.wait_for(async move { index.put(ghost).await }).unwrap().unwrap();
    }
    assert_eq!(ids(&w, &format!("/shop/of/type?sortBy=score&{HERE}")), [1]);
    let count = || {
        let index = index.clone();
        w.mall.wait_for(async move { index.count().await }).unwrap().unwrap()
    };
    assert_eq!(count(), 4);
    assert_eq!(ids(&w, &format!("/shop/near?{HERE}")), [1]);
    assert_eq!(count(), 1);
    // A shop missing from the index after a crash is added by the next reconciliation.
    let removed = index.clone();
    w.mall.wait_for(async move { removed.remove(ShopId::new(1)).await }).unwrap().unwrap();
    assert_eq!(ids(&w, &format!("/shop/near?{HERE}")), [0_u64; 0]);
    w.advance(Duration::from_secs(601));
    assert_eq!(ids(&w, &format!("/shop/near?{HERE}")), [1]);
}

/// Compares every list of the demo with all of its shops and their distances.
#[test]
fn the_demos_shops_are_found_from_where_the_pages_ask() {
    let mall = Mall::builder().frozen().start().unwrap();
    let list = |path: &str| {
        let answer = mall.call("GET", &format!("/api{path}"), "", &Value::Null).unwrap();
        answer.data().as_array().unwrap_or_else(|| panic!("{path}: {answer:?}")).clone()
    };
    let here = LatLng::new(120.149993, 30.334229).unwrap();
    let mut shops = Vec::new();
    for page in 1.. {
        let some = list(&format!("/shop/of/type?current={page}"));
        if some.is_empty() {
            break;
        }
        shops.extend(some);
    }
    assert!(shops.len() > 80);
    for kind in 0..=10 {
        let mut expected: Vec<(f64, u64)> = shops
            .iter()
            .filter(|shop| kind == 0 || shop["typeId"] == kind)
            .map(|shop| {
                let at = LatLng::new(shop["x"].as_f64().unwrap(), shop["y"].as_f64().unwrap()).unwrap();
                (here.metres_to(at), shop["id"].as_u64().unwrap())
            })
            .filter(|(metres, _)| *metres <= 5_000.0)
            .collect();
        expected.sort_by(|one, other| one.partial_cmp(other).unwrap());
        assert!(expected.len() >= 7, "a second page of type {kind}");
        let pages = (1..=expected.len().div_ceil(5) + 1)
            .flat_map(|page| list(&format!("/shop/of/type?&typeId={kind}&current={page}&{HERE}")));
        let found: Vec<_> = pages.collect();
        assert_eq!(found.len(), expected.len());
        for (found, (metres, id)) in found.iter().zip(expected) {
            assert_eq!(found["id"], id);
            assert!((found["distance"].as_f64().unwrap() - metres).abs() < 0.01, "{found}");
        }
    }
}

#[test]
fn a_shop_is_written_even_if_the_index_is_in_trouble_and_found_where_it_is_later() {
    let mall = Mall::builder().frozen().start().unwrap();
    // The reconciliation at the start makes the index complete.
    mall.advance(Duration::ZERO).unwrap();
    let first = |mall: &Mall| {
        let answer = mall.call("GET", &format!("/api/shop/near?{HERE}"), "", &Value::Null).unwrap();
        (answer.status, answer.data()[0]["id"].clone())
    };
    mall.faults().add(Fault::at_port("geo_index.near").error().times(1)).unwrap();
    assert_eq!(first(&mall).0, 503);
    mall.faults().add(Fault::at_port("geo_index.put").error().times(1)).unwrap();
    let edit = json!({"id": 84, "x": 120.149993, "y": 30.334229});
    assert!(mall.call("PUT", "/api/shop", &mall.operator(), &edit).unwrap().is_success());
    let before = first(&mall);
    assert_eq!(before.0, 200);
    assert_ne!(before.1, 84);
    mall.advance(Duration::from_secs(601)).unwrap();
    assert_eq!(first(&mall), (200, json!(84)));
    // A snapshot includes the location, and a restored shop is found again.
    let kept = mall.snapshot().unwrap();
    let edit = json!({"id": 84, "x": 0, "y": 0});
    assert!(mall.call("PUT", "/api/shop", &mall.operator(), &edit).unwrap().is_success());
    assert_eq!(first(&mall), before);
    mall.restore(&kept).unwrap();
    assert_eq!(first(&mall), (200, json!(84)));
}
