//! Types of shops, and pictures uploaded by operators for types and shops.

use serde_json::{Value, json};

use super::uploads::{DAY, show, taken};
use super::world::{World, world};

fn types(w: &World) -> Value {
    w.ok("GET", "/shop-type/list", "")["data"].clone()
}

fn change(w: &World, method: &str, path: &str, body: &Value) -> Value {
    let response = w.call(method, path, &w.operator, &body.to_string());
    assert_eq!(
        (response.status, &response.body["success"]),
        (200, &json!(true)),
        "{path}: {}",
        response.text
    );
    response.body["data"].clone()
}

#[test]
fn a_type_is_added_and_changed_and_in_the_next_answer() {
    let w = world();
    let old = [
        json!({"id": 2, "name": "美食", "icon": "/types/2.svg", "sort": 1}),
        json!({"id": 1, "name": "KTV", "icon": "/types/1.svg", "sort": 2}),
    ];
    assert_eq!(types(&w), json!(old));
    let added = w.add("/shop-type", &json!({"name": "<b>丽人</b>", "icon": "/imgs/types/lr.svg"}));
    let last = json!({"id": added, "name": "<b>丽人</b>", "icon": "/types/lr.svg", "sort": 3});
    assert_eq!(types(&w), json!([old[0], old[1], last]));
    let first = json!({"id": added, "name": "<b>丽人</b>", "icon": "/types/lr.svg", "sort": -5});
    assert_eq!(change(&w, "PUT", &format!("/shop-type/{added}"), &json!({"sort": -5})), first);
    assert_eq!(types(&w), json!([first, old[0], old[1]]));
    change(&w, "PUT", "/shop", &json!({"id": 1, "typeId": added}));
    assert_eq!(w.ok("GET", &format!("/shop/of/type?typeId={added}"), "")["data"][0]["id"], 1);
    let audit = w.ok("GET", "/ops/audit?max=3", &w.operator)["data"].clone();
    let actions: Vec<_> = audit.as_array().unwrap().iter().map(|entry| entry["action"].clone()).collect();
    assert_eq!(actions, ["shop.edit", "shop-type.edit", "shop-type.add"]);
    assert_eq!(audit[1]["detail"], json!({"name": null, "icon": null, "sort": -5}));
}

#[test]
fn a_picture_that_an_operator_gives_to_a_shop_or_a_type_stays_and_is_shown() {
    let w = world();
    let [of_shop, of_type, of_nothing] = [(); 3].map(|()| taken(&w, &w.operator));
    change(&w, "PUT", "/shop", &json!({"id": 1, "images": format!("{of_shop},/imgs/b.jpg")}));
    change(&w, "PUT", "/shop-type/1", &json!({"icon": of_type}));
    for _ in 0..3 {
        w.advance(DAY);
    }
    assert_eq!(show(&w, &of_nothing).status, 404);
    // As pages request them: a shop's pictures unchanged, a type's below `/imgs`.
    let images = w.ok("GET", "/shop/1", "")["data"]["images"].clone();
    assert_eq!(images, format!("/imgs{of_shop},/imgs/b.jpg"));
    assert_eq!(show(&w, &of_shop).status, 200);
    assert_eq!(types(&w)[1]["icon"], of_type);
    assert_eq!(show(&w, &of_type).status, 200);
}
