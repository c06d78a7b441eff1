//! The [`Sales`] port: stock and buyers in memory, the claim in the journal, one step.

mod releases;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use crossbeam::sync::ShardedLock;
use foldhash::fast::RandomState;
use parking_lot::Mutex;

use super::buyers::{Buyer, Buyers};
use super::journal::commit::Durable;
use super::journal::{Journal, RECOVERED_GROUP, durable};
use super::lane::lane;
use super::pending::Pending;
use super::record::Holders;
use super::stock::Stock;
use crate::{
    Claim, ClaimAnswer, OrderId, Orders, Release, Reservation, Sales, StoreError, Terms, Timestamp, Units,
    UserId, VoucherId,
};

const CLAIM: &str = "sales.claim";
const UNITS: &str = "sales.units";
/// How often a buyer's order is looked for while it is on its way from one place to another, and how long between.
const LOOKS: usize = 50;
const BETWEEN_LOOKS: Duration = Duration::from_millis(2);

/// A sale in memory.
struct Sale {
    /// Claims and releases read it, so that a change of the terms comes between two of them and never into one.
    standing: ShardedLock<Standing>,
    buyers: Buyers,
    /// The last group commit with a claim of this sale. Stored before the claim takes its unit: who sees the unit taken
    /// sees the group.
    group: AtomicU64,
}

struct Standing {
    terms: Terms,
    /// Units left; unused while the sale is unlimited.
    stock: Stock,
    /// Units taken, counted only while the sale is unlimited.
    taken: AtomicU64,
}

impl Standing {
    fn new(terms: Terms, taken: u64) -> Self {
        let units = terms.units.map(|units| units.max(taken));
        Self {
            terms: Terms { units, ..terms },
            stock: Stock::new(units.unwrap_or(0).saturating_sub(taken), cells()),
            taken: AtomicU64::new(taken),
        }
    }

    fn is_sold_out(&self) -> bool {
        self.terms.units.is_some() && self.stock.is_empty()
    }

    fn take(&self) -> bool {
        match self.terms.units {
            Some(_) => self.stock.take(lane()),
            None => {
                self.taken.fetch_add(1, Ordering::AcqRel);
                true
            }
        }
    }

    fn give_back(&self) {
        match self.terms.units {
            Some(_) => self.stock.give(1, lane()),
            None => drop(self.taken.fetch_sub(1, Ordering::AcqRel)),
        }
    }

    fn units(&self) -> Units {
        let taken = match self.terms.units {
            Some(units) => units.saturating_sub(self.stock.left()),
            None => self.taken.load(Ordering::Acquire),
        };
        Units { units: self.terms.units, taken }
    }
}

/// One cell a core: more would only be more to look through when little is left.
fn cells() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// What the first look at a claim found.
enum Taken {
    /// A unit is taken, and the claim is on its way to the disk.
    Now(Durable),
    /// The user holds a unit already.
    Before,
    /// No unit is left, by claims up to this group commit.
    SoldOut(u64),
    Refused(ClaimAnswer),
}

/// The port: what it does is in [`Memory`], which a thread of its own may hold while it loads a sale.
pub(crate) struct EmbeddedSales {
    memory: Arc<Memory>,
}

struct Memory {
    journal: Arc<Journal>,
    pending: Arc<Pending>,
    orders: Arc<dyn Orders>,
    holders: Holders,
    sales: ShardedLock<HashMap<VoucherId, Arc<Sale>, RandomState>>,
    /// Held while a sale's buyers are read, so that they are read once.
    loading: Mutex<()>,
    /// The sale whose buyers are being read.
    reading: Mutex<Option<Reading>>,
}

struct Reading {
    voucher: VoucherId,
    /// A unit was given back or taken meanwhile: what was read may be wrong about it.
    is_stale: bool,
}

/// The orders by which a user holds units of a sale: claims that are not settled, and what is in the record. One that is being
/// settled is in both.
struct Held {
    pending: HashSet<OrderId>,
    recorded: HashSet<OrderId>,
}

