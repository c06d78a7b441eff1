//! The [`Locks`] port: a hash per lock, and pub/sub messages to waiters.
//!
//! Reasons and figures: `storage/decisions/0024-locks-and-sessions-in-redis.md`.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::backend::Waiters;
use mallbox_storage::{FencingToken, LockEntry, LockOutcome, LockOwner, Locks, StoreError};

use super::keys::Keys;
use super::link::{Idempotence, Link};
use super::listener::{Listener, Subscriber};
use super::script::{LOCK, RAISE_TOKEN, RENEW_LOCK, UNLOCK};
use crate::spans::millis;

/// Locks in Redis.
pub(super) struct RedisLocks {
    link: Link,
    keys: Keys,
    waiters: Arc<Waiters>,
}

impl RedisLocks {
    /// Creates the port, and subscribes to the names of released locks.
    pub(super) fn new(link: &Link, keys: &Keys) -> Self {
        let waiters = Arc::new(Waiters::default());
        Listener::start(link, keys.freed_locks(), &waiters);
        Self { link: link.clone(), keys: keys.clone(), waiters }
    }
}

/// Wakes waiters on a message. Without messages, waiters poll.
impl Subscriber for Waiters {
    fn received(&self, lock: &str) {
        self.wake_one(lock);
    }

    fn missed(&self) {
        self.wake_all();
    }
}

/// Formats an owner as text.
fn text(owner: LockOwner) -> String {
    format!("{:x}", owner.get())
}

#[async_trait]
impl Locks for RedisLocks {
    async fn enter(&self, name: &str, entry: LockEntry, lease: Duration) -> Result<LockOutcome, StoreError> {
        const OP: &str = "locks.enter";
        let call = LOCK.on(self.keys.lock(name)).arg(text(entry.owner)).arg(entry.number).arg(millis(lease));
        let (token, left): (Option<u64>, Option<u64>) = self.link.run(OP, Idempotence::Safe, call).await?;
        Ok(match token {
            Some(token) => LockOutcome::Held(FencingToken::new(token)),
            None => LockOutcome::Busy { left: Duration::from_millis(left.unwrap_or(0)) },
        })
    }

    async fn renew(&self, name: &str, owner: LockOwner, lease: Duration) -> Result<bool, StoreError> {
        let [lock, _] = self.keys.lock(name);
        let call = RENEW_LOCK.on([lock]).arg(text(owner)).arg(millis(lease));
        self.link.run("locks.renew", Idempotence::Safe, call).await
    }

    async fn leave(&self, name: &str, entry: LockEntry) -> Result<bool, StoreError> {
        let [lock, _] = self.keys.lock(name);
        let call = UNLOCK.on([lock]).arg(text(entry.owner)).arg(entry.number);
        self.link.run("locks.leave", Idempotence::Safe, call.arg(self.keys.freed_locks()).arg(name)).await
    }

    async fn raise(&self, name: &str, above: FencingToken) -> Result<(), StoreError> {
        let [_, token] = self.keys.lock(name);
        let call = RAISE_TOKEN.on([token]).arg(above.get());
        self.link.run("locks.raise", Idempotence::Safe, call).await.map(|_: u64| ())
    }

    fn are_shared(&self) -> bool {
        true
    }

    fn waiters(&self) -> &Waiters {
        &self.waiters
    }
}
