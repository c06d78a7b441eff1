//! Login codes, and the requesters known to each phone.

use std::time::Duration;

use async_trait::async_trait;

use crate::{Phone, StoreError, Timestamp};

/// A client's network, as a keyed hash: the address itself is never stored.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Requester(pub [u8; 16]);

impl Requester {
    /// The machine of the mall: an operator with access to the command line, or staff at a counter.
    ///
    /// The rules do not apply to codes of this requester. Every requester may use such a code, and a wrong
    /// attempt does not count against it, so the code must be unguessable by itself.
    pub const MACHINE: Self = Self([0; 16]);
}

/// Keyed hash of a login code. The code itself is never stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CodeHash(pub [u8; 32]);

/// SHA-256 hash of a ticket. The ticket itself is never stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TicketHash(pub [u8; 32]);

/// Number of requesters known to a phone. A further requester replaces the one noted longest ago.
pub const KNOWN_REQUESTERS_MAX: usize = 8;
/// Time since the last successful log-in after which a requester is no longer known.
pub const KNOWN_FOR: Duration = Duration::from_secs(90 * 24 * 60 * 60);
/// Interval below which a repeated [`remember`](Codes::remember) may write nothing.
pub const REMEMBER_STEP: Duration = Duration::from_secs(24 * 60 * 60);
/// Lifetime of a code of [`Requester::MACHINE`], whatever the rules.
pub const MACHINE_CODE_TTL: Duration = Duration::from_secs(10 * 60);
/// Period of all limits per day, from the first code.
pub const CODE_DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Period of the limit on wrong attempts, from the first wrong attempt.
pub const TRIES_HOUR: Duration = Duration::from_secs(60 * 60);

/// Rules for issuing and checking login codes. Every number may be 0 for no limit, except `tries`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CodeRules {
    /// TTL of a code.
    pub lives: Duration,
    /// Minimum time between two codes for one phone and requester.
    pub gap: Duration,
    /// Maximum codes for one phone and requester in a [day](CODE_DAY).
    pub per_day: u32,
    /// Maximum codes for one phone in a day, over all requesters that are not known to the phone.
    pub per_day_of_phone: u32,
    /// Maximum codes of the mall in a day. The last fifth is for known requesters and operators.
    pub per_day_of_mall: u32,
    /// Number of wrong attempts that invalidates a code.
    pub tries: u32,
    /// Maximum wrong attempts for one phone in an [hour](TRIES_HOUR): over all unknown requesters together,
    /// and for each known requester alone.
    pub tries_per_hour: u32,
}

impl CodeRules {
    /// Returns the number of codes in the mall's day for `is_preferred` requests: known requesters and
    /// operators. `None` = no limit.
    #[must_use]
    pub fn budget(&self, is_preferred: bool) -> Option<u32> {
        let all = self.per_day_of_mall;
        (all > 0).then_some(if is_preferred { all } else { all - all / 5 })
    }
}

/// A request for a login code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CodeRequest {
    /// The phone that the code will be sent to.
    pub phone: Phone,
    /// The client's network.
    pub requester: Requester,
    /// The code.
    pub code: CodeHash,
    /// The ticket that the code is bound to; `None` binds the code to the requester.
    pub ticket: Option<TicketHash>,
    /// Whether the phone is an operator's, which may use the last fifth of the mall's budget.
    pub is_operator: bool,
}

/// An attempt to log in by code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CodeAttempt {
    /// The phone that the code was sent to.
    pub phone: Phone,
    /// The client's network.
    pub requester: Requester,
    /// The code to check.
    pub code: CodeHash,
    /// The ticket of the code, if any.
    pub ticket: Option<TicketHash>,
}

/// Outcome of issuing a code.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IssueOutcome {
    /// The code is stored durably and may be sent.
    Issued {
        /// Codes of the mall in this day, this one included; 0 for a code of [`Requester::MACHINE`].
        of_mall: u32,
    },
    /// Too soon after the previous code of this phone and requester.
    TooSoon {
        /// Time to wait.
        retry_after: Duration,
    },
    /// The daily limit of this phone and requester is reached.
    TooMany {
        /// Time to wait.
        retry_after: Duration,
    },
    /// The daily limit of this phone is reached, for requesters that are not known to the phone.
    PhoneSpent {
        /// Time to wait.
        retry_after: Duration,
    },
    /// The mall's daily budget is spent, or all of it but the last fifth.
    MallSpent {
        /// Time to wait.
        retry_after: Duration,
    },
}

