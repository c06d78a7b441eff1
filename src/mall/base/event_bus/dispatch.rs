//! Hands events over to subscribers, and moves their cursors.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::backend::shortened_error;
use mallbox_storage::{
    EVENTS_MAX, EventPage, EventTarget, StoreError, StoredEvent, Subscriber, SubscriberId, Timestamp,
};
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::metrics::EventMetrics;
use super::webhook_work::{KIND, breaker_of, task_of};
use crate::mall::base::retry::{Queued, RetryQueue, Submission};
use crate::mall::base::{Context, Failure};

/// Hands events over: appends to streams, and queues requests to webhooks.
///
/// A crash between the hand-over and the move of the cursor repeats the hand-over: a stream skips events by
/// position, and the queue by key.
pub(in crate::mall) struct Dispatcher {
    context: Context,
    retries: RetryQueue,
    metrics: Arc<EventMetrics>,
    /// Time of the last event to each webhook that keeps failing.
    probes: Mutex<HashMap<SubscriberId, Timestamp>>,
}

/// Why a page was not handed over as a whole.
enum Obstacle {
    /// The next run tries again.
    Store(StoreError),
    /// In words for the operator.
    Words(String),
}

impl From<Failure> for Obstacle {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Store(error) => Self::Store(error),
            other => Self::Words(other.to_string()),
        }
    }
}

impl From<StoreError> for Obstacle {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Dispatcher {
    /// Pages per subscriber and run: other subscribers wait meanwhile.
    const PAGES_MAX: usize = 20;
    /// Interval of events to a webhook that keeps failing.
    const PROBE_INTERVAL: Duration = Duration::from_secs(60);
    /// Interval of reports of the same obstacle.
    const REPORT_INTERVAL: Duration = Duration::from_secs(60);

    pub(in crate::mall) fn new(context: &Context, retries: RetryQueue, metrics: Arc<EventMetrics>) -> Self {
        Self { context: context.clone(), retries, metrics, probes: Mutex::default() }
    }

    /// Hands events over to each subscriber that is not paused. An obstacle of one subscriber delays no
    /// other, and is stored with the subscriber.
    pub(super) async fn hand_over(
        &self,
        subscribers: &[Subscriber],
        now: Timestamp,
        stop: &CancellationToken,
    ) {
        for subscriber in subscribers.iter().filter(|subscriber| !subscriber.is_paused) {
            let mut cursor = subscriber.cursor;
            if let Err(obstacle) = self.catch_up(subscriber, &mut cursor, now, stop).await {
                let words = match obstacle {
                    Obstacle::Store(error) => error.to_string(),
                    Obstacle::Words(words) => words,
                };
                // A move of the cursor forgets the error.
                let known = subscriber.error.as_ref().filter(|_| cursor == subscriber.cursor);
                if !known.is_some_and(|known| Self::is_fresh(known, &words, now)) {
                    self.report(subscriber, &words, now).await;
                }
            }
        }
    }

    async fn catch_up(
        &self,
        subscriber: &Subscriber,
        cursor: &mut u64,
        now: Timestamp,
        stop: &CancellationToken,
    ) -> Result<(), Obstacle> {
        let ports = &self.context.storage.base;
        for _ in 0..Self::PAGES_MAX {
            if stop.is_cancelled() {
                break;
            }
            let page = ports.events.after(*cursor, EVENTS_MAX).await?;
            let Some(end) = Self::end_of(&page, *cursor) else { break };
            let (end, obstacle) = self.hand_over_page(subscriber, &page.events, end, now).await?;
            if end > *cursor {
                if !ports.event_subscribers.advance(subscriber.id, *cursor, end, page.lost).await? {
                    // Another process was quicker, or the subscriber is gone.
                    break;
                }
                *cursor = end;
                if page.lost > 0 {
                    self.report_loss(subscriber, page.lost, now).await;
                }
            }
            if let Some(obstacle) = obstacle {
                return Err(obstacle);
            }
        }
        Ok(())
    }

