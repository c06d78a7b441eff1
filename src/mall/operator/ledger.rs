//! The ledger check: recounts rows and log entries, and compares them with running counts and with each
//! other.
//!
//! Reasons and figures: `src/decisions/0012-ledger-check.md`.

mod archive;
mod cash;
mod code;
mod dead_letters;
mod object;
mod orders;
mod pass;
mod report;
mod rows;
mod sale;
mod vote_chain;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{LogState, OrderCounts, OrderId, RowCheck, SaleRecord, StoreError, UserId, VoucherId};

use crate::mall::base::{Context, IMPORTED, wall_time};
use crate::mall::selling::order_numbers::CountForm;
use crate::mall::selling::sales::FlashSales;

pub use code::Code;
pub use object::{Kind, Object};
use orders::CheckTimes;
use pass::HighestCount;
use report::Warning;
pub use report::{Document, Finding, PaymentTotals, Report, SaleTerms, Totals};
use sale::SaleSnapshot;

/// Reads of a sale before the sale is reported as unsettled.
const READS_MAX: usize = 20;
/// Index of the read after which the sale's claims are held back.
const HOLD_FROM: usize = 6;
/// Equal reads in a row required to accept a fault: a read may see only some of several related changes.
const EQUAL_READS_MIN: usize = 3;
/// Pause between two reads of an unbalanced sale, in real time.
const PAUSE: Duration = Duration::from_millis(25);

/// The ledger check. Cheap to clone.
#[derive(Clone)]
pub struct LedgerCheck {
    context: Context,
    sales: FlashSales,
    /// Serializes checks, because a check holds back claims.
    turn: Arc<tokio::sync::Mutex<()>>,
}

/// Method of counting a sale's orders.
#[derive(Clone, Copy)]
enum CountMethod {
    /// Counts all orders and trusts no summary.
    Everywhere,
    /// Counts within the id range recorded by the sale.
    Near,
}

impl LedgerCheck {
    /// Creates the check for claims of `sales`.
    #[must_use]
    pub fn new(context: Context, sales: FlashSales) -> Self {
        Self { context, sales, turn: Arc::default() }
    }

    /// Checks every sale, one at a time, and all data common to the mall.
    ///
    /// Counts change while the mall runs: an unbalanced sale is read again until reads agree, if necessary
    /// with its claims held back for a moment. Sales not in memory are checked against the database only.
    ///
    /// # Errors
    /// [`StoreError`] if a read fails.
    pub async fn verify(&self) -> Result<Report, StoreError> {
        /// Sales read per page.
        const PAGE: u32 = 500;
        let _turn = self.turn.lock().await;
        let mut report = Report::default();
        let mut after = VoucherId::new(0);
        let era = self.era().await?;
        let counted = pass::over(&self.context.storage, era, &mut report).await?;
        counted.by_voucher.values().for_each(|counts| report.totals.add_orders(counts));
        loop {
            let sales = self.context.storage.catalogue.vouchers.sales(None, after, PAGE).await?;
            let Some(last) = sales.last() else { break };
            after = last.terms.voucher;
            for sale in sales {
                let counts = counted.by_voucher.get(&sale.terms.voucher).copied().unwrap_or_default();
                self.verify_sale(sale, counts, &mut report).await?;
            }
        }
        self.verify_buyers(counted.suspects, &mut report).await?;
        self.verify_ids(counted.highest, &mut report).await?;
        self.verify_rows(era, &mut report).await?;
        archive::verify(&self.context.storage, &mut report).await?;
        cash::verify(&self.context.storage, &mut report).await?;
        if let Some(fault) = self.context.storage.operator.audit.verify().await?.fault {
            report.find(Finding::new(Code::AuditChain, Object::MALL, "an unbroken hash chain", fault));
        }
        self.verify_log(&mut report).await;
        self.verify_pages(&mut report).await?;
        report.totals.sales = (report.sales.len() + report.unsettled.len()) as u64;
        Ok(report)
    }

