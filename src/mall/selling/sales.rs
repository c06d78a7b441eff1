//! Flash sales: claiming units, and the public state of a sale.
//!
//! Checks of a claim, in order: known sale, sure clock, window, pause, limit of the sale, level, limit of the
//! user, admission from the waiting room, pass, judgement, length of the log. A refused claim asks the store
//! first whether the user holds a unit.
//!
//! Reasons and figures: `src/decisions/0004-checks-of-a-claim.md`.

mod admitted;
mod audience;
mod claim_checks;
mod claim_limits;
mod counter;
mod decide;
mod guarded;
mod judged;
mod live;
mod promotions;
mod rooms;
mod terms_sync;
mod views;
mod waiting;
mod waves;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use mallbox_storage::{
    OrderId, SPAN_TARGET, SaleRecord, SaleUnits, ShopId, StoreError, Timestamp, UserId, Voucher, VoucherId,
    VoucherStatus,
};
use parking_lot::Mutex;
use tracing::Instrument as _;

use self::audience::Audiences;
use self::claim_limits::ClaimLimits;
use super::backpressure::{Backlog, Hold, Holds};
use super::guard::{Guards, ShownPass};
use super::judgement::Judge;
use super::order_numbers::OrderNumbers;
use super::sale_terms::{CachedSale, SaleTerms};
use super::terms_lease::TermsLease;
use super::timetables::Timetables;
use super::voucher_cache::VoucherCache;
use crate::mall::base::cache_aside::CacheMetrics;
use crate::mall::base::single_flight::SingleFlight;
use crate::mall::base::{Context, Failure, Random, Refusal};

pub(in crate::mall::selling) use self::admitted::AdmittedClaim;
pub use self::live::ListedSale;
pub use self::rooms::{ENTER_BEFORE, RoomPlace, RoomStanding};
pub use self::views::{LiveSale, RunningSale, SalePage, SaleState};
pub use self::waiting::poll_interval;
pub use super::timetables::PageWave;

/// Sales read per page when all sales are visited.
const PAGE: u32 = 500;
/// Time for which an ended sale stays in memory. Usually longer than a buyer's time to pay: a unit released
/// after the end does not reload the sale.
const EVICT_AFTER_END: Duration = Duration::from_secs(60 * 60);

/// The flash-sale service: accepts claims. Cheap to clone; clones share one state.
///
/// A claim passes these checks in order: known sale, sure clock, window, pause, limit of the sale, level,
/// rate limit per user and sale, admission from a waiting room, pass of a guarded sale, judgement, length of
/// the order log. Then [`Sales`](mallbox_storage::Sales) decides. A claim makes a single call to `Sales`,
/// which also finds a unit already held by the user: [`held`](mallbox_storage::Sales::held) after a refusal,
/// `claim` otherwise. All earlier checks use a copy of the sale's terms. The copy is at most a second old by
/// the mall's clock; while the database cannot be read, the last copy is used.
#[derive(Clone)]
pub struct FlashSales {
    inner: Arc<Inner>,
}

struct Inner {
    context: Context,
    terms: Arc<SaleTerms>,
    shelf: VoucherCache,
    timetables: Timetables,
    numbers: OrderNumbers,
    guards: Guards,
    judge: Judge,
    claim_limits: ClaimLimits,
    audiences: Audiences,
    backlog: Backlog,
    holds: Holds,
    puts: SingleFlight<VoucherId, Result<bool, Arc<StoreError>>>,
    terms_lease: TermsLease,
    /// Sales whose terms in the sales store may differ from the database.
    out_of_step: Mutex<HashSet<VoucherId>>,
    /// Sales that ended at or before this instant have been dropped from memory.
    forgotten_ms: AtomicI64,
}

impl FlashSales {
    /// Creates the service with empty caches. The operating system provides the secret behind order ids, if
    /// the mall has none yet.
    #[must_use]
    pub fn new(context: Context) -> Self {
        Self::with_random(context, Arc::new(Random::system()))
    }

