//! An event as subscribers receive it.

use mallbox_storage::StoredEvent;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::mall::base::wall_time;

/// An event.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct EventEnvelope {
    /// Unique for ever, and equal however often the event is delivered.
    #[schemars(example = &"1042-9f86d081884c7d65")]
    pub id: String,
    /// Place among all events, from 1 without gaps.
    #[schemars(example = 1_042)]
    pub position: u64,
    /// What happened.
    #[schemars(example = &"order.paid")]
    pub kind: &'static str,
    /// Events of one key are delivered in the order of their changes.
    #[schemars(example = &"order/662319245210910723")]
    pub key: String,
    /// Time of the change, in UTC.
    #[schemars(example = &"2026-11-21T04:00:00.123Z")]
    pub at: String,
    /// Contents by kind: ids as text, and numbers.
    pub data: Value,
}

impl EventEnvelope {
    /// Describes an event.
    #[must_use]
    pub fn of(event: &StoredEvent) -> Self {
        Self {
            id: event.id(),
            position: event.position,
            kind: event.kind.name(),
            key: event.key(),
            at: wall_time::utc(event.at),
            // Written by the storage, as an object of texts and numbers.
            data: serde_json::from_str(&event.body).unwrap_or_default(),
        }
    }

    /// Returns the event in JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("texts and numbers can always be written as JSON")
    }
}

#[cfg(test)]
mod tests {
    use mallbox_storage::{EventKind, Timestamp};

    use super::*;

    #[test]
    fn an_event_is_described_in_json() {
        let event = StoredEvent {
            position: 12,
            kind: EventKind::OrderPaid,
            subject: 662_319_245_210_910_723,
            body: "{\"orderId\":\"662319245210910723\",\"payValue\":4750}".to_owned(),
            at: Timestamp::from_millis(1_795_262_400_007),
        };
        let json: Value = serde_json::from_str(&EventEnvelope::of(&event).to_json()).unwrap();
        let expected = serde_json::json!({
            "id": event.id(),
            "position": 12,
            "kind": "order.paid",
            "key": "order/662319245210910723",
            "at": "2026-11-21T12:00:00.007Z",
            "data": { "orderId": "662319245210910723", "payValue": 4_750 },
        });
        assert_eq!(json, expected);
    }
}
