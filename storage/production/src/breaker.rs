//! A circuit breaker before a server: while the server is unreachable, silent or slow, calls fail at once.
//!
//! | state | calls | ends when |
//! | --- | --- | --- |
//! | closed | pass, and outcomes count | half of the calls in the window were bad: open |
//! | open | fail at once | a probe succeeds: half-open |
//! | half-open | up to [`TRIALS`] in flight, the rest fail | [`TRIALS`] were good: closed; a bad one: open |
//!
//! The window covers [`WINDOW_SLOTS`] slots of [`SLOT`], and a circuit opens on [`CALLS_MIN`] calls or more.
//! A bad call found no connection, lost the connection, or took longer than the server's limit. An error
//! reply is a good call. A call that waits for locks of other clients is [lenient](Pass::lenient), since the
//! wait says nothing about the server's health.
//!
//! One background task per process probes the server, so no caller ever waits for a probe. The first probe
//! follows [`PROBE_PAUSE_MIN`] after the opening. Each failed probe doubles the pause, up to [`REST_MAX`]. A
//! random share is subtracted from each pause, so that the processes of a mall do not probe in step.
//!
//! No crate fits: `recloser` counts only errors, reads its own clock, and lets as many calls through
//! half-open as its window has places; `failsafe` is unmaintained; tower's breakers wrap tower services.
//!
//! Reasons and figures: `storage/decisions/0019-one-connection-and-breakers.md`.

use std::fmt::{self, Display};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::future::BoxFuture;
use mallbox_storage::{CircuitHealth, CircuitState};
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::time::{Instant, timeout};

#[cfg(test)]
mod tests;

/// Length of a slot. Outcomes are counted per slot.
const SLOT: Duration = Duration::from_millis(500);
/// Slots in the window. The window is short because a server that took 10,000 calls a second must have its
/// good calls forgotten before the few timeouts make up half of all calls.
const WINDOW_SLOTS: usize = 6;
/// Minimum number of calls in the window that can open the circuit. One caller makes as many in 3 s of
/// silence.
const CALLS_MIN: u64 = 4;
/// Good calls that close a half-open circuit, and the maximum of trial calls in flight.
const TRIALS: u32 = 3;
/// Pause between the opening and the first probe.
const PROBE_PAUSE_MIN: Duration = Duration::from_millis(250);
/// Longest pause between probes, and so the longest time for which a recovered server stays unused.
const REST_MAX: Duration = Duration::from_secs(1);
/// Pause between probes of a half-open circuit without trial calls.
const TRIAL_PAUSE: Duration = Duration::from_millis(50);

/// Sends the server a command that needs no particular reply. Returns false without a reply.
pub(super) type Probe = Box<dyn Fn() -> BoxFuture<'static, bool> + Send + Sync>;

/// The clock of a breaker. Tests have a manual clock.
pub(super) trait Clock: Send + Sync {
    /// Returns the time since a fixed instant.
    fn now(&self) -> Duration;

    fn sleep(&self, span: Duration) -> BoxFuture<'_, ()>;
}

/// The machine's monotonic clock, starting at the stored instant.
struct RealTime(Instant);

impl Clock for RealTime {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep(&self, span: Duration) -> BoxFuture<'_, ()> {
        Box::pin(tokio::time::sleep(span))
    }
}

/// The outcome of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Outcome {
    Good,
    Bad,
    /// The call says nothing about the server.
    Unknown,
}

/// The state machine of a circuit, without clock, server or randomness.
#[derive(Debug)]
struct Circuit {
    phase: Phase,
    /// Number of phase changes so far. A call admitted in an earlier phase does not count in the current
    /// phase.
    epoch: u64,
    opened: u64,
}

#[derive(Debug)]
enum Phase {
    Closed(Window),
    Open { rest: Duration, probe_at: Duration },
    HalfOpen { rest: Duration, good: u32, on_trial: u32, probe_at: Duration },
}

/// Counts of calls per slot. Each slot carries its number since the beginning.
#[derive(Default, Debug)]
struct Window([Counts; WINDOW_SLOTS]);

