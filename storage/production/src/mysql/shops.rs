//! [`Shops`] in MySQL.

use std::cmp::Reverse;
use std::collections::HashMap;

use async_trait::async_trait;
use mallbox_storage::backend::holding;
use mallbox_storage::{
    LatLng, Page, PlacedShop, Shop, ShopArea, ShopId, ShopOrder, ShopText, ShopType, ShopTypeEdit,
    ShopTypeId, Shops, StoreError, Timestamp,
};
use mysql_async::{Conn, Params, params};

use super::columns::{Columns, all, execute, first};
use super::database::Database;
use super::errors::MysqlError;
use super::job::boxed;
use super::multi_row::select_by_keys;

pub(super) struct MysqlShops(pub(super) Database);

/// Start of every query for shops; read by [`shop`].
const SELECT: &str =
    "SELECT id, name, type_id, images, area, address, x, y, avg_price, open_hours, sold, comments,
    score, created_ms, updated_ms FROM shops";

#[async_trait]
impl Shops for MysqlShops {
    async fn types(&self) -> Result<Vec<ShopType>, StoreError> {
        let sql = "SELECT id, name, icon, sort FROM shop_types ORDER BY sort, id";
        self.0.read("shop types", |conn| boxed(async move { all(conn, sql, (), shop_type).await })).await
    }

    async fn put_type(&self, kind: &ShopType, now: Timestamp) -> Result<(), StoreError> {
        let sql = "INSERT INTO shop_types (id, name, icon, sort, updated_ms) VALUES (:id, :name, :icon, :sort, :now)
                   ON DUPLICATE KEY UPDATE name = :name, icon = :icon, sort = :sort, updated_ms = :now";
        self.0
            .write_at_once("put shop type", |conn| {
                boxed(async move {
                    let params = params! {
                        "id" => kind.id.get(),
                        "name" => &kind.name,
                        "icon" => &kind.icon,
                        "sort" => kind.sort,
                        "now" => now.as_millis(),
                    };
                    execute(conn, sql, params).await.map(drop)
                })
            })
            .await
    }

    async fn insert_type(
        &self,
        name: &str,
        icon: &str,
        sort: i64,
        now: Timestamp,
    ) -> Result<ShopTypeId, StoreError> {
        let sql = "INSERT INTO shop_types (name, icon, sort, updated_ms) VALUES (?, ?, ?, ?)";
        self.0
            .write_at_once("insert shop type", |conn| {
                boxed(async move {
                    execute(conn, sql, (name, icon, sort, now.as_millis())).await?;
                    Ok(ShopTypeId::new(conn.last_insert_id().unwrap_or_default()))
                })
            })
            .await
    }

    async fn update_type(
        &self,
        kind: ShopTypeId,
        edit: &ShopTypeEdit,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let sql = "UPDATE shop_types SET name = COALESCE(?, name), icon = COALESCE(?, icon), sort = COALESCE(?, sort),
                     updated_ms = ? WHERE id = ?";
        self.0
            .write_at_once("update shop type", |conn| {
                boxed(async move {
                    let edit = (&edit.name, &edit.icon, edit.sort, now.as_millis(), kind.get());
                    Ok(execute(conn, sql, edit).await? > 0)
                })
            })
            .await
    }

    async fn get(&self, which: ShopId) -> Result<Option<Shop>, StoreError> {
        self.0
            .read("shop", |conn| {
                boxed(
                    async move { first(conn, format!("{SELECT} WHERE id = ?"), (which.get(),), shop).await },
                )
            })
            .await
    }

