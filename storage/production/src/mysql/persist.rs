//! Turns claims into orders or dead letters: the second safeguard of every sale.
//!
//! Nearly every batch consists of new claims with sufficient stock. So the optimistic path runs first
//! ([`write_optimistically`]): it inserts the orders and takes the units, and unique keys and stock verify
//! the assumption. The row of a sale stays locked only from the taking to the commit, so that many processes
//! can write orders of one sale at once. If the assumption fails, the transaction is rolled back, and the
//! batch is examined claim by claim ([`write_each`]), with its sales locked from the beginning.
//!
//! Reasons and figures: `storage/decisions/0022-mysql-transactions.md`.

use std::collections::BTreeMap;

use mallbox_storage::backend::{AcceptedOrder, NewEvent, Numbered as _};
use mallbox_storage::{
    Cents, Claim, DeadReason, LoggedClaim, OrderId, PaymentMode, PersistOutcome, StoreError, Timestamp,
    UserId, VoucherId,
};
use mysql_async::{Conn, Value};

use super::columns::{Columns, execute};
use super::database::Database;
use super::errors::MysqlError;
use super::event_rows::EventSwitch;
use super::job::boxed;
use super::order_rows::{owner, owners};
use super::sale_rows::{self, Lock, SaleRow, UnitsTaken};
use super::verdict::{self, ExistingRows, FilledSlots, NewOrder};
use super::{dead_letter_rows, multi_row};

/// Attempts at a batch claim by claim, when concurrent writers take keys in between.
const ATTEMPTS_MAX: usize = 3;

/// Writes the claims. Returns one outcome per claim, in the order of the claims.
pub(super) async fn persist(
    database: &Database,
    claims: &[LoggedClaim],
    now: Timestamp,
) -> Result<Vec<PersistOutcome>, StoreError> {
    if claims.is_empty() {
        return Ok(Vec::new());
    }
    let events = database.events();
    let mut done = database
        .try_bulk(|conn| boxed(async move { write_optimistically(conn, claims, now, events).await }))
        .await;
    for _ in 0..ATTEMPTS_MAX {
        if !matches!(done, Err(MysqlError::Overtaken)) {
            break;
        }
        done =
            database.try_bulk(|conn| boxed(async move { write_each(conn, claims, now, events).await })).await;
    }
    done.map_err(|fault| fault.into_store_error("persist"))
}

/// Writes the order of a dead-lettered claim, with a new payment deadline, and takes a unit unless the dead
/// letter holds one. Returns the reason if the database does not allow the order; nothing is written then.
/// Locks the sale, if any.
pub(super) async fn revive(
    conn: &mut Conn,
    claim: &Claim,
    holds_unit: bool,
    now: Timestamp,
) -> Result<Result<(), (DeadReason, String)>, MysqlError> {
    let Some(sale) = sale_rows::get(conn, claim.voucher, Lock::Yes).await? else {
        return Ok(Err((DeadReason::Refused, format!("voucher {} is not a flash sale", claim.voucher))));
    };
    let sales = BTreeMap::from([(claim.voucher, sale)]);
    let filled =
        if sale.slots > 1 { filled(conn, [claim].into_iter()).await? } else { FilledSlots::default() };
    let Some(slot) = { filled }.fill(claim, &sale) else {
        let owner = owner(conn, claim.order).await?;
        let reason = if owner.is_some() { DeadReason::IdClash } else { DeadReason::Double };
        return Ok(Err((reason, reason.detail(owner))));
    };
    let row = NewOrder { claim: *claim, deadline: sale.deadline(claim.user, now, now), slot };
    let reason = match insert(conn, &[row], &sales).await {
        Ok(())
            if holds_unit || sale_rows::take(conn, claim.voucher, UnitsTaken::one(claim.order)).await? =>
        {
            return Ok(Ok(()));
        }
        Ok(()) => {
            execute(conn, "DELETE FROM orders WHERE id = ?", (claim.order.get(),)).await?;
            DeadReason::Oversold
        }
        Err(fault) if fault.is_duplicate_key() => match owner(conn, claim.order).await? {
            Some(_) => DeadReason::IdClash,
            None => DeadReason::Double,
        },
        Err(fault) if fault.is_rule_violation() => return Ok(Err((DeadReason::Refused, fault.to_string()))),
        Err(fault) => return Err(fault),
    };
    Ok(Err((reason, reason.detail(owner(conn, claim.order).await?))))
}

/// Writes all claims, assuming new claims and sufficient stock; [`MysqlError::Overtaken`] if not.
async fn write_optimistically(
    conn: &mut Conn,
    claims: &[LoggedClaim],
    now: Timestamp,
    events: EventSwitch,
) -> Result<Vec<PersistOutcome>, MysqlError> {
    let sales = sale_rows::of_claims(conn, claims, Lock::No).await?;
    let several = claims.iter().map(|logged| &logged.claim);
    let several = several.filter(|claim| sales.get(&claim.voucher).is_some_and(|sale| sale.slots > 1));
    let mut filled = filled(conn, several).await?;
    let mut orders = Vec::with_capacity(claims.len());
    let mut takings: BTreeMap<VoucherId, UnitsTaken> = BTreeMap::new();
    for LoggedClaim { claim, .. } in claims {
        let Some(sale) = sales.get(&claim.voucher) else { continue };
        let slot = filled.fill(claim, sale).ok_or(MysqlError::Overtaken)?;
        orders.push(NewOrder { claim: *claim, deadline: sale.deadline(claim.user, claim.at, now), slot });
        takings.entry(claim.voucher).or_default().add(claim.order);
    }
    let answers = orders.iter().map(|order| PersistOutcome::Written { deadline: order.deadline }).collect();
    // Sorted by id: inserts then fill the table from left to right, and two writers of the same orders do not
    // wait for each other.
    orders.sort_by_key(|order| order.claim.order);
    insert(conn, &orders, &sales).await.map_err(as_conflict)?;
    events.write(conn, now, || accepted(&orders, &sales, now)).await?;
    for (voucher, taking) in takings {
        if !sale_rows::take(conn, voucher, taking).await? {
            return Err(MysqlError::Overtaken);
        }
    }
    // The sales are locked now, so no further claim can be dead-lettered.
    if dead_letter_rows::any_among(conn, claims).await? { Err(MysqlError::Overtaken) } else { Ok(answers) }
}

