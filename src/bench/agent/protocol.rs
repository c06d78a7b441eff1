//! What leader and agents say to each other.

use std::fmt;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::bench::drive::Driven;
use crate::bench::foreign::Dialect;
use crate::bench::histogram_text::{decoded, encoded};
use crate::bench::load::{Exchanged, Report};
use crate::bench::rush::{ClaimOutcomes, SaleOutcomes};

/// Time between two lines of an agent at work.
pub(super) const LINE_INTERVAL: Duration = Duration::from_millis(500);
/// Longest silence of an agent.
pub(super) const SILENCE_MAX: Duration = Duration::from_secs(10);

/// The address of an agent, and the secret that it asks for.
#[derive(Clone)]
pub struct AgentAddress {
    pub(super) address: SocketAddr,
    pub(super) secret: String,
}

impl AgentAddress {
    /// Reads the line that an agent prints: the address, a space, the secret.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let (address, secret) = line.trim().split_once(' ')?;
        let is_secret = !secret.is_empty() && secret.bytes().all(|byte| byte.is_ascii_graphic());
        is_secret.then_some(Self { address: address.parse().ok()?, secret: secret.to_owned() })
    }
}

impl fmt::Debug for AgentAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentAddress").field("address", &self.address).finish_non_exhaustive()
    }
}

/// The part of a load that an agent makes.
#[derive(Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub(in crate::bench) struct Job {
    /// URL of the mall, one of the agent's own targets.
    pub(in crate::bench) target: String,
    pub(in crate::bench) dialect: Dialect,
    /// Tokens of the agent's users.
    pub(in crate::bench) tokens: Vec<String>,
    pub(in crate::bench) sales: Vec<u64>,
    pub(in crate::bench) claims_per_user: usize,
    pub(in crate::bench) connections: usize,
    pub(in crate::bench) threads: usize,
    /// Arrivals of all agents together; `None` in a closed loop.
    pub(in crate::bench) shape: Option<String>,
    /// Number of the agent, counted from 0, among so many.
    pub(in crate::bench) number: usize,
    pub(in crate::bench) agents: usize,
}

/// A line of an agent at work.
#[derive(Serialize, Deserialize, Debug)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Line {
    /// Number of responses so far.
    Answered(u64),
    /// The last line.
    Ended(Box<Ended>),
    /// The last line of a load that failed.
    Failed(String),
}

/// What an agent measured.
#[derive(Serialize, Deserialize, Debug)]
pub(super) struct Ended {
    outcomes: ClaimOutcomes,
    by_sale: Vec<SaleOutcomes>,
    requests: u64,
    answered: u64,
    /// Failed dials, timeouts, broken connections, unreadable responses.
    errors: [u64; 4],
    reconnects: u64,
    unsent: u64,
    waited: u64,
    late: u64,
    elapsed: Duration,
    cpu: Option<Duration>,
    busiest: Option<Duration>,
    /// HdrHistogram V2, compressed, in base64.
    latencies: String,
    /// Status and body of the first answer that no rule knows.
    unknown: Option<(u16, String)>,
}

impl Ended {
    pub(super) fn of(driven: &Driven) -> anyhow::Result<Self> {
        let Driven { outcomes, by_sale, report, unknown, .. } = driven;
        let errors = &report.errors;
        Ok(Self {
            outcomes: *outcomes,
            by_sale: by_sale.clone(),
            requests: report.requests,
            answered: report.answered,
            errors: [errors.connect, errors.timeout, errors.broken, errors.unreadable],
            reconnects: report.reconnects,
            unsent: report.unsent,
            waited: report.waited,
            late: report.late,
            elapsed: report.elapsed,
            cpu: report.cpu,
            busiest: report.busiest,
            latencies: encoded(&report.latencies)?,
            unknown: unknown
                .as_ref()
                .map(|unknown| (unknown.status, String::from_utf8_lossy(&unknown.body).into_owned())),
        })
    }

    /// Returns what the agent measured, as if from a load begun here.
    pub(super) fn driven(self, began: Instant) -> anyhow::Result<Driven> {
        let mut report = Report::new()?;
        report.latencies.add(decoded(&self.latencies)?)?;
        [report.errors.connect, report.errors.timeout, report.errors.broken, report.errors.unreadable] =
            self.errors;
        report.requests = self.requests;
        report.answered = self.answered;
        report.reconnects = self.reconnects;
        report.unsent = self.unsent;
        report.waited = self.waited;
        report.late = self.late;
        report.began = Some(began);
        report.elapsed = self.elapsed;
        report.cpu = self.cpu;
        report.busiest = self.busiest;
        let unknown = self.unknown.map(|(status, body)| Exchanged { status, body: body.into_bytes() });
        Ok(Driven { outcomes: self.outcomes, by_sale: self.by_sale, report, next: 0, unknown })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_an_address_and_a_secret() {
        let agent = AgentAddress::parse(" 10.0.0.5:7171 s3cret \n").unwrap();
        assert_eq!((agent.address.port(), &*agent.secret), (7171, "s3cret"));
        assert!(!format!("{agent:?}").contains("s3cret"));
        for line in ["", "10.0.0.5:7171", "10.0.0.5 secret", "10.0.0.5:7171 ", "a:1 b", "10.0.0.5:7171 a b"] {
            assert!(AgentAddress::parse(line).is_none(), "{line}");
        }
    }

    #[test]
    fn what_an_agent_measured_arrives_whole() {
        let mut report = Report::new().unwrap();
        for us in [10, 20, 3_000_000] {
            report.latencies.record(us).unwrap();
        }
        (report.requests, report.answered, report.errors.timeout) = (5, 3, 2);
        (report.unsent, report.waited, report.late) = (7, 8, 9);
        report.elapsed = Duration::from_millis(1_500);
        report.cpu = Some(Duration::from_micros(70));
        let outcomes = ClaimOutcomes { accepted: 2, sold_out: 1, lost: 2, ..ClaimOutcomes::default() };
        let unknown = Some(Exchanged { status: 401, body: b"who?".to_vec() });
        let by_sale = vec![SaleOutcomes { accepted: 2, lost: 2 }];
        let ended = Ended::of(&Driven { outcomes, by_sale, report, next: 5, unknown }).unwrap();
        let text = serde_json::to_string(&Line::Ended(Box::new(ended))).unwrap();
        let Line::Ended(ended) = serde_json::from_str(&text).unwrap() else { panic!("{text}") };
        let began = Instant::now();
        let Driven { outcomes: read, by_sale, report, unknown, .. } = ended.driven(began).unwrap();
        assert_eq!((read, by_sale[0].accepted, by_sale[0].lost), (outcomes, 2, 2));
        assert_eq!((report.requests, report.answered, report.errors.total()), (5, 3, 2));
        assert_eq!((report.unsent, report.waited, report.late, report.latencies.len()), (7, 8, 9, 3));
        assert_eq!((report.began, report.elapsed), (Some(began), Duration::from_millis(1_500)));
        assert_eq!((report.cpu, report.busiest), (Some(Duration::from_micros(70)), None));
        assert_eq!(unknown.unwrap().to_string(), "401 who?");
        assert!(report.max() >= Duration::from_secs(3));
    }
}
