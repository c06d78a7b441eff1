//! A cache of shops, as the experiments use it.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_bench_ports::BenchError;

use crate::HeldLoads;

/// Shops that exist: 1 to this number.
pub const SHOPS: u64 = 500;

/// A step of a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WriteStep {
    /// The row in the database.
    Row,
    /// The entry in the cache: deleted, or replaced.
    Entry,
    /// A pause of half a second.
    Pause,
}

impl WriteStep {
    /// The row, then the entry.
    pub const ROW_FIRST: &[Self] = &[Self::Row, Self::Entry];
}

/// A cache of one way in front of a table of shops. A shop is a number with a value.
#[async_trait]
pub trait ShopCache: Send + Sync {
    /// Returns the reads of the database.
    fn loads(&self) -> &HeldLoads;

    /// Returns the value of a shop; `None` for a shop unknown to the way.
    async fn read(&self, shop: u64) -> Result<Option<u64>, BenchError>;

    /// Returns the steps of a write.
    fn write_steps(&self) -> &'static [WriteStep] {
        WriteStep::ROW_FIRST
    }

    /// Changes the row of a shop.
    async fn put_row(&self, shop: u64, value: u64) -> Result<(), BenchError>;

    /// Deletes or replaces the entry of a shop.
    async fn renew_entry(&self, shop: u64) -> Result<(), BenchError>;

    /// Lets the entry of a shop expire.
    async fn expire(&self, shop: u64) -> Result<(), BenchError>;

    /// Removes the entry of a shop, or expires an entry that the way never removes.
    async fn remove_entry(&self, shop: u64) -> Result<(), BenchError>;

    /// Fills the cache with shops. These reads do not count.
    async fn warm(&self, shops: RangeInclusive<u64>) -> Result<(), BenchError>;

    /// Returns the time until the next load of each entry; empty without entries.
    async fn lifetimes(&self, shops: RangeInclusive<u64>) -> Result<Vec<Duration>, BenchError>;

    /// Takes the lock of a loading caller and never frees the lock, like a dead caller. Returns `false` for
    /// a way without locks.
    async fn leave_lock(&self, shop: u64) -> Result<bool, BenchError>;

    /// Returns whether the lock of a loading caller is held.
    async fn is_locked(&self, shop: u64) -> Result<bool, BenchError>;

    /// Removes all data of the cache.
    async fn remove(self: Arc<Self>) -> Result<(), BenchError>;
}
