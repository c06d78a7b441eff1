//! Difference between this machine's clock and the store's.

use std::fmt;
use std::time::Duration;

use mallbox_storage::{Health, Timestamp};

use super::Context;

/// Clocks set by NTP differ by less.
const GAP_TOLERATED: Duration = Duration::from_millis(200);

/// The difference between the mall's clock and its servers', if too large. With such a gap, a sale would open
/// and orders would expire at several times in one mall.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClockGap {
    by: Duration,
    is_ahead: bool,
}

impl ClockGap {
    /// Computes the gap from a server time read between two reads of the local clock. Returns `None` for
    /// a gap that is tolerated.
    #[must_use]
    pub fn between(before: Timestamp, theirs: Timestamp, after: Timestamp) -> Option<Self> {
        let (ahead, behind) = (before.since(theirs), theirs.since(after));
        let (by, is_ahead) = if ahead > behind { (ahead, true) } else { (behind, false) };
        (by > GAP_TOLERATED).then_some(Self { by, is_ahead })
    }

    /// Returns whether this machine's clock is ahead of the server's, and not behind.
    #[must_use]
    pub fn is_ahead(self) -> bool {
        self.is_ahead
    }

    /// Returns the gap in milliseconds, for the log.
    #[must_use]
    pub fn as_millis(self) -> u64 {
        u64::try_from(self.by.as_millis()).unwrap_or(u64::MAX)
    }
}

impl fmt::Display for ClockGap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ms, which) = (self.as_millis(), if self.is_ahead { "ahead of" } else { "behind" });
        write!(f, "this machine's clock is {ms} ms {which} Redis'; synchronise both by NTP")
    }
}

impl Context {
    /// Returns the health of the store, and the clock gap if too large.
    pub async fn health(&self) -> (Health, Option<ClockGap>) {
        let before = self.now();
        let health = self.storage.base.upkeep.health().await;
        let gap = health.clock.and_then(|theirs| ClockGap::between(before, theirs, self.now()));
        (health, gap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_gap_that_the_way_to_the_server_does_not_explain_is_one() {
        let at = Timestamp::from_millis;
        for (before, theirs, after, want) in [
            (1_000, 1_000, 1_000, None),
            (1_000, 800, 1_000, None),
            (1_000, 1_900, 1_700, None),
            (1_000, 799, 1_000, Some("201 ms ahead of")),
            (1_000, 1_901, 1_700, Some("201 ms behind")),
            (1_000, -9_000, 1_700, Some("10000 ms ahead of")),
        ] {
            let gap = ClockGap::between(at(before), at(theirs), at(after));
            let words = gap.map(|gap| gap.to_string()).unwrap_or_default();
            assert!(words.contains(want.unwrap_or_default()), "{before} {theirs} {after}: {words}");
            assert_eq!(gap.is_some(), want.is_some(), "{before} {theirs} {after}");
        }
    }
}
