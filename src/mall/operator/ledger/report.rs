//! Report of the ledger check, for people and for programs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use mallbox_storage::{OrderCounts, OrderFacts, PaymentFacts, PaymentState, VoucherId};
use schemars::JsonSchema;
use serde::Serialize;

use super::code::Code;
use super::object::{Kind, Object};
use crate::language::{Bilingual, Language, both, sentence};

/// A violation found by the check.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// Kind of the finding.
    pub code: Code,
    /// Location of the fault.
    pub object: Object,
    /// Id of the sale, if the finding is about a sale as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub voucher: Option<u64>,
    /// English name of the compared term.
    pub term: &'static str,
    /// Expected value of the term.
    pub expected: String,
    /// Actual value of the term.
    pub found: String,
}

impl Finding {
    pub(super) fn new(
        code: Code,
        object: Object,
        expected: impl fmt::Display,
        found: impl fmt::Display,
    ) -> Self {
        let (expected, found) = (expected.to_string(), found.to_string());
        Self { code, voucher: object.sale(), object, term: code.term().en, expected, found }
    }

    fn text(&self, l: Language) -> String {
        let Self { code, object, expected, found, .. } = self;
        let (object, term, code) = (object.text(l), code.term().spoken(l), code.name());
        sentence!(
            l,
            "{object}{term}：应为{expected}，实为{found} [{code}]",
            "{object}{term}: expected {expected}, found {found} [{code}]"
        )
    }
}

/// A condition relevant to operators without being an imbalance.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Warning {
    /// Stable name, such as `LOW_DISK_SPACE`.
    pub code: &'static str,
    /// Details in English.
    pub message: String,
}

impl Warning {
    /// Creates the warning for low disk space: claims are refused, and nothing is lost.
    pub(super) fn low_disk_space(message: String) -> Self {
        Self { code: "LOW_DISK_SPACE", message }
    }

    /// Creates the warning for a file in the archive that belongs to no archived day, left by a stop or put
    /// there by somebody.
    pub(super) fn unknown_archive_file(name: String) -> Self {
        Self { code: "ARCHIVE_FILE_UNKNOWN", message: name }
    }

    /// Creates the warning for pages of the database whose flipped bit was repaired.
    pub(super) fn repaired_pages(pages: u64) -> Self {
        Self { code: "DATABASE_REPAIRED", message: pages.to_string() }
    }

    /// Creates the warning for pages of the database that another program changed, or whose damage was
    /// accepted.
    pub(super) fn changed_pages(pages: u64) -> Self {
        Self { code: "DATABASE_CHANGED", message: pages.to_string() }
    }

    fn term(&self) -> Bilingual {
        match self.code {
            "DATABASE_REPAIRED" => both(
                "已修复数据库页中翻转的位，没有丢失数据；请检查磁盘和内存。涉及页数",
                "repaired flipped bits in pages of the database, nothing is lost; check disk and memory. Pages",
            ),
            "DATABASE_CHANGED" => both(
                "停机期间数据库页被其他程序改动，或损坏已被接受，现按原样使用；若没有其他程序写过，请从备份恢复。涉及页数",
                "pages of the database were changed by another program during a stop, or their damage was accepted; they \
                 are used as they are. If no other program wrote to them, restore a backup with mallbox restore. Pages",
            ),
            "ARCHIVE_FILE_UNKNOWN" => both(
                "archive目录里有不属于任何归档日的文件（如果来自中断的归档，下次归档会替换它）",
                "a file in archive/ belongs to no archived day (after an interrupted archiving, the next replaces it)",
            ),
            "LOW_DISK_SPACE" => {
                both("磁盘空间不足，暂不接受新的抢购", "disk space is low: claims are refused")
            }
            _ => both("提示", "note"),
        }
    }
}

/// Terms of one sale's equation: initial + added = remaining + pending + unpaid + paid + used + refunding +
/// dead letters + offered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SaleTerms {
    /// Id of the sale's voucher.
    pub voucher: u64,
    /// Units at the start; absent if unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<u64>,
    /// Units added since the start; negative for removed units.
    pub added: i64,
    /// Units left; absent if unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining: Option<i64>,
    /// Accepted claims in the order log.
    pub pending: u64,
    /// Orders of status 1.
    pub unpaid: u64,
    /// Orders of status 2.
    pub paid: u64,
    /// Orders of status 3.
    pub used: u64,
    /// Orders of status 5.
    pub refunding: u64,
    /// Dead letters that hold a unit.
    pub dead_letters: u64,
    /// Units reserved for users of the waiting list whose order is about to be written.
    pub offered: u64,
    /// Whether the sale is in memory (or Redis), and was compared with the sales store.
    pub in_memory: bool,
}

