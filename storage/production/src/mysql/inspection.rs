//! Inspection of MySQL: only `SELECT` and `SHOW`. A missing database is not created, an old schema not
//! migrated.

use std::io;

use mysql_async::{Conn, DriverError, Error, IoError};

use super::address::Address;
use super::columns::first;
use super::errors::MysqlError;
use super::migrations::{self, SchemaState};
use super::server_settings::{CommitSettings, commit_settings, connection_capacity};
use super::{NO_SUCH_DATABASE, open};
use crate::inspection::{ClockReading, ConnectFailure, Now, Support, support};

/// The oldest versions that a mall can use: `SKIP LOCKED`.
const OLDEST_MARIADB: &str = "10.6";
const OLDEST_MYSQL: &str = "8.0.1";
/// Access denied: to the account, to the database, by a plugin.
const LOGIN_CODES: [u16; 3] = [1045, 1044, 1698];

/// State of MySQL.
///
/// `sql_mode`, time zone and character set of the server are absent: a mall sets the first for each of its
/// connections, stores times as numbers, and names the collation of each table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MysqlInspection {
    /// The server's version, such as `10.11.6-MariaDB`.
    pub version: String,
    /// Whether a mall can use that version.
    pub support: Support,
    /// Settings of commits.
    pub commits: CommitSettings,
    /// Whether the binary log holds statements, with which InnoDB refuses writes at READ COMMITTED.
    pub logs_statements: bool,
    /// Whether the server refuses writes, as a replica does.
    pub is_read_only: bool,
    /// Number of connections for which the server has room.
    pub connections_max: usize,
    /// Number of connections of others at present.
    pub connections_taken: usize,
    /// Number of connections that a process of a mall may open.
    pub connections_needed: usize,
    /// State of the database's schema.
    pub schema: SchemaState,
    /// The server's clock; `None` if unreadable.
    pub clock: Option<ClockReading>,
}

/// Inspects MySQL without changing anything there.
///
/// # Errors
/// [`ConnectFailure`]: no reply, or a refusal.
pub(in super::super) async fn inspect(
    address: Address,
    now: &Now,
) -> Result<MysqlInspection, ConnectFailure> {
    inspect_server(&address, now).await.map_err(failure)
}

async fn inspect_server(address: &Address, now: &Now) -> Result<MysqlInspection, MysqlError> {
    let (mut conn, has_database) = match open(address.opts.clone()).await {
        Err(MysqlError::Driver(Error::Server(error))) if error.code == NO_SUCH_DATABASE => {
            (open(address.of_server()).await?, false)
        }
        opened => (opened?, true),
    };
    let version = first(&mut conn, "SELECT VERSION()", (), |row| row.next::<String>()).await?;
    let version = version.unwrap_or_default();
    let (oldest, is_tested) =
        if version.contains("MariaDB") { (OLDEST_MARIADB, true) } else { (OLDEST_MYSQL, false) };
    let sql = "SELECT @@log_bin AND @@binlog_format = 'STATEMENT', @@read_only";
    let flags =
        first(&mut conn, sql, (), |row| Ok((row.next::<u64>()? != 0, row.next::<u64>()? != 0))).await?;
    let (logs_statements, is_read_only) = flags.unwrap_or_default();
    let commits = commit_settings(&mut conn).await?;
    let capacity = connection_capacity(&mut conn).await?;
    let schema = if has_database { migrations::state(&mut conn).await? } else { SchemaState::Empty };
    let clock = clock(&mut conn, now).await?;
    // A lost connection at the end takes nothing away from the findings.
    let _ = conn.disconnect().await;
    Ok(MysqlInspection {
        support: support(&version, oldest, is_tested),
        version,
        commits,
        logs_statements,
        is_read_only,
        connections_max: capacity.room,
        connections_taken: capacity.taken,
        connections_needed: address.pool_max(),
        schema,
        clock,
    })
}

async fn clock(conn: &mut Conn, now: &Now) -> Result<Option<ClockReading>, MysqlError> {
    let before = now();
    let sql = "SELECT CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)";
    let theirs = first(conn, sql, (), |row| row.time()).await?;
    Ok(theirs.map(|theirs| ClockReading { before, theirs, after: now() }))
}

fn failure(error: MysqlError) -> ConnectFailure {
    match error {
        MysqlError::Silence(_) | MysqlError::Unreachable(_) => ConnectFailure::Silent,
        MysqlError::Driver(Error::Server(error)) if LOGIN_CODES.contains(&error.code) => {
            ConnectFailure::Login(error.message)
        }
        MysqlError::Driver(Error::Server(error)) => ConnectFailure::Other(error.to_string()),
        MysqlError::Driver(Error::Io(IoError::Io(error)))
            if error.kind() == io::ErrorKind::ConnectionRefused =>
        {
            ConnectFailure::Refused
        }
        MysqlError::Driver(Error::Driver(
            DriverError::PacketOutOfOrder
            | DriverError::UnexpectedPacket { .. }
            | DriverError::CantParseServerVersion { .. },
        )) => ConnectFailure::OtherProgram,
        other => ConnectFailure::Other(other.to_string()),
    }
}
