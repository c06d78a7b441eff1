//! The [`Outbox`] port on SQLite.

use async_trait::async_trait;
use mallbox_storage::{OrderId, Outbox, OutboxEntry, StoreError, UserId, VoucherId};
use rusqlite::{Connection, Row, params};

use super::Database;
use super::columns::{get_id, id};

pub(crate) struct EmbeddedOutbox(Database);

impl EmbeddedOutbox {
    pub(crate) fn new(database: Database) -> Self {
        Self(database)
    }
}

#[async_trait]
impl Outbox for EmbeddedOutbox {
    async fn open(&self, max: u32) -> Result<Vec<OutboxEntry>, StoreError> {
        let job = move |conn: &Connection| {
            conn.prepare_cached(
                "SELECT voucher_id, user_id, order_id FROM outbox_releases ORDER BY number LIMIT ?1",
            )?
            .query_map([max], release)?
            .collect()
        };
        self.0.read("errands", job).await
    }

    async fn done(&self, entries: &[OutboxEntry]) -> Result<(), StoreError> {
        let entries = entries.to_vec();
        let job = move |conn: &Connection| {
            let mut delete = conn.prepare_cached("DELETE FROM outbox_releases WHERE order_id = ?1")?;
            for OutboxEntry::Release { order, .. } in &entries {
                delete.execute([id(order.get())])?;
            }
            Ok(())
        };
        self.0.write("errands done", job).await
    }
}

/// Adds a release to the outbox, in the caller's transaction.
pub(super) fn add_release(
    conn: &Connection,
    voucher: VoucherId,
    user: UserId,
    order: OrderId,
) -> rusqlite::Result<()> {
    // An order is closed once; for two dead letters with one id, a single outbox entry at a time is enough.
    conn.prepare_cached(
        "INSERT INTO outbox_releases (order_id, voucher_id, user_id) VALUES (?1, ?2, ?3)
         ON CONFLICT (order_id) DO NOTHING",
    )?
    .execute(params![id(order.get()), id(voucher.get()), id(user.get())])
    .map(drop)
}

fn release(row: &Row<'_>) -> rusqlite::Result<OutboxEntry> {
    Ok(OutboxEntry::Release {
        voucher: VoucherId::new(get_id(row, 0)?),
        user: UserId::new(get_id(row, 1)?),
        order: OrderId::new(get_id(row, 2)?),
    })
}
