//! All tables of a mall as of one moment, for a backup.

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use mallbox_storage::OpenError;
use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, Error, Row};
use tokio::time::timeout;

use super::address::Address;
use super::columns::{Columns, all, first};
use super::errors::MysqlError;
use super::migrations::{self, SchemaState};
use super::table_lines::{TableHead, append_row};
use super::{open, quoted};
use crate::copy_error::CopyError;

const OP: &str = "copy";
/// Longest wait for a response, and for the next row of a table.
const SILENCE_MAX: Duration = Duration::from_secs(30);
/// Tables that a backup leaves out: they are true for the Redis and the processes of one moment only.
const LEFT_OUT: [&str; 2] = ["server_epochs", "order_instances"];
/// Settings of the connection:
///
/// - every table as of the same moment;
/// - the disk of the backup may stop for minutes, and the server waits.
const SETTINGS: [&str; 2] = [
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    "SET SESSION net_write_timeout = 600, wait_timeout = 3600",
];
/// Limits on the time of a statement that the operator may have set: MySQL's and MariaDB's. The reading of a
/// large table is to take its time.
const NO_STATEMENT_LIMIT: [&str; 2] =
    ["SET SESSION max_execution_time = 0", "SET SESSION max_statement_time = 0"];
const UNKNOWN_VARIABLE: u16 = 1193;

/// A mall's database as of one moment. Other connections write on meanwhile.
pub(crate) struct Snapshot {
    conn: Conn,
    step: u64,
    tables: Vec<TableHead>,
}

impl Snapshot {
    /// Connects, and begins the snapshot. Changes nothing on the server: a schema of an earlier version is
    /// not migrated.
    pub(crate) async fn begin(url: &str) -> Result<Self, CopyError> {
        let address = Address::parse(url)?;
        let server = address.shown();
        let unfit = |detail: &str| {
            CopyError::from(OpenError::Unfit { server: server.clone(), detail: detail.to_owned() })
        };
        let mut conn = open(address.opts.clone()).await.map_err(|fault| unreachable(&address, &fault))?;
        set_up(&mut conn).await.map_err(store)?;
        // No migration changes the schema before its columns are known. A later one ends the snapshot, at
        // the first table that it has changed.
        if !migrations::lock(&mut conn).await.map_err(store)? {
            return Err(unfit(migrations::MIGRATING));
        }
        let state = within(migrations::state(&mut conn)).await.map_err(store)?;
        let step = match state {
            SchemaState::At { step, latest } if step <= latest => step,
            SchemaState::At { .. } => {
                return Err(unfit("it was written by a newer mallbox; use that version"));
            }
            SchemaState::Empty | SchemaState::Foreign => return Err(unfit("there is no mall in it")),
            SchemaState::Restoring => return Err(unfit(migrations::RESTORE_CUT_SHORT)),
        };
        let tables = heads(&mut conn).await.map_err(store)?;
        within(conn.query_drop("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"))
            .await
            .map_err(store)?;
        // Rolled back to after each table, which ends the lock on its definition: a migration would wait for
        // that until the end of the backup, and all other users of the table for the migration.
        within(conn.query_drop("SAVEPOINT before_table")).await.map_err(store)?;
        within(migrations::unlock(&mut conn)).await.map_err(store)?;
        Ok(Self { conn, step, tables })
    }

    /// Returns the number of the last migration of the schema.
    pub(crate) fn step(&self) -> u64 {
        self.step
    }

    /// Returns the names of the tables to copy.
    pub(crate) fn tables(&self) -> Vec<String> {
        self.tables.iter().map(|head| head.table.clone()).collect()
    }

    /// Returns a setting of the mall.
    pub(crate) async fn setting(&mut self, name: &str) -> Result<Option<String>, CopyError> {
        let sql = "SELECT value FROM settings WHERE name = ?";
        within(first(&mut self.conn, sql, (name,), Columns::next)).await.map_err(store)
    }

