//! Flash sales: claims, and what is shown of a sale.

mod on;
mod shown;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use mallbox_storage::{
    Claim, ClaimAnswer, Limit, OrderId, SaleRecord, ShopId, StoreError, Timestamp, Units, UserId, Voucher,
    VoucherId, VoucherStatus,
};
use parking_lot::Mutex;

use super::cache_aside::CacheFigures;
use super::flights::{Flights, shared};
use super::order_numbers::OrderNumbers;
use super::sale_gate::{Backlog, Hold, Holds};
use super::sale_terms::{Known, SaleTerms};
use super::sale_turn::{SaleTurns, Turn};
use super::shelf::Shelf;
use super::{Context, Failure, Refusal};

pub use on::SaleOn;
pub use shown::{LiveSale, RunningSale, SalePage, SaleState};

/// How many sales are read at once when all are gone through.
const PAGE: u32 = 500;
/// How long a sale stays in memory that is over. Longer than a buyer has to pay, usually: a unit that comes back after the
/// end need not load the sale anew.
const AFTER_END: Duration = Duration::from_secs(60 * 60);

/// How many repeats a holder may make for each claim that the limit allows: each is answered by the order that is held.
const REPEATS_PER_CLAIM: u32 = 6;

/// Takes claims. Cheap to clone; clones are one counter.
///
/// A claim is checked in this order: known, already bought, window, pause, level, limit per user and sale, length of the log;
/// then [`Sales`](mallbox_storage::Sales) decides. Whether its user holds a unit is asked there too, in the one call that a
/// claim makes: [`held`](mallbox_storage::Sales::held) if it is refused, `claim` if not. Everything before that rests on a copy of the sale's terms that is at most
/// a second old by the mall's clock, or the last one while the record cannot be read.
#[derive(Clone)]
pub struct SaleCounter {
    inner: Arc<Inner>,
}

struct Inner {
    context: Context,
    terms: Arc<SaleTerms>,
    shelf: Shelf,
    numbers: OrderNumbers,
    backlog: Backlog,
    holds: Holds,
    puts: Flights<VoucherId, Result<bool, Arc<StoreError>>>,
    turns: SaleTurns,
    /// Sales of which the store may have been told otherwise than the record says.
    out_of_step: Mutex<HashSet<VoucherId>>,
    /// Sales that ended at or before this instant have been dropped from memory.
    forgotten_ms: AtomicI64,
}

impl SaleCounter {
    /// A counter that has asked nobody for anything yet.
    #[must_use]
    pub fn new(context: Context) -> Self {
        let inner = Inner {
            terms: Arc::new(SaleTerms::new(context.storage.clone())),
            shelf: Shelf::of(&context.storage),
            numbers: OrderNumbers::new(),
            backlog: Backlog::new(),
            holds: Holds::default(),
            puts: Flights::default(),
            turns: SaleTurns::new(Arc::clone(&context.storage.locks)),
            out_of_step: Mutex::default(),
            forgotten_ms: AtomicI64::new(0),
            context,
        };
        Self { inner: Arc::new(inner) }
    }

    /// Tells the store of every sale, as the record has it, that is not over or may still be in memory. For the start, so
    /// that claims find them; and for later, since an instance may have been killed between telling the one and the other.
    ///
    /// In many turns: reading the buyers of a sale may take long, and nobody could pause another meanwhile.
    ///
    /// # Errors
    /// [`StoreError`]: some sales may not be known yet; they become so when they are asked for.
    pub async fn load(&self, now: Timestamp) -> Result<u64, StoreError> {
        let mut turn = self.turn().await?;
        let mut loaded = 0;
        let mut after = VoucherId::new(0);
        loop {
            let sales = self.inner.context.storage.vouchers.sales(Some(now - AFTER_END), after, PAGE).await?;
            let Some(last) = sales.last() else { return Ok(loaded) };
            after = last.terms.voucher;
            for sale in sales {
                turn = self.inner.turns.go_on(turn).await?;
                self.put_as_recorded(&turn, sale.terms.voucher, now).await?;
                loaded += 1;
            }
        }
    }

    /// Takes one unit of a sale for a user. The order that this answers with is on the disk.
    ///
    /// # Errors
    /// [`Failure`]: why not. A store in trouble leaves it open whether the unit was taken; the user's orders tell.
    pub async fn claim(&self, user: UserId, voucher: VoucherId, now: Timestamp) -> Result<OrderId, Failure> {
        let inner = &*self.inner;
        let known = inner.known(voucher, now).await?;
        match inner.admit(user, &known.sale, now).await {
            Err(Failure::Refused(refusal)) => {
                let held = inner.held(user, voucher, &refusal, now).await?;
                return Err(held.map_or(refusal, Refusal::AlreadyBought).into());
            }
            admitted => admitted?,
        }
        inner.holds.pass(voucher).await;
        inner.take(user, voucher, now).await
    }

