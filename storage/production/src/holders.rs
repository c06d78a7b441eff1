//! Queries of the database for the holders of a sale that Redis does not know.

use std::collections::HashSet;

use async_trait::async_trait;
use mallbox_storage::{Claim, OrderId, StoreError, UserId, VoucherId};

/// A user who holds a unit of a sale.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Holder {
    /// Holder of the unit.
    pub user: UserId,
    /// Order that holds the unit, or the claim that became a dead letter.
    pub order: OrderId,
    /// Whether `order` is an order rather than a dead letter. A dead letter may hold a unit beside the user's
    /// order; the user then sees the order as the purchase.
    pub is_order: bool,
}

/// The holders of units of a sale, according to the database.
#[async_trait]
pub trait Holders: Send + Sync {
    /// Returns the next page of holders with an order above `after`, in ascending order: live orders, and
    /// dead letters that hold a unit. The database chooses the page size; an empty page is the end.
    ///
    /// # Errors
    /// [`StoreError`]: the sale is not loaded.
    async fn page(&self, voucher: VoucherId, after: OrderId) -> Result<Vec<Holder>, StoreError>;

    /// Returns the claims that are already orders or dead letters, whatever happened to the orders since.
    ///
    /// # Errors
    /// [`StoreError`]: the sale is not loaded.
    async fn settled(&self, claims: &[Claim]) -> Result<HashSet<OrderId>, StoreError>;
}
