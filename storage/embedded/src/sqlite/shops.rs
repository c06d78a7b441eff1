//! The [`Shops`] port on SQLite.

use async_trait::async_trait;
use mallbox_storage::backend::holding;
use mallbox_storage::{
    LatLng, Page, PlacedShop, Shop, ShopArea, ShopId, ShopOrder, ShopText, ShopType, ShopTypeEdit,
    ShopTypeId, Shops, StoreError, Timestamp,
};
use rusqlite::{Connection, OptionalExtension as _, Row, named_params, params};

use super::columns::{after, get_count, get_id, get_time, id};
use super::{Database, shop_ratings};

pub(crate) struct EmbeddedShops(Database);

impl EmbeddedShops {
    pub(crate) fn new(database: Database) -> Self {
        Self(database)
    }
}

/// Head of every query for shops; [`shop`] reads the columns.
const SELECT: &str =
    "SELECT id, name, type_id, images, area, address, x, y, avg_price, open_hours, sold, comments,
    score, created_ms, updated_ms FROM shops";

/// Returns the places of all shops with valid coordinates. Blocks: half a second for a million.
pub(crate) fn places(database: &Database) -> Result<Vec<PlacedShop>, StoreError> {
    database.read_blocking("places of shops", |conn| places_after(conn, ShopId::new(0), -1))
}

/// Returns at most `max` places after `shop`; a negative `max` means no limit.
fn places_after(conn: &Connection, shop: ShopId, max: i64) -> rusqlite::Result<Vec<PlacedShop>> {
    let sql = "SELECT id, type_id, x, y FROM shops WHERE id > ?1
               AND abs(x) <= ?3 AND abs(y) <= ?4 ORDER BY id LIMIT ?2";
    let mut statement = conn.prepare_cached(sql)?;
    let rows =
        statement.query_map(params![after(shop.get()), max, LatLng::MAX_LNG, LatLng::MAX_LAT], placed)?;
    rows.filter_map(Result::transpose).collect()
}

fn placed(row: &Row<'_>) -> rusqlite::Result<Option<PlacedShop>> {
    let (shop, kind) = (ShopId::new(get_id(row, 0)?), ShopTypeId::new(get_id(row, 1)?));
    Ok(LatLng::new(row.get(2)?, row.get(3)?).map(|at| PlacedShop { shop, kind, at }))
}

/// Returns the `ORDER BY` terms of a list.
fn order_by(order: ShopOrder) -> &'static str {
    match order {
        ShopOrder::Id => "id",
        ShopOrder::Comments => "comments DESC, id",
        ShopOrder::Score => "score DESC, id",
    }
}

#[async_trait]
impl Shops for EmbeddedShops {
    async fn types(&self) -> Result<Vec<ShopType>, StoreError> {
        let job = |conn: &Connection| {
            conn.prepare_cached("SELECT id, name, icon, sort FROM shop_types ORDER BY sort, id")?
                .query_map([], shop_type)?
                .collect()
        };
        self.0.read("shop types", job).await
    }

    async fn put_type(&self, kind: &ShopType, now: Timestamp) -> Result<(), StoreError> {
        let kind = kind.clone();
        let job = move |conn: &Connection| {
            conn.prepare_cached(
                "INSERT INTO shop_types (id, name, icon, sort, updated_ms) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (id) DO UPDATE SET name = excluded.name, icon = excluded.icon, sort = excluded.sort,
                   updated_ms = excluded.updated_ms",
            )?
            .execute(params![id(kind.id.get()), kind.name, kind.icon, kind.sort, now.as_millis()])
            .map(drop)
        };
        self.0.write("put shop type", job).await
    }