    /// A sale as it is now.
    ///
    /// # Errors
    /// [`Refusal::UnknownSale`], or the store is in trouble.
    pub async fn live(&self, voucher: VoucherId, now: Timestamp) -> Result<LiveSale, Failure> {
        let known = self.inner.known(voucher, now).await?;
        Ok(self.inner.live(&known.sale, now).await?.0)
    }

    /// The same of a sale that is on, for who watches it.
    ///
    /// # Errors
    /// As [`live`](Self::live).
    pub(super) async fn running(&self, voucher: VoucherId, now: Timestamp) -> Result<RunningSale, Failure> {
        let known = self.inner.known(voucher, now).await?;
        let (live, units) = self.inner.live(&known.sale, now).await?;
        let taken = units.map_or(0, |units| units.taken);
        Ok(RunningSale { title: known.voucher.text.title.clone(), live, taken })
    }

    /// What a sale's page tells.
    ///
    /// # Errors
    /// [`Refusal::UnknownSale`], or the store is in trouble.
    pub async fn page(&self, voucher: VoucherId, now: Timestamp) -> Result<SalePage, Failure> {
        let inner = &*self.inner;
        let known = inner.known(voucher, now).await?;
        let shop = inner.context.copies.shops.get(known.voucher.text.shop, now).await?;
        Ok(SalePage { voucher: known.voucher.clone(), sale: known.sale, shop })
    }

    /// A sale was added to the record: it is open for claims when this answers.
    ///
    /// # Errors
    /// [`Refusal::UnknownSale`], or the store is in trouble: the first claim tries again.
    pub async fn opened(&self, voucher: VoucherId) -> Result<(), Failure> {
        self.inner.terms.forget(voucher);
        self.inner.puts.part(&voucher);
        if self.inner.put(voucher).await? { Ok(()) } else { Err(Refusal::UnknownSale.into()) }
    }

    /// One's turn to change the terms of sales. What the store is told is absolute, so that an old number of units would
    /// undo a change: nobody else reads the record to tell the store of it while somebody has the turn.
    ///
    /// # Errors
    /// [`StoreError`]: another instance has the turn for too long, or locks cannot be had.
    pub(super) async fn turn(&self) -> Result<Turn, StoreError> {
        self.inner.turns.next().await
    }

    /// The record or the store is about to hear of other terms, in one's turn. Until both have been
    /// [told](Self::tell), a chore sees to it.
    pub(super) fn changing(&self, voucher: VoucherId) {
        self.inner.out_of_step.lock().insert(voucher);
    }

    /// Whether somebody is between the two: then record and store may differ, and nothing is wrong.
    pub(super) fn is_changing(&self, voucher: VoucherId) -> bool {
        self.inner.out_of_step.lock().contains(&voucher)
    }

    /// Tells the store of a sale as the record has it now, in one's turn; of one that is over only if the store has it in
    /// memory. Answers the sale; `None` if the record has no such sale.
    pub(super) async fn tell(
        &self,
        turn: &Turn,
        voucher: VoucherId,
        now: Timestamp,
    ) -> Result<Option<SaleRecord>, StoreError> {
        // Before it is read: what is read now stays as a copy.
        self.inner.terms.forget(voucher);
        let told = self.put_as_recorded(turn, voucher, now).await?;
        if let Some(Voucher { text, .. }) = &told {
            self.shelf_changed(text.shop).await;
        }
        self.inner.out_of_step.lock().remove(&voucher);
        Ok(told.and_then(|told| told.sale))
    }

    /// The vouchers of a shop that are on the shelf, from a copy that is no older than some seconds.
    pub(super) async fn on_shelf(&self, shop: ShopId, now: Timestamp) -> Result<Vec<Voucher>, Failure> {
        self.inner.shelf.of_shop(shop, now).await
    }

    /// The record has other vouchers of this shop, or other terms of one.
    pub(super) async fn shelf_changed(&self, shop: ShopId) {
        self.inner.shelf.changed(shop).await;
    }

    /// The record tells something else of this voucher of this shop: copies of it are old.
    pub(super) async fn voucher_changed(&self, voucher: VoucherId, shop: ShopId) {
        self.inner.terms.forget(voucher);
        self.shelf_changed(shop).await;
    }

