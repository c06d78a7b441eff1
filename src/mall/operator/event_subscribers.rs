//! Subscribers of events from the operator's side.
//!
//! Reasons and figures: `src/decisions/0054-event-bus.md`.

use std::collections::BTreeSet;
use std::sync::Arc;

use mallbox_storage::{
    EventCounts, EventKind, EventPage, EventTarget, NewSubscriber, SubscribeOutcome, Subscriber, SubscriberId,
};
use serde_json::{Value, json};

use crate::mall::base::webhook_client::WebhookClient;
use crate::mall::base::{
    AuditLog, AuditedAction, By, Context, Failure, InputError, Random, Refusal, SubscriberRefusal,
    run_audited,
};

/// Form of a subscription.
#[derive(Clone, PartialEq, Eq)]
pub struct SubscriptionForm {
    /// Name, unique among the subscribers.
    pub name: String,
    /// `log`, `webhook` or `stream`.
    pub target: String,
    /// URL of a webhook.
    pub url: Option<String>,
    /// Key of the signature; made by the mall if absent.
    pub secret: Option<String>,
    /// Names of kinds; all if empty.
    pub kinds: Vec<String>,
}

/// A new subscriber.
#[derive(Clone, PartialEq, Eq)]
pub struct NewSubscription {
    /// The subscriber.
    pub id: SubscriberId,
    /// Key of the signature of a webhook: never shown again.
    pub secret: Option<String>,
}

/// The operators' service for subscribers of events.
pub struct EventAdmin {
    context: Context,
    audit: AuditLog,
    random: Arc<Random>,
}

impl EventAdmin {
    /// Maximum number of subscribers: each costs a query twice a second.
    pub const SUBSCRIBERS_MAX: u32 = 20;
    /// Longest name, in characters.
    pub const NAME_MAX: usize = 40;
    /// Longest URL, in bytes.
    const URL_MAX: usize = 2_048;
    /// Lengths of a secret, in bytes.
    const SECRET_LENGTHS: std::ops::RangeInclusive<usize> = 16..=200;

    /// Creates the service.
    #[must_use]
    pub fn new(context: Context, audit: AuditLog, random: Arc<Random>) -> Self {
        Self { context, audit, random }
    }

