//! The [`Vouchers`] port on SQLite.

use std::num::{NonZeroU8, NonZeroU32};

use async_trait::async_trait;
use mallbox_storage::backend::{Numbered as _, SaleSetting as _, sale_columns, span};
use mallbox_storage::{
    Cents, Fenced, FencingToken, Guard, Judgement, NewSale, Page, SaleRecord, ShopId, StockChange,
    StockChangeOutcome, StoreError, Thresholds, Timestamp, Voucher, VoucherEdit, VoucherFilter, VoucherId,
    VoucherStatus, VoucherText, Vouchers, WaitingRoom,
};
use rusqlite::{Connection, Error, OptionalExtension as _, Row, ToSql, named_params, params};

use super::columns::{after, get_count, get_id, get_known, get_time, id};
use super::sale_rows::{SALE, SALE_COLUMNS, sale, sale_by_id};
use super::{Database, stock_changes, terms_fence};

pub(crate) struct EmbeddedVouchers(Database);

impl EmbeddedVouchers {
    pub(crate) fn new(database: Database) -> Self {
        Self(database)
    }

    /// Sets columns of a sale that nothing else depends on. `assignments` have the value as `?2`.
    async fn put_setting(
        &self,
        assignments: &'static str,
        voucher: VoucherId,
        value: impl ToSql + Send + 'static,
        now: Timestamp,
    ) -> Result<Option<SaleRecord>, StoreError> {
        let job = move |conn: &Connection| {
            let changed = conn
                .prepare_cached(&format!("UPDATE sales SET {assignments} WHERE voucher_id = ?1"))?
                .execute(params![id(voucher.get()), value])?;
            if changed == 0 {
                return Ok(None);
            }
            touch(conn, voucher, now)?;
            sale_by_id(conn, voucher)
        };
        self.0.write("put sale setting", job).await
    }
}

/// Head of every query for vouchers; [`voucher`] reads the columns.
const SELECT: &str = concat!(
    "SELECT ",
    sale_columns!(),
    ", id, shop_id, title, sub_title, rules, pay_value, actual_value, status, v.created_ms, updated_ms
    FROM vouchers AS v LEFT JOIN sales ON voucher_id = id"
);

#[async_trait]
impl Vouchers for EmbeddedVouchers {
    async fn insert(
        &self,
        text: &VoucherText,
        sale: Option<&NewSale>,
        now: Timestamp,
    ) -> Result<VoucherId, StoreError> {
        let (text, sale) = (text.clone(), sale.copied());
        let job = move |conn: &Connection| {
            let voucher = insert(conn, &text, now)?;
            if let Some(sale) = sale {
                insert_sale(conn, voucher, &sale, now)?;
            }
            Ok(voucher)
        };
        self.0.write("insert voucher", job).await
    }

    async fn get(&self, which: VoucherId) -> Result<Option<Voucher>, StoreError> {
        self.0.read("voucher", move |conn| get(conn, which)).await
    }

    async fn of_shop(&self, shop: ShopId) -> Result<Vec<Voucher>, StoreError> {
        let job = move |conn: &Connection| {
            conn.prepare_cached(&format!("{SELECT} WHERE shop_id = ?1 AND status = ?2 ORDER BY id"))?
                .query_map([id(shop.get()), VoucherStatus::OnShelf.number()], voucher)?
                .collect()
        };
        self.0.read("vouchers of shop", job).await
    }

    async fn on_sale(&self, now: Timestamp, max: u32) -> Result<Vec<Voucher>, StoreError> {
        let job = move |conn: &Connection| {
            conn.prepare_cached(&format!(
                "{SELECT} WHERE status = ?1 AND end_ms > ?2
                 ORDER BY begin_ms > ?2, CASE WHEN begin_ms > ?2 THEN begin_ms ELSE end_ms END, id LIMIT ?3"
            ))?
            .query_map(params![VoucherStatus::OnShelf.number(), now.as_millis(), max], voucher)?
            .collect()
        };
        self.0.read("running sales", job).await
    }

    async fn ids(&self, from: VoucherId, max: u32) -> Result<Vec<VoucherId>, StoreError> {
        let job = move |conn: &Connection| {
            conn.prepare_cached("SELECT id FROM vouchers WHERE id > ?1 ORDER BY id LIMIT ?2")?
                .query_map(params![after(from.get()), max], |row| Ok(VoucherId::new(get_id(row, 0)?)))?
                .collect()
        };
        self.0.read("ids of vouchers", job).await
    }

    async fn sales(
        &self,
        ending_after: Option<Timestamp>,
        from: VoucherId,
        max: u32,
    ) -> Result<Vec<SaleRecord>, StoreError> {
        let job = move |conn: &Connection| {
            conn.prepare_cached(&format!(
                "SELECT {SALE} FROM sales WHERE voucher_id > ?1 AND (?2 IS NULL OR end_ms > ?2)
                 ORDER BY voucher_id LIMIT ?3"
            ))?
            .query_map(params![after(from.get()), ending_after.map(Timestamp::as_millis), max], sale)?
            .collect()
        };
        self.0.read("sales", job).await
    }

