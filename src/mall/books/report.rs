//! What was seen of the books, for people and for programs.

use std::collections::BTreeSet;
use std::fmt;

use mallbox_storage::VoucherId;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::language::{Both, Language, sentence};

/// Something that does not add up.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// Which sale, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub voucher: Option<u64>,
    /// Which term; JSON has its English name.
    #[serde(serialize_with = "in_english")]
    #[schemars(with = "String")]
    pub term: Both,
    /// What it should be.
    pub expected: String,
    /// What it is.
    pub found: String,
}

impl Finding {
    pub(super) fn new(
        voucher: Option<VoucherId>,
        term: Both,
        expected: impl fmt::Display,
        found: impl fmt::Display,
    ) -> Self {
        let voucher = voucher.map(VoucherId::get);
        Self { voucher, term, expected: expected.to_string(), found: found.to_string() }
    }

    fn text(&self, l: Language) -> String {
        let Self { voucher, term, expected, found } = self;
        let term = term.spoken(l);
        let sale =
            voucher.map(|voucher| sentence!(l, "秒杀{voucher}：", "sale {voucher}: ")).unwrap_or_default();
        sentence!(
            l,
            "{sale}{term}：应为{expected}，实为{found}",
            "{sale}{term}: expected {expected}, found {found}"
        )
    }
}

fn in_english<S: Serializer>(term: &Both, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(term.en)
}

/// The terms of one sale, as they were read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SaleBooks {
    /// Which.
    pub voucher: u64,
    /// Units at the start; absent if unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<u64>,
    /// Units added since.
    pub added: i64,
    /// Units left; absent if unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining: Option<i64>,
    /// Claims in the log.
    pub pending: u64,
    /// Orders by status.
    pub unpaid: u64,
    /// Status 2.
    pub paid: u64,
    /// Status 3.
    pub used: u64,
    /// Status 5.
    pub refunding: u64,
    /// Dead letters that hold a unit.
    pub dead_letters: u64,
    /// Whether the sale is in memory, and memory was checked too.
    pub in_memory: bool,
}

impl SaleBooks {
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

/// What [`Books::verify`](super::Books::verify) saw.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Every sale.
    pub sales: Vec<SaleBooks>,
    /// What does not add up.
    pub findings: Vec<Finding>,
    /// Sales that moved so fast that no two readings agreed: nothing is said about them.
    pub unsettled: Vec<u64>,
    /// Claims in the log that are not in the record yet.
    pub pending: u64,
}

impl Report {
    /// Whether all of it adds up, as far as it stood still.
    #[must_use]
    pub fn balances(&self) -> bool {
        self.findings.is_empty()
    }

    /// The sales in which something does not add up.
    #[must_use]
    pub fn faulty_sales(&self) -> BTreeSet<VoucherId> {
        self.findings.iter().filter_map(|finding| finding.voucher).map(VoucherId::new).collect()
    }

    /// For people: a line a sale, what is wrong, and the verdict.
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
        lines.extend(self.findings.iter().map(|finding| {
            let finding = finding.text(l);
            sentence!(l, "有误：{finding}", "WRONG: {finding}")
        }));
        let (sales, pending) = (self.sales.len() + self.unsettled.len(), self.pending);
        lines.push(match self.findings.len() {
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
        });
        lines.join("\n")
    }
}

/// In English, for tests and benches.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(Language::En))
    }
}
