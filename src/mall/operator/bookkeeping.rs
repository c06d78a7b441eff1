//! The mall's accounts for a bookkeeper: orders, movements of money and day books, page by page.
//!
//! Reasons and figures: `src/decisions/0085-accounts.md`.

mod books;
mod movements;

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};
use std::time::{Duration, Instant};

use mallbox_storage::{
    CashReport, Day, DaySpan, DeadLetterId, OrderFacts, OrderId, OrderPage, ShopId, StoreError, Timestamp,
    VoucherId, number_of_report,
};

use serde_json::json;

use crate::mall::base::{AuditLog, AuditedAction, By, Context, Failure, Refusal, run_audited, wall_time};

pub use books::BookSums;
use books::{Books, Window};
pub use movements::{Movement, MovementCause, MovementKind};

/// Orders read at once: some 10 ms of a database reader.
const READ_MAX: u32 = 4_096;
/// Orders after which a page ends.
const PAGE_ORDERS: usize = 2_048;
/// Z reports read at once.
const CASH_REPORTS_MAX: u32 = 500;
/// Time after which a page ends: the caller sees progress.
const PAGE_TIME_MAX: Duration = Duration::from_secs(1);
/// Maximum wait for claims of days that are over to become orders.
const PENDING_TIMEOUT: Duration = Duration::from_secs(10);
/// Pause between two checks of the pending claims.
const PENDING_PAUSE: Duration = Duration::from_millis(100);
/// Distance of ids that are read beyond the last day, and before a sale's creation: the machine's clock may
/// have been set back between two steps of an order.
const CLOCK_SLACK: Duration = Duration::from_secs(60 * 60);

/// What an export covers: days in the mall's time zone, and one sale or all vouchers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccountsScope {
    /// The days; `None` for all time.
    pub days: Option<DaySpan>,
    /// The only sale; `None` for all vouchers.
    pub sale: Option<VoucherId>,
}

/// Position behind a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccountsPlace {
    /// Behind an order; `None` is before the first.
    Orders(Option<OrderId>),
    /// Behind a dead letter.
    Letters(DeadLetterId),
    /// Below a Z report; `None` is above the newest. Newest first.
    CashReports(Option<u64>),
}

/// Number and sum of payments, in cents.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PaymentCount {
    /// Number of payments.
    pub count: u64,
    /// Sum in cents; ends at the limits of its type.
    pub cents: i64,
}

/// Title of a voucher, and its shop's name. Empty for a missing row.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct VoucherName {
    /// Title of the voucher.
    pub title: String,
    /// Name of the shop.
    pub shop: String,
    /// Whether the voucher has a sale.
    pub is_sale: bool,
}

/// A page of the accounts. Each row is as of the time of its read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AccountsPage {
    /// Orders with a claim, payment, redemption, refund or movement of money on the days, by id.
    pub orders: Vec<OrderFacts>,
    /// Movements of money on the days.
    pub movements: Vec<Movement>,
    /// Contributions of the page to the day books.
    pub books: BTreeMap<(Day, VoucherId), BookSums>,
    /// Z reports of cash sessions closed on the days.
    pub cash_reports: Vec<CashReport>,
    /// Numbers of Z reports that do not match their digests, of any day.
    pub unreadable_cash_reports: Vec<u64>,
    /// Names of all vouchers of the page.
    pub names: BTreeMap<VoucherId, VoucherName>,
    /// Money captured on the days for closed orders, to be returned.
    pub held: PaymentCount,
    /// Payments last changed on the days whose outcome at the gateway is unknown.
    pub in_doubt: PaymentCount,
    /// Orders read, those of other days and vouchers included.
    pub read: u64,
    /// Position of the next page; `None` at the end.
    pub next: Option<AccountsPlace>,
}

/// The service for accounts. Cheap to clone.
#[derive(Clone)]
pub struct Bookkeeping {
    context: Context,
    audit: AuditLog,
    /// Ids of imported orders have no order in time.
    is_imported: bool,
}

