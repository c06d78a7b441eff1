//! Conversion of values and rows, in one place for all tables.

use std::time::Duration;

use mallbox_storage::backend::Numbered;
use mallbox_storage::{OrderStatus, PaymentMode, Timestamp};
use mysql_async::prelude::{FromValue, Queryable as _, StatementLike};
use mysql_async::{Conn, Params, Row};

use super::errors::MysqlError;

/// Returns all rows of a result.
pub(super) async fn all<T>(
    conn: &mut Conn,
    sql: impl StatementLike,
    params: impl Into<Params> + Send,
    read: impl Fn(&mut Columns) -> Result<T, MysqlError>,
) -> Result<Vec<T>, MysqlError> {
    // Fetches raw rows, because the driver's own conversion panics at unexpected values.
    let rows: Vec<Row> = conn.exec(sql, params).await?;
    rows.into_iter().map(|row| read(&mut Columns::of(row))).collect()
}

/// Returns the first row of a result, if any.
pub(super) async fn first<T>(
    conn: &mut Conn,
    sql: impl StatementLike,
    params: impl Into<Params> + Send,
    read: impl Fn(&mut Columns) -> Result<T, MysqlError>,
) -> Result<Option<T>, MysqlError> {
    let row: Option<Row> = conn.exec_first(sql, params).await?;
    row.map(|row| read(&mut Columns::of(row))).transpose()
}

/// Runs a statement. Returns the number of rows found or written.
pub(super) async fn execute(
    conn: &mut Conn,
    sql: impl StatementLike,
    params: impl Into<Params> + Send,
) -> Result<u64, MysqlError> {
    conn.exec_drop(sql, params).await?;
    Ok(conn.affected_rows())
}

/// A row, read column by column from the left.
pub(super) struct Columns {
    row: Row,
    next: usize,
}

impl Columns {
    fn of(row: Row) -> Self {
        Self { row, next: 0 }
    }

    /// Returns the next column.
    pub(super) fn next<T: FromValue>(&mut self) -> Result<T, MysqlError> {
        let index = self.next;
        self.next += 1;
        match self.row.take_opt(index) {
            Some(Ok(value)) => Ok(value),
            _ => Err(self.unreadable(index, "a value of an unexpected type")),
        }
    }

    /// Returns the next column, a number that is never negative.
    pub(super) fn count(&mut self) -> Result<u64, MysqlError> {
        let number: i64 = self.next()?;
        u64::try_from(number).map_err(|_| self.unreadable_last(number))
    }

    /// Returns the next column, a time in milliseconds.
    pub(super) fn time(&mut self) -> Result<Timestamp, MysqlError> {
        self.next().map(Timestamp::from_millis)
    }

    /// Returns the next column, a time in milliseconds or NULL.
    pub(super) fn time_if_any(&mut self) -> Result<Option<Timestamp>, MysqlError> {
        Ok(self.next::<Option<i64>>()?.map(Timestamp::from_millis))
    }

    /// Returns the next column, a duration in milliseconds.
    pub(super) fn span(&mut self) -> Result<Duration, MysqlError> {
        self.count().map(Duration::from_millis)
    }

    /// Returns the next column, an enum stored as a number.
    pub(super) fn known<T: Numbered>(&mut self) -> Result<T, MysqlError> {
        self.read_number(T::numbered)
    }

    /// Returns the next column, the mall's setting for the payment of new orders.
    pub(super) fn payment_setting(&mut self) -> Result<PaymentMode, MysqlError> {
        let setting: Option<String> = self.next()?;
        PaymentMode::from_setting(setting.as_deref())
            .ok_or_else(|| self.unreadable_last(setting.unwrap_or_default()))
    }

    /// Returns the next column, the status of an order's row. Pending orders have no row.
    pub(super) fn status(&mut self) -> Result<OrderStatus, MysqlError> {
        self.read_number(OrderStatus::in_row)
    }

    fn read_number<T>(&mut self, from_number: impl Fn(i64) -> Option<T>) -> Result<T, MysqlError> {
        let number = self.next()?;
        from_number(number).ok_or_else(|| self.unreadable_last(number))
    }

    /// Returns a fault for an unexpected value in the column read last.
    pub(super) fn unreadable_last(&self, found: impl std::fmt::Display) -> MysqlError {
        self.unreadable(self.next.saturating_sub(1), found)
    }

    fn unreadable(&self, index: usize, found: impl std::fmt::Display) -> MysqlError {
        let columns = self.row.columns_ref();
        let name = columns.get(index).map_or_else(
            || format!("column {index}"),
            |column| format!("{}.{}", column.table_str(), column.name_str()),
        );
        MysqlError::Corrupt(format!("{name} ({found})"))
    }
}
