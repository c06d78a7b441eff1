//! Subscribers of events.
//!
//! Reasons and figures: `storage/decisions/0030-events.md`.

use std::collections::BTreeSet;
use std::fmt;

use async_trait::async_trait;

use crate::event_kinds::EventKind;
use crate::{StoreError, SubscriberId, Timestamp};

/// Where a subscriber's events go.
#[derive(Clone, PartialEq, Eq)]
pub enum EventTarget {
    /// Nowhere: events are kept for readers.
    Log,
    /// HTTP requests to a URL.
    Webhook {
        /// The URL.
        url: String,
        /// Key of the signature.
        secret: String,
    },
    /// A stream of the mall's Redis.
    Stream,
}

impl fmt::Debug for EventTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A URL often contains a key.
        f.write_str(self.name())
    }
}

impl EventTarget {
    /// Returns the name of the kind of target.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Webhook { .. } => "webhook",
            Self::Stream => "stream",
        }
    }
}

/// A subscriber to be made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewSubscriber {
    /// Name, unique among the subscribers.
    pub name: String,
    /// Where the events go.
    pub target: EventTarget,
    /// Kinds of events; all if empty.
    pub kinds: BTreeSet<EventKind>,
}

/// A subscriber.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Subscriber {
    /// The id, never used again.
    pub id: SubscriberId,
    /// Name, unique among the subscribers.
    pub name: String,
    /// Where the events go.
    pub target: EventTarget,
    /// Kinds of events; all if empty.
    pub kinds: BTreeSet<EventKind>,
    /// Position of the last event handed over.
    pub cursor: u64,
    /// Whether events wait until an operator goes on.
    pub is_paused: bool,
    /// Number of events that were pruned before they were handed over.
    pub lost: u64,
    /// Why the last attempt to hand events over failed, and when; `None` after a success.
    pub error: Option<(String, Timestamp)>,
    /// Time at which the subscriber was made.
    pub created: Timestamp,
}

impl Subscriber {
    /// Returns whether the subscriber wants events of a kind.
    #[must_use]
    pub fn wants(&self, kind: EventKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }
}

/// Outcome of a subscription.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SubscribeOutcome {
    /// The subscriber exists from now on.
    Subscribed(SubscriberId),
    /// Another subscriber has the name. Nothing changed.
    NameTaken,
    /// There is the most number of subscribers. Nothing changed.
    TooMany,
}

/// Longest error of a subscriber that is stored, in characters.
pub const SUBSCRIBER_ERROR_MAX_CHARS: usize = 200;

/// Subscribers of [`Events`](crate::Events).
///
/// - Events are written while there is at least one subscriber, paused ones included. In a directory that
///   holds exactly: a change committed after the subscription has an event. On servers, other instances learn
///   of the first subscriber by [`list`](EventSubscribers::list), to be called every second.
/// - A subscriber gets the events behind its cursor. A new one begins behind the newest position.
#[async_trait]
pub trait EventSubscribers: Send + Sync {
    /// Makes a subscriber, unless there are `most` already.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn subscribe(
        &self,
        subscriber: &NewSubscriber,
        most: u32,
        now: Timestamp,
    ) -> Result<SubscribeOutcome, StoreError>;

    /// Removes a subscriber. Returns whether there was one.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn unsubscribe(&self, subscriber: SubscriberId) -> Result<bool, StoreError>;

    /// Returns all subscribers, by id. From now on this instance writes events if there is one.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn list(&self) -> Result<Vec<Subscriber>, StoreError>;

    /// Stops or resumes the events of a subscriber. Returns false for an unknown one.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn put_paused(&self, subscriber: SubscriberId, paused: bool) -> Result<bool, StoreError>;

    /// Moves the cursor `from` → `to` (compare-and-set), counts `lost` events that were pruned before, and
    /// forgets the error. Returns false, and changes nothing, if the cursor is elsewhere.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; read the cursor again.
    async fn advance(
        &self,
        subscriber: SubscriberId,
        from: u64,
        to: u64,
        lost: u64,
    ) -> Result<bool, StoreError>;

    /// Stores why events could not be handed over: the first [`SUBSCRIBER_ERROR_MAX_CHARS`] of `error`.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn report(&self, subscriber: SubscriberId, error: &str, now: Timestamp) -> Result<(), StoreError>;
}

/// Returns the stored form of a set of kinds.
#[must_use]
pub fn kinds_in_row(kinds: &BTreeSet<EventKind>) -> String {
    let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
    names.join(",")
}

/// Returns the kinds of a stored form; `None` if a kind is unknown.
#[must_use]
pub fn kinds_of_row(stored: &str) -> Option<BTreeSet<EventKind>> {
    stored.split(',').filter(|name| !name.is_empty()).map(EventKind::named).collect()
}

impl EventTarget {
    /// Returns the target of a stored kind, URL and secret; `None` if the kind is unknown.
    #[must_use]
    pub fn of_row(name: &str, url: String, secret: String) -> Option<Self> {
        match name {
            "log" => Some(Self::Log),
            "webhook" => Some(Self::Webhook { url, secret }),
            "stream" => Some(Self::Stream),
            _ => None,
        }
    }

    /// Returns the stored URL and secret, both empty for other targets.
    #[must_use]
    pub fn url_and_secret(&self) -> (&str, &str) {
        match self {
            Self::Webhook { url, secret } => (url, secret),
            Self::Log | Self::Stream => ("", ""),
        }
    }
}

/// Shortens an error to the length that is stored.
#[must_use]
pub fn shortened_error(error: &str) -> &str {
    let end = error.char_indices().nth(SUBSCRIBER_ERROR_MAX_CHARS).map_or(error.len(), |(at, _)| at);
    &error[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_stored_as_their_names() {
        for kinds in [vec![], vec![EventKind::OrderPaid], EventKind::ALL.to_vec()] {
            let kinds: BTreeSet<EventKind> = kinds.into_iter().collect();
            assert_eq!(kinds_of_row(&kinds_in_row(&kinds)), Some(kinds));
        }
        assert_eq!(kinds_of_row("order.paid,order.lost"), None);
    }

    #[test]
    fn neither_url_nor_secret_is_printed() {
        let target = EventTarget::Webhook { url: "https://a/?key=1".to_owned(), secret: "s".to_owned() };
        assert_eq!(format!("{target:?}"), "webhook");
    }

    #[test]
    fn an_error_is_cut_between_characters() {
        assert_eq!(shortened_error("短"), "短");
        assert_eq!(shortened_error(&"长".repeat(300)).chars().count(), SUBSCRIBER_ERROR_MAX_CHARS);
    }
}
