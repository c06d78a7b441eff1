//! [`Import`] into the record: one transaction on a connection of its own.
//!
//! It begins with locks on the gaps of the tables that make a mall a used one, all of them empty: nobody else inserts
//! anything there until it ends, and everybody reads on. What is not committed the server undoes, however the process
//! went.

mod finish;
mod insert;
mod next_ids;
mod references;
mod tables;

use std::time::Duration;

use async_trait::async_trait;
use mysql_async::Conn;
use mysql_async::prelude::Queryable as _;
use roaring::RoaringTreemap;

use super::apart::Apart;
use super::columns::{Columns, first};
use super::database::{Database, QUICK};
use super::job::run;
use super::sale_rows::Lock;
use super::trouble::Fault;
use crate::{Import, ImportEnd, ImportFindings, ImportRow, Importing, StoreError};

const OP: &str = "import";
/// For a batch of rows, on a busy server.
const BATCH: Duration = Duration::from_secs(60);
/// For all that is done in the end, with some ten million rows.
const FINISH: Duration = Duration::from_secs(3600);

/// Set on the connection, and nowhere else:
///
/// - REPEATABLE READ locks the gaps between rows too.
/// - Whose machine went without a word must not keep everybody else from writing for a day: between two batches, the
///   server waits so many seconds.
/// - 0 is an id like any other.
const SETTINGS: [&str; 3] = [
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    "SET SESSION wait_timeout = 900, sql_mode = CONCAT(@@sql_mode, ',NO_AUTO_VALUE_ON_ZERO')",
    "START TRANSACTION",
];

/// A mall in which all of these are empty is not used. A number that was drawn may become an order's at any time.
const TABLES: [&str; 10] = [
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

/// Vouchers that call themselves sales.
type SaleIds = RoaringTreemap;

pub(super) struct MysqlImport(pub(super) Database);

struct MysqlImporting {
    conn: Apart,
    sales: SaleIds,
}

#[async_trait]
impl Import for MysqlImport {
    async fn begin(&self) -> Result<Option<Box<dyn Importing>>, StoreError> {
        // Without locks: a mall that is at work is left in peace.
        if self.0.read(OP, |conn| run(is_used(conn, Lock::No))).await? {
            return Ok(None);
        }
        let conn = begin(&self.0).await.map_err(|fault| fault.explain(OP))?;
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
        let written = self.conn.run(BATCH, |conn| run(insert::insert(conn, groups, count))).await;
        let written = written.map_err(|fault| fault.explain(OP))?;
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

    async fn finish(mut self: Box<Self>, end: ImportEnd) -> Result<Vec<ImportFindings>, StoreError> {
        let Self { conn, sales } = &mut *self;
        let (sales, end) = (&*sales, &end);
        conn.run(FINISH, |conn| {
            run(async move {
                let findings = finish::finish(conn, sales, end).await?;
                conn.query_drop("COMMIT").await?;
                Ok(findings)
            })
        })
        .await
        .map_err(|fault| fault.explain(OP))
    }
}

/// `None` if the mall is used.
async fn begin(database: &Database) -> Result<Option<Apart>, Fault> {
    let mut conn = Apart::connect(database).await?;
    let is_used = conn.run(QUICK, |conn| {
        run(async move {
            for setting in SETTINGS {
                conn.query_drop(setting).await?;
            }
            // Two may lock one gap. This row is there, and one at a time has it.
            let sql = "SELECT number FROM mallbox_schema WHERE number = 1 FOR UPDATE";
            first(conn, sql, (), Columns::next::<u64>).await?;
            is_used(conn, Lock::Yes).await
        })
    });
    Ok(if is_used.await? { None } else { Some(conn) })
}

async fn is_used(conn: &mut Conn, lock: Lock) -> Result<bool, Fault> {
    let for_update = if lock == Lock::Yes { "FOR UPDATE" } else { "" };
    for table in TABLES {
        // By the rows themselves: what others have begun to insert is met there first.
        let sql = format!("SELECT 1 FROM {table} FORCE INDEX (PRIMARY) LIMIT 1 {for_update}");
        if first(conn, sql, (), Columns::next::<i64>).await?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}
