//! Locations of the malls of tests, on either back end.
//!
//! Reasons and figures: `src/decisions/0028-tests-on-both-back-ends.md`.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{OpenError, Storage};
use mallbox_storage_contract::BackEnd;
use mallbox_storage_embedded::EmbeddedOptions;
use mallbox_storage_production::ProductionOptions;
use mallbox_test_patience::Deadline;
use tempfile::TempDir;

use crate::database::Database;
use crate::guarded::SecuredServers;
use mallbox_bench_servers::{Redis, RedisCluster};

/// Name of the mall's own directory.
pub(crate) const MALL: &str = "mall";

/// Location of a mall across restarts, removed on drop: a directory, or a key prefix and a database on
/// servers shared by all tests of the process.
#[derive(Debug)]
pub struct MallLocation {
    kind: Kind,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Directory { options: EmbeddedOptions, _dir: TempDir },
    Servers { options: ProductionOptions, database: Database },
}

impl MallLocation {
    /// Returns a location for a test target: servers if the name ends with `on_production`; else a
    /// directory.
    ///
    /// `target` is the target's `env!("CARGO_CRATE_NAME")`.
    #[must_use]
    pub fn of_target(target: &str) -> Self {
        if target.ends_with("on_production") { Self::on_servers() } else { Self::directory() }
    }

    /// Returns a location for an embedded mall.
    #[must_use]
    pub fn directory() -> Self {
        let dir = TempDir::new().expect("a place for temporary files");
        let options = EmbeddedOptions::new(dir.path().join(MALL));
        Self { kind: Kind::Directory { options, _dir: dir } }
    }

    /// Returns a location on a Redis and a MariaDB shut down with the process.
    #[must_use]
    pub fn on_servers() -> Self {
        static SERVER: OnceLock<Redis> = OnceLock::new();
        Self::on_redis(
            SERVER.get_or_init(|| Redis::start().expect("the tests of this target need Redis")).url(),
        )
    }

    /// Returns a location on a cluster of three masters and the shared MariaDB. The mall is configured with a
    /// single node.
    #[must_use]
    pub fn on_cluster() -> Self {
        static SERVERS: OnceLock<RedisCluster> = OnceLock::new();
        let cluster =
            SERVERS.get_or_init(|| RedisCluster::start(3).expect("the tests of this target need Redis"));
        Self::on_redis(cluster.urls().swap_remove(1))
    }

    /// Returns a location on a Redis and a MariaDB with TLS and passwords.
    #[must_use]
    pub fn on_guarded_servers() -> Self {
        Self::on(SecuredServers::servers().redis_url(), Database::guarded())
    }

    /// Returns a location on the Redis at `url` and the shared MariaDB.
    #[must_use]
    pub fn on_redis(url: String) -> Self {
        Self::on(url, Database::fresh())
    }

    fn on(redis: String, database: Database) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let mut options = ProductionOptions::new(redis, database.url());
        options.redis.prefix = format!("test-{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        Self { kind: Kind::Servers { options, database } }
    }

    /// Opens the storage of a mall. Retries while a server is unreachable: on a busy machine servers start
    /// slowly.
    ///
    /// # Panics
    /// If the storage cannot be opened.
    pub async fn open(&self) -> Storage {
        let limit = Deadline::after(Duration::from_secs(20));
        loop {
            let opened = match &self.kind {
                Kind::Directory { options, .. } => mallbox_storage_embedded::open(options.clone()).await,
                Kind::Servers { options, .. } => mallbox_storage_production::open(options).await,
            };
            match opened {
                Err(OpenError::Unreachable { .. }) if !limit.is_over() => {
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
                opened => return opened.expect("an empty place opens"),
            }
        }
    }

    /// Returns the options, converted to a type such as `mallbox::place::Place`.
    #[must_use]
    pub fn place<P: From<EmbeddedOptions> + From<ProductionOptions>>(&self) -> P {
        match &self.kind {
            Kind::Directory { options, .. } => options.clone().into(),
            Kind::Servers { options, .. } => options.clone().into(),
        }
    }

    /// Returns the options that open the directory, unless the location is on servers.
    #[must_use]
    pub fn embedded(&self) -> Option<&EmbeddedOptions> {
        match &self.kind {
            Kind::Directory { options, .. } => Some(options),
            Kind::Servers { .. } => None,
        }
    }

    /// Returns the options that open the servers, unless the location is a directory.
    #[must_use]
    pub fn production(&self) -> Option<&ProductionOptions> {
        match &self.kind {
            Kind::Directory { .. } => None,
            Kind::Servers { options, .. } => Some(options),
        }
    }

    /// Returns the database on the server, unless the location is a directory.
    #[must_use]
    pub fn database(&self) -> Option<&Database> {
        match &self.kind {
            Kind::Directory { .. } => None,
            Kind::Servers { database, .. } => Some(database),
        }
    }

    pub(crate) fn kind(&self) -> &Kind {
        &self.kind
    }
}

#[async_trait]
impl BackEnd for MallLocation {
    async fn open(&self) -> Storage {
        Self::open(self).await
    }

    fn another(&self) -> Box<dyn BackEnd> {
        Box::new(match &self.kind {
            Kind::Directory { .. } => Self::directory(),
            Kind::Servers { options, .. } => Self::on_redis(options.redis.url.clone()),
        })
    }

    fn sql(&self, statement: &str) {
        Self::sql(self, statement);
    }

    fn ends_sessions_by_clock(&self) -> bool {
        matches!(self.kind, Kind::Directory { .. })
    }
}
