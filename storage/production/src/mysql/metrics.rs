//! Metrics of the MySQL server.

use std::collections::HashMap;
use std::ops::Sub;

use mysql_async::Conn;

use super::columns::all;
use super::errors::MysqlError;

/// Counters of the MySQL server since its start. The work of other clients counts too.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MysqlMetrics {
    /// Statements sent by clients, each a round trip.
    pub statements: u64,
    /// Committed transactions.
    pub commits: u64,
    /// Rows inserted, updated or deleted.
    pub rows: u64,
    /// Calls of `fsync` by InnoDB.
    pub syncs: u64,
    /// Bytes received from clients.
    pub bytes_in: u64,
    /// Bytes sent to clients.
    pub bytes_out: u64,
}

impl Sub for MysqlMetrics {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            statements: self.statements.saturating_sub(before.statements),
            commits: self.commits.saturating_sub(before.commits),
            rows: self.rows.saturating_sub(before.rows),
            syncs: self.syncs.saturating_sub(before.syncs),
            bytes_in: self.bytes_in.saturating_sub(before.bytes_in),
            bytes_out: self.bytes_out.saturating_sub(before.bytes_out),
        }
    }
}

pub(super) async fn read(conn: &mut Conn) -> Result<MysqlMetrics, MysqlError> {
    let status = all(conn, "SHOW GLOBAL STATUS", (), |row| Ok((row.next()?, row.next()?))).await?;
    let status: HashMap<String, String> = status.into_iter().collect();
    let number =
        |name: &str| status.get(name).and_then(|value| value.parse::<u64>().ok()).unwrap_or_default();
    Ok(MysqlMetrics {
        statements: number("Questions"),
        commits: number("Com_commit"),
        rows: ["Handler_write", "Handler_update", "Handler_delete"].map(number).iter().sum(),
        syncs: number("Innodb_data_fsyncs"),
        bytes_in: number("Bytes_received"),
        bytes_out: number("Bytes_sent"),
    })
}
