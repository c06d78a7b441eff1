//! Tests the state machine against a model, and the breaker around a server that is simulated by a flag.

use std::sync::atomic::AtomicBool;

use tokio::sync::Notify;
use tokio::task::yield_now;

use super::*;

const MS: Duration = Duration::from_millis(1);

/// Good trials, and trials in flight.
type Trials = (u32, u32);
/// A way to end a call.
type End = fn(Pass<'_>);

/// The circuit by its definition: the model keeps the whole history, and evaluates the history on each query.
#[derive(Default)]
struct Model {
    /// Outcomes of the closed phase, with slot numbers.
    calls: Vec<(u128, bool)>,
    /// Pause, due time of the next probe and, in the half-open phase, the trials.
    open: Option<(Duration, Duration, Option<Trials>)>,
    /// Names of admitted calls that still count.
    admitted: Vec<u64>,
    opened: u64,
}

impl Model {
    fn state(&self) -> CircuitState {
        match self.open {
            None => CircuitState::Closed,
            Some((_, _, None)) => CircuitState::Open,
            Some(_) => CircuitState::HalfOpen,
        }
    }

    fn admit(&mut self, name: u64) -> bool {
        let may = match &mut self.open {
            None => true,
            Some((_, _, Some((_, on_trial)))) if *on_trial < 3 => {
                *on_trial += 1;
                true
            }
            Some(_) => false,
        };
        if may {
            self.admitted.push(name);
        }
        may
    }

    fn settle(&mut self, name: u64, outcome: Outcome, now: Duration) {
        let Some(place) = self.admitted.iter().position(|admitted| *admitted == name) else { return };
        self.admitted.remove(place);
        if self.open.is_some() {
            if let Some((_, _, Some((_, on_trial)))) = &mut self.open {
                *on_trial -= 1;
            }
            return self.tried(outcome, now);
        }
        if outcome == Outcome::Unknown {
            return;
        }
        let slot = now.as_millis() / 500;
        self.calls.push((slot, outcome == Outcome::Bad));
        let live = self.calls.iter().filter(|(at, _)| at + 6 > slot);
        let (all, bad) = (live.clone().count(), live.filter(|(_, is_bad)| *is_bad).count());
        if outcome == Outcome::Bad && all >= 4 && 2 * bad >= all {
            self.opened += 1;
            self.rest(250 * MS, now);
        }
    }

    fn rest(&mut self, rest: Duration, now: Duration) {
        self.admitted.clear();
        self.open = Some((rest, now + rest, None));
    }

    fn longer(&mut self, now: Duration) {
        let rest = self.open.map_or(125 * MS, |(rest, ..)| rest);
        self.rest((rest * 2).min(1_000 * MS), now);
    }

    fn tried(&mut self, outcome: Outcome, now: Duration) {
        match (outcome, &mut self.open) {
            (Outcome::Good, Some((_, _, Some((good, _))))) => {
                *good += 1;
                if *good == 3 {
                    *self = Self { opened: self.opened, ..Self::default() };
                }
            }
            (Outcome::Bad, _) => {
                self.opened += 1;
                self.longer(now);
            }
            _ => {}
        }
    }

    fn probed(&mut self, is_answered: bool, now: Duration) {
        match (&mut self.open, is_answered) {
            (None, _) => {}
            (Some(_), false) => self.longer(now),
            (Some((_, probe_at, Some((_, on_trial)))), true) => {
                *probe_at = now + 50 * MS;
                if *on_trial == 0 {
                    self.tried(Outcome::Good, now);
                }
            }
            (Some((_, probe_at, trial)), true) => {
                (*probe_at, *trial) = (now + 50 * MS, Some((0, 0)));
                self.admitted.clear();
            }
        }
    }
}

/// Returns a number below `sides` from the splitmix64 generator.
fn dice(seed: &mut u64, sides: u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *seed;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31)) % sides
}

