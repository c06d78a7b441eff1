//! Which Redis server may take and settle claims: the replication epochs that the database keeps.

use std::time::Duration;

use async_trait::async_trait;

use crate::{PARTITIONS, StoreError, VoucherId};

/// A part of Redis with epochs of its own, since a cluster may have it on a master of its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EpochScope(u64);

impl EpochScope {
    /// The deadlines of unpaid orders.
    pub const DEADLINES: Self = Self(PARTITIONS);

    /// A partition of sales, with its log.
    #[must_use]
    pub const fn partition(number: u64) -> Self {
        Self(number % PARTITIONS)
    }

    /// The partition of a sale.
    #[must_use]
    pub const fn of(voucher: VoucherId) -> Self {
        Self::partition(voucher.get())
    }

    /// Every scope.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..=PARTITIONS).map(Self)
    }

    /// Its number, as stored.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The scope of a stored number.
    #[must_use]
    pub fn numbered(number: u64) -> Option<Self> {
        (number <= PARTITIONS).then_some(Self(number))
    }
}

/// The time in which one Redis server, from one start or promotion to the next, is the only one that may take claims and
/// settle anything in a scope.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServerEpoch {
    /// Of what.
    pub scope: EpochScope,
    /// Counted from 1 in each scope.
    pub number: u64,
    /// The server's replication id, which each start and each promotion draws anew.
    pub server: String,
    /// Whether claims are taken. False until the resync is done.
    pub is_open: bool,
}

/// The epochs, and how far each instance has settled what it took in earlier ones.
///
/// - The epoch in force of a scope is the one with the highest number.
/// - A server that had an epoch of a scope never gets another one: whoever is connected to a server that was superseded
///   cannot make it valid again.
/// - The generation of a set of epochs is the sum of their numbers. It rises with each epoch that begins.
#[async_trait]
pub trait EpochRows: Send + Sync {
    /// The epoch in force of each scope that has one, all of one instant.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn current(&self) -> Result<Vec<ServerEpoch>, StoreError>;

    /// Begins the epoch after `after` (0 if there is none yet) in each of these scopes, closed. A compare-and-set: does
    /// nothing where another epoch has begun since, or where the server had one before.
    ///
    /// # Errors
    /// [`StoreError`]: read the epochs to find out.
    async fn begin(&self, scopes: &[(EpochScope, u64)], server: &str) -> Result<(), StoreError>;

    /// Opens these epochs. Opening one that is open, or over, changes nothing that counts.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn open(&self, epochs: &[(EpochScope, u64)]) -> Result<(), StoreError>;

    /// Notes that the instance lives, that it knows all epochs of this generation, and that every claim that it took in
    /// an earlier one is in the database.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn settled(&self, instance: &str, generation: u64) -> Result<(), StoreError>;

    /// Counts the instances that have not settled what they took before this generation, and that were heard of within
    /// `silence`, by the database's clock.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn unsettled(&self, generation: u64, silence: Duration) -> Result<u64, StoreError>;

    /// Forgets an instance that has nothing in hand, and those that have not been heard of for a day.
    ///
    /// # Errors
    /// [`StoreError`]: the instance counts as alive until it has been silent for long enough.
    async fn leave(&self, instance: &str) -> Result<(), StoreError>;
}
