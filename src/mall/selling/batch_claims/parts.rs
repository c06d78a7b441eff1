//! What the door and its runs share.

use mallbox_storage::{Locker, OrderId, UserId};

use crate::mall::base::{Context, Failure};
use crate::mall::selling::order_queries::{Found, OrderQueries};
use crate::mall::selling::sales::FlashSales;

/// Services and locks of the batch door.
pub(super) struct Parts {
    pub(super) context: Context,
    pub(super) sales: FlashSales,
    pub(super) orders: OrderQueries,
    pub(super) locker: Locker,
}

impl Parts {
    /// Returns whether a claim of the user was made under this order id, whatever became of the order.
    pub(super) async fn is_made(&self, order: OrderId, user: UserId) -> Result<bool, Failure> {
        let is_found = match self.orders.find(order).await? {
            Some(Found::Recorded(found)) => found.user == user,
            Some(Found::Pending(claim)) => claim.user == user,
            None => false,
        };
        if is_found {
            return Ok(true);
        }
        let letters = self.context.storage.selling.dead_letters.of_order(order).await?;
        Ok(letters.iter().any(|letter| letter.user == user))
    }
}
