//! Judgements of a clock that a test sets.

use std::sync::Arc;

use super::*;
use crate::mall::base::clock_doubt::EARLIEST_BUILD;

const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(24 * 3_600);

/// A machine whose clocks a test sets.
#[derive(Clone)]
struct Machine(Arc<Mutex<(Timestamp, Duration)>>);

impl MachineTime for Machine {
    fn wall(&self) -> Timestamp {
        self.0.lock().0
    }

    fn steady(&self) -> Duration {
        self.0.lock().1
    }
}

impl Machine {
    /// Lets time pass.
    fn pass(&self, span: Duration) {
        let mut clocks = self.0.lock();
        *clocks = (clocks.0 + span, clocks.1 + span);
    }

    /// Sets the wall clock.
    fn set(&self, wall: Timestamp) {
        self.0.lock().0 = wall;
    }
}

/// Returns a guard that started at noon, a day after the last run, with its machine, up for two days.
fn sure() -> (Machine, ClockGuard) {
    started(NOON, Some(NOON - DAY), 2 * DAY)
}

fn started(wall: Timestamp, last_run: Option<Timestamp>, up: Duration) -> (Machine, ClockGuard) {
    let machine = Machine(Arc::new(Mutex::new((wall, up))));
    let guard = ClockGuard::new(Box::new(machine.clone()));
    guard.start(last_run);
    (machine, guard)
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn doubt(guard: &ClockGuard) -> Option<ClockDoubt> {
    guard.state().doubt()
}

#[test]
fn a_start_is_judged_by_the_last_run_and_by_the_age_of_the_version() {
    let behind = |span| Some(ClockDoubt::Behind(span));
    let ahead = |span| Some(ClockDoubt::Ahead(span));
    for (wall, want) in [
        (NOON, None),
        (NOON - seconds(120), None),
        (NOON - seconds(121), behind(seconds(121))),
        (NOON - DAY, behind(DAY)),
        (NOON + 400 * DAY, None),
        (NOON + 400 * DAY + seconds(1), ahead(400 * DAY + seconds(1))),
        (NOON + 3_650 * DAY, ahead(3_650 * DAY)),
        (Timestamp::from_millis(0), Some(ClockDoubt::BeforeRelease)),
    ] {
        let (_, guard) = started(wall, Some(NOON), 2 * DAY);
        assert_eq!(doubt(&guard), want, "{wall:?}");
        assert_eq!(guard.now(), if want.is_some() { NOON } else { wall }, "{wall:?}");
    }
    // A mall without a last run starts at any time that can be right.
    let (_, guard) = started(NOON + 3_650 * DAY, None, 2 * DAY);
    assert_eq!(doubt(&guard), None);
    let (_, guard) = started(EARLIEST_BUILD - seconds(1), None, 2 * DAY);
    assert_eq!((doubt(&guard), guard.now()), (Some(ClockDoubt::BeforeRelease), EARLIEST_BUILD));
}

#[test]
fn beside_an_unsure_clock_the_malls_time_goes_on_from_the_last_sure_time() {
    for wall in [Timestamp::from_millis(0), NOON - DAY, NOON + 3_650 * DAY] {
        let (machine, guard) = started(wall, Some(NOON), 2 * DAY);
        assert_eq!(guard.now(), NOON);
        machine.pass(HOUR);
        assert_eq!((guard.now(), guard.wall(), guard.lag()), (NOON + HOUR, wall + HOUR, None));
        // Another wrong time changes nothing.
        machine.set(NOON + 9_999 * DAY);
        assert_eq!(guard.now(), NOON + HOUR);
        // NTP sets the clock: three days have passed in truth. Expiry follows an hour later.
        machine.set(NOON + 3 * DAY);
        assert_eq!((guard.now(), doubt(&guard)), (NOON + 3 * DAY, None));
        assert_eq!(guard.lag().map(ClockJump::ahead), Some(3 * DAY - HOUR));
        machine.pass(HOUR);
        assert_eq!(guard.lag(), None);
    }
}

#[test]
fn a_jump_of_a_running_clock_is_followed_if_small_and_doubted_if_large() {
    let (seconds_back, day) = (|span| NOON - seconds(span), seconds(86_400));
    for (to, want) in [
        (seconds_back(9), None),
        (seconds_back(120), None),
        (seconds_back(121), Some(ClockDoubt::Behind(seconds(121)))),
        (NOON - DAY, Some(ClockDoubt::Behind(DAY))),
        (NOON + HOUR, None),
        (NOON + DAY, None),
        (NOON + DAY + seconds(1), Some(ClockDoubt::Ahead(day + seconds(1)))),
        (NOON + 3_650 * DAY, Some(ClockDoubt::Ahead(3_650 * DAY))),
        (Timestamp::from_millis(0), Some(ClockDoubt::BeforeRelease)),
    ] {
        let (machine, guard) = sure();
        assert_eq!(guard.now(), NOON);
        machine.set(to);
        assert_eq!(doubt(&guard), want, "{to:?}");
        machine.pass(HOUR / 2);
        assert_eq!(guard.now(), if want.is_some() { NOON } else { to } + HOUR / 2, "{to:?}");
        // Set back: sure again, and expiry lags no more.
        machine.set(NOON + HOUR / 2);
        assert_eq!((guard.now(), doubt(&guard), guard.lag()), (NOON + HOUR / 2, None, None), "{to:?}");
    }
}

#[test]
fn a_machine_without_a_battery_gets_its_time_within_an_hour_of_its_boot() {
    // The clock stands at the last stop of the machine, and three days have passed: NTP sets it.
    let (machine, guard) = started(NOON, Some(NOON), seconds(30));
    machine.pass(HOUR / 2);
    machine.set(NOON + 3 * DAY);
    assert_eq!((doubt(&guard), guard.now()), (None, NOON + 3 * DAY));

    // A battery in local time: eight hours ahead, until NTP sets the clock back.
    let (machine, guard) = started(NOON + DAY + 8 * HOUR, Some(NOON), seconds(30));
    machine.pass(seconds(60));
    machine.set(NOON + DAY + seconds(60));
    assert_eq!((doubt(&guard), guard.now()), (None, NOON + DAY + seconds(60)));

    // Outside the times plausible at a start, and later, the same jumps are doubted.
    let (machine, guard) = started(NOON, Some(NOON), seconds(30));
    machine.set(NOON + 3_650 * DAY);
    assert!(doubt(&guard).is_some());
    let (machine, guard) = started(NOON, Some(NOON), seconds(30));
    machine.pass(HOUR);
    machine.set(NOON + 3 * DAY);
    assert!(doubt(&guard).is_some());
}

#[test]
fn an_operator_confirms_the_time_that_was_seen() {
    let late = NOON + 500 * DAY;
    let (machine, guard) = started(late, Some(NOON), 2 * DAY);
    assert_eq!(guard.confirm(NOON), Err(ConfirmError::Moved));
    assert!(doubt(&guard).is_some());
    machine.pass(seconds(300));
    assert_eq!(guard.confirm(late), Ok(late + seconds(300)));
    assert_eq!((doubt(&guard), guard.now()), (None, late + seconds(300)));
    // Unpaid orders and sessions still get their time.
    assert_eq!(guard.lag().map(ClockJump::ahead), Some(500 * DAY));
    assert_eq!(guard.confirm(NOON), Ok(late + seconds(300)), "a sure clock stays as it is");

    // Backwards too: the former time was wrong.
    let (machine, guard) = started(NOON - DAY, Some(NOON), 2 * DAY);
    assert_eq!(guard.confirm(NOON - DAY), Ok(NOON - DAY));
    machine.pass(HOUR);
    assert_eq!((guard.now(), guard.lag()), (NOON - DAY + HOUR, None));

    let (_, guard) = started(Timestamp::from_millis(0), Some(NOON), 2 * DAY);
    assert_eq!(guard.confirm(Timestamp::from_millis(0)), Err(ConfirmError::BeforeRelease));
    assert!(doubt(&guard).is_some());
}

#[test]
fn an_unsure_clock_is_judged_by_what_another_instance_stored() {
    let (machine, guard) = started(NOON + 500 * DAY, Some(NOON), 2 * DAY);
    // The other instance is not much further: doubted as before, with a newer time.
    guard.adopt(NOON + DAY);
    assert_eq!((guard.now(), doubt(&guard)), (NOON + DAY, Some(ClockDoubt::Ahead(499 * DAY))));
    machine.pass(HOUR);
    guard.adopt(NOON + 500 * DAY);
    assert_eq!((guard.now(), doubt(&guard)), (NOON + 500 * DAY + HOUR, None));
    // A sure clock is judged by no stored time.
    guard.adopt(NOON);
    assert_eq!(doubt(&guard), None);
}

#[test]
fn a_clock_that_runs_or_is_slewed_never_jumps() {
    let (machine, guard) = sure();
    let offset = |guard: &ClockGuard| guard.offset_ms.load(Ordering::Relaxed);
    for step in 0..10_000_u64 {
        machine.pass(seconds(1));
        machine.set(machine.wall() + Duration::from_millis(step % 9));
        assert_eq!(guard.now(), machine.wall());
    }
    assert_eq!((guard.lag(), doubt(&guard)), (None, None));
    assert!(offset(&guard).abs_diff(offset_ms(machine.wall(), machine.steady())) < DRIFT_IGNORED_MS);
}

#[test]
fn a_followed_jump_is_in_doubt_for_an_hour_of_passing_time() {
    let (machine, guard) = sure();
    machine.pass(seconds(6));
    machine.set(machine.wall() + HOUR);
    let event = guard.observe(machine.wall(), machine.steady());
    assert_eq!(event, Some(ClockEvent::Jumped(ClockJump::forward(HOUR))));
    assert_eq!(guard.observe(machine.wall(), machine.steady()), None, "reported once");
    assert_eq!(guard.lag().map(ClockJump::ahead), Some(HOUR));
    machine.pass(seconds(3_599));
    assert!(guard.lag().is_some());
    machine.pass(seconds(1));
    assert_eq!(guard.lag(), None);
}

#[test]
fn a_thread_that_finds_the_clocks_to_agree_after_a_jump_finds_the_doubt() {
    for (to, is_unsure) in [(NOON + HOUR, false), (NOON - HOUR, true)] {
        for _ in 0..200 {
            let (machine, guard) = sure();
            machine.set(to);
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        assert_eq!(guard.now(), if is_unsure { NOON } else { to });
                        assert_eq!(guard.state().doubt().is_some(), is_unsure);
                        assert_eq!(guard.lag().is_some(), !is_unsure);
                    });
                }
            });
        }
    }
}