    /// Returns all subscribers by id, and the counts of events.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn list(&self) -> Result<(Vec<Subscriber>, EventCounts), Failure> {
        let ports = &self.context.storage.base;
        Ok((ports.event_subscribers.list().await?, ports.events.counts().await?))
    }

    /// Returns whether the mall has streams.
    #[must_use]
    pub fn has_streams(&self) -> bool {
        self.context.storage.base.event_streams.are_supported()
    }

    /// Returns up to `max` events behind `position`.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn after(&self, position: u64, max: u32) -> Result<EventPage, Failure> {
        Ok(self.context.storage.base.events.after(position, max).await?)
    }

    /// Makes a subscriber of the events from now on.
    ///
    /// # Errors
    /// `InputError` for an invalid form; [`Refusal::Subscriber`] for a name that is taken, an address that
    /// cannot be used, and too many subscribers.
    pub async fn subscribe(&self, by: By, form: SubscriptionForm) -> Result<NewSubscription, Failure> {
        let new = self.validate(form)?;
        let secret = match &new.target {
            EventTarget::Webhook { secret, .. } => Some(secret.clone()),
            EventTarget::Log | EventTarget::Stream => None,
        };
        let kinds: Vec<&str> = new.kinds.iter().map(|kind| kind.name()).collect();
        // The URL often contains a key.
        let detail = json!({ "target": new.target.name(), "kinds": kinds });
        let action = AuditedAction {
            action: "event_subscriber.create",
            subject: format!("subscriber {}", new.name),
            detail,
        };
        let subscribers = Arc::clone(&self.context.storage.base.event_subscribers);
        let id = run_audited(&self.audit, by, action, async move {
            match subscribers.subscribe(&new, Self::SUBSCRIBERS_MAX, by.at).await? {
                SubscribeOutcome::Subscribed(id) => Ok(id),
                SubscribeOutcome::NameTaken => Err(Refusal::Subscriber(SubscriberRefusal::NameTaken).into()),
                SubscribeOutcome::TooMany => {
                    Err(Refusal::Subscriber(SubscriberRefusal::TooMany(Self::SUBSCRIBERS_MAX)).into())
                }
            }
        })
        .await?;
        Ok(NewSubscription { id, secret })
    }

    /// Pauses a subscriber, or resumes it where it stopped. A repeat succeeds.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn put_paused(&self, by: By, subscriber: SubscriberId, paused: bool) -> Result<(), Failure> {
        let name = if paused { "event_subscriber.pause" } else { "event_subscriber.resume" };
        let found = self.get(subscriber).await?;
        let subscribers = Arc::clone(&self.context.storage.base.event_subscribers);
        run_audited(&self.audit, by, audited(name, &found), async move {
            let changed = subscribers.put_paused(subscriber, paused).await?;
            if changed { Ok(()) } else { Err(Refusal::NotFound("subscriber").into()) }
        })
        .await
    }

    /// Removes a subscriber, and its stream. Events of a webhook on their way are dropped.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn unsubscribe(&self, by: By, subscriber: SubscriberId) -> Result<(), Failure> {
        let found = self.get(subscriber).await?;
        let ports = self.context.storage.base.clone();
        run_audited(&self.audit, by, audited("event_subscriber.delete", &found), async move {
            // Before the stream, so that nobody appends to it any more.
            if !ports.event_subscribers.unsubscribe(subscriber).await? {
                return Err(Refusal::NotFound("subscriber").into());
            }
            if found.target == EventTarget::Stream {
                ports.event_streams.remove(&found.name).await?;
            }
            Ok(())
        })
        .await
    }

    async fn get(&self, subscriber: SubscriberId) -> Result<Subscriber, Failure> {
        let found = self.context.storage.base.event_subscribers.list().await?;
        let found = found.into_iter().find(|found| found.id == subscriber);
        found.ok_or_else(|| Refusal::NotFound("subscriber").into())
    }

    fn validate(&self, form: SubscriptionForm) -> Result<NewSubscriber, Failure> {
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if form.name.is_empty() || form.name.len() > Self::NAME_MAX || !form.name.bytes().all(is_letter) {
            return Err(InputError::OutOfRange("subscriberName").into());
        }
        let kinds: Option<BTreeSet<EventKind>> =
            form.kinds.iter().map(|name| EventKind::named(name)).collect();
        let kinds = kinds.ok_or(Refusal::BadValue("kinds"))?;
        let target = match form.target.as_str() {
            "log" => EventTarget::Log,
            "stream" if self.has_streams() => EventTarget::Stream,
            "stream" => return Err(Refusal::Subscriber(SubscriberRefusal::NoStreams).into()),
            "webhook" => self.webhook(form.url, form.secret)?,
            _ => return Err(Refusal::BadValue("target").into()),
        };
        Ok(NewSubscriber { name: form.name, target, kinds })
    }

    fn webhook(&self, url: Option<String>, secret: Option<String>) -> Result<EventTarget, Failure> {
        let url = url.map(|url| url.trim().to_owned()).unwrap_or_default();
        if url.is_empty() {
            return Err(InputError::Missing("url").into());
        }
        let secret = secret.filter(|secret| !secret.is_empty()).unwrap_or_else(|| self.random.secret());
        if !Self::SECRET_LENGTHS.contains(&secret.len()) {
            return Err(InputError::OutOfRange("secret").into());
        }
        if url.len() > Self::URL_MAX || WebhookClient::new(&url).is_err() {
            return Err(Refusal::Subscriber(SubscriberRefusal::Url).into());
        }
        Ok(EventTarget::Webhook { url, secret })
    }
}

fn audited(action: &'static str, subscriber: &Subscriber) -> AuditedAction {
    let detail: Value = json!({ "target": subscriber.target.name() });
    AuditedAction { action, subject: format!("subscriber {}", subscriber.name), detail }
}