async fn write_each(
    conn: &mut Conn,
    claims: &[LoggedClaim],
    now: Timestamp,
    events: EventSwitch,
) -> Result<Vec<PersistOutcome>, MysqlError> {
    let sales = sale_rows::of_claims(conn, claims, Lock::Yes).await?;
    let known = known(conn, claims).await?;
    let verdict = verdict::decide(claims, &sales, known, now);
    insert(conn, &verdict.orders, &sales).await.map_err(as_conflict)?;
    events.write(conn, now, || accepted(&verdict.orders, &sales, now)).await?;
    dead_letter_rows::insert(conn, &verdict.burials, now).await?;
    for (voucher, taking) in verdict.takings {
        if !sale_rows::take(conn, voucher, taking).await? {
            return Err(MysqlError::refused(format!("cannot decrement the stock of sale {voucher}")));
        }
    }
    Ok(verdict.answers)
}

async fn known(conn: &mut Conn, claims: &[LoggedClaim]) -> Result<ExistingRows, MysqlError> {
    let ids: Vec<OrderId> = claims.iter().map(|logged| logged.claim.order).collect();
    let filled = filled(conn, claims.iter().map(|logged| &logged.claim)).await?;
    let dead = dead_letter_rows::among(conn, &ids).await?;
    Ok(ExistingRows { owners: owners(conn, &ids).await?, filled, dead })
}

/// Returns the slots that the live orders of the claims' users fill.
async fn filled<'a>(
    conn: &mut Conn,
    claims: impl Iterator<Item = &'a Claim>,
) -> Result<FilledSlots, MysqlError> {
    let mut users: BTreeMap<VoucherId, Vec<u64>> = BTreeMap::new();
    for claim in claims {
        users.entry(claim.voucher).or_default().push(claim.user.get());
    }
    let mut filled = FilledSlots::default();
    for (voucher, users) in users {
        let sql = "SELECT user_id, is_live FROM orders
                   WHERE voucher_id = ? AND is_live IS NOT NULL AND user_id IN ({keys})";
        let read = |row: &mut Columns| Ok((UserId::new(row.next()?), row.next::<u8>()?));
        for (user, slot) in multi_row::select_by_keys(conn, sql, &[voucher.get()], &users, read).await? {
            filled.add(user, voucher, slot);
        }
    }
    Ok(filled)
}

async fn insert(
    conn: &mut Conn,
    orders: &[NewOrder],
    sales: &BTreeMap<VoucherId, SaleRow>,
) -> Result<(), MysqlError> {
    let head = "INSERT INTO orders
      (id, user_id, voucher_id, pay_value, created_ms, deadline_ms, status, payment_mode, slot, of_sale, pay_type)";
    let rows: Vec<[Value; 9]> = orders
        .iter()
        .map(|NewOrder { claim, deadline, slot }| {
            let (pay_value, payment) =
                sales.get(&claim.voucher).map_or((0, PaymentMode::default()), |sale| {
                    (sale.pay_value, sale.payment.of_buyer(claim.user))
                });
            [
                claim.order.get().into(),
                claim.user.get().into(),
                claim.voucher.get().into(),
                pay_value.into(),
                claim.at.as_millis().into(),
                deadline.unwrap_or(claim.at).as_millis().into(),
                (payment.first_status() as u8).into(),
                payment.number().into(),
                (*slot).into(),
            ]
        })
        .collect();
    multi_row::insert(conn, head, "(?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 1)", &rows).await
}

/// Returns the events of orders, by order, as in a directory.
fn accepted(orders: &[NewOrder], sales: &BTreeMap<VoucherId, SaleRow>, now: Timestamp) -> Vec<NewEvent> {
    let accepted = orders.iter().filter_map(|NewOrder { claim, deadline, .. }| {
        let sale = sales.get(&claim.voucher)?;
        Some(AcceptedOrder {
            order: claim.order,
            voucher: claim.voucher,
            user: claim.user,
            status: sale.payment.of_buyer(claim.user).first_status(),
            pay_value: Cents::new(sale.pay_value),
            deadline: *deadline,
        })
    });
    let mut accepted: Vec<AcceptedOrder> = accepted.collect();
    accepted.sort_by_key(|accepted| accepted.order);
    accepted.into_iter().flat_map(|order| order.events(now)).collect()
}

/// A taken key means a concurrent writer since the batch was examined.
fn as_conflict(fault: MysqlError) -> MysqlError {
    if fault.is_duplicate_key() || fault.is_rolled_back() { MysqlError::Overtaken } else { fault }
}