#[derive(Clone, Copy, Default, Debug)]
struct Counts {
    number: usize,
    calls: u64,
    bad: u64,
}

impl Window {
    /// Counts a call. Returns whether to open the circuit: the call was bad, and so were at least half of at
    /// least [`CALLS_MIN`] calls in the window.
    fn count(&mut self, is_bad: bool, now: Duration) -> bool {
        let number = usize::try_from(now.as_millis() / SLOT.as_millis()).unwrap_or(usize::MAX);
        let oldest = number.saturating_sub(WINDOW_SLOTS - 1);
        let place = number % WINDOW_SLOTS;
        let slot = &mut self.0[place];
        if slot.number != number {
            *slot = Counts { number, ..Counts::default() };
        }
        slot.calls += 1;
        slot.bad += u64::from(is_bad);
        let live = self.0.iter().filter(|slot| (oldest..=number).contains(&slot.number));
        let (calls, bad) = live.fold((0, 0), |(calls, bad), slot| (calls + slot.calls, bad + slot.bad));
        is_bad && calls >= CALLS_MIN && bad * 2 >= calls
    }
}

impl Circuit {
    fn new() -> Self {
        Self { phase: Phase::Closed(Window::default()), epoch: 0, opened: 0 }
    }

    fn state(&self) -> CircuitState {
        match self.phase {
            Phase::Closed(_) => CircuitState::Closed,
            Phase::HalfOpen { .. } => CircuitState::HalfOpen,
            Phase::Open { .. } => CircuitState::Open,
        }
    }

    /// Admits a call, unless the circuit is open or has [`TRIALS`] in flight. Returns the epoch for
    /// [`settle`](Self::settle).
    fn admit(&mut self) -> Option<u64> {
        match &mut self.phase {
            Phase::Open { .. } => return None,
            Phase::HalfOpen { on_trial, .. } if *on_trial >= TRIALS => return None,
            Phase::HalfOpen { on_trial, .. } => *on_trial += 1,
            Phase::Closed(_) => {}
        }
        Some(self.epoch)
    }

    /// Counts the outcome of a call that was admitted in `epoch`. Ignores calls of earlier epochs.
    fn settle(&mut self, epoch: u64, outcome: Outcome, now: Duration) {
        if epoch != self.epoch {
            return;
        }
        match &mut self.phase {
            Phase::Closed(window) => {
                if outcome != Outcome::Unknown && window.count(outcome == Outcome::Bad, now) {
                    self.open(PROBE_PAUSE_MIN, now);
                }
            }
            Phase::HalfOpen { on_trial, .. } => {
                *on_trial = on_trial.saturating_sub(1);
                self.tried(outcome, now);
            }
            // Opening starts a new epoch, so no admitted call can settle here.
            Phase::Open { .. } => {}
        }
    }

    /// Returns the due time of the next probe; `None` for a closed circuit.
    fn probe_at(&self) -> Option<Duration> {
        match self.phase {
            Phase::Closed(_) => None,
            Phase::Open { probe_at, .. } | Phase::HalfOpen { probe_at, .. } => Some(probe_at),
        }
    }

    /// Counts the outcome of a probe.
    fn probed(&mut self, is_answered: bool, now: Duration) {
        match &mut self.phase {
            Phase::Closed(_) => {}
            Phase::Open { rest, .. } if is_answered => {
                let rest = *rest;
                self.epoch += 1;
                self.phase = Phase::HalfOpen { rest, good: 0, on_trial: 0, probe_at: now + TRIAL_PAUSE };
            }
            Phase::HalfOpen { on_trial, probe_at, .. } if is_answered => {
                *probe_at = now + TRIAL_PAUSE;
                // Some servers accept a probe and nothing else. A trial call in flight is the better
                // evidence.
                if *on_trial == 0 {
                    self.tried(Outcome::Good, now);
                }
            }
            Phase::Open { rest, .. } | Phase::HalfOpen { rest, .. } => {
                let rest = (*rest * 2).min(REST_MAX);
                self.reopen(rest, now);
            }
        }
    }

