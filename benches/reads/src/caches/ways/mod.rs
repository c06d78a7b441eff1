//! The ways, one per file; mallbox's own cache comes from the caller.

mod aside;
mod entries;
mod logical_expiry;
mod mutex;
mod none;
mod shop_table;

use std::sync::Arc;

use async_trait::async_trait;
use mallbox_bench_ports::{BenchError, Keep, Mall};

use self::aside::Aside;
use super::shop_cache::ShopCache;
use crate::{Stage, Way};

/// The ways to cache reads, in the order of the tables.
pub const WAYS: &[Way] = &[
    Way::on_servers("none", "no cache: every read goes to MySQL"),
    Way::on_servers("aside", "cache-aside; a write changes the row, then deletes the entry"),
    Way::on_servers("delete-first", "cache-aside; a write deletes the entry, then changes the row"),
    Way::on_servers("double-delete", "delete-first, and a second delete half a second later"),
    Way::on_servers("null-value", "cache-aside with an empty entry for absent shops"),
    Way::on_servers("bloom", "cache-aside behind a Bloom filter"),
    Way::on_servers("jitter", "cache-aside with times to live that differ by a tenth"),
    Way::on_servers("mutex", "null-value, and SET NX for whoever loads; the others wait"),
    Way::on_servers("logical-expiry", "entries that never leave; one caller loads in the background"),
    Way::in_directory(
        "mallbox-directory",
        "mallbox in a directory: leases, one load for all, stale while loading",
    ),
    Way::on_servers(
        "mallbox-servers",
        "mallbox on servers: the same, in Redis behind copies of each instance",
    ),
];

/// The cache of mallbox.
#[async_trait]
pub trait MallCaches: Send + Sync {
    /// Puts the cache of mallbox in front of the shops of an empty mall: shops 1 to [`SHOPS`](super::SHOPS),
    /// whose value is 1.
    async fn open(&self, mall: Mall) -> Result<Arc<dyn ShopCache>, BenchError>;
}

/// Opens a cache without any entry, but for ways that are filled beforehand.
pub(super) async fn open(
    way: &Way,
    stage: &Stage,
    malls: &dyn MallCaches,
) -> Result<Arc<dyn ShopCache>, BenchError> {
    let aside = match way.name {
        "none" => return none::open(stage).await,
        "logical-expiry" => return logical_expiry::open(stage).await,
        "mallbox-directory" => return malls.open(Mall::in_directory(&stage.dir).await?).await,
        "mallbox-servers" => {
            let addresses = &stage.servers()?.addresses;
            return malls.open(Mall::on_servers(addresses, Keep::InMemory).await?).await;
        }
        "aside" => Aside::plain(stage).await,
        "delete-first" => Aside::delete_first(stage).await,
        "double-delete" => Aside::double_delete(stage).await,
        "null-value" => Aside::null_value(stage).await,
        "bloom" => Aside::bloom(stage).await,
        "jitter" => Aside::jitter(stage).await,
        "mutex" => Aside::mutex(stage).await,
        other => Err(BenchError::Wrong(format!("no way {other:?}"))),
    };
    Ok(Arc::new(aside?))
}
