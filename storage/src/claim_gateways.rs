//! Claim gateways: servers of others that an operator trusts to claim for users.
//!
//! Reasons and figures: `src/decisions/0074-batch-door.md`.

use std::collections::BTreeSet;

use async_trait::async_trait;

use crate::{ClaimGatewayId, StoreError, Timestamp, TokenHash, UserId, VoucherId};

/// A claim gateway to be made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewClaimGateway {
    /// Name, unique among the gateways: 1 to 40 characters.
    pub name: String,
    /// SHA-256 of the token. The token itself is never stored.
    pub token: TokenHash,
    /// The operator who answers for the gateway.
    pub operator: UserId,
    /// The sales that the gateway may claim in.
    pub sales: BTreeSet<VoucherId>,
    /// First instant at which the token is void.
    pub expires: Timestamp,
}

/// A claim gateway.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClaimGateway {
    /// The id, never used again.
    pub id: ClaimGatewayId,
    /// Name, unique among the gateways.
    pub name: String,
    /// The operator who answers for the gateway.
    pub operator: UserId,
    /// The sales that the gateway may claim in.
    pub sales: BTreeSet<VoucherId>,
    /// Time of creation.
    pub created: Timestamp,
    /// First instant at which the token is void.
    pub expires: Timestamp,
}

/// Outcome of [`ClaimGateways::add`].
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AddGatewayOutcome {
    /// The gateway may claim from now on.
    Added(ClaimGatewayId),
    /// Another gateway has the name. Nothing changed.
    NameTaken,
    /// The maximum number of gateways have valid tokens. Nothing changed.
    TooMany,
}

/// Claim gateways in the database.
///
/// - Every call is a transaction of its own, durable when the call returns.
/// - Nothing is cached: a call after [`remove`](ClaimGateways::remove) no longer finds the gateway, on any
///   instance.
#[async_trait]
pub trait ClaimGateways: Send + Sync {
    /// Adds a gateway, unless `most` gateways have tokens valid at `now`. Concurrent calls may exceed `most`
    /// by their number.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn add(
        &self,
        gateway: &NewClaimGateway,
        most: u32,
        now: Timestamp,
    ) -> Result<AddGatewayOutcome, StoreError>;

    /// Returns all gateways by id, those with expired tokens included.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn list(&self) -> Result<Vec<ClaimGateway>, StoreError>;

    /// Returns the gateway whose token has this hash and is valid at `now`.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn of_token(&self, token: TokenHash, now: Timestamp) -> Result<Option<ClaimGateway>, StoreError>;

    /// Removes a gateway. Returns whether there was one.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn remove(&self, gateway: ClaimGatewayId) -> Result<bool, StoreError>;

    /// Removes the gateways whose tokens expired before `before`. Returns their number.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn prune(&self, before: Timestamp) -> Result<u64, StoreError>;
}

/// Returns the stored form of a set of sales.
#[must_use]
pub fn sales_in_row(sales: &BTreeSet<VoucherId>) -> String {
    let ids: Vec<String> = sales.iter().map(VoucherId::to_string).collect();
    ids.join(",")
}

/// Returns the sales of a stored form; `None` if an entry is no id.
#[must_use]
pub fn sales_of_row(stored: &str) -> Option<BTreeSet<VoucherId>> {
    let ids = stored.split(',').filter(|id| !id.is_empty());
    ids.map(|id| id.parse().ok().map(VoucherId::new)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sales_are_stored_as_their_ids() {
        for ids in [vec![], vec![7], vec![7, 8, u64::MAX]] {
            let sales: BTreeSet<VoucherId> = ids.into_iter().map(VoucherId::new).collect();
            assert_eq!(sales_of_row(&sales_in_row(&sales)), Some(sales));
        }
        assert_eq!(sales_of_row("7,x"), None);
    }
}
