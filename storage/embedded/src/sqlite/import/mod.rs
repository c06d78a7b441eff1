//! The [`Import`] port on SQLite: one job of the writer, fed through a channel until finished.

mod finish;
mod insert;

use std::sync::Arc;

use async_trait::async_trait;
use mallbox_storage::{FinishOptions, Import, ImportFindings, ImportRow, Importing, StoreError};
use rusqlite::Connection;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::errors::{closed, refuse};
use super::{Database, sign_blocks};
use crate::sign_in_index::{Days, SignInIndex};

const OP: &str = "import";

pub(crate) struct EmbeddedImport {
    database: Database,
    /// Sign-ins in memory, to be replaced after the import.
    signed: Arc<SignInIndex>,
}

impl EmbeddedImport {
    pub(crate) fn new(database: Database, signed: Arc<SignInIndex>) -> Self {
        Self { database, signed }
    }
}

enum ImportMessage {
    Put(Vec<(ImportRow, bool)>, oneshot::Sender<Vec<bool>>),
    Finish(FinishOptions),
}

struct EmbeddedImporting {
    orders: Sender<ImportMessage>,
    job: JoinHandle<Result<Finished, StoreError>>,
    signed: Arc<SignInIndex>,
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
        // A separate task: dropping the handle must not leave the writer waiting for a message for ever.
        let job = tokio::spawn(async move { database.write_bulk(OP, move |conn| work(conn, to_do)).await });
        Ok(Some(Box::new(EmbeddedImporting { orders, job, signed })))
    }
}

impl EmbeddedImporting {
    /// Sends a message to the job. If the job has ended, the send is ignored, and [`Self::outcome`] returns
    /// the reason.
    async fn order(&self, order: ImportMessage) {
        let _ = self.orders.send(order).await;
    }

    async fn outcome(&mut self) -> Result<Finished, StoreError> {
        (&mut self.job).await.unwrap_or_else(|_| Err(closed(OP)))
    }
}

#[async_trait]
impl Importing for EmbeddedImporting {
    async fn put(&mut self, rows: Vec<(ImportRow, bool)>) -> Result<Vec<bool>, StoreError> {
        let (sender, receiver) = oneshot::channel();
        self.order(ImportMessage::Put(rows, sender)).await;
        match receiver.await {
            Ok(written) => Ok(written),
            Err(_) => Err(self.outcome().await.err().unwrap_or_else(|| closed(OP))),
        }
    }

    async fn finish(mut self: Box<Self>, end: FinishOptions) -> Result<Vec<ImportFindings>, StoreError> {
        self.order(ImportMessage::Finish(end)).await;
        let Finished { findings, days } = self.outcome().await?;
        self.signed.replace(days);
        Ok(findings)
    }
}

/// Runs the whole import in a single transaction. An error rolls back, and so does a dropped sender.
fn work(conn: &Connection, mut orders: Receiver<ImportMessage>) -> rusqlite::Result<Finished> {
    let mut sales = insert::SaleIds::default();
    while let Some(order) = orders.blocking_recv() {
        match order {
            ImportMessage::Put(rows, sender) => {
                let written: rusqlite::Result<Vec<bool>> = rows
                    .iter()
                    .map(|(row, replaces)| insert::insert(conn, row, *replaces, &mut sales))
                    .collect();
                // A receiver that is gone sends no further message either.
                let _ = sender.send(written?);
            }
            ImportMessage::Finish(end) => {
                let findings = finish::finish(conn, &sales, &end)?;
                sign_blocks::pack_rows(conn)?;
                return Ok(Finished { findings, days: sign_blocks::load(conn)? });
            }
        }
    }
    Err(refuse("abandoned before completion"))
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
