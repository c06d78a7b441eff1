//! The machine's clock under watch: whether it is sure, and the mall's time.
//!
//! A sure clock is the mall's time. Beside an unsure clock, the mall's time is the last sure time plus the
//! time that has passed by a steady clock, which nobody can set.
//!
//! Reasons and figures: `src/decisions/0087-unsure-clocks.md`.

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use mallbox_storage::Timestamp;
use parking_lot::Mutex;

use super::clock_doubt::{ClockDoubt, ClockState, EARLIEST_BUILD, Plausible, offset_ms};
use super::clock_jump::ClockJump;

/// NTP moves a clock by less at once, and unpaid orders have minutes: smaller steps are followed silently.
const JUMP_MIN_MS: u64 = 10_000;
/// Offsets this close to the last one are not compared further: rounding, or a thread suspended between its
/// two reads.
const DRIFT_IGNORED_MS: u64 = 100;
/// How long a jump that was followed stays in doubt for expiry: usually longer than the payment deadline and
/// the TTL of an idle session.
const DOUBT_DURATION: Duration = Duration::from_secs(60 * 60);
/// A machine without a battery gets its time from the network within this time after its boot. A jump before
/// is the first setting of the clock, and is judged as the time of a start would be.
const SET_AFTER_BOOT: Duration = Duration::from_secs(60 * 60);
/// How far the clock may have moved on between the time that an operator saw and the confirmation.
const CONFIRM_WITHIN: Duration = Duration::from_secs(5 * 60);

/// Source of both clocks of a machine.
pub trait MachineTime: Send + Sync {
    /// Returns the time of the machine's clock, which anybody may set.
    fn wall(&self) -> Timestamp;

    /// Returns the time since the machine booted, suspension included. Nobody can set it.
    fn steady(&self) -> Duration;
}

/// Why an operator's confirmation of the clock was not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConfirmError {
    /// The clock stands elsewhere than at the confirmed time.
    Moved,
    /// The clock stands before [`EARLIEST_BUILD`]: no such time is right.
    BeforeRelease,
}

/// What a comparison of the clocks found, for the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClockEvent {
    /// A sure clock jumped, and the mall follows.
    Jumped(ClockJump),
    /// The clock is unsure from now on, or for another reason than before.
    Unsure(ClockDoubt),
    /// The clock is sure again. The mall's time has moved by this.
    Sure(ClockJump),
}

impl fmt::Display for ClockEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Jumped(jump) => write!(f, "{jump}"),
            Self::Unsure(doubt) => write!(f, "{doubt}"),
            Self::Sure(by) => {
                write!(f, "this machine's clock is sure again; the mall's time moved by {} s", by.seconds())
            }
        }
    }
}

/// The machine's clock, and what the mall makes of it.
pub struct ClockGuard {
    machine: Box<dyn MachineTime>,
    /// Wall clock − steady clock in milliseconds at the last comparison; [`UNKNOWN`] before the first.
    offset_ms: AtomicI64,
    /// The mall's time − steady clock while the clock is unsure, otherwise [`UNKNOWN`]. Written only while
    /// `judgement` is locked.
    held_ms: AtomicI64,
    /// Whether a followed jump may be in doubt: without one, reading costs one atomic load. Written only
    /// while `judgement` is locked.
    is_in_doubt: AtomicBool,
    judgement: Mutex<Judgement>,
}

#[derive(Debug, Default)]
struct Judgement {
    /// Plausible times while the clock is unsure.
    plausible: Option<Plausible>,
    /// Plausible times at the start, for the first setting of the clock after the boot.
    at_start: Option<Plausible>,
    unsure: Option<ClockDoubt>,
    lag: Option<Lag>,
}

/// A jump that the mall followed, while expiry does not follow yet.
#[derive(Clone, Copy, Debug)]
struct Lag {
    jump: ClockJump,
    /// End by the steady clock.
    until: Duration,
}

const UNKNOWN: i64 = i64::MIN;

impl Judgement {
    /// Returns the jump that expiry does not follow yet.
    fn lag_at(&self, steady: Duration) -> Option<ClockJump> {
        self.lag.filter(|lag| steady < lag.until).map(|lag| lag.jump)
    }

    /// Returns whether a clock with this offset was set for the first time since the boot, plausibly.
    fn is_first_setting(&self, offset_ms: i64, steady: Duration) -> bool {
        let at_start = self.at_start.filter(|_| steady < SET_AFTER_BOOT);
        at_start.is_some_and(|at_start| at_start.doubt(offset_ms).is_none())
    }

    /// Returns whether a clock with this offset is where it was before the jump in doubt.
    fn undoes_jump(&self, sure_ms: i64, offset_ms: i64, steady: Duration) -> bool {
        self.lag_at(steady)
            .is_some_and(|jump| sure_ms.saturating_sub(jump.as_millis()).abs_diff(offset_ms) < JUMP_MIN_MS)
    }
}

