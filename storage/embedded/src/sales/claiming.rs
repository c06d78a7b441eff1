//! The claim of a unit: the atomic step, and the look-up of units that the user holds already.

use std::sync::PoisonError;
use std::time::Duration;

use mallbox_storage::{Claim, ClaimOutcome, Pass, SPAN_TARGET, StoreError};
use tracing::Instrument as _;

use super::SalesInMemory;
use crate::buyers::Buyer;
use crate::journal::commit::Durable;
use crate::journal::durable;

const CLAIM: &str = "sales.claim";
/// Retries, and the delay between retries, while the order of a buyer is neither pending nor live in the
/// database: closed, but not released yet.
const ORDER_LOOKUP_RETRIES: usize = 50;
const ORDER_LOOKUP_RETRY_DELAY: Duration = Duration::from_millis(2);

/// Outcome of the atomic step of a claim.
enum ClaimStep {
    /// A unit is taken, and the claim is on its way to the disk.
    Now(Durable),
    /// The user holds this number of units already, which are enough.
    Before(u64),
    /// The user's units have changed since they were looked up.
    Changed,
    /// No unit is left, by claims up to this group commit.
    SoldOut(u64),
    Refused(ClaimOutcome),
}

/// State of a user's units: equal at two instants if no unit came or went in between.
#[derive(Clone, Copy, PartialEq, Eq)]
struct UnitsSeen {
    units: u64,
    removals: u64,
}

impl UnitsSeen {
    fn of(buyer: &Buyer<'_>) -> Self {
        Self { units: buyer.units(), removals: buyer.removals() }
    }
}

impl SalesInMemory {
    /// Reserves a unit, spends the pass and appends the claim: the atomic step. Never waits; the lock on the
    /// user's shard excludes concurrent claims of the shard. `seen`: the user's units when the claim was not
    /// found among them.
    fn take(&self, claim: Claim, pass: Option<Pass>, (holding, seen): (u8, Option<UnitsSeen>)) -> ClaimStep {
        let Some(sale) = self.sale(claim.voucher) else { return ClaimStep::Refused(ClaimOutcome::Unknown) };
        let standing = sale.standing.read().unwrap_or_else(PoisonError::into_inner);
        let mut buyer = sale.buyers.lock(claim.user);
        if buyer.has_bought() {
            let units = buyer.units();
            if standing.terms.is_enough(units, holding) {
                return ClaimStep::Before(units);
            }
            if seen != Some(UnitsSeen::of(&buyer)) {
                return ClaimStep::Changed;
            }
        }
        if let Some(closed) = standing.terms.closed(claim.at) {
            return ClaimStep::Refused(closed.into());
        }
        // First without the journal's lock: most callers find nothing left.
        if standing.is_sold_out() {
            return ClaimStep::SoldOut(sale.group());
        }
        let unspent = match pass {
            None => None,
            Some(pass) => match self.passes.unspent((claim.voucher, claim.user), pass, claim.at) {
                None => return ClaimStep::Refused(ClaimOutcome::PassRefused),
                unspent => unspent,
            },
        };
        let appended = self.journal.append_if(claim, |group| {
            sale.joined(group);
            let takes = standing.take();
            if takes {
                self.pending.insert(claim, group);
            }
            takes
        });
        match appended {
            Some(waiting) => {
                buyer.insert();
                if let Some(pass) = unspent {
                    pass.spend();
                }
                ClaimStep::Now(waiting)
            }
            None => ClaimStep::SoldOut(sale.group()),
        }
    }

    /// Runs the atomic step, and waits until its outcome is durable.
    pub(super) async fn claim(
        &self,
        claim: Claim,
        holding: u8,
        pass: Option<Pass>,
    ) -> Result<ClaimOutcome, StoreError> {
        self.journal.ready_for_claims(CLAIM)?;
        let mut seen = None;
        for _ in 0..ORDER_LOOKUP_RETRIES {
            match self.take(claim, pass, (holding, seen)) {
                ClaimStep::Refused(answer) => return Ok(answer),
                ClaimStep::SoldOut(group) => {
                    self.journal.until_durable(CLAIM, group).await?;
                    return Ok(ClaimOutcome::SoldOut);
                }
                ClaimStep::Now(waiting) => {
                    let span = tracing::info_span!(target: SPAN_TARGET, "group commit");
                    durable(CLAIM, waiting).instrument(span).await?;
                    return Ok(ClaimOutcome::Accepted);
                }
                ClaimStep::Before(units) => {
                    if let Some(answer) = self.bought_before(claim, units).await? {
                        return Ok(answer);
                    }
                }
                ClaimStep::Changed => {
                    seen = self.units_seen(claim);
                    if self.is_held(claim).await? {
                        return Ok(ClaimOutcome::Accepted);
                    }
                    continue;
                }
            }
            // Closed in the database, and not released yet.
            tokio::time::sleep(ORDER_LOOKUP_RETRY_DELAY).await;
        }
        Err(StoreError::Unavailable {
            op: CLAIM,
            source: "the user's last order is still being closed".into(),
        })
    }

    /// Returns the state of the user's units. `None` if the sale has left memory.
    fn units_seen(&self, claim: Claim) -> Option<UnitsSeen> {
        let sale = self.sale(claim.voucher)?;
        let buyer = sale.buyers.lock(claim.user);
        Some(UnitsSeen::of(&buyer))
    }

    /// Returns whether the claim itself, made before, holds one of its user's units, durably.
    async fn is_held(&self, claim: Claim) -> Result<bool, StoreError> {
        let pending = self.pending.holdings(claim.voucher, claim.user);
        if let Some(held) = pending.iter().find(|held| held.claim.order == claim.order) {
            self.journal.until_durable(CLAIM, held.group).await?;
            return Ok(true);
        }
        Ok(self.orders.holdings(claim.voucher, claim.user).await?.contains(&claim.order))
    }

    /// Returns the answer for a user who holds `units` units: the order is pending or in the database. `None`
    /// if the last order is closed, and its unit not released yet.
    pub(super) async fn bought_before(
        &self,
        claim: Claim,
        units: u64,
    ) -> Result<Option<ClaimOutcome>, StoreError> {
        if units > 1 && self.is_held(claim).await? {
            return Ok(Some(ClaimOutcome::Accepted));
        }
        let held = match self.pending.holdings(claim.voucher, claim.user).first() {
            Some(held) => {
                self.journal.until_durable(CLAIM, held.group).await?;
                Some(held.claim.order)
            }
            None => self.orders.holding(claim.voucher, claim.user).await?,
        };
        Ok(held.map(|order| {
            if order == claim.order { ClaimOutcome::Accepted } else { ClaimOutcome::AlreadyBought(order) }
        }))
    }
}
