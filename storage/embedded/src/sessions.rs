//! The [`Sessions`] port: maps in memory, every change in the journal.

use std::collections::HashMap;
use std::hash::RandomState;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::backend::latest_expiry;
use mallbox_storage::{
    CheckOutcome, CodeRules, IssueOutcome, Phone, Sessions, StoreError, Timestamp, TokenHash, UserId,
};
use parking_lot::Mutex;

use super::journal::{Change, Journal, durable};
use super::session_codec::{self, Entry};
use super::session_state::{Code, LiveCode, Session};

const SHARDS: usize = 64;
/// Period of the limit on codes per phone.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Sessions and login codes.
pub(crate) struct EmbeddedSessions {
    journal: Arc<Journal>,
    sessions: Box<[Mutex<HashMap<TokenHash, Session, RandomState>>]>,
    /// One lock: codes are requested far less often than sessions are checked.
    codes: Mutex<HashMap<Phone, Code>>,
}

impl EmbeddedSessions {
    /// Loads all sessions and codes from the journal's entries.
    pub(crate) fn load(journal: Arc<Journal>, entries: &[(Vec<u8>, Vec<u8>)]) -> Result<Self, String> {
        let sessions = Self {
            journal,
            sessions: (0..SHARDS).map(|_| Mutex::default()).collect(),
            codes: Mutex::default(),
        };
        for (key, value) in entries {
            match session_codec::decode(key, value)? {
                Entry::Session(token, session) => drop(sessions.shard(token).lock().insert(token, session)),
                Entry::Code(phone, code) => drop(sessions.codes.lock().insert(phone, code)),
            }
        }
        Ok(sessions)
    }

    fn shard(&self, token: TokenHash) -> &Mutex<HashMap<TokenHash, Session, RandomState>> {
        // A token is a hash already.
        &self.sessions[usize::from(token.0[0]) % SHARDS]
    }

    /// Removes expired sessions and codes from memory and disk, and shortens sessions prolonged by a wrong
    /// clock.
    pub(crate) fn sweep(&self, now: Timestamp) {
        for shard in &self.sessions {
            shard.lock().retain(|token, session| {
                let live = now < session.expires;
                if !live {
                    self.journal
                        .change_lazily(Change { key: session_codec::session_key(*token), value: None });
                } else if session.cut(now) {
                    session.written = session.expires;
                    self.journal.change_lazily(session_codec::session_change(*token, session));
                }
                live
            });
        }
        self.codes.lock().retain(|phone, code| {
            let counts =
                now.since(code.day_began) < DAY || code.live.as_ref().is_some_and(|live| now < live.expires);
            if !counts {
                self.journal.change_lazily(Change { key: session_codec::code_key(phone), value: None });
            }
            counts
        });
    }
}

#[async_trait]
impl Sessions for EmbeddedSessions {
    async fn issue_code(
        &self,
        phone: &Phone,
        code: &str,
        rules: &CodeRules,
        now: Timestamp,
    ) -> Result<IssueOutcome, StoreError> {
        const OP: &str = "sessions.issue_code";
        self.journal.ready(OP)?;
        let written = {
            let mut codes = self.codes.lock();
            let before = codes.get_mut(phone).map(|before| {
                before.set_back(now);
                &*before
            });
            if let Some(refusal) = before.and_then(|before| too_soon(before, rules, now)) {
                return Ok(refusal);
            }
            let same_day = before.filter(|before| now.since(before.day_began) < DAY);
            let fresh = Code {
                live: Some(LiveCode { code: code.to_owned(), expires: now + rules.lives, wrong_tries: 0 }),
                issued: now,
                day_began: same_day.map_or(now, |before| before.day_began),
                issued_that_day: same_day.map_or(0, |before| before.issued_that_day) + 1,
            };
            let written = self.journal.change([session_codec::code_change(phone, &fresh)]);
            codes.insert(phone.clone(), fresh);
            written
        };
        durable(OP, written).await?;
        Ok(IssueOutcome::Issued)
    }

