//! The ports below every area: memory, and for sequences and the retry queue the database.

use std::sync::Arc;

use mallbox_storage::{BasePorts, Sequences};

use crate::cache::EmbeddedCache;
use crate::event_streams::NoEventStreams;
use crate::locks::EmbeddedLocks;
use crate::rate_limits::EmbeddedRateLimits;
use crate::sqlite::{
    Database, EmbeddedEventSubscribers, EmbeddedEvents, EmbeddedRetryTasks, EmbeddedSequences,
};
use crate::upkeep::EmbeddedUpkeep;

/// Creates the ports with a cache of up to `cache_bytes` bytes. `rate_limits` are those that `upkeep` sweeps.
pub(crate) fn ports(
    database: &Database,
    cache_bytes: u64,
    rate_limits: Arc<EmbeddedRateLimits>,
    upkeep: EmbeddedUpkeep,
) -> BasePorts {
    let sequences: Arc<dyn Sequences> = Arc::new(EmbeddedSequences::new(database.clone()));
    BasePorts {
        cache: Arc::new(EmbeddedCache::new(cache_bytes)),
        locks: Arc::new(EmbeddedLocks::new(Arc::clone(&sequences))),
        rate_limits,
        retry_tasks: Arc::new(EmbeddedRetryTasks::new(database.clone())),
        sequences,
        events: Arc::new(EmbeddedEvents::new(database.clone())),
        event_subscribers: Arc::new(EmbeddedEventSubscribers::new(database.clone())),
        event_streams: Arc::new(NoEventStreams),
        upkeep: Arc::new(upkeep),
    }
}
