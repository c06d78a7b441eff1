//! All tables of a mall as of one moment, for a backup.

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use mallbox_storage::OpenError;
use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, Row};
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
const SETTINGS: [&str; 3] = [
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    "SET SESSION net_write_timeout = 600, wait_timeout = 3600",
    "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
];

/// A mall's database as of one moment. Other connections write on meanwhile.
pub(crate) struct Snapshot {
    conn: Conn,
    step: u64,
    tables: Vec<String>,
}

impl Snapshot {
    /// Connects, and begins the snapshot. Changes nothing on the server: a schema of an earlier version is
    /// not migrated.
    pub(crate) async fn begin(url: &str) -> Result<Self, OpenError> {
        let address = Address::parse(url)?;
        let server = address.shown();
        let unfit = |detail: &str| OpenError::Unfit { server: server.clone(), detail: detail.to_owned() };
        let begun = async {
            let mut conn = open(address.opts.clone()).await?;
            let state = migrations::state(&mut conn).await?;
            for setting in SETTINGS {
                within(conn.query_drop(setting)).await?;
            }
            let tables =
                if matches!(state, SchemaState::At { .. }) { tables(&mut conn).await? } else { Vec::new() };
            Ok((conn, state, tables))
        };
        let (conn, state, tables) = begun.await.map_err(|fault: MysqlError| OpenError::Unreachable {
            server: server.clone(),
            source: fault.to_string().into(),
        })?;
        match state {
            SchemaState::At { step, latest } if step <= latest => Ok(Self { conn, step, tables }),
            SchemaState::At { .. } => Err(unfit("it was written by a newer mallbox; use that version")),
            SchemaState::Empty | SchemaState::Foreign => Err(unfit("there is no mall in it")),
            SchemaState::Restoring => Err(unfit(migrations::RESTORE_CUT_SHORT)),
        }
    }

    /// Returns the number of the last migration of the schema.
    pub(crate) fn step(&self) -> u64 {
        self.step
    }

    /// Returns the names of the tables to copy.
    pub(crate) fn tables(&self) -> &[String] {
        &self.tables
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
        let head = head(&mut self.conn, table).await.map_err(store)?;
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
        Ok(())
    }
}

fn unknown_type(table: &str) -> CopyError {
    store(MysqlError::Corrupt(format!("{table} (a value of a type that no mall stores)")))
}

pub(super) fn store(fault: MysqlError) -> CopyError {
    CopyError::Store(fault.into_store_error(OP))
}

/// Waits for a response for [`SILENCE_MAX`] at most.
pub(super) async fn within<T, E: Into<MysqlError>>(
    call: impl Future<Output = Result<T, E>>,
) -> Result<T, MysqlError> {
    let answered = timeout(SILENCE_MAX, call).await;
    answered.map_err(|_| MysqlError::Silence(SILENCE_MAX))?.map_err(Into::into)
}

/// Returns the names of the tables to copy.
async fn tables(conn: &mut Conn) -> Result<Vec<String>, MysqlError> {
    let sql = "SELECT table_name FROM information_schema.tables
               WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' ORDER BY table_name";
    let (tables, expected) = (within(all(conn, sql, (), Columns::next::<String>)).await?, tables_in_backup());
    Ok(tables.into_iter().filter(|table| expected.contains(table.as_str())).collect())
}

/// Returns the names of all tables that a backup may have. Tables of others in the database are not among
/// them.
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
