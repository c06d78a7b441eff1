//! The [`Sessions`] port: sessions are stored by token, with an index of each user's tokens.
//!
//! A session and its user's index are in different slots, so no script covers both. The order of the steps
//! keeps both consistent:
//!
//! - Beginning and extending a session first add the token to the index, with a TTL at least as long, and
//!   then write the session. So every session is indexed, and [`end_all`](Sessions::end_all) finds it. An
//!   index entry without a session does no harm.
//! - Index entries are removed only after a session was ended, or long after the entry was made. Otherwise
//!   the entry of a session that is just beginning could vanish before the session is written.
//! - Ending and extending check that the session still belongs to the user. An ended session stays ended, and
//!   a token that another user has by now is left alone.
//!
//! Reasons and figures: `storage/decisions/0024-locks-and-sessions-in-redis.md`.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::backend::{EXTENSION_STEP, SESSIONS_PER_USER_MAX};
use mallbox_storage::{
    LiveSession, NewSession, SessionRecord, Sessions, StoreError, Timestamp, TokenHash, UserId, hex,
};

use super::keys::Keys;
use super::link::{Idempotence, Link};
use super::script::{BEGIN_SESSION, Call, END_SESSION, EXTEND_SESSION, INDEX_SESSION};
use super::session_cache::SessionCache;
use super::session_fields::{self, RECORD_FIELDS};
use super::session_look_up::LookUp;
use crate::spans::{EXPIRY_GRACE, millis};

/// Number of index entries beyond which the beginning of a session prunes the oldest entries, and counts the
/// user's sessions.
const TOKENS_UNPRUNED_MAX: u64 = 16;
/// Sessions ended or read concurrently.
const CALLS_AT_ONCE: usize = 128;

/// Sessions in Redis.
pub(super) struct RedisSessions {
    pub(super) cache: Arc<SessionCache>,
    pub(super) link: Link,
    pub(super) keys: Keys,
}

impl RedisSessions {
    /// Adds a token to the user's index. Returns the number of tokens in the index.
    async fn note(
        &self,
        op: &'static str,
        token: &str,
        user: UserId,
        ttl: Duration,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let call = INDEX_SESSION.on([self.keys.tokens(user)]).arg(token).arg(now.as_millis());
        // The index outlives the session, however slow the step between both writes is.
        let kept = ttl.saturating_add(EXPIRY_GRACE).saturating_add(EXPIRY_GRACE);
        self.link.run(op, Idempotence::Safe, call.arg(millis(kept))).await
    }

    /// Removes the user's oldest index entries without a live session.
    async fn forget_old_tokens(&self, user: UserId, now: Timestamp) -> Result<(), StoreError> {
        const OP: &str = "sessions.begin";
        let key = self.keys.tokens(user);
        let mut oldest = redis::cmd("ZRANGE");
        oldest.arg(&key).arg(0).arg(TOKENS_UNPRUNED_MAX).arg("WITHSCORES");
        let mut oldest: Vec<(String, f64)> = self.link.query(OP, Idempotence::Safe, &oldest).await?;
        #[expect(clippy::cast_precision_loss, reason = "milliseconds of this age are exact")]
        let long_ago = (now - EXPIRY_GRACE).as_millis() as f64;
        oldest.retain(|(_, noted)| *noted < long_ago);
        let commands: Vec<redis::Cmd> = oldest
            .iter()
            .map(|(token, _)| {
                let mut command = redis::cmd("EXISTS");
                command.arg(self.keys.session(token));
                command
            })
            .collect();
        let are_live: Vec<bool> = self.link.query_all(OP, &commands).await?;
        let over = oldest.iter().zip(are_live).filter(|(_, is_live)| !is_live);
        self.forget_tokens(OP, &key, over.map(|((token, _), _)| token)).await
    }

    /// Returns the tokens in the user's index, oldest first.
    async fn indexed(&self, op: &'static str, user: UserId) -> Result<Vec<String>, StoreError> {
        let mut all = redis::cmd("ZRANGE");
        all.arg(self.keys.tokens(user)).arg(0).arg(-1);
        self.link.query(op, Idempotence::Safe, &all).await
    }

