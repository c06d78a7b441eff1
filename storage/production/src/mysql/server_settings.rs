//! Settings of the MySQL server that decide how durable commits are, and how many connections fit.

use mallbox_storage::Durability;
use mysql_async::Conn;
use mysql_async::prelude::Queryable as _;

use super::address::PREPARED_STATEMENTS_MAX;
use super::columns::first;
use super::errors::MysqlError;

/// Settings that decide which failures an acknowledged commit survives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CommitSettings {
    /// `innodb_flush_log_at_trx_commit`.
    pub flush_log: u64,
    /// Whether the server writes a binary log.
    pub has_binary_log: bool,
    /// `sync_binlog`.
    pub sync_binlog: u64,
}

impl CommitSettings {
    /// Returns the durability of an acknowledged commit. InnoDB's log has to be on the disk, and the binary
    /// log too where enabled: the server rolls back at its start any transaction missing from the binary log.
    #[must_use]
    pub fn durability(self) -> Durability {
        match (self.flush_log, self.has_binary_log, self.sync_binlog) {
            (1 | 3, false, _) | (1 | 3, _, 1) => Durability::Power,
            (0, _, _) => Durability::Relaxed,
            (_, _, _) => Durability::Process,
        }
    }
}

/// Connections of the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ConnectionCapacity {
    /// Number of connections for which the server has room, given [`PREPARED_STATEMENTS_MAX`] on each of
    /// ours.
    pub(super) room: usize,
    /// Number of other connections at present.
    pub(super) taken: usize,
}

impl ConnectionCapacity {
    /// Returns whether a pool of this size gets all its connections. Other processes may open more
    /// connections later: their number is unknown.
    pub(super) fn suffices_for(self, pool: usize) -> bool {
        self.taken + pool <= self.room
    }
}

/// Reads the settings of commits.
pub(super) async fn commit_settings(conn: &mut Conn) -> Result<CommitSettings, MysqlError> {
    let sql = "SELECT @@innodb_flush_log_at_trx_commit, @@log_bin, @@sync_binlog";
    let found = first(conn, sql, (), |row| {
        Ok(CommitSettings {
            flush_log: row.next()?,
            has_binary_log: row.next::<u64>()? != 0,
            sync_binlog: row.next()?,
        })
    });
    let unknown = CommitSettings { flush_log: 0, has_binary_log: false, sync_binlog: 0 };
    Ok(found.await?.unwrap_or(unknown))
}

/// Reads the limits on connections, and the number of connections at present.
pub(super) async fn connection_capacity(conn: &mut Conn) -> Result<ConnectionCapacity, MysqlError> {
    let limits: Option<(usize, usize)> =
        conn.query_first("SELECT @@max_connections, @@max_prepared_stmt_count").await?;
    let connected: Option<(String, usize)> =
        conn.query_first("SHOW GLOBAL STATUS LIKE 'Threads_connected'").await?;
    let room = limits
        .map_or(usize::MAX, |(connections, prepared)| connections.min(prepared / PREPARED_STATEMENTS_MAX));
    // The connection of this check is closed before the pool opens its first.
    Ok(ConnectionCapacity {
        room,
        taken: connected.map_or(0, |(_, connections)| connections.saturating_sub(1)),
    })
}