impl Bookkeeping {
    /// Creates the service.
    #[must_use]
    pub fn new(context: Context, audit: AuditLog, is_imported: bool) -> Self {
        Self { context, audit, is_imported }
    }

    /// Returns the scope of an export. Without days: yesterday, or a sale's whole time. `from` alone means up
    /// to yesterday, or that day if it is today; `to` alone means that day.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] for an invalid day, a day in the future, days in the wrong order, or more than
    /// 366 days; [`Refusal::NotFound`] for an unknown sale; [`Failure::Store`] if the store fails.
    pub async fn scope(
        &self,
        from: Option<&str>,
        to: Option<&str>,
        sale: Option<VoucherId>,
        now: Timestamp,
    ) -> Result<AccountsScope, Failure> {
        let today = self.context.today(now)?;
        let yesterday = today.before().unwrap_or(today);
        let day = |text: Option<&str>, name| match text.map(Day::parse) {
            None => Ok(None),
            Some(Some(day)) if day <= today => Ok(Some(day)),
            Some(_) => Err(Refusal::BadValue(name)),
        };
        let days = match (day(from, "accounts from")?, day(to, "accounts to")?) {
            (None, None) if sale.is_some() => None,
            (None, None) => DaySpan::new(yesterday, yesterday),
            (Some(from), None) => Some(span(from, yesterday.max(from))?),
            (None, Some(to)) => DaySpan::new(to, to),
            (Some(from), Some(to)) => Some(span(from, to)?),
        };
        if let Some(sale) = sale {
            let found = self.context.storage.catalogue.vouchers.get(sale).await?;
            found.and_then(|voucher| voucher.sale).ok_or(Refusal::NotFound("sale"))?;
        }
        Ok(AccountsScope { days, sale })
    }

    /// Begins an operator's download of a day, and writes it to the audit log. `file` names what is
    /// downloaded.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] for an invalid day, or a day in the future; [`Failure::Store`] if the audit log
    /// cannot be written.
    pub async fn begin_download(
        &self,
        by: By,
        day: &str,
        file: &'static str,
    ) -> Result<AccountsScope, Failure> {
        let today = self.context.today(by.at)?;
        let day = Day::parse(day).filter(|day| *day <= today).ok_or(Refusal::BadValue("accounts day"))?;
        let action = AuditedAction {
            action: "accounts.download",
            subject: format!("{file} {day}"),
            detail: json!({ "day": day.to_string(), "file": file }),
        };
        let days = DaySpan::new(day, day);
        run_audited(&self.audit, by, action, async move { Ok(AccountsScope { days, sale: None }) }).await
    }

    /// Returns whether the last day of a scope is not over, so that the accounts can still grow.
    ///
    /// # Errors
    /// [`Failure::Bug`] if the clock is out of range.
    pub fn is_open(&self, scope: AccountsScope, now: Timestamp) -> Result<bool, Failure> {
        let today = self.context.today(now)?;
        Ok(scope.days.is_none_or(|days| days.last() >= today))
    }

    /// Waits until claims of the scope's days have become orders, or `PENDING_TIMEOUT` is over. Returns the
    /// claims that still wait: a claim that was accepted on a day that is over belongs to that day.
    ///
    /// # Errors
    /// [`Failure::Store`] if the order log cannot be read.
    pub async fn pending(&self, scope: AccountsScope, now: Timestamp) -> Result<u64, Failure> {
        let window = self.window(scope)?;
        let is_open = self.is_open(scope, now)?;
        let log = &self.context.storage.selling.order_log;
        let began = Instant::now();
        while log.state().await.oldest.is_some_and(|oldest| oldest < window.until) {
            if is_open || began.elapsed() >= PENDING_TIMEOUT {
                let is_meant = |sale, at| window.contains(at) && scope.sale.is_none_or(|only| only == sale);
                let pending = log.pending().await?;
                return Ok(pending.iter().filter(|claim| is_meant(claim.voucher, claim.at)).count() as u64);
            }
            tokio::time::sleep(PENDING_PAUSE).await;
        }
        Ok(0)
    }

