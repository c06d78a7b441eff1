//! The equation of a sale, and the constraints on its terms.

use mallbox_storage::{OrderCounts, SaleRecord, SaleUnits};

use super::code::Code;
use super::report::{Finding, SaleTerms, of_sale};

/// A sale as read at one time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SaleSnapshot {
    pub(super) sale: SaleRecord,
    pub(super) counts: OrderCounts,
    pub(super) pending: u64,
    pub(super) units: Option<SaleUnits>,
}

impl SaleSnapshot {
    pub(super) fn terms(&self) -> SaleTerms {
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
            offered: self.offered(),
            in_memory: units.is_some(),
        }
    }

    /// Returns the units left: from the sales store, or else the database's stock minus the pending claims.
    fn remaining(&self) -> Option<i64> {
        match self.units {
            Some(units) => units.left().map(signed),
            None => self.sale.stock.map(|stock| signed(stock) - signed(self.pending)),
        }
    }

    /// Returns the units in memory that are reserved for offers to users of the waiting list. Offers reserve
    /// their units one after the other: those not accounted for otherwise, at most one per offer.
    fn offered(&self) -> u64 {
        let Self { counts, pending, units, .. } = self;
        let taken = units.map_or(0, |units| units.taken);
        taken.saturating_sub(counts.held() + pending).min(counts.offered)
    }

    pub(super) fn findings(&self) -> Vec<Finding> {
        let Self { sale, counts, pending, units } = self;
        let mut findings = Vec::new();
        let mut check = |code, expected: i64, found: i64| {
            if expected != found {
                findings.push(of_sale(code, sale.terms.voucher, expected, found));
            }
        };
        let held = signed(counts.held());
        let pending = signed(*pending);
        let offered = signed(self.offered());
        check(Code::SaleDoubleBuyers, 0, signed(counts.doubles));
        if let Some(initial) = sale.initial {
            let total = signed(initial) + sale.added;
            let stock = sale.stock.map_or(-1, signed);
            check(Code::SaleStock, total - held, stock);
            if let Some(remaining) = self.remaining() {
                check(Code::SaleEquation, remaining + pending + held + offered, total);
            }
            if let Some(units) = units {
                check(Code::SaleUnitsInMemory, total, units.units.map_or(-1, signed));
            }
        }
        if let Some(units) = units {
            check(Code::SaleTakenInMemory, held + pending + offered, signed(units.taken));
        }
        findings
    }
}

/// Converts a count. Counts are far below 2^63; larger values saturate.
fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use mallbox_storage::{Terms, Timestamp, VoucherId};

    use super::*;
    use crate::language::Language;
    use crate::mall::operator::ledger::report::{Report, Warning};

    /// Builds a balanced sale of 100 + 20 units: 7 pending, 15 in the database, 98 left.
    fn balanced() -> SaleSnapshot {
        let voucher = VoucherId::new(7);
        let (begin, end) = (Timestamp::from_millis(0), Timestamp::from_millis(1));
        let per_user = std::num::NonZeroU8::MIN;
        SaleSnapshot {
            sale: SaleRecord {
                terms: Terms {
                    voucher,
                    begin,
                    end,
                    paused: false,
                    units: Some(120),
                    waiting: false,
                    per_user,
                },
                initial: Some(100),
                added: 20,
                stock: Some(105),
                pay_within: Duration::from_secs(900),
                min_level: 0,
                next_wave: None,
                guard: None,
                waiting_max: None,
                room: None,
                claims_per_second: None,
                thresholds: None,
                judgement: None,
            },
            counts: OrderCounts {
                unpaid: 5,
                paid: 4,
                used: 3,
                refunding: 2,
                dead_letters: 1,
                cancelled: 9,
                refunded: 8,
                offered: 0,
                doubles: 0,
            },
            pending: 7,
            units: Some(SaleUnits { units: Some(120), taken: 22 }),
        }
    }

    #[test]
    fn what_balances_is_not_found_fault_with_in_memory_or_out_of_it_limited_or_not() {
        let reading = balanced();
        assert_eq!(reading.findings(), []);
        assert_eq!(SaleSnapshot { units: None, ..reading }.findings(), []);
        assert_eq!(SaleSnapshot { units: None, ..reading }.remaining(), Some(98));
        let unlimited = SaleRecord { initial: None, stock: None, ..reading.sale };
        let units = Some(SaleUnits { units: None, taken: 22 });
        assert_eq!(SaleSnapshot { sale: unlimited, units, ..reading }.findings(), []);
    }

    #[test]
    fn an_offer_may_have_reserved_its_unit_and_no_more() {
        let with = |offered, taken| {
            let mut reading = balanced();
            reading.counts.offered = offered;
            reading.units = Some(SaleUnits { units: Some(120), taken });
            (reading.terms().offered, reading.findings().len())
        };
        assert_eq!(with(2, 22), (0, 0), "two offers without units yet");
        assert_eq!(with(2, 24), (2, 0));
        // Equation and units taken.
        assert_eq!(with(2, 25), (2, 2), "a unit beyond the offers");
        assert_eq!(with(0, 23), (0, 2));
    }

    #[test]
    fn each_term_that_is_spoiled_is_named() {
        type Spoil = fn(&mut SaleSnapshot);
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
            (|r| r.counts.doubles = 1, "users with more live orders than the sale allows"),
            (|r| r.units = Some(SaleUnits { units: Some(121), taken: 22 }), "units in memory"),
            (|r| r.units = Some(SaleUnits { units: Some(120), taken: 21 }), "units taken in memory"),
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
        assert!(text.contains("不符：秒杀7：订单事务记录的库存：应为105，实为104 [SALE_STOCK]"), "{text}");
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
        assert!(report.text(Language::En).ends_with("101 mismatches in 0 sales"));
    }

    #[test]
    fn the_manual_names_every_code() {
        for page in [
            include_str!("../../../../web/manual/verify.md"),
            include_str!("../../../../web/manual/verify.zh.md"),
        ] {
            for code in Code::ALL {
                let row = format!("| `{}` |", code.name());
                assert!(page.contains(&row), "{} is not in the manual", code.name());
            }
        }
    }
}
