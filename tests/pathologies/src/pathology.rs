//! How a server misbehaves.

use std::collections::HashMap;
use std::time::Duration;

/// Time that a request takes when nothing is wrong.
const SERVICE: Duration = Duration::from_millis(10);

/// A way to misbehave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pathology {
    /// Every two seconds the whole server stands still for 400 ms.
    Pause,
    /// Each request takes longer than the one before: from 5 ms to 100 ms in ten seconds.
    SlowRamp,
    /// Every eighth request takes 100 ms instead of 10 ms.
    Bimodal,
    /// After every 50 responses, a connection answers nothing for 300 ms.
    StallPerConnection,
    /// Every 20th request loses its connection instead of a response.
    DroppedConnections,
}

/// What becomes of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// Time from the start of the server to the response, or to the end of the connection.
    pub at: Duration,
    /// Whether the connection ends without a response.
    pub is_dropped: bool,
}

/// A server that suffers from a pathology, without sockets.
#[derive(Debug)]
pub struct Patient {
    pathology: Pathology,
    requests: u64,
    /// Requests by connection.
    of_connection: HashMap<usize, u64>,
}

impl Pathology {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Pause, Self::SlowRamp, Self::Bimodal, Self::StallPerConnection, Self::DroppedConnections];

    /// Returns the name for tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::SlowRamp => "slow ramp",
            Self::Bimodal => "bimodal",
            Self::StallPerConnection => "stall per connection",
            Self::DroppedConnections => "dropped connections",
        }
    }
}

impl Patient {
    /// Creates a server that has seen no request.
    #[must_use]
    pub fn new(pathology: Pathology) -> Self {
        Self { pathology, requests: 0, of_connection: HashMap::new() }
    }

    /// Decides on a request that arrived this long after the start of the server. A connection sends its next
    /// request after the outcome of the last.
    pub fn decide(&mut self, connection: usize, arrived: Duration) -> Outcome {
        self.requests += 1;
        let of_connection = self.of_connection.entry(connection).or_default();
        *of_connection += 1;
        let answered = |at| Outcome { at, is_dropped: false };
        match self.pathology {
            Pathology::Pause => {
                const PERIOD: Duration = Duration::from_secs(2);
                const PAUSE: Duration = Duration::from_millis(400);
                let at = arrived + SERVICE;
                let into = Duration::from_nanos_u128(at.as_nanos() % PERIOD.as_nanos());
                // The pause is the end of a period.
                answered(if into > PERIOD - PAUSE { at + (PERIOD - into) } else { at })
            }
            Pathology::SlowRamp => {
                let share = (arrived.as_secs_f64() / 10.0).min(1.0);
                answered(arrived + Duration::from_secs_f64(0.005 + 0.095 * share))
            }
            Pathology::Bimodal if self.requests.is_multiple_of(8) => answered(arrived + SERVICE * 10),
            Pathology::StallPerConnection if of_connection.is_multiple_of(50) => {
                answered(arrived + Duration::from_millis(300))
            }
            Pathology::DroppedConnections if self.requests.is_multiple_of(20) => {
                Outcome { at: arrived + SERVICE, is_dropped: true }
            }
            Pathology::Bimodal | Pathology::StallPerConnection | Pathology::DroppedConnections => {
                answered(arrived + SERVICE)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(pathology: Pathology, arrived_ms: u64) -> (u128, bool) {
        let outcome = Patient::new(pathology).decide(0, Duration::from_millis(arrived_ms));
        (outcome.at.as_millis(), outcome.is_dropped)
    }

    #[test]
    fn a_pause_ends_with_its_period() {
        assert_eq!(outcome(Pathology::Pause, 0), (10, false));
        assert_eq!(outcome(Pathology::Pause, 1_590), (1_600, false));
        assert_eq!(outcome(Pathology::Pause, 1_591), (2_000, false));
        assert_eq!(
            outcome(Pathology::Pause, 3_999),
            (4_009, false),
            "the pause is over when it would answer"
        );
    }

    #[test]
    fn every_so_manieth_request_is_different() {
        for (pathology, every, special) in [
            (Pathology::Bimodal, 8, (100, false)),
            (Pathology::StallPerConnection, 50, (300, false)),
            (Pathology::DroppedConnections, 20, (10, true)),
        ] {
            let mut patient = Patient::new(pathology);
            for number in 1..=100 {
                let Outcome { at, is_dropped } = patient.decide(1, Duration::ZERO);
                let wanted = if number % every == 0 { special } else { (10, false) };
                assert_eq!((at.as_millis(), is_dropped), wanted, "{pathology:?}, request {number}");
            }
        }
        assert_eq!(outcome(Pathology::SlowRamp, 5_000), (5_052, false));
    }
}
