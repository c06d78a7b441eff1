//! Fencing of the terms in the row of a sale.
//!
//! Reasons: `storage/decisions/0034-fenced-terms.md`.

use mallbox_storage::{FencingToken, VoucherId};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::columns::{get_id, id};

/// Records a token in the caller's transaction. Returns the greater token seen before, if any: then the
/// caller must change nothing. A voucher without a sale takes any token.
pub(super) fn refused(
    conn: &Connection,
    voucher: VoucherId,
    token: FencingToken,
) -> rusqlite::Result<Option<FencingToken>> {
    let seen = conn
        .prepare_cached("SELECT terms_token FROM sales WHERE voucher_id = ?1")?
        .query_row([id(voucher.get())], |row| get_id(row, 0).map(FencingToken::new))
        .optional()?;
    if seen.is_some_and(|seen| seen < token) {
        conn.prepare_cached("UPDATE sales SET terms_token = ?2 WHERE voucher_id = ?1")?
            .execute(params![id(voucher.get()), id(token.get())])?;
    }
    Ok(seen.filter(|seen| *seen > token))
}