    fn tried(&mut self, outcome: Outcome, now: Duration) {
        let Phase::HalfOpen { rest, good, .. } = &mut self.phase else { return };
        match outcome {
            Outcome::Unknown => {}
            Outcome::Bad => {
                let rest = (*rest * 2).min(REST_MAX);
                self.open(rest, now);
            }
            Outcome::Good => {
                *good += 1;
                if *good >= TRIALS {
                    self.epoch += 1;
                    self.phase = Phase::Closed(Window::default());
                }
            }
        }
    }

    fn open(&mut self, rest: Duration, now: Duration) {
        self.opened += 1;
        self.reopen(rest, now);
    }

    fn reopen(&mut self, rest: Duration, now: Duration) {
        self.epoch += 1;
        self.phase = Phase::Open { rest, probe_at: now + rest };
    }
}

/// A circuit breaker before one server, shared by all calls of a process.
pub(super) struct Breaker {
    name: &'static str,
    address: String,
    /// Duration from which a call counts as bad.
    slow: Duration,
    probe: Probe,
    /// Runtime of the probe task.
    runtime: Handle,
    time: Arc<dyn Clock>,
    guarded: Mutex<Guarded>,
    refused: AtomicU64,
}

struct Guarded {
    circuit: Circuit,
    /// Whether the probe task runs.
    is_probed: bool,
    /// Error of the last bad call, shown in refusals.
    fault: String,
}

/// A rejection by the open circuit: the call was not made.
#[derive(Clone, Debug)]
pub(super) struct CircuitOpenError(String);

impl Display for CircuitOpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A call in flight. Dropping an unsettled pass means that the caller gave up: bad if at least half of the
/// server's time limit has passed.
pub(super) struct Pass<'a> {
    breaker: &'a Arc<Breaker>,
    epoch: u64,
    began: Duration,
    is_lenient: bool,
    is_settled: bool,
}

impl Breaker {
    /// Creates a closed circuit breaker. Probes run on `runtime`.
    pub(super) fn new(
        name: &'static str,
        address: String,
        slow: Duration,
        runtime: Handle,
        probe: Probe,
    ) -> Arc<Self> {
        Self::by_time(Arc::new(RealTime(Instant::now())), name, address, slow, (runtime, probe))
    }

    fn by_time(
        time: Arc<dyn Clock>,
        name: &'static str,
        address: String,
        slow: Duration,
        (runtime, probe): (Handle, Probe),
    ) -> Arc<Self> {
        let guarded = Guarded { circuit: Circuit::new(), is_probed: false, fault: String::new() };
        Arc::new(Self {
            name,
            address,
            slow,
            probe,
            runtime,
            time,
            guarded: Mutex::new(guarded),
            refused: AtomicU64::new(0),
        })
    }

