//! Circuit breakers of segments: what keeps failing is called no more for a while.
//!
//! | state | runs | ends when |
//! | --- | --- | --- |
//! | closed | pass, and outcomes count | the share of failures in the window reaches the rule's: open |
//! | open | wait, and spend no attempt | the pause is over: half-open |
//! | half-open | one run is the probe, the rest wait | the probe passes: closed; fails: open, twice as long |
//!
//! Time is the mall's clock. Each instance has its own breakers: instances differ in what they can reach.
//!
//! Not the breaker of `storage/production/src/breaker.rs`, which guards a server that is called thousands of
//! times a second: real time in slots of 500 ms, probes of its own beside the calls, several trial calls, and
//! slow responses as failures. Here a run is the only probe there is, and minutes lie between two calls. Of
//! the crates, `recloser` counts the last calls however old, with its own clock; `failsafe` opens by
//! consecutive failures or a decaying rate, with its own clock, and has been without release for years.

use std::collections::HashMap;
use std::time::Duration;

use mallbox_storage::Timestamp;
use parking_lot::Mutex;

/// Number of slots of a window. Outcomes are counted per slot.
const SLOTS: usize = 6;
/// Number of breakers from which idle breakers are dropped.
const BREAKERS_MAX: usize = 1_024;
/// Time after which a probe without outcome is given up: longer than any run of a segment.
const PROBE_LOST_AFTER: Duration = Duration::from_secs(60);

/// When a breaker opens, and for how long.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BreakerRule {
    /// Time for which outcomes count.
    pub window: Duration,
    /// Minimum number of runs in the window.
    pub runs_min: u32,
    /// Share of failures that opens the breaker, in percent.
    pub failures_percent: u32,
    /// Pause after the opening. Each failed probe doubles the pause.
    pub pause: Duration,
    /// Longest pause.
    pub pause_max: Duration,
}

impl Default for BreakerRule {
    fn default() -> Self {
        Self {
            window: Duration::from_secs(60),
            runs_min: 10,
            failures_percent: 50,
            pause: Duration::from_secs(10),
            pause_max: Duration::from_secs(300),
        }
    }
}

/// State of a breaker.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum BreakerState {
    /// Runs pass.
    Closed,
    /// One run probes, the rest wait.
    HalfOpen,
    /// Runs wait.
    Open,
}

/// Whether a segment may run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Admission {
    /// The segment may run. The number goes with the outcome.
    Run(u64),
    /// The breaker is open. Ask again at this time.
    Wait(Timestamp),
}

#[derive(Clone, Copy, Default, Debug)]
struct Slot {
    number: i64,
    runs: u32,
    failures: u32,
}

#[derive(Debug)]
enum Phase {
    Closed([Slot; SLOTS]),
    Open { pause: Duration, until: Timestamp },
    HalfOpen { pause: Duration, since: Timestamp },
}

/// One breaker, without a lock or a clock.
#[derive(Debug)]
struct Breaker {
    rule: BreakerRule,
    phase: Phase,
    /// Number of phase changes. An outcome of an earlier phase does not count.
    epoch: u64,
}

impl Breaker {
    fn new(rule: BreakerRule) -> Self {
        Self { rule, phase: Phase::Closed(Default::default()), epoch: 0 }
    }

    fn state(&self) -> BreakerState {
        match self.phase {
            Phase::Closed(_) => BreakerState::Closed,
            Phase::HalfOpen { .. } => BreakerState::HalfOpen,
            Phase::Open { .. } => BreakerState::Open,
        }
    }

    fn admit(&mut self, now: Timestamp) -> Admission {
        let pause = match self.phase {
            Phase::Closed(_) => return Admission::Run(self.epoch),
            // A clock set back must not keep the breaker open for longer than its pause.
            Phase::Open { pause, until } if now < until && until <= now + pause => {
                return Admission::Wait(until);
            }
            Phase::HalfOpen { since, .. } if since <= now && now < since + PROBE_LOST_AFTER => {
                return Admission::Wait(now + self.rule.pause);
            }
            Phase::Open { pause, .. } | Phase::HalfOpen { pause, .. } => pause,
        };
        self.enter(Phase::HalfOpen { pause, since: now });
        Admission::Run(self.epoch)
    }

