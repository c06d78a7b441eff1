//! One run of a batch, by the holder of the batch's lock.
//!
//! A run stores two versions of the batch: with the order ids before the claims, and with the outcomes after
//! them. A crash in between leaves ids without outcomes. The next run looks for claims under these ids, and
//! makes the others anew, with ids of its own time.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{
    ClaimBatch, ClaimGateway, HeldLock, LockOwner, OrderId, StoreError, Timestamp, UserId, VoucherId, hex,
};
use sha2::{Digest as _, Sha256};
use tokio::task::JoinSet;

use super::claim::{BatchOutcome, DecidedBatch, GatewayClaim, hash_of};
use super::kept_outcome::{self, KeptOutcome};
use super::parts::Parts;
use crate::mall::base::{ClaimGatewayRefusal, Failure, Refusal};
use crate::mall::selling::order_numbers::Number;
use crate::mall::selling::sales::AdmittedClaim;

/// Lease of a batch's lock: how long a batch waits for an instance that died. Renewed while a run takes
/// longer.
const LEASE: Duration = Duration::from_secs(5);
/// Longest wait for a run of the same batch. Shorter than a call may take.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(4);

/// A batch to be run.
pub(super) struct Run {
    parts: Arc<Parts>,
    gateway: ClaimGateway,
    request: String,
    claims: Arc<[GatewayClaim]>,
    claims_hash: [u8; 32],
}

/// An admitted claim with the order id under which it will be made.
struct ReservedClaim {
    place: usize,
    order: OrderId,
    number: Number,
    admitted: AdmittedClaim,
}

/// Decided outcomes by place; `None` for the claims still to be made.
type Outcomes = Vec<Option<BatchOutcome>>;

impl Run {
    pub(super) fn new(
        parts: Arc<Parts>,
        gateway: ClaimGateway,
        request: String,
        claims: Vec<GatewayClaim>,
    ) -> Self {
        let claims_hash = hash_of(&claims);
        Self { parts, gateway, request, claims: claims.into(), claims_hash }
    }

    /// Returns the outcomes of the batch: stored ones, or those of this run.
    pub(super) async fn outcomes(self) -> Result<DecidedBatch, Failure> {
        let name = format!("claim batch {}:{}", self.gateway.id, hex(&Sha256::digest(&self.request)));
        let held = self.parts.locker.hold(&name, LockOwner::random(), LEASE, ACQUIRE_TIMEOUT).await?;
        let held = held.ok_or(Refusal::Busy)?;
        // The wait for another run may have taken seconds.
        let now = self.parts.context.now();
        let outcomes = self.outcomes_held(&held, now).await;
        if let Err(error) = held.leave().await {
            tracing::warn!(%error, "could not release the lock of a batch of claims; it expires by itself");
        }
        outcomes
    }

    async fn outcomes_held(&self, held: &HeldLock, now: Timestamp) -> Result<DecidedBatch, Failure> {
        let storage = &self.parts.context.storage;
        let (revision, mut outcomes) =
            match storage.selling.claim_batches.get(self.gateway.id, &self.request).await? {
                None => (0, vec![None; self.claims.len()]),
                Some(former) if former.claims_hash != self.claims_hash => {
                    return Err(ClaimGatewayRefusal::ClaimsDiffer.into());
                }
                Some(former) if former.is_finished => return self.read(&former),
                Some(former) => (former.revision, self.recognised(&former).await?),
            };
        if let Some(finished) = all_decided(&outcomes) {
            return self.finish(revision, finished, now).await;
        }
        // Before an outcome is stored: a repeat once the clock is sure makes the claims.
        self.parts.context.require_sure_clock()?;
        self.refuse_malformed(&mut outcomes);
        self.refuse_users(&mut outcomes).await?;
        let admitted = self.admit(&mut outcomes, now).await?;
        let reserved = self.reserve(admitted, &mut outcomes, now).await?;
        if reserved.is_empty() {
            let finished = all_decided(&outcomes).unwrap_or_default();
            return self.finish(revision, finished, now).await;
        }
        self.store(revision + 1, self.kept(&outcomes, &reserved)?, false, now).await?;
        if !held.is_held() {
            return Err(elsewhere().into());
        }
        let unused = self.take(reserved, &mut outcomes, now).await?;
        let Some(finished) = all_decided(&outcomes) else {
            return Err(Failure::Bug("a claim of a batch has no outcome".to_owned()));
        };
        let finished = self.finish(revision + 1, finished, now).await?;
        // Only now: no other run can make claims with these numbers any more.
        unused.into_iter().for_each(|number| self.parts.sales.give_back(number));
        Ok(finished)
    }