    async fn insert(&self, text: &ShopText, now: Timestamp) -> Result<ShopId, StoreError> {
        let sql = "INSERT INTO shops (id, name, type_id, images, area, address, x, y, avg_price, open_hours, sold, comments,
                     score, imported_comments, imported_score, created_ms, updated_ms)
                   VALUES (:id, :name, :type, :images, :area, :address, :x, :y, :avg_price, :open_hours, :sold, :comments,
                     :score, :comments, :score, :now, :now)";
        self.0
            .write_at_once("insert shop", |conn| {
                boxed(async move {
                    execute(conn, sql, columns(None, text, now)).await?;
                    Ok(ShopId::new(conn.last_insert_id().unwrap_or_default()))
                })
            })
            .await
    }

    async fn update(&self, shop: ShopId, text: &ShopText, now: Timestamp) -> Result<bool, StoreError> {
        let sql = "UPDATE shops SET name = :name, type_id = :type, images = :images, area = :area, address = :address,
                     x = :x, y = :y, avg_price = :avg_price, open_hours = :open_hours, sold = :sold,
                     updated_ms = :now WHERE id = :id";
        Ok(self
            .0
            .write_at_once("update shop", |conn| {
                boxed(async move { execute(conn, sql, columns(Some(shop), text, now)).await })
            })
            .await?
            > 0)
    }

    async fn of_type(
        &self,
        kind: Option<ShopTypeId>,
        order: ShopOrder,
        page: Page,
    ) -> Result<Vec<Shop>, StoreError> {
        let filter = if kind.is_some() { "type_id = :type" } else { ":type IS NULL" };
        let order = match order {
            ShopOrder::Id => "id",
            ShopOrder::Comments => "comments DESC, id",
            ShopOrder::Score => "score DESC, id",
        };
        let sql: &str = &format!("{SELECT} WHERE {filter} ORDER BY {order} LIMIT :size OFFSET :skipped");
        self.0
            .read("shops of type", |conn| {
                boxed(async move {
                    let kind = kind.map(ShopTypeId::get);
                    let params =
                        params! { "type" => kind, "size" => page.size(), "skipped" => page.skipped() };
                    all(conn, sql, params, shop).await
                })
            })
            .await
    }

    async fn by_name(&self, part: &str, max_read: u32, page: Page) -> Result<Vec<Shop>, StoreError> {
        let (pattern, before_last): (&str, u32) = (&holding(part), max_read.saturating_sub(1));
        let sql: &str = &format!(
            "{SELECT} WHERE id <= COALESCE((SELECT id FROM shops ORDER BY id LIMIT 1 OFFSET :before_last), {})
             AND LOWER(name) LIKE LOWER(:part) ESCAPE '!' ORDER BY id LIMIT :size OFFSET :skipped",
            u64::MAX
        );
        self.0
            .read("shops by name", |conn| {
                boxed(async move {
                    let params = params! {
                        "part" => pattern, "before_last" => before_last,
                        "size" => page.size(), "skipped" => page.skipped(),
                    };
                    all(conn, sql, params, shop).await
                })
            })
            .await
    }

    async fn among(&self, shops: &[ShopId], order: ShopOrder, page: Page) -> Result<Vec<Shop>, StoreError> {
        let mut ids: Vec<u64> = shops.iter().map(|shop| shop.get()).collect();
        ids.sort_unstable();
        ids.dedup();
        let ids: &[u64] = &ids;
        self.0.read("shops among", |conn| boxed(page_among(conn, ids, order, page))).await
    }

    async fn areas(&self, max: u32) -> Result<Vec<ShopArea>, StoreError> {
        let sql = "SELECT area, AVG(x), AVG(y), COUNT(*) AS shops FROM shops
                   WHERE area <> '' AND ABS(x) <= ? AND ABS(y) <= ?
                   GROUP BY area ORDER BY shops DESC, area LIMIT ?";
        let on_earth = (LatLng::MAX_LNG, LatLng::MAX_LAT, max);
        self.0
            .look("areas of shops", |conn| {
                boxed(async move {
                    all(conn, sql, on_earth, |row| {
                        Ok(ShopArea {
                            area: row.next()?,
                            x: row.next()?,
                            y: row.next()?,
                            shops: row.count()?,
                        })
                    })
                    .await
                })
            })
            .await
    }

    async fn ids(&self, after: ShopId, max: u32) -> Result<Vec<ShopId>, StoreError> {
        let sql = "SELECT id FROM shops WHERE id > ? ORDER BY id LIMIT ?";
        let key = (after.get(), max);
        self.0
            .read("ids of shops", |conn| {
                boxed(async move { all(conn, sql, key, |row| Ok(ShopId::new(row.next()?))).await })
            })
            .await
    }

    async fn places(&self, after: ShopId, max: u32) -> Result<Vec<PlacedShop>, StoreError> {
        let sql =
            "SELECT id, type_id, x, y FROM shops WHERE id > :after AND ABS(x) <= :lng AND ABS(y) <= :lat
                   ORDER BY id LIMIT :max";
        let params = params! {
            "after" => after.get(),
            "lng" => LatLng::MAX_LNG,
            "lat" => LatLng::MAX_LAT,
            "max" => max,
        };
        let found: Vec<Option<PlacedShop>> =
            self.0.read("places of shops", |conn| boxed(all(conn, sql, params.clone(), placed))).await?;
        Ok(found.into_iter().flatten().collect())
    }
}

