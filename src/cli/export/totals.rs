//! Sums of an export, and their check: the books come from orders, the movements from payments, and both must
//! agree for each day and voucher.

use std::collections::BTreeMap;

use mallbox_storage::yuan;
use serde::Serialize;

use crate::http::api::operator::accounts::rows::{
    AccountsRows, BookRow, CashReportRow, CountRow, MovementRow, OrderRow,
};
use crate::http::control::accounts::AccountsHead;
use crate::language::{Language, sentence};

/// Mismatches listed in the summary; further ones are counted.
const MISMATCHES_MAX: usize = 100;

/// Day and voucher.
type Key = (String, u64);

/// Sums while an export runs. Memory: a few hundred bytes per voucher and day.
#[derive(Default)]
pub(super) struct Totals {
    books: BTreeMap<Key, BookRow>,
    moved: BTreeMap<Key, Moved>,
    orders: OrderTotals,
    payments: PaymentTotals,
    cash_reports: BTreeMap<u64, CashReportRow>,
    unreadable_cash_reports: Vec<u64>,
    held: CountRow,
    in_doubt: CountRow,
    pub(super) read: u64,
}

/// Sums of the movements of a voucher and a day, in cents.
#[derive(Clone, Copy, Default)]
struct Moved {
    paid: i128,
    refunded: i128,
    charged_back: i128,
    late_paid: i128,
    late_refunded: i128,
}

#[derive(Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct OrderTotals {
    count: u64,
    by_status: BTreeMap<String, u64>,
}

/// Numbers and sums of movements, in cents. `net_cents` is the sum of all amounts.
#[derive(Clone, Copy, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct PaymentTotals {
    count: u64,
    paid_cents: i128,
    refunded_cents: i128,
    chargeback_cents: i128,
    late_cents: i128,
    net_cents: i128,
}

#[derive(Clone, Copy, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct BookTotals {
    count: u64,
    claimed: u64,
    cancelled: u64,
    sold: u64,
    used: u64,
    refunded: u64,
    dead_letters: u64,
    revenue_cents: i128,
    refunds_cents: i128,
    chargebacks_cents: i128,
    late_cents: i128,
    net_cents: i128,
}

/// Number of Z reports, and the sum of their differences.
#[derive(Clone, Copy, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct CashTotals {
    count: u64,
    difference_cents: i128,
}

/// A sum of the books that differs from the payments, in cents.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Mismatch {
    day: String,
    voucher: u64,
    term: &'static str,
    books_cents: i128,
    payments_cents: i128,
}

/// The content of `summary.json`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Summary<'a> {
    version: u32,
    #[serde(flatten)]
    head: &'a AccountsHead,
    pub(super) balances: bool,
    mismatch_count: usize,
    pub(super) mismatches: Vec<Mismatch>,
    orders: OrderTotals,
    payments: PaymentTotals,
    books: BookTotals,
    cash_reports: CashTotals,
    held: CountRow,
    in_doubt: CountRow,
}

impl Totals {
    /// Adds a page.
    pub(super) fn add(&mut self, page: &AccountsRows) {
        self.read += page.read;
        page.orders.iter().for_each(|order| self.add_order(order));
        page.movements.iter().for_each(|movement| self.add_movement(movement));
        page.books.iter().for_each(|book| self.add_book(book));
        self.cash_reports.extend(page.cash_reports.iter().map(|report| (report.number, report.clone())));
        self.unreadable_cash_reports.extend(&page.unreadable_cash_reports);
        for (sum, more) in [(&mut self.held, page.held), (&mut self.in_doubt, page.in_doubt)] {
            sum.count += more.count;
            sum.cents = sum.cents.saturating_add(more.cents);
        }
    }

    /// Returns the number of orders exported.
    pub(super) fn orders(&self) -> u64 {
        self.orders.count
    }

    /// Returns the number of movements exported.
    pub(super) fn payments(&self) -> u64 {
        self.payments.count
    }

    /// Returns the lines of the books, by day and voucher.
    pub(super) fn books(&self) -> impl Iterator<Item = &BookRow> {
        self.books.values()
    }

    /// Returns the Z reports, by number.
    pub(super) fn cash_reports(&self) -> impl Iterator<Item = &CashReportRow> {
        self.cash_reports.values()
    }

    /// Returns the numbers of Z reports that do not match their digests, newest first.
    pub(super) fn unreadable_cash_reports(&self) -> &[u64] {
        &self.unreadable_cash_reports
    }

