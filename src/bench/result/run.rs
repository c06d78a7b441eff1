//! Systems, and their runs. Names of fields are those of the file.

use serde::Serialize;

use super::latency::Latency;

/// A system under load.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub(in crate::bench) struct System {
    pub(in crate::bench) id: String,
    pub(in crate::bench) name: String,
    pub(in crate::bench) class: Class,
    pub(in crate::bench) versions: Vec<Version>,
    /// Whether a setting differs from the defaults of mallbox.
    pub(in crate::bench) tuned: bool,
}

/// What a system promises. `None` = unknown.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub(in crate::bench) struct Class {
    /// What an acknowledged claim survives: the loss of `power`, the end of the `process`, or neither
    /// (`memory`); `unknown`.
    pub(in crate::bench) durable: &'static str,
    pub(in crate::bench) one_per_user: Option<bool>,
    pub(in crate::bench) exactly_once_after_kill: Option<bool>,
}

/// A program that takes part.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub(in crate::bench) struct Version {
    pub(in crate::bench) name: String,
    pub(in crate::bench) version: Option<String>,
    pub(in crate::bench) settings: Option<String>,
}

/// A run of a workload on a system.
#[derive(Clone, Serialize, Debug)]
pub(in crate::bench) struct Run {
    /// Id of the system.
    pub(in crate::bench) system: String,
    pub(in crate::bench) workload: &'static str,
    /// Counted from 1.
    pub(in crate::bench) round: usize,
    /// Why the run failed.
    pub(in crate::bench) failure: Option<String>,
    pub(in crate::bench) ceiling_per_s: Option<Ceilings>,
    /// CPU of the bare handler per request, in µs.
    pub(in crate::bench) ceiling_cpu_us: Option<Ceilings>,
    /// Peak of the offered rate; `None` in a closed loop.
    pub(in crate::bench) offered_per_s: Option<f64>,
    pub(in crate::bench) elapsed_s: f64,
    pub(in crate::bench) answers: Answers,
    pub(in crate::bench) rates: Rates,
    pub(in crate::bench) latency: Latency,
    pub(in crate::bench) cost: Cost,
    pub(in crate::bench) books: Books,
    pub(in crate::bench) timeline: Vec<TimelinePoint>,
    pub(in crate::bench) trials: Vec<Trial>,
    pub(in crate::bench) generator: GeneratorShare,
}

impl Run {
    /// Returns a run that failed, without any figure.
    pub(in crate::bench) fn failed(
        system: &str,
        workload: &'static str,
        round: usize,
        failure: String,
    ) -> Self {
        Self {
            system: system.to_owned(),
            workload,
            round,
            failure: Some(failure),
            ceiling_per_s: None,
            ceiling_cpu_us: None,
            offered_per_s: None,
            elapsed_s: 0.0,
            answers: Answers::default(),
            rates: Rates::default(),
            latency: Latency::default(),
            cost: Cost::default(),
            books: Books::default(),
            timeline: Vec::new(),
            trials: Vec::new(),
            generator: GeneratorShare::default(),
        }
    }
}

/// A figure of a bare handler under the same load.
#[derive(Clone, Copy, Serialize, Debug)]
pub(in crate::bench) struct Ceilings {
    pub(in crate::bench) before: f64,
    pub(in crate::bench) after: f64,
}

/// Number of claims by answer.
#[derive(Clone, Copy, Serialize, Debug, Default)]
pub(in crate::bench) struct Answers {
    pub(in crate::bench) accepted: u64,
    pub(in crate::bench) sold_out: u64,
    pub(in crate::bench) already_bought: u64,
    pub(in crate::bench) refused: u64,
    pub(in crate::bench) rejected: u64,
    pub(in crate::bench) lost: u64,
}

#[derive(Clone, Copy, Serialize, Debug, Default)]
pub(in crate::bench) struct Rates {
    pub(in crate::bench) answered_per_s: f64,
    pub(in crate::bench) accepted_per_s: f64,
    /// Orders in the database per second, until the last one.
    pub(in crate::bench) persisted_per_s: Option<f64>,
}

