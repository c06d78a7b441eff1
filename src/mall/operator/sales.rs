//! Sales from the operator's side: list, window, units, pause and end.

mod attack;
mod claim_limits;
mod guards;
mod judgement;
mod rooms;
mod thresholds;
mod units_per_user;
mod waiting_lists;
mod waves;

use std::sync::Arc;

use mallbox_storage::{
    Page, PendingClaims, SaleRecord, SaleUnits, ShopId, StockChange, StockChangeOutcome, StoreError, Terms,
    Timestamp, Voucher, VoucherFilter, VoucherId, Vouchers,
};
use serde_json::{Value, json};

use super::LedgerCheck;
use super::ledger::{Finding, SaleTerms};
use crate::mall::base::audited_action::{AuditedAction, By, run_audited};
use crate::mall::base::idempotency_key::check_idempotency_key;
use crate::mall::base::{AuditLog, Context, Failure, Refusal};
use crate::mall::catalogue::Shops;
use crate::mall::catalogue::vouchers::JS_INTEGER_MAX;
use crate::mall::selling::FlashSales;
use crate::mall::selling::sales::SaleState;
use crate::mall::selling::terms_lease::HeldTermsLease;

pub use self::attack::{AddressView, AttackView, RulesPreview, Slot};
pub use self::guards::DEFAULT_GUARD;
pub use self::judgement::{AttemptView, RulesView};
pub use self::rooms::{DEFAULT_ROOM, RoomSettings};
pub use self::waiting_lists::WaitingListView;

/// A sale with state and counts, for operators.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SaleView {
    /// The voucher, on the shelf or not.
    pub voucher: Voucher,
    /// Terms and units in the database.
    pub sale: SaleRecord,
    /// Name of the shop; `None` if deleted.
    pub shop_name: Option<String>,
    /// State of the sale.
    pub state: SaleState,
    /// Units left. `None` = unlimited.
    pub left: Option<u64>,
    /// Units taken, pending claims included.
    pub taken: u64,
    /// Claims not yet written to the database.
    pub pending: u64,
}

/// A sale with its ledger.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SaleAccount {
    /// State and counts of the sale.
    pub view: SaleView,
    /// Terms of the sale's equation.
    pub books: SaleTerms,
    /// Imbalances; `None` if the numbers never stood still.
    pub findings: Option<Vec<Finding>>,
}

/// A new window of a sale. `None` keeps the current value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WindowForm {
    /// First instant at which claims are accepted.
    pub begin: Option<Timestamp>,
    /// First instant at which claims are no longer accepted; after `begin` and in the future.
    pub end: Option<Timestamp>,
}

/// A change of a sale's units.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StockForm {
    /// Units to add; negative to remove. Required.
    pub add: Option<i64>,
    /// Request name for idempotence: 1 to 64 characters. Without a name, a repeat adds again.
    pub request: Option<String>,
}

/// Result of a change of a sale's units.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RestockOutcome {
    /// Units actually added; a removal is limited to the units left.
    pub by: i64,
    /// The sale after the change.
    pub view: SaleView,
}

/// The operators' service for sales. Cheap to clone.
///
/// The database is the source of truth, and the sales store decides claims. A change writes both. A crash may
/// interrupt a change anywhere, and the sales store is rebuilt from the database. So new units enter the
/// database first, and removed units leave the sales store first. Changes are serialized across all
/// instances; a background job completes a half-done change ([`FlashSales::refresh`]).
///
/// A change that another instance overtook, because this process was stopped past the end of its lease, is
/// refused by its fencing token as [`Refusal::SaleChanged`]. Repeating the change without asking would undo
/// the newer decision of another operator.
#[derive(Clone)]
pub struct SaleAdmin {
    context: Context,
    sales: FlashSales,
    shops: Arc<Shops>,
    books: LedgerCheck,
    audit: AuditLog,
}

impl SaleAdmin {
    /// Sales per page.
    pub const PAGE: u32 = 10;

    /// Creates the service. `sales` applies changed terms to claims.
    #[must_use]
    pub fn new(
        context: Context,
        sales: FlashSales,
        shops: Arc<Shops>,
        books: LedgerCheck,
        audit: AuditLog,
    ) -> Self {
        Self { context, sales, shops, books, audit }
    }

