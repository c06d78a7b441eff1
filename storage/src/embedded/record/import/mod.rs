//! [`Import`] into the record: one job of the writer, which is fed through a channel until it is told to finish.

mod finish;
mod insert;

use std::sync::Arc;

use async_trait::async_trait;
use rusqlite::Connection;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::trouble::{closed, refuse};
use super::{Database, sign_blocks};
use crate::embedded::signed::{Days, Signed};
use crate::{Import, ImportEnd, ImportFindings, ImportRow, Importing, StoreError};

const OP: &str = "import";

pub(crate) struct EmbeddedImport {
    database: Database,
    /// Memory, which is to know of the sign-ins that move in.
    signed: Arc<Signed>,
}

impl EmbeddedImport {
    pub(crate) fn new(database: Database, signed: Arc<Signed>) -> Self {
        Self { database, signed }
    }
}

enum Order {
    Put(Vec<(ImportRow, bool)>, oneshot::Sender<Vec<bool>>),
    Finish(ImportEnd),
}

struct EmbeddedImporting {
    orders: Sender<Order>,
    job: JoinHandle<Result<Finished, StoreError>>,
    signed: Arc<Signed>,
}

struct Finished {
    findings: Vec<ImportFindings>,
    days: Days,
}

#[async_trait]
impl Import for EmbeddedImport {
    async fn begin(&self) -> Result<Option<Box<dyn Importing>>, StoreError> {
        if self.database.read(OP, is_used).await? {
            return Ok(None);
        }
        let (orders, to_do) = mpsc::channel(1);
        let (database, signed) = (self.database.clone(), Arc::clone(&self.signed));
        // A task of its own: dropping the handle must not leave the writer waiting for one that never comes.
        let job = tokio::spawn(async move { database.write_bulk(OP, move |conn| work(conn, to_do)).await });
        Ok(Some(Box::new(EmbeddedImporting { orders, job, signed })))
    }
}

impl EmbeddedImporting {
    /// Hands over an order. If nobody takes it, the job has ended, and says why when it is asked.
    async fn order(&self, order: Order) {
        let _ = self.orders.send(order).await;
    }

    async fn outcome(&mut self) -> Result<Finished, StoreError> {
        (&mut self.job).await.unwrap_or_else(|_| Err(closed(OP)))
    }
}

#[async_trait]
impl Importing for EmbeddedImporting {
    async fn put(&mut self, rows: Vec<(ImportRow, bool)>) -> Result<Vec<bool>, StoreError> {
        let (tell, told) = oneshot::channel();
        self.order(Order::Put(rows, tell)).await;
        match told.await {
            Ok(written) => Ok(written),
            Err(_) => Err(self.outcome().await.err().unwrap_or_else(|| closed(OP))),
        }
    }

    async fn finish(mut self: Box<Self>, end: ImportEnd) -> Result<Vec<ImportFindings>, StoreError> {
        self.order(Order::Finish(end)).await;
        let Finished { findings, days } = self.outcome().await?;
        self.signed.replace(days);
        Ok(findings)
    }
}

/// The whole transaction. An error undoes it, and so does a giver of orders who has gone away.
fn work(conn: &Connection, mut orders: Receiver<Order>) -> rusqlite::Result<Finished> {
    let mut sales = insert::SaleIds::default();
    while let Some(order) = orders.blocking_recv() {
        match order {
            Order::Put(rows, tell) => {
                let written: rusqlite::Result<Vec<bool>> = rows
                    .iter()
                    .map(|(row, replaces)| insert::insert(conn, row, *replaces, &mut sales))
                    .collect();
                // Whoever has gone away gives no further order either.
                let _ = tell.send(written?);
            }
            Order::Finish(end) => {
                let findings = finish::finish(conn, &sales, &end)?;
                sign_blocks::pack(conn)?;
                return Ok(Finished { findings, days: sign_blocks::load(conn)? });
            }
        }
    }
    Err(refuse("given up before it was finished"))
}

fn is_used(conn: &Connection) -> rusqlite::Result<bool> {
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
        "sign_blocks",
    ];
    for table in TABLES {
        if conn.prepare(&format!("SELECT 1 FROM {table} LIMIT 1"))?.exists([])? {
            return Ok(true);
        }
    }
    Ok(false)
}
