//! The [`ClaimBatches`] port on SQLite.

use async_trait::async_trait;
use mallbox_storage::{ClaimBatch, ClaimBatches, ClaimGatewayId, StoreError, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::Database;
use super::columns::{get_id, get_time, id};

pub(crate) struct EmbeddedClaimBatches(Database);

impl EmbeddedClaimBatches {
    pub(crate) fn new(database: Database) -> Self {
        Self(database)
    }
}

#[async_trait]
impl ClaimBatches for EmbeddedClaimBatches {
    async fn get(&self, gateway: ClaimGatewayId, request: &str) -> Result<Option<ClaimBatch>, StoreError> {
        let request = request.to_owned();
        let job = move |conn: &Connection| {
            conn.prepare_cached(
                "SELECT gateway_id, request, claims_hash, created_ms, revision, outcomes, is_finished
                 FROM claim_batches WHERE gateway_id = ?1 AND request = ?2",
            )?
            .query_row(params![id(gateway.get()), request], batch)
            .optional()
        };
        self.0.read("claim batch", job).await
    }

    async fn put(&self, batch: &ClaimBatch) -> Result<bool, StoreError> {
        let batch = batch.clone();
        self.0.write("put claim batch", move |conn| put(conn, &batch)).await
    }

    async fn prune(&self, before: Timestamp, max: u32) -> Result<u64, StoreError> {
        let job = move |conn: &Connection| {
            let pruned = conn
                .prepare_cached(
                    "DELETE FROM claim_batches WHERE rowid IN
                     (SELECT rowid FROM claim_batches WHERE created_ms < ?1 ORDER BY created_ms LIMIT ?2)",
                )?
                .execute(params![before.as_millis(), max])?;
            Ok(pruned as u64)
        };
        self.0.write("prune claim batches", job).await
    }
}

fn put(conn: &Connection, batch: &ClaimBatch) -> rusqlite::Result<bool> {
    let ClaimBatch { gateway, request, claims_hash, created, revision, outcomes, is_finished } = batch;
    let gateway = id(gateway.get());
    let stored = if *revision == 1 {
        conn.prepare_cached(
            "INSERT INTO claim_batches
             (gateway_id, request, claims_hash, created_ms, revision, outcomes, is_finished)
             VALUES (?1, ?2, ?3, ?4, 1, ?5, ?6) ON CONFLICT DO NOTHING",
        )?
        .execute(params![
            gateway,
            request,
            claims_hash,
            created.as_millis(),
            outcomes,
            is_finished
        ])?
    } else {
        conn.prepare_cached(
            "UPDATE claim_batches SET revision = ?3, outcomes = ?4, is_finished = ?5
             WHERE gateway_id = ?1 AND request = ?2 AND revision = ?3 - 1 AND is_finished = 0",
        )?
        .execute(params![gateway, request, revision, outcomes, is_finished])?
    };
    Ok(stored > 0)
}

fn batch(row: &Row<'_>) -> rusqlite::Result<ClaimBatch> {
    Ok(ClaimBatch {
        gateway: ClaimGatewayId::new(get_id(row, 0)?),
        request: row.get(1)?,
        claims_hash: row.get(2)?,
        created: get_time(row, 3)?,
        revision: row.get(4)?,
        outcomes: row.get(5)?,
        is_finished: row.get(6)?,
    })
}