/// Returns the column that sorts a list, in descending order.
fn key(order: ShopOrder) -> &'static str {
    match order {
        ShopOrder::Id => "0",
        ShopOrder::Comments => "comments",
        ShopOrder::Score => "score",
    }
}

/// Returns a page of the shops in `ids`. Sorts all ids by the key column first, and reads whole rows only for
/// the page: `ids` may hold thousands, and a page few.
async fn page_among(
    conn: &mut Conn,
    ids: &[u64],
    order: ShopOrder,
    page: Page,
) -> Result<Vec<Shop>, MysqlError> {
    let keys = format!("SELECT {}, id FROM shops WHERE id IN ({{keys}})", key(order));
    let read = |row: &mut Columns| Ok((Reverse(row.next::<i64>()?), row.next::<u64>()?));
    let mut known = select_by_keys(conn, &keys, &[], ids, read).await?;
    known.sort_unstable();
    let skipped = usize::try_from(page.skipped()).unwrap_or(usize::MAX);
    let known = known.into_iter().map(|(_, id)| id).skip(skipped).take(page.size() as usize);
    let ids: Vec<u64> = known.collect();
    let places: HashMap<u64, usize> = ids.iter().enumerate().map(|(place, id)| (*id, place)).collect();
    let mut found =
        select_by_keys(conn, &format!("{SELECT} WHERE id IN ({{keys}})"), &[], &ids, shop).await?;
    found.sort_unstable_by_key(|shop| places.get(&shop.id.get()).copied());
    Ok(found)
}

fn placed(row: &mut Columns) -> Result<Option<PlacedShop>, MysqlError> {
    let (shop, kind) = (ShopId::new(row.next()?), ShopTypeId::new(row.next()?));
    Ok(LatLng::new(row.next()?, row.next()?).map(|at| PlacedShop { shop, kind, at }))
}

/// Returns the parameters of a shop's columns. Without an id, MySQL generates the id.
fn columns(shop: Option<ShopId>, text: &ShopText, now: Timestamp) -> Params {
    params! {
        "id" => shop.map(ShopId::get),
        "name" => &text.name,
        "type" => text.kind.get(),
        "images" => &text.images,
        "area" => &text.area,
        "address" => &text.address,
        "x" => text.x,
        "y" => text.y,
        "avg_price" => text.avg_price,
        "open_hours" => &text.open_hours,
        "sold" => text.sold,
        "comments" => text.comments,
        "score" => text.score,
        "now" => now.as_millis(),
    }
}

fn shop(row: &mut Columns) -> Result<Shop, MysqlError> {
    Ok(Shop {
        id: ShopId::new(row.next()?),
        text: ShopText {
            name: row.next()?,
            kind: ShopTypeId::new(row.next()?),
            images: row.next()?,
            area: row.next()?,
            address: row.next()?,
            x: row.next()?,
            y: row.next()?,
            avg_price: row.next()?,
            open_hours: row.next()?,
            sold: row.next()?,
            comments: row.next()?,
            score: row.next()?,
        },
        created: row.time()?,
        updated: row.time()?,
    })
}

fn shop_type(row: &mut Columns) -> Result<ShopType, MysqlError> {
    Ok(ShopType { id: ShopTypeId::new(row.next()?), name: row.next()?, icon: row.next()?, sort: row.next()? })
}
