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
    /// Pairs of a user with a live order, and the sale.
    pub(super) live: HashSet<(UserId, VoucherId)>,
    /// Dead-lettered claims.
    pub(super) dead: HashSet<(OrderId, UserId, VoucherId)>,
}

/// The rows to write.
#[derive(Default)]
pub(super) struct BatchDecision {
    /// Outcomes of the claims, in the order of the claims.
    pub(super) answers: Vec<PersistOutcome>,
    /// New orders, sorted by id, with their deadlines.
    pub(super) orders: Vec<(Claim, Option<Timestamp>)>,
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
    let mut answers = by_keys(claims, sales, &mut known, now);
    let mut left: BTreeMap<_, _> = sales.iter().map(|(voucher, sale)| (*voucher, sale.stock)).collect();
    let mut verdict = BatchDecision::default();
    for (LoggedClaim { claim, .. }, answer) in claims.iter().zip(&mut answers) {
        if let PersistOutcome::Written { deadline } = *answer {
            if take(&mut left, claim.voucher) {
                verdict.takings.entry(claim.voucher).or_default().add(claim.order);
                verdict.orders.push((*claim, deadline));
            } else {
                known.owners.remove(&claim.order);
                *answer = PersistOutcome::DeadLetter(DeadReason::Oversold);
            }
        }
    }
    verdict.orders.sort_by_key(|(claim, _)| claim.order);
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

/// Decides by unique keys alone. A claim without stock counts as written for now, so that later conflicting
/// claims of the batch are found.
fn by_keys(
    claims: &[LoggedClaim],
    sales: &BTreeMap<VoucherId, SaleRow>,
    known: &mut ExistingRows,
    now: Timestamp,
) -> Vec<PersistOutcome> {
    let mut answers = vec![PersistOutcome::Repeat; claims.len()];
    let mut by_id: Vec<usize> = (0..claims.len()).collect();
    by_id.sort_by_key(|&index| claims[index].claim.order);
    for index in by_id {
        let Claim { order, user, voucher, at } = claims[index].claim;
        let Some(sale) = sales.get(&voucher) else { continue };
        if known.dead.contains(&(order, user, voucher)) {
            continue;
        }
        answers[index] = match known.owners.get(&order) {
            Some(owner) if *owner == (user, voucher) => PersistOutcome::Repeat,
            Some(_) => PersistOutcome::DeadLetter(DeadReason::IdClash),
            None if known.live.contains(&(user, voucher)) => PersistOutcome::DeadLetter(DeadReason::Double),
            None => {
                known.owners.insert(order, (user, voucher));
                known.live.insert((user, voucher));
                PersistOutcome::Written { deadline: sale.deadline(at, now) }
            }
        };
    }
    answers
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
