//! The ledger check: rows and log entries counted one by one, compared with running counts and with each other.

mod code;
mod object;
mod report;

use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{LogState, OrderCounts, SaleRecord, StoreError, Units, VoucherId};

use super::Context;
use super::order_numbers::SEQUENCE;
use super::sales::SaleCounter;

pub use code::Code;
pub use object::{Kind, Object};
pub use report::{Document, Finding, Report, SaleTerms, Totals};
use report::{Warning, of_sale};

/// How often a sale is read before it is said never to have stood still.
const READINGS: usize = 20;
/// From this reading on, the sale's claims wait while it is read.
const HOLD_FROM: usize = 6;
/// Readings that must agree before a fault is believed: numbers that move together are seen half-moved.
const AGREEING: usize = 3;
/// Between two readings of a sale that did not balance, in real time.
const PAUSE: Duration = Duration::from_millis(25);

/// Checks the ledger. Cheap to clone.
#[derive(Clone)]
pub struct LedgerCheck {
    context: Context,
    sales: SaleCounter,
    /// One at a time: it holds claims.
    turn: Arc<tokio::sync::Mutex<()>>,
}

/// One sale as it was read once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Reading {
    sale: SaleRecord,
    counts: OrderCounts,
    pending: u64,
    units: Option<Units>,
}

/// Where a sale's orders are looked for.
#[derive(Clone, Copy)]
enum Counted {
    /// Among all: nothing is taken on trust.
    Everywhere,
    /// Where the sale says that they are.
    Near,
}

impl LedgerCheck {
    /// The ledger of the mall whose claims this counter takes.
    #[must_use]
    pub fn new(context: Context, sales: SaleCounter) -> Self {
        Self { context, sales, turn: Arc::default() }
    }

    /// Checks every sale, one at a time, and what is common to all.
    ///
    /// While the mall runs, numbers move: a sale that does not balance is read again until readings agree, if need be
    /// with its claims waiting for a moment. Sales that are not in memory are checked against the record alone.
    ///
    /// # Errors
    /// [`StoreError`]: something could not be read.
    pub async fn verify(&self) -> Result<Report, StoreError> {
        /// Sales read at once.
        const PAGE: u32 = 500;
        let _turn = self.turn.lock().await;
        let mut report = Report::default();
        let mut after = VoucherId::new(0);
        let counted = self.context.storage.orders.count_all().await?;
        counted.values().for_each(|counts| report.totals.add_orders(counts));
        loop {
            let sales = self.context.storage.vouchers.sales(None, after, PAGE).await?;
            let Some(last) = sales.last() else { break };
            after = last.terms.voucher;
            for sale in sales {
                let counts = counted.get(&sale.terms.voucher).copied().unwrap_or_default();
                self.verify_sale(sale, counts, &mut report).await?;
            }
        }
        self.verify_payments(&mut report).await?;
        self.verify_ids(&mut report).await?;
        self.verify_notes(&mut report).await?;
        if let Some(fault) = self.context.storage.audit.verify().await?.fault {
            report.find(Finding::new(Code::AuditChain, Object::MALL, "one unbroken chain", fault));
        }
        self.verify_log(&mut report).await;
        report.totals.sales = (report.sales.len() + report.unsettled.len()) as u64;
        Ok(report)
    }

