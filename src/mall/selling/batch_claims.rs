//! The batch door: claims of many users, gathered by a server that an operator trusts.
//!
//! Each claim passes the checks of a single claim. A batch is repeatable: its outcomes are stored before they
//! are returned, and its order ids before any claim is made, so that a repeat after a crash recognises the
//! claims that took effect.
//!
//! Reasons and figures: `src/decisions/0074-batch-door.md`.

mod claim;
mod kept_outcome;
mod parts;
mod run;

use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{ClaimGateway, Locker, StoreError, Timestamp, TokenHash, User};
use sha2::{Digest as _, Sha256};

use self::parts::Parts;
use self::run::Run;
use super::order_queries::OrderQueries;
use super::sales::FlashSales;
use crate::mall::base::detached::detached;
use crate::mall::base::idempotency_key::check_idempotency_key;
use crate::mall::base::{ClaimGatewayRefusal, Context, Failure, Refusal};

pub use self::claim::{BatchOutcome, DecidedBatch, GatewayClaim};

/// Time for which the outcomes of a batch are kept.
const OUTCOMES_KEPT_FOR: Duration = Duration::from_secs(24 * 60 * 60);
/// Time for which operators see a gateway whose token has expired.
const GATEWAYS_KEPT_FOR: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Batches deleted per transaction. A batch has up to some tens of kilobytes.
const PRUNE_MAX: u32 = 200;

/// The service for claims in batches. Cheap to clone.
#[derive(Clone)]
pub struct BatchClaims {
    parts: Arc<Parts>,
}

impl BatchClaims {
    /// Maximum number of claims in a batch.
    pub const CLAIMS_MAX: usize = 500;

    /// Creates the service.
    #[must_use]
    pub fn new(context: Context, sales: FlashSales) -> Self {
        let orders = OrderQueries::new(context.clone());
        let locker = Locker::new(Arc::clone(&context.storage.base.locks));
        Self { parts: Arc::new(Parts { context, sales, orders, locker }) }
    }

    /// Returns the gateway of a token. The token is void from its end on, with its removal, and while its
    /// operator is none or is blocked. Nothing of that is cached.
    ///
    /// # Errors
    /// [`ClaimGatewayRefusal::TokenInvalid`]; [`Failure::Store`] if the store fails.
    pub async fn gateway(&self, token: &str, now: Timestamp) -> Result<ClaimGateway, Failure> {
        let context = &self.parts.context;
        let invalid = || Failure::from(ClaimGatewayRefusal::TokenInvalid);
        let hash = TokenHash(Sha256::digest(token).into());
        let found = context.storage.selling.claim_gateways.of_token(hash, context.expiry_now(now)).await?;
        let gateway = found.ok_or_else(invalid)?;
        let operator = context.storage.people.users.get(gateway.operator).await?;
        if operator.is_some_and(|operator| User::acts(&operator)) { Ok(gateway) } else { Err(invalid()) }
    }

    /// Makes the claims of a batch.
    ///
    /// Idempotent for 24 hours: a repeat of the claims under the same name returns the same outcomes, on any
    /// instance, and completes a batch that a crash has cut short. The work finishes even if the caller is
    /// cancelled. Not atomic: some claims may be accepted and others refused.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] for a name or a number of claims out of range;
    /// [`ClaimGatewayRefusal::ClaimsDiffer`] if the name was used for other claims; [`Refusal::Clock`] while
    /// the clock is unsure; [`Refusal::Busy`] while the batch is in work elsewhere. After [`Failure::Store`]
    /// some claims may have been made: a repeat finds out.
    pub async fn claim(
        &self,
        gateway: ClaimGateway,
        request: String,
        claims: Vec<GatewayClaim>,
    ) -> Result<DecidedBatch, Failure> {
        let request = check_idempotency_key(request)?;
        if claims.is_empty() || claims.len() > Self::CLAIMS_MAX {
            return Err(Refusal::BadValue("claims").into());
        }
        let run = Run::new(Arc::clone(&self.parts), gateway, request, claims);
        detached(async move { run.outcomes().await }).await
    }
}

/// Deletes batches older than a day, and gateways whose tokens expired a week ago.
///
/// # Errors
/// [`StoreError`]: the next call continues.
pub(super) async fn prune(context: &Context, now: Timestamp) -> Result<(), StoreError> {
    let (selling, now) = (&context.storage.selling, context.expiry_now(now));
    while selling.claim_batches.prune(now - OUTCOMES_KEPT_FOR, PRUNE_MAX).await? == u64::from(PRUNE_MAX) {}
    selling.claim_gateways.prune(now - GATEWAYS_KEPT_FOR).await.map(drop)
}
