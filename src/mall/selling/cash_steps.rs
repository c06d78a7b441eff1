//! Steps of orders whose money is cash: the step and the entry of the till's session are one transaction.

use mallbox_storage::{CashDrawer, CashStepOutcome, OrderId, Timestamp, Transition, TransitionOutcome};

use crate::mall::base::{CashRefusal, Context, Failure, Refusal};

/// Performs a transition of an order; with a drawer, as one that moves cash. A mall that has never opened a
/// cash session makes no entry.
///
/// # Errors
/// [`Refusal::Cash`]: nothing changed; [`Failure::Store`] if the store fails.
pub(super) async fn step(
    context: &Context,
    order: OrderId,
    step: Transition,
    drawer: Option<&CashDrawer>,
    now: Timestamp,
) -> Result<TransitionOutcome, Failure> {
    let selling = &context.storage.selling;
    let Some(drawer) = drawer else { return Ok(selling.orders.step(order, step, now).await?) };
    match selling.cash.step(order, step, drawer, now).await? {
        CashStepOutcome::Stepped(outcome) => Ok(outcome),
        CashStepOutcome::NoSession => Err(Refusal::Cash(CashRefusal::NoSession).into()),
        CashStepOutcome::Limit(limit) => Err(Refusal::Cash(limit.into()).into()),
    }
}