    /// Returns the summary, with the result of the check.
    pub(super) fn summary<'a>(&self, head: &'a AccountsHead) -> Summary<'a> {
        let mut books = BookTotals::default();
        self.books.values().for_each(|book| books.add(book));
        let mut mismatches = self.mismatches();
        let mismatch_count = mismatches.len();
        mismatches.truncate(MISMATCHES_MAX);
        Summary {
            version: 1,
            head,
            balances: mismatch_count == 0,
            mismatch_count,
            mismatches,
            orders: self.orders.clone(),
            payments: self.payments,
            books,
            cash_reports: CashTotals {
                count: self.cash_reports.len() as u64,
                difference_cents: self
                    .cash_reports
                    .values()
                    .map(|one| i128::from(one.difference_cents))
                    .sum(),
            },
            held: self.held,
            in_doubt: self.in_doubt,
        }
    }

    fn add_order(&mut self, order: &OrderRow) {
        self.orders.count += 1;
        *self.orders.by_status.entry(order.status.clone()).or_default() += 1;
    }

    fn add_movement(&mut self, movement: &MovementRow) {
        let cents = i128::from(movement.amount_cents);
        let moved = self.moved.entry((movement.day.clone(), movement.voucher)).or_default();
        let all = &mut self.payments;
        all.count += 1;
        all.net_cents += cents;
        match (&*movement.cause, &*movement.kind) {
            ("late", "paid") => {
                moved.late_paid += cents;
                all.late_cents += cents;
            }
            ("late", _) => moved.late_refunded -= cents,
            ("chargeback", _) => {
                moved.charged_back -= cents;
                all.chargeback_cents -= cents;
            }
            (_, "paid") => {
                moved.paid += cents;
                all.paid_cents += cents;
            }
            (_, _) => {
                moved.refunded -= cents;
                all.refunded_cents -= cents;
            }
        }
    }

    fn add_book(&mut self, page: &BookRow) {
        let key = (page.day.clone(), page.voucher);
        let Some(book) = self.books.get_mut(&key) else {
            self.books.insert(key, page.clone());
            return;
        };
        book.add(page);
    }

    /// Compares books and movements for every day and voucher.
    fn mismatches(&self) -> Vec<Mismatch> {
        let mut mismatches = Vec::new();
        let only_moved = self.moved.keys().filter(|key| !self.books.contains_key(*key));
        for key in self.books.keys().chain(only_moved) {
            let book = self.books.get(key);
            let moved = self.moved.get(key).copied().unwrap_or_default();
            let of_book = |cents: fn(&BookRow) -> i64| book.map_or(0, |book| i128::from(cents(book)));
            for (term, books_cents, payments_cents) in [
                ("revenue", of_book(|book| book.revenue_cents), moved.paid),
                ("refunds", of_book(|book| book.refunds_cents), moved.refunded),
                ("chargebacks", of_book(|book| book.chargebacks_cents), moved.charged_back),
                ("late", of_book(|book| book.late_cents), moved.late_paid),
                ("late", of_book(|book| book.late_cents), moved.late_refunded),
            ] {
                if books_cents != payments_cents {
                    let (day, voucher) = key.clone();
                    mismatches.push(Mismatch { day, voucher, term, books_cents, payments_cents });
                }
            }
        }
        mismatches
    }
}

impl BookTotals {
    fn add(&mut self, book: &BookRow) {
        self.count += 1;
        self.claimed += book.claimed;
        self.cancelled += book.cancelled;
        self.sold += book.sold;
        self.used += book.used;
        self.refunded += book.refunded;
        self.dead_letters += book.dead_letters;
        self.revenue_cents += i128::from(book.revenue_cents);
        self.refunds_cents += i128::from(book.refunds_cents);
        self.chargebacks_cents += i128::from(book.chargebacks_cents);
        self.late_cents += i128::from(book.late_cents);
        self.net_cents += book.net_cents();
    }
}