    /// Returns the user's live sessions, newest first.
    async fn records(
        &self,
        op: &'static str,
        user: UserId,
        now: Timestamp,
    ) -> Result<Vec<SessionRecord>, StoreError> {
        let mut records = Vec::new();
        for tokens in self.indexed(op, user).await?.chunks(CALLS_AT_ONCE) {
            let read = |token: &String| {
                let mut command = redis::cmd("HMGET");
                command.arg(self.keys.session(token)).arg(&RECORD_FIELDS);
                command
            };
            let commands: Vec<redis::Cmd> = tokens.iter().map(read).collect();
            let rows: Vec<[Option<String>; 9]> = self.link.query_all(op, &commands).await?;
            for (token, row) in tokens.iter().zip(rows) {
                records.extend(session_fields::record(op, token, row, (user, now))?);
            }
        }
        SessionRecord::sort(&mut records);
        Ok(records)
    }

    /// Ends the user's oldest sessions beyond the limit, never the session of `newest`.
    async fn end_oldest(&self, user: UserId, newest: TokenHash, now: Timestamp) -> Result<(), StoreError> {
        const OP: &str = "sessions.begin";
        let mut others = self.records(OP, user, now).await?;
        others.retain(|record| record.token != newest);
        let beyond = others.into_iter().skip(SESSIONS_PER_USER_MAX - 1);
        let beyond: Vec<String> = beyond.map(|record| hex(&record.token.0)).collect();
        self.end_tokens(OP, user, &beyond).await?;
        Ok(())
    }

    /// Ends the sessions of these tokens that belong to the user. Returns their number.
    async fn end_tokens(&self, op: &'static str, user: UserId, tokens: &[String]) -> Result<u64, StoreError> {
        let key = self.keys.tokens(user);
        let mut ended = 0;
        for some in tokens.chunks(CALLS_AT_ONCE) {
            let calls: Vec<Call> =
                some.iter().map(|token| END_SESSION.on([self.keys.session(token)]).arg(user.get())).collect();
            let were_live = self.link.run_all::<bool>(op, Idempotence::Safe, calls).await;
            let were_live = were_live.into_iter().collect::<Result<Vec<_>, _>>()?;
            // Also those that an earlier attempt ended and could not announce.
            let hashes: Vec<TokenHash> =
                some.iter().filter_map(|token| session_fields::token_hash(token)).collect();
            self.cache.announce(op, &hashes).await?;
            ended += were_live.iter().filter(|was_live| **was_live).count() as u64;
            let over = some.iter().zip(were_live).filter(|(_, was_live)| *was_live);
            self.forget_tokens(op, &key, over.map(|(token, _)| token)).await?;
        }
        Ok(ended)
    }

    /// Ends the sessions of these tokens that belong to the user, and waits until no instance serves a copy
    /// of one. Returns their number.
    async fn end_everywhere(
        &self,
        op: &'static str,
        user: UserId,
        tokens: &[String],
    ) -> Result<u64, StoreError> {
        let ended = self.end_tokens(op, user, tokens).await?;
        if ended > 0 {
            self.cache.until_dropped(op).await?;
        }
        Ok(ended)
    }

    async fn forget_tokens<'a>(
        &self,
        op: &'static str,
        key: &str,
        tokens: impl Iterator<Item = &'a String> + Send,
    ) -> Result<(), StoreError> {
        let tokens: Vec<&String> = tokens.collect();
        if tokens.is_empty() {
            return Ok(());
        }
        let mut forget = redis::cmd("ZREM");
        forget.arg(key).arg(&tokens);
        self.link.query(op, Idempotence::Safe, &forget).await
    }
}

