//! The circuit of an external service: open after a failure, closed by a probe.

use std::time::Duration;

use mallbox_storage::Timestamp;
use parking_lot::Mutex;

/// Time from a failure to the first probe.
const PAUSE_MIN: Duration = Duration::from_secs(10);
/// Longest time between two probes.
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// Whether visitors are sent to the service. Opens with the first failure: each further visitor would wait a
/// second for nothing, and lose a challenge. Closes with a probe that the service answers; nobody waits for a
/// probe.
#[derive(Debug)]
pub(super) struct Circuit(Mutex<State>);

#[derive(Clone, Copy, Debug)]
struct State {
    /// When the circuit is open: time of the next probe, and whether the probe is under way.
    open: Option<(Timestamp, bool)>,
    /// Time from the next failure to a probe. Doubles with each failure; a verdict about a visitor resets it.
    pause: Duration,
}

impl Default for Circuit {
    fn default() -> Self {
        Self(Mutex::new(State { open: None, pause: PAUSE_MIN }))
    }
}

impl Circuit {
    /// Returns whether visitors are sent to the service.
    pub(super) fn is_closed(&self) -> bool {
        self.0.lock().open.is_none()
    }

    /// Returns whether the caller has to run a probe now, and report to [`probed`](Self::probed).
    pub(super) fn takes_probe(&self, now: Timestamp) -> bool {
        let mut state = self.0.lock();
        let Some((at, is_under_way @ false)) = &mut state.open else { return false };
        // The clock may have been set back.
        let is_due = *at <= now || at.since(now) > PAUSE_MAX;
        *is_under_way = is_due;
        is_due
    }

    /// Reports the end of a probe.
    pub(super) fn probed(&self, is_there: bool, now: Timestamp) {
        let mut state = self.0.lock();
        state.open = None;
        if !is_there {
            state.fail(now);
        }
    }

    /// Reports a failure. Returns whether the circuit was closed. Failures of calls that began before the
    /// circuit opened count once.
    pub(super) fn failed(&self, now: Timestamp) -> bool {
        let mut state = self.0.lock();
        let was_closed = state.open.is_none();
        if was_closed {
            state.fail(now);
        }
        was_closed
    }

    /// Reports a verdict about a visitor.
    pub(super) fn succeeded(&self) {
        *self.0.lock() = State { open: None, pause: PAUSE_MIN };
    }
}

impl State {
    fn fail(&mut self, now: Timestamp) {
        self.open = Some((now + self.pause, false));
        self.pause = (self.pause * 2).min(PAUSE_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);

    fn at(seconds: u64) -> Timestamp {
        NOON + Duration::from_secs(seconds)
    }

    #[test]
    fn a_failure_opens_and_probes_come_after_10_20_40_and_60_seconds() {
        let circuit = Circuit::default();
        assert!(circuit.is_closed() && !circuit.takes_probe(NOON));
        assert!(circuit.failed(NOON) && !circuit.failed(at(1)), "a call under way counts once");
        let mut now = 0;
        for pause in [10, 20, 40, 60, 60] {
            assert!(!circuit.takes_probe(at(now + pause) - Duration::from_millis(1)), "{pause}");
            now += pause;
            assert!(circuit.takes_probe(at(now)) && !circuit.takes_probe(at(now + 600)), "one at a time");
            assert!(!circuit.is_closed());
            circuit.probed(false, at(now));
        }
        assert!(circuit.takes_probe(at(now + 60)));
        circuit.probed(true, at(now + 60));
        assert!(circuit.is_closed() && !circuit.takes_probe(at(now + 600)));
    }

    #[test]
    fn a_verdict_resets_the_pause_and_a_probe_alone_does_not() {
        let circuit = Circuit::default();
        circuit.failed(NOON);
        assert!(circuit.takes_probe(at(10)));
        circuit.probed(true, at(10));
        circuit.failed(at(10));
        assert!(!circuit.takes_probe(at(29)) && circuit.takes_probe(at(30)));
        circuit.probed(true, at(30));
        circuit.succeeded();
        circuit.failed(at(40));
        assert!(!circuit.takes_probe(at(49)) && circuit.takes_probe(at(50)));
    }

    #[test]
    fn a_clock_that_is_set_back_delays_no_probe() {
        let circuit = Circuit::default();
        circuit.failed(at(10_000));
        assert!(circuit.takes_probe(NOON));
    }
}
