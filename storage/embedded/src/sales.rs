//! The [`Sales`] port: stock and buyers in memory and the claim in the journal, in one atomic step.
//!
//! The step holds the lock of the buyer's shard: no user is seen as a buyer without an order, and nothing has
//! to be undone. Results that rest on other claims wait until the group commit of those claims is durable.
//!
//! Reasons and figures: `storage/decisions/0006-atomic-claim.md`,
//! `storage/decisions/0007-claims-visible-when-durable.md`.

mod claiming;
mod releases;
mod terms_and_stock;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use async_trait::async_trait;
use crossbeam::sync::ShardedLock;
use foldhash::fast::RandomState;
use mallbox_storage::{
    Claim, ClaimOutcome, Fenced, FencingToken, OrderId, Orders, Pass, ReleaseOutcome, ReserveOutcome,
    SaleUnits, Sales, StoreError, Terms, Timestamp, UserId, VoucherId,
};
use parking_lot::Mutex;

use super::buyers::{Buyer, Buyers};
use super::journal::{Journal, RECOVERED_GROUP};
use super::pending::Pending;
use super::spent_passes::SpentPasses;
use super::sqlite::Holders;
use terms_and_stock::TermsAndStock;

const UNITS: &str = "sales.units";

/// A sale in memory.
struct Sale {
    /// Terms and stock. Claims and releases hold the read lock, so a change of the terms never falls into
    /// the middle of a claim.
    standing: ShardedLock<TermsAndStock>,
    buyers: Buyers,
    /// The last group commit with a claim of the sale. Stored before the claim takes its unit: every
    /// observer of the taken unit also observes the group.
    group: AtomicU64,
}

/// The port. The state is in [`SalesInMemory`], which a blocking thread may share while loading a sale.
pub(crate) struct EmbeddedSales {
    memory: Arc<SalesInMemory>,
}

struct SalesInMemory {
    journal: Arc<Journal>,
    pending: Arc<Pending>,
    orders: Arc<dyn Orders>,
    holders: Holders,
    passes: SpentPasses,
    sales: ShardedLock<HashMap<VoucherId, Arc<Sale>, RandomState>>,
    /// Greatest fencing token of the forgotten sales. One token serves all, so that none is left behind per
    /// sale. Written under the write lock of `sales`.
    token_of_forgotten: AtomicU64,
    /// Held during a load, so that a sale's buyers are read once.
    loading: Mutex<()>,
    /// The sale being loaded.
    reading: Mutex<Option<LoadInProgress>>,
}

struct LoadInProgress {
    voucher: VoucherId,
    /// Whether a unit was released or taken during the load, so that the result may be outdated.
    is_stale: bool,
}

/// Orders by which a user holds units of a sale: unsettled claims, and orders in the database. A claim
/// being settled is in both sets.
struct HoldingOrders {
    pending: HashSet<OrderId>,
    recorded: HashSet<OrderId>,
}

impl HoldingOrders {
    fn count(&self) -> u64 {
        self.pending.union(&self.recorded).count() as u64
    }
}

impl EmbeddedSales {
    pub(crate) fn new(
        journal: Arc<Journal>,
        pending: Arc<Pending>,
        orders: Arc<dyn Orders>,
        holders: Holders,
    ) -> Self {
        let (sales, loading, reading) = (ShardedLock::default(), Mutex::default(), Mutex::default());
        let passes = SpentPasses::new();
        let token_of_forgotten = AtomicU64::new(0);
        let memory = SalesInMemory {
            journal,
            pending,
            orders,
            holders,
            passes,
            sales,
            token_of_forgotten,
            loading,
            reading,
        };
        Self { memory: Arc::new(memory) }
    }
}

impl SalesInMemory {
    fn sale(&self, voucher: VoucherId) -> Option<Arc<Sale>> {
        self.sales.read().unwrap_or_else(PoisonError::into_inner).get(&voucher).map(Arc::clone)
    }

    /// Returns the units of a sale according to durable claims: waits for group commits in progress, and
    /// excludes claims in doubt.
    async fn durable_units(&self, sale: &Sale, voucher: VoucherId) -> SaleUnits {
        let (units, group) = sale.units();
        if self.journal.until_durable(UNITS, group).await.is_ok() {
            return units;
        }
        // A group failed: counted again between claims, so that all subtracted claims are in the count.
        let (units, group) = sale.units_between_claims();
        match self.journal.until_durable(UNITS, group).await {
            Ok(()) => units,
            Err(_) => {
                let in_doubt = self.journal.in_doubt(voucher, group);
                SaleUnits { taken: units.taken.saturating_sub(in_doubt), ..units }
            }
        }
    }