    /// Creates the service with empty caches. `random` provides the secret behind order ids, if the mall has
    /// none yet.
    #[must_use]
    pub fn with_random(context: Context, random: Arc<Random>) -> Self {
        let inner = Inner {
            terms: Arc::new(SaleTerms::new(context.storage.clone())),
            shelf: VoucherCache::of(&context.storage),
            timetables: Timetables::of(&context.storage),
            numbers: OrderNumbers::new(Arc::clone(&random)),
            guards: Guards::new(context.clone(), random),
            judge: Judge::new(context.clone()),
            claim_limits: ClaimLimits::default(),
            audiences: Audiences::default(),
            backlog: Backlog::new(),
            holds: Holds::default(),
            puts: SingleFlight::default(),
            terms_lease: TermsLease::new(Arc::clone(&context.storage.base.locks)),
            out_of_step: Mutex::default(),
            forgotten_ms: AtomicI64::new(0),
            context,
        };
        Self { inner: Arc::new(inner) }
    }

    /// Puts every sale that has not ended, or may still be in memory, from the database into the sales store.
    /// Called at start, so that claims find their sales. Called later too, because an instance may have been
    /// killed between writing the database and the sales store.
    ///
    /// Takes the sale-terms lease anew from time to time: reading the buyers of a sale may be slow, and
    /// nobody could pause another sale meanwhile.
    ///
    /// # Errors
    /// [`StoreError`]: some sales may not be loaded yet; the first claim loads a missing sale.
    pub async fn load(&self, now: Timestamp) -> Result<u64, StoreError> {
        let mut lease = self.lease_terms().await?;
        let mut loaded = 0;
        let mut after = VoucherId::new(0);
        loop {
            let sales = self
                .inner
                .context
                .storage
                .catalogue
                .vouchers
                .sales(Some(now - EVICT_AFTER_END), after, PAGE)
                .await?;
            let Some(last) = sales.last() else { return Ok(loaded) };
            after = last.terms.voucher;
            for sale in sales {
                lease = self.inner.terms_lease.renew_if_long(lease).await?;
                if let Err(error) = self.put_as_recorded(&lease, sale.terms.voucher, now).await {
                    if !lease.is_lost() {
                        return Err(error);
                    }
                    lease = self.inner.terms_lease.renew_if_long(lease).await?;
                    self.put_as_recorded(&lease, sale.terms.voucher, now).await?;
                }
                loaded += 1;
            }
        }
    }

    /// Claims one unit of a sale for a user who shows no pass. The returned order id is durable.
    ///
    /// # Errors
    /// As [`claim_with_pass`](Self::claim_with_pass).
    pub async fn claim(&self, user: UserId, voucher: VoucherId, now: Timestamp) -> Result<OrderId, Failure> {
        self.claim_with_pass(user, voucher, ShownPass::default(), now).await
    }

    /// Claims one unit of a sale for a user. The returned order id is durable. A guarded sale requires a
    /// pass, which is spent with the unit, and a sale with a waiting room an admission; other sales ignore
    /// them.
    ///
    /// # Errors
    /// [`Failure::Refused`] with the reason. After [`Failure::Store`] the claim is in doubt: the user's
    /// orders show whether a unit was taken.
    pub async fn claim_with_pass(
        &self,
        user: UserId,
        voucher: VoucherId,
        shown: ShownPass<'_>,
        now: Timestamp,
    ) -> Result<OrderId, Failure> {
        let span = tracing::info_span!(target: SPAN_TARGET, "claim", mallbox.sale = voucher.get());
        self.claim_unit(user, voucher, shown, now).instrument(span).await
    }

    async fn claim_unit(
        &self,
        user: UserId,
        voucher: VoucherId,
        shown: ShownPass<'_>,
        now: Timestamp,
    ) -> Result<OrderId, Failure> {
        let inner = &*self.inner;
        let known = inner.known(voucher, now).await?;
        let Some(mut attempt) = inner.judge.open(&inner.guards, user, &known.sale, &shown, now).await else {
            return inner.decide(user, &known.sale, (shown, None), now).await;
        };
        let decided = inner.decide(user, &known.sale, (shown, Some(&mut attempt)), now).await;
        inner.judge.close(attempt, decided.as_ref().copied());
        decided
    }

