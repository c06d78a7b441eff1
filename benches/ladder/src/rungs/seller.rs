//! What every rung is: a seller of units.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::shop;
use crate::error::LadderError;
use crate::instance::{Parts, Request};
use crate::reply::Reply;

/// Lease of the locks in Redis. Short, so that a run does not wait long for a lease to end.
pub(crate) const LEASE: Duration = Duration::from_millis(LEASE_MS);
/// The lease in milliseconds, as Redis takes it.
pub(crate) const LEASE_MS: u64 = 2_000;

/// One way to sell units of a voucher: at most one to a user, and no more than there are.
#[async_trait]
pub(crate) trait Seller: Send + Sync {
    /// Returns what the rung is made of.
    fn parts(&self) -> &Parts;

    /// Sells a unit to the buyer of `request`.
    async fn buy(&self, request: &Request) -> Result<Reply, LadderError>;

    /// Cancels the order of the user, and returns the unit to the stock.
    async fn give_back(&self, request: &Request) -> Result<(), LadderError> {
        shop::give_back(&self.parts().database, request).await
    }

    /// Returns the units left, where this rung decides whether a unit is left.
    async fn stock(&self, request: &Request) -> Result<i64, LadderError> {
        shop::stock(&self.parts().database, request).await
    }

    /// Returns the number of accepted claims that wait for their order.
    async fn pending(&self, _request: &Request) -> Result<i64, LadderError> {
        Ok(0)
    }

    /// Starts the workers of the instance.
    async fn start(self: Arc<Self>, _worker: &Request) -> Result<(), LadderError> {
        Ok(())
    }
}
