//! [`Import`] into MySQL: one transaction on a dedicated connection.
//!
//! The import begins by locking the gaps of all tables that show whether a mall is in use. The tables are
//! empty. Until the import ends, no other process can insert into them, but all can read. If the process dies
//! before the commit, the server rolls back.

mod finish;
mod insert;
mod next_ids;
mod references;
mod sale_ids;
mod tables;

use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{FinishOptions, Import, ImportFindings, ImportRow, Importing, StoreError};
use mysql_async::Conn;
use mysql_async::prelude::Queryable as _;

use self::sale_ids::SaleIds;
use super::columns::{Columns, first};
use super::database::{CALL_TIMEOUT, Database};
use super::dedicated_connection::DedicatedConnection;
use super::errors::MysqlError;
use super::job::boxed;
use super::sale_rows::Lock;

const OP: &str = "import";
/// Time limit of a batch of rows, on a busy server.
const BATCH_TIMEOUT: Duration = Duration::from_secs(60);
/// Time limit of the final steps, with some ten million rows.
const FINISH_TIMEOUT: Duration = Duration::from_secs(3600);

/// Settings of the import's connection only:
///
/// - REPEATABLE READ also locks the gaps between rows.
/// - A machine that vanished silently must not block all other writers for a day: `wait_timeout` bounds the
///   time between two batches, in seconds.
/// - 0 is an id like any other.
const SETTINGS: [&str; 3] = [
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    "SET SESSION wait_timeout = 900, sql_mode = CONCAT(@@sql_mode, ',NO_AUTO_VALUE_ON_ZERO')",
    "START TRANSACTION",
];

/// A mall is unused while these tables are empty. `sequences` is in the list because a reserved number may
/// become an order at any time.
const USAGE_TABLES: [&str; 10] = [
    "users",
    "shops",
    "shop_types",
    "vouchers",
    "orders",
    "dead_letters",
    "notes",
    "follows",
    "sign_ins",
    "sequences",
];

pub(super) struct MysqlImport(pub(super) Database);

struct MysqlImporting {
    conn: DedicatedConnection,
    sales: SaleIds,
}

#[async_trait]
impl Import for MysqlImport {
    async fn begin(&self) -> Result<Option<Box<dyn Importing>>, StoreError> {
        // First without locks, so that the check does not disturb a mall in use.
        if self.0.read(OP, |conn| boxed(is_used(conn, Lock::No))).await? {
            return Ok(None);
        }
        let conn = begin(&self.0).await.map_err(|fault| fault.into_store_error(OP))?;
        Ok(conn
            .map(|conn| Box::new(MysqlImporting { conn, sales: SaleIds::default() }) as Box<dyn Importing>))
    }
}

#[async_trait]
impl Importing for MysqlImporting {
    async fn put(&mut self, rows: Vec<(ImportRow, bool)>) -> Result<Vec<bool>, StoreError> {
        let vouchers = insert::vouchers(&rows);
        let (count, groups) = (rows.len(), insert::by_table(rows));
        let groups = &groups;
        let written = self.conn.run(BATCH_TIMEOUT, |conn| boxed(insert::insert(conn, groups, count))).await;
        let written = written.map_err(|fault| fault.into_store_error(OP))?;
        for (place, voucher, is_sale) in vouchers {
            if written.get(place) != Some(&true) {
                continue;
            }
            if is_sale {
                self.sales.insert(voucher);
            } else {
                self.sales.remove(voucher);
            }
        }
        Ok(written)
    }

    async fn finish(mut self: Box<Self>, end: FinishOptions) -> Result<Vec<ImportFindings>, StoreError> {
        let Self { conn, sales } = &mut *self;
        let (sales, end) = (&*sales, &end);
        conn.run(FINISH_TIMEOUT, |conn| {
            boxed(async move {
                let findings = finish::finish(conn, sales, end).await?;
                conn.query_drop("COMMIT").await?;
                Ok(findings)
            })
        })
        .await
        .map_err(|fault| fault.into_store_error(OP))
    }
}

/// Locks the tables on a dedicated connection. Returns `None` if the mall is in use.
async fn begin(database: &Database) -> Result<Option<DedicatedConnection>, MysqlError> {
    let mut conn = DedicatedConnection::connect(database).await?;
    let is_used = conn.run(CALL_TIMEOUT, |conn| {
        boxed(async move {
            for setting in SETTINGS {
                conn.query_drop(setting).await?;
            }
            // Two imports could lock the same gap. The lock on this existing row admits one import at a time.
            let sql = "SELECT number FROM mallbox_schema WHERE number = 1 FOR UPDATE";
            first(conn, sql, (), Columns::next::<u64>).await?;
            is_used(conn, Lock::Yes).await
        })
    });
    Ok(if is_used.await? { None } else { Some(conn) })
}

async fn is_used(conn: &mut Conn, lock: Lock) -> Result<bool, MysqlError> {
    let for_update = if lock == Lock::Yes { "FOR UPDATE" } else { "" };
    for table in USAGE_TABLES {
        // Scans the primary key, so that the scan meets uncommitted inserts first.
        let sql = format!("SELECT 1 FROM {table} FORCE INDEX (PRIMARY) LIMIT 1 {for_update}");
        if first(conn, sql, (), Columns::next::<i64>).await?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}