    /// The terms of one sale, for showing, and what does not add up in them. While they move, and no two readings agree,
    /// nothing is said about that: [`verify`](Self::verify) would hold the sale for it. `None` if there is no such sale.
    ///
    /// # Errors
    /// [`StoreError`]: something could not be read.
    pub async fn of_sale(
        &self,
        voucher: VoucherId,
    ) -> Result<Option<(SaleTerms, Option<Vec<Finding>>)>, StoreError> {
        let mut last: Option<Reading> = None;
        loop {
            let Some(reading) = self.read(voucher, Counted::Near).await? else { return Ok(None) };
            let findings = reading.findings();
            if findings.is_empty() || (last == Some(reading) && !self.sales.is_changing(voucher)) {
                return Ok(Some((reading.terms(), Some(findings))));
            }
            if last.is_some() {
                return Ok(Some((reading.terms(), None)));
            }
            last = Some(reading);
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// `counts` are those of one look at all sales: good enough for a sale that stands still. Others are read again.
    async fn verify_sale(
        &self,
        sale: SaleRecord,
        counts: OrderCounts,
        report: &mut Report,
    ) -> Result<(), StoreError> {
        let voucher = sale.terms.voucher;
        let storage = &self.context.storage;
        let pending = storage.order_log.count(voucher).await?.durable;
        let units = storage.sales.units(voucher).await?;
        let first = Reading { sale, counts, pending, units };
        if first.findings().is_empty() {
            report.sales.push(first.terms());
            return Ok(());
        }
        let mut last: Option<Reading> = None;
        let mut agreeing = 0;
        let (mut turn, mut hold) = (None, None);
        for reading_no in 0..READINGS {
            let Some(reading) = self.read(voucher, Counted::Everywhere).await? else { return Ok(()) };
            let findings = reading.findings();
            // While its terms are changed, record and store differ for as long as that takes.
            agreeing = match last == Some(reading) {
                _ if self.sales.is_changing(voucher) => 0,
                true => agreeing + 1,
                false => 1,
            };
            if !findings.is_empty() && agreeing >= AGREEING && turn.is_none() {
                // Perhaps another instance is between record and store: not while it is one's turn here.
                turn = Some(self.sales.turn().await?);
                agreeing = 0;
            }
            if findings.is_empty() || agreeing >= AGREEING {
                report.sales.push(reading.terms());
                findings.into_iter().for_each(|finding| report.find(finding));
                return Ok(());
            }
            last = Some(reading);
            if reading_no >= HOLD_FROM && hold.is_none() {
                hold = Some(self.sales.hold(voucher));
            }
            tokio::time::sleep(PAUSE).await;
        }
        drop(hold);
        report.unsettled.push(voucher.get());
        Ok(())
    }

    async fn read(&self, voucher: VoucherId, counted: Counted) -> Result<Option<Reading>, StoreError> {
        let storage = &self.context.storage;
        let units = storage.sales.units(voucher).await?;
        let pending = storage.order_log.count(voucher).await?.durable;
        let counts = match counted {
            Counted::Everywhere => storage.orders.count(voucher).await?,
            Counted::Near => storage.orders.tally(voucher).await?,
        };
        let sale = storage.vouchers.get(voucher).await?.and_then(|voucher| voucher.sale);
        Ok(sale.map(|sale| Reading { sale, counts, pending, units }))
    }

    async fn verify_payments(&self, report: &mut Report) -> Result<(), StoreError> {
        let mut last = None;
        // As for sales: an order and its payment are two rows, and somebody may be between them.
        for _ in 0..AGREEING {
            let faults = self.context.storage.payments.faults().await?;
            if faults.paid_without_payment == 0 && faults.captured_on_cancelled == 0 {
                return Ok(());
            }
            last = Some(faults);
            tokio::time::sleep(PAUSE).await;
        }
        let Some(faults) = last else { return Ok(()) };
        for (code, found) in [
            (Code::PaymentMissing, faults.paid_without_payment),
            (Code::PaymentOnCancelled, faults.captured_on_cancelled),
        ] {
            if found > 0 {
                report.find(Finding::new(code, Object::MALL, 0, found));
            }
        }
        Ok(())
    }

    async fn verify_log(&self, report: &mut Report) {
        let LogState { pending, trouble, is_short_of_space, .. } =
            self.context.storage.order_log.state().await;
        (report.pending, report.totals.pending) = (pending, pending);
        match trouble {
            Some(trouble) if is_short_of_space => report.warnings.push(Warning::low_disk_space(trouble)),
            Some(trouble) => report.find(Finding::new(Code::OrderLog, Object::MALL, "in order", trouble)),
            None => {}
        }
    }

    async fn verify_notes(&self, report: &mut Report) -> Result<(), StoreError> {
        let storage = &self.context.storage;
        for (code, miscounted) in [
            (Code::NoteComments, storage.comments.miscounted().await?),
            (Code::Likes, storage.likes.miscounted().await?),
        ] {
            if miscounted > 0 {
                report.find(Finding::new(code, Object::MALL, 0, miscounted));
            }
        }
        Ok(())
    }

    async fn verify_ids(&self, report: &mut Report) -> Result<(), StoreError> {
        let storage = &self.context.storage;
        // The ids first: a number is given out before an order carries it.
        for (day, highest) in storage.orders.highest_counts().await? {
            let high_water = storage.sequences.high_water(SEQUENCE, day).await?;
            if high_water.is_none_or(|high_water| high_water < highest) {
                let found = high_water.map_or_else(|| "none".to_owned(), |mark| mark.to_string());
                let expected = format!("at least {highest} on day {day}");
                report.find(Finding::new(Code::OrderNumbers, Object::MALL, expected, found));
            }
        }
        Ok(())
    }
}

impl Reading {
    fn terms(&self) -> SaleTerms {
        let Self { sale, counts, pending, units } = self;
        SaleTerms {
            voucher: sale.terms.voucher.get(),
            initial: sale.initial,
            added: sale.added,
            remaining: self.remaining(),
            pending: *pending,
            unpaid: counts.unpaid,
            paid: counts.paid,
            used: counts.used,
            refunding: counts.refunding,
            dead_letters: counts.dead_letters,
            in_memory: units.is_some(),
        }
    }

    /// Units left: as memory has it, or the record's stock without what is still on its way there.
    fn remaining(&self) -> Option<i64> {
        match self.units {
            Some(units) => units.left().map(signed),
            None => self.sale.stock.map(|stock| signed(stock) - signed(self.pending)),
        }
    }

    fn findings(&self) -> Vec<Finding> {
        let Self { sale, counts, pending, units } = self;
        let mut findings = Vec::new();
        let mut check = |code, expected: i64, found: i64| {
            if expected != found {
                findings.push(of_sale(code, sale.terms.voucher, expected, found));
            }
        };
        let held = signed(counts.held());
        let pending = signed(*pending);
        check(Code::SaleDoubleBuyers, 0, signed(counts.doubles));
        if let Some(initial) = sale.initial {
            let total = signed(initial) + sale.added;
            let stock = sale.stock.map_or(-1, signed);
            check(Code::SaleStock, total - held, stock);
            if let Some(remaining) = self.remaining() {
                check(Code::SaleEquation, remaining + pending + held, total);
            }
            if let Some(units) = units {
                check(Code::SaleUnitsInMemory, total, units.units.map_or(-1, signed));
            }
        }
        if let Some(units) = units {
            check(Code::SaleTakenInMemory, held + pending, signed(units.taken));
        }
        findings
    }
}

/// Counts are far below 2^63; what is not counts as all there is.
fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use mallbox_storage::{Terms, Timestamp};

    use super::*;
    use crate::language::Language;

    /// 100 + 20 units: 7 pending, 15 in the record, 98 left.
    fn balanced() -> Reading {
        let voucher = VoucherId::new(7);
        let (begin, end) = (Timestamp::from_millis(0), Timestamp::from_millis(1));
        Reading {
            sale: SaleRecord {
                terms: Terms { voucher, begin, end, paused: false, units: Some(120) },
                initial: Some(100),
                added: 20,
                stock: Some(105),
                pay_within: Duration::from_secs(900),
                min_level: 0,
            },
            counts: OrderCounts {
                unpaid: 5,
                paid: 4,
                used: 3,
                refunding: 2,
                dead_letters: 1,
                cancelled: 9,
                refunded: 8,
                doubles: 0,
            },
            pending: 7,
            units: Some(Units { units: Some(120), taken: 22 }),
        }
    }

    #[test]
    fn what_balances_is_not_found_fault_with_in_memory_or_out_of_it_limited_or_not() {
        let reading = balanced();
        assert_eq!(reading.findings(), []);
        assert_eq!(Reading { units: None, ..reading }.findings(), []);
        assert_eq!(Reading { units: None, ..reading }.remaining(), Some(98));
        let unlimited = SaleRecord { initial: None, stock: None, ..reading.sale };
        let units = Some(Units { units: None, taken: 22 });
        assert_eq!(Reading { sale: unlimited, units, ..reading }.findings(), []);
    }

    #[test]
    fn each_term_that_is_spoiled_is_named() {
        type Spoil = fn(&mut Reading);
        let spoil = |spoil: Spoil| {
            let mut reading = balanced();
            spoil(&mut reading);
            reading.findings().into_iter().map(|finding| finding.term).collect::<Vec<_>>()
        };
        let rows: [(Spoil, &str); 12] = [
            (|r| r.sale.initial = Some(101), "initial + added"),
            (|r| r.sale.added -= 1, "initial + added"),
            (|r| r.sale.stock = Some(104), "stock kept by the order transactions"),
            (|r| r.counts.unpaid += 1, "stock kept by the order transactions"),
            (|r| r.counts.paid -= 1, "stock kept by the order transactions"),
            (|r| r.counts.used += 1, "stock kept by the order transactions"),
            (|r| r.counts.refunding -= 1, "stock kept by the order transactions"),
            (|r| r.counts.dead_letters += 1, "stock kept by the order transactions"),
            (|r| r.pending -= 1, "units taken in memory"),
            (|r| r.counts.doubles = 1, "users with two live orders"),
            (|r| r.units = Some(Units { units: Some(121), taken: 22 }), "units in memory"),
            (|r| r.units = Some(Units { units: Some(120), taken: 21 }), "units taken in memory"),
        ];
        for (row, (change, term)) in rows.into_iter().enumerate() {
            assert!(spoil(change).contains(&term), "row {row}: {term} is not named");
        }
    }

    #[test]
    fn the_report_reads_alone() {
        let mut reading = balanced();
        reading.sale.stock = Some(104);
        let mut report = Report { sales: vec![reading.terms()], ..Report::default() };
        reading.findings().into_iter().for_each(|finding| report.find(finding));
        report.warnings.push(Warning::low_disk_space("12 MiB free".into()));
        assert!(!report.balances());
        let text = report.to_string();
        assert!(text.contains("initial 100 + added 20 = remaining 98 + pending 7 + unpaid 5"), "{text}");
        assert!(
            text.contains(
                "sale 7: stock kept by the order transactions: expected 105, found 104 [SALE_STOCK]"
            ),
            "{text}"
        );
        let text = report.text(Language::Zh);
        assert!(text.contains("秒杀7：初始100 + 追加20 = 剩余98 + 待入库7 + 未支付5"), "{text}");
        assert!(text.contains("有误：秒杀7：订单事务记录的库存：应为105，实为104 [SALE_STOCK]"), "{text}");
        assert!(text.contains("注意：磁盘空间不足，暂不接受新的抢购：12 MiB free"), "{text}");
        assert!(text.ends_with("账目不平衡：1场秒杀中有1处不符"), "{text}");
        let json = serde_json::to_value(report.into_document()).unwrap();
        assert_eq!((&json["version"], &json["balances"]), (&1.into(), &false.into()));
        let finding = &json["findings"][0];
        assert_eq!((&finding["code"], &finding["voucher"]), (&"SALE_STOCK".into(), &7.into()));
        assert_eq!(finding["object"], serde_json::json!({ "kind": "sale", "id": "7" }));
        assert_eq!(finding["term"], "stock kept by the order transactions");
        assert_eq!(json["sales"][0]["deadLetters"], 1);
        assert_eq!(json["warnings"][0]["code"], "LOW_DISK_SPACE");
        assert_eq!(json["totals"]["findings"]["SALE_STOCK"], 1);
    }

    #[test]
    fn a_shortage_of_space_alone_is_no_imbalance() {
        let warnings = vec![Warning::low_disk_space("12 MiB free".into())];
        assert!(Report { warnings, ..Report::default() }.balances());
    }

    #[test]
    fn findings_of_one_code_are_listed_up_to_a_bound_and_counted_beyond_it() {
        let mut report = Report::default();
        for number in 0..=Report::EXAMPLES {
            report.find(of_sale(Code::SaleStock, VoucherId::new(number), 1, 0));
        }
        assert_eq!(report.findings.len() as u64, Report::EXAMPLES);
        assert_eq!(report.totals.findings["SALE_STOCK"], Report::EXAMPLES + 1);
        assert!(report.text(Language::En).ends_with("101 findings in 0 sales"));
    }

    #[test]
    fn the_manual_names_every_code() {
        let manual = include_str!("../../docs/verify.md");
        for code in Code::ALL {
            assert!(
                manual.contains(&format!("| `{}` |", code.name())),
                "{} is not in the manual",
                code.name()
            );
        }
    }
}
