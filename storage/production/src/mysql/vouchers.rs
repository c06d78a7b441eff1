//! [`Vouchers`] in MySQL.

use std::num::{NonZeroU8, NonZeroU32};

use async_trait::async_trait;
use mallbox_storage::backend::{Numbered as _, SaleSetting as _, sale_columns, span};
use mallbox_storage::{
    Cents, Fenced, FencingToken, Guard, Judgement, NewSale, Page, SaleRecord, ShopId, StockChange,
    StockChangeOutcome, StoreError, Thresholds, Timestamp, Voucher, VoucherEdit, VoucherFilter, VoucherId,
    VoucherStatus, VoucherText, Vouchers, WaitingRoom,
};
use mysql_async::{Conn, Value, params};

use super::columns::{Columns, all, execute, first};
use super::database::Database;
use super::errors::MysqlError;
use super::job::boxed;
use super::sale_records::{SALE, sale, sale_by_id};
use super::sale_rows::Lock;
use super::{stock_changes, terms_fence};

pub(super) struct MysqlVouchers(pub(super) Database);

/// Start of every query for vouchers; read by [`voucher`].
const SELECT: &str = concat!(
    "SELECT id, shop_id, title, sub_title, rules, pay_value, actual_value, status, v.created_ms, updated_ms, ",
    sale_columns!(),
    " FROM vouchers AS v LEFT JOIN sales ON voucher_id = id"
);

#[async_trait]
impl Vouchers for MysqlVouchers {
    async fn insert(
        &self,
        text: &VoucherText,
        sale: Option<&NewSale>,
        now: Timestamp,
    ) -> Result<VoucherId, StoreError> {
        self.0
            .write("insert voucher", |conn| {
                boxed(async move {
                    // Checked before the insert, since a generated id is never reused.
                    let units = sale.and_then(|sale| sale.units).map(i64::try_from).transpose();
                    let units = units.map_err(|error| MysqlError::refused(error.to_string()))?;
                    let voucher = insert(conn, text, now).await?;
                    if let Some(sale) = sale {
                        insert_sale(conn, voucher, sale, units, now).await?;
                    }
                    Ok(voucher)
                })
            })
            .await
    }

    async fn get(&self, which: VoucherId) -> Result<Option<Voucher>, StoreError> {
        let sql: &str = &format!("{SELECT} WHERE id = ?");
        self.0
            .read("voucher", |conn| boxed(async move { first(conn, sql, (which.get(),), voucher).await }))
            .await
    }

    async fn of_shop(&self, shop: ShopId) -> Result<Vec<Voucher>, StoreError> {
        let sql: &str = &format!("{SELECT} WHERE shop_id = ? AND status = ? ORDER BY id");
        let key = (shop.get(), VoucherStatus::OnShelf.number());
        self.0.read("vouchers of shop", |conn| boxed(async move { all(conn, sql, key, voucher).await })).await
    }

    async fn on_sale(&self, now: Timestamp, max: u32) -> Result<Vec<Voucher>, StoreError> {
        let sql: &str = &format!(
            "{SELECT} WHERE status = :status AND end_ms > :now
             ORDER BY begin_ms > :now, CASE WHEN begin_ms > :now THEN begin_ms ELSE end_ms END, id LIMIT :max"
        );
        let status = VoucherStatus::OnShelf.number();
        self.0
            .read("running sales", |conn| {
                boxed(async move {
                    let params = params! { "status" => status, "now" => now.as_millis(), "max" => max };
                    all(conn, sql, params, voucher).await
                })
            })
            .await
    }

    async fn ids(&self, after: VoucherId, max: u32) -> Result<Vec<VoucherId>, StoreError> {
        let sql = "SELECT id FROM vouchers WHERE id > ? ORDER BY id LIMIT ?";
        let key = (after.get(), max);
        self.0
            .read("ids of vouchers", |conn| {
                boxed(async move { all(conn, sql, key, |row| Ok(VoucherId::new(row.next()?))).await })
            })
            .await
    }

    async fn sales(
        &self,
        ending_after: Option<Timestamp>,
        after: VoucherId,
        max: u32,
    ) -> Result<Vec<SaleRecord>, StoreError> {
        let filter = if ending_after.is_some() { "end_ms > :ending_after" } else { ":ending_after IS NULL" };
        let sql: &str = &format!(
            "SELECT {SALE} FROM sales WHERE voucher_id > :after AND {filter} ORDER BY voucher_id LIMIT :max"
        );
        self.0
            .read("sales", |conn| {
                boxed(async move {
                    let ending_after = ending_after.map(Timestamp::as_millis);
                    let params =
                        params! { "after" => after.get(), "ending_after" => ending_after, "max" => max };
                    all(conn, sql, params, |row| sale(VoucherId::new(row.next()?), row)).await
                })
            })
            .await
    }

