//! Shops of the mall, under the path `/shop/…`.

use std::sync::Arc;

use axum::extract::State;
use jiff::tz::TimeZone;
use mallbox_storage::{Shop, ShopArea, ShopId, ShopOrder, ShopTypeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::http::App;
use crate::http::api::people::visits::Visitor;
use crate::http::describe::Calls;
use crate::http::request::extract::{Json, Now, Operator, Path, Query};
use crate::http::request::if_none_match::IfNoneMatch;
use crate::http::response::caller::Caller;
use crate::http::response::envelope::{Answer, Reply};
use crate::http::response::picture_list::PictureList;
use crate::language::both;
use crate::mall::base::{AuditedAction, By, run_audited, wall_time};
use crate::mall::catalogue::shops::{NearbyRequest, ShopEdit, ShopNearby};
use crate::mall::{InputError, Refusal};

/// Returns the routes of shops.
pub fn routes() -> Calls {
    Calls::of(both("店铺", "Shops"))
        .get("/shop/{id}", one, both("一家店铺", "One shop"))
        .post("/shop", add, both("新增店铺，返回编号", "Add a shop; returns the id"))
        .explained(both(
            "图片可以是上传的，也可以是`/imgs`之下的任何图片。",
            "Pictures are uploads or any file below `/imgs`.",
        ))
        .put("/shop", update, both("修改店铺", "Change a shop"))
        .explained(both("没有给出的字段保持不变。", "Omitted fields stay unchanged."))
        .get("/shop/of/type", of_type, both("某类店铺，每页5家", "Shops of a type, 5 a page"))
        .explained(both(
            "带`x`和`y`时只有5公里内的店铺，由近到远，或按`sortBy=comments`、`sortBy=score`排序，\
                各带以米为单位的`distance`。",
            "With `x` and `y` only shops within 5 km, nearest first or by `sortBy=comments` or \
                `sortBy=score`, each with `distance` in metres.",
        ))
        .get(
            "/shop/near",
            near,
            both("附近的店铺，由近到远，每页10家", "Shops around a place, nearest first, 10 a page"),
        )
        .explained(both("最远100公里，最多最近的5,000家。", "Up to 100 km, and at most the nearest 5,000."))
        .get(
            "/shop/areas",
            areas,
            both("商圈及其位置，店铺多的在前", "Neighbourhoods and positions, most shops first"),
        )
        .explained(both(
            "供小地图使用：最多100个商圈，各有店铺的中心位置和数量。数据有几分钟的延迟，\
                最多半小时。",
            "For a small map: at most 100, each with the centre and the number of the shops. The \
                data is some minutes old, half an hour at most.",
        ))
        .get("/shop/of/name", by_name, both("按名称找店铺，每页10家", "Shops by name, 10 a page"))
        .explained(both(
            "店铺超过5万家时只查找最早的5万家。",
            "With more than 50,000 shops only the first 50,000 are searched.",
        ))
}

/// A neighbourhood, for a small map.
#[derive(Serialize, JsonSchema)]
struct AreaAnswer {
    #[schemars(example = &"大关")]
    area: String,
    /// Longitude of the centre of the area's shops, degrees east, to a metre.
    #[schemars(example = 120.151_82)]
    x: f64,
    /// Latitude of the centre, degrees north.
    #[schemars(example = 30.325_51)]
    y: f64,
    /// Number of shops in the area.
    #[schemars(example = 12)]
    shops: u64,
}

impl From<ShopArea> for AreaAnswer {
    fn from(of: ShopArea) -> Self {
        let to_a_metre = |degrees: f64| (degrees * 100_000.0).round() / 100_000.0;
        Self { area: of.area, x: to_a_metre(of.x), y: to_a_metre(of.y), shops: of.shops }
    }
}

/// Lists at most 100 areas, from a cache some minutes old.
async fn areas(State(app): State<App>, Now(now): Now, known: IfNoneMatch) -> Reply<Vec<AreaAnswer>> {
    let areas = app.shops.areas(now).await?;
    Ok(known.answer(Answer::ok(areas.into_iter().map(AreaAnswer::from).collect::<Vec<_>>())))
}

/// A shop as the pages expect it. Texts are never absent: pages split `images` without a check.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ShopAnswer {
    id: u64,
    #[schemars(example = &"103茶餐厅")]
    name: String,
    type_id: u64,
    /// Paths of pictures, separated by commas.
    #[schemars(example = &"/imgs/shops/1-1.svg")]
    images: PictureList,
    #[schemars(example = &"大关")]
    area: String,
    #[schemars(example = &"金华路29号")]
    address: String,
    /// Longitude, degrees east.
    #[schemars(example = 120.149_192)]
    x: f64,
    /// Latitude, degrees north.
    #[schemars(example = 30.316_078)]
    y: f64,
    /// Average price in yuan per person.
    #[schemars(example = 80)]
    #[serde(skip_serializing_if = "Option::is_none")]
    avg_price: Option<i64>,
    sold: i64,
    comments: i64,
    /// Rating in tenths of a star.
    #[schemars(example = 37)]
    score: i64,
    #[schemars(example = &"10:00-22:00")]
    open_hours: String,
    #[schemars(example = &"2026-11-21T10:09:17")]
    create_time: String,
    #[schemars(example = &"2026-11-21T10:09:17")]
    update_time: String,
    /// Distance in metres, for a search around a place.
    #[schemars(example = 1_204.5)]
    #[serde(skip_serializing_if = "Option::is_none")]
    distance: Option<f64>,
}

