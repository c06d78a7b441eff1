//! `Shops`: reads return what was written, and lists are stable.

use crate::samples;
use mallbox_storage::{
    LatLng, Page, PlacedShop, ShopArea, ShopId, ShopOrder, ShopText, ShopType, ShopTypeEdit, ShopTypeId,
};

use crate::world::{HOUR, NOON, World};

crate::cases! {
    no_shop_is_there_before_one_is_added,
    types_are_listed_by_sort_and_replaced_by_id,
    a_type_is_added_above_those_there_are_and_edited_in_part,
    a_shop_is_read_as_it_was_written,
    an_update_of_no_shop_changes_nothing,
    lists_are_ordered_and_stable,
    names_are_found_by_any_part_of_them,
    shops_among_many_are_ordered_and_paged,
    places_are_listed_page_by_page,
    ids_are_listed_page_by_page,
    areas_are_where_their_shops_are_the_fullest_first,
    shops_outlive_a_restart,
}

/// Returns the text of a shop named `name`.
pub fn text(name: &str) -> ShopText {
    ShopText { name: name.into(), ..samples::shop() }
}

fn ids(shops: &[mallbox_storage::Shop]) -> Vec<u64> {
    shops.iter().map(|shop| shop.id.get()).collect()
}

async fn no_shop_is_there_before_one_is_added(w: &World) {
    let shops = &w.storage.catalogue.shops;
    for id in [0, 1, i64::MAX as u64, u64::MAX].map(ShopId::new) {
        assert_eq!(shops.get(id).await.unwrap(), None);
    }
    assert_eq!(shops.types().await.unwrap(), []);
    assert_eq!(shops.of_type(None, ShopOrder::Id, Page::new(1, 10)).await.unwrap(), []);
    assert_eq!(shops.by_name("", 100, Page::new(1, 10)).await.unwrap(), []);
}

async fn types_are_listed_by_sort_and_replaced_by_id(w: &World) {
    let shops = &w.storage.catalogue.shops;
    let kind = |id, name: &str, sort| ShopType {
        id: ShopTypeId::new(id),
        name: name.into(),
        icon: "/types/ms.png".into(),
        sort,
    };
    for (id, name, sort) in [(1, "美食", 5), (2, "KTV", -1), (3, "丽人", 5), (2, "歌厅", 9)] {
        shops.put_type(&kind(id, name, sort), NOON).await.unwrap();
    }
    let expected = [kind(1, "美食", 5), kind(3, "丽人", 5), kind(2, "歌厅", 9)];
    assert_eq!(shops.types().await.unwrap(), expected);
}

async fn a_type_is_added_above_those_there_are_and_edited_in_part(w: &World) {
    let shops = &w.storage.catalogue.shops;
    let kind = |id: u64, name: &str, icon: &str, sort| ShopType {
        id: ShopTypeId::new(id),
        name: name.into(),
        icon: icon.into(),
        sort,
    };
    shops.put_type(&kind(7, "美食", "/types/ms.png", 1), NOON).await.unwrap();
    for id in [8, 9] {
        let added = shops.insert_type("KTV", "/types/KTV.png", i64::MIN, NOON).await.unwrap();
        assert_eq!(added, ShopTypeId::new(id));
    }
    let none = ShopTypeEdit::default();
    let edit = async |id: u64, edit: ShopTypeEdit| {
        shops.update_type(ShopTypeId::new(id), &edit, NOON + HOUR).await.unwrap()
    };
    for _ in 0..2 {
        assert!(edit(8, ShopTypeEdit { name: Some("歌厅".into()), sort: Some(3), ..none.clone() }).await);
        assert!(edit(9, ShopTypeEdit { icon: Some(String::new()), sort: Some(2), ..none.clone() }).await);
        assert!(edit(7, none.clone()).await);
    }
    let expected =
        [kind(7, "美食", "/types/ms.png", 1), kind(9, "KTV", "", 2), kind(8, "歌厅", "/types/KTV.png", 3)];
    assert_eq!(shops.types().await.unwrap(), expected);
    for unknown in [0, 1, 10, u64::MAX] {
        assert!(!edit(unknown, ShopTypeEdit { sort: Some(0), ..none.clone() }).await, "{unknown}");
    }
    assert_eq!(shops.types().await.unwrap(), expected);
}

async fn a_shop_is_read_as_it_was_written(w: &World) {
    let shops = &w.storage.catalogue.shops;
    let full = ShopText {
        images: "/imgs/a.png,/imgs/b.png".into(),
        area: "大关".into(),
        avg_price: Some(-1),
        open_hours: "10:00-22:00".into(),
        x: -180.0,
        y: 0.1 + 0.2,
        sold: i64::MAX,
        comments: i64::MIN,
        score: 50,
        ..text("103茶餐厅")
    };
    for written in [full, text(""), text("'; DROP TABLE shops; --")] {
        let id = shops.insert(&written, NOON).await.unwrap();
        let read = shops.get(id).await.unwrap().unwrap();
        assert_eq!((read.id, read.text, read.created, read.updated), (id, written.clone(), NOON, NOON));
        let changed = ShopText { name: "new".into(), x: 0.0, avg_price: Some(80), ..written };
        assert!(shops.update(id, &changed, NOON + HOUR).await.unwrap());
        let read = shops.get(id).await.unwrap().unwrap();
        assert_eq!((read.text, read.created, read.updated), (changed, NOON, NOON + HOUR));
    }
}

