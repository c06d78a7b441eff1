//! End of an import: drops rows with dangling references and turns the rest into a mall with a balanced
//! ledger.

use std::collections::BTreeMap;

use mallbox_storage::backend::{Numbered as _, span};
use mallbox_storage::{
    DeadReason, FinishOptions, ImportFinding, ImportFindings, ImportRowKind, ImportSequence, PaymentMode,
    Timestamp, UnpaidOrders,
};
use rusqlite::{Connection, params};

use super::super::columns::{get_id, id};
use super::super::credits;
use super::super::orders::highest_counts;
use super::super::orders_by_user;
use super::super::sequences::reserve_through;
use super::super::{picture_files, settings, shop_ratings};
use super::insert::SaleIds;

/// Maximum number of example ids per finding.
const EXAMPLES: usize = 5;
/// Name of the mall's sequence of order ids.
const ORDER_NUMBERS: &str = "order";

/// Sort key by progress of an order: of two live orders, the more advanced one is kept. Status 3 is used, 5
/// refunding, 2 paid.
const FURTHEST_FIRST: &str = "CASE status WHEN 3 THEN 0 WHEN 5 THEN 1 WHEN 2 THEN 2 ELSE 3 END, id";

pub(super) fn finish(
    conn: &Connection,
    sales: &SaleIds,
    end: &FinishOptions,
) -> rusqlite::Result<Vec<ImportFindings>> {
    let mut findings = References { conn, findings: Vec::new() };
    findings.check()?;
    findings.add_terms(sales)?;
    raise_replies(conn)?;
    count_comments(conn)?;
    picture_files::register_imported(conn)?;
    let mut findings = findings.findings;
    conn.execute("UPDATE sales SET pay_within_ms = ?1", [span(end.pay_within)])?;
    if end.unpaid == UnpaidOrders::Cancel {
        findings.extend(unpaid(conn, ImportFinding::UnpaidCancelled)?);
        cancel_unpaid(conn)?;
    }
    findings.extend(dead_letter_doubles(conn, end.now)?);
    let payment = settings::payment_mode(conn)?;
    let (stay, deadline) = end.unpaid_that_stay(payment);
    findings.extend(unpaid(conn, stay)?);
    complete_orders(conn, deadline, payment)?;
    count_units(conn)?;
    write_payments(conn)?;
    credits::add_imported(conn, end.now)?;
    shop_ratings::bring_imported_along(conn)?;
    orders_by_user::rebuild(conn)?;
    for (day, highest) in highest_counts(conn)? {
        reserve_through(conn, ORDER_NUMBERS, day, highest)?;
    }
    for (ids, next) in &end.next_ids {
        continue_ids_from(conn, *ids, *next)?;
    }
    Ok(findings)
}

/// Checks references between rows.
struct References<'a> {
    conn: &'a Connection,
    findings: Vec<ImportFindings>,
}

impl References<'_> {
    fn check(&mut self) -> rusqlite::Result<()> {
        use ImportFinding::{NoNote, NoShop, NoUser, NoVoucher};
        use ImportRowKind::{Card, Comment, Follow, Note, Order, Sale, Sign, Voucher};
        let no_user = "NOT EXISTS (SELECT 1 FROM users WHERE users.id = user_id)";
        let no_voucher = "NOT EXISTS (SELECT 1 FROM vouchers WHERE vouchers.id = voucher_id)";
        let no_shop = "NOT EXISTS (SELECT 1 FROM shops WHERE shops.id = shop_id)";
        // Notes before their comments: dropping a note makes its comments dangling.
        for (kind, table, key, finding, condition) in [
            (Card, "user_info", "user_id", NoUser, no_user),
            (Voucher, "vouchers", "id", NoShop, no_shop),
            (Sale, "sales", "voucher_id", NoVoucher, no_voucher),
            (Order, "orders", "id", NoUser, no_user),
            (Order, "orders", "id", NoVoucher, no_voucher),
            (Note, "notes", "id", NoUser, no_user),
            (Note, "notes", "id", NoShop, no_shop),
            (Comment, "note_comments", "id", NoUser, no_user),
            (
                Comment,
                "note_comments",
                "id",
                NoNote,
                "NOT EXISTS (SELECT 1 FROM notes WHERE notes.id = note_id)",
            ),
            (Follow, "follows", "user_id", NoUser, no_user),
            (
                Follow,
                "follows",
                "user_id",
                NoUser,
                "NOT EXISTS (SELECT 1 FROM users WHERE users.id = followee_id)",
            ),
            (Sign, "sign_ins", "user_id", NoUser, no_user),
        ] {
            self.look(kind, finding, table, key, condition)?;
        }
        Ok(())
    }

    fn look(
        &mut self,
        kind: ImportRowKind,
        finding: ImportFinding,
        table: &str,
        key: &str,
        condition: &str,
    ) -> rusqlite::Result<()> {
        let sql = format!("SELECT {key} FROM {table} WHERE {condition} LIMIT {EXAMPLES}");
        let examples: Vec<u64> =
            self.conn.prepare(&sql)?.query_map([], |row| get_id(row, 0))?.collect::<rusqlite::Result<_>>()?;
        if examples.is_empty() {
            return Ok(());
        }
        let count = if finding.is_left_out() {
            self.conn.execute(&format!("DELETE FROM {table} WHERE {condition}"), [])? as u64
        } else {
            let sql = format!("SELECT COUNT(*) FROM {table} WHERE {condition}");
            self.conn.query_row(&sql, [], |row| get_id(row, 0))?
        };
        self.findings.push(ImportFindings { kind, finding, count, examples });
        Ok(())
    }

    /// Adds closed terms to vouchers of type sale without terms: they must not be sold like ordinary
    /// vouchers.
    fn add_terms(&mut self, sales: &SaleIds) -> rusqlite::Result<()> {
        let mut add = self.conn.prepare(
            "INSERT INTO sales (voucher_id, initial, stock, begin_ms, end_ms, pay_within_ms, min_level, created_ms)
             VALUES (?1, 0, 0, 0, 0, 0, 0, 0) ON CONFLICT DO NOTHING",
        )?;
        let mut without = Vec::new();
        for voucher in sales {
            if add.execute([id(voucher)])? > 0 {
                without.push(voucher);
            }
        }
        if !without.is_empty() {
            let count = without.len() as u64;
            without.truncate(EXAMPLES);
            let (kind, finding) = (ImportRowKind::Voucher, ImportFinding::NoTerms);
            self.findings.push(ImportFindings { kind, finding, count, examples: without });
        }
        Ok(())
    }
}