    /// Returns a page of the accounts: orders, then dead letters, then Z reports. The accounts of a sale have
    /// no Z reports.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails: call again.
    pub async fn page(&self, scope: AccountsScope, place: AccountsPlace) -> Result<AccountsPage, Failure> {
        let window = self.window(scope)?;
        let mut books = Books::new(window, |at| self.context.day_of(at));
        let mut page = AccountsPage::default();
        page.next = match place {
            AccountsPlace::Orders(after) => self.orders(scope, after, &mut books, &mut page).await?,
            AccountsPlace::Letters(after) => self.letters(scope, after, &mut books).await?,
            AccountsPlace::CashReports(before) => self.cash_reports(scope, before, &mut page).await?,
        };
        page.books = books.lines;
        self.name(&mut page).await?;
        Ok(page)
    }

    async fn orders(
        &self,
        scope: AccountsScope,
        after: Option<OrderId>,
        books: &mut Books<impl Fn(Timestamp) -> Option<Day>>,
        page: &mut AccountsPage,
    ) -> Result<Option<AccountsPlace>, Failure> {
        let (window, began) = (self.window(scope)?, Instant::now());
        let mut after = match after {
            None => self.before_first(scope).await?,
            behind => behind,
        };
        loop {
            let read = self.context.storage.operator.ledger.orders(after, READ_MAX).await?;
            page.read += read.orders.len() as u64;
            let is_last = self.is_last(scope, window, &read);
            after = read.more_after;
            for order in read.orders {
                if scope.sale.is_none_or(|sale| sale == order.voucher) {
                    page.add(order, window, books);
                }
            }
            if is_last {
                return Ok(Some(AccountsPlace::Letters(DeadLetterId::new(0))));
            }
            if page.orders.len() >= PAGE_ORDERS || began.elapsed() >= PAGE_TIME_MAX {
                return Ok(Some(AccountsPlace::Orders(after)));
            }
        }
    }

    async fn letters(
        &self,
        scope: AccountsScope,
        after: DeadLetterId,
        books: &mut Books<impl Fn(Timestamp) -> Option<Day>>,
    ) -> Result<Option<AccountsPlace>, Failure> {
        let letters = self.context.storage.operator.ledger.letters(after, READ_MAX).await?;
        let of_scope = letters.iter().filter(|one| scope.sale.is_none_or(|sale| sale == one.voucher));
        of_scope.for_each(|letter| books.add_letter(letter));
        let behind = letters.last().map(|last| AccountsPlace::Letters(last.id));
        Ok(behind.or_else(|| scope.sale.is_none().then_some(AccountsPlace::CashReports(None))))
    }

    /// Reads all reports down to the first: the clock may have been set back between two of them.
    async fn cash_reports(
        &self,
        scope: AccountsScope,
        before: Option<u64>,
        page: &mut AccountsPage,
    ) -> Result<Option<AccountsPlace>, Failure> {
        let window = self.window(scope)?;
        let reports = self.context.storage.selling.cash.reports(before, CASH_REPORTS_MAX).await?;
        let lowest = reports.last().map(number_of_report);
        for report in reports {
            match report {
                Ok(report) if window.contains(report.closed) => page.cash_reports.push(report),
                Ok(_) => {}
                Err(bad) => page.unreadable_cash_reports.push(bad.number),
            }
        }
        Ok(lowest.map(|lowest| AccountsPlace::CashReports(Some(lowest))))
    }

