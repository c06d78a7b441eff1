//! Shops and their types: `/shop/…` and `/shop-type/list`.

use std::sync::Arc;

use axum::extract::State;
use jiff::tz::TimeZone;
use mallbox_storage::{Shop, ShopId, ShopOrder, ShopType, ShopTypeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::App;
use super::describe::Calls;
use super::envelope::{Answer, Reply};
use super::extract::{Json, Now, Operator, Path, Query};
use crate::language::both;
use crate::mall::operator::{By, Deed, act};
use crate::mall::shops::ShopEdit;
use crate::mall::{Mistake, wall_time};

/// The routes of this area.
pub fn routes() -> Calls {
    Calls::of(both("店铺", "Shops"))
        .get("/shop-type/list", types, both("店铺类型", "Kinds of shops"))
        .get("/shop/{id}", one, both("一家店铺", "One shop"))
        .post("/shop", add, both("新增店铺，返回编号", "Add a shop; answers its id"))
        .put("/shop", update, both("修改店铺", "Change a shop; what is left out stays"))
        .get("/shop/of/type", of_type, both("某类店铺，每页5家", "Shops of a kind, 5 a page"))
        .get("/shop/of/name", by_name, both("按名称找店铺，每页10家", "Shops by name, 10 a page"))
}

#[derive(Serialize, JsonSchema)]
struct TypeAnswer {
    id: u64,
    #[schemars(example = &"美食")]
    name: String,
    #[schemars(example = &"/types/ms.svg")]
    icon: String,
    sort: i64,
}

impl From<ShopType> for TypeAnswer {
    fn from(kind: ShopType) -> Self {
        Self { id: kind.id.get(), name: kind.name, icon: kind.icon, sort: kind.sort }
    }
}

async fn types(State(app): State<App>) -> Reply<Vec<TypeAnswer>> {
    let types = app.shops.types().await?;
    Ok(Answer::ok(types.into_iter().map(TypeAnswer::from).collect::<Vec<_>>()))
}

/// A shop as pages know it. Texts are always there: pages split `images` without looking.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ShopAnswer {
    id: u64,
    #[schemars(example = &"103茶餐厅")]
    name: String,
    type_id: u64,
    /// Paths of pictures, between commas.
    #[schemars(example = &"/imgs/shops/1-1.svg")]
    images: String,
    #[schemars(example = &"大关")]
    area: String,
    #[schemars(example = &"金华路29号")]
    address: String,
    /// Degrees east.
    #[schemars(example = 120.149_192)]
    x: f64,
    /// Degrees north.
    #[schemars(example = 30.316_078)]
    y: f64,
    /// Yuan a head.
    #[schemars(example = 80)]
    #[serde(skip_serializing_if = "Option::is_none")]
    avg_price: Option<i64>,
    sold: i64,
    comments: i64,
    /// Ten times the stars.
    #[schemars(example = 37)]
    score: i64,
    #[schemars(example = &"10:00-22:00")]
    open_hours: String,
    #[schemars(example = &"2026-11-21T10:09:17")]
    create_time: String,
    #[schemars(example = &"2026-11-21T10:09:17")]
    update_time: String,
}

impl ShopAnswer {
    fn new(shop: Shop, zone: &TimeZone) -> Self {
        let Shop { id, text, created, updated } = shop;
        Self {
            id: id.get(),
            name: text.name,
            type_id: text.kind.get(),
            images: text.images,
            area: text.area,
            address: text.address,
            x: text.x,
            y: text.y,
            avg_price: text.avg_price,
            sold: text.sold,
            comments: text.comments,
            score: text.score,
            open_hours: text.open_hours,
            create_time: wall_time::text(created, zone),
            update_time: wall_time::text(updated, zone),
        }
    }

    fn list(shops: Vec<Shop>, zone: &TimeZone) -> Answer<Vec<Self>> {
        Answer::ok(shops.into_iter().map(|shop| Self::new(shop, zone)).collect::<Vec<_>>())
    }
}

async fn one(State(app): State<App>, Path(id): Path<u64>) -> Reply<ShopAnswer> {
    let shop = app.shops.get(ShopId::new(id)).await?;
    Ok(Answer::ok(ShopAnswer::new(shop, &app.context.zone)))
}

