//! The batch door under load: a gateway sends the claims of all users in one sale, many in a request.

use std::sync::Arc;

use anyhow::bail;
use mallbox_storage::{UserId, VoucherId};

use super::drive::{Arrivals, load_of};
use super::generator::Generator;
use super::load::{self, Answer, Exchanged, Fault, Progress, Report, Script, post};
use super::numbers::{count, millis, rate};
use super::people::BenchGateway;
use super::running_mall::RunningMall;
use super::sale_bench::SaleBench;
use super::summary::Summary;

const PATH: &str = "/api/voucher-order/seckill/batch";

/// The batches of a round.
pub(super) struct Batches {
    size: usize,
    claims: u64,
    accepted: u64,
    lost: u64,
    report: Report,
}

/// Sends every user's claim once, and counts the accepted ones.
pub(super) fn measure(
    bench: &SaleBench,
    mall: &RunningMall,
    gateway: &BenchGateway,
    size: usize,
) -> anyhow::Result<Batches> {
    let users = &mall.crowd.ids;
    let requests = users.len().div_ceil(size);
    // More connections than requests would stay idle.
    let connections = bench.generator.connections.min(requests);
    let threads = bench.generator.threads.min(connections);
    let load = load_of(&Generator { connections, threads }, &mall.addresses, &Arrivals::Closed);
    let script = |thread| BatchScript {
        users: Arc::clone(users),
        authorization: format!("Bearer {}", gateway.token),
        sale: gateway.sale,
        size,
        next: thread,
        threads,
        outcomes: Outcomes::default(),
        unknown: None,
    };
    let (scripts, report) =
        load::run_on_threads(&load, (0..threads).map(script).collect(), &Progress::default())?;
    let mut batches = Batches { size, claims: users.len() as u64, accepted: 0, lost: 0, report };
    for BatchScript { outcomes, unknown, .. } in scripts {
        if let Some(Exchanged { status, body }) = unknown {
            bail!("a batch got status {status}: {}", String::from_utf8_lossy(&body));
        }
        batches.accepted += outcomes.accepted;
        batches.lost += outcomes.lost;
    }
    Ok(batches)
}

impl Batches {
    /// Returns the decided claims per second.
    pub(super) fn claims_per_second(&self) -> f64 {
        self.claims as f64 / self.report.elapsed.as_secs_f64().max(f64::MIN_POSITIVE)
    }

    /// Adds a line beside that of the single claims.
    pub(super) fn print(&self, summary: &mut Summary, single: &Report) {
        let Self { size, accepted, lost, report, .. } = self;
        let lost = if *lost > 0 { format!(", {lost} requests lost") } else { String::new() };
        let text = format!(
            "claims in requests of {size}, {:.1} times the single door; {} accepted{lost}; a request takes {} \
             in the median, p99 {}",
            self.claims_per_second() / single.per_second().max(f64::MIN_POSITIVE),
            count(*accepted),
            millis(report.p50()),
            millis(report.p99())
        );
        summary.add("batch door", rate(self.claims_per_second()), text);
    }
}

#[derive(Clone, Copy, Default)]
struct Outcomes {
    accepted: u64,
    lost: u64,
}

/// A thread's share of the batches: every `threads`-th one.
struct BatchScript {
    users: Arc<Vec<UserId>>,
    authorization: String,
    sale: VoucherId,
    size: usize,
    next: usize,
    threads: usize,
    outcomes: Outcomes,
    /// The first response that is no list of outcomes.
    unknown: Option<Exchanged>,
}

impl BatchScript {
    fn body(&self, users: &[UserId]) -> String {
        let claims: Vec<String> =
            users.iter().map(|user| format!(r#"{{"userId":{user},"voucherId":{}}}"#, self.sale)).collect();
        format!(r#"{{"requestId":"batch {}","claims":[{}]}}"#, self.next, claims.join(","))
    }
}

impl Script for BatchScript {
    fn request(&mut self, _connection: usize, buffer: &mut Vec<u8>) -> bool {
        let Some(users) = self.users.chunks(self.size).nth(self.next) else { return false };
        let headers = [("authorization", self.authorization.as_str())];
        buffer.extend_from_slice(&post(PATH, "mall", &headers, self.body(users).as_bytes()));
        self.next += self.threads;
        true
    }

    fn on_response(&mut self, _connection: usize, answer: Answer<'_>) {
        match accepted_of(answer.body).filter(|_| answer.status == 200) {
            Some(accepted) => self.outcomes.accepted += accepted,
            None if self.unknown.is_none() => {
                self.unknown = Some(Exchanged { status: answer.status, body: answer.body.to_vec() });
            }
            None => {}
        }
    }

    fn lost(&mut self, _connection: usize, _fault: Fault) {
        self.outcomes.lost += 1;
    }
}

/// Returns the number of accepted claims of a response, without reading the outcomes.
fn accepted_of(body: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(body).ok()?;
    let (_, number) = text.split_once(r#""accepted":"#)?;
    number.split(',').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_accepted_claims_are_read_from_the_head_of_a_response() {
        let body = br#"{"success":true,"data":{"accepted":350,"repeated":false,"claims":[]}}"#;
        assert_eq!(accepted_of(body), Some(350));
        assert_eq!(accepted_of(br#"{"success":false,"code":"BUSY"}"#), None);
    }

    #[test]
    fn threads_share_the_batches() {
        let users: Vec<UserId> = (1..=5).map(UserId::new).collect();
        let script = |thread| BatchScript {
            users: Arc::new(users.clone()),
            authorization: "Bearer t".to_owned(),
            sale: VoucherId::new(7),
            size: 2,
            next: thread,
            threads: 2,
            outcomes: Outcomes::default(),
            unknown: None,
        };
        let sent = |mut script: BatchScript| {
            let mut sent = Vec::new();
            let mut buffer = Vec::new();
            while script.request(0, &mut buffer) {
                let text = String::from_utf8(std::mem::take(&mut buffer)).unwrap();
                let (_, body) = text.split_once("\r\n\r\n").unwrap();
                let body: serde_json::Value = serde_json::from_str(body).unwrap();
                let users: Vec<u64> = body["claims"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|claim| claim["userId"].as_u64().unwrap())
                    .collect();
                sent.push((body["requestId"].as_str().unwrap().to_owned(), users));
            }
            sent
        };
        let name = |number: u32| format!("batch {number}");
        assert_eq!(sent(script(0)), [(name(0), vec![1, 2]), (name(2), vec![5])]);
        assert_eq!(sent(script(1)), [(name(1), vec![3, 4])]);
    }
}
