//! Evidence of a pass: how the challenge was solved that earned it.

use std::time::Duration;

use mallbox_storage::{ChallengeKind, Pass, Signal, Signals, Timestamp};

use super::challenge::{kind_of_number, number_of_kind};

/// Bytes of the written form.
pub(super) const BYTES: usize = 8;

/// How a pass was earned. Stands in the pass, since the mall stores no passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::mall::selling) struct Evidence {
    /// Number of challenges solved one after the other: 1, or 2 for a pass that the judgement demanded.
    pub(super) challenges: u8,
    /// Kind of the last challenge; `None` for a pass without a challenge.
    pub(super) kind: Option<ChallengeKind>,
    /// Time from the challenge to its answer, in milliseconds.
    pub(super) solve_ms: Option<u32>,
    /// Variation of the pointer's speed, in thousandths.
    pub(super) track_spread: Option<u16>,
}

/// A pass to spend.
#[derive(Clone, Copy, Debug)]
pub(in crate::mall::selling) struct CheckedPass {
    /// The pass.
    pub(in crate::mall::selling) pass: Pass,
    /// How it was earned, and the lifetime of the sale's passes; `None` for a claim from a trusted kiosk.
    pub(in crate::mall::selling) earned: Option<(Evidence, Duration)>,
}

impl Evidence {
    /// The evidence of a pass given without a challenge, for tests: good for every sale.
    pub(super) const GRANTED: Self = Self { challenges: 2, kind: None, solve_ms: None, track_spread: None };

    /// Returns whether the pass was earned by a second challenge.
    pub(in crate::mall::selling) fn is_second(&self) -> bool {
        self.challenges >= 2
    }

    /// Adds the signals of a pass that expires at `expires` and lives for `lifetime`.
    pub(in crate::mall::selling) fn add_to(
        &self,
        signals: &mut Signals,
        (expires, lifetime): (Timestamp, Duration),
        now: Timestamp,
    ) {
        let age_ms = now.since(expires - lifetime).as_millis();
        signals.set(Signal::PassAgeMs, u32::try_from(age_ms).unwrap_or(u32::MAX));
        if let Some(ms) = self.solve_ms {
            signals.set(Signal::SolveMs, ms);
        }
        if let Some(spread) = self.track_spread {
            signals.set(Signal::TrackSpread, spread.into());
        }
    }

    /// Returns the written form.
    pub(super) fn bytes(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[0] = self.challenges;
        bytes[1] = self.kind.map_or(0, number_of_kind);
        bytes[2..6].copy_from_slice(&self.solve_ms.unwrap_or(u32::MAX).to_be_bytes());
        bytes[6..].copy_from_slice(&self.track_spread.unwrap_or(u16::MAX).to_be_bytes());
        bytes
    }

    /// Reads the written form.
    pub(super) fn of_bytes(bytes: [u8; BYTES]) -> Self {
        let [challenges, kind, solve @ .., spread_high, spread_low] = bytes;
        let (solve_ms, spread) = (u32::from_be_bytes(solve), u16::from_be_bytes([spread_high, spread_low]));
        Self {
            challenges,
            kind: kind_of_number(kind),
            solve_ms: (solve_ms != u32::MAX).then_some(solve_ms),
            track_spread: (spread != u16::MAX).then_some(spread),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_is_read_as_it_was_written() {
        for kind in [None].into_iter().chain(ChallengeKind::ALL.map(Some)) {
            for evidence in [
                Evidence { challenges: 1, kind, solve_ms: None, track_spread: None },
                Evidence { challenges: 2, kind, solve_ms: Some(0), track_spread: Some(0) },
                Evidence {
                    challenges: 255,
                    kind,
                    solve_ms: Some(u32::MAX - 1),
                    track_spread: Some(u16::MAX - 1),
                },
            ] {
                assert_eq!(Evidence::of_bytes(evidence.bytes()), evidence);
            }
        }
    }

    #[test]
    fn the_age_of_a_pass_counts_from_its_issue() {
        let issued = Timestamp::from_millis(1_795_262_400_000);
        let life = Duration::from_secs(60);
        for (after_ms, age) in [(0, 0), (14, 14), (59_999, 59_999)] {
            let mut signals = Signals::default();
            let now = issued + Duration::from_millis(after_ms);
            Evidence::GRANTED.add_to(&mut signals, (issued + life, life), now);
            assert_eq!(signals, [(Signal::PassAgeMs, age)].into_iter().collect());
        }
    }
}