    /// Counts the outcome of a run admitted in `epoch`.
    fn record(&mut self, epoch: u64, has_failed: bool, now: Timestamp) {
        if epoch != self.epoch {
            return;
        }
        match &mut self.phase {
            Phase::Closed(slots) => {
                if count(slots, &self.rule, has_failed, now) {
                    self.open(self.rule.pause, now);
                }
            }
            Phase::HalfOpen { .. } if !has_failed => self.enter(Phase::Closed(Default::default())),
            Phase::HalfOpen { pause, .. } => {
                let pause = (*pause * 2).min(self.rule.pause_max);
                self.open(pause, now);
            }
            Phase::Open { .. } => {}
        }
    }

    fn open(&mut self, pause: Duration, now: Timestamp) {
        self.enter(Phase::Open { pause, until: now + pause });
    }

    fn enter(&mut self, phase: Phase) {
        self.epoch += 1;
        self.phase = phase;
    }

    /// Whether the breaker is as a new one: closed, and nothing counts in its window.
    fn is_idle(&self, now: Timestamp) -> bool {
        let Phase::Closed(slots) = &self.phase else { return false };
        let number = slot_number(&self.rule, now);
        slots.iter().all(|slot| slot.runs == 0 || !is_live(slot, number))
    }
}

/// Counts an outcome. Returns whether to open the breaker.
fn count(slots: &mut [Slot; SLOTS], rule: &BreakerRule, has_failed: bool, now: Timestamp) -> bool {
    let number = slot_number(rule, now);
    let place = usize::try_from(number.rem_euclid(SLOTS as i64)).unwrap_or(0);
    if slots[place].number != number {
        slots[place] = Slot { number, ..Slot::default() };
    }
    slots[place].runs = slots[place].runs.saturating_add(1);
    slots[place].failures = slots[place].failures.saturating_add(u32::from(has_failed));
    let live = slots.iter().filter(|slot| is_live(slot, number));
    let (runs, failures) = live.fold((0_u64, 0_u64), |(runs, failures), slot| {
        (runs + u64::from(slot.runs), failures + u64::from(slot.failures))
    });
    has_failed
        && runs >= u64::from(rule.runs_min)
        && failures * 100 >= runs * u64::from(rule.failures_percent)
}

fn slot_number(rule: &BreakerRule, now: Timestamp) -> i64 {
    let slot_ms = i64::try_from(rule.window.as_millis()).unwrap_or(i64::MAX) / SLOTS as i64;
    now.as_millis().div_euclid(slot_ms.max(1))
}

fn is_live(slot: &Slot, number: i64) -> bool {
    (number - SLOTS as i64 + 1..=number).contains(&slot.number)
}

/// The breakers of a kind of work, by segment and remote party.
#[derive(Debug)]
pub(super) struct Breakers {
    rule: Option<BreakerRule>,
    by_name: Mutex<HashMap<String, Breaker>>,
}

impl Breakers {
    /// Creates closed breakers. Without a rule, every run passes.
    pub(super) fn new(rule: Option<BreakerRule>) -> Self {
        Self { rule, by_name: Mutex::default() }
    }

    pub(super) fn admit(&self, name: &str, now: Timestamp) -> Admission {
        let Some(rule) = self.rule else { return Admission::Run(0) };
        let mut by_name = self.by_name.lock();
        if let Some(breaker) = by_name.get_mut(name) {
            return breaker.admit(now);
        }
        if by_name.len() >= BREAKERS_MAX {
            by_name.retain(|_, breaker| !breaker.is_idle(now));
        }
        by_name.entry(name.to_owned()).or_insert_with(|| Breaker::new(rule)).admit(now)
    }

    /// Counts the outcome of a run. Logs a change of state.
    pub(super) fn record(&self, kind: &str, name: &str, epoch: u64, has_failed: bool, now: Timestamp) {
        let mut by_name = self.by_name.lock();
        let Some(breaker) = by_name.get_mut(name) else { return };
        let before = breaker.state();
        breaker.record(epoch, has_failed, now);
        match (before, breaker.state()) {
            (BreakerState::Closed, BreakerState::Open) => {
                tracing::warn!(kind, breaker = name, "opened the circuit breaker of the retry queue");
            }
            (BreakerState::HalfOpen, BreakerState::Closed) => {
                tracing::info!(kind, breaker = name, "closed the circuit breaker of the retry queue");
            }
            _ => {}
        }
    }

