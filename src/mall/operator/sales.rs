//! Sales from the operator's side: what there is, their window, their units, pause and end.

use std::sync::Arc;

use mallbox_storage::{
    Page, PendingClaims, SaleRecord, ShopId, StockChange, StockChanged, Terms, Timestamp, Units, Voucher,
    VoucherFilter, VoucherId,
};
use serde_json::{Value, json};

use super::AuditLog;
use super::act::{By, Deed, act};
use crate::mall::ledger::{Finding, SaleTerms};
use crate::mall::request_name::fit_request;
use crate::mall::sale_turn::Turn;
use crate::mall::sales::SaleState;
use crate::mall::vouchers::EXACT;
use crate::mall::{Context, Failure, LedgerCheck, Refusal, SaleCounter, ShopDirectory};

/// A sale as its operator sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SaleView {
    /// The voucher, on the shelf or not.
    pub voucher: Voucher,
    /// Its terms and units in the record.
    pub sale: SaleRecord,
    /// Its shop's name, if there still is one.
    pub shop_name: Option<String>,
    /// Where it is.
    pub state: SaleState,
    /// Units left. `None` = unlimited.
    pub left: Option<u64>,
    /// Units in somebody's hands, pending claims included.
    pub taken: u64,
    /// Claims that are not in the record yet.
    pub pending: u64,
}

/// The books of one sale.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SaleAccount {
    /// The sale.
    pub view: SaleView,
    /// The terms of its equation.
    pub books: SaleTerms,
    /// What does not add up; `None` while it never stood still.
    pub findings: Option<Vec<Finding>>,
}

/// A move of a sale's window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WindowForm {
    /// First instant at which a claim is taken; as it is, unless told.
    pub begin: Option<Timestamp>,
    /// First instant at which none is taken any more; as it is, unless told. After `begin`, and still to come.
    pub end: Option<Timestamp>,
}

/// A change of a sale's units.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StockForm {
    /// How many more; fewer, if it is negative. It must be there.
    pub add: Option<i64>,
    /// A name by which a repeat is known: 1 to 64 characters. Without one, a repeat adds again.
    pub request: Option<String>,
}

/// What became of a change of a sale's units.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Restocked {
    /// By how many it was changed: of units to be taken away, at most as many as were left.
    pub by: i64,
    /// The sale as it is now.
    pub view: SaleView,
}

/// What operators do with sales. Cheap to clone.
///
/// The record is the truth and the store's memory what claims are decided by. Whoever changes a sale writes both in an
/// order that a crash may cut anywhere, since memory is rebuilt from the record: what is to be sold is in the record first,
/// what is not to be sold any more leaves memory first. One change at a time, in all instances together; what fails half-way is put right by a
/// chore ([`SaleCounter::refresh`]).
#[derive(Clone)]
pub struct SaleOffice {
    context: Context,
    counter: SaleCounter,
    shops: Arc<ShopDirectory>,
    books: LedgerCheck,
    audit: AuditLog,
}

impl SaleOffice {
    /// Sales a page of the list.
    pub const PAGE: u32 = 10;

    /// The sales that this counter sells in.
    #[must_use]
    pub fn new(
        context: Context,
        counter: SaleCounter,
        shops: Arc<ShopDirectory>,
        books: LedgerCheck,
        audit: AuditLog,
    ) -> Self {
        Self { context, counter, shops, books, audit }
    }

    /// A page of all sales, newest first, over or hidden ones included; and how many there are.
    ///
    /// # Errors
    /// Only if the store is in trouble.
    pub async fn page(&self, number: u32, now: Timestamp) -> Result<(Vec<SaleView>, u64), Failure> {
        let page = Page::new(number, Self::PAGE);
        let sales = VoucherFilter { sales_only: true, ..VoucherFilter::default() };
        let (vouchers, total) = self.context.storage.vouchers.page(sales, page).await?;
        let mut views = Vec::with_capacity(vouchers.len());
        for voucher in vouchers {
            views.extend(self.view(voucher, now).await?);
        }
        Ok((views, total))
    }

    /// A sale and its books.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], or the store is in trouble.
    pub async fn account(&self, voucher: VoucherId, now: Timestamp) -> Result<SaleAccount, Failure> {
        let view = self.one(voucher, now).await?;
        let (books, findings) = self.books.of_sale(voucher).await?.ok_or(Refusal::NotFound("sale"))?;
        Ok(SaleAccount { view, books, findings })
    }

