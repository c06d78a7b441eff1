//! The [`EventStreams`] port: a stream per subscriber, with positions as ids.

use async_trait::async_trait;
use mallbox_storage::{EventStreams, STREAM_MAX_EVENTS, StoreError, StoredEvent};

use super::keys::Keys;
use super::link::{Idempotence, Link};
use super::script::APPEND_EVENTS;

/// Events per script call: some milliseconds, in which Redis serves nobody else.
const BATCH_MAX: usize = 100;

/// Streams of events in Redis.
pub(super) struct RedisEventStreams {
    pub(super) link: Link,
    pub(super) keys: Keys,
}

#[async_trait]
impl EventStreams for RedisEventStreams {
    fn are_supported(&self) -> bool {
        true
    }

    async fn append(&self, name: &str, events: &[StoredEvent]) -> Result<(), StoreError> {
        for events in events.chunks(BATCH_MAX) {
            let call = APPEND_EVENTS.on([self.keys.event_stream(name)]).arg(STREAM_MAX_EVENTS);
            let call = events.iter().fold(call, |call, event| {
                let call = call.arg(event.position).arg(event.id()).arg(event.kind.name());
                call.arg(event.key()).arg(event.at.as_millis()).arg(&event.body)
            });
            self.link.run::<u64>("event_streams.append", Idempotence::Safe, call).await?;
        }
        Ok(())
    }

    async fn remove(&self, name: &str) -> Result<(), StoreError> {
        let mut unlink = redis::cmd("UNLINK");
        unlink.arg(self.keys.event_stream(name));
        self.link.query::<u64>("event_streams.remove", Idempotence::Safe, &unlink).await.map(drop)
    }
}