/// Moves a reply to the top level of its note if its parent is not a top-level comment of the note.
fn raise_replies(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute(
        "UPDATE note_comments SET parent_id = 0, answer_id = 0 WHERE id IN (
           SELECT answers.id FROM note_comments AS answers LEFT JOIN note_comments AS above
             ON above.id = answers.parent_id AND above.note_id = answers.note_id AND above.parent_id = 0
           WHERE answers.parent_id <> 0 AND above.id IS NULL)",
        [],
    )
    .map(drop)
}

/// Raises each note's imported comment count to at least the number of comments imported.
fn count_comments(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute(
        "UPDATE notes SET imported_comments = came.comments FROM
           (SELECT note_id, COUNT(*) AS comments FROM note_comments WHERE imported = 1 GROUP BY note_id) AS came
         WHERE came.note_id = notes.id AND came.comments > notes.imported_comments",
        [],
    )
    .map(drop)
}

/// Returns a finding on unpaid orders: their number, and the first few ids.
fn unpaid(conn: &Connection, finding: ImportFinding) -> rusqlite::Result<Option<ImportFindings>> {
    let count: u64 =
        conn.query_row("SELECT COUNT(*) FROM orders WHERE status = 1", [], |row| get_id(row, 0))?;
    let examples: Vec<u64> = conn
        .prepare(&format!("SELECT id FROM orders WHERE status = 1 ORDER BY id LIMIT {EXAMPLES}"))?
        .query_map([], |row| get_id(row, 0))?
        .collect::<rusqlite::Result<_>>()?;
    let kind = ImportRowKind::Order;
    Ok((count > 0).then_some(ImportFindings { kind, finding, count, examples }))
}

/// Cancels unpaid orders and returns their units to the sales.
fn cancel_unpaid(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute(
        "UPDATE sales SET stock = stock + held.units FROM
           (SELECT voucher_id, COUNT(*) AS units FROM orders WHERE status = 1 GROUP BY voucher_id) AS held
         WHERE held.voucher_id = sales.voucher_id",
        [],
    )?;
    conn.execute("UPDATE orders SET status = 4 WHERE status = 1", []).map(drop)
}

/// Continues ids of this kind from `next`, unless a higher id exists.
fn continue_ids_from(conn: &Connection, ids: ImportSequence, next: u64) -> rusqlite::Result<()> {
    let table = match ids {
        ImportSequence::Shops => "shops",
        ImportSequence::Users => "users",
        ImportSequence::Vouchers => "vouchers",
        ImportSequence::Notes => "notes",
        ImportSequence::Comments => "note_comments",
    };
    let last = id(next.saturating_sub(1));
    let raised =
        conn.execute("UPDATE sqlite_sequence SET seq = MAX(seq, ?2) WHERE name = ?1", params![table, last])?;
    if raised == 0 {
        conn.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?1, ?2)", params![table, last])?;
    }
    Ok(())
}

