//! Databases of a test's own, on one MariaDB for all tests of a process.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use mysql_async::Conn;
use mysql_async::prelude::Queryable as _;

use crate::MariaDb;

/// A database that no other test has, dropped with it.
#[derive(Debug)]
pub struct Database {
    url: String,
    name: String,
}

/// It ends with the process.
fn server() -> &'static MariaDb {
    static SERVER: OnceLock<MariaDb> = OnceLock::new();
    SERVER.get_or_init(|| MariaDb::start().expect("the tests of this target need MariaDB"))
}

impl Database {
    /// It is made by whoever connects first.
    #[must_use]
    pub fn fresh() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let name = format!("test_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        Self { url: server().url(&name), name }
    }

    /// Its address.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A connection without any of the mall's settings.
    pub async fn conn(&self) -> Conn {
        Conn::from_url(&self.url).await.expect("a database that a mall has made")
    }

    /// Runs statements, one after the other and on one connection, from any thread.
    pub(crate) fn run(&self, statements: &[&str]) -> mysql_async::Result<()> {
        let work = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(async {
                let mut conn = Conn::from_url(&self.url).await?;
                for sql in statements {
                    conn.query_drop(*sql).await?;
                }
                conn.disconnect().await
            })
        };
        // Not on this thread, which may have a runtime already.
        std::thread::scope(|scope| scope.spawn(work).join()).expect("it does not panic")
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        const NO_SUCH_DATABASE: u16 = 1049;
        match self.run(&[&format!("DROP DATABASE {}", self.name)]) {
            Err(mysql_async::Error::Server(said)) if said.code == NO_SUCH_DATABASE => {}
            dropped => assert!(dropped.is_ok() || std::thread::panicking(), "{dropped:?}"),
        }
    }
}
