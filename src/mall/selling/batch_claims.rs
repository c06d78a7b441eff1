//! The batch door: claims of many users, gathered by a server that an operator trusts.
//!
//! Each claim passes the checks of a single claim. A batch is repeatable: its outcomes are stored before they
//! are returned, and its order ids before any claim is made, so that a repeat after a crash recognises the
//! claims that took effect.
//!
//! Reasons and figures: `src/decisions/0074-batch-door.md`.

mod kept_outcome;
mod run;

use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{
    ClaimGateway, Locker, OrderId, StoreError, Timestamp, TokenHash, User, UserId, VoucherId,
};
use sha2::{Digest as _, Sha256};

use self::run::Run;
use super::guard::ShownPass;
use super::order_queries::OrderQueries;
use super::sales::FlashSales;
use crate::mall::base::detached::detached;
use crate::mall::base::idempotency_key::check_idempotency_key;
use crate::mall::base::{ClaimGatewayRefusal, Context, Failure, Refusal};

/// Time for which the outcomes of a batch are kept.
const OUTCOMES_KEPT_FOR: Duration = Duration::from_secs(24 * 60 * 60);
/// Time for which operators see a gateway whose token has expired.
const GATEWAYS_KEPT_FOR: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Batches deleted per transaction. A batch has up to some tens of kilobytes.
const PRUNE_MAX: u32 = 200;

/// A claim of a batch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GatewayClaim {
    /// The user for whom the gateway claims.
    pub user: UserId,
    /// The sale.
    pub voucher: VoucherId,
    /// The units that the user holds already: the claim is for the next.
    pub holding: u8,
    /// The user's pass, for a guarded sale.
    pub pass: Option<String>,
    /// The ticket of the device that earned the pass.
    pub device: Option<String>,
    /// The user's admission, for a sale with a waiting room.
    pub admission: Option<String>,
}

/// The final outcome of a claim of a batch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BatchOutcome {
    /// The user holds a unit, durably.
    Accepted(OrderId),
    /// The claim was refused.
    Refused(Refusal),
}

/// A decided batch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DecidedBatch {
    /// An outcome per claim, in order, all of them durable.
    pub outcomes: Vec<BatchOutcome>,
    /// Whether an earlier request had decided the batch.
    pub is_repeat: bool,
}

/// The service for claims in batches. Cheap to clone.
#[derive(Clone)]
pub struct BatchClaims {
    inner: Arc<Inner>,
}

struct Inner {
    context: Context,
    sales: FlashSales,
    orders: OrderQueries,
    locker: Locker,
}

impl BatchClaims {
    /// Maximum number of claims in a batch.
    pub const CLAIMS_MAX: usize = 500;

    /// Creates the service.
    #[must_use]
    pub fn new(context: Context, sales: FlashSales) -> Self {
        let orders = OrderQueries::new(context.clone());
        let locker = Locker::new(Arc::clone(&context.storage.base.locks));
        Self { inner: Arc::new(Inner { context, sales, orders, locker }) }
    }

    /// Returns the gateway of a token. The token is void from its end on, with its removal, and while its
    /// operator is none or is blocked. Nothing of that is cached.
    ///
    /// # Errors
    /// [`ClaimGatewayRefusal::TokenInvalid`]; [`Failure::Store`] if the store fails.
    pub async fn gateway(&self, token: &str, now: Timestamp) -> Result<ClaimGateway, Failure> {
        let context = &self.inner.context;
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
    /// [`ClaimGatewayRefusal::ClaimsDiffer`] if the name was used for other claims; [`Refusal::Busy`] while
    /// the batch is in work elsewhere. After [`Failure::Store`] some claims may have been made: a repeat
    /// finds out.
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
        let run = Run::new(Arc::clone(&self.inner), gateway, request, claims);
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

impl GatewayClaim {
    /// Returns what the claim shows to a guarded sale. A gateway has no session, so that no log-in by SMS
    /// code counts, and its address says nothing about the user.
    fn shown(&self) -> ShownPass<'_> {
        ShownPass {
            pass: self.pass.as_deref(),
            device: self.device.as_deref(),
            admission: self.admission.as_deref(),
            holding: self.holding,
            ..ShownPass::default()
        }
    }

    /// Adds the claim to a hash, so that different lists of claims have different input.
    fn add_to(&self, hash: &mut Sha256) {
        let Self { user, voucher, holding, pass, device, admission } = self;
        hash.update(user.get().to_be_bytes());
        hash.update(voucher.get().to_be_bytes());
        hash.update([*holding]);
        for text in [pass, device, admission] {
            let text = text.as_deref();
            hash.update([u8::from(text.is_some())]);
            let text = text.unwrap_or_default();
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(text);
        }
    }
}

/// Returns the hash by which a repeat is compared with the first request.
fn hash_of(claims: &[GatewayClaim]) -> [u8; 32] {
    let mut hash = Sha256::new();
    claims.iter().for_each(|claim| claim.add_to(&mut hash));
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_difference_of_claims_changes_the_hash() {
        let claim = |user, voucher, holding, texts: [Option<&str>; 3]| {
            let [pass, device, admission] = texts.map(|text| text.map(str::to_owned));
            let (user, voucher) = (UserId::new(user), VoucherId::new(voucher));
            GatewayClaim { user, voucher, holding, pass, device, admission }
        };
        let none = [None; 3];
        let lists = [
            vec![claim(1, 2, 0, none)],
            vec![claim(2, 1, 0, none)],
            vec![claim(1, 2, 1, none)],
            vec![claim(1, 2, 0, none), claim(3, 2, 0, none)],
            vec![claim(3, 2, 0, none), claim(1, 2, 0, none)],
            vec![claim(1, 2, 0, [Some(""), None, None])],
            vec![claim(1, 2, 0, [Some("a"), Some("b"), None])],
            vec![claim(1, 2, 0, [Some("ab"), Some(""), None])],
            vec![claim(1, 2, 0, [Some("a"), None, Some("b")])],
        ];
        let hashes: std::collections::BTreeSet<_> = lists.iter().map(|claims| hash_of(claims)).collect();
        assert_eq!(hashes.len(), lists.len());
        assert_eq!(hash_of(&lists[3]), hash_of(&lists[3].clone()));
    }
}
