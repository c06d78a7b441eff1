//! The [`EventStreams`] port: a directory has no shared server, and so no streams.

use async_trait::async_trait;
use mallbox_storage::{EventStreams, StoreError, StoredEvent};

pub(crate) struct NoEventStreams;

#[async_trait]
impl EventStreams for NoEventStreams {
    fn are_supported(&self) -> bool {
        false
    }

    async fn append(&self, _: &str, _: &[StoredEvent]) -> Result<(), StoreError> {
        let source = "a mall in a directory has no streams of events".into();
        Err(StoreError::Refused { op: "append events", source })
    }

    async fn remove(&self, _: &str) -> Result<(), StoreError> {
        Ok(())
    }
}