/// Cost of all server processes together; `None` = unknown.
#[derive(Clone, PartialEq, Serialize, Debug, Default)]
pub(in crate::bench) struct Cost {
    pub(in crate::bench) cpu_us_per_operation: Option<f64>,
    /// CPU until the last response, per operation and as a multiple of the CPU of a bare request.
    pub(in crate::bench) cpu_ratio: Option<f64>,
    /// CPU until the last order is in the database, likewise.
    pub(in crate::bench) cpu_ratio_persisted: Option<f64>,
    /// Largest resident memory.
    pub(in crate::bench) memory_bytes: Option<u64>,
    pub(in crate::bench) written_bytes_per_operation: Option<f64>,
    /// Of a flash sale: bytes written until the last order is in the database, per order.
    pub(in crate::bench) written_bytes_per_order: Option<f64>,
    /// The same cost of each program.
    pub(in crate::bench) programs: Vec<ProgramCost>,
}

/// Part of a program in the cost; `None` = unknown.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub(in crate::bench) struct ProgramCost {
    pub(in crate::bench) name: &'static str,
    pub(in crate::bench) cpu_us_per_operation: Option<f64>,
    pub(in crate::bench) written_bytes_per_operation: Option<f64>,
}

/// What the check at the end found; `None` = not checked.
#[derive(Clone, Copy, Serialize, Debug, Default)]
pub(in crate::bench) struct Books {
    pub(in crate::bench) balance: Option<bool>,
    pub(in crate::bench) oversold: Option<u64>,
    pub(in crate::bench) bought_twice: Option<u64>,
    /// Claims accepted before a kill in the middle of a sale.
    pub(in crate::bench) accepted_before_kill: Option<u64>,
    /// Those of them whose users hold nothing afterwards.
    pub(in crate::bench) lost_after_kill: Option<u64>,
    /// Orders after the kill that no claim explains.
    pub(in crate::bench) unmatched_after_kill: Option<u64>,
    /// From the restart to the last order.
    pub(in crate::bench) recovery_s: Option<f64>,
}

/// Counts since the begin of a run.
#[derive(Clone, Copy, Serialize, Debug)]
pub(in crate::bench) struct TimelinePoint {
    pub(in crate::bench) at_s: f64,
    pub(in crate::bench) accepted: u64,
    pub(in crate::bench) persisted: u64,
    pub(in crate::bench) pending: u64,
}

/// A rate that a ramp tried.
#[derive(Clone, Copy, Serialize, Debug)]
pub(in crate::bench) struct Trial {
    pub(in crate::bench) offered_per_s: f64,
    pub(in crate::bench) achieved_per_s: f64,
    pub(in crate::bench) p50_us: u64,
    pub(in crate::bench) p99_us: u64,
    /// Whether the goal was met.
    pub(in crate::bench) met: bool,
}

/// The load generator's own part.
#[derive(Clone, Copy, Serialize, Debug, Default)]
pub(in crate::bench) struct GeneratorShare {
    pub(in crate::bench) cpu_us_per_request: Option<f64>,
    /// Share of its time that the busiest thread of the generator computed.
    pub(in crate::bench) busiest_share: Option<f64>,
    pub(in crate::bench) waited: u64,
    pub(in crate::bench) unsent: u64,
    pub(in crate::bench) late: u64,
}

#[cfg(test)]
pub(super) mod tests {
    use hdrhistogram::Histogram;

    use super::*;

    pub(in crate::bench::result) fn system(id: &str, durable: &'static str) -> System {
        System {
            id: id.to_owned(),
            name: id.to_owned(),
            class: Class { durable, one_per_user: Some(true), exactly_once_after_kill: None },
            versions: Vec::new(),
            tuned: false,
        }
    }

    pub(in crate::bench::result) fn run(system: &str, accepted_per_s: f64) -> Run {
        Run {
            system: system.to_owned(),
            workload: "flash sale",
            round: 1,
            failure: None,
            ceiling_per_s: None,
            ceiling_cpu_us: None,
            offered_per_s: None,
            elapsed_s: 1.0,
            answers: Answers {
                accepted: 1,
                sold_out: 0,
                already_bought: 0,
                refused: 0,
                rejected: 0,
                lost: 0,
            },
            rates: Rates { answered_per_s: accepted_per_s, accepted_per_s, persisted_per_s: None },
            latency: Latency::of(&Histogram::new(3).unwrap()),
            cost: Cost::default(),
            books: Books::default(),
            timeline: Vec::new(),
            trials: Vec::new(),
            generator: GeneratorShare {
                cpu_us_per_request: None,
                busiest_share: None,
                waited: 0,
                unsent: 0,
                late: 0,
            },
        }
    }
}
