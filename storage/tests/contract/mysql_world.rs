//! Back ends whose record is in MySQL (MariaDB); the other ports are embedded.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use mallbox_storage::Storage;
use mallbox_storage::production::ProductionOptions;
use mallbox_storage::production::mysql::{self, MysqlPorts};
use mallbox_test_servers::MariaDb;
use mysql_async::Conn;
use mysql_async::prelude::Queryable as _;

use crate::world::{World, embedded};

/// A record in a database of its own.
pub struct MysqlRecord {
    /// Its ports.
    pub ports: MysqlPorts,
    /// Where it is.
    pub database: Arc<CaseDatabase>,
}

/// A database that no other case has, dropped with it.
pub struct CaseDatabase {
    url: String,
    name: String,
}

/// One MariaDB for all cases. It ends with the process.
async fn server() -> &'static MariaDb {
    static SERVER: OnceLock<MariaDb> = OnceLock::new();
    tokio::task::spawn_blocking(|| SERVER.get_or_init(|| MariaDb::start().unwrap())).await.unwrap()
}

/// An empty one.
pub async fn fresh() -> World {
    embedded().on_mysql(Arc::new(CaseDatabase::new().await)).await
}

/// The ports of this record, over connections of their own: as another process has them.
pub async fn connect(url: &str) -> MysqlPorts {
    mysql::connect(&ProductionOptions::new("redis://unused", url)).await.unwrap()
}

impl CaseDatabase {
    /// It is made by whoever connects first.
    pub async fn new() -> Self {
        static CASES: AtomicU64 = AtomicU64::new(0);
        let name = format!("case_{}", CASES.fetch_add(1, Ordering::Relaxed));
        let url = server().await.url(&name);
        Self { url, name }
    }

    /// Its address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A connection without any of the mall's settings.
    pub async fn conn(&self) -> Conn {
        Conn::from_url(&self.url).await.unwrap()
    }
}

impl Drop for CaseDatabase {
    fn drop(&mut self) {
        let (url, sql) = (self.url.clone(), format!("DROP DATABASE IF EXISTS {}", self.name));
        let drop_it = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                // Not there: the case never connected.
                if let Ok(mut conn) = Conn::from_url(url).await {
                    conn.query_drop(sql).await.unwrap();
                    conn.disconnect().await.unwrap();
                }
            });
        };
        // Not on this thread, which has a runtime already.
        let dropped = std::thread::spawn(drop_it).join();
        assert!(dropped.is_ok() || std::thread::panicking());
    }
}

impl World {
    /// This one, but with MySQL behind the ports that MySQL has.
    pub async fn on_mysql(mut self, database: Arc<CaseDatabase>) -> Self {
        let ports = connect(database.url()).await;
        self.storage = on_mysql(&self.storage, &ports);
        self.mysql = Some(MysqlRecord { ports, database });
        self
    }

    /// The same mall as another process sees it.
    pub async fn other_process(&self) -> Storage {
        on_mysql(&self.storage, &connect(self.record().database.url()).await)
    }

    /// Its record.
    pub fn record(&self) -> &MysqlRecord {
        self.mysql.as_ref().unwrap()
    }
}

fn on_mysql(storage: &Storage, ports: &MysqlPorts) -> Storage {
    Storage {
        users: Arc::clone(&ports.users),
        shops: Arc::clone(&ports.shops),
        vouchers: Arc::clone(&ports.vouchers),
        orders: Arc::clone(&ports.orders),
        payments: Arc::clone(&ports.payments),
        sequences: Arc::clone(&ports.sequences),
        ..storage.clone()
    }
}
