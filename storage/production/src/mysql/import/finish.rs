//! Final steps of an import: removes dangling references, and completes the rows for a balanced ledger.

use std::collections::BTreeMap;

use mallbox_storage::backend::{Numbered as _, span};
use mallbox_storage::{
    Claim, DeadReason, FinishOptions, ImportFinding, ImportFindings, ImportRowKind, LogPosition, LoggedClaim,
    OrderId, PaymentMode, Timestamp, UnpaidOrders, UserId, VoucherId,
};
use mysql_async::Conn;

use super::next_ids;
use super::references::{self, EXAMPLES_MAX};
use super::sale_ids::SaleIds;
use crate::mysql::columns::{Columns, all, execute, first};
use crate::mysql::dead_letter_rows::{self, NewDeadLetter};
use crate::mysql::errors::MysqlError;
use crate::mysql::{counts, credits, multi_row, picture_files, shop_ratings};

/// Name of the counter of order ids.
const ORDER_NUMBERS: &str = "order";

pub(super) async fn finish(
    conn: &mut Conn,
    sales: &SaleIds,
    end: &FinishOptions,
) -> Result<Vec<ImportFindings>, MysqlError> {
    let mut findings = references::check(conn, sales).await?;
    move_orphaned_replies(conn).await?;
    count_comments(conn).await?;
    picture_files::register_imported(conn).await?;
    execute(conn, "UPDATE sales SET pay_within_ms = ?", (span(end.pay_within),)).await?;
    if end.unpaid == UnpaidOrders::Cancel {
        findings.extend(unpaid(conn, ImportFinding::UnpaidCancelled).await?);
        cancel_unpaid(conn).await?;
    }
    findings.extend(dead_letter_doubles(conn, end.now).await?);
    let payment = payment_mode(conn).await?;
    let (stay, deadline) = end.unpaid_that_stay(payment);
    findings.extend(unpaid(conn, stay).await?);
    complete_orders(conn, deadline, payment).await?;
    count_units(conn).await?;
    write_payments(conn).await?;
    credits::add_imported(conn, end.now).await?;
    shop_ratings::bring_imported_along(conn).await?;
    for (day, highest) in counts::highest(conn).await? {
        let sql = "INSERT INTO sequences (name, day, reserved) VALUES (?, ?, ?)";
        execute(conn, sql, (ORDER_NUMBERS, day, highest + 1)).await?;
    }
    next_ids::raise(conn, &end.next_ids).await?;
    Ok(findings)
}

/// Moves a reply to the top level of its note if the parent is not a top-level comment of the same note.
async fn move_orphaned_replies(conn: &mut Conn) -> Result<(), MysqlError> {
    let sql = "SELECT answers.id FROM note_comments AS answers LEFT JOIN note_comments AS above
                 ON above.id = answers.parent_id AND above.note_id = answers.note_id AND above.parent_id = 0
               WHERE answers.parent_id <> 0 AND above.id IS NULL";
    let answers: Vec<u64> = all(conn, sql, (), Columns::next).await?;
    let sql = "UPDATE note_comments SET parent_id = 0, answer_id = 0 WHERE id IN ({keys})";
    multi_row::change_by_keys(conn, sql, &[], &answers).await.map(drop)
}

/// Raises the comment count of each note to at least the number of imported comments.
async fn count_comments(conn: &mut Conn) -> Result<(), MysqlError> {
    let sql = "UPDATE notes JOIN
                 (SELECT note_id, COUNT(*) AS comments FROM note_comments WHERE imported = 1 GROUP BY note_id) AS came
               ON came.note_id = notes.id SET imported_comments = came.comments
               WHERE came.comments > imported_comments";
    execute(conn, sql, ()).await.map(drop)
}

/// Returns a finding about the unpaid orders: the number, and the first few ids.
async fn unpaid(conn: &mut Conn, finding: ImportFinding) -> Result<Option<ImportFindings>, MysqlError> {
    let count = first(conn, "SELECT COUNT(*) FROM orders WHERE status = 1", (), Columns::count).await?;
    let sql = format!("SELECT id FROM orders WHERE status = 1 ORDER BY id LIMIT {EXAMPLES_MAX}");
    let examples: Vec<u64> = all(conn, sql, (), Columns::next).await?;
    let (kind, count) = (ImportRowKind::Order, count.unwrap_or_default());
    Ok((count > 0).then_some(ImportFindings { kind, finding, count, examples }))
}

/// Cancels unpaid orders, and returns the units to the sales.
async fn cancel_unpaid(conn: &mut Conn) -> Result<(), MysqlError> {
    let sql = "UPDATE sales JOIN
         (SELECT voucher_id, COUNT(*) AS units FROM orders WHERE status = 1 GROUP BY voucher_id) AS held
       ON held.voucher_id = sales.voucher_id SET stock = stock + held.units";
    execute(conn, sql, ()).await?;
    execute(conn, "UPDATE orders SET status = 4 WHERE status = 1", ()).await.map(drop)
}