    /// Moves a sale's begin and end. A sale that is over is open again with a later end.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] with the value's name, [`Refusal::NotFound`], or the store is in trouble.
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

    /// Holds a sale: once this answers, no claim is taken. Again is no error.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], or the store is in trouble.
    pub async fn pause(&self, by: By, voucher: VoucherId) -> Result<SaleView, Failure> {
        let paused = |terms| Ok(Terms { paused: true, ..terms });
        self.put_terms(by, "sale.pause", voucher, Value::Null, paused).await
    }

    /// Lets a sale go on that was held. Again is no error.
    ///
    /// # Errors
    /// As [`pause`](Self::pause).
    pub async fn resume(&self, by: By, voucher: VoucherId) -> Result<SaleView, Failure> {
        let resumed = |terms| Ok(Terms { paused: false, ..terms });
        self.put_terms(by, "sale.resume", voucher, Value::Null, resumed).await
    }

    /// Ends a sale at once; one that has not begun never does. One that is over stays as it is.
    ///
    /// # Errors
    /// As [`pause`](Self::pause).
    pub async fn end(&self, by: By, voucher: VoucherId) -> Result<SaleView, Failure> {
        let ended = move |terms: Terms| {
            Ok(Terms { begin: terms.begin.min(by.at), end: terms.end.min(by.at), ..terms })
        };
        self.put_terms(by, "sale.end", voucher, Value::Null, ended).await
    }

    /// Has a sale loaded anew whose units the store counts wrongly, for a store that outlives the mall.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], or the store is in trouble: a repeat goes on.
    pub async fn reload(&self, by: By, voucher: VoucherId) -> Result<(), Failure> {
        self.terms(voucher).await?;
        let deed = Deed { action: "sale.reload", subject: subject(voucher), detail: Value::Null };
        let counter = self.counter.clone();
        act(&self.audit, by, deed, async move { Ok(counter.reload(voucher, by.at).await?) }).await
    }

    /// Adds units to a sale or takes units away, at most those that are left.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] with the value's name, for a request's name too that stood for another number before;
    /// [`Refusal::Unlimited`], [`Refusal::NotFound`]; or the store is in trouble: then a repeat under the same name
    /// finds out what became of it.
    pub async fn restock(&self, by: By, voucher: VoucherId, form: StockForm) -> Result<Restocked, Failure> {
        let (asked, request) = form.checked()?;
        self.terms(voucher).await?;
        let detail = json!({ "add": asked, "requestId": request });
        let deed = Deed { action: "sale.stock", subject: subject(voucher), detail };
        let office = self.clone();
        let applied = act(&self.audit, by, deed, async move {
            let turn = office.counter.turn().await?;
            office.change_stock(&turn, voucher, asked, request, by.at).await
        })
        .await?;
        Ok(Restocked { by: applied, view: self.one(voucher, by.at).await? })
    }

    /// Changes a sale's units, in one's turn. Answers by how many.
    async fn change_stock(
        &self,
        turn: &Turn,
        voucher: VoucherId,
        asked: i64,
        request: Option<String>,
        now: Timestamp,
    ) -> Result<i64, Failure> {
        let vouchers = &self.context.storage.vouchers;
        if let Some(request) = &request
            && let Some(before) = vouchers.stock_change(voucher, request).await?
        {
            return before_as_now(&before, asked);
        }
        let terms = self.terms(voucher).await?;
        let units = terms.units.ok_or(Refusal::Unlimited)?;
        if asked > 0 && units.checked_add_signed(asked).is_none_or(|units| units > EXACT.unsigned_abs()) {
            return Err(Refusal::BadValue("add").into());
        }
        let sales = &self.context.storage.sales;
        let is_passing = now >= terms.end && sales.units(voucher).await?.is_none();
        self.counter.changing(voucher);
        let by = if asked < 0 { self.lower(terms, units, asked.unsigned_abs()).await? } else { asked };
        let change = StockChange { asked, by, request };
        turn.check()?;
        let changed = vouchers.change_stock(voucher, &change, now).await?;
        // Also after a lowering, to be sure: the record decides by how many it was.
        self.counter.tell(turn, voucher, now).await?;
        if is_passing {
            // It is over: memory had it for the counting alone.
            sales.forget(voucher).await?;
        }
        match changed {
            StockChanged::Done(by, _) => Ok(by),
            StockChanged::Before(before, _) => before_as_now(&before, asked),
            StockChanged::Unlimited => Err(Refusal::Unlimited.into()),
            StockChanged::Unknown => Err(Refusal::NotFound("sale").into()),
        }
    }

