//! Events: what happened in the mall, for programs outside.
//!
//! Reasons and figures: `storage/decisions/0030-events.md`.

use async_trait::async_trait;

use crate::event_kinds::EventKind;
use crate::{StoreError, Timestamp};

/// An event with its place among all events.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredEvent {
    /// Place among all events, from 1 without gaps.
    pub position: u64,
    /// What happened.
    pub kind: EventKind,
    /// Id of the order, note, review or voucher.
    pub subject: u64,
    /// A JSON object: ids as text, and numbers.
    pub body: String,
    /// Time of the change, by the clock of the instance that made the change.
    pub at: Timestamp,
}

impl StoredEvent {
    /// Returns the id: unique for ever, and equal however often the event is delivered. The position alone
    /// would come again, for another event, in a mall restored from a copy.
    #[must_use]
    pub fn id(&self) -> String {
        let content = format!("{} {} {} {}", self.kind.name(), self.subject, self.at.as_millis(), self.body);
        format!("{}-{:016x}", self.position, first_bytes_of_sha256(content.as_bytes()))
    }

    /// Returns the key: events of one key are delivered in the order of their changes.
    #[must_use]
    pub fn key(&self) -> String {
        format!("{}/{}", self.kind.subject_name(), self.subject)
    }
}

fn first_bytes_of_sha256(content: &[u8]) -> u64 {
    use sha2::Digest as _;
    let hash = sha2::Sha256::digest(content);
    hash.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Both ends of the stored events.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EventEnds {
    /// Position of the newest event; 0 if there never was one.
    pub head: u64,
    /// Position of the newest event that [`Events::prune`] removed; 0 without one.
    pub pruned: u64,
}

/// A page of events.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct EventPage {
    /// The events, by position without gaps.
    pub events: Vec<StoredEvent>,
    /// Number of events behind the requested position that were pruned, and are missing from the page.
    pub lost: u64,
    /// Both ends of the stored events. The page may reach beyond `head` by what was numbered meanwhile.
    pub ends: EventEnds,
}

impl EventPage {
    /// Makes the page behind `position`. `ends` must have been read after `events`.
    #[must_use]
    pub fn new(position: u64, events: Vec<StoredEvent>, ends: EventEnds) -> Self {
        let first_kept = events.first().map_or(ends.pruned, |event| event.position.saturating_sub(1));
        Self { events, lost: first_kept.saturating_sub(position), ends }
    }
}

/// Counts of events.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EventCounts {
    /// Both ends of the stored events.
    pub ends: EventEnds,
    /// Events without a position that are to get one at once.
    pub waiting: u64,
}

/// Longest page of [`Events::after`], and most events of one [`Events::number`].
pub const EVENTS_MAX: u32 = 500;

/// Events of the mall.
///
/// - An event is written in the transaction of the change, by the port that makes the change, and only while
///   there is a subscriber ([`EventSubscribers`](crate::EventSubscribers)). A change that is not committed
///   leaves no event. Imports write none.
/// - A written event has no position, and nobody sees it. [`number`](Events::number) gives positions, from 1
///   without gaps, in the order of the changes of each key. A transaction that commits late therefore never
///   inserts an event behind a reader.
/// - A delayed event gets its position at an instant, if still true then: [`EventKind::PaymentDue`] only for
///   an order that is still unpaid. Otherwise it vanishes.
/// - An event with a position never changes, until [`prune`](Events::prune) removes it.
#[async_trait]
pub trait Events: Send + Sync {
    /// Gives positions to up to `max` events: first to those due at once, and then to delayed ones that are
    /// due `now`. Returns the number of events settled, including delayed ones that are no longer true.
    /// Concurrent calls run one after the other.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn number(&self, max: u32, now: Timestamp) -> Result<u64, StoreError>;

    /// Returns up to `max` events behind `position`, and at most [`EVENTS_MAX`]. Whoever has seen a position
    /// has seen all events before.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn after(&self, position: u64, max: u32) -> Result<EventPage, StoreError>;

    /// Removes the oldest events, as far as they are of before `before`: up to `max` of them. Returns their
    /// number. The newest event's position is never used again.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn prune(&self, before: Timestamp, max: u32) -> Result<u64, StoreError>;

    /// Counts the events.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn counts(&self) -> Result<EventCounts, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(position: u64) -> StoredEvent {
        StoredEvent {
            position,
            kind: EventKind::OrderPaid,
            subject: 7,
            body: "{}".to_owned(),
            at: Timestamp::from_millis(5),
        }
    }

    #[test]
    fn an_id_depends_on_position_and_contents() {
        let one = event(3);
        assert_eq!(one.id(), event(3).id());
        assert_eq!(one.key(), "order/7");
        assert!(one.id().starts_with("3-") && one.id().len() == 18, "{}", one.id());
        for other in [
            event(4),
            StoredEvent { kind: EventKind::OrderUsed, ..event(3) },
            StoredEvent { subject: 8, ..event(3) },
            StoredEvent { body: "{ }".to_owned(), ..event(3) },
            StoredEvent { at: Timestamp::from_millis(6), ..event(3) },
        ] {
            assert_ne!(one.id(), other.id());
        }
    }

    #[test]
    fn a_page_counts_what_was_pruned_before_it() {
        for (position, events, pruned, lost) in [
            (0, vec![event(1)], 0, 0),
            (3, vec![event(4), event(5)], 2, 0),
            (3, vec![event(9)], 8, 5),
            (3, vec![], 3, 0),
            (3, vec![], 8, 5),
            (9, vec![], 8, 0),
        ] {
            let ends = EventEnds { head: 9, pruned };
            assert_eq!(EventPage::new(position, events, ends).lost, lost, "{position} {pruned}");
        }
    }
}