    /// Returns the current state of a sale.
    ///
    /// # Errors
    /// [`Refusal::UnknownSale`]; [`Failure::Store`] if the store fails.
    pub async fn live(&self, voucher: VoucherId, now: Timestamp) -> Result<LiveSale, Failure> {
        let known = self.inner.known(voucher, now).await?;
        Ok(self.inner.live(&known.sale, now).await?.0)
    }

    /// Returns the current state of a sale for a page that shows it, and the time after which the page asks
    /// again.
    ///
    /// # Errors
    /// As [`live`](Self::live).
    pub async fn watch(&self, voucher: VoucherId, now: Timestamp) -> Result<(LiveSale, Duration), Failure> {
        let inner = &*self.inner;
        let sale = self.live(voucher, now).await?;
        let polls = inner.context.settings.polls;
        Ok((sale, inner.audiences.poll_in(&sale, polls, inner.guards.draw())))
    }

    /// Returns the current state of a running sale for operators.
    ///
    /// # Errors
    /// As [`live`](Self::live).
    pub(in crate::mall) async fn running(
        &self,
        voucher: VoucherId,
        now: Timestamp,
    ) -> Result<RunningSale, Failure> {
        let known = self.inner.known(voucher, now).await?;
        let (live, units) = self.inner.live(&known.sale, now).await?;
        let taken = units.map_or(0, |units| units.taken);
        Ok(RunningSale { title: known.voucher.text.title.clone(), live, taken })
    }

    /// Returns the content of a sale's page.
    ///
    /// # Errors
    /// [`Refusal::UnknownSale`]; [`Failure::Store`] if the store fails.
    pub async fn page(&self, voucher: VoucherId, now: Timestamp) -> Result<SalePage, Failure> {
        let inner = &*self.inner;
        let known = inner.known(voucher, now).await?;
        let shop = inner.context.copies.shops.get(known.voucher.text.shop, now).await?;
        let waves = inner.waves_of(&known.sale, now).await?;
        Ok(SalePage { voucher: known.voucher.clone(), sale: known.sale, shop, waves })
    }

    /// Opens a sale just added to the database. On return the sale accepts claims.
    ///
    /// # Errors
    /// [`Refusal::UnknownSale`]; [`Failure::Store`] if the store fails, and the first claim retries.
    pub async fn opened(&self, voucher: VoucherId) -> Result<(), Failure> {
        self.inner.terms.forget(voucher);
        self.inner.puts.part(&voucher);
        if self.inner.put(voucher).await? { Ok(()) } else { Err(Refusal::UnknownSale.into()) }
    }

    /// Returns the vouchers on a shop's shelf, from a copy some seconds old at most.
    pub(in crate::mall) async fn on_shelf(
        &self,
        shop: ShopId,
        now: Timestamp,
    ) -> Result<Vec<Voucher>, Failure> {
        self.inner.shelf.of_shop(shop, now).await
    }

    /// Invalidates the copies of a shop's vouchers after a change of the vouchers or their terms.
    pub(in crate::mall) async fn shelf_changed(&self, shop: ShopId) {
        self.inner.shelf.changed(shop).await;
    }

    /// Invalidates the copies of one voucher of a shop after a change.
    pub(in crate::mall) async fn voucher_changed(&self, voucher: VoucherId, shop: ShopId) {
        self.inner.terms.forget(voucher);
        self.shelf_changed(shop).await;
    }

    /// Rebuilds the Bloom filter of existing vouchers.
    pub(in crate::mall) async fn refill_id_filter(&self) -> Result<(), StoreError> {
        self.inner.terms.learn_ids().await
    }

    /// Returns the cache metrics of terms, shop vouchers, current sales and timetables.
    #[must_use]
    pub fn cache_figures(&self) -> [Arc<CacheMetrics>; 4] {
        let [of_shop, on_sale] = self.inner.shelf.figures();
        [self.inner.terms.figures(), of_shop, on_sale, self.inner.timetables.figures()]
    }

    /// Returns whether [`refresh`](Self::refresh) has any work.
    #[must_use]
    pub fn has_to_refresh(&self) -> bool {
        !self.inner.terms.is_empty() || !self.inner.out_of_step.lock().is_empty()
    }

