//! How values stand in columns, in one place for all tables.

use std::time::Duration;

use rusqlite::Row;

use super::trouble::unreadable;
use crate::stored::Numbered;
use crate::{OrderStatus, PaymentMode, Timestamp};

/// An id, or a count below 2^63. Every id can be looked up, those above 2^63 as negative numbers that no row has.
pub(super) fn id(number: u64) -> i64 {
    number.cast_signed()
}

/// An id that a list goes on after: beyond the last there is nothing.
pub(super) fn after(id: u64) -> i64 {
    i64::try_from(id).unwrap_or(i64::MAX)
}

/// Reads an id.
pub(super) fn get_id(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(i64::cast_unsigned)
}

/// Reads a number that is never negative.
pub(super) fn get_count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|_| unreadable(column, number))
}

/// Reads an instant.
pub(super) fn get_time(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    row.get(column).map(Timestamp::from_millis)
}

/// Reads an instant that may be missing.
pub(super) fn get_time_if_any(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Timestamp>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(Timestamp::from_millis))
}

/// Reads a span.
pub(super) fn get_span(row: &Row<'_>, column: usize) -> rusqlite::Result<Duration> {
    get_count(row, column).map(Duration::from_millis)
}

/// An order's status in a row. No row is pending.
pub(super) fn status(row: &Row<'_>, column: usize) -> rusqlite::Result<OrderStatus> {
    let number = row.get(column)?;
    OrderStatus::in_row(number).ok_or_else(|| unreadable(column, number))
}

/// Reads the mall's setting of how new orders are paid for.
pub(super) fn payment_setting(row: &Row<'_>, column: usize) -> rusqlite::Result<PaymentMode> {
    let setting: Option<String> = row.get(column)?;
    PaymentMode::from_setting(setting.as_deref())
        .ok_or_else(|| unreadable(column, setting.unwrap_or_default()))
}

/// Reads something that is stored as a number.
pub(super) fn get_known<T: Numbered>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let number = row.get(column)?;
    T::numbered(number).ok_or_else(|| unreadable(column, number))
}