impl Held {
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
        Self { memory: Arc::new(Memory { journal, pending, orders, holders, sales, loading, reading }) }
    }
}

impl Memory {
    fn sale(&self, voucher: VoucherId) -> Option<Arc<Sale>> {
        self.sales.read().unwrap_or_else(PoisonError::into_inner).get(&voucher).map(Arc::clone)
    }

    /// The atomic step: nothing in it waits, and nobody of the same shard of buyers comes in between.
    fn take(&self, claim: Claim) -> Taken {
        let Some(sale) = self.sale(claim.voucher) else { return Taken::Refused(ClaimAnswer::Unknown) };
        let standing = sale.standing.read().unwrap_or_else(PoisonError::into_inner);
        let mut buyer = sale.buyers.lock(claim.user);
        if buyer.has_bought() {
            return Taken::Before;
        }
        if let Some(closed) = standing.terms.closed(claim.at) {
            return Taken::Refused(closed.into());
        }
        // First without the journal's lock: most who come find nothing left.
        if standing.is_sold_out() {
            return Taken::SoldOut(sale.group());
        }
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
                Taken::Now(waiting)
            }
            None => Taken::SoldOut(sale.group()),
        }
    }

    /// The answer to somebody who holds a unit: the order is pending, or in the record, or on its way between the two.
    async fn bought_before(&self, claim: Claim) -> Result<Option<ClaimAnswer>, StoreError> {
        let held = match self.pending.holdings(claim.voucher, claim.user).first() {
            Some(held) => {
                self.journal.until_durable(CLAIM, held.group).await?;
                Some(held.claim.order)
            }
            None => self.orders.holding(claim.voucher, claim.user).await?,
        };
        Ok(held.map(|order| {
            if order == claim.order { ClaimAnswer::Accepted } else { ClaimAnswer::AlreadyBought(order) }
        }))
    }

    /// The units of a sale as durable claims leave them: waits for group commits under way, and leaves out claims in doubt.
    async fn durable_units(&self, sale: &Sale, voucher: VoucherId) -> Units {
        let (units, group) = sale.units();
        if self.journal.until_durable(UNITS, group).await.is_ok() {
            return units;
        }
        // A group failed: counted again between claims, so that what is subtracted was counted.
        let (units, group) = sale.units_between_claims();
        match self.journal.until_durable(UNITS, group).await {
            Ok(()) => units,
            Err(_) => {
                let in_doubt = self.journal.in_doubt(voucher, group);
                Units { taken: units.taken.saturating_sub(in_doubt), ..units }
            }
        }
    }

    /// Takes a sale into memory, with whoever holds a unit of it.
    fn load(&self, terms: Terms) -> Result<Units, StoreError> {
        let _one = self.loading.lock();
        if let Some(sale) = self.sale(terms.voucher) {
            return Ok(sale.put(terms));
        }
        loop {
            *self.reading.lock() = Some(Reading { voucher: terms.voucher, is_stale: false });
            let read = self.read(terms);
            let mut reading = self.reading.lock();
            let is_stale = reading.take().is_some_and(|reading| reading.is_stale);
            let sale = read?;
            if !is_stale {
                let units = sale.standing.read().unwrap_or_else(PoisonError::into_inner).units();
                let mut sales = self.sales.write().unwrap_or_else(PoisonError::into_inner);
                sales.insert(terms.voucher, Arc::new(sale));
                return Ok(units);
            }
        }
    }

    /// Acts on the units that a user holds, by what accounts for them in log and record, while nobody of the user's shard
    /// of buyers can come in between.
    async fn account<T>(
        &self,
        sale: &Sale,
        (voucher, user): (VoucherId, UserId),
        act: impl Fn(&Standing, &mut Buyer<'_>, Held) -> T,
    ) -> Result<T, StoreError> {
        let pending_claims = || -> Vec<Claim> {
            self.pending.holdings(voucher, user).into_iter().map(|in_flight| in_flight.claim).collect()
        };
        let look = |buyer: &Buyer<'_>| (buyer.units(), buyer.removals(), pending_claims());
        loop {
            let before = look(&sale.buyers.lock(user));
            // First: a claim that is settled after this look is in the record at the next.
            let pending = self.holders.unsettled(before.2.clone()).await?;
            let recorded = self.orders.holdings(voucher, user).await?;
            let standing = sale.standing.read().unwrap_or_else(PoisonError::into_inner);
            let mut buyer = sale.buyers.lock(user);
            // As many units, and no removal: then the user has bought nothing meanwhile either, and the record was read
            // between two looks at the same. Each time round somebody of the shard was released, or a claim was settled,
            // so this ends.
            if look(&buyer) == before {
                let recorded = HashSet::from_iter(recorded);
                return Ok(act(&standing, &mut buyer, Held { pending, recorded }));
            }
        }
    }

    /// The sale in memory, for a unit to be given back to or taken from. If its buyers are being read, the reader is told.
    fn sale_to_change(&self, voucher: VoucherId) -> Option<Arc<Sale>> {
        if let Some(sale) = self.sale(voucher) {
            return Some(sale);
        }
        let mut reading = self.reading.lock();
        // Read to the end since the first look, perhaps.
        let sale = self.sale(voucher);
        if let (None, Some(reading)) = (&sale, &mut *reading) {
            reading.is_stale |= reading.voucher == voucher;
        }
        sale
    }

    /// Reads who holds a unit: pending claims first, then the record, so that a claim on its way is seen at least once.
    fn read(&self, terms: Terms) -> Result<Sale, StoreError> {
        let buyers = Buyers::new();
        let in_flight = self.pending.of_voucher(terms.voucher);
        let group = in_flight.iter().map(|in_flight| in_flight.group).max().unwrap_or(RECOVERED_GROUP);
        let pending: Vec<Claim> = in_flight.iter().map(|in_flight| in_flight.claim).collect();
        let taken = self.holders.each(terms.voucher, &pending, &mut |user| buyers.lock(user).insert())?;
        let standing = Standing::new(terms, taken);
        if let Some(units) = terms.units
            && taken > units
        {
            tracing::error!(
                voucher = terms.voucher.get(),
                units,
                taken,
                "more units are taken than there are"
            );
        }
        Ok(Sale { standing: ShardedLock::new(standing), buyers, group: group.into() })
    }
}

