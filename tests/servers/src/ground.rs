//! A location for a test's mall on either back end.
//!
//! Reasons and figures: `src/decisions/0028-tests-on-both-back-ends.md`.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use mallbox_storage::production::ProductionOptions;
use mallbox_storage::{EmbeddedOptions, Place};
use tempfile::TempDir;

use crate::database::Database;
use crate::guarded::Guarded;
use crate::redis::{Redis, RedisCluster};

/// Name of the mall's own directory.
pub(crate) const MALL: &str = "mall";

/// Location of one mall and its restarts, removed on drop: a directory, or a key prefix and a database on
/// servers shared by all tests of the process.
#[derive(Debug)]
pub struct Ground {
    place: Place,
    kind: Kind,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Directory(TempDir),
    Servers(Database),
}

impl Ground {
    /// Returns a location for a test target: servers if the name ends with `on_production`, as in
    /// `people_on_production`; else a directory.
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
        let place = Place::Embedded(EmbeddedOptions::new(dir.path().join(MALL)));
        Self { place, kind: Kind::Directory(dir) }
    }

    /// Returns a location on one Redis and one MariaDB, which end with the process.
    #[must_use]
    pub fn on_servers() -> Self {
        static SERVER: OnceLock<Redis> = OnceLock::new();
        Self::on_redis(
            SERVER.get_or_init(|| Redis::start().expect("the tests of this target need Redis")).url(),
        )
    }

    /// Returns a location on a cluster of three masters and the shared MariaDB. The mall is configured with
    /// one node.
    #[must_use]
    pub fn on_cluster() -> Self {
        static SERVERS: OnceLock<RedisCluster> = OnceLock::new();
        let cluster =
            SERVERS.get_or_init(|| RedisCluster::start(3).expect("the tests of this target need Redis"));
        Self::on_redis(cluster.urls().swap_remove(1))
    }

    /// Returns a location on one Redis and one MariaDB that require TLS and passwords.
    #[must_use]
    pub fn on_guarded_servers() -> Self {
        Self::on(Guarded::servers().redis_url(), Database::guarded())
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
        let place = Place::Production(options);
        Self { place, kind: Kind::Servers(database) }
    }

    /// Returns the options to open a mall.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Returns the database of a location on servers.
    #[must_use]
    pub fn database(&self) -> Option<&Database> {
        match &self.kind {
            Kind::Directory(_) => None,
            Kind::Servers(database) => Some(database),
        }
    }

    pub(crate) fn kind(&self) -> &Kind {
        &self.kind
    }
}