/// Turns surplus live orders into dead letters: a user may have one live order per sale. Each dead letter
/// keeps its unit, for the operator to decide.
fn dead_letter_doubles(conn: &Connection, now: Timestamp) -> rusqlite::Result<Option<ImportFindings>> {
    let pairs: Vec<(i64, i64)> = conn
        .prepare(
            "SELECT user_id, voucher_id FROM orders WHERE voucher_id IN (SELECT voucher_id FROM sales)
             GROUP BY voucher_id, user_id HAVING COUNT(*) > 1",
        )?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut beyond = conn.prepare(&format!(
        "SELECT id FROM orders WHERE user_id = ?1 AND voucher_id = ?2 AND status NOT IN (4, 6)
         ORDER BY {FURTHEST_FIRST} LIMIT -1 OFFSET 1"
    ))?;
    let mut insert = conn.prepare(
        "INSERT INTO dead_letters (order_id, user_id, voucher_id, claimed_ms, reason, detail, holds_unit, buried_ms)
         SELECT id, user_id, voucher_id, created_ms, ?2, 'moved in with status ' || status || ' beside another live order', 1, ?3
         FROM orders WHERE id = ?1",
    )?;
    let mut delete = conn.prepare("DELETE FROM orders WHERE id = ?1")?;
    let (mut count, mut examples) = (0, Vec::new());
    for pair in pairs {
        let orders: Vec<i64> = beyond.query_map(pair, |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        for order in orders {
            insert.execute(params![order, DeadReason::Double.code(), now.as_millis()])?;
            delete.execute([order])?;
            count += 1;
            if examples.len() < EXAMPLES {
                examples.push(order.cast_unsigned());
            }
        }
    }
    let (kind, finding) = (ImportRowKind::Order, ImportFinding::SecondLive);
    Ok((count > 0).then_some(ImportFindings { kind, finding, count, examples }))
}

/// Fills in the price, the payment mode and the deadline of orders, and the slot that marks a user's single
/// live order in a sale. Works in batches: SQLite keeps a list of all rows that one statement moves in the
/// index.
fn complete_orders(conn: &Connection, deadline: Timestamp, payment: PaymentMode) -> rusqlite::Result<()> {
    const ORDERS_PER_BATCH: i64 = 50_000;
    let mut end = conn
        .prepare("SELECT MAX(id) FROM (SELECT id FROM orders WHERE id > ?1 ORDER BY id LIMIT ?2) AS page")?;
    let mut complete = conn.prepare(
        "UPDATE orders SET
           pay_value = (SELECT pay_value FROM vouchers WHERE vouchers.id = voucher_id),
           payment_mode = ?4,
           status = CASE status WHEN 1 THEN ?5 ELSE status END,
           deadline_ms = CASE status WHEN 1 THEN ?3 ELSE deadline_ms END,
           slot = CASE WHEN status NOT IN (4, 6)
             AND EXISTS (SELECT 1 FROM sales WHERE sales.voucher_id = orders.voucher_id) THEN 0 ELSE id END
         WHERE id > ?1 AND id <= ?2",
    )?;
    let (mut after, first_status) = (0, payment.first_status() as i64);
    while let Some(last) = end.query_row([after, ORDERS_PER_BATCH], |row| row.get::<_, Option<i64>>(0))? {
        complete.execute([after, last, deadline.as_millis(), payment.number(), first_status])?;
        after = last;
    }
    Ok(())
}

/// Computes initial units, and the first and last order of each sale, closed orders included, in one scan:
/// grouping in SQLite would sort all rows.
fn count_units(conn: &Connection) -> rusqlite::Result<()> {
    let mut held: BTreeMap<i64, (i64, i64, i64)> = BTreeMap::new();
    for sql in [
        "SELECT voucher_id, id, slot = 0 FROM orders",
        "SELECT voucher_id, order_id, 1 FROM dead_letters WHERE holds_unit = 1",
    ] {
        let mut select = conn.prepare(sql)?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let (voucher, order, holds): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let (units, first, last) = held.entry(voucher).or_insert((0, order, order));
            *units += holds;
            *first = order.min(*first);
            *last = order.max(*last);
        }
    }
    let mut update = conn.prepare(
        "UPDATE sales SET initial = stock + ?2, first_order = ?3, last_order = ?4 WHERE voucher_id = ?1",
    )?;
    for (voucher, (units, first, last)) in held {
        update.execute([voucher, units, first, last])?;
    }
    Ok(())
}

/// Writes a payment for each order paid before the import. A refund in progress continues: its payment is
/// marked for the payment job, unless the counter has to return the money.
fn write_payments(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute(
        "INSERT INTO payments (order_id, amount, state, started_ms, updated_ms, needs_look, gateway)
         SELECT id, pay_value, CASE status WHEN 6 THEN 2 ELSE 1 END, COALESCE(paid_ms, created_ms),
           COALESCE(refunded_ms, paid_ms, created_ms), status = 5 AND payment_mode <> 1, payment_mode
         FROM orders WHERE status IN (2, 3, 5, 6) AND payment_mode <> 0 ORDER BY id",
        [],
    )
    .map(drop)
}