    /// Returns the outcomes of a finished batch.
    fn read(&self, finished: &ClaimBatch) -> Result<DecidedBatch, Failure> {
        let kept = kept_outcome::from_text(&finished.outcomes, self.claims.len())?;
        let outcomes: Option<Vec<BatchOutcome>> = kept.into_iter().map(KeptOutcome::outcome).collect();
        let outcomes =
            outcomes.ok_or_else(|| Failure::Bug("a finished batch has a reserved order id".to_owned()))?;
        Ok(DecidedBatch { outcomes, is_repeat: true })
    }

    /// Returns the outcomes of an earlier run. A reserved order id is an accepted claim if the log, the
    /// database or a dead letter has the claim, and otherwise a claim that was never made.
    async fn recognised(&self, former: &ClaimBatch) -> Result<Outcomes, Failure> {
        let kept = kept_outcome::from_text(&former.outcomes, self.claims.len())?;
        let mut outcomes: Outcomes = kept.iter().map(|kept| kept.outcome()).collect();
        let looked_up =
            kept.iter().zip(self.claims.iter()).enumerate().filter_map(|(place, (kept, claim))| {
                let KeptOutcome::Reserved(order) = *kept else { return None };
                let (parts, user) = (Arc::clone(&self.parts), claim.user);
                Some(async move { (place, order, parts.is_made(order, user).await) })
            });
        for (place, order, is_made) in concurrently(looked_up).await? {
            if is_made? {
                outcomes[place] = Some(BatchOutcome::Accepted(order));
            }
        }
        Ok(outcomes)
    }

    /// Refuses claims in other sales than those of the gateway, and repetitions within the batch.
    fn refuse_malformed(&self, outcomes: &mut Outcomes) {
        let mut seen = HashSet::new();
        for (claim, outcome) in self.claims.iter().zip(outcomes) {
            let is_first = seen.insert((claim.user, claim.voucher, claim.holding));
            let refusal = if !self.gateway.sales.contains(&claim.voucher) {
                ClaimGatewayRefusal::SaleNotNamed
            } else if !is_first {
                ClaimGatewayRefusal::DuplicateClaim
            } else {
                continue;
            };
            outcome.get_or_insert(BatchOutcome::Refused(refusal.into()));
        }
    }

    /// Refuses claims of users who could not log in.
    async fn refuse_users(&self, outcomes: &mut Outcomes) -> Result<(), Failure> {
        let users: BTreeSet<UserId> = self.open(outcomes).map(|(_, claim)| claim.user).collect();
        let users: Vec<UserId> = users.into_iter().collect();
        let found = self.parts.context.storage.people.users.those(&users).await?;
        let found: HashMap<UserId, _> = found.into_iter().map(|user| (user.id, user)).collect();
        for (claim, outcome) in self.claims.iter().zip(outcomes) {
            let refusal = match found.get(&claim.user) {
                Some(user) if user.may_log_in() => continue,
                Some(user) if user.deleted.is_none() => Refusal::Blocked,
                _ => ClaimGatewayRefusal::UnknownUser.into(),
            };
            outcome.get_or_insert(BatchOutcome::Refused(refusal));
        }
        Ok(())
    }

    /// Checks the open claims at once, as single claims are checked. Returns the admitted ones by place.
    async fn admit(
        &self,
        outcomes: &mut Outcomes,
        now: Timestamp,
    ) -> Result<Vec<(usize, AdmittedClaim)>, Failure> {
        let checks = self.open(outcomes).map(|(place, _)| {
            let (parts, claims) = (Arc::clone(&self.parts), Arc::clone(&self.claims));
            async move {
                let claim = &claims[place];
                (place, parts.sales.admit(claim.user, claim.voucher, claim.shown(), now).await)
            }
        });
        let checked = concurrently(checks.collect::<Vec<_>>()).await?;
        let mut admitted = Vec::with_capacity(checked.len());
        for (place, checked) in checked {
            match checked {
                Ok(claim) => admitted.push((place, claim)),
                Err(Failure::Refused(refusal)) => outcomes[place] = Some(BatchOutcome::Refused(refusal)),
                Err(failure) => return Err(failure),
            }
        }
        admitted.sort_unstable_by_key(|(place, _)| *place);
        Ok(admitted)
    }

    /// Gives each admitted claim an order id.
    async fn reserve(
        &self,
        admitted: Vec<(usize, AdmittedClaim)>,
        outcomes: &mut Outcomes,
        now: Timestamp,
    ) -> Result<Vec<ReservedClaim>, Failure> {
        let mut reserved = Vec::with_capacity(admitted.len());
        for (place, admitted) in admitted {
            match self.parts.sales.reserve(self.claims[place].voucher, now).await {
                Ok((order, number)) => reserved.push(ReservedClaim { place, order, number, admitted }),
                Err(Failure::Refused(refusal)) => outcomes[place] = Some(BatchOutcome::Refused(refusal)),
                Err(failure) => return Err(failure),
            }
        }
        Ok(reserved)
    }

