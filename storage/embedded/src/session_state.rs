//! A session in memory.

use std::net::IpAddr;
use std::time::Duration;

use mallbox_storage::backend::EXTENSION_STEP;
use mallbox_storage::{
    LiveSession, NewSession, Role, SessionOrigin, SessionRecord, Timestamp, TokenHash, UserId,
};

/// Tolerance for a clock that ran ahead, of a day. Unused sessions set by such a clock stay in memory longer
/// by at most this much.
const AHEAD_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// A session in memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Session {
    pub(super) user: UserId,
    pub(super) expires: Timestamp,
    /// The TTL behind `expires`; `None` if an older version stored the session.
    pub(super) ttl: Option<Duration>,
    /// The expiry on the disk, or on its way there.
    pub(super) written: Timestamp,
    /// `None` if an older version stored the session, until its first use.
    pub(super) times: Option<SessionTimes>,
    /// The role at the begin.
    pub(super) role: Role,
    pub(super) origin: SessionOrigin,
    pub(super) address: Option<IpAddr>,
    pub(super) browser: Box<str>,
    pub(super) has_second_factor: bool,
}

/// Begin and last use of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SessionTimes {
    pub(super) created: Timestamp,
    pub(super) seen: Timestamp,
    /// The time of use on the disk, or on its way there; `None` for a session of an older version.
    pub(super) seen_written: Option<Timestamp>,
}

impl SessionTimes {
    /// A session that is written with both times at `created` and `seen`.
    pub(super) fn new(created: Timestamp, seen: Timestamp) -> Self {
        Self { created, seen, seen_written: Some(seen) }
    }

    fn is_unwritten(&self) -> bool {
        self.seen_written.is_none_or(|written| distance(self.seen, written) >= EXTENSION_STEP)
    }
}

impl Session {
    pub(super) fn new(new: &NewSession, now: Timestamp) -> Self {
        Self {
            user: new.user,
            expires: now + new.ttl,
            ttl: Some(new.ttl),
            written: now + new.ttl,
            times: Some(SessionTimes::new(new.begun.unwrap_or(now), now)),
            role: new.role,
            origin: new.origin,
            address: new.address,
            browser: new.short_browser().into(),
            has_second_factor: new.has_second_factor,
        }
    }

    /// Lets the session end `ttl` after `now`.
    pub(super) fn count_from(&mut self, now: Timestamp, ttl: Duration) {
        (self.expires, self.ttl) = (now + ttl, Some(ttl));
    }

    /// Extends the session to `now + ttl`, and notes its use. A session set by a wrong clock is counted from
    /// `now` instead.
    pub(super) fn slide(&mut self, ttl: Duration, now: Timestamp) {
        let own = *self.ttl.get_or_insert(ttl);
        if self.expires - own > now + EXTENSION_STEP {
            self.count_from(now, own.max(ttl));
        } else if self.expires < now + ttl {
            self.count_from(now, ttl);
        }
        let times = self.times.get_or_insert(SessionTimes { created: now, seen: now, seen_written: None });
        let soon = now + EXTENSION_STEP;
        if times.created > soon {
            times.created = now;
        }
        if times.seen < now || times.seen > soon {
            times.seen = now;
        }
    }

    /// Counts the session from `now` if a clock ahead by more than [`AHEAD_MAX`] has set it. Returns
    /// whether the session changed.
    pub(super) fn cut(&mut self, now: Timestamp) -> bool {
        let Some(ttl) = self.ttl.filter(|ttl| self.expires - *ttl > now + AHEAD_MAX) else { return false };
        self.count_from(now, ttl);
        true
    }

    /// Returns whether expiry or time of use on the disk are off by [`EXTENSION_STEP`] or more and must be
    /// rewritten.
    pub(super) fn is_unwritten(&self) -> bool {
        distance(self.expires, self.written) >= EXTENSION_STEP
            || self.times.is_some_and(|times| times.is_unwritten())
    }

    /// Notes that the session is on its way to the disk.
    pub(super) fn set_written(&mut self) {
        self.written = self.expires;
        if let Some(times) = &mut self.times {
            times.seen_written = Some(times.seen);
        }
    }

    pub(super) fn live(&self) -> LiveSession {
        let created = self.times.map(|times| times.created);
        let &Self { user, role, origin, has_second_factor, .. } = self;
        LiveSession { user, role, created, origin, has_second_factor }
    }

    pub(super) fn record(&self, token: TokenHash) -> SessionRecord {
        SessionRecord {
            token,
            session: self.live(),
            seen: self.times.map(|times| times.seen),
            address: self.address,
            browser: self.browser.to_string(),
        }
    }
}

fn distance(one: Timestamp, other: Timestamp) -> Duration {
    one.since(other).max(other.since(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
    const TTL: Duration = Duration::from_secs(1_800);

    fn session(begun: Timestamp) -> Session {
        Session::new(&NewSession::of(UserId::new(7), TTL), begun)
    }

    #[test]
    fn a_session_that_an_older_version_stored_without_a_ttl_takes_that_of_the_first_look() {
        for begun in [NOON - TTL + EXTENSION_STEP, NOON, NOON + 1_000 * DAY] {
            let mut session = Session { ttl: None, ..session(begun) };
            assert!(!session.cut(NOON), "nobody knows how long it was to last");
            session.slide(TTL, NOON);
            assert_eq!((session.expires, session.ttl), (NOON + TTL, Some(TTL)), "begun at {begun:?}");
        }
    }

    #[test]
    fn a_session_that_an_older_version_stored_without_times_begins_with_its_first_use() {
        let mut session = Session { times: None, ..session(NOON) };
        assert!(!session.is_unwritten(), "a look that changes nothing writes nothing");
        assert_eq!(session.live().created, None);
        session.slide(TTL, NOON + TTL / 2);
        assert_eq!(session.live().created, Some(NOON + TTL / 2));
        assert!(session.is_unwritten());
        session.set_written();
        session.slide(TTL, NOON + TTL / 2 + EXTENSION_STEP / 2);
        assert!(!session.is_unwritten(), "one write a minute");
        assert_eq!(session.live().created, Some(NOON + TTL / 2), "and one begin");
    }

    #[test]
    fn use_of_a_session_for_good_is_written_once_a_minute() {
        let mut session = Session::new(&NewSession::of(UserId::new(7), Duration::MAX), NOON);
        let mut writes = 0;
        for second in 0..600 {
            session.slide(TTL, NOON + Duration::from_secs(second));
            if session.is_unwritten() {
                session.set_written();
                writes += 1;
            }
        }
        assert_eq!(writes, 9);
        assert_eq!(session.expires, Timestamp::MAX);
    }
}