    async fn page(&self, filter: VoucherFilter, page: Page) -> Result<(Vec<Voucher>, u64), StoreError> {
        let job = move |conn: &Connection| {
            let (admitted, shop) = (admitted(filter), filter.shop.map(|shop| id(shop.get())));
            let vouchers = conn
                .prepare_cached(&format!("{SELECT} WHERE {admitted} ORDER BY id DESC LIMIT ?2 OFFSET ?3"))?
                .query_map(params![shop, page.size(), id(page.skipped())], voucher)?
                .collect::<rusqlite::Result<_>>()?;
            let count =
                format!("SELECT COUNT(*) FROM vouchers LEFT JOIN sales ON voucher_id = id WHERE {admitted}");
            let total = conn.prepare_cached(&count)?.query_row([shop], |row| get_count(row, 0))?;
            Ok((vouchers, total))
        };
        self.0.read("page of vouchers", job).await
    }

    async fn update(
        &self,
        which: VoucherId,
        edit: &VoucherEdit,
        token: FencingToken,
        now: Timestamp,
    ) -> Result<Fenced<Option<Voucher>>, StoreError> {
        let edit = edit.clone();
        let job = move |conn: &Connection| {
            if let Some(seen) = terms_fence::refused(conn, which, token)? {
                return Ok(Fenced::Stale { seen });
            }
            update(conn, which, &edit, now)?;
            get(conn, which).map(Fenced::Done)
        };
        self.0.write("update voucher", job).await
    }

    async fn change_stock(
        &self,
        voucher: VoucherId,
        change: &StockChange,
        token: FencingToken,
        now: Timestamp,
    ) -> Result<Fenced<StockChangeOutcome>, StoreError> {
        let change = change.clone();
        let job = move |conn: &Connection| stock_changes::change(conn, voucher, &change, Some(token), now);
        self.0.write("change stock", job).await
    }

    async fn stock_change(
        &self,
        voucher: VoucherId,
        request: &str,
    ) -> Result<Option<StockChange>, StoreError> {
        let request = request.to_owned();
        self.0.read("stock change", move |conn| stock_changes::find(conn, voucher, &request)).await
    }

    async fn put_window(
        &self,
        voucher: VoucherId,
        begin: Timestamp,
        end: Timestamp,
        paused: bool,
        token: FencingToken,
        now: Timestamp,
    ) -> Result<Fenced<Option<SaleRecord>>, StoreError> {
        let job = move |conn: &Connection| {
            if let Some(seen) = terms_fence::refused(conn, voucher, token)? {
                return Ok(Fenced::Stale { seen });
            }
            let key = id(voucher.get());
            let moved = conn
                .prepare_cached(
                    "UPDATE sales SET begin_ms = ?2, end_ms = ?3, paused = ?4 WHERE voucher_id = ?1",
                )?
                .execute(params![key, begin.as_millis(), end.as_millis(), paused])?;
            if moved == 0 {
                return Ok(Fenced::Done(None));
            }
            touch(conn, voucher, now)?;
            sale_by_id(conn, voucher).map(Fenced::Done)
        };
        self.0.write("put window", job).await
    }

    async fn put_guard(
        &self,
        voucher: VoucherId,
        guard: Option<Guard>,
        now: Timestamp,
    ) -> Result<Option<SaleRecord>, StoreError> {
        self.put_setting("guard = ?2", voucher, guard.map(|guard| guard.to_row()), now).await
    }

    async fn put_room(
        &self,
        voucher: VoucherId,
        room: Option<WaitingRoom>,
        now: Timestamp,
    ) -> Result<Option<SaleRecord>, StoreError> {
        self.put_setting("room = ?2", voucher, room.map(|room| room.to_row()), now).await
    }

    async fn put_thresholds(
        &self,
        voucher: VoucherId,
        thresholds: Option<Thresholds>,
        now: Timestamp,
    ) -> Result<Option<SaleRecord>, StoreError> {
        self.put_setting("thresholds = ?2", voucher, thresholds.map(|thresholds| thresholds.to_row()), now)
            .await
    }

    async fn put_per_user(
        &self,
        voucher: VoucherId,
        per_user: NonZeroU8,
        now: Timestamp,
    ) -> Result<Option<SaleRecord>, StoreError> {
        let slots = "per_user = ?2, slots = MAX(slots, ?2)";
        self.put_setting(slots, voucher, per_user.get(), now).await
    }

    async fn put_judgement(
        &self,
        voucher: VoucherId,
        judgement: Option<Judgement>,
        now: Timestamp,
    ) -> Result<Option<SaleRecord>, StoreError> {
        self.put_setting("judgement = ?2", voucher, judgement.map(Judgement::number), now).await
    }