    /// Loads a sale into memory, with all holders of its units. Repeated while a unit changes during the
    /// load.
    fn load(&self, terms: Terms, token: FencingToken) -> Result<Fenced<SaleUnits>, StoreError> {
        let _one = self.loading.lock();
        if let Some(put) = self.sale(terms.voucher).and_then(|sale| sale.put(terms, token)) {
            return Ok(put);
        }
        loop {
            if let Some(seen) = self.greater_token_of_forgotten(token) {
                return Ok(Fenced::Stale { seen });
            }
            *self.reading.lock() = Some(LoadInProgress { voucher: terms.voucher, is_stale: false });
            let read = self.read(terms, token);
            let mut reading = self.reading.lock();
            let is_stale = reading.take().is_some_and(|reading| reading.is_stale);
            let sale = read?;
            if !is_stale {
                let units = sale.standing.read().unwrap_or_else(PoisonError::into_inner).units();
                let mut sales = self.sales.write().unwrap_or_else(PoisonError::into_inner);
                sales.insert(terms.voucher, Arc::new(sale));
                return Ok(Fenced::Done(units));
            }
        }
    }

    /// Returns the greatest token of the forgotten sales, if greater than `token`.
    fn greater_token_of_forgotten(&self, token: FencingToken) -> Option<FencingToken> {
        Some(FencingToken::new(self.token_of_forgotten.load(Ordering::Acquire))).filter(|seen| *seen > token)
    }

    /// Runs `act` on a user's units together with the claims and orders that account for the units. No
    /// other call can change the user's shard in between.
    async fn with_holdings<T>(
        &self,
        sale: &Sale,
        (voucher, user): (VoucherId, UserId),
        act: impl Fn(&TermsAndStock, &mut Buyer<'_>, HoldingOrders) -> T,
    ) -> Result<T, StoreError> {
        let pending_claims = || -> Vec<Claim> {
            self.pending.holdings(voucher, user).into_iter().map(|in_flight| in_flight.claim).collect()
        };
        let snapshot = |buyer: &Buyer<'_>| (buyer.units(), buyer.removals(), pending_claims());
        loop {
            let before = snapshot(&sale.buyers.lock(user));
            // Read first: a claim settled after this read is found in the database by the next.
            let pending = self.holders.unsettled(before.2.clone()).await?;
            let recorded = self.orders.holdings(voucher, user).await?;
            let standing = sale.standing.read().unwrap_or_else(PoisonError::into_inner);
            let mut buyer = sale.buyers.lock(user);
            // Equal units and no removal imply no purchase meanwhile, so the database was read between two
            // equal states. Every further round requires a release in the shard or a settled claim, so the
            // loop ends.
            if snapshot(&buyer) == before {
                let recorded = HashSet::from_iter(recorded);
                return Ok(act(&standing, &mut buyer, HoldingOrders { pending, recorded }));
            }
        }
    }

    /// Returns the sale in memory for a change of its units. If the sale is being loaded, marks the load as
    /// stale.
    fn sale_to_change(&self, voucher: VoucherId) -> Option<Arc<Sale>> {
        if let Some(sale) = self.sale(voucher) {
            return Some(sale);
        }
        let mut reading = self.reading.lock();
        // The load may have finished since the first check.
        let sale = self.sale(voucher);
        if let (None, Some(reading)) = (&sale, &mut *reading) {
            reading.is_stale |= reading.voucher == voucher;
        }
        sale
    }

    /// Reads the holders of units: pending claims first, then the database, so that a claim in transit is
    /// seen at least once.
    fn read(&self, terms: Terms, token: FencingToken) -> Result<Sale, StoreError> {
        let buyers = Buyers::new();
        let in_flight = self.pending.of_voucher(terms.voucher);
        let group = in_flight.iter().map(|in_flight| in_flight.group).max().unwrap_or(RECOVERED_GROUP);
        let pending: Vec<Claim> = in_flight.iter().map(|in_flight| in_flight.claim).collect();
        let taken = self.holders.each(terms.voucher, &pending, &mut |user| buyers.lock(user).insert())?;
        let standing = TermsAndStock::new(terms, token, taken);
        if let Some(units) = terms.units
            && taken > units
        {
            tracing::error!(
                voucher = terms.voucher.get(),
                units,
                taken,
                "more units of a sale are sold than exist"
            );
        }
        Ok(Sale { standing: ShardedLock::new(standing), buyers, group: group.into() })
    }
}

impl Sale {
    /// Returns the last group commit with a claim of the sale. Must be read after the state that depends on
    /// the group.
    fn group(&self) -> u64 {
        self.group.load(Ordering::Acquire)
    }

