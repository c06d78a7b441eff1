//! Streams of events for programs beside the mall.
//!
//! Reasons and figures: `storage/decisions/0030-events.md`.

use async_trait::async_trait;

use crate::{StoreError, StoredEvent};

/// Number of newest events that a stream keeps, or a few more.
pub const STREAM_MAX_EVENTS: u64 = 100_000;

/// Streams of events on the mall's shared server.
///
/// - An entry of a stream has the fields `id`, `kind`, `key`, `at` (milliseconds) and `body`. Its id in the
///   stream is the event's position, so a repeated call appends nothing.
/// - A stream keeps the newest [`STREAM_MAX_EVENTS`] events. A server that lost its data begins a new stream.
#[async_trait]
pub trait EventStreams: Send + Sync {
    /// Returns whether the back end has streams.
    fn are_supported(&self) -> bool;

    /// Appends events to the stream `name`, by rising position. Events up to the stream's newest position are
    /// skipped.
    ///
    /// # Errors
    /// [`StoreError::Refused`] without streams. Any other [`StoreError`]: some of the events may be appended;
    /// call again.
    async fn append(&self, name: &str, events: &[StoredEvent]) -> Result<(), StoreError>;

    /// Removes a stream with its events. A missing stream is no error.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn remove(&self, name: &str) -> Result<(), StoreError>;
}
