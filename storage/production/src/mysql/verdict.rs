//! Decides about a batch of claims, given the rows in the database. Does no I/O.

use std::collections::{BTreeMap, HashMap, HashSet};

use mallbox_storage::{
    Claim, DeadReason, LoggedClaim, OrderId, PersistOutcome, Timestamp, UserId, VoucherId,
};

use super::dead_letter_rows::NewDeadLetter;
use super::sale_rows::{SaleRow, UnitsTaken};

/// The rows in the database for a batch's claims. The sales are locked: no row changes meanwhile.
#[derive(Default)]
pub(super) struct ExistingRows {
    /// User and voucher of each existing order id.
    pub(super) owners: HashMap<OrderId, (UserId, VoucherId)>,
    /// Slots of live orders.
    pub(super) filled: FilledSlots,
    /// Dead-lettered claims.
    pub(super) dead: HashSet<(OrderId, UserId, VoucherId)>,
}

/// Slots that the live orders of users fill, by user and sale.
#[derive(Default)]
pub(super) struct FilledSlots(HashMap<(UserId, VoucherId), Vec<u8>>);

impl FilledSlots {
    /// Adds the slot of a live order.
    pub(super) fn add(&mut self, user: UserId, voucher: VoucherId, slot: u8) {
        self.0.entry((user, voucher)).or_default().push(slot);
    }

    /// Fills the first free slot of a user in a sale. `None` if the sale has no more.
    pub(super) fn fill(&mut self, claim: &Claim, sale: &SaleRow) -> Option<u8> {
        let filled = self.0.entry((claim.user, claim.voucher)).or_default();
        let free = (1..=sale.slots).find(|slot| !filled.contains(slot))?;
        filled.push(free);
        Some(free)
    }
}

/// An order to write.
#[derive(Clone, Copy)]
pub(super) struct NewOrder {
    pub(super) claim: Claim,
    pub(super) deadline: Option<Timestamp>,
    pub(super) slot: u8,
}

/// The rows to write.
#[derive(Default)]
pub(super) struct BatchDecision {
    /// Outcomes of the claims, in the order of the claims.
    pub(super) answers: Vec<PersistOutcome>,
    /// New orders, sorted by id.
    pub(super) orders: Vec<NewOrder>,
    /// New dead letters.
    pub(super) burials: Vec<NewDeadLetter>,
    /// Units taken from each sale.
    pub(super) takings: BTreeMap<VoucherId, UnitsTaken>,
}

/// Decides in three passes: by unique keys, in the order of ids; by stock, first come, first served, for the
/// remaining claims; then dead letters take the remaining units.
pub(super) fn decide(
    claims: &[LoggedClaim],
    sales: &BTreeMap<VoucherId, SaleRow>,
    mut known: ExistingRows,
    now: Timestamp,
) -> BatchDecision {
    let (mut answers, slots) = by_keys(claims, sales, &mut known, now);
    let mut left: BTreeMap<_, _> = sales.iter().map(|(voucher, sale)| (*voucher, sale.stock)).collect();
    let mut verdict = BatchDecision::default();
    for ((LoggedClaim { claim, .. }, answer), slot) in claims.iter().zip(&mut answers).zip(slots) {
        if let PersistOutcome::Written { deadline } = *answer {
            if take(&mut left, claim.voucher) {
                verdict.takings.entry(claim.voucher).or_default().add(claim.order);
                verdict.orders.push(NewOrder { claim: *claim, deadline, slot });
            } else {
                known.owners.remove(&claim.order);
                *answer = PersistOutcome::DeadLetter(DeadReason::Oversold);
            }
        }
    }
    verdict.orders.sort_by_key(|order| order.claim.order);
    for (logged, answer) in claims.iter().zip(&mut answers) {
        let claim = &logged.claim;
        let PersistOutcome::DeadLetter(reason) = *answer else { continue };
        if !known.dead.insert((claim.order, claim.user, claim.voucher)) {
            *answer = PersistOutcome::Repeat;
            continue;
        }
        let holds_unit = reason.takes_unit() && take(&mut left, claim.voucher);
        if holds_unit {
            verdict.takings.entry(claim.voucher).or_default().add(claim.order);
        }
        let detail = reason.detail(known.owners.get(&claim.order).copied());
        verdict.burials.push(NewDeadLetter { logged: *logged, reason, detail, holds_unit });
    }
    verdict.answers = answers;
    verdict
}

/// Decides by unique keys alone. Returns the slots of the orders beside the outcomes. A claim without stock
/// counts as written for now, so that later conflicting claims of the batch are found.
fn by_keys(
    claims: &[LoggedClaim],
    sales: &BTreeMap<VoucherId, SaleRow>,
    known: &mut ExistingRows,
    now: Timestamp,
) -> (Vec<PersistOutcome>, Vec<u8>) {
    let mut answers = vec![PersistOutcome::Repeat; claims.len()];
    let mut slots = vec![0; claims.len()];
    let mut by_id: Vec<usize> = (0..claims.len()).collect();
    by_id.sort_by_key(|&index| claims[index].claim.order);
    for index in by_id {
        let claim = &claims[index].claim;
        let Claim { order, user, voucher, at } = *claim;
        let Some(sale) = sales.get(&voucher) else { continue };
        if known.dead.contains(&(order, user, voucher)) {
            continue;
        }
        answers[index] = match known.owners.get(&order) {
            Some(owner) if *owner == (user, voucher) => PersistOutcome::Repeat,
            Some(_) => PersistOutcome::DeadLetter(DeadReason::IdClash),
            None => match known.filled.fill(claim, sale) {
                None => PersistOutcome::DeadLetter(DeadReason::Double),
                Some(slot) => {
                    slots[index] = slot;
                    known.owners.insert(order, (user, voucher));
                    PersistOutcome::Written { deadline: sale.deadline(user, at, now) }
                }
            },
        };
    }
    (answers, slots)
}

/// Takes one unit, if any is left.
fn take(left: &mut BTreeMap<VoucherId, Option<u64>>, voucher: VoucherId) -> bool {
    match left.get_mut(&voucher) {
        Some(Some(0)) | None => false,
        Some(Some(units)) => {
            *units -= 1;
            true
        }
        Some(None) => true,
    }
}