    /// Records that a claim of `group` is about to take a unit. Groups arrive in order: the journal's lock
    /// is held.
    fn joined(&self, group: u64) {
        if self.group.load(Ordering::Relaxed) != group {
            self.group.store(group, Ordering::Release);
        }
    }

    /// Returns the units, and the group commit that makes all counted claims durable.
    fn units(&self) -> (SaleUnits, u64) {
        let units = self.standing.read().unwrap_or_else(PoisonError::into_inner).units();
        (units, self.group())
    }

    /// Returns [`units`](Self::units) while no claim is between its unit and its group.
    fn units_between_claims(&self) -> (SaleUnits, u64) {
        let standing = self.standing.write().unwrap_or_else(PoisonError::into_inner);
        (standing.units(), self.group())
    }

    /// Marks the sale as no longer in memory. Returns its token.
    fn forget(&self) -> FencingToken {
        let mut standing = self.standing.write().unwrap_or_else(PoisonError::into_inner);
        standing.is_forgotten = true;
        standing.token
    }

    /// Puts terms; `None` if the sale was forgotten since it was found.
    fn put(&self, terms: Terms, token: FencingToken) -> Option<Fenced<SaleUnits>> {
        let mut standing = self.standing.write().unwrap_or_else(PoisonError::into_inner);
        if standing.is_forgotten {
            return None;
        }
        if standing.token > token {
            return Some(Fenced::Stale { seen: standing.token });
        }
        *standing = TermsAndStock::new(terms, token, standing.units().taken);
        Some(Fenced::Done(standing.units()))
    }
}

#[async_trait]
impl Sales for EmbeddedSales {
    async fn claim(&self, claim: Claim) -> Result<ClaimOutcome, StoreError> {
        self.memory.claim(claim, 0, None).await
    }

    async fn claim_with_pass(&self, claim: Claim, pass: Pass) -> Result<ClaimOutcome, StoreError> {
        self.memory.claim(claim, 0, Some(pass)).await
    }

    async fn claim_further(
        &self,
        claim: Claim,
        holding: u8,
        pass: Option<Pass>,
    ) -> Result<ClaimOutcome, StoreError> {
        self.memory.claim(claim, holding, pass).await
    }

    async fn pass_epoch(&self, _: VoucherId) -> Result<u64, StoreError> {
        Ok(self.memory.passes.epoch())
    }

    async fn held(
        &self,
        voucher: VoucherId,
        user: UserId,
        holding: u8,
    ) -> Result<Option<OrderId>, StoreError> {
        let Some(sale) = self.memory.sale(voucher) else { return Ok(None) };
        let units = sale.buyers.lock(user).units();
        let terms = sale.standing.read().unwrap_or_else(PoisonError::into_inner).terms;
        if !terms.is_enough(units, holding) {
            return Ok(None);
        }
        // No order has this id, so the answer always names another order.
        let nobodys = Claim { order: OrderId::new(0), voucher, user, at: Timestamp::from_millis(0) };
        Ok(match self.memory.bought_before(nobodys, 1).await? {
            Some(ClaimOutcome::AlreadyBought(order)) => Some(order),
            _ => None,
        })
    }

    async fn put(&self, terms: Terms, token: FencingToken) -> Result<Fenced<SaleUnits>, StoreError> {
        if let Some(put) = self.memory.sale(terms.voucher).and_then(|sale| sale.put(terms, token)) {
            return Ok(put);
        }
        // Reading half a million buyers takes some 50 ms: not on a thread of the async runtime.
        let memory = Arc::clone(&self.memory);
        let loaded = tokio::task::spawn_blocking(move || memory.load(terms, token)).await;
        loaded.map_err(|error| StoreError::Unavailable { op: "sales.put", source: error.into() })?
    }

