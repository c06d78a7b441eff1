//! Rows of sales as the records of the port.

use std::num::{NonZeroU8, NonZeroU32};

use mallbox_storage::backend::{Numbered as _, SaleSetting, sale_columns};
use mallbox_storage::{Judgement, SaleRecord, Terms, Timestamp, VoucherId, Wave};
use mysql_async::Conn;

use super::columns::{Columns, first};
use super::errors::MysqlError;
use super::sale_rows::Lock;

/// [`sale_columns`] as text.
pub(super) const SALE: &str = sale_columns!();

/// Returns the sale of a voucher, by the voucher's id.
pub(super) async fn sale_by_id(
    conn: &mut Conn,
    voucher: VoucherId,
    lock: Lock,
) -> Result<Option<SaleRecord>, MysqlError> {
    let for_update = if lock == Lock::Yes { "FOR UPDATE" } else { "" };
    let sql = format!("SELECT {SALE} FROM sales WHERE voucher_id = ? {for_update}");
    first(conn, sql, (voucher.get(),), |row| sale(VoucherId::new(row.next()?), row)).await
}

fn setting<S: SaleSetting>(row: &mut Columns) -> Result<Option<S>, MysqlError> {
    let text: Option<String> = row.next()?;
    text.map(|text| S::in_row(&text).ok_or_else(|| row.unreadable_last(text))).transpose()
}

/// Reads the columns of [`sale_columns`] after the voucher.
pub(super) fn sale(voucher: VoucherId, row: &mut Columns) -> Result<SaleRecord, MysqlError> {
    let (begin, end, paused) = (row.time()?, row.time()?, row.next()?);
    let (initial, added): (Option<u64>, i64) = (row.next()?, row.next()?);
    let units = match initial {
        None => None,
        Some(initial) => Some(initial.checked_add_signed(added).ok_or_else(|| row.unreadable_last(added))?),
    };
    let (stock, pay_within, min_level) = (row.next()?, row.span()?, row.next()?);
    let guard = setting(row)?;
    let (waiting, waiting_max) = (row.next()?, row.next()?);
    let room = setting(row)?;
    let claims_per_second = row.next::<Option<u32>>()?.and_then(NonZeroU32::new);
    let thresholds = setting(row)?;
    let judgement: Option<i64> = row.next()?;
    let judgement = judgement
        .map(|number| Judgement::numbered(number).ok_or_else(|| row.unreadable_last(number)))
        .transpose()?;
    let per_user: u8 = row.next()?;
    let per_user = NonZeroU8::new(per_user).ok_or_else(|| row.unreadable_last(per_user))?;
    let terms = Terms { voucher, begin, end, paused, units, waiting, per_user };
    let (number, at, units): (Option<u32>, Option<Timestamp>, Option<u64>) =
        (row.next()?, row.time_if_any()?, row.next()?);
    let next_wave = match (number, at, units) {
        (Some(number), Some(at), Some(units)) => Some(Wave { number, at, units }),
        _ => None,
    };
    Ok(SaleRecord {
        terms,
        initial,
        added,
        stock,
        pay_within,
        min_level,
        next_wave,
        guard,
        waiting_max,
        room,
        claims_per_second,
        thresholds,
        judgement,
    })
}