    async fn page(&self, filter: VoucherFilter, page: Page) -> Result<(Vec<Voucher>, u64), StoreError> {
        let admitted = admitted(filter);
        let sql: &str = &format!("{SELECT} WHERE {admitted} ORDER BY id DESC LIMIT ? OFFSET ?");
        let count: &str =
            &format!("SELECT COUNT(*) FROM vouchers LEFT JOIN sales ON voucher_id = id WHERE {admitted}");
        let shop = filter.shop.map(ShopId::get);
        self.0
            .read("page of vouchers", |conn| {
                boxed(async move {
                    let vouchers = all(conn, sql, (shop, page.size(), page.skipped()), voucher).await?;
                    let total = first(conn, count, (shop,), Columns::count).await?;
                    Ok((vouchers, total.unwrap_or_default()))
                })
            })
            .await
    }

    async fn update(
        &self,
        which: VoucherId,
        edit: &VoucherEdit,
        token: FencingToken,
        now: Timestamp,
    ) -> Result<Fenced<Option<Voucher>>, StoreError> {
        let sql: &str = &format!("{SELECT} WHERE id = ?");
        self.0
            .write("update voucher", |conn| {
                boxed(async move {
                    if let Some(seen) = terms_fence::refused(conn, which, token).await? {
                        return Ok(Fenced::Stale { seen });
                    }
                    update(conn, which, edit, now).await?;
                    first(conn, sql, (which.get(),), voucher).await.map(Fenced::Done)
                })
            })
            .await
    }

    async fn change_stock(
        &self,
        voucher: VoucherId,
        change: &StockChange,
        token: FencingToken,
        now: Timestamp,
    ) -> Result<Fenced<StockChangeOutcome>, StoreError> {
        let events = self.0.events();
        self.0
            .write("change stock", |conn| {
                boxed(async move { stock_changes::change(conn, voucher, change, Some(token), now, events).await })
            })
            .await
    }

    async fn stock_change(
        &self,
        voucher: VoucherId,
        request: &str,
    ) -> Result<Option<StockChange>, StoreError> {
        self.0
            .read("stock change", |conn| {
                boxed(async move { stock_changes::find(conn, voucher, request).await })
            })
            .await
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
        self.0
            .write("put window", |conn| {
                boxed(async move {
                    if let Some(seen) = terms_fence::refused(conn, voucher, token).await? {
                        return Ok(Fenced::Stale { seen });
                    }
                    let sql = "UPDATE sales SET begin_ms = ?, end_ms = ?, paused = ? WHERE voucher_id = ?";
                    let window = (begin.as_millis(), end.as_millis(), paused, voucher.get());
                    if execute(conn, sql, window).await? == 0 {
                        return Ok(Fenced::Done(None));
                    }
                    touch(conn, voucher, now).await?;
                    sale_by_id(conn, voucher, Lock::No).await.map(Fenced::Done)
                })
            })
            .await
    }

    async fn put_guard(
        &self,
        voucher: VoucherId,
        guard: Option<Guard>,
        now: Timestamp,
    ) -> Result<Option<SaleRecord>, StoreError> {
        self.put_setting("guard = :value", voucher, guard.map(|guard| guard.to_row()).into(), now).await
    }

    async fn put_room(
        &self,
        voucher: VoucherId,
        room: Option<WaitingRoom>,
        now: Timestamp,
    ) -> Result<Option<SaleRecord>, StoreError> {
        self.put_setting("room = :value", voucher, room.map(|room| room.to_row()).into(), now).await
    }

    async fn put_thresholds(
        &self,
        voucher: VoucherId,
        thresholds: Option<Thresholds>,
        now: Timestamp,
    ) -> Result<Option<SaleRecord>, StoreError> {
        let row = thresholds.map(|thresholds| thresholds.to_row());
        self.put_setting("thresholds = :value", voucher, row.into(), now).await
    }

    async fn put_per_user(
        &self,
        voucher: VoucherId,
        per_user: NonZeroU8,
        now: Timestamp,
    ) -> Result<Option<SaleRecord>, StoreError> {
        let slots = "per_user = :value, slots = GREATEST(slots, :value)";
        self.put_setting(slots, voucher, per_user.get().into(), now).await
    }

    async fn put_judgement(
        &self,
        voucher: VoucherId,
        judgement: Option<Judgement>,
        now: Timestamp,
    ) -> Result<Option<SaleRecord>, StoreError> {
        self.put_setting("judgement = :value", voucher, judgement.map(Judgement::number).into(), now).await
    }

    async fn put_claim_limit(
        &self,
        voucher: VoucherId,
        per_second: Option<NonZeroU32>,
        now: Timestamp,
    ) -> Result<Option<SaleRecord>, StoreError> {
        self.put_setting("claims_per_second = :value", voucher, per_second.map(NonZeroU32::get).into(), now)
            .await
    }
}

