//! The accounts as CSV: money in yuan, and text that no spreadsheet executes.

use mallbox_storage::yuan;

use super::rows::{BookRow, CashReportRow, MovementRow, OrderRow};

/// Digits of a number that a spreadsheet keeps: longer ones lose their last digits.
const SPREADSHEET_DIGITS: usize = 15;

/// Mark that tells Excel that a file is UTF-8.
pub const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Columns of `orders.csv`.
pub const ORDER_COLUMNS: &[&str] = &[
    "order", "claimed", "status", "voucher", "title", "shop", "buyer", "payment", "price", "paid", "used",
    "refunded",
];
/// Columns of `payments.csv`.
pub const PAYMENT_COLUMNS: &[&str] =
    &["day", "time", "kind", "cause", "amount", "gateway", "payment", "order", "voucher", "title"];
/// Columns of `books.csv`.
pub const BOOK_COLUMNS: &[&str] = &[
    "day",
    "voucher",
    "kind",
    "title",
    "shop",
    "claimed",
    "cancelled",
    "sold",
    "used",
    "refunded",
    "dead_letters",
    "revenue",
    "refunds",
    "chargebacks",
    "late",
    "net",
];

/// Columns of `cash.csv`.
pub const CASH_COLUMNS: &[&str] = &[
    "number",
    "till",
    "session",
    "opened",
    "opened_by",
    "closed",
    "closed_by",
    "float",
    "sales",
    "refunds",
    "paid_in",
    "paid_out",
    "sale_count",
    "refund_count",
    "paid_in_count",
    "paid_out_count",
    "first_payment",
    "last_payment",
    "expected",
    "counted",
    "difference",
    "digest",
];

/// Form of the fields.
#[derive(Clone, Copy, Debug)]
pub struct CsvForm {
    /// Whether long ids are written as formulas with a text, for Excel.
    pub is_for_excel: bool,
}

impl CsvForm {
    /// Returns the fields of [`ORDER_COLUMNS`].
    #[must_use]
    pub fn order(self, row: &OrderRow) -> Vec<String> {
        let time = |at: &Option<String>| at.clone().unwrap_or_default();
        vec![
            self.id(&row.id),
            row.claimed.clone(),
            row.status.clone(),
            self.id(&row.voucher.to_string()),
            plain_text(&row.title),
            plain_text(&row.shop),
            self.id(&row.buyer.to_string()),
            row.payment.clone(),
            yuan(row.price_cents.into()),
            time(&row.paid),
            time(&row.used),
            time(&row.refunded),
        ]
    }

    /// Returns the fields of [`PAYMENT_COLUMNS`].
    #[must_use]
    pub fn payment(self, row: &MovementRow) -> Vec<String> {
        vec![
            row.day.clone(),
            row.at.clone(),
            row.kind.clone(),
            row.cause.clone(),
            yuan(row.amount_cents.into()),
            row.gateway.clone(),
            self.id(&row.payment.to_string()),
            self.id(&row.order),
            self.id(&row.voucher.to_string()),
            plain_text(&row.title),
        ]
    }

    /// Returns the fields of [`BOOK_COLUMNS`].
    #[must_use]
    pub fn book(self, row: &BookRow) -> Vec<String> {
        let counts = [row.claimed, row.cancelled, row.sold, row.used, row.refunded, row.dead_letters];
        let cents = [row.revenue_cents, row.refunds_cents, row.chargebacks_cents, row.late_cents];
        let mut fields = vec![
            row.day.clone(),
            self.id(&row.voucher.to_string()),
            row.kind.clone(),
            plain_text(&row.title),
            plain_text(&row.shop),
        ];
        fields.extend(counts.map(|count| count.to_string()));
        fields.extend(cents.map(|cents| yuan(cents.into())));
        fields.push(yuan(row.net_cents()));
        fields
    }

    /// Returns the fields of [`CASH_COLUMNS`].
    #[must_use]
    pub fn cash_report(self, row: &CashReportRow) -> Vec<String> {
        let cents =
            [row.float_cents, row.sales_cents, row.refunds_cents, row.paid_in_cents, row.paid_out_cents];
        let counts = [row.sale_count, row.refund_count, row.paid_in_count, row.paid_out_count];
        let mut fields = vec![
            row.number.to_string(),
            plain_text(&row.till),
            self.id(&row.session.to_string()),
            row.opened.clone(),
            self.id(&row.opened_by.to_string()),
            row.closed.clone(),
            self.id(&row.closed_by.to_string()),
        ];
        fields.extend(cents.map(|cents| yuan(cents.into())));
        fields.extend(counts.map(|count| count.to_string()));
        fields.extend([&row.first_payment, &row.last_payment].map(|at| at.clone().unwrap_or_default()));
        let results = [row.expected_cents, row.counted_cents, row.difference_cents];
        fields.extend(results.map(|cents| yuan(cents.into())));
        fields.push(row.digest.clone());
        fields
    }

    fn id(self, id: &str) -> String {
        if self.is_for_excel && id.len() > SPREADSHEET_DIGITS { format!("=\"{id}\"") } else { id.to_owned() }
    }
}

/// Returns a text that a spreadsheet shows and never executes. A text that begins like a formula gets an
/// apostrophe in front, as OWASP advises; some spreadsheets also read the full-width forms.
fn plain_text(text: &str) -> String {
    const FORMULA_STARTS: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];
    if text.starts_with(FORMULA_STARTS) { format!("'{text}") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_begins_like_a_formula_gets_an_apostrophe() {
        for text in ["=1+1", "+86", "-1", "@SUM(A1)", "\t=1", "\r=1", "＝1"] {
            assert_eq!(plain_text(text), format!("'{text}"));
        }
        for text in ["", "50元券", "1-1", "a=b", "'=1"] {
            assert_eq!(plain_text(text), text);
        }
    }

    #[test]
    fn only_excel_gets_long_ids_as_text() {
        let [excel, plain] = [true, false].map(|is_for_excel| CsvForm { is_for_excel });
        assert_eq!(excel.id("1234567890123456"), "=\"1234567890123456\"");
        assert_eq!(excel.id("123456789012345"), "123456789012345");
        assert_eq!(plain.id("1234567890123456"), "1234567890123456");
    }
}
