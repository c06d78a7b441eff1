//! The event bus: numbers the events written by the storage, and hands them over to subscribers.
//!
//! Reasons and figures: `src/decisions/0054-event-bus.md`.

mod dispatch;
mod envelope;
mod metrics;
mod relay;
mod webhook;

use std::sync::Arc;

pub use envelope::EventEnvelope;
pub use metrics::{EventMetrics, SubscriberMetrics};
pub(in crate::mall) use webhook::EventWebhook;

use super::Context;
use super::chores::Chore;
use dispatch::Dispatcher;
use relay::EventRelay;

/// Returns the metrics and the background job of the event bus.
pub(in crate::mall) fn event_bus(context: &Context) -> (Arc<EventMetrics>, Arc<dyn Chore>) {
    let metrics = Arc::new(EventMetrics::default());
    let dispatcher = Dispatcher::new(context, Arc::clone(&metrics));
    let relay = EventRelay::new(context, dispatcher, Arc::clone(&metrics));
    (metrics, Arc::new(relay))
}
