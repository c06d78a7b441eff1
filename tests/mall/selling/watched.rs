//! A decorator of the real vouchers that counts reads and can hold up a response.

use std::num::{NonZeroU8, NonZeroU32};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use async_trait::async_trait;
use mallbox_storage::{
    Guard, Judgement, NewSale, Page, SaleRecord, ShopId, StockChange, StockChangeOutcome, StoreError,
    Thresholds, Timestamp, Voucher, VoucherEdit, VoucherFilter, VoucherId, VoucherText, Vouchers,
    WaitingRoom,
};
use parking_lot::Mutex;
use tokio::sync::Notify;

pub struct CountingVouchers {
    real: Arc<dyn Vouchers>,
    reads: AtomicU64,
    /// Armed for the next change of the stock: the following read of the voucher blocks here.
    gate: Mutex<Option<Arc<Gate>>>,
}

/// A point at which a read is held up.
#[derive(Default)]
pub struct Gate {
    is_closed: AtomicBool,
    /// Signalled when a read is blocked.
    pub reached: Notify,
    /// Lets the read continue.
    pub opened: Notify,
}

impl CountingVouchers {
    pub fn over(real: &Arc<dyn Vouchers>) -> Arc<Self> {
        Arc::new(Self { real: Arc::clone(real), reads: AtomicU64::new(0), gate: Mutex::default() })
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
}

#[async_trait]
impl Vouchers for CountingVouchers {
    async fn get(&self, voucher: VoucherId) -> Result<Option<Voucher>, StoreError> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        let found = self.real.get(voucher).await;
        let gate = self.gate.lock().take_if(|gate| gate.is_closed.load(Ordering::SeqCst));
        if let Some(gate) = gate {
            gate.reached.notify_one();
            gate.opened.notified().await;
        }
        found
    }

    async fn change_stock(
        &self,
        voucher: VoucherId,
        change: &StockChange,
        now: Timestamp,
    ) -> Result<StockChangeOutcome, StoreError> {
        let changed = self.real.change_stock(voucher, change, now).await;
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
        now: Timestamp,
    ) -> Result<Option<Voucher>, StoreError> {
        self.real.update(voucher, edit, now).await
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
        now: Timestamp,
    ) -> Result<Option<SaleRecord>, StoreError> {
        self.real.put_window(voucher, begin, end, paused, now).await
    }
}
