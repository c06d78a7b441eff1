//! What a look-up makes of a stored session: whether the session is live, and what is worth writing back.

use std::time::Duration;

use mallbox_storage::{LiveSession, Timestamp};

/// A session as stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct StoredSession {
    pub(super) session: LiveSession,
    pub(super) expires: Timestamp,
    /// TTL of the last extension, in ms. Older versions stored none.
    pub(super) ttl_ms: Option<u64>,
    /// Time of the last use worth writing. Older versions stored none.
    pub(super) seen: Option<Timestamp>,
}

/// A live session, and what to write back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LookUp {
    pub(super) session: LiveSession,
    /// TTL to extend the session by from now, in ms; 0 for no extension.
    pub(super) extend_by_ms: u64,
    /// Whether the use is worth writing.
    pub(super) is_use_new: bool,
}

impl StoredSession {
    /// Looks the session up at `now`. `ttl_ms` is the caller's TTL, 0 for no extension; `step_ms` the least
    /// extension worth writing. `None`: the session has expired.
    pub(super) fn look_up(&self, now: Timestamp, ttl_ms: u64, step_ms: u64) -> Option<LookUp> {
        if now >= self.expires {
            return None;
        }
        let mut found = LookUp { session: self.session, extend_by_ms: 0, is_use_new: false };
        if ttl_ms == 0 {
            return Some(found);
        }
        let at = |time: Timestamp| i128::from(time.as_millis());
        let (now_ms, expires, step) = (at(now), at(self.expires), i128::from(step_ms));
        let own = self.ttl_ms.unwrap_or(ttl_ms);
        let is_ahead = |time: Option<Timestamp>| time.is_some_and(|time| at(time) > now_ms + step);
        if expires - i128::from(own) > now_ms + step {
            // The expiry was set by a clock that ran ahead.
            found.extend_by_ms = own.max(ttl_ms);
        } else if now_ms + i128::from(ttl_ms) - expires >= step {
            found.extend_by_ms = ttl_ms;
        }
        if self.session.created.is_none() || is_ahead(self.session.created) {
            found.session.created = Some(now);
            found.is_use_new = true;
        }
        let is_seen = self.seen.is_some_and(|seen| now_ms - at(seen) < step) && !is_ahead(self.seen);
        found.is_use_new |= !is_seen;
        Some(found)
    }

    /// Returns the session as it is after a look-up at `now` was written back.
    pub(super) fn after(self, found: &LookUp, now: Timestamp) -> Self {
        let mut stored = Self { session: found.session, ..self };
        if found.is_use_new || found.extend_by_ms > 0 {
            stored.seen = Some(now);
        }
        if found.extend_by_ms > 0 {
            stored.expires = now + Duration::from_millis(found.extend_by_ms);
            stored.ttl_ms = Some(found.extend_by_ms);
        }
        stored
    }
}

#[cfg(test)]
mod tests {
    use mallbox_storage::{Role, SessionOrigin, UserId};

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(10_000_000);
    const STEP: u64 = 60_000;
    const TTL: u64 = 600_000;

    fn at(offset_ms: i64) -> Timestamp {
        Timestamp::from_millis(NOW.as_millis() + offset_ms)
    }

    fn stored(expires_in_ms: i64, seen_ms_ago: i64) -> StoredSession {
        let session = LiveSession {
            user: UserId::new(7),
            role: Role::Customer,
            created: Some(at(-1_000_000)),
            origin: SessionOrigin::Code,
            has_second_factor: false,
        };
        let (expires, seen) = (at(expires_in_ms), Some(at(-seen_ms_ago)));
        StoredSession { session, expires, ttl_ms: Some(TTL), seen }
    }

    fn written(stored: StoredSession, ttl_ms: u64) -> Option<(u64, bool)> {
        stored.look_up(NOW, ttl_ms, STEP).map(|found| (found.extend_by_ms, found.is_use_new))
    }

    #[test]
    fn a_session_is_over_at_its_end_and_extended_by_a_step_at_least() {
        assert_eq!(written(stored(0, 0), TTL), None);
        assert_eq!(written(stored(1, 0), 0), Some((0, false)), "a look without a TTL writes nothing");
        assert_eq!(written(stored(1, 0), TTL), Some((TTL, false)));
        assert_eq!(written(stored(540_000, 0), TTL), Some((TTL, false)));
        assert_eq!(written(stored(540_001, 0), TTL), Some((0, false)));
        assert_eq!(written(stored(540_001, 59_999), TTL), Some((0, false)));
        assert_eq!(written(stored(540_001, 60_000), TTL), Some((0, true)), "the use is written each minute");
    }

    #[test]
    fn times_of_a_clock_that_ran_ahead_are_put_right() {
        assert_eq!(written(stored(660_000, 0), TTL), Some((0, false)));
        assert_eq!(written(stored(660_001, 0), TTL), Some((TTL, false)));
        assert_eq!(written(stored(660_001, 0), TTL / 2), Some((TTL, false)), "the longer of both TTLs");
        assert_eq!(written(stored(600_000, -60_001), TTL), Some((0, true)));
        let mut born_later = stored(600_000, 0);
        born_later.session.created = Some(at(60_001));
        let found = born_later.look_up(NOW, TTL, STEP).unwrap();
        assert_eq!((found.session.created, found.is_use_new), (Some(NOW), true));
    }

    #[test]
    fn a_session_of_an_older_version_takes_ttl_and_times_of_the_first_look() {
        let mut old = stored(300_000, 0);
        (old.ttl_ms, old.seen, old.session.created) = (None, None, None);
        let found = old.look_up(NOW, TTL, STEP).unwrap();
        assert_eq!((found.extend_by_ms, found.is_use_new), (TTL, true));
        assert_eq!(found.session.created, Some(NOW));
        assert_eq!(old.look_up(NOW, 0, STEP).unwrap().session.created, None);
    }
}
