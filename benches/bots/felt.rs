//! What honest people felt: tries, successes, latencies, and refusals by code.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use hdrhistogram::Histogram;
use parking_lot::Mutex;

/// Longest latency recorded: an hour.
const LATENCY_MAX_US: u64 = 3_600_000_000;

/// A kind of honest person.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Who {
    Operator,
    OperatorElsewhere,
    Customer,
    Neighbour,
    NewNeighbour,
}

impl Who {
    pub fn name(self) -> &'static str {
        match self {
            Self::Operator => "operator, known addresses",
            Self::OperatorElsewhere => "operator, new addresses",
            Self::Customer => "customers, known addresses",
            Self::Neighbour => "customers, known at the bots' address",
            Self::NewNeighbour => "customer, new at the bots' address",
        }
    }
}

/// What a person does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Act {
    /// Request for a code, delivery, and log-in.
    ByCode,
    ByPassword,
    Console,
    Purchase,
}

impl Act {
    pub fn name(self) -> &'static str {
        match self {
            Self::ByCode => "log-in by code",
            Self::ByPassword => "log-in by password",
            Self::Console => "call of the console",
            Self::Purchase => "purchase",
        }
    }
}

/// Outcomes of one act of one kind of person.
pub struct Row {
    pub tried: u64,
    pub succeeded: u64,
    /// Refusals without a success in the tries after.
    pub given_up: u64,
    /// Latencies of successes, in µs.
    pub latencies: Histogram<u64>,
    /// Refused tries by code.
    pub refusals: BTreeMap<String, u64>,
}

impl Default for Row {
    fn default() -> Self {
        let latencies = Histogram::new_with_bounds(1, LATENCY_MAX_US, 3).expect("the bounds are in order");
        Self { tried: 0, succeeded: 0, given_up: 0, latencies, refusals: BTreeMap::new() }
    }
}

type Rows = BTreeMap<(Who, Act), Row>;

/// All outcomes. Clones share the rows.
#[derive(Clone, Default)]
pub struct Felt(Arc<Mutex<Rows>>);

impl Felt {
    /// Counts a try; `refusal` is the code of a failed try.
    pub fn record(&self, person: (Who, Act), took: Duration, refusal: Option<&str>) {
        let mut rows = self.0.lock();
        let row = rows.entry(person).or_default();
        row.tried += 1;
        if let Some(code) = refusal {
            *row.refusals.entry(code.to_owned()).or_default() += 1;
            return;
        }
        row.succeeded += 1;
        row.latencies.saturating_record(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
    }

    /// Counts an act that was given up.
    pub fn give_up(&self, person: (Who, Act)) {
        self.0.lock().entry(person).or_default().given_up += 1;
    }

    /// Calls `f` with every row, in order.
    pub fn for_each(&self, mut f: impl FnMut(Who, Act, &Row)) {
        for ((who, act), row) in self.0.lock().iter() {
            f(*who, *act, row);
        }
    }

    /// Returns tries, successes and acts given up of a kind of person, over some acts.
    pub fn sum(&self, who: Who, acts: &[Act]) -> [u64; 3] {
        let mut sum = [0; 3];
        self.for_each(|of, act, row| {
            if of == who && acts.contains(&act) {
                sum[0] += row.tried;
                sum[1] += row.succeeded;
                sum[2] += row.given_up;
            }
        });
        sum
    }
}
