//! [`EpochRows`] in the database.

use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::StoreError;
use mysql_async::params;

use super::columns::{Columns, all, execute, first};
use super::database::Database;
use super::errors::MysqlError;
use super::job::boxed;
use crate::{EpochRows, EpochScope, ServerEpoch};

/// The database's clock: instances' own may differ.
const NOW_MS: &str = "CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)";
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

pub(super) struct MysqlEpochs(pub(super) Database);

#[async_trait]
impl EpochRows for MysqlEpochs {
    async fn current(&self) -> Result<Vec<ServerEpoch>, StoreError> {
        let sql = "SELECT scope, number, server, is_open FROM server_epochs
                   WHERE (scope, number) IN (SELECT scope, MAX(number) FROM server_epochs GROUP BY scope)";
        self.0.read("epochs", |conn| boxed(async move { all(conn, sql, (), epoch).await })).await
    }

    async fn begin(&self, scopes: &[(EpochScope, u64)], server: &str) -> Result<(), StoreError> {
        // A taken key belongs to the epoch of another instance, or to an earlier epoch of this server.
        let rows = scopes.iter().map(|(scope, after)| {
            format!("({}, {}, :server, 0, {NOW_MS})", scope.get(), after.saturating_add(1))
        });
        let rows = rows.collect::<Vec<_>>().join(", ");
        let sql: &str = &format!(
            "INSERT IGNORE INTO server_epochs (scope, number, server, is_open, begun_ms) VALUES {rows}"
        );
        self.change("begin epochs", sql, params! { "server" => server }).await
    }

    async fn open(&self, epochs: &[(EpochScope, u64)]) -> Result<(), StoreError> {
        let keys = epochs.iter().map(|(scope, number)| format!("({}, {number})", scope.get()));
        let keys = keys.collect::<Vec<_>>().join(", ");
        let sql: &str = &format!("UPDATE server_epochs SET is_open = 1 WHERE (scope, number) IN ({keys})");
        self.change("open epochs", sql, mysql_async::Params::Empty).await
    }

    async fn settled(&self, instance: &str, generation: u64) -> Result<(), StoreError> {
        let sql: &str = &format!(
            "INSERT INTO order_instances (instance, generation, seen_ms) VALUES (:instance, :generation, {NOW_MS})
             ON DUPLICATE KEY UPDATE generation = :generation, seen_ms = {NOW_MS}"
        );
        let params = params! { "instance" => instance, "generation" => generation };
        self.change("settled epochs", sql, params).await
    }

    async fn unsettled(&self, generation: u64, silence: Duration) -> Result<u64, StoreError> {
        let sql: &str =
            &format!("SELECT COUNT(*) FROM order_instances WHERE generation < ? AND seen_ms > {NOW_MS} - ?");
        let params = (generation, crate::spans::millis(silence));
        let counted = self
            .0
            .read("unsettled epochs", |conn| {
                boxed(async move { first(conn, sql, params, Columns::count).await })
            })
            .await?;
        Ok(counted.unwrap_or_default())
    }

    async fn leave(&self, instance: &str) -> Result<(), StoreError> {
        let sql: &str = &format!(
            "DELETE FROM order_instances WHERE instance = :instance OR seen_ms < {NOW_MS} - {DAY_MS}"
        );
        self.change("leave epochs", sql, params! { "instance" => instance }).await
    }
}

impl MysqlEpochs {
    async fn change(
        &self,
        op: &'static str,
        sql: &str,
        params: impl Into<mysql_async::Params>,
    ) -> Result<(), StoreError> {
        let params = &params.into();
        self.0
            .write_at_once(op, |conn| {
                boxed(async move { execute(conn, sql, params.clone()).await.map(drop) })
            })
            .await
    }
}

fn epoch(row: &mut Columns) -> Result<ServerEpoch, MysqlError> {
    let number = row.count()?;
    let scope = EpochScope::numbered(number).ok_or_else(|| row.unreadable_last(number))?;
    Ok(ServerEpoch { scope, number: row.count()?, server: row.next()?, is_open: row.next()? })
}
