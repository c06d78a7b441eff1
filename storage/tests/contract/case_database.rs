//! Databases of a case's own, on one MariaDB for all cases.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use mallbox_storage::production::mysql::{self, MysqlPorts};
use mallbox_test_servers::MariaDb;
use mysql_async::Conn;
use mysql_async::prelude::Queryable as _;

/// A database that no other case has, dropped with it.
pub struct CaseDatabase {
    url: String,
    name: String,
}

/// The ports of this record.
pub async fn connect(url: &str) -> MysqlPorts {
    mysql::connect(url).await.unwrap()
}

/// It ends with the process.
async fn server() -> &'static MariaDb {
    static SERVER: OnceLock<MariaDb> = OnceLock::new();
    tokio::task::spawn_blocking(|| SERVER.get_or_init(|| MariaDb::start().unwrap())).await.unwrap()
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
