//! Writing of events in the transactions of their changes.

use std::sync::atomic::{AtomicU64, Ordering};

use mallbox_storage::Timestamp;
use mallbox_storage::backend::{NewEvent, Numbered as _};
use mysql_async::{Conn, Value};

use super::errors::MysqlError;
use super::multi_row;

/// Whether there is a subscriber of events, as far as this process knows: a count of the process's own
/// subscriptions, doubled, plus 1 if there is a subscriber.
#[derive(Default)]
pub(super) struct KnownSubscribers(AtomicU64);

/// State of [`KnownSubscribers`] before the rows were read.
#[derive(Clone, Copy)]
pub(super) struct BeforeReading(u64);

impl KnownSubscribers {
    /// Returns whether transactions that begin now write events.
    pub(super) fn switch(&self) -> EventSwitch {
        EventSwitch(self.0.load(Ordering::Acquire) & 1 == 1)
    }

    /// Records a subscription of this process, just committed.
    pub(super) fn subscribed(&self) {
        // Never fails: the closure always returns a value.
        let _ = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, |known| Some((known | 1) + 2));
    }

    /// Call before the rows are read.
    pub(super) fn before_reading(&self) -> BeforeReading {
        BeforeReading(self.0.load(Ordering::Acquire))
    }

    /// Records what the rows said, unless this process subscribed meanwhile.
    pub(super) fn read(&self, BeforeReading(before): BeforeReading, are_any: bool) {
        let now = before & !1 | u64::from(are_any);
        let _ = self.0.compare_exchange(before, now, Ordering::AcqRel, Ordering::Acquire);
    }
}

/// Whether a transaction writes events, as known to this process when the transaction began: so that without
/// subscribers no statement is spent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct EventSwitch(pub(super) bool);

impl EventSwitch {
    /// Writes the events of a change in the caller's transaction. `events` is called only if there is a
    /// subscriber. Locks nothing that another transaction waits for.
    pub(super) async fn write<E: IntoIterator<Item = NewEvent>>(
        self,
        conn: &mut Conn,
        now: Timestamp,
        events: impl FnOnce() -> E,
    ) -> Result<(), MysqlError> {
        let Self(is_on) = self;
        if !is_on {
            return Ok(());
        }
        let row = |NewEvent { kind, subject, body, due }| -> [Value; 5] {
            let due = due.map_or(0, Timestamp::as_millis);
            [due.into(), kind.number().into(), subject.into(), body.into(), now.as_millis().into()]
        };
        let rows: Vec<[Value; 5]> = events().into_iter().map(row).collect();
        let head = "INSERT INTO event_outbox (due_ms, kind, subject_id, body, at_ms)";
        multi_row::insert(conn, head, "(?, ?, ?, ?, ?)", &rows).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_from_before_a_subscription_switches_nothing_off() {
        let known = KnownSubscribers::default();
        assert_eq!(known.switch(), EventSwitch(false));
        let before = known.before_reading();
        known.subscribed();
        known.read(before, false);
        assert_eq!(known.switch(), EventSwitch(true));
        known.read(known.before_reading(), false);
        assert_eq!(known.switch(), EventSwitch(false));
        known.read(known.before_reading(), true);
        known.subscribed();
        assert_eq!(known.switch(), EventSwitch(true));
    }
}