#[test]
fn random_calls_and_probes_leave_the_circuit_where_the_model_is() {
    let mut met = [0_u32; 3];
    for seed in 0..300 {
        let (mut circuit, mut model, mut random) = (Circuit::new(), Model::default(), seed);
        let (mut now, mut next, mut under_way) = (Duration::ZERO, 0, Vec::<(u64, u64)>::new());
        for step in 0..400 {
            now += MS * u32::try_from(dice(&mut random, 200)).unwrap();
            match dice(&mut random, 8) {
                0..=2 => {
                    let admitted = circuit.admit();
                    assert_eq!(admitted.is_some(), model.admit(next), "seed {seed}, step {step}");
                    under_way.extend(admitted.map(|epoch| (next, epoch)));
                    next += 1;
                }
                3..=6 if !under_way.is_empty() => {
                    let place = usize::try_from(dice(&mut random, under_way.len() as u64)).unwrap();
                    let (name, epoch) = under_way.swap_remove(place);
                    // The error rate alternates between good and bad periods of some seconds.
                    let bad_of_ten = if now.as_secs().is_multiple_of(8) { 9 } else { 2 };
                    let outcome = match dice(&mut random, 10) {
                        0 => Outcome::Unknown,
                        number if number <= bad_of_ten => Outcome::Bad,
                        _ => Outcome::Good,
                    };
                    circuit.settle(epoch, outcome, now);
                    model.settle(name, outcome, now);
                }
                _ if circuit.probe_at().is_some_and(|at| at <= now) => {
                    let is_answered = dice(&mut random, 3) > 0;
                    circuit.probed(is_answered, now);
                    model.probed(is_answered, now);
                }
                _ => {}
            }
            assert_eq!(circuit.state(), model.state(), "seed {seed}, step {step}");
            assert_eq!(circuit.opened, model.opened, "seed {seed}, step {step}");
            assert_eq!(circuit.probe_at(), model.open.map(|(_, at, _)| at), "seed {seed}, step {step}");
            met[circuit.state() as usize] += 1;
        }
    }
    assert!(met.iter().all(|times| *times > 5_000), "{met:?}");
}

#[test]
fn a_few_lost_calls_among_many_open_nothing_and_silence_after_a_rush_does_within_the_window() {
    let mut circuit = Circuit::new();
    let call = |circuit: &mut Circuit, outcome, ms: u32| {
        let epoch = circuit.admit()?;
        circuit.settle(epoch, outcome, MS * ms);
        Some(circuit.state())
    };
    for number in 0..20_000 {
        let outcome = if number % 100 >= 60 { Outcome::Bad } else { Outcome::Good };
        assert_eq!(call(&mut circuit, outcome, number / 10), Some(CircuitState::Closed), "{number}");
    }
    // 64 callers, each with a timeout of 0.6 s.
    let opened =
        (2_000..).step_by(10).find(|ms| call(&mut circuit, Outcome::Bad, *ms) != Some(CircuitState::Closed));
    assert!(opened.is_some_and(|ms| (3_000..5_000).contains(&ms)), "{opened:?}");
}

/// A clock that the test advances.
#[derive(Default)]
struct ManualTime {
    now: Mutex<Duration>,
    moved: Notify,
}

impl Clock for ManualTime {
    fn now(&self) -> Duration {
        *self.now.lock()
    }

    fn sleep(&self, span: Duration) -> BoxFuture<'_, ()> {
        let until = self.now() + span;
        Box::pin(async move {
            loop {
                let moved = self.moved.notified();
                if self.now() >= until {
                    return;
                }
                moved.await;
            }
        })
    }
}

/// A breaker before a simulated server that replies while a flag is set.
struct World {
    breaker: Arc<Breaker>,
    time: Arc<ManualTime>,
    answers: Arc<AtomicBool>,
    probes: Arc<AtomicU64>,
}

impl World {
    fn new(answers: bool) -> Self {
        let (answers, probes) = (Arc::new(AtomicBool::new(answers)), Arc::new(AtomicU64::new(0)));
        let (flag, count) = (Arc::clone(&answers), Arc::clone(&probes));
        let probe: Probe = Box::new(move || {
            count.fetch_add(1, Ordering::SeqCst);
            let is_answered = flag.load(Ordering::SeqCst);
            Box::pin(async move { is_answered })
        });
        let time = Arc::new(ManualTime::default());
        let (its_time, address) = (Arc::clone(&time), "a:1".to_owned());
        let breaker = Breaker::by_time(its_time, "Redis", address, 100 * MS, (Handle::current(), probe));
        Self { breaker, time, answers, probes }
    }