    /// Admits a call.
    ///
    /// # Errors
    /// [`CircuitOpenError`], at once: the circuit is open, or half-open with [`TRIALS`] in flight.
    pub(super) fn admit(self: &Arc<Self>) -> Result<Pass<'_>, CircuitOpenError> {
        let mut guarded = self.guarded.lock();
        if let Some(epoch) = guarded.circuit.admit() {
            let began = self.time.now();
            return Ok(Pass { breaker: self, epoch, began, is_lenient: false, is_settled: false });
        }
        self.refused.fetch_add(1, Ordering::Relaxed);
        Err(CircuitOpenError(format!(
            "{} is not called until it responds again: {}",
            self.name, guarded.fault
        )))
    }

    /// Returns the refusal that calls receive while the circuit is open; `None` otherwise.
    pub(super) fn refusal(&self) -> Option<CircuitOpenError> {
        let guarded = self.guarded.lock();
        let words = || {
            CircuitOpenError(format!(
                "{} is not called until it responds again: {}",
                self.name, guarded.fault
            ))
        };
        (guarded.circuit.state() == CircuitState::Open).then(words)
    }

    /// Returns the state, and the counts of openings and refused calls.
    pub(super) fn health(&self) -> CircuitHealth {
        let guarded = self.guarded.lock();
        CircuitHealth {
            node: self.address.clone(),
            state: guarded.circuit.state(),
            opened: guarded.circuit.opened,
            refused: self.refused.load(Ordering::Relaxed),
        }
    }

    fn settle(self: &Arc<Self>, epoch: u64, outcome: Outcome, fault: impl FnOnce() -> String) {
        let mut guarded = self.guarded.lock();
        let before = guarded.circuit.state();
        guarded.circuit.settle(epoch, outcome, self.time.now());
        let after = guarded.circuit.state();
        if before == after {
            return;
        }
        if after == CircuitState::Open {
            guarded.fault = fault();
            if !std::mem::replace(&mut guarded.is_probed, true) {
                self.runtime.spawn(probe_until_closed(Arc::downgrade(self)));
            }
        }
        self.log(after, &guarded.fault);
    }

    fn log(&self, state: CircuitState, fault: &str) {
        let (server, address) = (self.name, self.address.as_str());
        match state {
            CircuitState::Open => tracing::warn!(server, address, fault, "opened the circuit breaker"),
            CircuitState::HalfOpen => tracing::debug!(server, address, "half-opened the circuit breaker"),
            CircuitState::Closed => tracing::info!(server, address, "closed the circuit breaker"),
        }
    }

    /// Returns the pause before the next probe, shortened at random by up to a quarter; `None` if the circuit
    /// is closed.
    fn next_probe(&self) -> Option<Duration> {
        let mut guarded = self.guarded.lock();
        let Some(at) = guarded.circuit.probe_at() else {
            guarded.is_probed = false;
            return None;
        };
        Some(at.saturating_sub(self.time.now()).mul_f64(1.0 - super::random::share() / 4.0))
    }

    async fn probe_once(&self) {
        let is_answered = timeout(self.slow, (self.probe)()).await.unwrap_or(false);
        let mut guarded = self.guarded.lock();
        let before = guarded.circuit.state();
        guarded.circuit.probed(is_answered, self.time.now());
        let after = guarded.circuit.state();
        if before != after {
            self.log(after, &guarded.fault);
        }
    }
}

/// Probes until the circuit closes or the breaker is dropped.
async fn probe_until_closed(breaker: Weak<Breaker>) {
    loop {
        let next =
            breaker.upgrade().and_then(|breaker| Some((breaker.next_probe()?, Arc::clone(&breaker.time))));
        let Some((wait, time)) = next else { return };
        time.sleep(wait).await;
        let Some(breaker) = breaker.upgrade() else { return };
        breaker.probe_once().await;
    }
}

impl Pass<'_> {
    /// Makes the call lenient: only a lost connection is bad. For calls that may wait for locks of others, or
    /// do much work.
    pub(super) fn lenient(mut self) -> Self {
        self.is_lenient = true;
        self
    }

    /// Settles a call that got a reply, including an error reply. A slow reply is bad, unless the call is
    /// lenient.
    pub(super) fn answered(mut self) {
        let took = self.took();
        let outcome = if took < self.breaker.slow || self.is_lenient { Outcome::Good } else { Outcome::Bad };
        self.settle(outcome, || format!("slow response: {took:.1?}"));
    }

    /// Settles a call that found no connection, or lost the connection.
    pub(super) fn lost(mut self, fault: &impl Display) {
        self.settle(Outcome::Bad, || fault.to_string());
    }

    /// Settles a call that timed out.
    pub(super) fn silent(mut self, fault: &impl Display) {
        let outcome = if self.is_lenient { Outcome::Unknown } else { Outcome::Bad };
        self.settle(outcome, || fault.to_string());
    }

    /// Settles a call that never reached the server.
    pub(super) fn unused(mut self) {
        self.settle(Outcome::Unknown, String::new);
    }

    fn took(&self) -> Duration {
        self.breaker.time.now().saturating_sub(self.began)
    }

    fn settle(&mut self, outcome: Outcome, fault: impl FnOnce() -> String) {
        self.is_settled = true;
        self.breaker.settle(self.epoch, outcome, fault);
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        if !self.is_settled {
            let took = self.took();
            let is_bad = !self.is_lenient && took >= self.breaker.slow / 2;
            let outcome = if is_bad { Outcome::Bad } else { Outcome::Unknown };
            self.settle(outcome, || format!("no response within {took:.1?}"));
        }
    }
}