    /// Re-reads the copies in use, so that no claim waits for the database. Retries pending puts into the
    /// sales store.
    ///
    /// # Errors
    /// [`StoreError`]: the remaining copies are read on demand.
    pub async fn refresh(&self, now: Timestamp) -> Result<(), StoreError> {
        let out_of_step: Vec<VoucherId> = self.inner.out_of_step.lock().iter().copied().collect();
        for voucher in out_of_step {
            let lease = self.lease_terms().await?;
            self.finish_change(lease, voucher, now).await?;
        }
        self.inner.terms.refresh(now).await
    }

    /// Evicts sales that ended more than an hour ago from the sales store. Returns the number of newly
    /// evicted sales. The first call counts every sale that ever ended, because another instance may have
    /// stopped before evicting them.
    ///
    /// # Errors
    /// [`StoreError`]: the next call continues.
    pub async fn evict_ended(&self, now: Timestamp) -> Result<u64, StoreError> {
        let storage = &self.inner.context.storage;
        let over = now - EVICT_AFTER_END;
        let since = Timestamp::from_millis(self.inner.forgotten_ms.load(Ordering::SeqCst));
        let mut forgotten = 0;
        let mut after = VoucherId::new(0);
        loop {
            // Keeps others from opening a listed sale again in the meantime.
            let lease = self.lease_terms().await?;
            let sales = storage.catalogue.vouchers.sales(Some(since), after, PAGE).await?;
            let Some(last) = sales.last() else { break };
            after = last.terms.voucher;
            for sale in sales.iter().filter(|sale| sale.terms.end <= over) {
                lease.check()?;
                storage.selling.sales.forget(sale.terms.voucher).await?;
                self.inner.claim_limits.forget(sale.terms.voucher);
                self.inner.audiences.forget(sale.terms.voucher);
                if sale.room.is_some() {
                    storage.selling.waiting_rooms.forget(sale.terms.voucher).await?;
                }
                forgotten += 1;
            }
        }
        self.inner.forgotten_ms.store(since.max(over).as_millis(), Ordering::SeqCst);
        Ok(forgotten)
    }

    /// Delays the claims of a sale for a moment, while the ledger check reads the sale.
    pub(in crate::mall) fn hold(&self, voucher: VoucherId) -> Hold<'_> {
        self.inner.holds.hold(voucher)
    }
}

impl Inner {
    /// Returns the copy of a sale whose voucher is on the shelf. Any other voucher is not for sale, even to a
    /// user who still has the id.
    async fn known(&self, voucher: VoucherId, now: Timestamp) -> Result<Arc<CachedSale>, Failure> {
        let known = self.terms.get(voucher, now).await?;
        let known = known.filter(|known| known.voucher.text.status == VoucherStatus::OnShelf);
        Ok(known.ok_or(Refusal::UnknownSale)?)
    }

    /// Returns the state and units of a sale, given terms just read or copied. An ended sale may have left
    /// memory and then has no units.
    async fn live(
        &self,
        sale: &SaleRecord,
        now: Timestamp,
    ) -> Result<(LiveSale, Option<SaleUnits>), StoreError> {
        let (terms, sales) = (sale.terms, &self.context.storage.selling.sales);
        let voucher = terms.voucher;
        let mut units = sales.units(voucher).await?;
        if units.is_none() && now < terms.end && self.put(voucher).await? {
            units = sales.units(voucher).await?;
        }
        // The database's stock is the final stock of a sale that has left memory.
        let left = units.map_or(sale.stock, |units| units.left());
        // While users wait, units are for the waiting list.
        let stock = left.filter(|_| !terms.waiting).or(terms.waiting.then_some(0));
        // Taken from the same read as `stock`, so that a progress bar never exceeds 100 %.
        let in_all = units.map_or(terms.units, |units| units.units);
        let state = SaleState::of(&terms, stock, now);
        let live = LiveSale {
            voucher,
            stock,
            units: in_all,
            state,
            at: now,
            begin: terms.begin,
            end: terms.end,
            next_wave: sale.wave_after(now),
            is_guarded: sale.guard.is_some(),
            has_waiting_list: sale.waiting_max.is_some(),
            has_room: sale.room.is_some(),
        };
        Ok((live, units))
    }
}