    /// Returns the breakers that are not closed, by name.
    pub(super) fn not_closed(&self) -> Vec<(String, BreakerState)> {
        let by_name = self.by_name.lock();
        let mut found: Vec<_> = by_name
            .iter()
            .filter(|(_, breaker)| breaker.state() != BreakerState::Closed)
            .map(|(name, breaker)| (name.clone(), breaker.state()))
            .collect();
        found.sort();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
    const SECOND: Duration = Duration::from_secs(1);

    fn rule() -> BreakerRule {
        BreakerRule { runs_min: 4, pause: SECOND * 10, pause_max: SECOND * 35, ..BreakerRule::default() }
    }

    /// Runs once per letter: `+` passes, `-` fails. Returns whether the breaker is open afterwards.
    fn opens(breaker: &mut Breaker, runs: &str, now: Timestamp) -> bool {
        for run in runs.chars() {
            let Admission::Run(epoch) = breaker.admit(now) else { panic!("{runs}: refused") };
            breaker.record(epoch, run == '-', now);
        }
        breaker.state() == BreakerState::Open
    }

    #[test]
    fn the_share_of_failures_in_the_window_opens_the_breaker() {
        for (runs, is_open) in [
            ("---", false),
            ("----", true),
            ("+++---", true),
            ("++++---", false),
            ("++++----", true),
            ("++--", true),
            ("+++--", false),
        ] {
            assert_eq!(opens(&mut Breaker::new(rule()), runs, NOON), is_open, "{runs}");
        }
    }

    #[test]
    fn failures_older_than_the_window_count_no_more() {
        let mut breaker = Breaker::new(rule());
        assert!(!opens(&mut breaker, "---", NOON));
        assert!(!opens(&mut breaker, "-", NOON + SECOND * 60));
        let mut breaker = Breaker::new(rule());
        assert!(!opens(&mut breaker, "---", NOON));
        assert!(opens(&mut breaker, "-", NOON + SECOND * 49));
    }

    #[test]
    fn one_probe_closes_the_breaker_or_doubles_the_pause() {
        let mut breaker = Breaker::new(rule());
        assert!(opens(&mut breaker, "----", NOON));
        let mut now = NOON;
        for pause in [10, 20, 35, 35] {
            let until = now + SECOND * pause;
            assert_eq!(breaker.admit(until - Duration::from_millis(1)), Admission::Wait(until));
            let Admission::Run(probe) = breaker.admit(until) else { panic!("no probe after {pause} s") };
            assert_eq!(breaker.admit(until), Admission::Wait(until + SECOND * 10), "one probe at a time");
            breaker.record(probe, true, until);
            now = until;
        }
        now = now + SECOND * 35;
        let Admission::Run(probe) = breaker.admit(now) else { panic!("no probe") };
        breaker.record(probe, false, now);
        assert_eq!(breaker.state(), BreakerState::Closed);
        assert!(!opens(&mut breaker, "---", now), "the window is empty");
    }

    #[test]
    fn outcomes_of_an_earlier_phase_and_lost_probes_decide_nothing() {
        let mut breaker = Breaker::new(rule());
        let Admission::Run(late) = breaker.admit(NOON) else { panic!("closed") };
        assert!(opens(&mut breaker, "----", NOON));
        let now = NOON + SECOND * 10;
        let Admission::Run(lost) = breaker.admit(now) else { panic!("no probe") };
        breaker.record(late, false, now);
        assert_eq!(breaker.state(), BreakerState::HalfOpen);
        let Admission::Run(second) = breaker.admit(now + PROBE_LOST_AFTER) else { panic!("no second probe") };
        breaker.record(lost, false, now);
        assert_eq!(breaker.state(), BreakerState::HalfOpen);
        breaker.record(second, false, now);
        assert_eq!(breaker.state(), BreakerState::Closed);
    }

    #[test]
    fn a_clock_set_back_leaves_no_breaker_open() {
        let mut breaker = Breaker::new(rule());
        assert!(opens(&mut breaker, "----", NOON));
        assert!(matches!(breaker.admit(NOON - SECOND), Admission::Run(_)));
    }

    #[test]
    fn parties_have_separate_breakers_and_idle_ones_are_dropped() {
        let breakers = Breakers::new(Some(rule()));
        for number in 0..BREAKERS_MAX {
            let name = number.to_string();
            for _ in 0..if number == 0 { 4 } else { 1 } {
                let Admission::Run(epoch) = breakers.admit(&name, NOON) else { panic!("{name}") };
                breakers.record("kind", &name, epoch, true, NOON);
            }
        }
        assert_eq!(breakers.not_closed(), [("0".to_owned(), BreakerState::Open)]);
        let later = NOON + SECOND * 120;
        assert!(matches!(breakers.admit("new", later), Admission::Run(_)));
        assert_eq!(breakers.by_name.lock().len(), 2);
        let none = Breakers::new(None);
        for _ in 0..9 {
            assert_eq!(none.admit("any", NOON), Admission::Run(0));
            none.record("kind", "any", 0, true, NOON);
        }
    }
}
