//! Conversion of claims into orders or dead letters: the second check of every sale, by unique keys and
//! stock.
//!
//! Reasons and figures: `storage/decisions/0001-sled-and-sqlite.md`.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::Duration;

use mallbox_storage::backend::{AcceptedOrder, NewEvent, Numbered as _};
use mallbox_storage::{
    Cents, Claim, DeadReason, LoggedClaim, OrderId, PaymentMode, PersistOutcome, Timestamp, UserId, VoucherId,
};
use rusqlite::{Connection, OptionalExtension as _};

use super::columns::{get_count, get_span, get_time, id, payment_setting};
use super::errors::{is_refusal, refuse};
use super::order_rows::owner;
use super::sale_rows::take;
use super::{dead_letter_rows, event_rows, orders_by_user};

/// Terms of a sale that apply to each of its orders.
#[derive(Clone, Copy)]
struct Offer {
    pay_value: i64,
    pay_within: Duration,
    end: Timestamp,
    payment: PaymentMode,
    /// Live orders that a user may have.
    slots: i64,
}

impl Offer {
    /// Returns the payment deadline of a buyer's claim whose order is written `now`.
    fn deadline(&self, buyer: UserId, claimed: Timestamp, now: Timestamp) -> Option<Timestamp> {
        self.payment.deadline(buyer, claimed, self.pay_within, self.end, now)
    }
}

/// Writes the claims in the caller's transaction. Returns one outcome per claim, in order.
pub(super) fn persist(
    conn: &Connection,
    claims: &[LoggedClaim],
    now: Timestamp,
) -> rusqlite::Result<Vec<PersistOutcome>> {
    let offers = offers(conn, claims)?;
    let mut answers = write(conn, claims, &offers, now)?;
    for (voucher, written) in by_voucher(claims, &answers) {
        for beyond in take_stock(conn, voucher, claims, &written)? {
            answers[beyond] = PersistOutcome::DeadLetter(DeadReason::Oversold);
        }
    }
    for (logged, answer) in claims.iter().zip(&mut answers) {
        if let PersistOutcome::DeadLetter(reason) = *answer {
            let detail = reason.detail(owner(conn, logged.claim.order)?);
            if !dead_letter_rows::dead_letter(conn, logged, reason, &detail, now)? {
                *answer = PersistOutcome::Repeat;
            }
        }
    }
    let written = claims.iter().zip(&answers).filter_map(|(LoggedClaim { claim, .. }, answer)| {
        matches!(answer, PersistOutcome::Written { .. }).then_some((claim.user, claim.order))
    });
    orders_by_user::add(conn, written)?;
    event_rows::write(conn, now, || events(claims, &answers, &offers, now))?;
    Ok(answers)
}

/// Returns the events of the orders written, by order, as on servers.
fn events(
    claims: &[LoggedClaim],
    answers: &[PersistOutcome],
    offers: &HashMap<VoucherId, Offer>,
    now: Timestamp,
) -> Vec<NewEvent> {
    let accepted = claims.iter().zip(answers).filter_map(|(LoggedClaim { claim, .. }, answer)| {
        let (PersistOutcome::Written { deadline }, Some(offer)) = (answer, offers.get(&claim.voucher)) else {
            return None;
        };
        Some(AcceptedOrder {
            order: claim.order,
            voucher: claim.voucher,
            user: claim.user,
            status: offer.payment.of_buyer(claim.user).first_status(),
            pay_value: Cents::new(offer.pay_value),
            deadline: *deadline,
        })
    });
    let mut accepted: Vec<AcceptedOrder> = accepted.collect();
    accepted.sort_by_key(|accepted| accepted.order);
    accepted.into_iter().flat_map(|order| order.events(now)).collect()
}

/// Inserts an order for a dead letter's claim, with a new deadline, and takes a unit unless the dead letter
/// holds one. The inner error is the reason why the database does not allow the order; then nothing is
/// written.
pub(super) fn replay(
    conn: &Connection,
    claim: &Claim,
    holds_unit: bool,
    now: Timestamp,
) -> rusqlite::Result<Result<(), (DeadReason, String)>> {
    let refused = |reason: DeadReason| Ok(Err((reason, reason.detail(owner(conn, claim.order)?))));
    let Some(offer) = offer(conn, claim.voucher)? else {
        return Ok(Err((DeadReason::Refused, format!("voucher {} is not a flash sale", claim.voucher))));
    };
    let deadline = offer.deadline(claim.user, now, now);
    match insert(conn, claim, &offer, deadline) {
        Ok(true) if holds_unit || take(conn, claim.voucher, 1, (claim.order, claim.order))? => {
            orders_by_user::add(conn, [(claim.user, claim.order)]).map(Ok)
        }
        Ok(true) => {
            delete(conn, claim.order)?;
            refused(DeadReason::Oversold)
        }
        Ok(false) if owner(conn, claim.order)?.is_some() => refused(DeadReason::IdClash),
        Ok(false) => refused(DeadReason::Double),
        Err(error) if is_refusal(&error) => Ok(Err((DeadReason::Refused, error.to_string()))),
        Err(error) => Err(error),
    }
}

fn offers(conn: &Connection, claims: &[LoggedClaim]) -> rusqlite::Result<HashMap<VoucherId, Offer>> {
    let mut offers = HashMap::new();
    for voucher in claims.iter().map(|logged| logged.claim.voucher) {
        if let Entry::Vacant(unknown) = offers.entry(voucher) {
            let offer = offer(conn, voucher)?
                .ok_or_else(|| refuse(format!("voucher {voucher} is not a flash sale")))?;
            unknown.insert(offer);
        }
    }
    Ok(offers)
}

