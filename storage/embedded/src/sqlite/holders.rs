//! Holders of a sale's units, for rebuilding memory.

use std::collections::HashSet;

use mallbox_storage::{Claim, OrderId, StoreError, UserId, VoucherId};
use rusqlite::{Connection, OptionalExtension as _};

use super::columns::{get_id, id};
use super::{Database, dead_letter_rows, order_rows};

/// Finds the holders of a sale's units.
pub(crate) struct Holders(Database);

impl Holders {
    pub(crate) fn new(database: Database) -> Self {
        Self(database)
    }

    /// Calls `each` with the user of every unit of the sale held by an order, by a dead letter, or by a
    /// claim in `pending` that is neither yet. Returns the number of units. A user may occur several times:
    /// for an order, and for each dead letter.
    ///
    /// All reads use the same snapshot, so a claim that becomes an order meanwhile is counted once. For
    /// this guarantee, `pending` must have been read before the call, and must contain all claims of the
    /// sale in the log.
    ///
    /// Blocks. Reads the orders from the sale's first order on: about 50 ms for a million.
    pub(crate) fn each(
        &self,
        voucher: VoucherId,
        pending: &[Claim],
        each: &mut dyn FnMut(UserId),
    ) -> Result<u64, StoreError> {
        self.0.read_on_new_connection("holders", |conn| {
            let mut held = in_record(conn, voucher, each)?;
            for claim in pending {
                if !is_settled(conn, claim)? {
                    each(claim.user);
                    held += 1;
                }
            }
            Ok(held)
        })
    }

    /// Returns, per buyer, the orders (live or dead letters) that hold units of a sale in the database.
    pub(crate) async fn holdings(
        &self,
        buyers: Vec<(VoucherId, UserId)>,
    ) -> Result<Vec<HashSet<OrderId>>, StoreError> {
        let job = move |conn: &Connection| {
            let of_one = |(voucher, user): &(VoucherId, UserId)| order_rows::holdings(conn, *voucher, *user);
            buyers.iter().map(of_one).collect()
        };
        self.0.read("holdings", job).await
    }

    /// Returns the claims that are neither orders nor dead letters yet.
    pub(crate) async fn unsettled(&self, claims: Vec<Claim>) -> Result<HashSet<OrderId>, StoreError> {
        if claims.is_empty() {
            return Ok(HashSet::new());
        }
        let job = move |conn: &Connection| {
            let mut unsettled = HashSet::new();
            for claim in &claims {
                if !is_settled(conn, claim)? {
                    unsettled.insert(claim.order);
                }
            }
            Ok(unsettled)
        };
        self.0.read("unsettled claims", job).await
    }
}

impl Database {
    /// Returns the claims that are already orders or dead letters. Blocks.
    pub(crate) fn settled_among(&self, claims: &[Claim]) -> Result<HashSet<OrderId>, StoreError> {
        self.read_on_new_connection("settled claims", |conn| {
            let mut settled = HashSet::new();
            for claim in claims {
                if is_settled(conn, claim)? {
                    settled.insert(claim.order);
                }
            }
            Ok(settled)
        })
    }
}

fn is_settled(conn: &Connection, claim: &Claim) -> rusqlite::Result<bool> {
    let owner = order_rows::owner(conn, claim.order)?;
    Ok(owner == Some((claim.user, claim.voucher)) || dead_letter_rows::is_dead(conn, claim)?)
}

fn in_record(conn: &Connection, voucher: VoucherId, each: &mut dyn FnMut(UserId)) -> rusqlite::Result<u64> {
    let key = id(voucher.get());
    let Some((first, last)) = ends(conn, voucher)? else { return Ok(0) };
    let mut held = 0;
    for sql in [
        // The unary plus keeps SQLite from the index of vouchers, which has the rows in the order of users.
        "SELECT user_id FROM orders WHERE id BETWEEN ?2 AND ?3 AND +voucher_id = ?1 AND status NOT IN (4, 6)",
        "SELECT user_id FROM dead_letters WHERE order_id BETWEEN ?2 AND ?3 AND voucher_id = ?1 AND holds_unit = 1",
    ] {
        let mut select = conn.prepare(sql)?;
        let mut rows = select.query([key, first, last])?;
        while let Some(row) = rows.next()? {
            each(UserId::new(get_id(row, 0)?));
            held += 1;
        }
    }
    Ok(held)
}

/// Returns the first and the last order id of a sale. Outside the range no order exists, and no dead letter
/// with a unit.
pub(super) fn ends(conn: &Connection, voucher: VoucherId) -> rusqlite::Result<Option<(i64, i64)>> {
    let ends = conn
        .prepare_cached("SELECT first_order, last_order FROM sales WHERE voucher_id = ?1")?
        .query_row([id(voucher.get())], |row| {
            Ok(row.get::<_, Option<i64>>(0)?.zip(row.get::<_, Option<i64>>(1)?))
        })
        .optional()?;
    Ok(ends.flatten())
}