impl Summary<'_> {
    /// Returns the summary for people, with a line break at the end of each line.
    pub(super) fn text(&self, l: Language) -> String {
        let (orders, payments) = (self.orders.count, self.payments.count);
        let (revenue, refunds) = (yuan(self.books.revenue_cents), yuan(self.books.refunds_cents));
        let net = yuan(self.payments.net_cents);
        let days = match (&self.head.from, &self.head.to) {
            (Some(from), Some(to)) if from == to => from.clone(),
            (Some(from), Some(to)) => sentence!(l, "{from}至{to}", "{from} to {to}"),
            _ => sentence!(l, "全部日期", "all days"),
        };
        let mut text = sentence!(
            l,
            "{days}：{orders}笔订单，{payments}笔收退款；收入{revenue}元，退款{refunds}元，净额{net}元\n",
            "{days}: {orders} orders, {payments} payments and refunds; revenue {revenue}, refunds {refunds}, net {net} yuan\n"
        );
        if self.held.count > 0 {
            let (count, sum) = (self.held.count, yuan(self.held.cents.into()));
            text += &sentence!(
                l,
                "另有{count}笔（{sum}元）是为已关闭的订单收到的，待退还，未计入\n",
                "not included: {count} payments ({sum} yuan) for closed orders, still to be returned\n"
            );
        }
        for mismatch in &self.mismatches {
            text += &mismatch.text(l);
        }
        let rest = self.mismatch_count - self.mismatches.len();
        if rest > 0 {
            text += &sentence!(l, "另有{rest}处不一致\n", "and {rest} more mismatches\n");
        }
        text
    }
}

impl Mismatch {
    fn text(&self, l: Language) -> String {
        let Self { day, voucher, term, .. } = self;
        let (books, payments) = (yuan(self.books_cents), yuan(self.payments_cents));
        let zh = match *term {
            "revenue" => "收入",
            "refunds" => "退款",
            "chargebacks" => "拒付",
            _ => "迟到款",
        };
        sentence!(
            l,
            "异常：{day}，券{voucher}：{zh}按订单为{books}元，按付款为{payments}元；mallbox verify会指出相关订单\n",
            "MISMATCH: {day}, voucher {voucher}: {term} is {books} yuan by the orders and {payments} yuan by the \
             payments; mallbox verify names the orders\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn movement(kind: &str, cause: &str, amount_cents: i64) -> MovementRow {
        MovementRow {
            day: "2026-11-24".to_owned(),
            at: String::new(),
            kind: kind.to_owned(),
            cause: cause.to_owned(),
            amount_cents,
            gateway: String::new(),
            payment: 1,
            order: "1".to_owned(),
            voucher: 7,
            title: String::new(),
        }
    }

    fn book(revenue_cents: i64, refunds_cents: i64, late_cents: i64) -> BookRow {
        BookRow {
            day: "2026-11-24".to_owned(),
            voucher: 7,
            title: String::new(),
            shop: String::new(),
            kind: "sale".to_owned(),
            claimed: 1,
            cancelled: 0,
            sold: 1,
            used: 0,
            refunded: 0,
            dead_letters: 0,
            revenue_cents,
            refunds_cents,
            chargebacks_cents: 0,
            late_cents,
        }
    }

    fn page(movements: Vec<MovementRow>, books: Vec<BookRow>) -> AccountsRows {
        let none = CountRow::default();
        AccountsRows {
            orders: Vec::new(),
            movements,
            books,
            cash_reports: Vec::new(),
            unreadable_cash_reports: Vec::new(),
            held: none,
            in_doubt: none,
            read: 1,
            next: None,
        }
    }

    #[test]
    fn pages_of_one_day_add_up() {
        let mut totals = Totals::default();
        totals.add(&page(vec![movement("paid", "order", 100)], vec![book(100, 0, 0)]));
        let late = [movement("paid", "late", 5), movement("refunded", "late", -5)];
        let refund = [movement("refunded", "order", -40)];
        totals.add(&page([&late[..], &refund].concat(), vec![book(0, 40, 5)]));
        assert_eq!(totals.mismatches(), []);
        assert_eq!(totals.books().map(BookRow::net_cents).collect::<Vec<_>>(), [60]);
        assert_eq!(totals.payments.net_cents, 60);
    }

    #[test]
    fn a_sum_that_differs_is_named_with_both_values() {
        let mut totals = Totals::default();
        totals.add(&page(vec![movement("paid", "order", 100)], vec![book(99, 0, 0)]));
        let [mismatch] = &totals.mismatches()[..] else { panic!("one mismatch") };
        let text = mismatch.text(Language::En);
        assert!(
            text.contains("2026-11-24, voucher 7: revenue is 0.99 yuan") && text.contains("1.00"),
            "{text}"
        );
        let mut only_paid = Totals::default();
        only_paid.add(&page(vec![movement("refunded", "order", -1)], Vec::new()));
        assert_eq!(only_paid.mismatches().len(), 1, "a movement without a line in the books");
    }
}
