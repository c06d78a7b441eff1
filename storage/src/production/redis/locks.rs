//! The [`Locks`] port: a hash a lock, and messages to those who wait.

use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt as _;

use super::keys::Keys;
use super::link::{Link, Repeat};
use super::millis;
use super::script::{LOCK, RENEW_LOCK, UNLOCK};
use crate::locks::Waiters;
use crate::{FencingToken, LockAnswer, LockEntry, LockOwner, Locks, StoreError};

/// How long the listener rests after it lost its connection, or did not get one.
const REST: Duration = Duration::from_millis(250);

/// Locks in Redis.
pub(super) struct RedisLocks {
    link: Link,
    keys: Keys,
    waiters: Waiters,
    /// While it is there, the listener listens.
    _in_use: Arc<()>,
}

impl RedisLocks {
    /// Locks, and a listener of its own connection for what is said about them.
    pub(super) fn new(link: &Link, keys: &Keys) -> Self {
        let (waiters, in_use) = (Waiters::default(), Arc::new(()));
        let listener = Listener {
            link: link.clone(),
            channel: keys.freed_locks(),
            waiters: waiters.clone(),
            in_use: Arc::downgrade(&in_use),
        };
        link.runtime().spawn(listener.run());
        Self { link: link.clone(), keys: keys.clone(), waiters, _in_use: in_use }
    }
}

/// An owner as text.
fn text(owner: LockOwner) -> String {
    format!("{:x}", owner.get())
}

#[async_trait]
impl Locks for RedisLocks {
    async fn enter(&self, name: &str, entry: LockEntry, lease: Duration) -> Result<LockAnswer, StoreError> {
        const OP: &str = "locks.enter";
        let call = LOCK.on(self.keys.lock(name)).arg(text(entry.owner)).arg(entry.number).arg(millis(lease));
        let (token, left): (Option<u64>, Option<u64>) = self.link.run(OP, Repeat::Safe, call).await?;
        Ok(match token {
            Some(token) => LockAnswer::Held(FencingToken::new(token)),
            None => LockAnswer::Busy { left: Duration::from_millis(left.unwrap_or(0)) },
        })
    }

    async fn renew(&self, name: &str, owner: LockOwner, lease: Duration) -> Result<bool, StoreError> {
        let [lock, _] = self.keys.lock(name);
        let call = RENEW_LOCK.on([lock]).arg(text(owner)).arg(millis(lease));
        self.link.run("locks.renew", Repeat::Safe, call).await
    }

    async fn leave(&self, name: &str, entry: LockEntry) -> Result<bool, StoreError> {
        let [lock, _] = self.keys.lock(name);
        let call = UNLOCK.on([lock]).arg(text(entry.owner)).arg(entry.number);
        self.link.run("locks.leave", Repeat::Safe, call.arg(self.keys.freed_locks()).arg(name)).await
    }

    fn are_shared(&self) -> bool {
        true
    }

    fn waiters(&self) -> &Waiters {
        &self.waiters
    }
}

/// Hears which locks were freed, on a connection of its own: one that subscribes can be used for nothing else, and one node
/// of a cluster passes on what is said to any other.
struct Listener {
    link: Link,
    channel: String,
    waiters: Waiters,
    in_use: Weak<()>,
}

impl Listener {
    async fn run(self) {
        while self.in_use.strong_count() > 0 {
            if let Err(error) = self.listen().await {
                tracing::debug!(%error, "nobody says which locks are freed; those who wait look for themselves");
            }
            // What was said meanwhile is lost.
            self.waiters.tell_all();
            tokio::time::sleep(REST).await;
        }
    }

    async fn listen(&self) -> Result<(), redis::RedisError> {
        /// How often it looks whether it is still wanted.
        const LOOK_EVERY: Duration = Duration::from_secs(1);
        let mut connection = self.link.address().listener().await?;
        connection.subscribe(&self.channel).await?;
        let mut said = connection.on_message();
        while self.in_use.strong_count() > 0 {
            match tokio::time::timeout(LOOK_EVERY, said.next()).await {
                Ok(Some(message)) => self.waiters.tell_one(&message.get_payload::<String>()?),
                Ok(None) => return Ok(()),
                Err(_) => {}
            }
        }
        Ok(())
    }
}
