//! The [`Locks`] port in memory: all holders of a lock end with the process.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::backend::Waiters;
use mallbox_storage::{FencingToken, LockEntry, LockOutcome, LockOwner, Locks, Sequences, StoreError};
use parking_lot::Mutex;
use tokio::sync::OnceCell;
use tokio::time::Instant;

/// Sequence of starts, drawn at the first use of locks after a start. Guarded resources may outlive the
/// process, so fencing tokens must keep rising across restarts.
const START_SEQUENCE: &str = "lock";

/// Locks in memory.
pub(crate) struct EmbeddedLocks {
    sequences: Arc<dyn Sequences>,
    /// Number of the start, in the upper half of each token.
    start: OnceCell<u64>,
    state: Mutex<LockState>,
    waiters: Waiters,
}

#[derive(Default)]
struct LockState {
    held: HashMap<String, HeldLock>,
    /// The last token issued since the start.
    last: u64,
}

struct HeldLock {
    owner: LockOwner,
    token: FencingToken,
    entries: BTreeSet<u64>,
    until: Instant,
}

impl EmbeddedLocks {
    pub(crate) fn new(sequences: Arc<dyn Sequences>) -> Self {
        Self { sequences, start: OnceCell::new(), state: Mutex::default(), waiters: Waiters::default() }
    }

    /// Returns the number of the start. While a full disk prevents its reservation, returns the highest
    /// number that an earlier start may have reserved: above all used numbers, since a start uses one of
    /// thousands, and below the start's own.
    async fn start(&self) -> Result<u64, StoreError> {
        match self.start.get_or_try_init(|| self.sequences.next(START_SEQUENCE, 0)).await {
            Ok(start) => Ok(*start),
            Err(StoreError::Full { .. }) => {
                Ok(self.sequences.high_water(START_SEQUENCE, 0).await?.unwrap_or(0))
            }
            Err(error) => Err(error),
        }
    }
}

#[async_trait]
impl Locks for EmbeddedLocks {
    async fn enter(&self, name: &str, entry: LockEntry, lease: Duration) -> Result<LockOutcome, StoreError> {
        let start = self.start().await?;
        let now = Instant::now();
        let mut state = self.state.lock();
        if let Some(held) = state.held.get_mut(name).filter(|held| now < held.until) {
            if held.owner != entry.owner {
                return Ok(LockOutcome::Busy { left: held.until - now });
            }
            held.entries.insert(entry.number);
            held.until = held.until.max(now + lease);
            return Ok(LockOutcome::Held(held.token));
        }
        // Tokens start at 1: 0 stands for no token seen yet.
        state.last = (start << 32).max(state.last).saturating_add(1);
        let token = FencingToken::new(state.last);
        let (entries, until) = (BTreeSet::from([entry.number]), now + lease);
        state.held.insert(name.to_owned(), HeldLock { owner: entry.owner, token, entries, until });
        Ok(LockOutcome::Held(token))
    }

    async fn renew(&self, name: &str, owner: LockOwner, lease: Duration) -> Result<bool, StoreError> {
        let now = Instant::now();
        let mut state = self.state.lock();
        let held = state.held.get_mut(name).filter(|held| held.owner == owner && now < held.until);
        Ok(held.map(|held| held.until = held.until.max(now + lease)).is_some())
    }

    async fn leave(&self, name: &str, entry: LockEntry) -> Result<bool, StoreError> {
        let is_free = {
            let mut state = self.state.lock();
            let held = state.held.get_mut(name).filter(|held| held.owner == entry.owner);
            let Some(held) = held.filter(|held| Instant::now() < held.until) else { return Ok(false) };
            if !held.entries.remove(&entry.number) {
                return Ok(false);
            }
            let is_free = held.entries.is_empty();
            if is_free {
                state.held.remove(name);
            }
            is_free
        };
        if is_free {
            self.waiters.wake_one(name);
        }
        Ok(true)
    }

    async fn raise(&self, _: &str, above: FencingToken) -> Result<(), StoreError> {
        let mut state = self.state.lock();
        state.last = state.last.max(above.get());
        Ok(())
    }

    fn are_shared(&self) -> bool {
        false
    }

    fn waiters(&self) -> &Waiters {
        &self.waiters
    }
}
