//! A session and the login codes of a phone, in memory.

use std::time::Duration;

use mallbox_storage::backend::EXTENSION_STEP;
use mallbox_storage::{Timestamp, UserId};

/// Tolerance for a clock that ran ahead, of a day. Unused sessions set by such a clock stay in memory longer
/// by at most this much.
const AHEAD_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// A session in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Session {
    pub(super) user: UserId,
    pub(super) expires: Timestamp,
    /// The TTL behind `expires`; `None` if an older version stored the session.
    pub(super) ttl: Option<Duration>,
    /// The expiry on the disk, or on its way there.
    pub(super) written: Timestamp,
}

impl Session {
    pub(super) fn new(user: UserId, ttl: Duration, now: Timestamp) -> Self {
        Self { user, expires: now + ttl, ttl: Some(ttl), written: now + ttl }
    }

    /// Lets the session end `ttl` after `now`.
    pub(super) fn count_from(&mut self, now: Timestamp, ttl: Duration) {
        (self.expires, self.ttl) = (now + ttl, Some(ttl));
    }

    /// Extends the session to `now + ttl`. A session set by a wrong clock is counted from `now` instead.
    pub(super) fn slide(&mut self, ttl: Duration, now: Timestamp) {
        let own = self.ttl.unwrap_or(ttl);
        if self.expires - own > now + EXTENSION_STEP {
            self.count_from(now, own.max(ttl));
        } else if self.expires < now + ttl {
            self.count_from(now, ttl);
        }
    }

    /// Counts the session from `now` if a clock ahead by more than [`AHEAD_MAX`] has set it. Returns
    /// whether the session changed.
    pub(super) fn cut(&mut self, now: Timestamp) -> bool {
        let Some(ttl) = self.ttl.filter(|ttl| self.expires - *ttl > now + AHEAD_MAX) else { return false };
        self.count_from(now, ttl);
        true
    }

    /// Returns whether the expiry on the disk is off by [`EXTENSION_STEP`] or more and must be rewritten.
    pub(super) fn is_unwritten(&self) -> bool {
        self.expires.since(self.written).max(self.written.since(self.expires)) >= EXTENSION_STEP
    }
}

/// The codes of one phone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Code {
    /// `None` after use, or after too many wrong tries.
    pub(super) live: Option<LiveCode>,
    pub(super) issued: Timestamp,
    /// Begin of the day over which codes are counted.
    pub(super) day_began: Timestamp,
    pub(super) issued_that_day: u32,
}

impl Code {
    /// Moves the counters back to `now`: a clock set back must not lock out a phone for longer than the
    /// rules say.
    pub(super) fn set_back(&mut self, now: Timestamp) {
        self.issued = self.issued.min(now);
        self.day_began = self.day_began.min(now);
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct LiveCode {
    pub(super) code: String,
    pub(super) expires: Timestamp,
    pub(super) wrong_tries: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
    const TTL: Duration = Duration::from_secs(1_800);

    #[test]
    fn a_session_that_an_older_version_stored_without_a_ttl_takes_that_of_the_first_look() {
        for begun in [NOON - TTL + EXTENSION_STEP, NOON, NOON + 1_000 * DAY] {
            let mut session = Session { ttl: None, ..Session::new(UserId::new(7), TTL, begun) };
            assert!(!session.cut(NOON), "nobody knows how long it was to last");
            session.slide(TTL, NOON);
            assert_eq!(
                (session.expires, session.ttl.unwrap_or(TTL)),
                (NOON + TTL, TTL),
                "begun at {begun:?}"
            );
        }
    }
}