impl fmt::Debug for ClockGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClockGuard").field("judgement", &*self.judgement.lock()).finish_non_exhaustive()
    }
}

impl ClockGuard {
    /// Creates the guard of a machine's clock, which is sure until [`start`](Self::start) or a jump.
    #[must_use]
    pub fn new(machine: Box<dyn MachineTime>) -> Self {
        Self {
            machine,
            offset_ms: AtomicI64::new(UNKNOWN),
            held_ms: AtomicI64::new(UNKNOWN),
            is_in_doubt: AtomicBool::new(false),
            judgement: Mutex::default(),
        }
    }

    /// Returns the mall's time, and logs what a comparison of the clocks finds.
    pub(super) fn now(&self) -> Timestamp {
        let (mut wall, mut steady) = (self.machine.wall(), self.machine.steady());
        if !self.agrees(wall, steady) {
            (wall, steady) = self.both();
            if let Some(event) = self.observe(wall, steady) {
                log(event);
            }
        }
        match self.held_ms.load(Ordering::Acquire) {
            UNKNOWN => wall,
            held => at(held, steady),
        }
    }

    /// Returns the time of the machine's clock, sure or not.
    #[must_use]
    pub fn wall(&self) -> Timestamp {
        self.machine.wall()
    }

    /// Returns whether the clock is sure.
    #[must_use]
    pub fn state(&self) -> ClockState {
        // Compares the clocks first: nobody else may have read them since the last jump.
        self.now();
        if self.held_ms.load(Ordering::Acquire) == UNKNOWN {
            return ClockState::Sure;
        }
        self.judgement.lock().unsure.map_or(ClockState::Sure, ClockState::Unsure)
    }

    /// Returns the jump in doubt, by which expiry does not follow the mall's time yet.
    pub(super) fn lag(&self) -> Option<ClockJump> {
        if !self.is_in_doubt.load(Ordering::Acquire) {
            return None;
        }
        let judgement = self.judgement.lock();
        let jump = judgement.lag_at(self.machine.steady());
        self.is_in_doubt.store(jump.is_some(), Ordering::Release);
        jump
    }

    /// Judges the clock at a start against the last stored time of the mall. Returns why the clock is unsure,
    /// if it is.
    pub fn start(&self, last_run: Option<Timestamp>) -> ClockState {
        let mut judgement = self.judgement.lock();
        let (wall, steady) = self.both();
        let plausible = Plausible::at_start(last_run, steady);
        judgement.at_start = Some(plausible);
        let offset = offset_ms(wall, steady);
        let doubt = doubt_of_build(wall).or_else(|| plausible.doubt(offset));
        if let Some(doubt) = doubt {
            self.hold(&mut judgement, plausible, doubt);
        }
        self.offset_ms.store(offset, Ordering::Release);
        doubt.map_or(ClockState::Sure, ClockState::Unsure)
    }

    /// Makes the clock sure because an operator confirmed `seen`, the time that the clock showed a moment
    /// ago. Returns the time of the clock. A sure clock stays as it is.
    ///
    /// # Errors
    /// [`ConfirmError`]: nothing changed.
    pub fn confirm(&self, seen: Timestamp) -> Result<Timestamp, ConfirmError> {
        let mut judgement = self.judgement.lock();
        let (wall, steady) = self.both();
        if judgement.unsure.is_none() {
            return Ok(wall);
        }
        if doubt_of_build(wall).is_some() {
            return Err(ConfirmError::BeforeRelease);
        }
        if wall.since(seen).max(seen.since(wall)) > CONFIRM_WITHIN {
            return Err(ConfirmError::Moved);
        }
        log(self.trust(&mut judgement, wall, steady));
        // The former last run is not what the clock is compared with any more.
        judgement.at_start = Some(Plausible::at_start(Some(wall), steady));
        Ok(wall)
    }

    /// Judges an unsure clock anew, against a time that another instance stored. A sure clock stays as it is.
    pub(in crate::mall) fn adopt(&self, last_run: Timestamp) {
        let mut judgement = self.judgement.lock();
        if judgement.unsure.is_none() {
            return;
        }
        let (wall, steady) = self.both();
        let plausible = Plausible::at_start(Some(last_run), steady);
        judgement.at_start = Some(plausible);
        match doubt_of_build(wall).or_else(|| plausible.doubt(offset_ms(wall, steady))) {
            None => log(self.trust(&mut judgement, wall, steady)),
            Some(doubt) => {
                let by_ms = plausible.sure_ms.saturating_sub(self.held_ms.load(Ordering::Relaxed));
                self.shift(&mut judgement, by_ms, steady);
                self.hold(&mut judgement, plausible, doubt);
            }
        }
    }

    /// Returns whether two consecutive readings agree with the last comparison. Costs one atomic load.
    fn agrees(&self, wall: Timestamp, steady: Duration) -> bool {
        let before = self.offset_ms.load(Ordering::Acquire);
        before != UNKNOWN && offset_ms(wall, steady).abs_diff(before) < DRIFT_IGNORED_MS
    }