    async fn put_as_recorded(
        &self,
        turn: &Turn,
        voucher: VoucherId,
        now: Timestamp,
    ) -> Result<Option<Voucher>, StoreError> {
        let (storage, terms) = (&self.inner.context.storage, &self.inner.terms);
        let changes = terms.changes();
        let found = storage.vouchers.get(voucher).await?;
        if let Some(found) = &found {
            terms.keep(found, changes, now);
        }
        if let Some(sale) = found.as_ref().and_then(|found| found.sale)
            && (now < sale.terms.end || storage.sales.units(voucher).await?.is_some())
        {
            turn.check()?;
            storage.sales.put(sale.terms).await?;
        }
        Ok(found)
    }

    /// Loads a sale anew from the record and from what waits in the log: for a store that outlives its mistakes.
    ///
    /// # Errors
    /// [`StoreError`]: the first claim loads it.
    pub(super) async fn reload(&self, voucher: VoucherId, now: Timestamp) -> Result<(), StoreError> {
        let turn = self.turn().await?;
        self.inner.context.storage.sales.forget(voucher).await?;
        self.tell(&turn, voucher, now).await?;
        Ok(())
    }

    /// Learns anew which vouchers there are.
    pub(super) async fn learn_ids(&self) -> Result<(), StoreError> {
        self.inner.terms.learn_ids().await
    }

    /// What has been counted about the copies.
    #[must_use]
    pub fn cache_figures(&self) -> [Arc<CacheFigures>; 3] {
        let [of_shop, on_sale] = self.inner.shelf.figures();
        [self.inner.terms.figures(), of_shop, on_sale]
    }

    /// Whether [`refresh`](Self::refresh) has anything to do.
    #[must_use]
    pub fn has_to_refresh(&self) -> bool {
        !self.inner.terms.is_empty() || !self.inner.out_of_step.lock().is_empty()
    }

    /// Reads the copies in use anew, so that no claim has to wait for the record; and tells the store what it has not been
    /// told.
    ///
    /// # Errors
    /// [`StoreError`]: the copies left are read when they are asked for.
    pub async fn refresh(&self, now: Timestamp) -> Result<(), StoreError> {
        let out_of_step: Vec<VoucherId> = self.inner.out_of_step.lock().iter().copied().collect();
        for voucher in out_of_step {
            let turn = self.turn().await?;
            self.tell(&turn, voucher, now).await?;
        }
        self.inner.terms.refresh(now).await
    }

    /// Drops sales from the store's memory that have been over for a while. Answers how many there are that this counter
    /// did not drop before: of all that ever were, the first time, since another instance may have ended before it did.
    ///
    /// # Errors
    /// [`StoreError`]: the next call goes on.
    pub async fn forget_over(&self, now: Timestamp) -> Result<u64, StoreError> {
        let storage = &self.inner.context.storage;
        let over = now - AFTER_END;
        let since = Timestamp::from_millis(self.inner.forgotten_ms.load(Ordering::SeqCst));
        let mut forgotten = 0;
        let mut after = VoucherId::new(0);
        loop {
            // So that nobody opens one of them again in between.
            let turn = self.turn().await?;
            let sales = storage.vouchers.sales(Some(since), after, PAGE).await?;
            let Some(last) = sales.last() else { break };
            after = last.terms.voucher;
            for sale in sales.iter().filter(|sale| sale.terms.end <= over) {
                turn.check()?;
                storage.sales.forget(sale.terms.voucher).await?;
                forgotten += 1;
            }
        }
        self.inner.forgotten_ms.store(since.max(over).as_millis(), Ordering::SeqCst);
        Ok(forgotten)
    }

    /// Keeps the claims of a sale waiting for a moment, while its books are read.
    pub(super) fn hold(&self, voucher: VoucherId) -> Hold<'_> {
        self.inner.holds.hold(voucher)
    }
}

impl Inner {
    /// The copy of a sale whose voucher is on the shelf: another is not for sale, whoever still has its id.
    async fn known(&self, voucher: VoucherId, now: Timestamp) -> Result<Arc<Known>, Failure> {
        let known = self.terms.get(voucher, now).await?;
        let known = known.filter(|known| known.voucher.text.status == VoucherStatus::OnShelf);
        Ok(known.ok_or(Refusal::UnknownSale)?)
    }