    async fn check_code(
        &self,
        phone: &Phone,
        code: &str,
        rules: &CodeRules,
        now: Timestamp,
    ) -> Result<CheckOutcome, StoreError> {
        const OP: &str = "sessions.check_code";
        self.journal.ready(OP)?;
        let (check, written) = {
            let mut codes = self.codes.lock();
            let Some(known) = codes.get_mut(phone) else { return Ok(CheckOutcome::NoCode) };
            let Some(live) = known
                .live
                .as_mut()
                .filter(|live| now < live.expires && live.expires <= latest_expiry(rules.lives, now))
            else {
                return Ok(CheckOutcome::NoCode);
            };
            let check = if same(live.code.as_bytes(), code.as_bytes()) {
                known.live = None;
                CheckOutcome::Right
            } else {
                live.wrong_tries += 1;
                if live.wrong_tries >= rules.tries {
                    known.live = None;
                }
                CheckOutcome::Wrong
            };
            (check, self.journal.change([session_codec::code_change(phone, known)]))
        };
        durable(OP, written).await?;
        Ok(check)
    }

    async fn begin(
        &self,
        token: TokenHash,
        user: UserId,
        ttl: Duration,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        const OP: &str = "sessions.begin";
        self.journal.ready(OP)?;
        let session = Session::new(user, ttl, now);
        let written = {
            let mut shard = self.shard(token).lock();
            shard.insert(token, session);
            self.journal.change([session_codec::session_change(token, &session)])
        };
        durable(OP, written).await
    }

    async fn find(
        &self,
        token: TokenHash,
        ttl: Duration,
        now: Timestamp,
    ) -> Result<Option<UserId>, StoreError> {
        let mut shard = self.shard(token).lock();
        let Some(session) = shard.get_mut(&token).filter(|session| now < session.expires) else {
            return Ok(None);
        };
        if !ttl.is_zero() {
            session.slide(ttl, now);
        }
        if session.is_unwritten() {
            session.written = session.expires;
            self.journal.change_lazily(session_codec::session_change(token, session));
        }
        Ok(Some(session.user))
    }

    async fn end(&self, token: TokenHash) -> Result<(), StoreError> {
        const OP: &str = "sessions.end";
        self.journal.ready(OP)?;
        let written = {
            let mut shard = self.shard(token).lock();
            if shard.remove(&token).is_none() {
                return Ok(());
            }
            self.journal.change([Change { key: session_codec::session_key(token), value: None }])
        };
        durable(OP, written).await
    }

    async fn end_all(&self, user: UserId) -> Result<u64, StoreError> {
        const OP: &str = "sessions.end_all";
        self.journal.ready(OP)?;
        let mut ended = 0;
        for shard in &self.sessions {
            shard.lock().retain(|token, session| {
                let stays = session.user != user;
                if !stays {
                    ended += 1;
                    self.journal
                        .change_lazily(Change { key: session_codec::session_key(*token), value: None });
                }
                stays
            });
        }
        durable(OP, self.journal.barrier()).await?;
        Ok(ended)
    }
}

fn too_soon(before: &Code, rules: &CodeRules, now: Timestamp) -> Option<IssueOutcome> {
    let gap = rules.gap.saturating_sub(now.since(before.issued));
    if !gap.is_zero() {
        return Some(IssueOutcome::TooSoon { retry_after: gap });
    }
    let day = now.since(before.day_began);
    if rules.per_day > 0 && day < DAY && before.issued_that_day >= rules.per_day {
        return Some(IssueOutcome::TooMany { retry_after: DAY - day });
    }
    None
}

/// Compares in constant time, for equal lengths.
fn same(left: &[u8], right: &[u8]) -> bool {
    left.len() == right.len() && left.iter().zip(right).fold(0, |unlike, (l, r)| unlike | (l ^ r)) == 0
}
