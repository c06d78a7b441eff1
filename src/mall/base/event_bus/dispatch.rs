//! Hands events over to subscribers, and moves their cursors.

use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::backend::shortened_error;
use mallbox_storage::{EVENTS_MAX, EventPage, EventTarget, StoreError, StoredEvent, Subscriber, Timestamp};
use tokio_util::sync::CancellationToken;

use super::metrics::EventMetrics;
use crate::mall::base::Context;

/// Hands events over: appends to streams, and queues requests to webhooks.
///
/// A crash between the hand-over and the move of the cursor repeats the hand-over: a stream skips events by
/// position, and the queue by key.
pub(in crate::mall) struct Dispatcher {
    context: Context,
    metrics: Arc<EventMetrics>,
}

/// Why a page was not handed over as a whole.
enum Obstacle {
    /// The next run tries again.
    Store(StoreError),
    /// In words for the operator.
    Words(String),
}

impl From<StoreError> for Obstacle {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Dispatcher {
    /// Pages per subscriber and run: other subscribers wait meanwhile.
    const PAGES_MAX: usize = 20;
    /// Interval of reports of the same obstacle.
    const REPORT_INTERVAL: Duration = Duration::from_secs(60);

    pub(in crate::mall) fn new(context: &Context, metrics: Arc<EventMetrics>) -> Self {
        Self { context: context.clone(), metrics }
    }

    /// Hands events over to each subscriber that is not paused. An obstacle of one subscriber delays no other,
    /// and is stored with the subscriber.
    pub(super) async fn hand_over(
        &self,
        subscribers: &[Subscriber],
        now: Timestamp,
        stop: &CancellationToken,
    ) {
        for subscriber in subscribers.iter().filter(|subscriber| !subscriber.is_paused) {
            if let Err(obstacle) = self.catch_up(subscriber, now, stop).await {
                let words = match obstacle {
                    Obstacle::Store(error) => error.to_string(),
                    Obstacle::Words(words) => words,
                };
                self.report(subscriber, &words, now).await;
            }
        }
    }

    async fn catch_up(
        &self,
        subscriber: &Subscriber,
        now: Timestamp,
        stop: &CancellationToken,
    ) -> Result<(), Obstacle> {
        let ports = &self.context.storage.base;
        let mut cursor = subscriber.cursor;
        for _ in 0..Self::PAGES_MAX {
            if stop.is_cancelled() {
                break;
            }
            let page = ports.events.after(cursor, EVENTS_MAX).await?;
            let Some(end) = self.end_of(&page, cursor) else { break };
            self.hand_over_page(subscriber, &page.events).await?;
            if !ports.event_subscribers.advance(subscriber.id, cursor, end, page.lost).await? {
                // Another process was quicker, or the subscriber is gone.
                break;
            }
            if page.lost > 0 {
                self.report_loss(subscriber, page.lost, now).await;
            }
            cursor = end;
        }
        Ok(())
    }

    /// Returns the position up to which the page reaches; `None` if nothing is behind `cursor`.
    fn end_of(&self, page: &EventPage, cursor: u64) -> Option<u64> {
        let end = page.events.last().map_or(page.ends.pruned, |event| event.position);
        (end > cursor).then_some(end)
    }

    async fn hand_over_page(&self, subscriber: &Subscriber, events: &[StoredEvent]) -> Result<(), Obstacle> {
        let wanted: Vec<StoredEvent> =
            events.iter().filter(|event| subscriber.wants(event.kind)).cloned().collect();
        if wanted.is_empty() {
            return Ok(());
        }
        match &subscriber.target {
            EventTarget::Log => return Ok(()),
            EventTarget::Stream => {
                self.context.storage.base.event_streams.append(&subscriber.name, &wanted).await?;
            }
            EventTarget::Webhook { .. } => {
                return Err(Obstacle::Words("the retry queue is not part of this build".to_owned()));
            }
        }
        self.metrics.count_handed_over(wanted.len() as u64);
        Ok(())
    }

    async fn report_loss(&self, subscriber: &Subscriber, lost: u64, now: Timestamp) {
        tracing::warn!(
            subscriber = subscriber.name,
            events = lost,
            "events were pruned before their subscriber got them"
        );
        self.report(subscriber, &format!("{lost} events were pruned before they were handed over"), now)
            .await;
    }

    async fn report(&self, subscriber: &Subscriber, words: &str, now: Timestamp) {
        let subscribers = &self.context.storage.base.event_subscribers;
        // A persistent obstacle is stored once a minute.
        let is_known = subscriber.error.as_ref().is_some_and(|(known, at)| {
            known == shortened_error(words) && now < *at + Self::REPORT_INTERVAL && now >= *at
        });
        if is_known {
            return;
        }
        if let Err(error) = subscribers.report(subscriber.id, words, now).await {
            tracing::warn!(%error, subscriber = subscriber.name, "could not store the error of a subscriber");
        }
    }
}