impl ShopAnswer {
    fn new(shop: &Shop, zone: &TimeZone) -> Self {
        let Shop { id, ref text, created, updated } = *shop;
        Self {
            id: id.get(),
            name: text.name.clone(),
            type_id: text.kind.get(),
            images: text.images.clone().into(),
            area: text.area.clone(),
            address: text.address.clone(),
            x: text.x,
            y: text.y,
            avg_price: text.avg_price,
            sold: text.sold,
            comments: text.comments,
            score: text.score,
            open_hours: text.open_hours.clone(),
            create_time: wall_time::text(created, zone),
            update_time: wall_time::text(updated, zone),
            distance: None,
        }
    }

    fn list_near(shops: Vec<ShopNearby>, zone: &TimeZone) -> Answer<Vec<Self>> {
        let nearby_shops = shops.into_iter().map(|ShopNearby { shop, metres }| {
            // Rounded to centimetres: locations are no more accurate.
            let distance = Some((metres * 100.0).round() / 100.0);
            Self { distance, ..Self::new(&shop, zone) }
        });
        Answer::ok(nearby_shops.collect::<Vec<_>>())
    }

    fn list(shops: Vec<Shop>, zone: &TimeZone) -> Answer<Vec<Self>> {
        Answer::ok(shops.iter().map(|shop| Self::new(shop, zone)).collect::<Vec<_>>())
    }
}

async fn one(
    State(app): State<App>,
    Path(id): Path<u64>,
    Now(now): Now,
    known: IfNoneMatch,
    visiting: Visitor,
) -> Reply<ShopAnswer> {
    let shop = app.shops.get(ShopId::new(id), now).await?;
    visiting.saw(&app, Some(shop.id), now);
    Ok(known.answer(Answer::ok(ShopAnswer::new(&shop, &app.context.zone))))
}

/// A shop from an operator. Only `PUT` reads the `id`. (Not two structs with one flattened into the other:
/// serde could then no longer name the wrong field.)
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ShopBody {
    id: Option<u64>,
    #[schemars(example = &"103茶餐厅")]
    name: Option<String>,
    type_id: Option<u64>,
    /// Paths of pictures, separated by commas.
    #[schemars(example = &"/imgs/shops/1-1.svg")]
    images: Option<String>,
    #[schemars(example = &"大关")]
    area: Option<String>,
    #[schemars(example = &"金华路29号")]
    address: Option<String>,
    /// Longitude, degrees east.
    #[schemars(example = 120.149_192)]
    x: Option<f64>,
    /// Latitude, degrees north.
    #[schemars(example = 30.316_078)]
    y: Option<f64>,
    /// Average price in yuan per person.
    #[schemars(example = 80)]
    avg_price: Option<i64>,
    sold: Option<i64>,
    comments: Option<i64>,
    /// Rating in tenths of a star.
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
    let action = AuditedAction { action: "shop.add", subject: "shops".to_owned(), detail: Value::Null };
    let mall = Arc::clone(&app);
    let work = async move { mall.shops.add(&body.into(), now).await };
    Ok(Answer::ok(run_audited(&app.audit, By::operator(user, now), action, work).await?.get()))
}

