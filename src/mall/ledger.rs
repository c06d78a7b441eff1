//! The ledger check: rows and log entries counted one by one, compared with running counts and with each other.

mod code;
mod letters;
mod object;
mod orders;
mod pass;
mod report;
mod rows;
mod sale;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{LogState, OrderCounts, OrderId, RowCheck, SaleRecord, StoreError, UserId, VoucherId};

use super::order_numbers::SEQUENCE;
use super::sales::SaleCounter;
use super::{Context, IMPORTED, wall_time};

pub use code::Code;
pub use object::{Kind, Object};
use orders::Era;
use report::Warning;
pub use report::{Document, Finding, PaymentTotals, Report, SaleTerms, Totals};
use sale::Reading;

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
        let era = self.era().await?;
        let counted = pass::over(&self.context.storage, era, &mut report).await?;
        counted.by_voucher.values().for_each(|counts| report.totals.add_orders(counts));
        loop {
            let sales = self.context.storage.vouchers.sales(None, after, PAGE).await?;
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
        // Not through the voucher, whose own row may be damaged or gone.
        let before = VoucherId::new(voucher.get().saturating_sub(1));
        let sales = storage.vouchers.sales(None, before, 1).await?;
        let sale = sales.into_iter().find(|sale| sale.terms.voucher == voucher);
        Ok(sale.map(|sale| Reading { sale, counts, pending, units }))
    }

    async fn era(&self) -> Result<Era, StoreError> {
        let imported = self.context.storage.upkeep.setting(IMPORTED).await?;
        let now = self.context.clock.now();
        // An import without a readable time is as old as can be: then all there is counts as imported.
        let at = |text: String| wall_time::parse(&text, &self.context.zone).unwrap_or(now);
        Ok(Era { now, imported: imported.map(at) })
    }

    /// Reads orders again whose users held no unit in memory. One that is closed meanwhile gives its unit back after that, so
    /// whoever holds none while the order is still live has lost it, or never had it.
    async fn verify_buyers(
        &self,
        mut suspects: Vec<(VoucherId, UserId, OrderId)>,
        report: &mut Report,
    ) -> Result<(), StoreError> {
        let storage = &self.context.storage;
        for _ in 0..AGREEING {
            let mut still = Vec::new();
            for (voucher, user, id) in suspects {
                // Memory first: only an order that is still live after that should have had its unit there.
                let is_lacking = !storage.sales.without_unit(voucher, &[user]).await?.is_empty();
                let is_known = storage.sales.units(voucher).await?.is_some();
                let order = storage.orders.get(id).await.ok().flatten();
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
            self.context.storage.order_log.state().await;
        (report.pending, report.totals.pending) = (pending, pending);
        match trouble {
            Some(trouble) if is_short_of_space => report.warnings.push(Warning::low_disk_space(trouble)),
            Some(trouble) => report.find(Finding::new(Code::OrderLog, Object::MALL, "in order", trouble)),
            None => {}
        }
    }

    /// Checks every table row by row. Statements of one check see one state, so nothing has to be read again.
    async fn verify_rows(&self, era: Era, report: &mut Report) -> Result<(), StoreError> {
        const EXAMPLES: u32 = 100;
        let ledger = &self.context.storage.ledger;
        let is_imported = era.imported.is_some();
        for check in RowCheck::ALL.iter().copied().filter(|check| !is_imported || check.holds_when_imported())
        {
            let broken = ledger.broken(check, EXAMPLES).await?;
            let (code, kind, expected) = rows::named(check);
            let rest = broken.count.saturating_sub(broken.examples.len() as u64);
            for id in broken.examples {
                report.find(Finding::new(code, Object::new(kind, id), expected, "not so"));
            }
            report.count_only(code, rest);
        }
        let gone = ledger.gone().await?;
        // What moved in has the ids that it had, with gaps; payments were numbered here.
        for (table, rows) in gone.into_iter().filter(|(table, _)| !is_imported || *table == "payments") {
            if rows > 0 {
                report.find(Finding::new(Code::RowsGone, Object::new(Kind::Table, table), 0, rows));
            }
        }
        Ok(())
    }

    /// `highest` was read before: a number is given out before an order carries it.
    async fn verify_ids(&self, highest: BTreeMap<u64, u64>, report: &mut Report) -> Result<(), StoreError> {
        let storage = &self.context.storage;
        for (day, highest) in highest {
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
