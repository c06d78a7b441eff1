//! A single pass over all orders and dead letters, page by page.

use std::collections::{BTreeMap, HashMap, HashSet};

use mallbox_storage::{
    DeadLetterId, LetterFacts, OrderCounts, OrderFacts, OrderId, OrderStatus, PaymentFacts, PaymentState,
    Storage, StoreError, Timestamp, UserId, VoucherId,
};

use super::orders::{self, CheckTimes};
use super::report::Report;
use super::{dead_letters, report};
use crate::mall::selling::order_numbers::Offsets;

/// Orders per page: some 10 ms of one database reader.
const PAGE: u32 = 4_096;

/// Counts of one pass.
#[derive(Default)]
pub(super) struct Counted {
    /// Orders and dead letters by voucher.
    pub(super) by_voucher: BTreeMap<VoucherId, OrderCounts>,
    /// Highest count in the ids of each day.
    pub(super) highest: BTreeMap<u64, HighestCount>,
    /// Live orders whose users currently hold no unit in the sales store: at most [`SUSPECTS`].
    pub(super) suspects: Vec<(VoucherId, UserId, OrderId)>,
    buyers: HashMap<VoucherId, Buyers>,
    /// Offsets of the ids, once known.
    offsets: Option<Offsets>,
}

/// Highest count in the ids of a day, by both readings: the ids of a day have one form.
#[derive(Clone, Copy, Default)]
pub(super) struct HighestCount {
    /// The highest count of plain ids.
    pub(super) as_written: u64,
    /// The highest count behind the offsets of hidden ids; as written if the mall has no secret.
    pub(super) without_offset: u64,
}

/// Maximum number of orders to re-check. A larger number is a single fault, visible in the sale's counts.
const SUSPECTS: usize = 1_000;

/// Users with a live order of a sale.
#[derive(Default)]
struct Buyers {
    once: roaring::RoaringTreemap,
    twice: HashSet<UserId>,
}

/// Checks and counts every order, payment and dead letter.
pub(super) async fn over(
    storage: &Storage,
    era: CheckTimes,
    report: &mut Report,
) -> Result<Counted, StoreError> {
    let mut counted = Counted::default();
    let mut after = None;
    loop {
        let page = storage.operator.ledger.orders(after, PAGE).await?;
        counted.read_offsets(storage).await?;
        counted.suspect(storage, &page.orders).await?;
        for order in &page.orders {
            counted.add(order);
            for payment in &order.payments {
                report.totals.payments.add(payment);
                report.note_reversal(order, payment);
            }
            orders::check(order, era).into_iter().for_each(|finding| report.find(finding));
        }
        for payment in &page.strays {
            report.totals.payments.add(payment);
            report.find(orders::stray(payment));
        }
        after = page.more_after;
        if after.is_none() {
            break;
        }
    }
    let mut after = DeadLetterId::new(0);
    loop {
        let page = storage.operator.ledger.letters(after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = last.id;
        counted.read_offsets(storage).await?;
        for letter in &page {
            counted.add_letter(letter);
            dead_letters::check(letter).into_iter().for_each(|finding| report.find(finding));
        }
    }
    counted.close();
    Ok(counted)
}

impl Counted {
    /// Reads the mall's secret, after the rows: a secret is stored before the first id that needs it.
    async fn read_offsets(&mut self, storage: &Storage) -> Result<(), StoreError> {
        if self.offsets.is_none() {
            self.offsets = Offsets::stored(storage).await?;
        }
        Ok(())
    }

    /// Compares the users of live orders with the buyers in the sales store.
    async fn suspect(&mut self, storage: &Storage, orders: &[OrderFacts]) -> Result<(), StoreError> {
        let mut holders: BTreeMap<VoucherId, HashMap<UserId, OrderId>> = BTreeMap::new();
        for order in orders.iter().filter(|order| order.sale.is_some() && is_live(order)) {
            holders.entry(order.voucher).or_default().insert(order.user, order.id);
        }
        for (voucher, holders) in holders {
            if self.suspects.len() >= SUSPECTS || storage.selling.sales.units(voucher).await?.is_none() {
                continue;
            }
            let users: Vec<UserId> = holders.keys().copied().collect();
            let lacking = storage.selling.sales.without_unit(voucher, &users).await?;
            self.suspects.extend(lacking.into_iter().map(|user| (voucher, user, holders[&user])));
        }
        Ok(())
    }

    fn add(&mut self, order: &OrderFacts) {
        self.number(order.id, order.created);
        let status = u8::try_from(order.status).ok().and_then(OrderStatus::numbered);
        let counts = self.by_voucher.entry(order.voucher).or_default();
        let Some(count) = status.and_then(|status| counts.of_status(status)) else { return };
        *count += 1;
        if order.sale.is_some() && is_live(order) {
            let buyers = self.buyers.entry(order.voucher).or_default();
            if !buyers.once.insert(order.user.get()) {
                buyers.twice.insert(order.user);
            }
        }
    }

    fn add_letter(&mut self, letter: &LetterFacts) {
        self.number(letter.order, letter.claimed);
        self.by_voucher.entry(letter.voucher).or_default().dead_letters += u64::from(letter.holds_unit);
    }

    fn number(&mut self, id: OrderId, created: Timestamp) {
        let Some((day, as_written)) = id.day_and_count(created) else { return };
        let offsets = self.offsets.as_ref();
        let revealed = offsets.and_then(|offsets| offsets.reveal(id).day_and_count(created));
        let without_offset = revealed.map_or(as_written, |(_, count)| count);
        let highest = self.highest.entry(day).or_default();
        highest.as_written = highest.as_written.max(as_written);
        highest.without_offset = highest.without_offset.max(without_offset);
    }

    fn close(&mut self) {
        for (voucher, buyers) in std::mem::take(&mut self.buyers) {
            self.by_voucher.entry(voucher).or_default().doubles = buyers.twice.len() as u64;
        }
    }
}

fn is_live(order: &OrderFacts) -> bool {
    let status = u8::try_from(order.status).ok().and_then(OrderStatus::numbered);
    status.is_some_and(OrderStatus::is_live)
}

impl report::PaymentTotals {
    fn add(&mut self, payment: &PaymentFacts) {
        let PaymentFacts { amount, state, .. } = *payment;
        match PaymentState::in_row(state) {
            Some(PaymentState::Started) => self.started += 1,
            Some(PaymentState::Captured) => {
                self.captured += 1;
                self.captured_cents = self.captured_cents.saturating_add(amount.get());
            }
            Some(PaymentState::Refunded) => {
                self.refunded += 1;
                self.refunded_cents = self.refunded_cents.saturating_add(amount.get());
            }
            Some(PaymentState::Failed) => self.failed += 1,
            Some(PaymentState::Reversed) => {
                self.reversed += 1;
                self.reversed_cents = self.reversed_cents.saturating_add(amount.get());
            }
            None => {}
        }
    }
}