async fn update(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Json(body): Json<ShopBody>,
) -> Reply {
    let shop = body.id.ok_or(InputError::Missing("id"))?;
    let action = AuditedAction { action: "shop.edit", subject: format!("shop {shop}"), detail: Value::Null };
    let mall = Arc::clone(&app);
    let work = async move { mall.shops.update(ShopId::new(shop), &body.into(), now).await };
    run_audited(&app.audit, By::operator(user, now), action, work).await?;
    Ok(Answer::done())
}

/// With `x` and `y`: shops within 5 km, nearest first unless sorted otherwise, each with its `distance`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct OfType {
    /// The shop type; 0 or absent: all.
    #[schemars(example = 1)]
    type_id: Option<u64>,
    /// The page, from 1.
    #[schemars(example = 1)]
    current: Option<u32>,
    /// Degrees east, -180 to 180.
    #[schemars(example = 120.149_993)]
    x: Option<f64>,
    /// Degrees north, -85.05 to 85.05.
    #[schemars(example = 30.334_229)]
    y: Option<f64>,
    /// `comments` or `score`.
    #[schemars(example = &"score")]
    sort_by: Option<String>,
}

impl OfType {
    /// Returns the place to search around, if any.
    fn vicinity(&self) -> Result<Option<NearbyRequest>, Refusal> {
        // hm-dianping ignores a place with only one coordinate.
        let lacks_half = self.x.is_none() != self.y.is_none() && Caller::is_original();
        if lacks_half || self.x.is_none() && self.y.is_none() {
            return Ok(None);
        }
        NearbyRequest::new(self.x, self.y, None, kind(self.type_id)).map(Some)
    }
}

/// Returns the shop type; 0 stands for all types.
fn kind(id: Option<u64>) -> Option<ShopTypeId> {
    id.filter(|id| *id != 0).map(ShopTypeId::new)
}

async fn of_type(
    State(app): State<App>,
    Now(now): Now,
    known: IfNoneMatch,
    Query(query): Query<OfType>,
) -> Reply<Vec<ShopAnswer>> {
    let (page, zone) = (query.current.unwrap_or(1), &app.context.zone);
    let order = match query.sort_by.as_deref() {
        Some("comments") => Some(ShopOrder::Comments),
        Some("score") => Some(ShopOrder::Score),
        _ => None,
    };
    if let Some(vicinity) = query.vicinity()? {
        let shops = app.shops.of_type_near(&vicinity, order, page, now).await?;
        return Ok(known.answer(ShopAnswer::list_near(shops, zone)));
    }
    let shops = app.shops.of_type(kind(query.type_id), order.unwrap_or(ShopOrder::Id), page).await?;
    Ok(known.answer(ShopAnswer::list(shops, zone)))
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Near {
    /// Degrees east, -180 to 180. Required.
    #[schemars(example = 120.149_993)]
    x: Option<f64>,
    /// Degrees north, -85.05 to 85.05. Required.
    #[schemars(example = 30.334_229)]
    y: Option<f64>,
    /// Radius in metres, up to 100,000; default 5,000.
    #[schemars(example = 5_000.0)]
    radius: Option<f64>,
    /// The shop type; 0 or absent: all.
    #[schemars(example = 1)]
    type_id: Option<u64>,
    /// The page, from 1.
    #[schemars(example = 1)]
    current: Option<u32>,
}

async fn near(
    State(app): State<App>,
    Now(now): Now,
    known: IfNoneMatch,
    Query(query): Query<Near>,
) -> Reply<Vec<ShopAnswer>> {
    let vicinity = NearbyRequest::new(query.x, query.y, query.radius, kind(query.type_id))?;
    let shops = app.shops.near(&vicinity, query.current.unwrap_or(1), now).await?;
    Ok(known.answer(ShopAnswer::list_near(shops, &app.context.zone)))
}

#[derive(Deserialize, JsonSchema)]
struct ByName {
    /// Part of the name; empty lists all shops.
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
