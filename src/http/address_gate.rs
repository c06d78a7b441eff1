//! The limit on calls from one address.

use std::net::IpAddr;
use std::sync::Arc;

use mallbox_storage::{Limit, Pass, RateLimits};

use super::error::ApiError;
use crate::mall::{Clock, Refusal};

/// Counts the calls of each client address. Off unless chosen: a company may share one.
#[derive(Clone)]
pub struct AddressGate {
    limit: Limit,
    rate_limits: Arc<dyn RateLimits>,
    clock: Arc<dyn Clock>,
}

impl AddressGate {
    /// With this limit for each address.
    #[must_use]
    pub fn new(limit: Limit, rate_limits: Arc<dyn RateLimits>, clock: Arc<dyn Clock>) -> Self {
        Self { limit, rate_limits, clock }
    }

    /// Lets a call from `peer` pass, or refuses it.
    pub(super) async fn pass(&self, peer: IpAddr) -> Result<(), ApiError> {
        let key = format!("address:{peer}");
        match self.rate_limits.pass(&key, self.limit, self.clock.now()).await? {
            Pass::Allowed => Ok(()),
            Pass::Refused { retry_after } => Err(Refusal::RateLimited { retry_after }.into()),
        }
    }
}
