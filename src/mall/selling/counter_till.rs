//! Payments at the counter, as a gateway: an operator has the money in hand before the mall hears of it.

use async_trait::async_trait;
use mallbox_storage::{Cents, PaymentId};

use super::payments::{GatewayError, GatewayState, Payments};

/// The gateway of orders in [`PaymentMode::Counter`](mallbox_storage::PaymentMode::Counter).
///
/// Holds no state: the database decides. A payment counts from the transaction that marks its order as paid,
/// so a payment still started was never recorded, and nobody was told of a success.
pub(super) struct CounterTill;

#[async_trait]
impl Payments for CounterTill {
    /// Confirms: the operator has counted the money.
    async fn charge(&self, _payment: PaymentId, _amount: Cents) -> Result<GatewayState, GatewayError> {
        Ok(GatewayState::Captured)
    }

    /// Confirms: the operator hands the money out.
    async fn refund(&self, _payment: PaymentId, _amount: Cents) -> Result<(), GatewayError> {
        Ok(())
    }

    /// Closes a recording that was interrupted before the order was paid.
    async fn close(&self, _payment: PaymentId) -> Result<GatewayState, GatewayError> {
        Ok(GatewayState::Declined)
    }
}