impl MysqlVouchers {
    /// Sets columns of a sale that nothing else depends on. `assignments` have the value as `:value`.
    async fn put_setting(
        &self,
        assignments: &str,
        voucher: VoucherId,
        value: Value,
        now: Timestamp,
    ) -> Result<Option<SaleRecord>, StoreError> {
        let sql: &str = &format!("UPDATE sales SET {assignments} WHERE voucher_id = :voucher");
        let value = &value;
        self.0
            .write("put sale setting", |conn| {
                boxed(async move {
                    let params = params! { "value" => value, "voucher" => voucher.get() };
                    execute(conn, sql, params).await?;
                    let changed = sale_by_id(conn, voucher, Lock::No).await?;
                    if changed.is_some() {
                        touch(conn, voucher, now).await?;
                    }
                    Ok(changed)
                })
            })
            .await
    }
}

/// Records the time of a change of the voucher.
async fn touch(conn: &mut Conn, voucher: VoucherId, now: Timestamp) -> Result<(), MysqlError> {
    let sql = "UPDATE vouchers SET updated_ms = ? WHERE id = ?";
    execute(conn, sql, (now.as_millis(), voucher.get())).await.map(drop)
}

/// Returns the SQL condition of a filter; the shop is bound as its parameter.
fn admitted(filter: VoucherFilter) -> String {
    let shop = if filter.shop.is_some() { "shop_id = ?" } else { "? IS NULL" };
    let sales = if filter.sales_only { " AND voucher_id IS NOT NULL" } else { "" };
    format!("{shop}{sales}")
}

async fn update(
    conn: &mut Conn,
    voucher: VoucherId,
    edit: &VoucherEdit,
    now: Timestamp,
) -> Result<(), MysqlError> {
    let sql =
        "UPDATE vouchers SET title = COALESCE(:title, title), sub_title = COALESCE(:sub_title, sub_title),
                 rules = COALESCE(:rules, rules), pay_value = COALESCE(:pay_value, pay_value),
                 actual_value = COALESCE(:actual_value, actual_value), status = COALESCE(:status, status),
                 updated_ms = :now
               WHERE id = :id";
    let params = params! {
        "id" => voucher.get(),
        "title" => &edit.title,
        "sub_title" => &edit.sub_title,
        "rules" => &edit.rules,
        "pay_value" => edit.pay_value.map(Cents::get),
        "actual_value" => edit.actual_value.map(Cents::get),
        "status" => edit.status.map(VoucherStatus::number),
        "now" => now.as_millis(),
    };
    execute(conn, sql, params).await.map(drop)
}

async fn insert(conn: &mut Conn, text: &VoucherText, now: Timestamp) -> Result<VoucherId, MysqlError> {
    let sql =
        "INSERT INTO vouchers (shop_id, title, sub_title, rules, pay_value, actual_value, status, created_ms,
                 updated_ms)
               VALUES (:shop, :title, :sub_title, :rules, :pay_value, :actual_value, :status, :now, :now)";
    let params = params! {
        "shop" => text.shop.get(),
        "title" => &text.title,
        "sub_title" => &text.sub_title,
        "rules" => &text.rules,
        "pay_value" => text.pay_value.get(),
        "actual_value" => text.actual_value.get(),
        "status" => text.status.number(),
        "now" => now.as_millis(),
    };
    execute(conn, sql, params).await?;
    Ok(VoucherId::new(conn.last_insert_id().unwrap_or_default()))
}

async fn insert_sale(
    conn: &mut Conn,
    voucher: VoucherId,
    sale: &NewSale,
    units: Option<i64>,
    now: Timestamp,
) -> Result<(), MysqlError> {
    let sql = "INSERT INTO sales (voucher_id, initial, added, stock, begin_ms, end_ms, paused, pay_within_ms, min_level,
                 created_ms)
               VALUES (:voucher, :units, 0, :units, :begin, :end, 0, :pay_within, :min_level, :now)";
    let params = params! {
        "voucher" => voucher.get(),
        "units" => units,
        "begin" => sale.begin.as_millis(),
        "end" => sale.end.as_millis(),
        "pay_within" => span(sale.pay_within),
        "min_level" => sale.min_level,
        "now" => now.as_millis(),
    };
    execute(conn, sql, params).await.map(drop)
}

fn voucher(row: &mut Columns) -> Result<Voucher, MysqlError> {
    let id = VoucherId::new(row.next()?);
    let text = VoucherText {
        shop: ShopId::new(row.next()?),
        title: row.next()?,
        sub_title: row.next()?,
        rules: row.next()?,
        pay_value: Cents::new(row.next()?),
        actual_value: Cents::new(row.next()?),
        status: row.known()?,
    };
    let (created, updated) = (row.time()?, row.time()?);
    let of_sale = row.next::<Option<u64>>()?;
    let sale = of_sale.map(|id| sale(VoucherId::new(id), row)).transpose()?;
    Ok(Voucher { id, text, sale, created, updated })
}
