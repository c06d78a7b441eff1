//! Recommended reviews over HTTP: by votes, built once for all readers, and never empty while built anew.

use std::time::Duration;

use mallbox::mall::base::cache_aside::CacheEvent;
use mallbox_test_patience::until_ok;
use serde_json::json;

use super::reviews::{with_new_shop, write};
use super::world::World;

/// Time limit of a build behind the readers.
const REBUILD_TIMEOUT: Duration = Duration::from_secs(20);

fn recommended(w: &World, query: &str) -> Vec<u64> {
    let path = format!("/remark/recommended?itemId=2{query}");
    let reviews = w.ok("GET", &path, "")["data"].clone();
    reviews.as_array().unwrap().iter().map(|review| review["id"].as_u64().unwrap()).collect()
}

fn vote(w: &World, review: u64, token: &str) {
    w.ok("PUT", &format!("/remark/{review}/vote/true"), token);
}

/// Returns how often lists were built.
fn builds(w: &World) -> u64 {
    let figures = w.mall.app().unwrap().cache_figures();
    let figures = figures.iter().find(|figures| figures.kind() == "recommended-reviews").unwrap();
    figures.of(CacheEvent::Rebuild)
}

#[test]
fn the_best_reviews_are_recommended_in_an_order_of_the_last_hour() {
    let w = with_new_shop();
    let reviews: Vec<u64> = (0..3).map(|_| write(&w, &w.customer, 50)).collect();
    vote(&w, reviews[1], &w.other);
    assert_eq!(recommended(&w, ""), [reviews[1], reviews[2], reviews[0]]);
    // The order stays, what is shown does not: votes are those of now.
    vote(&w, reviews[0], &w.other);
    vote(&w, reviews[0], &w.operator);
    assert_eq!(recommended(&w, ""), [reviews[1], reviews[2], reviews[0]]);
    let list = w.ok("GET", "/remark/recommended?itemId=2", &w.other)["data"].clone();
    let shown = |place: usize| (list[place]["votes"].clone(), list[place]["voting"].clone());
    assert_eq!((shown(0), shown(1)), ((json!(1), json!(true)), (json!(0), json!(false))));
    assert_eq!(shown(2), (json!(2), json!(true)));
    assert_eq!(builds(&w), 1);

    w.advance(Duration::from_secs(3_600 + 360));
    assert_eq!(recommended(&w, "").len(), 3, "the old list, while the new one is built");
    let newest = [reviews[0], reviews[1], reviews[2]];
    until_ok(REBUILD_TIMEOUT, || Some(recommended(&w, "")).filter(|now| *now == newest).ok_or(())).unwrap();
    assert_eq!(builds(&w), 2);
}

#[test]
fn a_range_is_taken_and_a_bad_one_refused() {
    let w = with_new_shop();
    assert_eq!(recommended(&w, "").len(), 0, "a shop without reviews");
    assert_eq!(recommended(&w, "").len(), 0);
    assert_eq!(builds(&w), 1, "the empty list is cached too");
    let other = w.ok("GET", "/remark/recommended?itemId=99", "")["data"].clone();
    assert_eq!(other, json!([]), "of no shop");
    let first = w.ok("GET", "/remark/recommended?itemId=1", "")["data"].clone();
    assert_eq!(first, json!([]));
    for bad in ["&start=-1", "&start=5&stop=4", "&stop=100", "&start=x"] {
        let response = w.call("GET", &format!("/remark/recommended?itemId=2{bad}"), "", "");
        assert_eq!((response.status, &response.body["code"]), (400, &json!("BAD_REQUEST")), "{bad}");
    }
}

#[test]
fn what_is_hidden_is_recommended_no_longer_from_that_moment() {
    let w = with_new_shop();
    let reviews: Vec<u64> = (0..3).map(|_| write(&w, &w.customer, 50)).collect();
    assert_eq!(recommended(&w, "&start=0&stop=1"), [reviews[2], reviews[1]]);
    let hide = json!({ "visibility": "hidden", "reason": "x" });
    let path = format!("/ops/remarks/{}/visibility", reviews[1]);
    assert_eq!(w.call("PUT", &path, &w.operator, &hide.to_string()).body["success"], true);
    assert_eq!(recommended(&w, ""), [reviews[2], reviews[0]]);
}

#[test]
fn a_thousand_readers_of_a_cold_list_build_it_once() {
    let w = with_new_shop();
    let review = write(&w, &w.customer, 50);
    let mall = w.mall.app().unwrap();
    let now = w.mall.now();
    let seen = w.mall.wait_for(async move {
        let mut readers = tokio::task::JoinSet::new();
        for _ in 0..1_000 {
            let mall = mall.clone();
            readers.spawn(async move {
                let shop = mallbox_storage::ShopId::new(2);
                mall.reviews.recommended(shop, 0, 9, None, now).await.unwrap().len()
            });
        }
        readers.join_all().await
    });
    assert_eq!(seen.unwrap(), [1; 1_000]);
    assert_eq!(builds(&w), 1);
    assert_eq!(recommended(&w, ""), [review]);
}
