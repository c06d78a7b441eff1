//! Shops and types of shops.

use mallbox::mall::catalogue::shops::ShopEdit;
use mallbox::mall::{InputError, Refusal};
use mallbox_storage::{ShopId, ShopOrder, ShopTypeId};

use super::world::{World, mistake, refusal, world};

fn shop(name: &str, kind: u64) -> ShopEdit {
    ShopEdit {
        name: Some(name.to_owned()),
        kind: Some(ShopTypeId::new(kind)),
        x: Some(120.149993),
        y: Some(30.334229),
        ..ShopEdit::default()
    }
}

async fn added(w: &World, edit: &ShopEdit) -> ShopId {
    w.shops.add(edit, w.now()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn types_are_listed() {
    let w = world().await;
    let names: Vec<String> =
        w.shops.types(w.now()).await.unwrap().into_iter().map(|kind| kind.name).collect();
    assert_eq!(names, ["美食", "KTV"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shop_is_found_as_it_was_written() {
    let w = world().await;
    let edit = ShopEdit {
        area: Some("大关".into()),
        avg_price: Some(80),
        score: Some(37),
        ..shop("<b>103</b>茶餐厅", 1)
    };
    let id = added(&w, &edit).await;
    let before = w.shops.get(id, w.now()).await.unwrap();
    assert_eq!((before.text.name.as_str(), before.text.area.as_str()), ("<b>103</b>茶餐厅", "大关"));
    assert_eq!((before.created, before.updated), (w.now(), w.now()));

    w.advance_ms(1000);
    let change = ShopEdit { score: Some(40), avg_price: Some(90), ..ShopEdit::default() };
    w.shops.update(id, &change, w.now()).await.unwrap();
    let after = w.shops.get(id, w.now()).await.unwrap();
    assert_eq!((after.text.avg_price, &after.text.area), (Some(90), &before.text.area));
    assert_eq!(after.text.score, 37, "it follows from reviews");
    assert_eq!((after.created, after.updated), (before.created, w.now()));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_is_named() {
    let w = world().await;
    let nowhere = ShopId::new(99);
    assert_eq!(refusal(w.shops.get(nowhere, w.now()).await), Refusal::NotFound("shop"));
    assert_eq!(refusal(w.shops.update(nowhere, &shop("x", 1), w.now()).await), Refusal::NotFound("shop"));
    assert_eq!(refusal(w.shops.add(&shop("x", 9), w.now()).await), Refusal::NotFound("shop type"));
    let id = added(&w, &shop("x", 1)).await;
    assert_eq!(refusal(w.shops.update(id, &shop("x", 9), w.now()).await), Refusal::NotFound("shop type"));
    assert_eq!(mistake(w.shops.add(&shop("", 1), w.now()).await), InputError::Missing("name"));
    assert_eq!(w.shops.get(id, w.now()).await.unwrap().text.kind, ShopTypeId::new(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn shops_of_a_type_come_five_a_page() {
    let w = world().await;
    for n in 0..7 {
        let edit = ShopEdit { comments: Some(n % 3), score: Some(10 + n), ..shop(&format!("吃{n}"), 1) };
        added(&w, &edit).await;
    }
    added(&w, &ShopEdit { comments: Some(9), ..shop("唱", 2) }).await;
    let ids = async |kind: Option<u64>, order, page| -> Vec<u64> {
        let shops = w.shops.of_type(kind.map(ShopTypeId::new), order, page).await.unwrap();
        shops.into_iter().map(|shop| shop.id.get()).collect()
    };
    assert_eq!(ids(Some(1), ShopOrder::Id, 1).await, [1, 2, 3, 4, 5]);
    assert_eq!(ids(Some(1), ShopOrder::Id, 0).await, [1, 2, 3, 4, 5]);
    assert_eq!(ids(Some(1), ShopOrder::Id, 2).await, [6, 7]);
    assert_eq!(ids(Some(1), ShopOrder::Id, 3).await, [0_u64; 0]);
    assert_eq!(ids(Some(1), ShopOrder::Comments, 1).await, [3, 6, 2, 5, 1]);
    assert_eq!(ids(Some(1), ShopOrder::Score, 1).await, [7, 6, 5, 4, 3]);
    assert_eq!(ids(None, ShopOrder::Comments, 1).await, [8, 3, 6, 2, 5]);
    assert_eq!(ids(Some(9), ShopOrder::Id, 1).await, [0_u64; 0]);
    assert_eq!(ids(None, ShopOrder::Id, u32::MAX).await, [0_u64; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn shops_by_name_come_ten_a_page() {
    let w = world().await;
    for n in 0..12 {
        added(&w, &shop(&format!("茶餐厅{n}"), 1)).await;
    }
    added(&w, &shop("100%_KTV", 2)).await;
    let names = async |part: &str, page| -> usize { w.shops.by_name(part, page).await.unwrap().len() };
    assert_eq!((names("", 1).await, names("", 2).await), (10, 3));
    assert_eq!((names("茶", 1).await, names("茶", 2).await), (10, 2));
    assert_eq!(names(" KTV ", 1).await, 1);
    assert_eq!(names("%_", 1).await, 1, "what SQL reads as any text is only itself");
    assert_eq!(names("%", 1).await, 1);
    assert_eq!(names("'; DROP TABLE tb_shop; --", 1).await, 0);
    assert_eq!(names(&"x".repeat(100_000), 1).await, 0);
}
