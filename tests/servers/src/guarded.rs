//! Servers that require TLS and a password.

use std::sync::OnceLock;

use tempfile::TempDir;

use crate::certificates::certificates;
use mallbox_bench_servers::{MariaDb, Redis, RedisOptions};
use mallbox_bench_servers::{ServerError, free_port};

/// Contains characters that must be percent-encoded in a URL.
const PASSWORD: &str = "hu/sh @1";
const IN_URL: &str = "hu%2Fsh%20%401";

/// A Redis and a MariaDB, both ending with the process.
#[derive(Debug)]
pub(crate) struct SecuredServers {
    _redis: Redis,
    /// Redis' TLS port.
    redis_port: u16,
    mariadb: MariaDb,
    dir: TempDir,
}

impl SecuredServers {
    /// Returns the servers of the process.
    pub(crate) fn servers() -> &'static Self {
        static SERVERS: OnceLock<SecuredServers> = OnceLock::new();
        SERVERS
            .get_or_init(|| Self::start().expect("the tests of this target need Redis, MariaDB and openssl"))
    }

    fn start() -> Result<Self, ServerError> {
        let dir = TempDir::new()?;
        certificates(dir.path())?;
        let file = |name: &str| dir.path().join(name).display().to_string();
        let redis_port = free_port()?;
        let options = RedisOptions::default()
            .with("tls-port", &redis_port.to_string())
            .with("tls-cert-file", &file("server.crt"))
            .with("tls-key-file", &file("server.key"))
            .with("tls-ca-cert-file", &file("ca.crt"))
            .with("tls-auth-clients", "no")
            .with("requirepass", PASSWORD)
            .with("port", "0");
        let redis = Redis::start_with(options)?;
        let mariadb = MariaDb::start_without_sync(&[
            &format!("--ssl-cert={}", file("server.crt")),
            &format!("--ssl-key={}", file("server.key")),
        ])?;
        Ok(Self { _redis: redis, redis_port, mariadb, dir })
    }

    pub(crate) fn redis_url(&self) -> String {
        format!("rediss://:{IN_URL}@127.0.0.1:{}?ca={}", self.redis_port, self.authority())
    }

    /// Returns the address of a database for a mall, with a user created by [`user_of`](Self::user_of).
    pub(crate) fn mysql_url(&self, database: &str) -> String {
        let (port, ca) = (self.mariadb.port(), self.authority());
        format!("mysql://{database}:{IN_URL}@127.0.0.1:{port}/{database}?require_ssl=true&ca={ca}")
    }

    /// Returns the statements that create the user of [`mysql_url`](Self::mysql_url), with the rights that
    /// the manual's page about Redis and MySQL names.
    pub(crate) fn user_of(database: &str) -> [String; 2] {
        [
            format!("CREATE USER {database} IDENTIFIED BY '{PASSWORD}' REQUIRE SSL"),
            format!(
                "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, INDEX, TRIGGER ON {database}.* TO {database}"
            ),
        ]
    }

    /// Returns the MariaDB with unrestricted access, for changes a test makes behind the mall's back.
    pub(crate) fn mariadb(&self) -> &MariaDb {
        &self.mariadb
    }

    fn authority(&self) -> String {
        self.dir.path().join("ca.crt").display().to_string()
    }
}