    async fn insert_type(
        &self,
        name: &str,
        icon: &str,
        sort: i64,
        now: Timestamp,
    ) -> Result<ShopTypeId, StoreError> {
        let (name, icon) = (name.to_owned(), icon.to_owned());
        let job = move |conn: &Connection| {
            conn.prepare_cached(
                "INSERT INTO shop_types (name, icon, sort, updated_ms) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![name, icon, sort, now.as_millis()])?;
            Ok(ShopTypeId::new(conn.last_insert_rowid().cast_unsigned()))
        };
        self.0.write("insert shop type", job).await
    }

    async fn update_type(
        &self,
        kind: ShopTypeId,
        edit: &ShopTypeEdit,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let edit = edit.clone();
        let job = move |conn: &Connection| {
            let changed = conn
                .prepare_cached(
                    "UPDATE shop_types SET name = COALESCE(?2, name), icon = COALESCE(?3, icon),
                       sort = COALESCE(?4, sort), updated_ms = ?5 WHERE id = ?1",
                )?
                .execute(params![id(kind.get()), edit.name, edit.icon, edit.sort, now.as_millis()])?;
            Ok(changed > 0)
        };
        self.0.write("update shop type", job).await
    }

    async fn get(&self, which: ShopId) -> Result<Option<Shop>, StoreError> {
        let job = move |conn: &Connection| {
            conn.prepare_cached(&format!("{SELECT} WHERE id = ?1"))?
                .query_row([id(which.get())], shop)
                .optional()
        };
        self.0.read("shop", job).await
    }

    async fn insert(&self, text: &ShopText, now: Timestamp) -> Result<ShopId, StoreError> {
        let text = text.clone();
        let job = move |conn: &Connection| {
            let sql = "INSERT INTO shops (id, name, type_id, images, area, address, x, y, avg_price, open_hours, sold,
                         comments, score, created_ms, updated_ms)
                       VALUES (:id, :name, :type, :images, :area, :address, :x, :y, :avg_price, :open_hours, :sold,
                         0, 0, :now, :now)";
            write(conn, sql, None, &text, now)?;
            let shop = conn.last_insert_rowid();
            shop_ratings::bring_along(conn, shop, text.score, text.comments)?;
            Ok(ShopId::new(shop.cast_unsigned()))
        };
        self.0.write("insert shop", job).await
    }

    async fn update(&self, shop: ShopId, text: &ShopText, now: Timestamp) -> Result<bool, StoreError> {
        let text = text.clone();
        let job = move |conn: &Connection| {
            let sql = "UPDATE shops SET name = :name, type_id = :type, images = :images, area = :area,
                         address = :address, x = :x, y = :y, avg_price = :avg_price, open_hours = :open_hours,
                         sold = :sold, updated_ms = :now WHERE id = :id";
            write(conn, sql, Some(shop), &text, now).map(|changed| changed > 0)
        };
        self.0.write("update shop", job).await
    }

    async fn of_type(
        &self,
        kind: Option<ShopTypeId>,
        order: ShopOrder,
        page: Page,
    ) -> Result<Vec<Shop>, StoreError> {
        let filter = if kind.is_some() { "type_id = ?3" } else { "?3 IS NULL" };
        let order = order_by(order);
        let sql = format!("{SELECT} WHERE {filter} ORDER BY {order} LIMIT ?1 OFFSET ?2");
        let kind = kind.map(|kind| id(kind.get()));
        let job = move |conn: &Connection| {
            conn.prepare_cached(&sql)?
                .query_map(params![page.size(), id(page.skipped()), kind], shop)?
                .collect()
        };
        self.0.read("shops of type", job).await
    }

    async fn by_name(&self, part: &str, max_read: u32, page: Page) -> Result<Vec<Shop>, StoreError> {
        let (pattern, before_last) = (holding(part), max_read.saturating_sub(1));
        let job = move |conn: &Connection| {
            conn.prepare_cached(&format!(
                "{SELECT} WHERE id <= COALESCE((SELECT id FROM shops ORDER BY id LIMIT 1 OFFSET ?4), {})
                 AND name LIKE ?3 ESCAPE '!' ORDER BY id LIMIT ?1 OFFSET ?2",
                i64::MAX
            ))?
            .query_map(params![page.size(), id(page.skipped()), pattern, before_last], shop)?
            .collect()
        };
        self.0.read("shops by name", job).await
    }