/// Outcome of checking a code.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CheckOutcome {
    /// The code is correct and now used up.
    Right,
    /// The code is wrong; the attempt was counted.
    Wrong,
    /// No live code exists for this ticket, or for this phone and requester: none was sent, or the code has
    /// expired, was used, or had too many wrong attempts.
    NoCode,
    /// Too many wrong attempts within the hour; the code was not compared.
    TooManyTries {
        /// Time to wait.
        retry_after: Duration,
    },
}

/// Returns the latest plausible expiry of a code with the given `ttl`. The factor of 2 tolerates callers
/// whose clock is behind by up to one `ttl`.
#[must_use]
pub fn latest_expiry(ttl: Duration, now: Timestamp) -> Timestamp {
    now + ttl.saturating_mul(2)
}

/// Login codes with their limits, and the requesters known to each phone.
///
/// - A code is live while `now < expires_at`. A code whose expiry is further ahead than twice the TTL of the
///   call's rules was issued by a wrong clock and is dead.
/// - A code belongs to a slot: the ticket, or the phone and requester. A newer code of a slot replaces the
///   older one. No request changes a code in another slot.
/// - Of any number of concurrent checks of the right code, exactly one returns `Right`.
/// - A requester is known to a phone for [`KNOWN_FOR`] after the last [`remember`](Codes::remember). Requests
///   of other requesters change none of its limits, except for the mall's budget.
/// - A clock set back locks no phone out: gap, day and hour are then counted from the first call that noticed
///   the jump.
/// - Codes, counters, attempts and known requesters are durable when the call returns.
#[async_trait]
pub trait Codes: Send + Sync {
    /// Stores a new code if `rules` allow. A refusal counts nothing.
    ///
    /// The limits are checked in the order of [`IssueOutcome`].
    ///
    /// # Errors
    /// Any [`StoreError`]: the code must not be sent.
    async fn issue(
        &self,
        request: &CodeRequest,
        rules: &CodeRules,
        now: Timestamp,
    ) -> Result<IssueOutcome, StoreError>;

    /// Checks a code (one attempt). A live code of [`Requester::MACHINE`] for the phone is compared first.
    ///
    /// # Errors
    /// Any [`StoreError`]: the attempt may have been counted.
    async fn check(
        &self,
        attempt: &CodeAttempt,
        rules: &CodeRules,
        now: Timestamp,
    ) -> Result<CheckOutcome, StoreError>;

    /// Returns whether a requester is known to a phone.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: call again.
    async fn is_known(&self, phone: &Phone, requester: Requester, now: Timestamp)
    -> Result<bool, StoreError>;

    /// Makes a requester known to a phone, after a successful log-in. A phone knows at most
    /// [`KNOWN_REQUESTERS_MAX`].
    ///
    /// # Errors
    /// Any [`StoreError`]: the requester may be unknown.
    async fn remember(&self, phone: &Phone, requester: Requester, now: Timestamp) -> Result<(), StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fifth_of_the_budget_is_kept() {
        let budget = |per_day_of_mall, is_preferred| {
            let none = Duration::ZERO;
            let (per_day, per_day_of_phone, tries, tries_per_hour) = (0, 0, 5, 0);
            CodeRules {
                lives: none,
                gap: none,
                per_day,
                per_day_of_phone,
                per_day_of_mall,
                tries,
                tries_per_hour,
            }
            .budget(is_preferred)
        };
        for (all, for_strangers) in [(1, 1), (4, 4), (5, 4), (10, 8), (u32::MAX, 3_435_973_836)] {
            assert_eq!((budget(all, true), budget(all, false)), (Some(all), Some(for_strangers)));
        }
        assert_eq!((budget(0, true), budget(0, false)), (None, None));
    }
}