async fn an_update_of_no_shop_changes_nothing(w: &World) {
    let shops = &w.storage.catalogue.shops;
    let id = shops.insert(&text("one"), NOON).await.unwrap();
    assert!(!shops.update(ShopId::new(id.get() + 1), &text("other"), NOON).await.unwrap());
    assert_eq!(ids(&shops.by_name("", 100, Page::new(1, 10)).await.unwrap()), [id.get()]);
    assert_eq!(shops.get(id).await.unwrap().unwrap().text, text("one"));
}

async fn lists_are_ordered_and_stable(w: &World) {
    let shops = &w.storage.catalogue.shops;
    for (kind, comments, score) in [(1, 5, 40), (2, 9, 50), (1, 9, 40), (1, 5, 10), (2, 0, 50)] {
        let shop = ShopText { kind: ShopTypeId::new(kind), comments, score, ..text("shop") };
        shops.insert(&shop, NOON).await.unwrap();
    }
    let (all, first, other) = (None, Some(ShopTypeId::new(1)), Some(ShopTypeId::new(404)));
    for (kind, order, page, expected) in [
        (all, ShopOrder::Id, Page::new(1, 10), &[1, 2, 3, 4, 5][..]),
        (all, ShopOrder::Comments, Page::new(1, 10), &[2, 3, 1, 4, 5]),
        (all, ShopOrder::Score, Page::new(1, 10), &[2, 5, 1, 3, 4]),
        (all, ShopOrder::Score, Page::new(2, 2), &[1, 3]),
        (first, ShopOrder::Id, Page::new(1, 2), &[1, 3]),
        (first, ShopOrder::Id, Page::new(2, 2), &[4]),
        (first, ShopOrder::Comments, Page::new(0, 10), &[3, 1, 4]),
        (other, ShopOrder::Id, Page::new(1, 10), &[]),
    ] {
        let list = shops.of_type(kind, order, page).await.unwrap();
        assert_eq!(ids(&list), expected, "{kind:?} {order:?} {page:?}");
    }
}

async fn names_are_found_by_any_part_of_them(w: &World) {
    let shops = &w.storage.catalogue.shops;
    for name in ["103茶餐厅", "KTV 100%", "a_b!c", "茶"] {
        shops.insert(&text(name), NOON).await.unwrap();
    }
    for (part, expected) in [
        ("茶", &[1, 4][..]),
        ("茶餐厅", &[1]),
        ("%", &[2]),
        ("_", &[3]),
        ("!", &[3]),
        ("ktv", &[2]),
        ("咖啡", &[]),
        ("", &[1, 2, 3, 4]),
        ("' OR 1 = 1 --", &[]),
    ] {
        let found = shops.by_name(part, 100, Page::new(1, 10)).await.unwrap();
        assert_eq!(ids(&found), expected, "{part}");
    }
    assert_eq!(ids(&shops.by_name("", 100, Page::new(2, 3)).await.unwrap()), [4]);
    for (max_read, expected) in [(0, &[1][..]), (1, &[1]), (3, &[1]), (4, &[1, 4]), (5, &[1, 4])] {
        let found = shops.by_name("茶", max_read, Page::new(1, 10)).await.unwrap();
        assert_eq!(ids(&found), expected, "of the first {max_read}");
    }
}

async fn shops_among_many_are_ordered_and_paged(w: &World) {
    let shops = &w.storage.catalogue.shops;
    for (comments, score) in [(5, 40), (9, 50), (9, 40), (5, 10), (0, 50)] {
        shops.insert(&ShopText { comments, score, ..text("shop") }, NOON).await.unwrap();
    }
    // More ids than fit one statement, most of them missing.
    let all: Vec<ShopId> = (0..3_000).rev().chain([2, u64::MAX]).map(ShopId::new).collect();
    let some = [4, 2, 99, 2, 1].map(ShopId::new);
    for (among, order, page, expected) in [
        (&all[..], ShopOrder::Id, Page::new(1, 10), &[1, 2, 3, 4, 5][..]),
        (&all, ShopOrder::Comments, Page::new(1, 3), &[2, 3, 1]),
        (&all, ShopOrder::Comments, Page::new(2, 3), &[4, 5]),
        (&all, ShopOrder::Score, Page::new(1, 10), &[2, 5, 1, 3, 4]),
        (&all, ShopOrder::Score, Page::new(3, 3), &[]),
        (&some, ShopOrder::Id, Page::new(1, 10), &[1, 2, 4]),
        (&some, ShopOrder::Score, Page::new(2, 1), &[1]),
        (&[], ShopOrder::Id, Page::new(1, 10), &[]),
    ] {
        let list = shops.among(among, order, page).await.unwrap();
        assert_eq!(ids(&list), expected, "{order:?} {page:?}");
    }
    let whole = shops.among(&some[..1], ShopOrder::Id, Page::new(1, 1)).await.unwrap();
    assert_eq!(whole.into_iter().next(), shops.get(some[0]).await.unwrap());
}