    /// Returns a page of all sales, newest first, ended and hidden sales included, and their number.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn page(&self, number: u32, now: Timestamp) -> Result<(Vec<SaleView>, u64), Failure> {
        let page = Page::new(number, Self::PAGE);
        let sales = VoucherFilter { sales_only: true, ..VoucherFilter::default() };
        let (vouchers, total) = self.context.storage.catalogue.vouchers.page(sales, page).await?;
        let mut views = Vec::with_capacity(vouchers.len());
        for voucher in vouchers {
            views.extend(self.view(voucher, now).await?);
        }
        Ok((views, total))
    }

    /// Returns a sale with its ledger.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Failure::Store`] if the store fails.
    pub async fn account(&self, voucher: VoucherId, now: Timestamp) -> Result<SaleAccount, Failure> {
        let view = self.one(voucher, now).await?;
        let (books, findings) = self.books.of_sale(voucher).await?.ok_or(Refusal::NotFound("sale"))?;
        Ok(SaleAccount { view, books, findings })
    }

    /// Changes begin and end of a sale. A later end reopens an ended sale.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] with the field's name; [`Refusal::NotFound`], [`Refusal::SaleChanged`];
    /// [`Failure::Store`] if the store fails.
    pub async fn put_window(
        &self,
        by: By,
        voucher: VoucherId,
        form: WindowForm,
    ) -> Result<SaleView, Failure> {
        if form == WindowForm::default() {
            return Err(Refusal::BadValue("beginTime").into());
        }
        let terms = self.terms(voucher).await?;
        form.checked(&terms, by.at)?;
        let (begin, end) = (form.begin.map(Timestamp::as_millis), form.end.map(Timestamp::as_millis));
        let detail = json!({ "beginMs": begin, "endMs": end });
        self.put_terms(by, "sale.window", voucher, detail, move |terms| form.checked(&terms, by.at)).await
    }

    /// Pauses a sale. On return no further claim is accepted. A repeat succeeds.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::SaleChanged`]; [`Failure::Store`] if the store fails.
    pub async fn pause(&self, by: By, voucher: VoucherId) -> Result<SaleView, Failure> {
        let paused = |terms| Ok(Terms { paused: true, ..terms });
        self.put_terms(by, "sale.pause", voucher, Value::Null, paused).await
    }

    /// Resumes a paused sale. A repeat succeeds.
    ///
    /// # Errors
    /// As [`pause`](Self::pause).
    pub async fn resume(&self, by: By, voucher: VoucherId) -> Result<SaleView, Failure> {
        let resumed = |terms| Ok(Terms { paused: false, ..terms });
        self.put_terms(by, "sale.resume", voucher, Value::Null, resumed).await
    }

    /// Ends a sale immediately; a sale that has not begun never opens. An ended sale stays unchanged.
    ///
    /// # Errors
    /// As [`pause`](Self::pause).
    pub async fn end(&self, by: By, voucher: VoucherId) -> Result<SaleView, Failure> {
        let ended = move |terms: Terms| {
            Ok(Terms { begin: terms.begin.min(by.at), end: terms.end.min(by.at), ..terms })
        };
        self.put_terms(by, "sale.end", voucher, Value::Null, ended).await
    }

    /// Reloads a sale with wrong counts into the sales store. For a sales store that outlives the process.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]. After [`Failure::Store`] a repeat resumes the reload.
    pub async fn reload(&self, by: By, voucher: VoucherId) -> Result<(), Failure> {
        self.terms(voucher).await?;
        let action = AuditedAction { action: "sale.reload", subject: subject(voucher), detail: Value::Null };
        let sales = self.sales.clone();
        run_audited(&self.audit, by, action, async move { Ok(sales.reload(voucher, by.at).await?) }).await
    }

    /// Adds units to a sale, or removes units, at most the units left.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] with the field's name, also for a request name used before with another number;
    /// [`Refusal::Unlimited`], [`Refusal::NotFound`], [`Refusal::SaleChanged`]. After [`Failure::Store`] the
    /// change is in doubt: a repeat with the same request name resolves the doubt.
    pub async fn restock(
        &self,
        by: By,
        voucher: VoucherId,
        form: StockForm,
    ) -> Result<RestockOutcome, Failure> {
        let (asked, request) = form.checked()?;
        self.terms(voucher).await?;
        let detail = json!({ "add": asked, "requestId": request });
        let action = AuditedAction { action: "sale.stock", subject: subject(voucher), detail };
        let admin = self.clone();
        let applied = run_audited(&self.audit, by, action, async move {
            let lease = admin.sales.lease_terms().await?;
            admin.change_stock(lease, voucher, asked, request, by.at).await
        })
        .await?;
        Ok(RestockOutcome { by: applied, view: self.one(voucher, by.at).await? })
    }

    /// Changes a sale's units under the sale-terms lease. Returns the units actually added.
    async fn change_stock(
        &self,
        lease: HeldTermsLease,
        voucher: VoucherId,
        asked: i64,
        request: Option<String>,
        now: Timestamp,
    ) -> Result<i64, Failure> {
        let vouchers = &self.context.storage.catalogue.vouchers;
        if let Some(request) = &request
            && let Some(before) = vouchers.stock_change(voucher, request).await?
        {
            return before_as_now(&before, asked);
        }
        let terms = self.terms(voucher).await?;
        let units = terms.units.ok_or(Refusal::Unlimited)?;
        if asked > 0
            && units.checked_add_signed(asked).is_none_or(|units| units > JS_INTEGER_MAX.unsigned_abs())
        {
            return Err(Refusal::BadValue("add").into());
        }
        let sales = &self.context.storage.selling.sales;
        let is_passing = now >= terms.end && sales.units(voucher).await?.is_none();
        self.sales.mark_unsynced(voucher);
        let by =
            if asked < 0 { self.lower(&lease, terms, units, asked.unsigned_abs()).await? } else { asked };
        let change = StockChange { asked, by, request };
        lease.check()?;
        let changed = vouchers.change_stock(voucher, &change, lease.token(), now).await?;
        let changed = lease.accepted(changed);
        // After a removal too: the database's total is authoritative.
        self.sales.finish_change(lease, voucher, now).await?;
        if is_passing {
            // The sale has ended and was in memory only for counting.
            sales.forget(voucher).await?;
        }
        match changed.ok_or(Refusal::SaleChanged)? {
            StockChangeOutcome::Done(by, _) => Ok(by),
            StockChangeOutcome::Before(before, _) => before_as_now(&before, asked),
            StockChangeOutcome::Unlimited => Err(Refusal::Unlimited.into()),
            StockChangeOutcome::Unknown => Err(Refusal::NotFound("sale").into()),
        }
    }

    /// Removes untaken units from the sales store. Returns the resulting change, zero or negative.
    async fn lower(&self, lease: &HeldTermsLease, terms: Terms, units: u64, by: u64) -> Result<i64, Failure> {
        let sales = &self.context.storage.selling.sales;
        let lowered = Terms { units: Some(units.saturating_sub(by)), ..terms };
        let put = lease.accepted(sales.put(lowered, lease.token()).await?);
        let SaleUnits { units: in_force, .. } = put.ok_or(Refusal::SaleChanged)?;
        let taken_away = units.saturating_sub(in_force.unwrap_or(units));
        Ok(i64::try_from(taken_away).map_or(i64::MIN, |count| -count))
    }

    /// Changes the terms of a sale under the sale-terms lease. The database comes first, because it has no
    /// say in claims accepted by the sales store.
    async fn put_terms(
        &self,
        by: By,
        action: &'static str,
        voucher: VoucherId,
        detail: Value,
        change: impl FnOnce(Terms) -> Result<Terms, Refusal> + Send + 'static,
    ) -> Result<SaleView, Failure> {
        self.terms(voucher).await?;
        let action = AuditedAction { action, subject: subject(voucher), detail };
        let admin = self.clone();
        run_audited(&self.audit, by, action, async move {
            let lease = admin.sales.lease_terms().await?;
            let Terms { begin, end, paused, .. } = change(admin.terms(voucher).await?)?;
            admin.sales.mark_unsynced(voucher);
            let vouchers = &admin.context.storage.catalogue.vouchers;
            let put = vouchers.put_window(voucher, begin, end, paused, lease.token(), by.at).await?;
            let put = lease.accepted(put);
            admin.sales.finish_change(lease, voucher, by.at).await?;
            if put.is_some() { Ok(()) } else { Err(Refusal::SaleChanged.into()) }
        })
        .await?;
        self.one(voucher, by.at).await
    }

    async fn record(&self, voucher: VoucherId) -> Result<SaleRecord, Failure> {
        let found = self.context.storage.catalogue.vouchers.get(voucher).await?;
        Ok(found.and_then(|voucher| voucher.sale).ok_or(Refusal::NotFound("sale"))?)
    }

    async fn terms(&self, voucher: VoucherId) -> Result<Terms, Failure> {
        Ok(self.record(voucher).await?.terms)
    }

    /// Stores a setting of a sale on the record. `store` is the call of the store. Returns the sale after the
    /// change.
    async fn put_setting(
        &self,
        by: By,
        voucher: VoucherId,
        (action, detail): (&'static str, Value),
        store: impl Future<Output = Result<Option<SaleRecord>, StoreError>> + Send + 'static,
    ) -> Result<SaleRecord, Failure> {
        self.record(voucher).await?;
        let action = AuditedAction { action, subject: subject(voucher), detail };
        let admin = self.clone();
        run_audited(&self.audit, by, action, async move { admin.apply(voucher, by.at, store).await }).await
    }

    fn vouchers(&self) -> Arc<dyn Vouchers> {
        Arc::clone(&self.context.storage.catalogue.vouchers)
    }

    /// Stores a setting of a sale, and reads the copies of the record anew, also after a lost response.
    async fn apply(
        &self,
        voucher: VoucherId,
        now: Timestamp,
        store: impl Future<Output = Result<Option<SaleRecord>, StoreError>>,
    ) -> Result<SaleRecord, Failure> {
        let lease = self.sales.lease_terms().await?;
        self.sales.mark_unsynced(voucher);
        let stored = store.await;
        self.sales.finish_change(lease, voucher, now).await?;
        Ok(stored?.ok_or(Refusal::NotFound("sale"))?)
    }

    async fn one(&self, voucher: VoucherId, now: Timestamp) -> Result<SaleView, Failure> {
        let view = match self.context.storage.catalogue.vouchers.get(voucher).await? {
            Some(voucher) => self.view(voucher, now).await?,
            None => None,
        };
        view.ok_or(Refusal::NotFound("sale").into())
    }

    /// Returns the view of a sale; `None` for an ordinary voucher.
    pub(super) async fn view(&self, voucher: Voucher, now: Timestamp) -> Result<Option<SaleView>, Failure> {
        let Some(sale) = voucher.sale else { return Ok(None) };
        let storage = &self.context.storage;
        let pending = self.pending(voucher.id).await?.durable;
        let (left, taken) =
            match (storage.selling.sales.units(voucher.id).await?, sale.terms.units, sale.stock) {
                (Some(units), ..) => (units.left(), units.taken),
                // An ended sale: the final stock is in the database.
                (None, Some(units), Some(stock)) => {
                    let left = stock.saturating_sub(pending);
                    (Some(left), units.saturating_sub(left))
                }
                (None, ..) => (None, storage.selling.orders.tally(voucher.id).await?.held() + pending),
            };
        let state = SaleState::of(&sale.terms, left, now);
        let shop_name = self.shop_name(voucher.text.shop, now).await?;
        Ok(Some(SaleView { voucher, sale, shop_name, state, left, taken, pending }))
    }

    /// Returns the shop's name; `None` if the shop is deleted.
    pub(super) async fn shop_name(&self, shop: ShopId, now: Timestamp) -> Result<Option<String>, Failure> {
        match self.shops.get(shop, now).await {
            Ok(shop) => Ok(Some(shop.text.name.clone())),
            Err(Failure::Refused(Refusal::NotFound(_))) => Ok(None),
            Err(trouble) => Err(trouble),
        }
    }

    /// Counts the pending claims of a sale. Reads the log claim by claim, unless the log is empty.
    pub(super) async fn pending(&self, voucher: VoucherId) -> Result<PendingClaims, Failure> {
        let log = &self.context.storage.selling.order_log;
        let is_empty = log.state().await.pending == 0;
        Ok(if is_empty { PendingClaims::default() } else { log.count(voucher).await? })
    }
}

impl WindowForm {
    fn checked(&self, terms: &Terms, now: Timestamp) -> Result<Terms, Refusal> {
        let (begin, end) = (self.begin.unwrap_or(terms.begin), self.end.unwrap_or(terms.end));
        if end <= begin || end <= now {
            return Err(Refusal::BadValue("endTime"));
        }
        Ok(Terms { begin, end, ..*terms })
    }
}

impl StockForm {
    fn checked(self) -> Result<(i64, Option<String>), Refusal> {
        let add = self.add.filter(|add| *add != 0 && (-JS_INTEGER_MAX..=JS_INTEGER_MAX).contains(add));
        Ok((add.ok_or(Refusal::BadValue("add"))?, self.request.map(check_idempotency_key).transpose()?))
    }
}

/// A request name identifies a single change.
fn before_as_now(before: &StockChange, asked: i64) -> Result<i64, Failure> {
    if before.asked == asked { Ok(before.by) } else { Err(Refusal::BadValue("requestId").into()) }
}

fn subject(voucher: VoucherId) -> String {
    format!("sale {voucher}")
}