    async fn release(
        &self,
        voucher: VoucherId,
        user: UserId,
        order: OrderId,
    ) -> Result<ReleaseOutcome, StoreError> {
        let Some(sale) = self.memory.sale_to_change(voucher) else { return Ok(ReleaseOutcome::NotHeld) };
        if !sale.buyers.lock(user).has_bought() {
            return Ok(ReleaseOutcome::NotHeld);
        }
        self.memory
            .with_holdings(&sale, (voucher, user), |standing, buyer, mut held| {
                held.pending.remove(&order);
                if buyer.units() <= held.count() {
                    return ReleaseOutcome::NotHeld;
                }
                buyer.remove();
                standing.give_back();
                ReleaseOutcome::Released
            })
            .await
    }

    async fn release_all(&self, closed: &[(VoucherId, UserId, OrderId)]) -> Result<(), StoreError> {
        let memory = &self.memory;
        let snapshots: Vec<_> = closed.iter().filter_map(|unit| memory.snapshot_buyer(*unit)).collect();
        let buyers = snapshots.iter().map(|snapshot| (snapshot.voucher, snapshot.user)).collect();
        let holdings = memory.holders.holdings(buyers).await?;
        let mut removals = HashMap::new();
        let mut others = Vec::new();
        for (snapshot, recorded) in snapshots.iter().zip(holdings) {
            let own = removals.entry((snapshot.voucher, Buyers::shard_of(snapshot.user))).or_insert(0);
            match snapshot.release(&memory.pending, &recorded, *own) {
                Some(was_released) => *own += u64::from(was_released),
                None => others.push((snapshot.voucher, snapshot.user, snapshot.order)),
            }
        }
        for (voucher, user, order) in others {
            let _ = self.release(voucher, user, order).await?;
        }
        Ok(())
    }

    async fn reserve(
        &self,
        voucher: VoucherId,
        user: UserId,
        order: OrderId,
    ) -> Result<ReserveOutcome, StoreError> {
        let Some(sale) = self.memory.sale_to_change(voucher) else { return Ok(ReserveOutcome::Held) };
        let reservation = self
            .memory
            .with_holdings(&sale, (voucher, user), |standing, buyer, mut held| {
                held.recorded.insert(order);
                if buyer.units() >= held.count() {
                    return ReserveOutcome::Held;
                }
                if !standing.take() {
                    return ReserveOutcome::SoldOut;
                }
                buyer.insert();
                ReserveOutcome::Taken
            })
            .await?;
        if reservation == ReserveOutcome::SoldOut {
            self.memory.journal.until_durable("sales.reserve", sale.group()).await?;
        }
        Ok(reservation)
    }

    async fn units(&self, voucher: VoucherId) -> Result<Option<SaleUnits>, StoreError> {
        match self.memory.sale(voucher) {
            Some(sale) => Ok(Some(self.memory.durable_units(&sale, voucher).await)),
            None => Ok(None),
        }
    }

    async fn without_unit(&self, voucher: VoucherId, users: &[UserId]) -> Result<Vec<UserId>, StoreError> {
        let Some(sale) = self.memory.sale(voucher) else { return Ok(users.to_vec()) };
        let lacks = |user: &UserId| !sale.buyers.lock(*user).has_bought();
        Ok(users.iter().copied().filter(lacks).collect())
    }

    async fn forget(&self, voucher: VoucherId) -> Result<(), StoreError> {
        let memory = &self.memory;
        let mut sales = memory.sales.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(sale) = sales.remove(&voucher) {
            memory.token_of_forgotten.fetch_max(sale.forget().get(), Ordering::AcqRel);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU8;

    use mallbox_storage::Timestamp;

    use super::*;

    #[test]
    fn terms_are_not_put_into_a_sale_forgotten_meanwhile() {
        let [begin, end] = [0, 1].map(Timestamp::from_millis);
        let (voucher, per_user) = (VoucherId::new(7), NonZeroU8::MIN);
        let terms = Terms { voucher, begin, end, paused: false, units: Some(3), waiting: false, per_user };
        let standing = ShardedLock::new(TermsAndStock::new(terms, FencingToken::new(4), 0));
        let sale = Sale { standing, buyers: Buyers::new(), group: 0.into() };
        assert!(matches!(sale.put(terms, FencingToken::new(5)), Some(Fenced::Done(_))));
        assert_eq!(sale.forget(), FencingToken::new(5));
        assert!(sale.put(terms, FencingToken::new(6)).is_none());
    }
}
