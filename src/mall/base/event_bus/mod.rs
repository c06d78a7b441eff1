//! The event bus: numbers the events written by the storage, and hands them over to subscribers.
//!
//! Reasons and figures: `src/decisions/0054-event-bus.md`.

mod dispatch;
mod envelope;
mod metrics;
mod relay;
mod webhook_work;

use std::sync::Arc;

pub use envelope::EventEnvelope;
pub use metrics::{EventMetrics, SubscriberMetrics};
pub(in crate::mall) use webhook_work::webhook_work;

use super::Context;
use super::chores::Chore;
use super::retry::RetryQueue;
use dispatch::Dispatcher;
use relay::EventRelay;

/// Returns the background job of the event bus. `retries` has the [`webhook_work()`].
pub(in crate::mall) fn relay(
    context: &Context,
    retries: RetryQueue,
    metrics: &Arc<EventMetrics>,
) -> Arc<dyn Chore> {
    let dispatcher = Dispatcher::new(context, retries, Arc::clone(metrics));
    Arc::new(EventRelay::new(context, dispatcher, Arc::clone(metrics)))
}
