//! Batches of claims: what a gateway asked for, and what became of it.
//!
//! Reasons and figures: `src/decisions/0074-batch-door.md`.

use async_trait::async_trait;

use crate::{ClaimGatewayId, StoreError, Timestamp};

/// A batch of claims, named by its gateway.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClaimBatch {
    /// The gateway.
    pub gateway: ClaimGatewayId,
    /// Name of the request: 1 to 64 characters, compared byte by byte.
    pub request: String,
    /// SHA-256 of the claims: a repeat has the same.
    pub claims_hash: [u8; 32],
    /// Time of the first request.
    pub created: Timestamp,
    /// Number of the version, from 1.
    pub revision: u32,
    /// The outcomes so far, up to 1 MiB, in a form of the caller's.
    pub outcomes: String,
    /// Whether the outcomes are final.
    pub is_finished: bool,
}

/// Batches of claims in the database.
///
/// Every call is a transaction of its own, durable when the call returns.
#[async_trait]
pub trait ClaimBatches: Send + Sync {
    /// Returns a batch by its gateway and name.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn get(&self, gateway: ClaimGatewayId, request: &str) -> Result<Option<ClaimBatch>, StoreError>;

    /// Stores a version of a batch (compare-and-set): revision 1 if there is none, revision `n + 1` in place
    /// of revision `n`. Of a later version only outcomes and end are stored. Returns false, and changes
    /// nothing, if another revision is stored, or a finished batch.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; read the batch again.
    async fn put(&self, batch: &ClaimBatch) -> Result<bool, StoreError>;

    /// Deletes up to `max` batches created before `before`, finished or not, the oldest first. Returns their
    /// number.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn prune(&self, before: Timestamp, max: u32) -> Result<u64, StoreError>;
}