#[async_trait]
impl Sessions for RedisSessions {
    async fn begin(&self, token: TokenHash, session: &NewSession, now: Timestamp) -> Result<(), StoreError> {
        const OP: &str = "sessions.begin";
        let (name, user) = (hex(&token.0), session.user);
        let tokens = self.note(OP, &name, user, session.ttl, now).await?;
        if tokens > TOKENS_UNPRUNED_MAX {
            self.forget_old_tokens(user, now).await?;
        }
        let ttl_ms = millis(session.ttl);
        let call = BEGIN_SESSION.on([self.keys.session(&name)]).arg(user.get());
        let call = call.arg(expiry_ms(now, ttl_ms)).arg(ttl_ms);
        let call = call.arg(millis(session.ttl.saturating_add(EXPIRY_GRACE))).arg(now.as_millis());
        let call = call.arg(session_fields::role_name(session.role));
        let call = call.arg(session_fields::origin_name(session.origin));
        let address = session.address.map(|address| address.to_string()).unwrap_or_default();
        let call = call.arg(address).arg(session.short_browser());
        let call = call.arg(session.begun.unwrap_or(now).as_millis());
        let call = call.arg(session_fields::factor_name(session.has_second_factor));
        let replaces: u64 = self.link.run(OP, Idempotence::Safe, call).await?;
        if replaces > 0 {
            self.cache.announce(OP, &[token]).await?;
        }
        // After the session was written, so that of some concurrent calls the last one counts all. The limit
        // is far above this number of tokens: some concurrent calls may be about to write a session.
        if tokens > TOKENS_UNPRUNED_MAX {
            self.end_oldest(user, token, now).await?;
        }
        Ok(())
    }

    async fn find(
        &self,
        token: TokenHash,
        ttl: Duration,
        now: Timestamp,
    ) -> Result<Option<LiveSession>, StoreError> {
        const OP: &str = "sessions.find";
        let (hash, step) = (token, millis(EXTENSION_STEP));
        let copy = self.cache.get(&hash).and_then(|copy| copy.look_up(now, millis(ttl), step));
        if let Some(LookUp { session, extend_by_ms: 0, is_use_new: false }) = copy {
            return Ok(Some(session));
        }
        let (token, generation) = (hex(&hash.0), self.cache.generation());
        let key = self.keys.session(&token);
        // Unlike other reads of hashes, no script calls this command: the bench counts calls by its name.
        let mut read = redis::cmd("HGETALL");
        read.arg(&key);
        let fields: HashMap<String, String> = self.link.query(OP, Idempotence::Safe, &read).await?;
        let Some(stored) = session_fields::stored(OP, fields)? else { return Ok(None) };
        let Some(found) = stored.look_up(now, millis(ttl), step) else { return Ok(None) };
        let LookUp { session, extend_by_ms, is_use_new } = found;
        if extend_by_ms > 0 || is_use_new {
            let ttl = Duration::from_millis(extend_by_ms);
            if extend_by_ms > 0 {
                self.note(OP, &token, session.user, ttl, now).await?;
            }
            let call = EXTEND_SESSION.on([&key]).arg(session.user.get()).arg(now.as_millis());
            let call = call.arg(expiry_ms(now, extend_by_ms)).arg(extend_by_ms).arg(step);
            let call = call.arg(millis(ttl.saturating_add(EXPIRY_GRACE)));
            let _: u64 = self.link.run(OP, Idempotence::Safe, call).await?;
        }
        self.cache.keep(hash, stored.after(&found, now), generation);
        Ok(Some(session))
    }

    async fn list(&self, user: UserId, now: Timestamp) -> Result<Vec<SessionRecord>, StoreError> {
        self.records("sessions.list", user, now).await
    }

    async fn end(&self, token: TokenHash) -> Result<(), StoreError> {
        const OP: &str = "sessions.end";
        let mut command = redis::cmd("UNLINK");
        command.arg(self.keys.session(&hex(&token.0)));
        let _: u64 = self.link.query(OP, Idempotence::Safe, &command).await?;
        self.cache.announce(OP, &[token]).await
    }

    async fn end_all(&self, user: UserId) -> Result<u64, StoreError> {
        const OP: &str = "sessions.end_all";
        let tokens = self.indexed(OP, user).await?;
        self.end_everywhere(OP, user, &tokens).await
    }

    async fn end_others(&self, user: UserId, kept: TokenHash) -> Result<u64, StoreError> {
        const OP: &str = "sessions.end_others";
        let (mut tokens, kept) = (self.indexed(OP, user).await?, hex(&kept.0));
        tokens.retain(|token| *token != kept);
        self.end_everywhere(OP, user, &tokens).await
    }
}

/// Returns the expiry of a session that begins at `now`, in ms.
fn expiry_ms(now: Timestamp, ttl_ms: u64) -> i64 {
    (now + Duration::from_millis(ttl_ms)).as_millis()
}
