//! Login codes, and who a token is.

use std::time::Duration;

use async_trait::async_trait;

use crate::{Phone, StoreError, Timestamp, UserId};

/// The SHA-256 of a token. The token itself is never stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TokenHash(pub [u8; 32]);

/// How codes are given out and tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CodeRules {
    /// How long a code is good for.
    pub lives: Duration,
    /// The least time between two codes to one phone; zero = no limit.
    pub gap: Duration,
    /// Codes to one phone within a day (24 h from the first); 0 = no limit.
    pub per_day: u32,
    /// Wrong tries after which a code is dead.
    pub tries: u32,
}

/// Whether a code may go out.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CodeIssue {
    /// It is stored, durably: send it.
    Issued,
    /// Too soon after the last one.
    TooSoon {
        /// How long to wait.
        retry_after: Duration,
    },
    /// Enough codes for one day.
    TooMany {
        /// How long to wait.
        retry_after: Duration,
    },
}

/// What a tried code was.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CodeCheck {
    /// The right one. It is used up.
    Right,
    /// A wrong one; tries are counted.
    Wrong,
    /// There is no live code for this phone: none was sent, it has expired, been used, or been tried too often.
    NoCode,
}

/// The latest expiry of a code that a clock in order can have set for a life of `ttl`: a caller's clock may be behind by as
/// much.
#[must_use]
pub(crate) fn latest_expiry(ttl: Duration, now: Timestamp) -> Timestamp {
    now + ttl.saturating_mul(2)
}

/// Extensions of a session that are shorter than this need not be kept: they would cost a write for every call. Clocks of
/// several callers differ by less.
pub const EXTENSION_STEP: Duration = Duration::from_secs(60);

/// Login codes and sessions with a sliding expiry.
///
/// - A code or session is live while `now < expires_at`.
/// - Of any number of concurrent tries with the right code, exactly one is `Right`.
/// - A clock that was set back locks no phone out: gap and day then count from when that was first seen.
/// - A clock that ran ahead leaves nothing behind for ever. A code that expires further ahead than twice the life of the
///   call's rules is dead. A session carries the TTL that its expiry was set by, so `expires_at - ttl` is when that was: if
///   that is more than [`EXTENSION_STEP`](crate::sessions::EXTENSION_STEP) after `now`, a clock was wrong, and the session
///   counts from `now`.
/// - What is answered is durable: codes, counters, tries, new and ended sessions. The sliding extension of a
///   session alone is written at most once a minute and never waited for.
/// - [`find`](Sessions::find) extends a live session to `now + ttl`, and lets one just named end at `now` plus its own TTL or
///   the call's, whichever is longer. It shortens no other, however short the TTL of the call; a TTL of zero changes
///   nothing. An extension by less than [`EXTENSION_STEP`](crate::sessions::EXTENSION_STEP) may be left out, so a session
///   may end that much sooner.
/// - A session that was stored without a TTL by an older version takes that of the first call.
#[async_trait]
pub trait Sessions: Send + Sync {
    /// Stores a fresh code for a phone in place of an older one, if `rules` allow it.
    ///
    /// # Errors
    /// [`StoreError`]: the code must not be sent.
    async fn issue_code(
        &self,
        phone: &Phone,
        code: &str,
        rules: &CodeRules,
        now: Timestamp,
    ) -> Result<CodeIssue, StoreError>;

    /// Tries a code.
    ///
    /// # Errors
    /// [`StoreError`]: the try may have been counted.
    async fn check_code(
        &self,
        phone: &Phone,
        code: &str,
        rules: &CodeRules,
        now: Timestamp,
    ) -> Result<CodeCheck, StoreError>;

    /// Begins a session.
    ///
    /// # Errors
    /// [`StoreError`]: the token must not be handed out.
    async fn begin(
        &self,
        token: TokenHash,
        user: UserId,
        ttl: Duration,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Whose live session this is; extends it.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: call again.
    async fn find(
        &self,
        token: TokenHash,
        ttl: Duration,
        now: Timestamp,
    ) -> Result<Option<UserId>, StoreError>;

    /// Ends a session; no error if there is none.
    ///
    /// # Errors
    /// [`StoreError`]: the session may still be live.
    async fn end(&self, token: TokenHash) -> Result<(), StoreError>;

    /// Ends every session of a user and answers how many there were.
    ///
    /// Those whose [`begin`](Sessions::begin) had answered before this was called are dead when it answers, and stay so
    /// after a crash. One that begins meanwhile may live: who must keep a user out looks after beginning.
    ///
    /// # Errors
    /// [`StoreError`]: some may still be live.
    async fn end_all(&self, user: UserId) -> Result<u64, StoreError>;
}
