//! Checks of references between imported rows.

use std::collections::HashSet;

use mallbox_storage::{ImportFinding, ImportFindings, ImportRowKind};
use mysql_async::{Conn, Value};

use super::sale_ids::SaleIds;
use crate::mysql::columns::{Columns, all, execute, first};
use crate::mysql::errors::MysqlError;
use crate::mysql::multi_row;

/// Maximum number of example ids in a finding.
pub(super) const EXAMPLES_MAX: usize = 5;

/// Deletes rows without their user, voucher or note, reports missing shops, and adds terms to sales without
/// terms.
pub(super) async fn check(conn: &mut Conn, sales: &SaleIds) -> Result<Vec<ImportFindings>, MysqlError> {
    use ImportFinding::{NoNote, NoShop, NoUser, NoVoucher};
    use ImportRowKind::{Card, Comment, Follow, Note, Order, Sale, Sign, Voucher};
    let no_user = "NOT EXISTS (SELECT 1 FROM users WHERE users.id = user_id)";
    let no_followee = "NOT EXISTS (SELECT 1 FROM users WHERE users.id = followee_id)";
    let no_voucher = "NOT EXISTS (SELECT 1 FROM vouchers WHERE vouchers.id = voucher_id)";
    let no_shop = "NOT EXISTS (SELECT 1 FROM shops WHERE shops.id = shop_id)";
    let no_note = "NOT EXISTS (SELECT 1 FROM notes WHERE notes.id = note_id)";
    let mut findings = Vec::new();
    // Notes before their comments, since the comments of a deleted note are deleted next.
    for (kind, finding, table, key, condition) in [
        (Card, NoUser, "user_info", "user_id", no_user),
        (Voucher, NoShop, "vouchers", "id", no_shop),
        (Sale, NoVoucher, "sales", "voucher_id", no_voucher),
        (Order, NoUser, "orders", "id", no_user),
        (Order, NoVoucher, "orders", "id", no_voucher),
        (Note, NoUser, "notes", "id", no_user),
        (Note, NoShop, "notes", "id", no_shop),
        (Comment, NoUser, "note_comments", "id", no_user),
        (Comment, NoNote, "note_comments", "id", no_note),
        (Follow, NoUser, "follows", "user_id", no_user),
        (Follow, NoUser, "follows", "user_id", no_followee),
        (Sign, NoUser, "sign_ins", "user_id", no_user),
    ] {
        let (examples, count) = look(conn, finding, table, key, condition).await?;
        if count > 0 {
            findings.push(ImportFindings { kind, finding, count, examples });
        }
    }
    findings.extend(add_terms(conn, sales).await?);
    Ok(findings)
}

/// Returns the first few keys that meet `condition`, and the number of rows. Deletes the rows if the finding
/// leaves them out.
async fn look(
    conn: &mut Conn,
    finding: ImportFinding,
    table: &str,
    key: &str,
    condition: &str,
) -> Result<(Vec<u64>, u64), MysqlError> {
    let sql = format!("SELECT {key} FROM {table} WHERE {condition} ORDER BY {key} LIMIT {EXAMPLES_MAX}");
    let examples = all(conn, sql, (), Columns::next).await?;
    let count = if examples.is_empty() {
        0
    } else if finding.is_left_out() {
        execute(conn, format!("DELETE FROM {table} WHERE {condition}"), ()).await?
    } else {
        let sql = format!("SELECT COUNT(*) FROM {table} WHERE {condition}");
        first(conn, sql, (), Columns::count).await?.unwrap_or_default()
    };
    Ok((examples, count))
}

/// Adds terms to vouchers marked as sales but without terms, which would otherwise be sold like ordinary
/// vouchers.
async fn add_terms(conn: &mut Conn, sales: &SaleIds) -> Result<Option<ImportFindings>, MysqlError> {
    let sales: Vec<u64> = sales.iter().collect();
    let sql = "SELECT voucher_id FROM sales WHERE voucher_id IN ({keys})";
    let with: HashSet<u64> =
        multi_row::select_by_keys(conn, sql, &[], &sales, Columns::next).await?.into_iter().collect();
    let mut without: Vec<u64> = sales.into_iter().filter(|sale| !with.contains(sale)).collect();
    if without.is_empty() {
        return Ok(None);
    }
    let head = "INSERT INTO sales
      (voucher_id, initial, added, stock, begin_ms, end_ms, paused, pay_within_ms, min_level, created_ms)";
    let rows: Vec<[Value; 1]> = without.iter().map(|sale| [(*sale).into()]).collect();
    multi_row::insert(conn, head, "(?, 0, 0, 0, 0, 0, 0, 0, 0, 0)", &rows).await?;
    let count = without.len() as u64;
    without.truncate(EXAMPLES_MAX);
    let (kind, finding) = (ImportRowKind::Voucher, ImportFinding::NoTerms);
    Ok(Some(ImportFindings { kind, finding, count, examples: without }))
}