    async fn put_claim_limit(
        &self,
        voucher: VoucherId,
        per_second: Option<NonZeroU32>,
        now: Timestamp,
    ) -> Result<Option<SaleRecord>, StoreError> {
        self.put_setting("claims_per_second = ?2", voucher, per_second.map(NonZeroU32::get), now).await
    }
}

/// Records the time of a change of the voucher.
fn touch(conn: &Connection, voucher: VoucherId, now: Timestamp) -> rusqlite::Result<()> {
    conn.prepare_cached("UPDATE vouchers SET updated_ms = ?2 WHERE id = ?1")?
        .execute([id(voucher.get()), now.as_millis()])
        .map(drop)
}

fn get(conn: &Connection, which: VoucherId) -> rusqlite::Result<Option<Voucher>> {
    conn.prepare_cached(&format!("{SELECT} WHERE id = ?1"))?.query_row([id(which.get())], voucher).optional()
}

/// Returns the SQL condition of a filter; the shop is the first parameter.
fn admitted(filter: VoucherFilter) -> String {
    let shop = if filter.shop.is_some() { "shop_id = ?1" } else { "?1 IS NULL" };
    let sales = if filter.sales_only { " AND voucher_id IS NOT NULL" } else { "" };
    format!("{shop}{sales}")
}

fn update(
    conn: &Connection,
    voucher: VoucherId,
    edit: &VoucherEdit,
    now: Timestamp,
) -> rusqlite::Result<usize> {
    conn.prepare_cached(
        "UPDATE vouchers SET title = COALESCE(:title, title), sub_title = COALESCE(:sub_title, sub_title),
           rules = COALESCE(:rules, rules), pay_value = COALESCE(:pay_value, pay_value),
           actual_value = COALESCE(:actual_value, actual_value), status = COALESCE(:status, status), updated_ms = :now
         WHERE id = :id",
    )?
    .execute(named_params! {
        ":id": id(voucher.get()),
        ":title": edit.title,
        ":sub_title": edit.sub_title,
        ":rules": edit.rules,
        ":pay_value": edit.pay_value.map(Cents::get),
        ":actual_value": edit.actual_value.map(Cents::get),
        ":status": edit.status.map(VoucherStatus::number),
        ":now": now.as_millis(),
    })
}

fn insert(conn: &Connection, text: &VoucherText, now: Timestamp) -> rusqlite::Result<VoucherId> {
    conn.prepare_cached(
        "INSERT INTO vouchers (shop_id, title, sub_title, rules, pay_value, actual_value, status, created_ms,
           updated_ms)
         VALUES (:shop, :title, :sub_title, :rules, :pay_value, :actual_value, :status, :now, :now)",
    )?
    .execute(named_params! {
        ":shop": id(text.shop.get()),
        ":title": text.title,
        ":sub_title": text.sub_title,
        ":rules": text.rules,
        ":pay_value": text.pay_value.get(),
        ":actual_value": text.actual_value.get(),
        ":status": text.status.number(),
        ":now": now.as_millis(),
    })?;
    Ok(VoucherId::new(conn.last_insert_rowid().cast_unsigned()))
}

fn insert_sale(
    conn: &Connection,
    voucher: VoucherId,
    sale: &NewSale,
    now: Timestamp,
) -> rusqlite::Result<()> {
    let too_many = |error: std::num::TryFromIntError| Error::ToSqlConversionFailure(error.into());
    conn.prepare_cached(
        "INSERT INTO sales (voucher_id, initial, stock, begin_ms, end_ms, pay_within_ms, min_level, created_ms)
         VALUES (:voucher, :units, :units, :begin, :end, :pay_within, :min_level, :now)",
    )?
    .execute(named_params! {
        ":voucher": id(voucher.get()),
        ":units": sale.units.map(i64::try_from).transpose().map_err(too_many)?,
        ":begin": sale.begin.as_millis(),
        ":end": sale.end.as_millis(),
        ":pay_within": span(sale.pay_within),
        ":min_level": sale.min_level,
        ":now": now.as_millis(),
    })
    .map(drop)
}

fn voucher(row: &Row<'_>) -> rusqlite::Result<Voucher> {
    /// The voucher's own columns follow the columns of the sale.
    const OWN: usize = SALE_COLUMNS;
    Ok(Voucher {
        id: VoucherId::new(get_id(row, OWN)?),
        text: VoucherText {
            shop: ShopId::new(get_id(row, OWN + 1)?),
            title: row.get(OWN + 2)?,
            sub_title: row.get(OWN + 3)?,
            rules: row.get(OWN + 4)?,
            pay_value: Cents::new(row.get(OWN + 5)?),
            actual_value: Cents::new(row.get(OWN + 6)?),
            status: get_known(row, OWN + 7)?,
        },
        sale: row.get::<_, Option<i64>>(0)?.map(|_| sale(row)).transpose()?,
        created: get_time(row, OWN + 8)?,
        updated: get_time(row, OWN + 9)?,
    })
}
