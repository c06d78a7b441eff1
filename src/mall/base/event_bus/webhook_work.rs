//! Webhooks as work of the retry queue: a task per event and subscriber.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{EventTarget, StoreError, StoredEvent, Subscriber, SubscriberId, Timestamp};
use parking_lot::Mutex;

use super::envelope::EventEnvelope;
use super::metrics::EventMetrics;
use crate::mall::base::Context;
use crate::mall::base::retry::{Attempt, RetryPolicy, Segment, SegmentOutcome, Submission, Work};
use crate::mall::base::webhook_client::WebhookClient;

/// Kind of the tasks.
pub(super) const KIND: &str = "event-webhook";
/// Name of the only segment.
const SEGMENT: &str = "post";
/// Timeout for connecting, posting and receiving the head of the response together, in real time.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// Time for which the list of subscribers is used again.
const SUBSCRIBERS_TTL: Duration = Duration::from_secs(1);

/// Returns the work that delivers events to webhooks.
pub(in crate::mall) fn webhook_work(context: &Context, metrics: &Arc<EventMetrics>) -> Work {
    let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
    let policy = RetryPolicy {
        // Eight hours: a receiver that is repaired in the morning misses nothing of the night.
        intervals: [Duration::from_secs(5), Duration::from_secs(30)]
            .into_iter()
            .chain([2, 10, 30, 60, 120, 240].map(minutes))
            .collect(),
        segment_timeout: REQUEST_TIMEOUT + Duration::from_secs(1),
        ..RetryPolicy::default()
    };
    let post = Post { context: context.clone(), metrics: Arc::clone(metrics), subscribers: Mutex::default() };
    Work::new(KIND, vec![Arc::new(post)], policy)
}

/// Returns the name of a subscriber's breaker.
pub(super) fn breaker_of(subscriber: &Subscriber) -> String {
    format!("{SEGMENT}/{}", subscriber.name)
}

/// Returns the task that delivers an event. Events of one key are delivered one after the other.
pub(super) fn task_of(subscriber: &Subscriber, event: &StoredEvent) -> Submission {
    let Subscriber { id, name, .. } = subscriber;
    Submission {
        key: format!("{name}/{id}/{}", event.position),
        group: Some(format!("{id}/{}", event.key())),
        payload: EventEnvelope::of(event).to_json().into_bytes().into(),
    }
}

/// Returns name and id of the subscriber in the key of a task.
fn subscriber_of(key: &str) -> Option<(&str, SubscriberId)> {
    let (name, rest) = key.split_once('/')?;
    let (id, _) = rest.split_once('/')?;
    Some((name, SubscriberId::new(id.parse().ok()?)))
}

/// Sends the request.
struct Post {
    context: Context,
    metrics: Arc<EventMetrics>,
    subscribers: Mutex<Option<(Timestamp, Arc<[Subscriber]>)>>,
}

impl Post {
    /// Returns the subscriber's webhook; `None` if the subscriber was deleted.
    async fn webhook(&self, id: SubscriberId) -> Result<Option<(String, String)>, StoreError> {
        let known = self.subscribers.lock().clone();
        let now = self.context.now();
        let fresh = known.filter(|(at, _)| *at <= now && now < *at + SUBSCRIBERS_TTL);
        let subscribers = match fresh {
            Some((_, subscribers)) => subscribers,
            None => {
                let found: Arc<[Subscriber]> =
                    self.context.storage.base.event_subscribers.list().await?.into();
                *self.subscribers.lock() = Some((now, Arc::clone(&found)));
                found
            }
        };
        let found = subscribers.iter().find(|subscriber| subscriber.id == id);
        Ok(found.and_then(|subscriber| match &subscriber.target {
            EventTarget::Webhook { url, secret } => Some((url.clone(), secret.clone())),
            EventTarget::Log | EventTarget::Stream => None,
        }))
    }
}

#[async_trait]
impl Segment for Post {
    fn name(&self) -> &'static str {
        SEGMENT
    }

    async fn run(&self, attempt: &Attempt) -> SegmentOutcome {
        let Some((_, id)) = subscriber_of(&attempt.key) else {
            return SegmentOutcome::Hopeless("the key names no subscriber".to_owned());
        };
        let (url, secret) = match self.webhook(id).await {
            Ok(Some(webhook)) => webhook,
            // Nobody wants the event any more.
            Ok(None) => return SegmentOutcome::Passed(Vec::new()),
            Err(error) => return SegmentOutcome::Failed(error.to_string()),
        };
        let webhook = match WebhookClient::new(&url) {
            Ok(webhook) => webhook.signed_with(secret),
            Err(error) => return SegmentOutcome::Hopeless(error.to_string()),
        };
        let delivered = webhook.deliver(attempt.payload.to_vec(), REQUEST_TIMEOUT).await;
        self.metrics.count_request(delivered.is_ok());
        match delivered {
            Ok(()) => SegmentOutcome::Passed(Vec::new()),
            Err(error) => SegmentOutcome::Failed(error),
        }
    }

    fn remote_party(&self, attempt: &Attempt) -> Option<String> {
        subscriber_of(&attempt.key).map(|(name, _)| name.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use mallbox_storage::EventKind;

    use super::*;

    #[test]
    fn the_key_of_a_task_names_subscriber_and_position() {
        let subscriber = Subscriber {
            id: SubscriberId::new(7),
            name: "erp".to_owned(),
            target: EventTarget::Log,
            kinds: BTreeSet::new(),
            cursor: 0,
            is_paused: false,
            lost: 0,
            error: None,
            created: Timestamp::from_millis(0),
        };
        let event = StoredEvent {
            position: 1_042,
            kind: EventKind::OrderPaid,
            subject: 5,
            body: "{}".to_owned(),
            at: Timestamp::from_millis(0),
        };
        let task = task_of(&subscriber, &event);
        assert_eq!((task.key.as_str(), task.group.as_deref()), ("erp/7/1042", Some("7/order/5")));
        assert_eq!(subscriber_of(&task.key), Some(("erp", SubscriberId::new(7))));
        assert_eq!(breaker_of(&subscriber), "post/erp");
        for key in ["", "erp", "erp/7", "erp/x/1"] {
            assert_eq!(subscriber_of(key), None, "{key}");
        }
    }
}