    /// Compares two readings taken at one moment. Returns an event only the first time it is seen.
    fn observe(&self, wall: Timestamp, steady: Duration) -> Option<ClockEvent> {
        let offset = offset_ms(wall, steady);
        let before = self.offset_ms.load(Ordering::Acquire);
        let by_ms = offset.saturating_sub(before);
        if before == UNKNOWN || by_ms.unsigned_abs() < JUMP_MIN_MS {
            // Slewing or rounding. Compare-and-set: a reading older than another thread's must not undo the
            // offset of a jump.
            let _ = self.offset_ms.compare_exchange(before, offset, Ordering::AcqRel, Ordering::Relaxed);
            return None;
        }
        let mut judgement = self.judgement.lock();
        if self.offset_ms.load(Ordering::Relaxed) != before {
            // Another thread saw the same jump.
            return None;
        }
        let was_unsure = judgement.unsure;
        let plausible = judgement.plausible.filter(|_| was_unsure.is_some());
        let plausible = plausible.unwrap_or(Plausible::around(before));
        let doubt = doubt_of_build(wall).or_else(|| {
            let is_known = judgement.is_first_setting(offset, steady)
                || judgement.undoes_jump(plausible.sure_ms, offset, steady);
            plausible.doubt(offset).filter(|_| !is_known)
        });
        // The offset is stored last: a thread for which the clocks agree again must find the judgement too.
        let event = match (was_unsure, doubt) {
            (None, None) => {
                self.shift(&mut judgement, by_ms, steady);
                ClockEvent::Jumped(ClockJump::of_millis(by_ms))
            }
            (Some(_), None) => self.trust(&mut judgement, wall, steady),
            (_, Some(doubt)) => {
                self.hold(&mut judgement, plausible, doubt);
                ClockEvent::Unsure(doubt)
            }
        };
        self.offset_ms.store(offset, Ordering::Release);
        Some(event)
    }

    /// Goes on with the last sure time.
    fn hold(&self, judgement: &mut Judgement, plausible: Plausible, doubt: ClockDoubt) {
        judgement.plausible = Some(plausible);
        judgement.unsure = Some(doubt);
        self.held_ms.store(plausible.sure_ms, Ordering::Release);
    }

    /// Follows the machine's clock again.
    fn trust(&self, judgement: &mut Judgement, wall: Timestamp, steady: Duration) -> ClockEvent {
        let by_ms = offset_ms(wall, steady).saturating_sub(self.held_ms.load(Ordering::Relaxed));
        self.shift(judgement, by_ms, steady);
        judgement.unsure = None;
        judgement.plausible = None;
        self.offset_ms.store(offset_ms(wall, steady), Ordering::Release);
        self.held_ms.store(UNKNOWN, Ordering::Release);
        ClockEvent::Sure(ClockJump::of_millis(by_ms))
    }

    /// Notes that the mall's time moves by more than the elapsed time.
    fn shift(&self, judgement: &mut Judgement, by_ms: i64, steady: Duration) {
        let earlier = judgement.lag_at(steady).map_or(0, ClockJump::as_millis);
        let jump = earlier.saturating_add(by_ms);
        // Back at the earlier offset: nothing is in doubt.
        let is_over = jump.unsigned_abs() < JUMP_MIN_MS;
        judgement.lag =
            (!is_over).then(|| Lag { jump: ClockJump::of_millis(jump), until: steady + DOUBT_DURATION });
        self.is_in_doubt.store(!is_over, Ordering::Release);
    }

    /// Reads both clocks at one moment. Retries if the thread was suspended between the reads, which would
    /// look like a jump.
    fn both(&self) -> (Timestamp, Duration) {
        /// Longest accepted time for one pair of reads; normal is less than a microsecond.
        const READ_MAX: Duration = Duration::from_secs(1);
        loop {
            let before = self.machine.steady();
            let wall = self.machine.wall();
            let after = self.machine.steady();
            if after.saturating_sub(before) < READ_MAX {
                return (wall, after);
            }
        }
    }
}

fn doubt_of_build(wall: Timestamp) -> Option<ClockDoubt> {
    (wall < EARLIEST_BUILD).then_some(ClockDoubt::BeforeRelease)
}

fn at(offset_ms: i64, steady: Duration) -> Timestamp {
    Timestamp::from_millis(offset_ms) + steady
}

fn log(event: ClockEvent) {
    match event {
        ClockEvent::Jumped(jump) => tracing::warn!(jump_seconds = jump.seconds(), "{event}"),
        ClockEvent::Unsure(doubt) => tracing::warn!(doubt = doubt.name(), "{event}"),
        ClockEvent::Sure(by) => tracing::info!(moved_seconds = by.seconds(), "{event}"),
    }
}
