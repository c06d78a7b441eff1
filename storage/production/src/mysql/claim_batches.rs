//! [`ClaimBatches`] in MySQL.

use async_trait::async_trait;
use mallbox_storage::{ClaimBatch, ClaimBatches, ClaimGatewayId, StoreError, Timestamp};
use mysql_async::Conn;

use super::columns::{Columns, execute, first};
use super::database::Database;
use super::errors::MysqlError;
use super::job::boxed;

pub(super) struct MysqlClaimBatches(pub(super) Database);

#[async_trait]
impl ClaimBatches for MysqlClaimBatches {
    async fn get(&self, gateway: ClaimGatewayId, request: &str) -> Result<Option<ClaimBatch>, StoreError> {
        let sql = "SELECT gateway_id, request, claims_hash, created_ms, revision, outcomes, is_finished
                   FROM claim_batches WHERE gateway_id = ? AND request = ?";
        self.0
            .read("claim batch", |conn| {
                boxed(async move { first(conn, sql, (gateway.get(), request.as_bytes()), batch).await })
            })
            .await
    }

    async fn put(&self, batch: &ClaimBatch) -> Result<bool, StoreError> {
        self.0.write_at_once("put claim batch", |conn| boxed(async move { put(conn, batch).await })).await
    }

    async fn prune(&self, before: Timestamp, max: u32) -> Result<u64, StoreError> {
        let sql = "DELETE FROM claim_batches WHERE created_ms < ? ORDER BY created_ms LIMIT ?";
        self.0
            .write_at_once("prune claim batches", |conn| {
                boxed(async move { execute(conn, sql, (before.as_millis(), max)).await })
            })
            .await
    }
}

async fn put(conn: &mut Conn, batch: &ClaimBatch) -> Result<bool, MysqlError> {
    let ClaimBatch { gateway, request, claims_hash, created, revision, outcomes, is_finished } = batch;
    let (gateway, request) = (gateway.get(), request.as_bytes());
    let stored = if *revision == 1 {
        let sql = "INSERT INTO claim_batches
                   (gateway_id, request, claims_hash, created_ms, revision, outcomes, is_finished)
                   VALUES (?, ?, ?, ?, 1, ?, ?)";
        let row = (gateway, request, claims_hash.to_vec(), created.as_millis(), outcomes, is_finished);
        match execute(conn, sql, row).await {
            Err(fault) if fault.is_duplicate_key() => return Ok(false),
            done => done?,
        }
    } else {
        let sql = "UPDATE claim_batches SET revision = ?, outcomes = ?, is_finished = ?
                   WHERE gateway_id = ? AND request = ? AND revision + 1 = ? AND is_finished = 0";
        execute(conn, sql, (revision, outcomes, is_finished, gateway, request, revision)).await?
    };
    Ok(stored > 0)
}

fn batch(row: &mut Columns) -> Result<ClaimBatch, MysqlError> {
    Ok(ClaimBatch {
        gateway: ClaimGatewayId::new(row.next()?),
        request: row.next()?,
        claims_hash: {
            let hash: Vec<u8> = row.next()?;
            hash.try_into().map_err(|_| row.unreadable_last("claims_hash"))?
        },
        created: row.time()?,
        revision: row.next()?,
        outcomes: row.next()?,
        is_finished: row.next()?,
    })
}
