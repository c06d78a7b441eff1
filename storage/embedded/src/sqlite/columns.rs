//! Encoding of values in columns, shared by all tables.

use std::time::Duration;

use mallbox_storage::backend::Numbered;
use mallbox_storage::{OrderStatus, PaymentMode, Timestamp};
use rusqlite::Row;

use super::errors::unreadable;

/// Encodes an id, or a count below 2^63. Ids above 2^63 become negative numbers. No row has a negative id,
/// so any id can be looked up.
pub(super) fn id(number: u64) -> i64 {
    number.cast_signed()
}

/// Encodes the last id of a page, for the next page. Beyond `i64::MAX` no rows exist.
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

/// Reads a duration in milliseconds.
pub(super) fn get_span(row: &Row<'_>, column: usize) -> rusqlite::Result<Duration> {
    get_count(row, column).map(Duration::from_millis)
}

/// Reads an order's status. Pending is never stored.
pub(super) fn status(row: &Row<'_>, column: usize) -> rusqlite::Result<OrderStatus> {
    let number = row.get(column)?;
    OrderStatus::in_row(number).ok_or_else(|| unreadable(column, number))
}

/// Reads the mall's payment mode for new orders.
pub(super) fn payment_setting(row: &Row<'_>, column: usize) -> rusqlite::Result<PaymentMode> {
    let setting: Option<String> = row.get(column)?;
    PaymentMode::from_setting(setting.as_deref())
        .ok_or_else(|| unreadable(column, setting.unwrap_or_default()))
}

/// Reads a value stored as a number.
pub(super) fn get_known<T: Numbered>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let number = row.get(column)?;
    T::numbered(number).ok_or_else(|| unreadable(column, number))
}
