//! Replication epochs, kept in the database: they name the Redis server that may take and settle claims.
//!
//! Reasons and figures: `storage/decisions/0017-redis-epochs.md`.

use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{PARTITIONS, StoreError, VoucherId};

/// A part of Redis with a separate sequence of epochs. In a cluster, each part may live on a different
/// master.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EpochScope(u64);

impl EpochScope {
    /// The scope of the deadlines of unpaid orders.
    pub const DEADLINES: Self = Self(PARTITIONS);

    /// Returns the scope of a partition of sales with its log. `number` is taken modulo [`PARTITIONS`].
    #[must_use]
    pub const fn partition(number: u64) -> Self {
        Self(number % PARTITIONS)
    }

    /// Returns the scope of the partition that holds the sale of `voucher`.
    #[must_use]
    pub const fn of(voucher: VoucherId) -> Self {
        Self::partition(voucher.get())
    }

    /// Iterates over all scopes: the partitions in order, then the deadlines.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..=PARTITIONS).map(Self)
    }

    /// Returns the number of the scope, as stored.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the scope with a stored number; `None` above [`PARTITIONS`].
    #[must_use]
    pub fn numbered(number: u64) -> Option<Self> {
        (number <= PARTITIONS).then_some(Self(number))
    }
}

/// A period in which one Redis server is the only one that may take claims and settle anything in a scope. An
/// epoch lasts from one start or promotion of a server to the next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServerEpoch {
    /// Scope in which the epoch is in force.
    pub scope: EpochScope,
    /// Number of the epoch, counted from 1 in each scope.
    pub number: u64,
    /// The server's replication id. Redis draws a new id on each start and each promotion.
    pub server: String,
    /// Whether the server takes claims: false until the resync is done.
    pub is_open: bool,
}

/// The stored epochs, and the progress of each instance in settling claims of earlier epochs.
///
/// - The epoch in force of a scope is the epoch with the highest number.
/// - A server that had an epoch of a scope never gets another one. An instance that is still connected to a
///   superseded server cannot make that server valid again.
/// - The generation of a set of epochs is the sum of the epoch numbers. The generation rises with each epoch
///   that begins.
#[async_trait]
pub trait EpochRows: Send + Sync {
    /// Returns the epoch in force of each scope that has one, from a single consistent read.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn current(&self) -> Result<Vec<ServerEpoch>, StoreError>;

    /// Begins a closed epoch in each of `scopes`, each paired with the number of the preceding epoch (0 for
    /// none). A compare-and-set: a scope stays unchanged if another epoch has begun since, or if the server
    /// had an epoch of the scope before.
    ///
    /// # Errors
    /// [`StoreError`]: the epochs may have begun; read them to find out.
    async fn begin(&self, scopes: &[(EpochScope, u64)], server: &str) -> Result<(), StoreError>;

    /// Opens epochs. A repeated call, or a call for an epoch that is over, has no effect that counts.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn open(&self, epochs: &[(EpochScope, u64)]) -> Result<(), StoreError>;

    /// Records a heartbeat of `instance`, and that the instance knows all epochs of `generation` and has
    /// written every claim of earlier generations to the database.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn settled(&self, instance: &str, generation: u64) -> Result<(), StoreError>;

    /// Counts the instances with unsettled claims from before `generation`. An instance without a heartbeat
    /// within `silence`, by the database's clock, does not count.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn unsettled(&self, generation: u64, silence: Duration) -> Result<u64, StoreError>;

    /// Removes an instance that has no claims in hand, and instances without a heartbeat for a day.
    ///
    /// # Errors
    /// [`StoreError`]: the instance counts as alive until the last heartbeat is too old.
    async fn leave(&self, instance: &str) -> Result<(), StoreError>;
}
