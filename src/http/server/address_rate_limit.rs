//! The rate limit per client address.

use std::net::IpAddr;
use std::sync::Arc;

use mallbox_storage::{Limit, RateLimitOutcome, RateLimits};

use crate::http::response::error::ApiError;
use crate::mall::base::{SharedNetworks, client_network};
use crate::mall::{Clock, Refusal};

/// Counts the calls of each client address. Off by default, because a company may share an address.
#[derive(Clone)]
pub struct AddressRateLimit {
    limit: Limit,
    shared: SharedNetworks,
    rate_limits: Arc<dyn RateLimits>,
    clock: Arc<dyn Clock>,
}

impl AddressRateLimit {
    /// Creates a gate with a limit per address, which is higher in `shared` networks.
    #[must_use]
    pub fn new(
        limit: Limit,
        shared: SharedNetworks,
        rate_limits: Arc<dyn RateLimits>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { limit, shared, rate_limits, clock }
    }

    /// Counts a call from `client`, or refuses it when the limit is reached.
    pub(in crate::http) async fn pass(&self, client: IpAddr) -> Result<(), ApiError> {
        let key = format!("address:{}", client_network(client));
        let limit = self.shared.limit_of(self.limit, Some(client));
        match self.rate_limits.pass(&key, limit, self.clock.now()).await? {
            RateLimitOutcome::Allowed => Ok(()),
            RateLimitOutcome::Refused { retry_after } => Err(Refusal::RateLimited { retry_after }.into()),
        }
    }
}