impl SaleTerms {
    fn text(&self, l: Language) -> String {
        let Self { voucher, added, pending, unpaid, paid, used, refunding, dead_letters, offered, .. } = self;
        let left = match (self.initial, self.remaining) {
            (Some(initial), Some(remaining)) => sentence!(
                l,
                "初始{initial} + 追加{added} = 剩余{remaining} + ",
                "initial {initial} + added {added} = remaining {remaining} + "
            ),
            _ => sentence!(l, "不限量；", "unlimited; "),
        };
        sentence!(
            l,
            "秒杀{voucher}：{left}待入库{pending} + 未支付{unpaid} + 已支付{paid} + 已核销{used} + 退款中{refunding} + \
             死信{dead_letters} + 候补中{offered}",
            "sale {voucher}: {left}pending {pending} + unpaid {unpaid} + paid {paid} + used {used} + refunding \
             {refunding} + dead letters {dead_letters} + offered {offered}"
        )
    }
}

/// Totals of the whole mall, sales and ordinary vouchers together.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Totals {
    /// Number of sales, unsettled sales included.
    pub sales: u64,
    /// Orders in the database.
    pub orders: u64,
    /// Orders of status 1.
    pub unpaid: u64,
    /// Orders of status 2.
    pub paid: u64,
    /// Orders of status 3.
    pub used: u64,
    /// Orders of status 4.
    pub cancelled: u64,
    /// Orders of status 5.
    pub refunding: u64,
    /// Orders of status 6.
    pub refunded: u64,
    /// Dead letters that hold a unit.
    pub dead_letters: u64,
    /// Accepted claims in the order log.
    pub pending: u64,
    /// Payments by state.
    pub payments: PaymentTotals,
    /// Number of findings by code, including findings beyond [`Report::EXAMPLES`].
    pub findings: BTreeMap<&'static str, u64>,
}

/// Payments by state, with amounts in cents.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PaymentTotals {
    /// Payments with an unknown outcome at the gateway.
    pub started: u64,
    /// Payments captured by the gateway.
    pub captured: u64,
    /// Payments refunded to the buyer.
    pub refunded: u64,
    /// Payments declined by the gateway.
    pub failed: u64,
    /// Sum of the captured payments.
    pub captured_cents: i64,
    /// Sum of the refunded payments.
    pub refunded_cents: i64,
    /// Payments of used orders that the gateway returned against the mall's will.
    pub reversed: u64,
    /// Sum of the reversed payments.
    pub reversed_cents: i64,
}

impl Totals {
    pub(super) fn add_orders(&mut self, counts: &OrderCounts) {
        let OrderCounts {
            unpaid,
            paid,
            used,
            cancelled,
            refunding,
            refunded,
            dead_letters,
            offered: _,
            doubles: _,
        } = *counts;
        self.orders += unpaid + paid + used + cancelled + refunding + refunded;
        self.unpaid += unpaid;
        self.paid += paid;
        self.used += used;
        self.cancelled += cancelled;
        self.refunding += refunding;
        self.refunded += refunded;
        self.dead_letters += dead_letters;
    }
}

/// Result of [`LedgerCheck::verify`](super::LedgerCheck::verify).
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// All settled sales.
    pub sales: Vec<SaleTerms>,
    /// Findings: the first [`Report::EXAMPLES`] of each code.
    pub findings: Vec<Finding>,
    /// Warnings; no imbalance.
    pub warnings: Vec<Warning>,
    /// Sales that changed so fast that no two reads agreed. The report says nothing about them.
    pub unsettled: Vec<u64>,
    /// Accepted claims in the order log.
    pub pending: u64,
    /// Used orders whose payment was reversed: the first [`Report::EXAMPLES`], as texts. No imbalance.
    pub reversed: Vec<String>,
    /// Totals of the whole mall.
    pub totals: Totals,
}

