//! Metrics of the event bus, of this process.

use std::sync::atomic::{AtomicU64, Ordering};

use mallbox_storage::{EventCounts, EventTarget, Subscriber};
use parking_lot::Mutex;

/// State of a subscriber.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SubscriberMetrics {
    /// The subscriber's name.
    pub name: String,
    /// Number of events not handed over yet.
    pub lag: u64,
    /// Number of events that were pruned before they were handed over.
    pub lost: u64,
}

/// Metrics of the event bus. Counts are those of this process; the state is that of the mall.
#[derive(Default, Debug)]
pub struct EventMetrics {
    numbered: AtomicU64,
    handed_over: AtomicU64,
    delivered: AtomicU64,
    failed: AtomicU64,
    state: Mutex<(u64, Vec<SubscriberMetrics>)>,
}

impl EventMetrics {
    /// Number of events that this process gave positions.
    #[must_use]
    pub fn numbered(&self) -> u64 {
        self.numbered.load(Ordering::Relaxed)
    }

    /// Number of events that this process appended to streams, or queued for webhooks.
    #[must_use]
    pub fn handed_over(&self) -> u64 {
        self.handed_over.load(Ordering::Relaxed)
    }

    /// Number of requests to webhooks that were received.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.delivered.load(Ordering::Relaxed)
    }

    /// Number of requests to webhooks that failed, and are repeated.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    /// Returns the number of events without a position, and the state of each subscriber but logs.
    #[must_use]
    pub fn state(&self) -> (u64, Vec<SubscriberMetrics>) {
        self.state.lock().clone()
    }

    pub(super) fn count_numbered(&self, events: u64) {
        self.numbered.fetch_add(events, Ordering::Relaxed);
    }

    pub(super) fn count_handed_over(&self, events: u64) {
        self.handed_over.fetch_add(events, Ordering::Relaxed);
    }

    pub(in crate::mall) fn count_request(&self, is_received: bool) {
        let count = if is_received { &self.delivered } else { &self.failed };
        count.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn set_state(&self, counts: EventCounts, subscribers: &[Subscriber]) {
        let reading = subscribers.iter().filter(|subscriber| subscriber.target != EventTarget::Log);
        let state = reading.map(|subscriber| SubscriberMetrics {
            name: subscriber.name.clone(),
            lag: counts.ends.head.saturating_sub(subscriber.cursor),
            lost: subscriber.lost,
        });
        *self.state.lock() = (counts.waiting, state.collect());
    }
}