    /// Returns the position up to which the page reaches; `None` if nothing is behind `cursor`.
    fn end_of(page: &EventPage, cursor: u64) -> Option<u64> {
        let end = page.events.last().map_or(page.ends.pruned, |event| event.position);
        (end > cursor).then_some(end)
    }

    /// Hands over the events of a page that ends at `end`. Returns the position up to which all is handed
    /// over, and the obstacle there, if any.
    async fn hand_over_page(
        &self,
        subscriber: &Subscriber,
        events: &[StoredEvent],
        end: u64,
        now: Timestamp,
    ) -> Result<(u64, Option<Obstacle>), Obstacle> {
        let wanted: Vec<StoredEvent> =
            events.iter().filter(|event| subscriber.wants(event.kind)).cloned().collect();
        if wanted.is_empty() {
            return Ok((end, None));
        }
        let mut handed_over = (end, None);
        match &subscriber.target {
            EventTarget::Log => return Ok(handed_over),
            EventTarget::Stream => {
                self.context.storage.base.event_streams.append(&subscriber.name, &wanted).await?;
            }
            EventTarget::Webhook { .. } => {
                if let Some((left_out, obstacle)) = self.queue(subscriber, &wanted, now).await? {
                    handed_over = (left_out.saturating_sub(1), Some(obstacle));
                }
            }
        }
        let is_handed_over = |event: &&StoredEvent| event.position <= handed_over.0;
        self.metrics.count_handed_over(wanted.iter().filter(is_handed_over).count() as u64);
        Ok(handed_over)
    }

    /// Queues a request per event. Returns the first event left out, and why.
    ///
    /// While the subscriber's breaker is not closed, events wait behind the cursor, since in the queue they
    /// would crowd out those of others. One event per [`PROBE_INTERVAL`](Self::PROBE_INTERVAL) is queued, so
    /// that a run probes the webhook.
    async fn queue(
        &self,
        subscriber: &Subscriber,
        events: &[StoredEvent],
        now: Timestamp,
    ) -> Result<Option<(u64, Obstacle)>, Obstacle> {
        let breaker = breaker_of(subscriber);
        let is_failing = self.retries.breakers(KIND).iter().any(|not_closed| not_closed.name == breaker);
        let admitted = match is_failing {
            false => events.len(),
            true => usize::from(self.may_probe(subscriber, now)),
        };
        let tasks: Vec<Submission> =
            events.iter().take(admitted).map(|event| task_of(subscriber, event)).collect();
        let queued = if tasks.is_empty() { Vec::new() } else { self.retries.submit_all(KIND, tasks).await? };
        if let Some((event, _)) = events.iter().zip(queued).find(|(_, queued)| *queued == Queued::Full) {
            return Ok(Some((
                event.position,
                Obstacle::Words("the retry queue is full: events wait".to_owned()),
            )));
        }
        let words = || Obstacle::Words("the webhook keeps failing: events wait".to_owned());
        Ok(events.get(admitted).map(|event| (event.position, words())))
    }

    /// Whether it is time for another event to a failing webhook.
    fn may_probe(&self, subscriber: &Subscriber, now: Timestamp) -> bool {
        let mut probes = self.probes.lock();
        let last = probes.get(&subscriber.id).copied();
        let is_time = last.is_none_or(|last| now < last || now >= last + Self::PROBE_INTERVAL);
        if is_time {
            probes.insert(subscriber.id, now);
        }
        is_time
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

    /// Whether the error stored with a subscriber is this one, of less than a minute ago: a persistent
    /// obstacle is stored once a minute.
    fn is_fresh((known, at): &(String, Timestamp), words: &str, now: Timestamp) -> bool {
        known == shortened_error(words) && *at <= now && now < *at + Self::REPORT_INTERVAL
    }

    async fn report(&self, subscriber: &Subscriber, words: &str, now: Timestamp) {
        let subscribers = &self.context.storage.base.event_subscribers;
        if let Err(error) = subscribers.report(subscriber.id, words, now).await {
            tracing::warn!(%error, subscriber = subscriber.name, "could not store the error of a subscriber");
        }
    }
}
