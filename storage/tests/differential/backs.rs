//! Makes the back ends that are compared.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use mallbox_storage::production::ProductionOptions;
use mallbox_storage::production::redis::RedisOptions;
use mallbox_storage::{Durability, EmbeddedOptions, Place, Storage};
use mallbox_test_servers::{Redis, RedisCluster};
use tempfile::TempDir;

use crate::case_database::CaseDatabase;

/// A back end with nothing in it.
pub struct Back {
    pub storage: Storage,
    _ground: Ground,
}

/// What goes with it.
enum Ground {
    Directory { _dir: TempDir },
    Database { _database: CaseDatabase },
}

/// In a directory of its own. Nobody pulls the plug here.
pub async fn embedded() -> Back {
    let dir = TempDir::new().unwrap();
    let options =
        EmbeddedOptions { durability: Durability::Process, ..EmbeddedOptions::new(dir.path().join("mall")) };
    let storage = Storage::open(&Place::Embedded(options)).await.unwrap();
    Back { storage, _ground: Ground::Directory { _dir: dir } }
}

/// On one Redis and MariaDB.
pub async fn on_one_redis() -> Back {
    static SERVER: OnceLock<Redis> = OnceLock::new();
    let url = tokio::task::spawn_blocking(|| SERVER.get_or_init(|| Redis::start().unwrap()).url());
    production(url.await.unwrap()).await
}

/// On a cluster of three masters, and MariaDB.
pub async fn on_a_cluster() -> Back {
    static SERVERS: OnceLock<RedisCluster> = OnceLock::new();
    let urls = tokio::task::spawn_blocking(|| SERVERS.get_or_init(|| RedisCluster::start(3).unwrap()).urls());
    production(urls.await.unwrap()[1].clone()).await
}

async fn production(redis: String) -> Back {
    static MALLS: AtomicU64 = AtomicU64::new(0);
    let prefix = format!("mall-{}", MALLS.fetch_add(1, Ordering::Relaxed));
    let database = CaseDatabase::new().await;
    let options = ProductionOptions {
        redis: RedisOptions { prefix, ..RedisOptions::new(redis) },
        mysql: database.url().to_owned(),
    };
    let storage = Storage::open(&Place::Production(options)).await.unwrap();
    Back { storage, _ground: Ground::Database { _database: database } }
}