    /// Copies a table as text to `out`, in pieces that end with a line.
    pub(crate) async fn copy_table(
        &mut self,
        table: &str,
        mut out: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<(), CopyError> {
        /// Size of a piece in bytes.
        const PIECE: usize = 1 << 16;
        let head = self.tables.iter().find(|head| head.table == table);
        let head = head.ok_or_else(|| CopyError::MissingTable(table.to_owned()))?;
        let columns: Vec<String> = head.columns.iter().map(|column| quoted(column)).collect();
        let sql = format!("SELECT {} FROM {}", columns.join(", "), quoted(table));
        let mut piece = serde_json::to_vec(&head).map_err(io::Error::from)?;
        piece.push(b'\n');
        let mut rows = within(self.conn.exec_iter(sql, ())).await.map_err(store)?;
        while let Some(row) = within(rows.next()).await.map_err(store)? {
            let row: Row = row;
            append_row(&mut piece, row.unwrap()).ok_or_else(|| unknown_type(table))?;
            if piece.len() >= PIECE {
                out(&piece)?;
                piece.clear();
            }
        }
        out(&piece)?;
        within(rows.drop_result()).await.map_err(store)?;
        within(self.conn.query_drop("ROLLBACK TO SAVEPOINT before_table")).await.map_err(store)
    }
}

async fn set_up(conn: &mut Conn) -> Result<(), MysqlError> {
    for setting in SETTINGS {
        within(conn.query_drop(setting)).await?;
    }
    for setting in NO_STATEMENT_LIMIT {
        match within(conn.query_drop(setting)).await {
            Err(MysqlError::Driver(Error::Server(error))) if error.code == UNKNOWN_VARIABLE => {}
            set => set?,
        }
    }
    Ok(())
}

fn unknown_type(table: &str) -> CopyError {
    store(MysqlError::Corrupt(format!("{table} (a value of a type that no mall stores)")))
}

pub(super) fn store(fault: MysqlError) -> CopyError {
    CopyError::Store(fault.into_store_error(OP))
}

/// Returns an error for a server that was not reached.
pub(super) fn unreachable(address: &Address, fault: &MysqlError) -> CopyError {
    OpenError::Unreachable { server: address.shown(), source: fault.to_string().into() }.into()
}

/// Waits for a response for [`SILENCE_MAX`] at most.
pub(super) async fn within<T, E: Into<MysqlError>>(
    call: impl Future<Output = Result<T, E>>,
) -> Result<T, MysqlError> {
    let reply = timeout(SILENCE_MAX, call).await;
    reply.map_err(|_| MysqlError::Silence(SILENCE_MAX))?.map_err(Into::into)
}

/// Returns the tables to copy, with their columns.
async fn heads(conn: &mut Conn) -> Result<Vec<TableHead>, MysqlError> {
    let expected = tables_in_backup();
    let mut heads = Vec::new();
    for table in tables(conn).await?.iter().filter(|table| expected.contains(table.as_str())) {
        heads.push(head(conn, table).await?);
    }
    Ok(heads)
}

/// Returns the names of all tables of the database, without views.
pub(super) async fn tables(conn: &mut Conn) -> Result<Vec<String>, MysqlError> {
    let sql = "SELECT table_name FROM information_schema.tables
               WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' ORDER BY table_name";
    within(all(conn, sql, (), Columns::next)).await
}

/// Returns the names of all tables that a backup may have. Tables of other programs in the database are not
/// among them.
pub(super) fn tables_in_backup() -> BTreeSet<&'static str> {
    let mut tables = migrations::tables_of_mall();
    tables.retain(|table| !LEFT_OUT.contains(table));
    tables
}

/// Returns the columns of a table, without generated ones.
pub(super) async fn columns(conn: &mut Conn, table: &str) -> Result<Vec<String>, MysqlError> {
    let sql = "SELECT column_name FROM information_schema.columns
               WHERE table_schema = DATABASE() AND table_name = ? AND COALESCE(generation_expression, '') = ''
               ORDER BY ordinal_position";
    within(all(conn, sql, (table,), Columns::next)).await
}

async fn head(conn: &mut Conn, table: &str) -> Result<TableHead, MysqlError> {
    let columns = columns(conn, table).await?;
    // The figure in `information_schema` may be a day old on MySQL 8.
    let sql = format!("SHOW CREATE TABLE {}", quoted(table));
    let created = within(first(conn, sql, (), |row| {
        let _: String = row.next()?;
        row.next::<String>()
    }));
    let next_id = created.await?.and_then(|created| next_id(&created));
    Ok(TableHead { table: table.to_owned(), columns, next_id })
}

/// Returns the next id in the statement that creates a table.
fn next_id(created: &str) -> Option<u64> {
    // Columns and comments of a mall's tables do not contain this.
    let (_, rest) = created.rsplit_once(" AUTO_INCREMENT=")?;
    rest.split(|next: char| !next.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_id_is_read_from_the_options_of_a_table() {
        let column = "`id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,\n";
        let created = |options: &str| format!("CREATE TABLE `users` (\n{column}) ENGINE=InnoDB{options}");
        assert_eq!(next_id(&created(" AUTO_INCREMENT=1011 DEFAULT CHARSET=utf8mb4")), Some(1011));
        assert_eq!(next_id(&created(" AUTO_INCREMENT=7")), Some(7));
        assert_eq!(next_id(&created(" DEFAULT CHARSET=utf8mb4")), None);
    }
}
