//! The mall's orders: counted in memory, and written to MySQL by a task of its own.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, Opts, OptsBuilder};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Orders in one statement.
const BATCH: usize = 200;

/// An order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    pub(crate) id: u64,
    pub(crate) user: u64,
    pub(crate) sale: u64,
}

/// The orders of a sale.
#[derive(Debug, Default)]
struct OfSale {
    orders: u64,
    buyers: HashSet<u64>,
}

/// The orders of all sales, by sale.
#[derive(Debug)]
pub(crate) struct Orders {
    written: Arc<Mutex<HashMap<u64, OfSale>>>,
    queue: Option<UnboundedSender<Order>>,
}

impl Orders {
    /// Creates the database of the URL, if there is one, with the table of the tutorial.
    pub(crate) async fn open(mysql: Option<&str>) -> Self {
        let mut orders = Self { written: Arc::default(), queue: None };
        if let Some(url) = mysql {
            let opts = Opts::from_url(url).unwrap();
            let database = opts.db_name().unwrap().to_owned();
            let server = OptsBuilder::from_opts(opts).db_name(None::<String>);
            let mut conn = Conn::new(server).await.unwrap();
            conn.query_drop(format!("CREATE DATABASE IF NOT EXISTS {database}")).await.unwrap();
            conn.query_drop(format!("USE {database}")).await.unwrap();
            conn.query_drop(
                "CREATE TABLE IF NOT EXISTS tb_voucher_order (id BIGINT PRIMARY KEY, user_id BIGINT UNSIGNED NOT NULL, \
                 voucher_id BIGINT UNSIGNED NOT NULL)",
            )
            .await
            .unwrap();
            let (sender, receiver) = unbounded_channel();
            orders.queue = Some(sender);
            tokio::spawn(write_all(conn, receiver));
        }
        orders
    }

    /// Writes an order, sooner or later.
    pub(crate) fn write(&self, order: Order) {
        match &self.queue {
            // The task ends with the runtime only.
            Some(queue) => queue.send(order).unwrap(),
            None => {
                let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
                let of_sale = written.entry(order.sale).or_default();
                of_sale.orders += 1;
                of_sale.buyers.insert(order.user);
            }
        }
    }

    /// Writes an order after some time; counted in memory only.
    pub(crate) fn write_later(&self, order: Order, after: Duration) {
        let later = Self { written: Arc::clone(&self.written), queue: None };
        std::thread::spawn(move || {
            std::thread::sleep(after);
            later.write(order);
        });
    }

    /// Returns the number of orders of a sale, and of its buyers.
    pub(crate) fn count(&self, sale: u64) -> (u64, usize) {
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        written.get(&sale).map_or((0, 0), |of_sale| (of_sale.orders, of_sale.buyers.len()))
    }
}

async fn write_all(mut conn: Conn, mut queue: UnboundedReceiver<Order>) {
    let mut batch = Vec::new();
    while queue.recv_many(&mut batch, BATCH).await > 0 {
        let rows: Vec<String> =
            batch.drain(..).map(|Order { id, user, sale }| format!("({id},{user},{sale})")).collect();
        let sql = format!("INSERT INTO tb_voucher_order (id, user_id, voucher_id) VALUES {}", rows.join(","));
        conn.query_drop(sql).await.unwrap();
    }
}
