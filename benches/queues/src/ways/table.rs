//! A table in MySQL: `INSERT` by the request, `SELECT … FOR UPDATE SKIP LOCKED` by the workers.
//!
//! A worker holds a row by the lock of its transaction, which ends with the connection. Done rows stay,
//! marked. MySQL tells nobody about a new row, so idle workers ask again after a pause.

use std::time::Duration;

use async_trait::async_trait;
use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, Opts, OptsBuilder};

use crate::error::QueueError;
use crate::order::Order;
use crate::queue::{Consumer, Place, Producer, Queue, SendOutcome};

/// Pause before an idle worker asks again.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// Rows of one `INSERT` while a backlog is made.
const ROWS_AT_ONCE: usize = 500;

pub(crate) struct Table {
    options: Opts,
    name: String,
}

pub(crate) async fn open(place: &Place) -> Result<Table, QueueError> {
    let options = Opts::from_url(place.mysql()?)?;
    let table = Table { options, name: format!("`{}`", place.name) };
    if place.is_new {
        table.create().await?;
    }
    Ok(table)
}

impl Table {
    async fn create(&self) -> Result<(), QueueError> {
        if let Some(database) = self.options.db_name() {
            let without = OptsBuilder::from_opts(self.options.clone()).db_name(None::<String>);
            let mut admin = Conn::new(without).await?;
            admin.query_drop(format!("CREATE DATABASE IF NOT EXISTS `{database}`")).await?;
        }
        let columns = "id BIGINT UNSIGNED PRIMARY KEY, user_id BIGINT UNSIGNED NOT NULL, \
                       voucher_id BIGINT UNSIGNED NOT NULL, is_done BOOLEAN NOT NULL DEFAULT FALSE, \
                       KEY waiting (is_done, id)";
        let sql = format!("CREATE TABLE {} ({columns}) ENGINE = InnoDB", self.name);
        Ok(self.connect().await?.query_drop(sql).await?)
    }

    /// Connects. Without `READ COMMITTED`, workers would also lock the gaps into which requests insert.
    async fn connect(&self) -> Result<Conn, QueueError> {
        let mut connection = Conn::new(self.options.clone()).await?;
        connection.query_drop("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED").await?;
        Ok(connection)
    }
}

#[async_trait]
impl Queue for Table {
    async fn producer(&self) -> Result<Box<dyn Producer>, QueueError> {
        Ok(Box::new(Inserter { connection: self.connect().await?, table: self.name.clone() }))
    }

    async fn consumer(&self, _name: &str) -> Result<Box<dyn Consumer>, QueueError> {
        Ok(Box::new(Worker { connection: self.connect().await?, table: self.name.clone(), in_hand: None }))
    }

    /// Returns the size of data and index, in whole pages.
    async fn bytes(&self) -> Result<Option<u64>, QueueError> {
        let mut connection = self.connect().await?;
        connection.query_drop(format!("ANALYZE TABLE {}", self.name)).await?;
        let sql = "SELECT CAST(data_length + index_length AS UNSIGNED) FROM information_schema.tables \
                   WHERE table_schema = DATABASE() AND table_name = ?";
        Ok(connection.exec_first(sql, (self.name.trim_matches('`'),)).await?)
    }

    async fn replay(&self, from: u64) -> Result<Vec<u64>, QueueError> {
        let sql = format!("SELECT id FROM {} WHERE id >= ? ORDER BY id", self.name);
        Ok(self.connect().await?.exec(sql, (from,)).await?)
    }

    async fn remove(&self) -> Result<(), QueueError> {
        Ok(self.connect().await?.query_drop(format!("DROP TABLE IF EXISTS {}", self.name)).await?)
    }
}

struct Inserter {
    connection: Conn,
    table: String,
}

impl Inserter {
    async fn insert(&mut self, orders: &[Order]) -> Result<(), QueueError> {
        let rows: Vec<String> = orders
            .iter()
            .map(|order| format!("({}, {}, {})", order.number, order.user_id, order.voucher_id))
            .collect();
        let sql = format!("INSERT INTO {} (id, user_id, voucher_id) VALUES {}", self.table, rows.join(", "));
        Ok(self.connection.query_drop(sql).await?)
    }
}

#[async_trait]
impl Producer for Inserter {
    async fn send(&mut self, order: &Order) -> Result<SendOutcome, QueueError> {
        self.insert(std::slice::from_ref(order)).await?;
        Ok(SendOutcome::Accepted)
    }

    async fn fill(&mut self, orders: Vec<Order>) -> Result<u64, QueueError> {
        for part in orders.chunks(ROWS_AT_ONCE) {
            self.insert(part).await?;
        }
        Ok(orders.len() as u64)
    }
}

struct Worker {
    connection: Conn,
    table: String,
    /// Id of the row that the open transaction holds.
    in_hand: Option<u64>,
}

#[async_trait]
impl Consumer for Worker {
    async fn receive(&mut self) -> Result<Vec<Order>, QueueError> {
        let sql = format!(
            "SELECT id FROM {} WHERE is_done = FALSE ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED",
            self.table
        );
        loop {
            self.connection.query_drop("BEGIN").await?;
            if let Some(id) = self.connection.query_first::<u64, _>(&sql).await? {
                self.in_hand = Some(id);
                return Ok(vec![Order::new(id)]);
            }
            self.connection.query_drop("ROLLBACK").await?;
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    async fn settle(&mut self) -> Result<(), QueueError> {
        let Some(id) = self.in_hand.take() else { return Ok(()) };
        self.connection
            .exec_drop(format!("UPDATE {} SET is_done = TRUE WHERE id = ?", self.table), (id,))
            .await?;
        Ok(self.connection.query_drop("COMMIT").await?)
    }

    async fn outstanding(&mut self) -> Result<u64, QueueError> {
        let sql = format!("SELECT COUNT(*) FROM {} WHERE is_done = FALSE", self.table);
        Ok(self.connection.query_first(sql).await?.unwrap_or(0))
    }
}
