//! Sessions.

use std::net::IpAddr;
use std::time::Duration;

use async_trait::async_trait;

use crate::{Role, StoreError, Timestamp, UserId};

/// SHA-256 hash of a session token. The token itself is never stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TokenHash(pub [u8; 32]);

/// The proof of identity behind a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SessionOrigin {
    /// A login code.
    Code,
    /// The user's password.
    Password,
    /// None, or unknown: begun by staff for themselves or for a customer at a counter, or stored by a version
    /// without origins.
    Other,
}

/// A session to begin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewSession {
    /// The user.
    pub user: UserId,
    /// The user's role at the begin.
    pub role: Role,
    /// TTL from the last use.
    pub ttl: Duration,
    /// The proof of identity.
    pub origin: SessionOrigin,
    /// The client's address, if known.
    pub address: Option<IpAddr>,
    /// Short name of the browser, at most [`BROWSER_MAX_BYTES`] long; `""` if unknown. A longer name is cut.
    pub browser: String,
    /// Whether the user gave a second factor.
    pub has_second_factor: bool,
    /// Time of the begin if the session continues an earlier one; `None` for the time of the call.
    pub begun: Option<Timestamp>,
}

impl NewSession {
    /// Returns a session of a customer, without a proof of identity and without a client.
    #[must_use]
    pub fn of(user: UserId, ttl: Duration) -> Self {
        let (role, origin) = (Role::Customer, SessionOrigin::Other);
        Self {
            user,
            role,
            ttl,
            origin,
            address: None,
            browser: String::new(),
            has_second_factor: false,
            begun: None,
        }
    }

    /// Returns the browser's name, cut at the last character that fits in [`BROWSER_MAX_BYTES`].
    #[must_use]
    pub fn short_browser(&self) -> &str {
        &self.browser[..self.browser.floor_char_boundary(BROWSER_MAX_BYTES)]
    }
}

/// A live session, as every request needs it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LiveSession {
    /// The user.
    pub user: UserId,
    /// The user's role when the session began. The role may have changed since.
    pub role: Role,
    /// Time of the begin; `None` for a session of a version without this time, before its first extension.
    pub created: Option<Timestamp>,
    /// The proof of identity.
    pub origin: SessionOrigin,
    /// Whether the user gave a second factor.
    pub has_second_factor: bool,
}

/// A live session in the list of a user's sessions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SessionRecord {
    /// The session's key.
    pub token: TokenHash,
    /// User, role, begin and proof of identity.
    pub session: LiveSession,
    /// Last use, up to [`EXTENSION_STEP`] too early; `None` if the time of the begin is unknown.
    pub seen: Option<Timestamp>,
    /// The client's address at the begin, if known.
    pub address: Option<IpAddr>,
    /// Short name of the browser at the begin, `""` if unknown.
    pub browser: String,
}

impl SessionRecord {
    /// Sorts a user's sessions: newest first, unknown times last.
    pub fn sort(records: &mut [Self]) {
        records.sort_by_key(|record| (std::cmp::Reverse(record.session.created), record.token.0));
    }
}

/// Maximum length of the browser's name in a session, in bytes.
pub const BROWSER_MAX_BYTES: usize = 48;

/// Maximum number of live sessions of a user. Bounds the list of a user's sessions; people have a handful of
/// devices.
pub const SESSIONS_PER_USER_MAX: usize = 50;

/// Minimum extension of a session worth writing: shorter ones would cost a write per call. Clocks of
/// different callers must differ by less.
pub const EXTENSION_STEP: Duration = Duration::from_secs(60);

/// Sessions with sliding expiry.
///
/// - A session is live while `now < expires_at`.
/// - A clock that ran ahead leaves no immortal entries. A session stores the TTL of its last extension, so
///   `expires_at - ttl` is the time of the extension; if that time is more than
///   [`EXTENSION_STEP`](crate::sessions::EXTENSION_STEP) after `now`, the clock was wrong, and the session
///   counts from `now`.
/// - Begun and ended sessions are durable when the call returns. Only the sliding extension of a session is
///   written at most once a minute, without waiting for durability.
/// - [`find`](Sessions::find) extends a live session to `now + ttl`. After a clock error as above, the
///   session ends at `now` plus the longer of its own TTL and the call's. No other session is ever shortened,
///   however short the call's TTL; a TTL of zero changes nothing. An extension by less than
///   [`EXTENSION_STEP`](crate::sessions::EXTENSION_STEP) may be skipped, so a session may end earlier by as
///   much.
/// - A session stored by an older version without a TTL takes the TTL of the first call.
/// - [`find`](Sessions::find) with a TTL notes the time of use. The time reaches the store at most once per
///   [`EXTENSION_STEP`](crate::sessions::EXTENSION_STEP), together with an extension if there is one, and
///   without waiting for durability. A stored time of use or begin in the future by more than
///   [`EXTENSION_STEP`](crate::sessions::EXTENSION_STEP) was set by a wrong clock, and becomes `now`.
/// - A session stored by an older version without a time of begin begins with the first call that extends it.
/// - A user has at most [`SESSIONS_PER_USER_MAX`] live sessions: one more ends the user's oldest session.
#[async_trait]
pub trait Sessions: Send + Sync {
    /// Begins a session with expiry `now + ttl`. Replaces a session of the same token. Ends the user's oldest
    /// sessions beyond [`SESSIONS_PER_USER_MAX`], never the new session. Dozens of concurrent calls for one
    /// user may exceed the number until the next call.
    ///
    /// # Errors
    /// Any [`StoreError`]: the token must not be handed out.
    async fn begin(&self, token: TokenHash, session: &NewSession, now: Timestamp) -> Result<(), StoreError>;

    /// Returns a live session, and extends the session; `None` if no live session has the token.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: call again.
    async fn find(
        &self,
        token: TokenHash,
        ttl: Duration,
        now: Timestamp,
    ) -> Result<Option<LiveSession>, StoreError>;

    /// Returns the live sessions of a user, newest first.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: call again.
    async fn list(&self, user: UserId, now: Timestamp) -> Result<Vec<SessionRecord>, StoreError>;

    /// Ends a session. A missing session is no error.
    ///
    /// # Errors
    /// Any [`StoreError`]: the session may still be live.
    async fn end(&self, token: TokenHash) -> Result<(), StoreError>;

    /// Ends every session of a user. Returns their number.
    ///
    /// Sessions whose [`begin`](Sessions::begin) returned before the start of this call are dead when the
    /// call returns, and stay dead after a crash. A session begun concurrently may survive; a caller who must
    /// keep a user out has to check after `begin`.
    ///
    /// # Errors
    /// Any [`StoreError`]: some sessions may still be live.
    async fn end_all(&self, user: UserId) -> Result<u64, StoreError>;

    /// Ends every session of a user except the session of `kept`. Returns their number. Otherwise like
    /// [`end_all`](Sessions::end_all).
    ///
    /// # Errors
    /// Any [`StoreError`]: some sessions may still be live.
    async fn end_others(&self, user: UserId, kept: TokenHash) -> Result<u64, StoreError>;
}
