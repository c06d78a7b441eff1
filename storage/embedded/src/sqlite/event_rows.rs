//! Writing of events in the transactions of their changes.

use mallbox_storage::Timestamp;
use mallbox_storage::backend::{NewEvent, Numbered as _};
use rusqlite::{Connection, params};

use super::columns::id;

/// Writes the events of a change in the caller's transaction. `events` is called only if there is a
/// subscriber.
pub(super) fn write<E: IntoIterator<Item = NewEvent>>(
    conn: &Connection,
    now: Timestamp,
    events: impl FnOnce() -> E,
) -> rusqlite::Result<()> {
    if !are_wanted(conn)? {
        return Ok(());
    }
    let mut insert = conn.prepare_cached(
        "INSERT INTO event_outbox (due_ms, kind, subject_id, body, at_ms) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for NewEvent { kind, subject, body, due } in events() {
        let due = due.map_or(0, Timestamp::as_millis);
        insert.execute(params![due, kind.number(), id(subject), body, now.as_millis()])?;
    }
    Ok(())
}

/// Returns whether there is a subscriber. Reads one page, which the connection keeps.
fn are_wanted(conn: &Connection) -> rusqlite::Result<bool> {
    conn.prepare_cached("SELECT 1 FROM event_subscribers LIMIT 1")?.exists([])
}
