//! A mall stopped past the end of its lease on terms, beside another one that goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use mallbox::fixture::Fault;
use mallbox::fixture::faults::{self, Faults};
use mallbox::mall::operator::SaleAdmin;
use mallbox::mall::operator::sales::{StockForm, WindowForm};
use mallbox::mall::{AuditLog, FlashSales, LedgerCheck, Refusal, Shops};
use mallbox_storage::{
    Claim, ClaimOutcome, Fenced, FencingToken, OrderId, Pass, ReleaseOutcome, ReserveOutcome, SaleUnits,
    Sales, StoreError, Terms, UserId, VoucherId,
};
use mallbox_storage_embedded::DiskFaults;
use mallbox_test_patience::Deadline;
use parking_lot::Mutex;

use super::watched::{CountingVouchers, Gate};
use super::world::{MINUTE, World, refusal, world};

/// A decorator of the real sales that can hold up a put, and counts stale puts.
struct GatedSales {
    real: Arc<dyn Sales>,
    gate: Mutex<Option<Arc<Gate>>>,
    stale: AtomicU64,
}

impl GatedSales {
    fn over(real: &Arc<dyn Sales>) -> Arc<Self> {
        Arc::new(Self { real: Arc::clone(real), gate: Mutex::default(), stale: AtomicU64::new(0) })
    }

    /// Holds up the next put, before it takes effect.
    fn hold_up(&self) -> Arc<Gate> {
        let gate = Arc::<Gate>::default();
        *self.gate.lock() = Some(Arc::clone(&gate));
        gate
    }
}

#[async_trait]
impl Sales for GatedSales {
    async fn put(&self, terms: Terms, token: FencingToken) -> Result<Fenced<SaleUnits>, StoreError> {
        let gate = self.gate.lock().take();
        if let Some(gate) = gate {
            gate.pass().await;
        }
        let put = self.real.put(terms, token).await;
        self.stale.fetch_add(u64::from(matches!(put, Ok(Fenced::Stale { .. }))), Ordering::SeqCst);
        put
    }

    async fn claim(&self, claim: Claim) -> Result<ClaimOutcome, StoreError> {
        self.real.claim(claim).await
    }

    async fn claim_with_pass(&self, claim: Claim, pass: Pass) -> Result<ClaimOutcome, StoreError> {
        self.real.claim_with_pass(claim, pass).await
    }

    async fn claim_further(
        &self,
        claim: Claim,
        holding: u8,
        pass: Option<Pass>,
    ) -> Result<ClaimOutcome, StoreError> {
        self.real.claim_further(claim, holding, pass).await
    }

    async fn pass_epoch(&self, voucher: VoucherId) -> Result<u64, StoreError> {
        self.real.pass_epoch(voucher).await
    }

    async fn held(
        &self,
        voucher: VoucherId,
        user: UserId,
        holding: u8,
    ) -> Result<Option<OrderId>, StoreError> {
        self.real.held(voucher, user, holding).await
    }

    async fn release(
        &self,
        voucher: VoucherId,
        user: UserId,
        order: OrderId,
    ) -> Result<ReleaseOutcome, StoreError> {
        self.real.release(voucher, user, order).await
    }

    async fn release_all(&self, closed: &[(VoucherId, UserId, OrderId)]) -> Result<(), StoreError> {
        self.real.release_all(closed).await
    }

    async fn reserve(
        &self,
        voucher: VoucherId,
        user: UserId,
        order: OrderId,
    ) -> Result<ReserveOutcome, StoreError> {
        self.real.reserve(voucher, user, order).await
    }

    async fn units(&self, voucher: VoucherId) -> Result<Option<SaleUnits>, StoreError> {
        self.real.units(voucher).await
    }

    async fn without_unit(&self, voucher: VoucherId, users: &[UserId]) -> Result<Vec<UserId>, StoreError> {
        self.real.without_unit(voucher, users).await
    }

    async fn forget(&self, voucher: VoucherId) -> Result<(), StoreError> {
        self.real.forget(voucher).await
    }
}

/// A mall that cannot renew its leases, as if its process were stopped between two of its calls.
struct Stopped {
    admin: Arc<SaleAdmin>,
    vouchers: Arc<CountingVouchers>,
    sales: Arc<GatedSales>,
}

