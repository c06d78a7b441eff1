//! The rungs, one file each, to be read in the order of the [catalogue](crate::catalogue).

pub(crate) mod check_then_delete;
pub(crate) mod conditional_update;
pub(crate) mod decr_below_zero;
pub(crate) mod delete_blindly;
pub(crate) mod delete_by_script;
pub(crate) mod fencing_token;
pub(crate) mod for_update;
pub(crate) mod get_lock;
pub(crate) mod get_then_decr;
pub(crate) mod message_table;
pub(crate) mod multi_lock;
pub(crate) mod owner_is_user;
pub(crate) mod process_lock;
pub(crate) mod read_then_write;
pub(crate) mod script_and_queue;
pub(crate) mod script_and_stream;
pub(crate) mod setnx_then_expire;
mod shop;
pub(crate) mod spin;
pub(crate) mod stock_buckets;
pub(crate) mod unlock_after_commit;
pub(crate) mod unlock_before_commit;
mod user_locks;
pub(crate) mod version_number;
pub(crate) mod watchdog;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::error::LadderError;
use crate::instance::{Parts, Request};
use crate::reply::Reply;

/// Lease of the locks in Redis. Short, so that a run does not wait long for a lease to end.
pub(crate) const LEASE: Duration = Duration::from_secs(2);
/// The lease in milliseconds, as Redis takes it.
pub(crate) const LEASE_MS: u64 = LEASE.as_millis() as u64;

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
