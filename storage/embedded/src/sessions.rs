//! The [`Sessions`] port: maps in memory, every change in the journal.

use std::collections::HashMap;
use std::hash::RandomState;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::backend::SESSIONS_PER_USER_MAX;
use mallbox_storage::{
    LiveSession, NewSession, SessionRecord, Sessions, StoreError, Timestamp, TokenHash, UserId,
};
use parking_lot::Mutex;

use super::journal::{Change, Journal, durable};
use super::session_codec;
use super::session_index::{SessionIndex, Tokens, room_of_shard};
use super::session_state::Session;

const SHARDS: usize = 64;

/// Sessions.
pub(crate) struct EmbeddedSessions {
    journal: Arc<Journal>,
    sessions: Box<[Mutex<HashMap<TokenHash, Session, RandomState>>]>,
    index: SessionIndex,
}

impl EmbeddedSessions {
    /// Loads all sessions from the journal's entries.
    pub(crate) fn load(journal: Arc<Journal>, entries: Vec<(Vec<u8>, Vec<u8>)>) -> Result<Self, String> {
        let room = room_of_shard(entries.len(), SHARDS);
        let map = || Mutex::new(HashMap::with_capacity_and_hasher(room, RandomState::new()));
        let sessions = Self {
            journal,
            sessions: (0..SHARDS).map(|_| map()).collect(),
            index: SessionIndex::with_capacity(entries.len()),
        };
        for (key, value) in entries {
            let (token, session) = session_codec::decode(&key, &value)?;
            sessions.index.lock(session.user).entry(session.user).or_default().push(token);
            sessions.shard(token).lock().insert(token, session);
        }
        Ok(sessions)
    }

    fn shard(&self, token: TokenHash) -> &Mutex<HashMap<TokenHash, Session, RandomState>> {
        // A token is a hash already.
        &self.sessions[usize::from(token.0[0]) % SHARDS]
    }

    fn is_of(&self, token: TokenHash, user: UserId) -> bool {
        self.shard(token).lock().get(&token).is_some_and(|session| session.user == user)
    }

    /// Ends a session if the token still belongs to this user. Returns whether the session was ended. The
    /// journal's next commit makes the end durable.
    fn remove(&self, token: TokenHash, user: UserId) -> bool {
        let mut shard = self.shard(token).lock();
        let is_of_user = shard.get(&token).is_some_and(|session| session.user == user);
        if is_of_user {
            shard.remove(&token);
            self.journal.change_lazily(removal(token));
        }
        is_of_user
    }

    /// Ends sessions of a user until there is room for one more: expired sessions that no sweep has met yet,
    /// then the oldest. Drops tokens without a session.
    fn make_room(&self, tokens: &mut Tokens, user: UserId, now: Timestamp) {
        tokens.retain(|token| self.is_of(*token, user));
        while tokens.len() >= SESSIONS_PER_USER_MAX {
            let rank = |token: &TokenHash| {
                let shard = self.shard(*token).lock();
                shard.get(token).map(|session| (now < session.expires, session.live().created))
            };
            let first = (0..tokens.len()).min_by_key(|at| rank(&tokens[*at])).unwrap_or(0);
            self.remove(tokens.remove(first), user);
        }
    }

    async fn end_sessions(
        &self,
        op: &'static str,
        user: UserId,
        kept: Option<TokenHash>,
    ) -> Result<u64, StoreError> {
        self.journal.ready(op)?;
        let mut ended = 0;
        {
            let mut users = self.index.lock(user);
            if let Some(tokens) = users.get_mut(&user) {
                tokens.retain(|token| {
                    let stays = kept == Some(*token);
                    ended += u64::from(!stays && self.remove(*token, user));
                    stays
                });
                if tokens.is_empty() {
                    users.remove(&user);
                }
            }
        }
        durable(op, self.journal.barrier()).await?;
        Ok(ended)
    }

    /// Removes expired sessions from memory and disk, and shortens sessions prolonged by a wrong
    /// clock.
    pub(crate) fn sweep(&self, now: Timestamp) {
        let mut expired = Vec::new();
        for shard in &self.sessions {
            shard.lock().retain(|token, session| {
                let live = now < session.expires;
                if !live {
                    self.journal.change_lazily(removal(*token));
                    expired.push((session.user, *token));
                } else if session.cut(now) {
                    session.set_written();
                    self.journal.change_lazily(session_codec::session_change(*token, session));
                }
                live
            });
        }
        for (user, token) in expired {
            self.index.remove_unless(user, token, || self.is_of(token, user));
        }
    }
}

#[async_trait]
impl Sessions for EmbeddedSessions {
    async fn begin(&self, token: TokenHash, session: &NewSession, now: Timestamp) -> Result<(), StoreError> {
        const OP: &str = "sessions.begin";
        self.journal.ready(OP)?;
        let written = {
            let mut users = self.index.lock(session.user);
            let tokens = users.entry(session.user).or_default();
            tokens.retain(|other| *other != token);
            self.make_room(tokens, session.user, now);
            tokens.push(token);
            let session = Session::new(session, now);
            let change = session_codec::session_change(token, &session);
            let mut shard = self.shard(token).lock();
            shard.insert(token, session);
            self.journal.change([change])
        };
        durable(OP, written).await
    }

    async fn find(
        &self,
        token: TokenHash,
        ttl: Duration,
        now: Timestamp,
    ) -> Result<Option<LiveSession>, StoreError> {
        let mut shard = self.shard(token).lock();
        let Some(session) = shard.get_mut(&token).filter(|session| now < session.expires) else {
            return Ok(None);
        };
        if !ttl.is_zero() {
            session.slide(ttl, now);
        }
        if session.is_unwritten() {
            session.set_written();
            self.journal.change_lazily(session_codec::session_change(token, session));
        }
        Ok(Some(session.live()))
    }

    async fn list(&self, user: UserId, now: Timestamp) -> Result<Vec<SessionRecord>, StoreError> {
        let record = |token: TokenHash| {
            let shard = self.shard(token).lock();
            let session =
                shard.get(&token).filter(|session| session.user == user && now < session.expires)?;
            Some(session.record(token))
        };
        let mut records: Vec<SessionRecord> =
            self.index.tokens(user).into_iter().filter_map(record).collect();
        SessionRecord::sort(&mut records);
        Ok(records)
    }

    async fn end(&self, token: TokenHash) -> Result<(), StoreError> {
        const OP: &str = "sessions.end";
        self.journal.ready(OP)?;
        let (user, written) = {
            let mut shard = self.shard(token).lock();
            let Some(session) = shard.remove(&token) else { return Ok(()) };
            (session.user, self.journal.change([removal(token)]))
        };
        self.index.remove_unless(user, token, || self.is_of(token, user));
        durable(OP, written).await
    }

    async fn end_all(&self, user: UserId) -> Result<u64, StoreError> {
        self.end_sessions("sessions.end_all", user, None).await
    }

    async fn end_others(&self, user: UserId, kept: TokenHash) -> Result<u64, StoreError> {
        self.end_sessions("sessions.end_others", user, Some(kept)).await
    }
}

fn removal(token: TokenHash) -> Change {
    Change { key: session_codec::session_key(token), value: None }
}