/// The report in the form printed by `mallbox verify --json`.
#[derive(Serialize)]
pub struct Document {
    version: u32,
    balances: bool,
    #[serde(flatten)]
    report: Report,
}

impl Report {
    /// Version of the JSON form. New fields and codes keep the version; a changed meaning raises it.
    pub const VERSION: u32 = 1;
    /// Maximum number of listed findings per code; further findings are only counted.
    pub const EXAMPLES: u64 = 100;

    pub(super) fn find(&mut self, finding: Finding) {
        let found = self.totals.findings.entry(finding.code.name()).or_default();
        *found += 1;
        if *found <= Self::EXAMPLES {
            self.findings.push(finding);
        }
    }

    /// Lists an order whose money was taken back after its use.
    pub(super) fn note_reversal(&mut self, order: &OrderFacts, payment: &PaymentFacts) {
        let is_reversed = PaymentState::in_row(payment.state) == Some(PaymentState::Reversed);
        if is_reversed && (self.reversed.len() as u64) < Self::EXAMPLES {
            self.reversed.push(order.id.to_string());
        }
    }

    /// Counts findings without listing them.
    pub(super) fn count_only(&mut self, code: Code, findings: u64) {
        if findings > 0 {
            *self.totals.findings.entry(code.name()).or_default() += findings;
        }
    }

    /// Returns whether all settled data is consistent.
    #[must_use]
    pub fn balances(&self) -> bool {
        self.findings.is_empty()
    }

    /// Returns whether a finding of this code exists.
    #[must_use]
    pub fn has(&self, code: Code) -> bool {
        self.totals.findings.contains_key(code.name())
    }

    /// Returns the sales with findings.
    #[must_use]
    pub fn faulty_sales(&self) -> BTreeSet<VoucherId> {
        self.findings.iter().filter_map(|finding| finding.voucher).map(VoucherId::new).collect()
    }

    /// Returns the report for programs.
    #[must_use]
    pub fn into_document(self) -> Document {
        Document { version: Self::VERSION, balances: self.balances(), report: self }
    }

    /// Returns the report for people: a line per sale, the findings, and the verdict.
    #[must_use]
    pub fn text(&self, l: Language) -> String {
        let mut lines: Vec<String> = self.sales.iter().map(|sale| sale.text(l)).collect();
        lines.extend(self.unsettled.iter().map(|voucher| {
            sentence!(
                l,
                "秒杀{voucher}：核对期间一直在变动，请再核对一次",
                "sale {voucher}: changed throughout the check; run verify again"
            )
        }));
        lines.extend(self.warnings.iter().map(|warning| {
            let (term, message) = (warning.term().spoken(l), &warning.message);
            sentence!(l, "注意：{term}：{message}", "WARNING: {term}: {message}")
        }));
        lines.extend(self.reversed.iter().map(|order| {
            sentence!(
                l,
                "注意：订单{order}已核销，其付款被撤回（拒付）",
                "WARNING: order {order} was used, and its payment was reversed (a chargeback)"
            )
        }));
        lines.extend(self.findings.iter().map(|finding| {
            let finding = finding.text(l);
            sentence!(l, "不符：{finding}", "MISMATCH: {finding}")
        }));
        lines.push(self.verdict(l));
        lines.join("\n")
    }

    fn verdict(&self, l: Language) -> String {
        let (sales, pending) = (self.sales.len() + self.unsettled.len(), self.pending);
        match self.totals.findings.values().sum::<u64>() {
            0 => sentence!(
                l,
                "账目平衡：{sales}场秒杀，{pending}张订单正在入库",
                "the ledger balances: {sales} sales, {pending} claims pending"
            ),
            wrong => sentence!(
                l,
                "账目不平衡：{sales}场秒杀中有{wrong}处不符",
                "the ledger does NOT balance: {wrong} mismatches in {sales} sales"
            ),
        }
    }
}

/// Formats the report in English, for tests and benches.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(Language::En))
    }
}

/// Creates a finding about a sale as a whole.
pub(super) fn of_sale(
    code: Code,
    voucher: VoucherId,
    expected: impl fmt::Display,
    found: impl fmt::Display,
) -> Finding {
    Finding::new(code, Object::new(Kind::Sale, voucher), expected, found)
}