    /// Advances the clock in steps of 1 ms, and lets the probe task run after each step.
    async fn pass(&self, span: Duration) {
        let until = self.time.now() + span;
        while self.time.now() < until {
            *self.time.now.lock() += MS;
            self.time.moved.notify_waiters();
            for _ in 0..4 {
                yield_now().await;
            }
        }
    }

    fn probes(&self) -> u64 {
        self.probes.load(Ordering::SeqCst)
    }

    fn state(&self) -> CircuitState {
        self.breaker.health().state
    }

    fn lose(&self, calls: u64) {
        (0..calls).for_each(|_| self.breaker.admit().unwrap().lost(&"nobody is there"));
    }
}

#[tokio::test]
async fn an_open_breaker_refuses_at_once_and_probes_alone_until_the_server_is_back() {
    let world = World::new(false);
    world.lose(CALLS_MIN);
    assert_eq!(world.state(), CircuitState::Open);
    for _ in 0..1_000 {
        let refused = world.breaker.admit().map(Pass::unused).unwrap_err();
        assert_eq!(refused.to_string(), "Redis is not called until it responds again: nobody is there");
        world.pass(10 * MS).await;
    }
    // In 10 s: probes after 0.25 s, after 0.5 s, and then every second or a little earlier.
    assert!((10..=16).contains(&world.probes()), "{}", world.probes());
    world.answers.store(true, Ordering::SeqCst);
    world.pass(2 * REST_MAX).await;
    assert_eq!(world.state(), CircuitState::Closed, "without a single call");
    let count = world.probes();
    world.pass(10 * REST_MAX).await;
    assert_eq!(world.probes(), count, "a closed circuit is not probed");
    let health = world.breaker.health();
    assert_eq!((health.opened, health.refused), (1, 1_000));
}

#[tokio::test]
async fn what_counts_against_a_server_is_a_lost_connection_silence_and_slowness() {
    let cases: [(&str, End, u32, bool); 9] = [
        ("quick", |pass| pass.answered(), 99, false),
        ("slow", |pass| pass.answered(), 100, true),
        ("slow among locks", |pass| pass.lenient().answered(), 100, false),
        ("lost", |pass| pass.lost(&"gone"), 0, true),
        ("lost among locks", |pass| pass.lenient().lost(&"gone"), 0, true),
        ("silent", |pass| pass.silent(&"no answer"), 100, true),
        ("silent among locks", |pass| pass.lenient().silent(&"no answer"), 100, false),
        ("given up at once", |pass| drop(pass), 49, false),
        ("given up after a while", |pass| drop(pass), 50, true),
    ];
    for (name, end, took_ms, opens) in cases {
        let world = World::new(true);
        for _ in 0..CALLS_MIN {
            let pass = world.breaker.admit().unwrap();
            world.pass(MS * took_ms).await;
            end(pass);
        }
        assert_eq!(world.state() == CircuitState::Open, opens, "{name}");
    }
}

#[tokio::test]
async fn a_herd_at_a_half_open_breaker_is_three_calls() {
    let world = World::new(false);
    world.lose(CALLS_MIN);
    world.answers.store(true, Ordering::SeqCst);
    while world.state() != CircuitState::HalfOpen {
        world.pass(MS).await;
    }
    let herd: Vec<_> = (0..1_000).filter_map(|_| world.breaker.admit().ok()).collect();
    assert_eq!(herd.len(), 3);
    // Probes do not decide while trial calls are in flight.
    world.pass(90 * MS).await;
    assert_eq!(world.state(), CircuitState::HalfOpen);
    herd.into_iter().for_each(Pass::answered);
    assert_eq!(world.state(), CircuitState::Closed);
}
