//! Separate databases for tests, on one MariaDB per test process.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use mysql_async::Conn;
use mysql_async::prelude::Queryable as _;

use crate::MariaDb;
use crate::guarded::SecuredServers;

/// A database for one test, dropped together with the value.
#[derive(Debug)]
pub struct Database {
    /// Address for the mall.
    url: String,
    /// Address for the test itself.
    inside: String,
    name: String,
}

/// Returns the process's MariaDB, which ends with the process.
fn server() -> &'static MariaDb {
    static SERVER: OnceLock<MariaDb> = OnceLock::new();
    SERVER.get_or_init(|| MariaDb::start().expect("the tests of this target need MariaDB"))
}

impl Database {
    /// Returns an unused database name. The first connection creates the database.
    #[must_use]
    pub fn fresh() -> Self {
        let (name, server) = (name(), server());
        Self { url: server.url(&name), inside: server.url(&name), name }
    }

    /// Returns a database on a server that requires TLS and a password; creates the user.
    #[must_use]
    pub(crate) fn guarded() -> Self {
        let (name, servers) = (name(), SecuredServers::servers());
        let inside = servers.mariadb().url(&name);
        let database = Self { url: servers.mysql_url(&name), inside, name };
        let root = servers.mariadb().url("mysql");
        run(&root, &SecuredServers::user_of(&database.name)).expect("a server that makes users");
        database
    }

    /// Returns the address of the database for a mall.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Opens a connection without any of the mall's settings.
    pub async fn conn(&self) -> Conn {
        Conn::from_url(&self.inside).await.expect("a database that a mall has made")
    }

    /// Runs statements in order on one connection, from any thread.
    pub(crate) fn run(&self, statements: &[&str]) -> mysql_async::Result<()> {
        run(&self.inside, statements)
    }
}

/// Returns a name unique within the process.
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
    // On a separate thread, because the current one may already have a runtime.
    std::thread::scope(|scope| scope.spawn(work).join()).expect("it does not panic")
}

impl Drop for Database {
    fn drop(&mut self) {
        const NO_SUCH_DATABASE: u16 = 1049;
        match self.run(&[&format!("DROP DATABASE {}", self.name)]) {
            Err(mysql_async::Error::Server(error)) if error.code == NO_SUCH_DATABASE => {}
            dropped => assert!(dropped.is_ok() || std::thread::panicking(), "{dropped:?}"),
        }
    }
}