    async fn among(&self, shops: &[ShopId], order: ShopOrder, page: Page) -> Result<Vec<Shop>, StoreError> {
        let ids: Vec<String> = shops.iter().map(|shop| id(shop.get()).to_string()).collect();
        let (ids, order) = (format!("[{}]", ids.join(",")), order_by(order));
        let sql = format!(
            "{SELECT} WHERE id IN (SELECT value FROM json_each(?3)) ORDER BY {order} LIMIT ?1 OFFSET ?2"
        );
        let job = move |conn: &Connection| {
            conn.prepare_cached(&sql)?
                .query_map(params![page.size(), id(page.skipped()), ids], shop)?
                .collect()
        };
        self.0.read("shops among", job).await
    }

    async fn areas(&self, max: u32) -> Result<Vec<ShopArea>, StoreError> {
        let job = move |conn: &Connection| {
            let area = |row: &Row<'_>| {
                let shops = get_count(row, 3)?;
                Ok(ShopArea { area: row.get(0)?, x: row.get(1)?, y: row.get(2)?, shops })
            };
            conn.prepare_cached(
                "SELECT area, AVG(x), AVG(y), COUNT(*) AS shops FROM shops
                 WHERE area <> '' AND abs(x) <= ?2 AND abs(y) <= ?3
                 GROUP BY area ORDER BY shops DESC, area LIMIT ?1",
            )?
            .query_map(params![max, LatLng::MAX_LNG, LatLng::MAX_LAT], area)?
            .collect()
        };
        self.0.read("areas of shops", job).await
    }

    async fn ids(&self, from: ShopId, max: u32) -> Result<Vec<ShopId>, StoreError> {
        let job = move |conn: &Connection| {
            conn.prepare_cached("SELECT id FROM shops WHERE id > ?1 ORDER BY id LIMIT ?2")?
                .query_map(params![after(from.get()), max], |row| Ok(ShopId::new(get_id(row, 0)?)))?
                .collect()
        };
        self.0.read("ids of shops", job).await
    }

    async fn places(&self, after: ShopId, max: u32) -> Result<Vec<PlacedShop>, StoreError> {
        self.0.read("places of shops", move |conn| places_after(conn, after, max.into())).await
    }
}

fn write(
    conn: &Connection,
    sql: &str,
    shop: Option<ShopId>,
    text: &ShopText,
    now: Timestamp,
) -> rusqlite::Result<usize> {
    conn.prepare_cached(sql)?.execute(named_params! {
        ":id": shop.map(|shop| id(shop.get())),
        ":name": text.name,
        ":type": id(text.kind.get()),
        ":images": text.images,
        ":area": text.area,
        ":address": text.address,
        ":x": text.x,
        ":y": text.y,
        ":avg_price": text.avg_price,
        ":open_hours": text.open_hours,
        ":sold": text.sold,
        ":now": now.as_millis(),
    })
}

fn shop(row: &Row<'_>) -> rusqlite::Result<Shop> {
    Ok(Shop {
        id: ShopId::new(get_id(row, 0)?),
        text: ShopText {
            name: row.get(1)?,
            kind: ShopTypeId::new(get_id(row, 2)?),
            images: row.get(3)?,
            area: row.get(4)?,
            address: row.get(5)?,
            x: row.get(6)?,
            y: row.get(7)?,
            avg_price: row.get(8)?,
            open_hours: row.get(9)?,
            sold: row.get(10)?,
            comments: row.get(11)?,
            score: row.get(12)?,
        },
        created: get_time(row, 13)?,
        updated: get_time(row, 14)?,
    })
}

fn shop_type(row: &Row<'_>) -> rusqlite::Result<ShopType> {
    Ok(ShopType {
        id: ShopTypeId::new(get_id(row, 0)?),
        name: row.get(1)?,
        icon: row.get(2)?,
        sort: row.get(3)?,
    })
}
