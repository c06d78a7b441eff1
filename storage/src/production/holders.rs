//! What the record is asked when Redis does not know a sale.

use std::collections::HashSet;

use async_trait::async_trait;

use crate::{Claim, OrderId, StoreError, UserId, VoucherId};

/// Somebody who holds a unit of a sale.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Holder {
    /// Who.
    pub user: UserId,
    /// By which order, or by which claim that died.
    pub order: OrderId,
    /// Whether it is an order. A dead letter may hold a unit beside its user's order, and then is not what the user
    /// is told to have bought.
    pub is_order: bool,
}

/// Who holds units of a sale, as the record has it.
#[async_trait]
pub trait Holders: Send + Sync {
    /// The next holders of the sale with an order above `after`, by order: live orders, and dead letters that hold a
    /// unit. So many as the record likes to read at once; none when there are no more.
    ///
    /// # Errors
    /// [`StoreError`]: the sale is not loaded.
    async fn page(&self, voucher: VoucherId, after: OrderId) -> Result<Vec<Holder>, StoreError>;

    /// Which of these claims are orders or dead letters already, whatever became of them since.
    ///
    /// # Errors
    /// [`StoreError`]: the sale is not loaded.
    async fn settled(&self, claims: &[Claim]) -> Result<HashSet<OrderId>, StoreError>;
}
