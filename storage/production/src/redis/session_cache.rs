//! Copies of sessions in this process, and the news of ended sessions that keeps the copies right.
//!
//! - Whoever ends a session removes it from Redis, then appends its token to a stream. Each instance reads
//!   the stream every [`POLL`], and drops its copies.
//! - Copies count only if the stream was read within [`TRUSTED_FOR`]. So a session ends everywhere within
//!   that time, also on an instance that lost Redis. A copy is at most [`AGE_MAX`] old: instances of a former
//!   version beside this one announce nothing.
//! - Ending all sessions of a user, as a block or a change of the password does, waits until the copies of
//!   other instances no longer count.
//! - Sessions of operators are never copied.
//!
//! Reasons and figures: `storage/decisions/0024-locks-and-sessions-in-redis.md`.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use mallbox_storage::{Role, StoreError, TokenHash, hex};
use parking_lot::Mutex;

use super::keys::Keys;
use super::link::{Idempotence, Link};
use super::script::ENDED_SESSIONS;
use super::session_fields::token_hash;
use super::session_look_up::StoredSession;
use super::trust::{POLL, TRUSTED_FOR, Trust};

/// Greatest age of a copy.
const AGE_MAX: Duration = Duration::from_secs(10);
/// Time for which an ended session may not be copied: longer than any read of a session takes.
const ENDED_KEPT: Duration = Duration::from_secs(10);
/// Number of copies.
const COPIES_MAX: u64 = 100_000;
/// Time without a reading after which an instance counts as gone, in ms of Redis' clock.
const READER_SILENCE_MS: u64 = 2_000;
/// Time for which the stream keeps an entry, in ms of Redis' clock.
const ENTRY_KEPT_MS: u64 = 60_000;

/// The copies of sessions in this process.
pub(super) struct SessionCache {
    link: Link,
    keys: Keys,
    reader: String,
    copies: moka::sync::Cache<TokenHash, StoredSession>,
    /// Sessions that ended a moment ago: a read that began before their end must not bring a copy back.
    ended: Mutex<HashMap<TokenHash, Instant>>,
    /// Incremented when news may have been lost: reads that began before are not kept.
    generation: AtomicU64,
    /// Given by each reading of the stream.
    trust: Trust,
}

impl SessionCache {
    /// Creates an empty cache, and reads the stream of ended sessions in the background until the cache is
    /// dropped.
    pub(super) fn start(link: &Link, keys: &Keys) -> Arc<Self> {
        let copies = moka::sync::Cache::builder().max_capacity(COPIES_MAX).time_to_live(AGE_MAX).build();
        let cache = Arc::new(Self {
            link: link.clone(),
            keys: keys.clone(),
            reader: format!("{:016x}", crate::random::random()),
            copies,
            ended: Mutex::default(),
            generation: AtomicU64::new(0),
            trust: Trust::new(TRUSTED_FOR),
        });
        link.runtime().spawn(follow(Arc::downgrade(&cache)));
        cache
    }

    /// Returns the copy of a session, if it counts.
    pub(super) fn get(&self, token: &TokenHash) -> Option<StoredSession> {
        let is_trusted = self.trust.is_given();
        self.copies.get(token).filter(|_| is_trusted)
    }

    /// Returns the generation, to be read before the session that [`keep`](Self::keep) may keep.
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Keeps a copy of a session just read, unless the session has ended since.
    pub(super) fn keep(&self, token: TokenHash, stored: StoredSession, generation: u64) {
        if stored.session.role == Role::Operator {
            return;
        }
        self.copies.insert(token, stored);
        // An end is noted before the copy is dropped, so that one of both sees the other.
        if self.ended.lock().contains_key(&token) || self.generation() != generation {
            self.copies.invalidate(&token);
        }
    }

    /// Drops all copies, and ignores sessions being read.
    fn clear(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
        self.copies.invalidate_all();
    }

    /// Drops the copy of an ended or replaced session.
    pub(super) fn drop_copy(&self, token: TokenHash) {
        self.ended.lock().insert(token, Instant::now());
        self.copies.invalidate(&token);
    }

    /// Announces ended or replaced sessions to all instances.
    ///
    /// # Errors
    /// Any [`StoreError`]: other instances may serve their copies for [`AGE_MAX`]; call again.
    pub(super) async fn announce(&self, op: &'static str, tokens: &[TokenHash]) -> Result<(), StoreError> {
        tokens.iter().for_each(|token| self.drop_copy(*token));
        let [ended, _] = self.keys.ended_sessions();
        let append = |token: &TokenHash| {
            let mut command = redis::cmd("XADD");
            command.arg(&ended).arg("*").arg("t").arg(hex(&token.0));
            command
        };
        let commands: Vec<redis::Cmd> = tokens.iter().map(append).collect();
        self.link.query_all::<String>(op, &commands).await.map(drop)
    }

    /// Waits until no other instance serves a copy of a session announced before.
    ///
    /// # Errors
    /// Any [`StoreError`]: other instances may serve their copies for [`TRUSTED_FOR`].
    pub(super) async fn until_dropped(&self, op: &'static str) -> Result<(), StoreError> {
        let [_, readers] = self.keys.ended_sessions();
        let mut command = redis::cmd("ZRANGE");
        command.arg(readers).arg(0).arg(-1);
        let readers: Vec<String> = self.link.query(op, Idempotence::Safe, &command).await?;
        if readers.iter().any(|reader| *reader != self.reader) {
            tokio::time::sleep(TRUSTED_FOR).await;
        }
        Ok(())
    }

    /// Reads the stream after the entry `last`, `""` at first, and drops copies. Returns the last entry.
    async fn read(&self, last: &str) -> Result<String, StoreError> {
        const OP: &str = "sessions.ended";
        let began = Instant::now();
        let call = ENDED_SESSIONS.on(self.keys.ended_sessions()).arg(last).arg(&self.reader);
        let call = call.arg(READER_SILENCE_MS).arg(ENTRY_KEPT_MS);
        let mut answer: Vec<String> = self.link.run(OP, Idempotence::Safe, call).await?;
        if answer.is_empty() {
            return Err(StoreError::Corrupt { op: OP, key: "the ended sessions".to_owned() });
        }
        for token in answer.split_off(1) {
            if let Some(token) = token_hash(&token) {
                self.drop_copy(token);
            }
        }
        if last.is_empty() {
            // Of the news before the first reading, nothing is known.
            self.clear();
        }
        self.ended.lock().retain(|_, at| at.elapsed() < ENDED_KEPT);
        self.trust.give(began);
        Ok(answer.remove(0))
    }
}

/// Follows the stream of ended sessions.
async fn follow(cache: Weak<SessionCache>) {
    let (mut last, mut servers_met) = (String::new(), None);
    let mut read_at = Instant::now();
    while let Some(cache) = cache.upgrade() {
        let met = cache.link.servers_met();
        // Another server, or a long pause: news may be lost.
        if servers_met.replace(met) != Some(met)
            || read_at.elapsed() > Duration::from_millis(ENTRY_KEPT_MS / 2)
        {
            cache.trust.withdraw();
            last.clear();
        }
        let began = Instant::now();
        match cache.read(&last).await {
            Ok(newest) => (last, read_at) = (newest, began),
            Err(error) => tracing::debug!(%error, "could not read the ended sessions; copies do not count"),
        }
        drop(cache);
        tokio::time::sleep(POLL).await;
    }
}