/// Returns a second mall beside `w`: on servers with connections of its own.
async fn stopped(w: &World) -> Stopped {
    let storage = match w.ground().production() {
        Some(_) => w.ground().open().await,
        None => w.storage.clone(),
    };
    let faults = Arc::new(Faults::new(w.clock.clone(), Arc::<DiskFaults>::default()));
    let mut storage = faults::behind(storage, &faults);
    faults.add(Fault::at_port("locks.renew").error()).unwrap();
    let (vouchers, sales) =
        (CountingVouchers::over(&storage.catalogue.vouchers), GatedSales::over(&storage.selling.sales));
    storage.catalogue.vouchers = vouchers.clone();
    storage.selling.sales = sales.clone();
    let mut context = w.context.clone();
    context.storage = storage;
    let of_mall = FlashSales::new(context.clone());
    let admin = SaleAdmin::new(
        context.clone(),
        of_mall.clone(),
        Arc::new(Shops::new(context.clone())),
        LedgerCheck::new(context.clone(), of_mall),
        AuditLog::new(context),
    );
    Stopped { admin: Arc::new(admin), vouchers, sales }
}

/// Pauses a sale once the lease of the stopped mall is over.
async fn pause(w: &World, voucher: VoucherId) {
    let deadline = Deadline::after(Duration::from_secs(30));
    while let Err(failure) = w.sale_admin.pause(w.by(), voucher).await {
        assert!(!deadline.is_over(), "{failure:?}");
    }
}

/// Asks the sales store itself, since the mall checks a copy of the terms first.
async fn store_says(w: &World, voucher: VoucherId, user: u64) -> ClaimOutcome {
    let order = OrderId::compose(w.now(), 1_000 + user, voucher).unwrap();
    let claim = Claim { order, voucher, user: UserId::new(user), at: w.now() };
    w.storage.selling.sales.claim(claim).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_overtaken_while_stopped_is_refused_and_the_sale_stays_as_the_next_one_left_it() {
    let w = world().await;
    let (voucher, late) = (w.sale(10).await, stopped(&w).await);
    let gate = late.vouchers.hold_up_window();
    let form = WindowForm { begin: None, end: Some(w.now() + MINUTE * 30) };
    let moving = {
        let (admin, by) = (Arc::clone(&late.admin), w.by());
        tokio::spawn(async move { admin.put_window(by, voucher, form).await })
    };
    gate.reached.notified().await;
    pause(&w, voucher).await;
    let next = w.sale_admin.account(voucher, w.now()).await.unwrap().view.sale;
    gate.opened.notify_one();
    assert_eq!(refusal(moving.await.unwrap()), Refusal::SaleChanged);
    let after = w.sale_admin.account(voucher, w.now()).await.unwrap().view.sale;
    assert!(after == next && after.terms.paused, "{after:?} after {next:?}");
    assert_eq!(store_says(&w, voucher, 1).await, ClaimOutcome::Paused);
    w.assert_balanced().await;
    // The operator looks, and repeats the change.
    let moved = late.admin.put_window(w.by(), voucher, form).await.unwrap().sale.terms;
    assert!(moved.paused && Some(moved.end) == form.end, "{moved:?}");
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_put_of_a_mall_stopped_past_its_lease_is_refused_and_repeated_with_newer_terms() {
    let w = world().await;
    let (voucher, late) = (w.sale(10).await, stopped(&w).await);
    let gate = late.sales.hold_up();
    let adding = {
        let (admin, by) = (Arc::clone(&late.admin), w.by());
        let form = StockForm { add: Some(5), request: None };
        tokio::spawn(async move { admin.restock(by, voucher, form).await })
    };
    gate.reached.notified().await;
    pause(&w, voucher).await;
    gate.opened.notify_one();
    let added = adding.await.unwrap().unwrap();
    assert_eq!((added.by, added.view.left), (5, Some(15)));
    assert_eq!(late.sales.stale.load(Ordering::SeqCst), 1, "once late, then with a lease of its own");
    assert_eq!(store_says(&w, voucher, 1).await, ClaimOutcome::Paused);
    w.assert_balanced().await;
}

/// A removal begins in the sales store.
#[tokio::test(flavor = "multi_thread")]
async fn units_taken_away_by_a_mall_stopped_past_its_lease_stay() {
    let w = world().await;
    let (voucher, late) = (w.sale(10).await, stopped(&w).await);
    let gate = late.sales.hold_up();
    let removing = {
        let (admin, by) = (Arc::clone(&late.admin), w.by());
        let form = StockForm { add: Some(-4), request: Some("late".to_owned()) };
        tokio::spawn(async move { admin.restock(by, voucher, form).await })
    };
    gate.reached.notified().await;
    pause(&w, voucher).await;
    gate.opened.notify_one();
    assert_eq!(refusal(removing.await.unwrap()), Refusal::SaleChanged);
    assert_eq!(w.left(voucher).await, 10);
    assert_eq!(store_says(&w, voucher, 1).await, ClaimOutcome::Paused);
    w.assert_balanced().await;
    let form = StockForm { add: Some(-4), request: Some("late".to_owned()) };
    assert_eq!(late.admin.restock(w.by(), voucher, form).await.unwrap().view.left, Some(6));
    w.assert_balanced().await;
}
