//! Purchases at the counter: an ordinary voucher for a walk-in customer.

use mallbox_storage::{
    Order, OrderId, OrderStatus, PaymentMode, Timestamp, UserId, Voucher, WALK_IN_TIME_TO_PAY,
};

use super::Orders;
use crate::mall::base::Failure;
use crate::mall::selling::order_queries::new_order;

/// Idempotency key of the first purchase of a walk-in customer.
const REQUEST: &str = "counter";

impl Orders {
    /// Buys an ordinary voucher for a walk-in customer, to be paid at the counter within
    /// [`WALK_IN_TIME_TO_PAY`]. `cancelled` is the newest order of the customer, if there is one: it was not
    /// paid in time. A repeat with the same arguments returns the earlier order, whatever its status.
    ///
    /// # Errors
    /// [`Refusal::Busy`](crate::mall::Refusal::Busy) if the day's ids are used up. After [`Failure::Store`]
    /// the purchase is in doubt: a repeat resolves the doubt.
    pub(in crate::mall) async fn buy_at_counter(
        &self,
        (buyer, cancelled): (UserId, Option<OrderId>),
        voucher: &Voucher,
        now: Timestamp,
    ) -> Result<OrderId, Failure> {
        let (id, _) = self.numbers.next(&self.context.storage, voucher.id, now).await?;
        let order = Order {
            deadline: now + WALK_IN_TIME_TO_PAY,
            ..new_order(id, voucher, buyer, now, (OrderStatus::Unpaid, PaymentMode::Counter))
        };
        // Of concurrent calls, all see the same cancelled order, and one of them buys.
        let request =
            cancelled.map_or_else(|| REQUEST.to_owned(), |order| format!("{REQUEST} after {order}"));
        self.insert(order, Some(request), None).await
    }
}
