//! A decorator of the real vouchers that counts reads, and can hold up a response or a change of a window.

use std::num::{NonZeroU8, NonZeroU32};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use async_trait::async_trait;
use mallbox_storage::{
    Fenced, FencingToken, Guard, Judgement, NewSale, Page, SaleRecord, ShopId, StockChange,
    StockChangeOutcome, StoreError, Thresholds, Timestamp, Voucher, VoucherEdit, VoucherFilter, VoucherId,
    VoucherText, Vouchers, WaitingRoom,
};
use parking_lot::Mutex;
use tokio::sync::Notify;

pub struct CountingVouchers {
    real: Arc<dyn Vouchers>,
    reads: AtomicU64,
    /// Armed for the next change of the stock: the following read of the voucher blocks here.
    gate: Mutex<Option<Arc<Gate>>>,
    /// Holds up the next change of a window.
    window: Mutex<Option<Arc<Gate>>>,
}

/// A point at which a call is held up.
#[derive(Default)]
pub struct Gate {
    is_closed: AtomicBool,
    /// Signalled when a call is blocked.
    pub reached: Notify,
    /// Lets the call continue.
    pub opened: Notify,
}

impl Gate {
    /// Reports the call, and waits until the gate is opened.
    pub async fn pass(&self) {
        self.reached.notify_one();
        self.opened.notified().await;
    }
}

impl CountingVouchers {
    pub fn over(real: &Arc<dyn Vouchers>) -> Arc<Self> {
        let (reads, gate, window) = (AtomicU64::new(0), Mutex::default(), Mutex::default());
        Arc::new(Self { real: Arc::clone(real), reads, gate, window })
    }

    /// Returns the number of reads of a voucher.
    pub fn reads(&self) -> u64 {
        self.reads.load(Ordering::SeqCst)
    }

    /// Holds up the first read after the next change of the stock; its result is stale on arrival.
    pub fn hold_up(&self) -> Arc<Gate> {
        let gate = Arc::<Gate>::default();
        *self.gate.lock() = Some(Arc::clone(&gate));
        gate
    }

    /// Holds up the next change of a window, before it takes effect.
    pub fn hold_up_window(&self) -> Arc<Gate> {
        let gate = Arc::<Gate>::default();
        *self.window.lock() = Some(Arc::clone(&gate));
        gate
    }
}

#[async_trait]
impl Vouchers for CountingVouchers {
    async fn get(&self, voucher: VoucherId) -> Result<Option<Voucher>, StoreError> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        let found = self.real.get(voucher).await;
        let gate = self.gate.lock().take_if(|gate| gate.is_closed.load(Ordering::SeqCst));
        if let Some(gate) = gate {
            gate.pass().await;
        }
        found
    }

    async fn change_stock(
        &self,
        voucher: VoucherId,
        change: &StockChange,
        token: FencingToken,
        now: Timestamp,
    ) -> Result<Fenced<StockChangeOutcome>, StoreError> {
        let changed = self.real.change_stock(voucher, change, token, now).await;
        if let Some(gate) = &*self.gate.lock() {
            gate.is_closed.store(true, Ordering::SeqCst);
        }
        changed
    }

    async fn insert(
        &self,
        text: &VoucherText,
        sale: Option<&NewSale>,
        now: Timestamp,
    ) -> Result<VoucherId, StoreError> {
        self.real.insert(text, sale, now).await
    }

    async fn of_shop(&self, shop: ShopId) -> Result<Vec<Voucher>, StoreError> {
        self.real.of_shop(shop).await
    }

    async fn on_sale(&self, now: Timestamp, max: u32) -> Result<Vec<Voucher>, StoreError> {
        self.real.on_sale(now, max).await
    }

    async fn ids(&self, after: VoucherId, max: u32) -> Result<Vec<VoucherId>, StoreError> {
        self.real.ids(after, max).await
    }

    async fn sales(
        &self,
        ending_after: Option<Timestamp>,
        after: VoucherId,
        max: u32,
    ) -> Result<Vec<SaleRecord>, StoreError> {
        self.real.sales(ending_after, after, max).await
    }

    async fn page(&self, filter: VoucherFilter, page: Page) -> Result<(Vec<Voucher>, u64), StoreError> {
        self.real.page(filter, page).await
    }

    async fn update(
        &self,
        voucher: VoucherId,
        edit: &VoucherEdit,
        token: FencingToken,
        now: Timestamp,
    ) -> Result<Fenced<Option<Voucher>>, StoreError> {
        self.real.update(voucher, edit, token, now).await
    }

    async fn stock_change(
        &self,
        voucher: VoucherId,
        request: &str,
    ) -> Result<Option<StockChange>, StoreError> {
        self.real.stock_change(voucher, request).await
    }

    async fn put_guard(
        &self,
        voucher: VoucherId,
        guard: Option<Guard>,
        now: Timestamp,
    ) -> Result<Option<SaleRecord>, StoreError> {
        self.real.put_guard(voucher, guard, now).await
    }

    async fn put_room(
        &self,
        voucher: VoucherId,
        room: Option<WaitingRoom>,
        now: Timestamp,
    ) -> Result<Option<SaleRecord>, StoreError> {
        self.real.put_room(voucher, room, now).await
    }

    async fn put_per_user(
        &self,
        voucher: VoucherId,
        per_user: NonZeroU8,
        now: Timestamp,
    ) -> Result<Option<SaleRecord>, StoreError> {
        self.real.put_per_user(voucher, per_user, now).await
    }

    async fn put_thresholds(
        &self,
        voucher: VoucherId,
        thresholds: Option<Thresholds>,
        now: Timestamp,
    ) -> Result<Option<SaleRecord>, StoreError> {
        self.real.put_thresholds(voucher, thresholds, now).await
    }

    async fn put_judgement(
        &self,
        voucher: VoucherId,
        judgement: Option<Judgement>,
        now: Timestamp,
    ) -> Result<Option<SaleRecord>, StoreError> {
        self.real.put_judgement(voucher, judgement, now).await
    }

    async fn put_claim_limit(
        &self,
        voucher: VoucherId,
        per_second: Option<NonZeroU32>,
        now: Timestamp,
    ) -> Result<Option<SaleRecord>, StoreError> {
        self.real.put_claim_limit(voucher, per_second, now).await
    }

    async fn put_window(
        &self,
        voucher: VoucherId,
        begin: Timestamp,
        end: Timestamp,
        paused: bool,
        token: FencingToken,
        now: Timestamp,
    ) -> Result<Fenced<Option<SaleRecord>>, StoreError> {
        let gate = self.window.lock().take();
        if let Some(gate) = gate {
            gate.pass().await;
        }
        self.real.put_window(voucher, begin, end, paused, token, now).await
    }
}