    /// Returns the terms of a sale for display, and its imbalances. The imbalances are `None` while the
    /// counts change and no two reads agree: only [`verify`](Self::verify) holds back claims. Returns `None`
    /// for an unknown sale.
    ///
    /// # Errors
    /// [`StoreError`] if a read fails.
    pub async fn of_sale(
        &self,
        voucher: VoucherId,
    ) -> Result<Option<(SaleTerms, Option<Vec<Finding>>)>, StoreError> {
        let mut last: Option<SaleSnapshot> = None;
        loop {
            let Some(reading) = self.read(voucher, CountMethod::Near).await? else { return Ok(None) };
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

    /// Checks one sale. `counts` come from the pass over all sales and suffice for a sale that stands still.
    /// Other sales are read again.
    async fn verify_sale(
        &self,
        sale: SaleRecord,
        counts: OrderCounts,
        report: &mut Report,
    ) -> Result<(), StoreError> {
        let voucher = sale.terms.voucher;
        let storage = &self.context.storage;
        let pending = storage.selling.order_log.count(voucher).await?.durable;
        let units = storage.selling.sales.units(voucher).await?;
        let first = SaleSnapshot { sale, counts, pending, units };
        if first.findings().is_empty() {
            report.sales.push(first.terms());
            return Ok(());
        }
        let mut last: Option<SaleSnapshot> = None;
        let mut agreeing = 0;
        let (mut lease, mut hold) = (None, None);
        for reading_no in 0..READS_MAX {
            let Some(reading) = self.read(voucher, CountMethod::Everywhere).await? else { return Ok(()) };
            let findings = reading.findings();
            // During a change of terms the database and the sales store differ.
            agreeing = match last == Some(reading) {
                _ if self.sales.is_changing(voucher) => 0,
                true => agreeing + 1,
                false => 1,
            };
            if !findings.is_empty() && agreeing >= EQUAL_READS_MIN && lease.is_none() {
                // Another instance may be between database and sales store: rule out by taking the lease.
                lease = Some(self.sales.lease_terms().await?);
                agreeing = 0;
            }
            if findings.is_empty() || agreeing >= EQUAL_READS_MIN {
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

    async fn read(
        &self,
        voucher: VoucherId,
        counted: CountMethod,
    ) -> Result<Option<SaleSnapshot>, StoreError> {
        let storage = &self.context.storage;
        let units = storage.selling.sales.units(voucher).await?;
        let pending = storage.selling.order_log.count(voucher).await?.durable;
        let counts = match counted {
            CountMethod::Everywhere => storage.selling.orders.count(voucher).await?,
            CountMethod::Near => storage.selling.orders.tally(voucher).await?,
        };
        // Reads the sale without its voucher, whose row may be damaged or missing.
        let before = VoucherId::new(voucher.get().saturating_sub(1));
        let sales = storage.catalogue.vouchers.sales(None, before, 1).await?;
        let sale = sales.into_iter().find(|sale| sale.terms.voucher == voucher);
        Ok(sale.map(|sale| SaleSnapshot { sale, counts, pending, units }))
    }

    async fn era(&self) -> Result<CheckTimes, StoreError> {
        let imported = self.context.storage.base.upkeep.setting(IMPORTED).await?;
        let now = self.context.clock.now();
        // An import with an unreadable time gets the present: everything counts as imported.
        let at = |text: String| wall_time::parse(&text, &self.context.zone).unwrap_or(now);
        Ok(CheckTimes { now, imported: imported.map(at) })
    }

    /// Re-checks orders whose users held no unit in the sales store. A closing order releases its unit only
    /// after the change of status. A user without a unit while the order is still live has therefore lost the
    /// unit, or never had any.
    async fn verify_buyers(
        &self,
        mut suspects: Vec<(VoucherId, UserId, OrderId)>,
        report: &mut Report,
    ) -> Result<(), StoreError> {
        let storage = &self.context.storage;
        for _ in 0..EQUAL_READS_MIN {
            let mut still = Vec::new();
            for (voucher, user, id) in suspects {
                // The sales store first: only an order still live afterwards should have had a unit in the
                // store.
                let is_lacking = !storage.selling.sales.without_unit(voucher, &[user]).await?.is_empty();
                let is_known = storage.selling.sales.units(voucher).await?.is_some();
                let order = storage.selling.orders.get(id).await.ok().flatten();
                let is_live = order.is_some_and(|order| order.user == user && order.status.is_live());
                if is_lacking && is_known && is_live {
                    still.push((voucher, user, id));
                }
            }
            suspects = still;
            if suspects.is_empty() {
                return Ok(());
            }
            tokio::time::sleep(PAUSE).await;
        }
        for (voucher, user, id) in suspects {
            let found = format!("no unit of sale {voucher} held by user {user}");
            report.find(Finding::new(
                Code::OrderBuyer,
                Object::new(Kind::Order, id),
                "a unit in memory",
                found,
            ));
        }
        Ok(())
    }

    async fn verify_log(&self, report: &mut Report) {
        let LogState { pending, trouble, is_short_of_space, .. } =
            self.context.storage.selling.order_log.state().await;
        (report.pending, report.totals.pending) = (pending, pending);
        match trouble {
            Some(trouble) if is_short_of_space => report.warnings.push(Warning::low_disk_space(trouble)),
            Some(trouble) => report.find(Finding::new(Code::OrderLog, Object::MALL, "in order", trouble)),
            None => {}
        }
    }

    /// Reads every page of a database that checks its pages.
    async fn verify_pages(&self, report: &mut Report) -> Result<(), StoreError> {
        let found = self.context.storage.base.upkeep.check_pages().await?.unwrap_or_default();
        if found.damaged > 0 {
            let (expected, pages) = ("all pages match", format!("{} pages do not", found.damaged));
            report.find(Finding::new(Code::DatabasePages, Object::MALL, expected, pages));
        }
        report.warnings.extend((found.repaired > 0).then(|| Warning::repaired_pages(found.repaired)));
        report.warnings.extend((found.changed > 0).then(|| Warning::changed_pages(found.changed)));
        Ok(())
    }

    /// Checks every table row by row. The statements of one check see one snapshot, and need no
    /// second read.
    async fn verify_rows(&self, era: CheckTimes, report: &mut Report) -> Result<(), StoreError> {
        const EXAMPLES: u32 = 100;
        let ledger = &self.context.storage.operator.ledger;
        let is_imported = era.imported.is_some();
        for check in RowCheck::ALL.iter().copied().filter(|check| !is_imported || check.holds_when_imported())
        {
            let broken = ledger.broken(check, EXAMPLES).await?;
            let (code, kind, expected) = rows::describe(check);
            let rest = broken.count.saturating_sub(broken.examples.len() as u64);
            for id in broken.examples {
                report.find(Finding::new(code, Object::new(kind, id), expected, "not so"));
            }
            report.count_only(code, rest);
        }
        let gone = ledger.gone().await?;
        // Imported rows keep their ids, with gaps; payments are numbered by this mall.
        for (table, rows) in gone.into_iter().filter(|(table, _)| !is_imported || *table == "payments") {
            if rows > 0 {
                report.find(Finding::new(Code::RowsGone, Object::new(Kind::Table, table), 0, rows));
            }
        }
        Ok(())
    }

    /// Checks the sequences. `highest` was read before: a number is allocated before an order carries the
    /// number.
    async fn verify_ids(
        &self,
        highest: BTreeMap<u64, HighestCount>,
        report: &mut Report,
    ) -> Result<(), StoreError> {
        for (day, highest) in highest {
            let (form, high_water) = CountForm::of_day(&self.context.storage, day).await?;
            let highest = match form {
                CountForm::Plain => highest.as_written,
                CountForm::Hidden => highest.without_offset,
            };
            if high_water.is_none_or(|high_water| high_water < highest) {
                let found = high_water.map_or_else(|| "none".to_owned(), |mark| mark.to_string());
                let expected = format!("at least {highest} on day {day}");
                report.find(Finding::new(Code::OrderNumbers, Object::MALL, expected, found));
            }
        }
        Ok(())
    }
}