fn offer(conn: &Connection, voucher: VoucherId) -> rusqlite::Result<Option<Offer>> {
    conn.prepare_cached(
        "SELECT pay_value, pay_within_ms, end_ms, (SELECT value FROM meta WHERE name = 'setting.payment'), slots
         FROM vouchers JOIN sales ON voucher_id = id WHERE id = ?1",
    )?
    .query_row([id(voucher.get())], |row| {
        Ok(Offer {
            pay_value: row.get(0)?,
            pay_within: get_span(row, 1)?,
            end: get_time(row, 2)?,
            payment: payment_setting(row, 3)?,
            slots: row.get(4)?,
        })
    })
    .optional()
}

/// Inserts an order into the first free slot of its user. Returns `false` if a unique key conflicts: none is
/// free, or the id is taken.
fn insert(
    conn: &Connection,
    claim: &Claim,
    offer: &Offer,
    deadline: Option<Timestamp>,
) -> rusqlite::Result<bool> {
    for slot in (1 - offer.slots..=0).rev() {
        if insert_at(conn, slot, claim, offer, deadline)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn insert_at(
    conn: &Connection,
    slot: i64,
    claim: &Claim,
    offer: &Offer,
    deadline: Option<Timestamp>,
) -> rusqlite::Result<bool> {
    let payment = offer.payment.of_buyer(claim.user);
    let inserted = conn
        .prepare_cached(
            "INSERT INTO orders (id, user_id, voucher_id, slot, status, pay_value, pay_type, created_ms, deadline_ms,
               payment_mode)
             VALUES (?1, ?2, ?3, ?9, ?7, ?4, 1, ?5, ?6, ?8) ON CONFLICT DO NOTHING",
        )?
        .execute([
            id(claim.order.get()),
            id(claim.user.get()),
            id(claim.voucher.get()),
            offer.pay_value,
            claim.at.as_millis(),
            deadline.unwrap_or(claim.at).as_millis(),
            payment.first_status() as i64,
            payment.number(),
            slot,
        ])?;
    Ok(inserted == 1)
}

fn delete(conn: &Connection, order: OrderId) -> rusqlite::Result<()> {
    conn.prepare_cached("DELETE FROM orders WHERE id = ?1")?.execute([id(order.get())]).map(drop)
}

/// Inserts all claims that the unique keys allow. Stock is not checked yet, and no dead letter is written
/// yet.
fn write(
    conn: &Connection,
    claims: &[LoggedClaim],
    offers: &HashMap<VoucherId, Offer>,
    now: Timestamp,
) -> rusqlite::Result<Vec<PersistOutcome>> {
    let may_be_dead = dead_letter_rows::any_between(conn, claims.iter().map(|logged| logged.claim.order))?;
    let mut answers = vec![PersistOutcome::Repeat; claims.len()];
    for index in insertion_order(claims) {
        let claim = &claims[index].claim;
        if may_be_dead && dead_letter_rows::is_dead(conn, claim)? {
            continue;
        }
        let Some(offer) = offers.get(&claim.voucher) else { continue };
        let deadline = offer.deadline(claim.user, claim.at, now);
        answers[index] = if insert(conn, claim, offer, deadline)? {
            PersistOutcome::Written { deadline }
        } else {
            match owner(conn, claim.order)? {
                Some(owner) if owner == (claim.user, claim.voucher) => PersistOutcome::Repeat,
                Some(_) => PersistOutcome::DeadLetter(DeadReason::IdClash),
                None => PersistOutcome::DeadLetter(DeadReason::Double),
            }
        };
    }
    Ok(answers)
}

/// Returns the indices in order of id, which fills the table's pages from left to right.
fn insertion_order(claims: &[LoggedClaim]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..claims.len()).collect();
    order.sort_by_key(|&index| claims[index].claim.order);
    order
}

/// Groups the indices of written claims by sale.
fn by_voucher(claims: &[LoggedClaim], answers: &[PersistOutcome]) -> HashMap<VoucherId, Vec<usize>> {
    let mut written: HashMap<_, Vec<_>> = HashMap::new();
    for (index, answer) in answers.iter().enumerate() {
        if matches!(answer, PersistOutcome::Written { .. }) {
            written.entry(claims[index].claim.voucher).or_default().push(index);
        }
    }
    written
}

/// Takes one unit for each written claim. If the stock is too small, deletes the surplus orders, the last
/// ones of the batch, and returns their indices.
fn take_stock(
    conn: &Connection,
    voucher: VoucherId,
    claims: &[LoggedClaim],
    written: &[usize],
) -> rusqlite::Result<Vec<usize>> {
    let ends = |written: &[usize]| {
        let orders = || written.iter().map(|&index| claims[index].claim.order);
        orders().min().zip(orders().max())
    };
    let Some(all) = ends(written) else { return Ok(Vec::new()) };
    if take(conn, voucher, written.len() as u64, all)? {
        return Ok(Vec::new());
    }
    let stock = conn
        .prepare_cached("SELECT stock FROM sales WHERE voucher_id = ?1")?
        .query_row([id(voucher.get())], |row| get_count(row, 0))?;
    let left = usize::try_from(stock).unwrap_or(usize::MAX);
    let (within, beyond) = written.split_at(left.min(written.len()));
    for &index in beyond {
        delete(conn, claims[index].claim.order)?;
    }
    if let Some(all) = ends(within)
        && !take(conn, voucher, within.len() as u64, all)?
    {
        return Err(refuse(format!("cannot decrement the stock of sale {voucher}")));
    }
    Ok(beyond.to_vec())
}
