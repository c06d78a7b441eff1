//! Which times of the machine's clock are plausible, and why others are doubted.
//!
//! Reasons and figures: `src/decisions/0087-unsure-clocks.md`.

use std::fmt;
use std::time::Duration;

use mallbox_storage::Timestamp;

/// No clock that shows an earlier time is right: 2026-04-14, the date of the oldest compiler that builds this
/// version.
pub const EARLIEST_BUILD: Timestamp = Timestamp::from_millis(1_776_124_800_000);
const _: () = assert!(
    matches!(env!("CARGO_PKG_RUST_VERSION").as_bytes(), b"1.95"),
    "rust-version was raised: raise EARLIEST_BUILD to the date that `rustc --version` shows"
);
/// Longer than a stored time is old, and than the clocks of several instances differ.
const BEHIND_MAX: Duration = Duration::from_secs(2 * 60);
/// A mall that was stopped for this long is rarer than a wrong clock.
const STOPPED_MAX: Duration = Duration::from_secs(400 * 24 * 60 * 60);
/// Longer than a virtual machine is usually paused. A shorter jump forward is followed, and expiry follows an
/// hour later.
const JUMP_AHEAD_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// Whether the machine's clock is to be trusted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClockState {
    /// The mall follows the clock.
    Sure,
    /// The mall goes on with its last sure time and the time that has passed since, and refuses what depends
    /// on the time of day.
    Unsure(ClockDoubt),
}

impl ClockState {
    /// Returns the name in responses: `sure` or `unsure`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sure => "sure",
            Self::Unsure(_) => "unsure",
        }
    }

    /// Returns why the clock is unsure; `None` for a sure clock.
    #[must_use]
    pub fn doubt(self) -> Option<ClockDoubt> {
        match self {
            Self::Sure => None,
            Self::Unsure(doubt) => Some(doubt),
        }
    }
}

/// Why a time of the machine's clock is not plausible.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClockDoubt {
    /// The clock stands before [`EARLIEST_BUILD`].
    BeforeRelease,
    /// The clock stands before the last sure time, by this much.
    Behind(Duration),
    /// The clock stands after the last sure time and the time that can have passed since, by this much after
    /// the last sure time.
    Ahead(Duration),
}

impl ClockDoubt {
    /// Returns the name in responses: `before-release`, `behind` or `ahead`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::BeforeRelease => "before-release",
            Self::Behind(_) => "behind",
            Self::Ahead(_) => "ahead",
        }
    }
}

impl fmt::Display for ClockDoubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BeforeRelease => {
                write!(f, "this machine's clock is unsure: it stands before the release of this version. ")?;
            }
            Self::Behind(by) => {
                let seconds = by.as_secs();
                write!(
                    f,
                    "this machine's clock is unsure: it stands {seconds} s before the last sure time. "
                )?;
            }
            Self::Ahead(by) => {
                let hours = by.as_secs() / 3_600;
                write!(f, "this machine's clock is unsure: it stands {hours} h after the last sure time. ")?;
            }
        }
        write!(
            f,
            "Claims and sign-ins are refused until the clock is set right, or an operator confirms it at the \
             console"
        )
    }
}

/// A span of plausible times, as offsets to a steady clock: the span moves on with the time that passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Plausible {
    /// Last sure time − steady clock, in milliseconds.
    pub(super) sure_ms: i64,
    ahead_max: Option<Duration>,
}

impl Plausible {
    /// Returns the span at a start: after the last stored time of the mall. A mall without one may start at
    /// any time.
    pub(super) fn at_start(last_run: Option<Timestamp>, steady: Duration) -> Self {
        let ahead_max = last_run.map(|_| STOPPED_MAX);
        Self { sure_ms: offset_ms(last_run.unwrap_or(EARLIEST_BUILD), steady), ahead_max }
    }

    /// Returns the span while the mall runs, around the time that was sure until now.
    pub(super) fn around(sure_ms: i64) -> Self {
        Self { sure_ms, ahead_max: Some(JUMP_AHEAD_MAX) }
    }

    /// Returns why a clock with this offset is doubted; `None` if the clock is plausible.
    pub(super) fn doubt(self, offset_ms: i64) -> Option<ClockDoubt> {
        let (ahead, behind) = (between(self.sure_ms, offset_ms), between(offset_ms, self.sure_ms));
        if behind > BEHIND_MAX {
            return Some(ClockDoubt::Behind(behind));
        }
        self.ahead_max.filter(|max| ahead > *max).map(|_| ClockDoubt::Ahead(ahead))
    }
}

/// Returns a time as its offset to the steady clock, in milliseconds.
pub(super) fn offset_ms(at: Timestamp, steady: Duration) -> i64 {
    at.as_millis().saturating_sub(i64::try_from(steady.as_millis()).unwrap_or(i64::MAX))
}

/// Returns the time from one offset to a later one; zero if the other is not later.
fn between(from_ms: i64, to_ms: i64) -> Duration {
    Duration::from_millis(u64::try_from(to_ms.saturating_sub(from_ms)).unwrap_or_default())
}