/// What an operator sends about a shop. The `id` counts in `PUT` alone. (Not two structs, one flattened into the other:
/// serde then no longer knows which field is wrong.)
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ShopBody {
    id: Option<u64>,
    #[schemars(example = &"103茶餐厅")]
    name: Option<String>,
    type_id: Option<u64>,
    /// Paths of pictures, between commas.
    #[schemars(example = &"/imgs/shops/1-1.svg")]
    images: Option<String>,
    #[schemars(example = &"大关")]
    area: Option<String>,
    #[schemars(example = &"金华路29号")]
    address: Option<String>,
    /// Degrees east.
    #[schemars(example = 120.149_192)]
    x: Option<f64>,
    /// Degrees north.
    #[schemars(example = 30.316_078)]
    y: Option<f64>,
    /// Yuan a head.
    #[schemars(example = 80)]
    avg_price: Option<i64>,
    sold: Option<i64>,
    comments: Option<i64>,
    /// Ten times the stars.
    #[schemars(example = 37)]
    score: Option<i64>,
    #[schemars(example = &"10:00-22:00")]
    open_hours: Option<String>,
}

impl From<ShopBody> for ShopEdit {
    fn from(body: ShopBody) -> Self {
        Self {
            name: body.name,
            kind: body.type_id.map(ShopTypeId::new),
            images: body.images,
            area: body.area,
            address: body.address,
            x: body.x,
            y: body.y,
            avg_price: body.avg_price,
            open_hours: body.open_hours,
            sold: body.sold,
            comments: body.comments,
            score: body.score,
        }
    }
}

async fn add(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Json(body): Json<ShopBody>,
) -> Reply<u64> {
    let deed = Deed { action: "shop.add", subject: "shops".to_owned(), detail: Value::Null };
    let mall = Arc::clone(&app);
    let work = async move { mall.shops.add(&body.into(), now).await };
    Ok(Answer::ok(act(&app.audit, By::operator(user, now), deed, work).await?.get()))
}

async fn update(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Json(body): Json<ShopBody>,
) -> Reply {
    let shop = body.id.ok_or(Mistake::Missing("id"))?;
    let deed = Deed { action: "shop.edit", subject: format!("shop {shop}"), detail: Value::Null };
    let mall = Arc::clone(&app);
    let work = async move { mall.shops.update(ShopId::new(shop), &body.into(), now).await };
    act(&app.audit, By::operator(user, now), deed, work).await?;
    Ok(Answer::done())
}

/// `x` and `y` are taken and not looked at yet: as long as the mall has no index of places, the answer is the same
/// with them as without, and no shop has a `distance`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct OfType {
    /// 0 or absent: all.
    #[schemars(example = 1)]
    type_id: Option<u64>,
    /// The page, from 1.
    #[schemars(example = 1)]
    current: Option<u32>,
    /// `comments` or `score`.
    #[schemars(example = &"score")]
    sort_by: Option<String>,
}

async fn of_type(State(app): State<App>, Query(query): Query<OfType>) -> Reply<Vec<ShopAnswer>> {
    let kind = query.type_id.filter(|id| *id != 0).map(ShopTypeId::new);
    let order = match query.sort_by.as_deref() {
        Some("comments") => ShopOrder::Comments,
        Some("score") => ShopOrder::Score,
        _ => ShopOrder::Id,
    };
    let shops = app.shops.of_type(kind, order, query.current.unwrap_or(1)).await?;
    Ok(ShopAnswer::list(shops, &app.context.zone))
}

#[derive(Deserialize, JsonSchema)]
struct ByName {
    /// Empty lists all.
    #[schemars(example = &"茶")]
    #[serde(default)]
    name: String,
    /// The page, from 1.
    #[schemars(example = 1)]
    current: Option<u32>,
}

async fn by_name(State(app): State<App>, Query(query): Query<ByName>) -> Reply<Vec<ShopAnswer>> {
    let shops = app.shops.by_name(&query.name, query.current.unwrap_or(1)).await?;
    Ok(ShopAnswer::list(shops, &app.context.zone))
}