/// Dead-letters surplus live orders: a user may have one live order per sale. A dead letter keeps its unit,
/// for review by the operator.
async fn dead_letter_doubles(conn: &mut Conn, now: Timestamp) -> Result<Option<ImportFindings>, MysqlError> {
    let mut letters = Vec::new();
    let mut stays = None;
    for (claim, status) in doubled(conn).await? {
        let pair = Some((claim.user, claim.voucher));
        // The first row of each pair is the most advanced order.
        if stays != pair {
            stays = pair;
            continue;
        }
        // The claim was never in the order log.
        let logged = LoggedClaim { position: LogPosition { major: 0, minor: 0 }, claim, attempts: 0 };
        let (reason, holds_unit) = (DeadReason::Double, true);
        let detail = format!("imported with status {status}, beside another live order");
        letters.push(NewDeadLetter { logged, reason, detail, holds_unit });
    }
    if letters.is_empty() {
        return Ok(None);
    }
    dead_letter_rows::insert(conn, &letters, now).await?;
    let orders: Vec<u64> = letters.iter().map(|letter| letter.logged.claim.order.get()).collect();
    multi_row::change_by_keys(conn, "DELETE FROM orders WHERE id IN ({keys})", &[], &orders).await?;
    let (kind, finding, count) = (ImportRowKind::Order, ImportFinding::SecondLive, orders.len() as u64);
    let examples = orders.into_iter().take(EXAMPLES_MAX).collect();
    Ok(Some(ImportFindings { kind, finding, count, examples }))
}

/// Returns live orders of users with several orders in a sale, and their statuses; per user and sale, the
/// most advanced first. Status 3 is used, 5 refunding, 2 paid.
async fn doubled(conn: &mut Conn) -> Result<Vec<(Claim, i64)>, MysqlError> {
    let sql = "SELECT id, user_id, voucher_id, created_ms, status FROM orders
       JOIN (SELECT user_id, voucher_id FROM orders
             WHERE status NOT IN (4, 6) AND voucher_id IN (SELECT voucher_id FROM sales)
             GROUP BY user_id, voucher_id HAVING COUNT(*) > 1) AS several USING (user_id, voucher_id)
       WHERE status NOT IN (4, 6)
       ORDER BY user_id, voucher_id, CASE status WHEN 3 THEN 0 WHEN 5 THEN 1 WHEN 2 THEN 2 ELSE 3 END, id";
    all(conn, sql, (), |row| {
        let (order, user) = (OrderId::new(row.next()?), UserId::new(row.next()?));
        let (voucher, at) = (VoucherId::new(row.next()?), row.time()?);
        Ok((Claim { order, voucher, user, at }, row.next()?))
    })
    .await
}

/// Returns the payment mode setting of the imported mall.
async fn payment_mode(conn: &mut Conn) -> Result<PaymentMode, MysqlError> {
    let sql = "SELECT (SELECT value FROM settings WHERE name = 'payment')";
    Ok(first(conn, sql, (), Columns::payment_setting).await?.unwrap_or_default())
}

/// Completes each order: price, payment mode, payment deadline, and whether the voucher is a sale (a user has
/// at most one live order of a sale).
async fn complete_orders(
    conn: &mut Conn,
    deadline: Timestamp,
    payment: PaymentMode,
) -> Result<(), MysqlError> {
    // MySQL evaluates assignments from left to right: the deadline depends on the imported status.
    let sql = "UPDATE orders SET
         pay_value = (SELECT vouchers.pay_value FROM vouchers WHERE vouchers.id = orders.voucher_id),
         deadline_ms = CASE status WHEN 1 THEN ? ELSE deadline_ms END,
         status = CASE status WHEN 1 THEN ? ELSE status END,
         payment_mode = ?,
         of_sale = EXISTS (SELECT 1 FROM sales WHERE sales.voucher_id = orders.voucher_id)";
    execute(conn, sql, (deadline.as_millis(), payment.first_status() as u8, payment.number())).await.map(drop)
}

/// Computes each sale's initial units, and first and last order, closed orders included. Scans the primary
/// key: an index scan would look up the row of every entry changed by the transaction, in random order.
async fn count_units(conn: &mut Conn) -> Result<(), MysqlError> {
    let mut held: BTreeMap<u64, (u64, u64, u64)> = BTreeMap::new();
    for sql in [
        "SELECT voucher_id, COUNT(is_live), MIN(id), MAX(id)
         FROM orders FORCE INDEX (PRIMARY) GROUP BY voucher_id",
        "SELECT voucher_id, COUNT(*), MIN(order_id), MAX(order_id) FROM dead_letters WHERE holds_unit = 1
         GROUP BY voucher_id",
    ] {
        let read = |row: &mut Columns| Ok((row.next()?, row.count()?, row.next()?, row.next()?));
        for (voucher, found, least, greatest) in all(conn, sql, (), read).await? {
            let (units, first, last) = held.entry(voucher).or_insert((0, least, greatest));
            *units += found;
            *first = least.min(*first);
            *last = greatest.max(*last);
        }
    }
    let sql = "UPDATE sales SET initial = stock + ?, first_order = ?, last_order = ? WHERE voucher_id = ?";
    for (voucher, (units, first, last)) in held {
        execute(conn, sql, (units, first, last, voucher)).await?;
    }
    Ok(())
}

/// Inserts a payment for each order paid in the old system. Refunds in progress continue in this mall:
/// payments are marked for the payment job, unless the counter has to return the money.
async fn write_payments(conn: &mut Conn) -> Result<(), MysqlError> {
    let sql = "INSERT INTO payments (order_id, amount, state, started_ms, updated_ms, needs_look, gateway)
       SELECT id, pay_value, CASE status WHEN 6 THEN 2 ELSE 1 END, COALESCE(paid_ms, created_ms),
         COALESCE(refunded_ms, paid_ms, created_ms), status = 5 AND payment_mode <> 1, payment_mode
       FROM orders WHERE status IN (2, 3, 5, 6) AND payment_mode <> 0 ORDER BY id";
    execute(conn, sql, ()).await.map(drop)
}
