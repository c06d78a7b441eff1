//! Databases of a test's own, on one MariaDB for all tests of a process.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use mysql_async::Conn;
use mysql_async::prelude::Queryable as _;

use crate::MariaDb;
use crate::guarded::Guarded;

/// A database that no other test has, dropped with it.
#[derive(Debug)]
pub struct Database {
    /// For a mall.
    url: String,
    /// For the test itself.
    inside: String,
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
        let (name, server) = (name(), server());
        Self { url: server.url(&name), inside: server.url(&name), name }
    }

    /// One on a server that wants TLS and a password of malls; the user is made here.
    #[must_use]
    pub(crate) fn guarded() -> Self {
        let (name, servers) = (name(), Guarded::servers());
        let inside = servers.mariadb().url(&name);
        let database = Self { url: servers.mysql_url(&name), inside, name };
        let root = servers.mariadb().url("mysql");
        run(&root, &Guarded::user_of(&database.name)).expect("a server that makes users");
        database
    }

    /// Its address.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A connection without any of the mall's settings.
    pub async fn conn(&self) -> Conn {
        Conn::from_url(&self.inside).await.expect("a database that a mall has made")
    }

    /// Runs statements, one after the other and on one connection, from any thread.
    pub(crate) fn run(&self, statements: &[&str]) -> mysql_async::Result<()> {
        run(&self.inside, statements)
    }
}

/// A name that no other test of this process has.
fn name() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    format!("test_{}", NUMBER.fetch_add(1, Ordering::Relaxed))
}

fn run<S: AsRef<str> + Sync>(url: &str, statements: &[S]) -> mysql_async::Result<()> {
    let work = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let mut conn = Conn::from_url(url).await?;
            for sql in statements {
                conn.query_drop(sql.as_ref()).await?;
            }
            conn.disconnect().await
        })
    };
    // Not on this thread, which may have a runtime already.
    std::thread::scope(|scope| scope.spawn(work).join()).expect("it does not panic")
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