    /// Makes the claims at once: they share group commits. Claims of one user in one sale are made in their
    /// order, since each says how many units the user holds. Returns the numbers of refused claims.
    async fn take(
        &self,
        reserved: Vec<ReservedClaim>,
        outcomes: &mut Outcomes,
        now: Timestamp,
    ) -> Result<Vec<Number>, Failure> {
        let mut of_users: HashMap<(UserId, VoucherId), Vec<ReservedClaim>> = HashMap::new();
        for claim in reserved {
            let GatewayClaim { user, voucher, .. } = self.claims[claim.place];
            of_users.entry((user, voucher)).or_default().push(claim);
        }
        let mut of_users: Vec<_> = of_users.into_values().collect();
        // The order of the batch, as far as the store keeps it: the first claims get the last units.
        of_users.sort_unstable_by_key(|claims| claims[0].place);
        let makings = of_users.into_iter().map(|claims| {
            let parts = Arc::clone(&self.parts);
            async move {
                let mut made = Vec::with_capacity(claims.len());
                for ReservedClaim { place, order, number, admitted } in claims {
                    made.push((place, number, parts.sales.take_admitted(admitted, order, now).await));
                }
                made
            }
        });
        let mut unused = Vec::new();
        for (place, number, made) in concurrently(makings).await?.into_iter().flatten() {
            outcomes[place] = Some(match made {
                Ok(order) => BatchOutcome::Accepted(order),
                Err(Failure::Refused(refusal)) => {
                    unused.push(number);
                    BatchOutcome::Refused(refusal)
                }
                // In doubt: the next run looks for the claim.
                Err(failure) => return Err(failure),
            });
        }
        Ok(unused)
    }

    /// Stores the final outcomes, unless they are stored already.
    async fn finish(
        &self,
        revision: u32,
        outcomes: Vec<BatchOutcome>,
        now: Timestamp,
    ) -> Result<DecidedBatch, Failure> {
        let kept: Vec<KeptOutcome> = outcomes.iter().map(KeptOutcome::of).collect::<Result<_, _>>()?;
        self.store(revision + 1, kept, true, now).await?;
        Ok(DecidedBatch { outcomes, is_repeat: false })
    }

    async fn store(
        &self,
        revision: u32,
        outcomes: Vec<KeptOutcome>,
        is_finished: bool,
        now: Timestamp,
    ) -> Result<(), Failure> {
        let batch = ClaimBatch {
            gateway: self.gateway.id,
            request: self.request.clone(),
            claims_hash: self.claims_hash,
            created: now,
            revision,
            outcomes: kept_outcome::to_text(&outcomes)?,
            is_finished,
        };
        let is_stored = self.parts.context.storage.selling.claim_batches.put(&batch).await?;
        if is_stored { Ok(()) } else { Err(elsewhere().into()) }
    }

    /// Returns the outcomes so far, with the reserved order ids.
    fn kept(&self, outcomes: &Outcomes, reserved: &[ReservedClaim]) -> Result<Vec<KeptOutcome>, Failure> {
        let ids: HashMap<usize, OrderId> = reserved.iter().map(|claim| (claim.place, claim.order)).collect();
        let kept = outcomes.iter().enumerate().map(|(place, outcome)| match (outcome, ids.get(&place)) {
            (Some(outcome), _) => KeptOutcome::of(outcome),
            (None, Some(order)) => Ok(KeptOutcome::Reserved(*order)),
            (None, None) => Err(Failure::Bug("a claim of a batch has neither outcome nor id".to_owned())),
        });
        kept.collect()
    }

    /// Returns the claims without an outcome.
    fn open<'a>(&'a self, outcomes: &'a Outcomes) -> impl Iterator<Item = (usize, &'a GatewayClaim)> {
        let places = self.claims.iter().zip(outcomes).enumerate();
        places.filter(|(_, (_, outcome))| outcome.is_none()).map(|(place, (claim, _))| (place, claim))
    }
}

/// Returns the outcomes, if every claim has one.
fn all_decided(outcomes: &Outcomes) -> Option<Vec<BatchOutcome>> {
    outcomes.iter().cloned().collect()
}

/// Returns the error of a run that another run has overtaken.
fn elsewhere() -> StoreError {
    StoreError::Unavailable {
        op: "batch of claims",
        source: "another instance has taken the batch over".into(),
    }
}

/// Runs pieces of work at once, and returns their results in any order.
async fn concurrently<T: Send + 'static>(
    works: impl IntoIterator<Item = impl Future<Output = T> + Send + 'static>,
) -> Result<Vec<T>, Failure> {
    let mut running: JoinSet<T> = works.into_iter().collect();
    let mut results = Vec::with_capacity(running.len());
    while let Some(result) = running.join_next().await {
        results.push(result.map_err(|error| Failure::Bug(format!("a claim of a batch panicked: {error}")))?);
    }
    Ok(results)
}
