//! A query in the database of somebody else's program.

use std::time::Duration;

use mallbox_storage::StoreError;
use mysql_async::prelude::Queryable as _;
use mysql_async::{Row, Value};
use tokio::time::timeout;

use super::address::Address;
use super::errors::MysqlError;

/// Runs a single statement in a transaction that can only read, and returns the numbers of the first row.
pub(crate) async fn query_numbers(url: &str, sql: &str, limit: Duration) -> Result<Vec<u64>, StoreError> {
    let asked = async {
        let address = Address::parse(url).map_err(|error| MysqlError::refused(error.to_string()))?;
        let mut conn = super::open(address.opts).await?;
        conn.query_drop("START TRANSACTION READ ONLY").await?;
        // Prepared, so that a second statement after a semicolon is refused.
        let row: Option<Row> = conn.exec_first(sql, ()).await?;
        conn.disconnect().await?;
        let row = row.ok_or_else(|| MysqlError::refused("the query returned no row"))?;
        row.unwrap().into_iter().map(number).collect()
    };
    let asked = timeout(limit, asked).await.unwrap_or(Err(MysqlError::Silence(limit)));
    asked.map_err(|fault| fault.into_store_error("query"))
}

/// Returns a value as a number; a sum arrives as text.
fn number(value: Value) -> Result<u64, MysqlError> {
    let number = match &value {
        Value::UInt(number) => Some(*number),
        Value::Int(number) => u64::try_from(*number).ok(),
        Value::Bytes(text) => std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()),
        _ => None,
    };
    number.ok_or_else(|| {
        MysqlError::refused(format!("the query returned {}, not a whole number", value.as_sql(true)))
    })
}