impl Sale {
    /// To be read after what it is to vouch for.
    fn group(&self) -> u64 {
        self.group.load(Ordering::Acquire)
    }

    /// A claim of this group commit is about to take a unit. Groups come in order: the journal's lock is held.
    fn joined(&self, group: u64) {
        if self.group.load(Ordering::Relaxed) != group {
            self.group.store(group, Ordering::Release);
        }
    }

    /// With the group commit by which all that is counted is durable.
    fn units(&self) -> (Units, u64) {
        let units = self.standing.read().unwrap_or_else(PoisonError::into_inner).units();
        (units, self.group())
    }

    /// The same while no claim is between its unit and its group.
    fn units_between_claims(&self) -> (Units, u64) {
        let standing = self.standing.write().unwrap_or_else(PoisonError::into_inner);
        (standing.units(), self.group())
    }

    fn put(&self, terms: Terms) -> Units {
        let mut standing = self.standing.write().unwrap_or_else(PoisonError::into_inner);
        *standing = Standing::new(terms, standing.units().taken);
        standing.units()
    }
}

#[async_trait]
impl Sales for EmbeddedSales {
    async fn claim(&self, claim: Claim) -> Result<ClaimAnswer, StoreError> {
        self.memory.journal.ready(CLAIM)?;
        for _ in 0..LOOKS {
            match self.memory.take(claim) {
                Taken::Refused(answer) => return Ok(answer),
                Taken::SoldOut(group) => {
                    self.memory.journal.until_durable(CLAIM, group).await?;
                    return Ok(ClaimAnswer::SoldOut);
                }
                Taken::Now(waiting) => {
                    durable(CLAIM, waiting).await?;
                    return Ok(ClaimAnswer::Accepted);
                }
                Taken::Before => {
                    if let Some(answer) = self.memory.bought_before(claim).await? {
                        return Ok(answer);
                    }
                }
            }
            // Closed in the record, and not released yet.
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
        Err(StoreError::Unavailable {
            op: CLAIM,
            source: "the user's last order is still being closed".into(),
        })
    }

    async fn held(&self, voucher: VoucherId, user: UserId) -> Result<Option<OrderId>, StoreError> {
        let Some(sale) = self.memory.sale(voucher) else { return Ok(None) };
        if !sale.buyers.lock(user).has_bought() {
            return Ok(None);
        }
        // No order has this id, so every answer names another.
        let nobodys = Claim { order: OrderId::new(0), voucher, user, at: Timestamp::from_millis(0) };
        Ok(match self.memory.bought_before(nobodys).await? {
            Some(ClaimAnswer::AlreadyBought(order)) => Some(order),
            _ => None,
        })
    }

    async fn put(&self, terms: Terms) -> Result<Units, StoreError> {
        if let Some(sale) = self.memory.sale(terms.voucher) {
            return Ok(sale.put(terms));
        }
        // Reading half a million buyers takes some 50 ms: not on a thread that serves.
        let memory = Arc::clone(&self.memory);
        let loaded = tokio::task::spawn_blocking(move || memory.load(terms)).await;
        loaded.map_err(|error| StoreError::Unavailable { op: "sales.put", source: error.into() })?
    }

    async fn release(&self, voucher: VoucherId, user: UserId, order: OrderId) -> Result<Release, StoreError> {
        let Some(sale) = self.memory.sale_to_change(voucher) else { return Ok(Release::NotHeld) };
        if !sale.buyers.lock(user).has_bought() {
            return Ok(Release::NotHeld);
        }
        self.memory
            .account(&sale, (voucher, user), |standing, buyer, mut held| {
                held.pending.remove(&order);
                if buyer.units() <= held.count() {
                    return Release::NotHeld;
                }
                buyer.remove();
                standing.give_back();
                Release::Released
            })
            .await
    }

    async fn release_all(&self, closed: &[(VoucherId, UserId, OrderId)]) -> Result<(), StoreError> {
        let memory = &self.memory;
        let looked: Vec<_> = closed.iter().filter_map(|unit| memory.look_at(*unit)).collect();
        let buyers = looked.iter().map(|look| (look.voucher, look.user)).collect();
        let holdings = memory.holders.holdings(buyers).await?;
        let mut removals = HashMap::new();
        let mut others = Vec::new();
        for (look, recorded) in looked.iter().zip(holdings) {
            let own = removals.entry((look.voucher, Buyers::shard_of(look.user))).or_insert(0);
            match look.release(&memory.pending, &recorded, *own) {
                Some(was_released) => *own += u64::from(was_released),
                None => others.push((look.voucher, look.user, look.order)),
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
    ) -> Result<Reservation, StoreError> {
        let Some(sale) = self.memory.sale_to_change(voucher) else { return Ok(Reservation::Held) };
        let reservation = self
            .memory
            .account(&sale, (voucher, user), |standing, buyer, mut held| {
                held.recorded.insert(order);
                if buyer.units() >= held.count() {
                    return Reservation::Held;
                }
                if !standing.take() {
                    return Reservation::SoldOut;
                }
                buyer.insert();
                Reservation::Taken
            })
            .await?;
        if reservation == Reservation::SoldOut {
            self.memory.journal.until_durable("sales.reserve", sale.group()).await?;
        }
        Ok(reservation)
    }

    async fn units(&self, voucher: VoucherId) -> Result<Option<Units>, StoreError> {
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
        self.memory.sales.write().unwrap_or_else(PoisonError::into_inner).remove(&voucher);
        Ok(())
    }
}