    /// Returns an id before all orders of a sale: the sale was created before its first order.
    async fn before_first(&self, scope: AccountsScope) -> Result<Option<OrderId>, StoreError> {
        let Some(sale) = scope.sale.filter(|_| !self.is_imported) else { return Ok(None) };
        let voucher = self.context.storage.catalogue.vouchers.get(sale).await?;
        Ok(voucher.and_then(|voucher| OrderId::compose(voucher.created - CLOCK_SLACK, 0, sale)))
    }

    /// Returns whether no order behind a page can belong to the scope. Ids begin with the second of the
    /// claim, and nothing happens to an order before its claim.
    fn is_last(&self, scope: AccountsScope, window: Window, read: &OrderPage) -> bool {
        let Some(last) = read.more_after else { return true };
        if self.is_imported {
            return false;
        }
        let end = scope.days.and_then(|_| OrderId::compose(window.until + CLOCK_SLACK, 0, VoucherId::new(0)));
        let of_sale = read.orders.iter().rfind(|order| Some(order.voucher) == scope.sale);
        let range = of_sale.and_then(|order| order.sale).and_then(|sale| sale.range);
        end.is_some_and(|end| last >= end) || range.is_some_and(|(_, last_of_sale)| last_of_sale <= last)
    }

    fn window(&self, scope: AccountsScope) -> Result<Window, Failure> {
        let Some(days) = scope.days else { return Ok(Window::ALL) };
        let start = |day: Day| wall_time::parse(&format!("{day}T00:00:00"), &self.context.zone);
        let behind = Day::from_number(days.last().number() + 1);
        let until = behind.and_then(start).unwrap_or(Window::ALL.until);
        let from = start(days.first()).ok_or(Refusal::BadValue("accounts from"))?;
        Ok(Window { from, until })
    }

    async fn name(&self, page: &mut AccountsPage) -> Result<(), StoreError> {
        let catalogue = &self.context.storage.catalogue;
        let vouchers: BTreeSet<_> = page.orders.iter().map(|order| order.voucher).collect();
        let mut shops: BTreeMap<ShopId, String> = BTreeMap::new();
        for voucher in vouchers.into_iter().chain(page.books.keys().map(|(_, voucher)| *voucher)) {
            if page.names.contains_key(&voucher) {
                continue;
            }
            let Some(found) = catalogue.vouchers.get(voucher).await? else {
                page.names.insert(voucher, VoucherName::default());
                continue;
            };
            let shop = match shops.entry(found.text.shop) {
                Entry::Occupied(known) => known.get().clone(),
                Entry::Vacant(place) => {
                    let shop = catalogue.shops.get(found.text.shop).await?;
                    place.insert(shop.map(|shop| shop.text.name).unwrap_or_default()).clone()
                }
            };
            let name = VoucherName { title: found.text.title, shop, is_sale: found.sale.is_some() };
            page.names.insert(voucher, name);
        }
        Ok(())
    }
}

impl AccountsPage {
    /// Adds an order if anything of it is within the window.
    fn add(
        &mut self,
        order: OrderFacts,
        window: Window,
        books: &mut Books<impl Fn(Timestamp) -> Option<Day>>,
    ) {
        let of_order = movements::of_order(&order);
        for payment in movements::held(&order).filter(|payment| window.contains(payment.updated)) {
            self.held.add(payment.amount.get());
        }
        for payment in movements::in_doubt(&order).filter(|payment| window.contains(payment.updated)) {
            self.in_doubt.add(payment.amount.get());
        }
        let is_of_days = books.add(&order, &of_order);
        let within = of_order.into_iter().filter(|movement| window.contains(movement.at));
        let before = self.movements.len();
        self.movements.extend(within);
        if is_of_days || self.movements.len() > before {
            self.orders.push(order);
        }
    }
}

impl PaymentCount {
    fn add(&mut self, cents: i64) {
        self.count += 1;
        self.cents = self.cents.saturating_add(cents);
    }
}

fn span(from: Day, to: Day) -> Result<DaySpan, Refusal> {
    DaySpan::new(from, to).ok_or(Refusal::BadValue("accounts days"))
}
