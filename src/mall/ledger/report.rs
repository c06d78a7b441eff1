//! The ledger check's report, for people and for programs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use mallbox_storage::{OrderCounts, VoucherId};
use schemars::JsonSchema;
use serde::Serialize;

use super::code::Code;
use super::object::{Kind, Object};
use crate::language::{Both, Language, both, sentence};

/// One thing that does not add up.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// Kind of the finding.
    pub code: Code,
    /// Where the fault is.
    pub object: Object,
    /// Id of the sale, if the finding is about a sale as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub voucher: Option<u64>,
    /// English name of the term that was compared.
    pub term: &'static str,
    /// Expected value of the term.
    pub expected: String,
    /// Value of the term.
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

/// Something an operator should know that is no imbalance.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Warning {
    /// Stable name, such as `LOW_DISK_SPACE`.
    pub code: &'static str,
    /// Details in English.
    pub message: String,
}

impl Warning {
    /// Little room on the disk: claims are refused, and nothing is lost.
    pub(super) fn low_disk_space(message: String) -> Self {
        Self { code: "LOW_DISK_SPACE", message }
    }

    fn term(&self) -> Both {
        match self.code {
            "LOW_DISK_SPACE" => {
                both("磁盘空间不足，暂不接受新的抢购", "disk space is low, claims are refused")
            }
            _ => both("提示", "note"),
        }
    }
}

/// The terms of one sale's equation: initial + added = remaining + pending + unpaid + paid + used + refunding + dead letters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SaleTerms {
    /// Id of the sale's voucher.
    pub voucher: u64,
    /// Units at the start; absent if unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<u64>,
    /// Units added since; negative if taken away.
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
    /// Whether the sale is in memory (or Redis), and was compared with it.
    pub in_memory: bool,
}

impl SaleTerms {
    fn text(&self, l: Language) -> String {
        let Self { voucher, added, pending, unpaid, paid, used, refunding, dead_letters, .. } = self;
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
             死信{dead_letters}",
            "sale {voucher}: {left}pending {pending} + unpaid {unpaid} + paid {paid} + used {used} + refunding \
             {refunding} + dead letters {dead_letters}"
        )
    }
}

/// Sums over the whole mall, of sales and ordinary vouchers together.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Totals {
    /// Sales, those that never stood still included.
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
    /// Findings by code, those beyond [`Report::EXAMPLES`] included.
    pub findings: BTreeMap<&'static str, u64>,
}

/// Payments by state, and money in cents.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PaymentTotals {
    /// Payments of which the gateway's answer is not known.
    pub started: u64,
    /// Payments that the gateway took.
    pub captured: u64,
    /// Payments that were given back.
    pub refunded: u64,
    /// Payments that the gateway did not take.
    pub failed: u64,
    /// Sum of the captured ones.
    pub captured_cents: i64,
    /// Sum of those that were given back.
    pub refunded_cents: i64,
}

impl Totals {
    pub(super) fn add_orders(&mut self, counts: &OrderCounts) {
        let OrderCounts { unpaid, paid, used, cancelled, refunding, refunded, dead_letters, doubles: _ } =
            *counts;
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
    /// Every sale that stood still.
    pub sales: Vec<SaleTerms>,
    /// What does not add up: of each code, the first [`Report::EXAMPLES`].
    pub findings: Vec<Finding>,
    /// What is no imbalance.
    pub warnings: Vec<Warning>,
    /// Sales that moved so fast that no two readings agreed: nothing is said about them.
    pub unsettled: Vec<u64>,
    /// Accepted claims in the order log.
    pub pending: u64,
    /// Sums.
    pub totals: Totals,
}

/// A report as `mallbox verify --json` prints it.
#[derive(Serialize)]
pub struct Document {
    version: u32,
    balances: bool,
    #[serde(flatten)]
    report: Report,
}

impl Report {
    /// Version of the JSON form. A new field or code keeps it; a changed meaning raises it.
    pub const VERSION: u32 = 1;
    /// Findings of one code that are listed; the rest is counted.
    pub const EXAMPLES: u64 = 100;

    pub(super) fn find(&mut self, finding: Finding) {
        let found = self.totals.findings.entry(finding.code.name()).or_default();
        *found += 1;
        if *found <= Self::EXAMPLES {
            self.findings.push(finding);
        }
    }

    /// Counts findings that are not listed.
    pub(super) fn count_only(&mut self, code: Code, findings: u64) {
        if findings > 0 {
            *self.totals.findings.entry(code.name()).or_default() += findings;
        }
    }

    /// Whether everything that stood still adds up.
    #[must_use]
    pub fn balances(&self) -> bool {
        self.findings.is_empty()
    }

    /// Whether there is a finding of this code.
    #[must_use]
    pub fn has(&self, code: Code) -> bool {
        self.totals.findings.contains_key(code.name())
    }

    /// The sales in which something does not add up.
    #[must_use]
    pub fn faulty_sales(&self) -> BTreeSet<VoucherId> {
        self.findings.iter().filter_map(|finding| finding.voucher).map(VoucherId::new).collect()
    }

    /// The report for programs.
    #[must_use]
    pub fn into_document(self) -> Document {
        Document { version: Self::VERSION, balances: self.balances(), report: self }
    }

    /// The report for people: a line a sale, what is wrong, and the verdict.
    #[must_use]
    pub fn text(&self, l: Language) -> String {
        let mut lines: Vec<String> = self.sales.iter().map(|sale| sale.text(l)).collect();
        lines.extend(self.unsettled.iter().map(|voucher| {
            sentence!(
                l,
                "秒杀{voucher}：读取期间一直在变动，请再试一次",
                "sale {voucher}: never stood still while it was read; ask again"
            )
        }));
        lines.extend(self.warnings.iter().map(|warning| {
            let (term, message) = (warning.term().spoken(l), &warning.message);
            sentence!(l, "注意：{term}：{message}", "NOTE: {term}: {message}")
        }));
        lines.extend(self.findings.iter().map(|finding| {
            let finding = finding.text(l);
            sentence!(l, "有误：{finding}", "WRONG: {finding}")
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
                "the books balance: {sales} sales, {pending} claims on their way to the record"
            ),
            wrong => sentence!(
                l,
                "账目不平衡：{sales}场秒杀中有{wrong}处不符",
                "the books do NOT balance: {wrong} findings in {sales} sales"
            ),
        }
    }
}

/// In English, for tests and benches.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(Language::En))
    }
}

/// A finding about a sale as a whole.
pub(super) fn of_sale(
    code: Code,
    voucher: VoucherId,
    expected: impl fmt::Display,
    found: impl fmt::Display,
) -> Finding {
    Finding::new(code, Object::new(Kind::Sale, voucher), expected, found)
}
