//! Codes, counters and known requesters, in memory.

use std::time::Duration;

use mallbox_storage::backend::{KNOWN_FOR, latest_expiry};
use mallbox_storage::{CodeHash, Requester, Timestamp};

/// A number of events in a period that begins with the first event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Count {
    pub(super) began: Timestamp,
    pub(super) number: u32,
}

impl Default for Count {
    fn default() -> Self {
        Self { began: Timestamp::from_millis(0), number: 0 }
    }
}

impl Count {
    /// Returns the rest of the period if it holds `max` events; 0 = no limit.
    pub(super) fn rest_if_full(self, max: u32, period: Duration, now: Timestamp) -> Option<Duration> {
        let age = now.since(self.began);
        (max > 0 && age < period && self.number >= max).then(|| period - age)
    }

    pub(super) fn add(&mut self, period: Duration, now: Timestamp) {
        if self.is_over(period, now) {
            *self = Self { began: now, number: 0 };
        }
        self.number = self.number.saturating_add(1);
    }

    pub(super) fn is_over(self, period: Duration, now: Timestamp) -> bool {
        now.since(self.began) >= period
    }

    /// Counts the period from `now` if the period began later, by a clock that was ahead.
    pub(super) fn set_back(&mut self, now: Timestamp) {
        self.began = self.began.min(now);
    }
}

/// A code that is not used yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LiveCode {
    pub(super) code: CodeHash,
    pub(super) expires: Timestamp,
    pub(super) wrong_tries: u32,
}

impl LiveCode {
    pub(super) fn is_live(&self, ttl: Duration, now: Timestamp) -> bool {
        now < self.expires && self.expires <= latest_expiry(ttl, now)
    }

    /// Counts a wrong attempt. Returns whether the code stays live.
    pub(super) fn survives(&mut self, tries: u32) -> bool {
        self.wrong_tries += 1;
        self.wrong_tries < tries
    }
}

/// Codes sent to a phone for one requester.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Slot {
    pub(super) issued: Timestamp,
    pub(super) codes: Count,
    /// The newest code without a ticket.
    pub(super) live: Option<LiveCode>,
}

/// A requester that has logged in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Known {
    pub(super) requester: Requester,
    pub(super) noted: Timestamp,
    pub(super) wrong_tries: Count,
}

impl Known {
    pub(super) fn is_valid(&self, now: Timestamp) -> bool {
        now.since(self.noted) < KNOWN_FOR
    }
}

/// The counters of a phone over all requesters that it does not know.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Strangers {
    pub(super) codes: Count,
    pub(super) wrong_tries: Count,
}