    /// Where a sale is by terms that were just read or copied, and its units if it is in memory: one that is over need not
    /// be.
    async fn live(&self, sale: &SaleRecord, now: Timestamp) -> Result<(LiveSale, Option<Units>), StoreError> {
        let (terms, sales) = (sale.terms, &self.context.storage.sales);
        let voucher = terms.voucher;
        let mut units = sales.units(voucher).await?;
        if units.is_none() && now < terms.end && self.put(voucher).await? {
            units = sales.units(voucher).await?;
        }
        // The record's stock is what it ended with.
        let stock = units.map_or(sale.stock, |units| units.left());
        // Of one reading, so that a bar never shows more than there is.
        let in_all = units.map_or(terms.units, |units| units.units);
        let state = SaleState::of(&terms, stock, now);
        let live =
            LiveSale { voucher, stock, units: in_all, state, at: now, begin: terms.begin, end: terms.end };
        Ok((live, units))
    }

    /// Lets a claim through to the store, or refuses it by the sale's window, its pause, its level, the user's limit, and the
    /// length of the log, in this order.
    async fn admit(&self, user: UserId, sale: &SaleRecord, now: Timestamp) -> Result<(), Failure> {
        let context = &self.context;
        if let Some(closed) = sale.terms.closed(now) {
            return Err(Refusal::from(closed).into());
        }
        self.check_level(user, sale.min_level, now).await?;
        let what = format!("claim:{}", sale.terms.voucher);
        context.within(context.settings.claim_limit, &what, user, now).await?;
        if self.backlog.exceeds(context.settings.max_backlog, &*context.storage.order_log).await {
            return Err(Refusal::Busy.into());
        }
        Ok(())
    }

    /// The order by which a user, whose claim was refused, holds a unit: a holder learns of it before any refusal. Behind the
    /// limit, repeats have a ceiling of their own.
    async fn held(
        &self,
        user: UserId,
        voucher: VoucherId,
        refusal: &Refusal,
        now: Timestamp,
    ) -> Result<Option<OrderId>, Failure> {
        let context = &self.context;
        if let (Refusal::RateLimited { .. }, Some(limit)) = (refusal, context.settings.claim_limit) {
            let count = limit.count.saturating_mul(REPEATS_PER_CLAIM);
            let ceiling = Some(Limit { count, ..limit });
            match context.within(ceiling, &format!("repeat:{voucher}"), user, now).await {
                Err(Failure::Refused(_)) => return Ok(None),
                passed => passed?,
            }
        }
        Ok(context.storage.sales.held(voucher, user).await?)
    }

    /// By the cached person: whoever changes a level invalidates it.
    async fn check_level(&self, user: UserId, min_level: u8, now: Timestamp) -> Result<(), Failure> {
        if min_level == 0 {
            return Ok(());
        }
        let person = self.context.copies.people.get(user, now).await?;
        if person.is_some_and(|person| person.card.level >= min_level) {
            Ok(())
        } else {
            Err(Refusal::LevelTooLow.into())
        }
    }

    async fn take(&self, user: UserId, voucher: VoucherId, now: Timestamp) -> Result<OrderId, Failure> {
        let storage = &self.context.storage;
        let (order, number) = self.numbers.next(storage, voucher, now).await?;
        let claim = Claim { order, voucher, user, at: now };
        let mut answer = storage.sales.claim(claim).await?;
        if answer == ClaimAnswer::Unknown && self.put(voucher).await? {
            answer = storage.sales.claim(claim).await?;
        }
        let refusal = match answer {
            ClaimAnswer::Accepted => return Ok(order),
            ClaimAnswer::AlreadyBought(order) => Refusal::AlreadyBought(order),
            ClaimAnswer::SoldOut => Refusal::SoldOut,
            ClaimAnswer::NotOpen => Refusal::NotOpen,
            ClaimAnswer::Ended => Refusal::Ended,
            ClaimAnswer::Paused => Refusal::Paused,
            ClaimAnswer::Unknown => Refusal::UnknownSale,
        };
        self.numbers.give_back(number);
        Err(refusal.into())
    }

    /// Tells the store of a sale, as the record has it now; `false` if the record has no such sale.
    ///
    /// Read anew, not from the copy: what [`put`](mallbox_storage::Sales::put) sets is absolute, and an old number of
    /// units would undo a change.
    async fn put(&self, voucher: VoucherId) -> Result<bool, StoreError> {
        let storage = &self.context.storage;
        let put = self.puts.share(voucher, || async {
            let turn = self.turns.next().await.map_err(Arc::new)?;
            let changes = self.terms.changes();
            let found = storage.vouchers.get(voucher).await.map_err(Arc::new)?;
            let Some((found, sale)) = found.and_then(|found| found.sale.map(|sale| (found, sale))) else {
                return Ok(false);
            };
            self.terms.keep(&found, changes, self.context.now());
            turn.check().map_err(Arc::new)?;
            storage.sales.put(sale.terms).await.map_err(Arc::new)?;
            Ok(true)
        });
        put.await.map_err(|error| shared("sale terms", &error))
    }
}