async fn ids_are_listed_page_by_page(w: &World) {
    let shops = &w.storage.catalogue.shops;
    assert_eq!(shops.ids(ShopId::new(0), 9).await.unwrap(), []);
    let mut all = Vec::new();
    for place in 0..5 {
        // Nowhere on earth is a shop too.
        all.push(shops.insert(&ShopText { y: 89.0, ..text(&place.to_string()) }, NOON).await.unwrap());
    }
    assert_eq!(shops.ids(ShopId::new(0), 9).await.unwrap(), all);
    assert_eq!(shops.ids(all[1], 2).await.unwrap(), all[2..4]);
    assert_eq!(shops.ids(all[4], 2).await.unwrap(), []);
    assert_eq!(shops.ids(ShopId::new(u64::MAX), 2).await.unwrap(), []);
}

async fn places_are_listed_page_by_page(w: &World) {
    let shops = &w.storage.catalogue.shops;
    let places = [(0.0, 0.0), (180.0, 85.05), (0.0, 90.0), (181.0, 0.0), (-180.0, -85.05), (0.1 + 0.2, 1e-9)];
    for ((x, y), kind) in places.into_iter().zip(1..) {
        shops.insert(&ShopText { x, y, kind: ShopTypeId::new(kind), ..text("shop") }, NOON).await.unwrap();
    }
    let placed = |id: u64, (x, y)| PlacedShop {
        shop: ShopId::new(id),
        kind: ShopTypeId::new(id),
        at: LatLng::new(x, y).unwrap(),
    };
    let there = [(1, 0), (2, 1), (5, 4), (6, 5)].map(|(id, index)| placed(id, places[index]));
    let places_after = async |after, max| shops.places(ShopId::new(after), max).await.unwrap();
    assert_eq!(places_after(0, 100).await, there);
    assert_eq!(places_after(0, 3).await, there[..3]);
    assert_eq!(places_after(5, 3).await, there[3..]);
    for (after, max) in [(6, 100), (u64::MAX, 100), (0, 0)] {
        assert_eq!(places_after(after, max).await, []);
    }
}

async fn areas_are_where_their_shops_are_the_fullest_first(w: &World) {
    let shops = &w.storage.catalogue.shops;
    assert_eq!(shops.areas(10).await.unwrap(), []);
    for (area, x, y) in [
        ("大关", 120.0, 30.0),
        ("", 1.0, 1.0),
        ("拱宸桥", 119.0, 29.0),
        ("大关", 122.0, 31.0),
        ("a", 5.0, -5.0),
        ("拱宸桥", 119.0, 29.5),
        ("A", -180.0, 85.05),
        ("拱宸桥", 119.0, 30.0),
        ("拱宸桥", 500.0, 30.0),
        ("拱宸桥", 119.0, -86.0),
        ("nowhere", 0.0, 90.0),
    ] {
        shops.insert(&ShopText { area: area.into(), x, y, ..text("shop") }, NOON).await.unwrap();
    }
    let expected =
        [("拱宸桥", 119.0, 29.5, 3), ("大关", 121.0, 30.5, 2), ("A", -180.0, 85.05, 1), ("a", 5.0, -5.0, 1)];
    for max in [10, 4, 2, 0] {
        let areas = shops.areas(max).await.unwrap();
        let names = areas.iter().map(|area| (area.area.as_str(), area.shops)).collect::<Vec<_>>();
        let wanted = &expected[..expected.len().min(max as usize)];
        assert_eq!(names, wanted.iter().map(|(area, _, _, shops)| (*area, *shops)).collect::<Vec<_>>());
        // Means are sums in whatever order.
        let near = |area: &ShopArea, x: f64, y: f64| (area.x - x).abs() < 1e-9 && (area.y - y).abs() < 1e-9;
        assert!(areas.iter().zip(wanted).all(|(area, (_, x, y, _))| near(area, *x, *y)), "{areas:?}");
    }
}

async fn shops_outlive_a_restart(w: &World) {
    let w = w.another().await;
    let id = w.storage.catalogue.shops.insert(&text("one"), NOON).await.unwrap();
    let shop = w.storage.catalogue.shops.get(id).await.unwrap();
    let w = w.reopen().await;
    assert_eq!(w.storage.catalogue.shops.get(id).await.unwrap(), shop);
}