    /// Takes units out of the store's memory that nobody holds. Answers by how many that changes the sale.
    async fn lower(&self, terms: Terms, units: u64, by: u64) -> Result<i64, Failure> {
        let sales = &self.context.storage.sales;
        let lowered = Terms { units: Some(units.saturating_sub(by)), ..terms };
        let Units { units: in_force, .. } = sales.put(lowered).await?;
        let taken_away = units.saturating_sub(in_force.unwrap_or(units));
        Ok(i64::try_from(taken_away).map_or(i64::MIN, |count| -count))
    }

    /// Writes other terms of a sale, in one's turn: the record first, since it has no say in a claim that memory takes.
    async fn put_terms(
        &self,
        by: By,
        action: &'static str,
        voucher: VoucherId,
        detail: Value,
        change: impl FnOnce(Terms) -> Result<Terms, Refusal> + Send + 'static,
    ) -> Result<SaleView, Failure> {
        self.terms(voucher).await?;
        let deed = Deed { action, subject: subject(voucher), detail };
        let office = self.clone();
        act(&self.audit, by, deed, async move {
            let turn = office.counter.turn().await?;
            let Terms { begin, end, paused, .. } = change(office.terms(voucher).await?)?;
            office.counter.changing(voucher);
            office.context.storage.vouchers.put_window(voucher, begin, end, paused, by.at).await?;
            office.counter.tell(&turn, voucher, by.at).await?;
            Ok(())
        })
        .await?;
        self.one(voucher, by.at).await
    }

    async fn terms(&self, voucher: VoucherId) -> Result<Terms, Failure> {
        let found = self.context.storage.vouchers.get(voucher).await?;
        Ok(found.and_then(|voucher| voucher.sale).ok_or(Refusal::NotFound("sale"))?.terms)
    }

    async fn one(&self, voucher: VoucherId, now: Timestamp) -> Result<SaleView, Failure> {
        let view = match self.context.storage.vouchers.get(voucher).await? {
            Some(voucher) => self.view(voucher, now).await?,
            None => None,
        };
        view.ok_or(Refusal::NotFound("sale").into())
    }

    /// `None` for an ordinary voucher.
    pub(super) async fn view(&self, voucher: Voucher, now: Timestamp) -> Result<Option<SaleView>, Failure> {
        let Some(sale) = voucher.sale else { return Ok(None) };
        let storage = &self.context.storage;
        let pending = self.pending(voucher.id).await?.durable;
        let (left, taken) = match (storage.sales.units(voucher.id).await?, sale.terms.units, sale.stock) {
            (Some(units), ..) => (units.left(), units.taken),
            // It is over, and what it ended with is in the record.
            (None, Some(units), Some(stock)) => {
                let left = stock.saturating_sub(pending);
                (Some(left), units.saturating_sub(left))
            }
            (None, ..) => (None, storage.orders.tally(voucher.id).await?.held() + pending),
        };
        let state = SaleState::of(&sale.terms, left, now);
        let shop_name = self.shop_name(voucher.text.shop, now).await?;
        Ok(Some(SaleView { voucher, sale, shop_name, state, left, taken, pending }))
    }

    /// `None` if the shop is gone.
    pub(super) async fn shop_name(&self, shop: ShopId, now: Timestamp) -> Result<Option<String>, Failure> {
        match self.shops.get(shop, now).await {
            Ok(shop) => Ok(Some(shop.text.name)),
            Err(Failure::Refused(Refusal::NotFound(_))) => Ok(None),
            Err(trouble) => Err(trouble),
        }
    }

    /// Claims of a sale that are not in the record yet. They are counted one by one, if there are any at all.
    pub(super) async fn pending(&self, voucher: VoucherId) -> Result<PendingClaims, Failure> {
        let log = &self.context.storage.order_log;
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
        let add = self.add.filter(|add| *add != 0 && (-EXACT..=EXACT).contains(add));
        Ok((add.ok_or(Refusal::BadValue("add"))?, self.request.map(fit_request).transpose()?))
    }
}

/// A name stands for one change.
fn before_as_now(before: &StockChange, asked: i64) -> Result<i64, Failure> {
    if before.asked == asked { Ok(before.by) } else { Err(Refusal::BadValue("requestId").into()) }
}

fn subject(voucher: VoucherId) -> String {
    format!("sale {voucher}")
}
