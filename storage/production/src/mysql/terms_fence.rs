//! Fencing of the terms in the row of a sale.
//!
//! Reasons: `storage/decisions/0034-fenced-terms.md`.

use mallbox_storage::{FencingToken, VoucherId};
use mysql_async::Conn;

use super::columns::{execute, first};
use super::errors::MysqlError;

/// Records a token in the caller's transaction, and locks the row. Returns the greater token seen before, if
/// any: then the caller must change nothing. A voucher without a sale takes any token.
pub(super) async fn refused(
    conn: &mut Conn,
    voucher: VoucherId,
    token: FencingToken,
) -> Result<Option<FencingToken>, MysqlError> {
    let sql = "SELECT terms_token FROM sales WHERE voucher_id = ? FOR UPDATE";
    let seen = first(conn, sql, (voucher.get(),), |row| Ok(FencingToken::new(row.next()?))).await?;
    if seen.is_some_and(|seen| seen < token) {
        let sql = "UPDATE sales SET terms_token = ? WHERE voucher_id = ?";
        execute(conn, sql, (token.get(), voucher.get())).await?;
    }
    Ok(seen.filter(|seen| *seen > token))
}
