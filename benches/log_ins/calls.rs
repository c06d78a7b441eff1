//! A fixed number of requests over some connections, each of which must get the expected response.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::ensure;
use mallbox::bench::load::{self, Answer, Load, Progress, Report, Script, Share};

const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// Requests to send.
pub struct Calls {
    /// Sent in order, and again from the first.
    pub requests: Vec<Vec<u8>>,
    /// Number of requests to send.
    pub count: usize,
    /// Text in the body of each response.
    pub expected: &'static str,
}

struct CallScript {
    calls: Calls,
    sent: usize,
    in_flight: Vec<usize>,
    /// Bodies by request. Kept for at most one pass over the requests.
    bodies: Vec<Vec<u8>>,
    unexpected: Option<String>,
}

impl Calls {
    /// Returns calls that send each request once.
    pub fn once(requests: Vec<Vec<u8>>, expected: &'static str) -> Self {
        Self { count: requests.len(), requests, expected }
    }

    /// Sends all requests. Returns the bodies in the order of the requests, without those of repetitions.
    pub fn run(self, to: SocketAddr, connections: usize) -> anyhow::Result<(Vec<Vec<u8>>, Report)> {
        let count = self.count as u64;
        let bodies = vec![Vec::new(); self.requests.len()];
        let in_flight = vec![0; connections];
        let script = CallScript { calls: self, sent: 0, in_flight, bodies, unexpected: None };
        let load = Load {
            addresses: vec![to],
            connections,
            stop_at: None,
            request_timeout: REQUEST_TIMEOUT,
            shape: None,
            share: Share::WHOLE,
        };
        let (script, report) = load::run(&load, script, &Progress::default())?;
        if let Some(body) = script.unexpected {
            anyhow::bail!("expected {} and got {body}", script.calls.expected);
        }
        ensure!(report.answered == count, "{} of {count} requests got a response", report.answered);
        Ok((script.bodies, report))
    }
}

impl Script for CallScript {
    fn request(&mut self, connection: usize, buffer: &mut Vec<u8>) -> bool {
        if self.sent == self.calls.count {
            return false;
        }
        buffer.extend_from_slice(&self.calls.requests[self.sent % self.calls.requests.len()]);
        self.in_flight[connection] = self.sent;
        self.sent += 1;
        true
    }

    fn on_response(&mut self, connection: usize, answer: Answer<'_>) {
        let expected = self.calls.expected.as_bytes();
        if !answer.body.windows(expected.len()).any(|window| window == expected) {
            self.unexpected.get_or_insert_with(|| String::from_utf8_lossy(answer.body).into_owned());
        }
        if let Some(body) = self.bodies.get_mut(self.in_flight[connection]) {
            body.extend_from_slice(answer.body);
        }
    }
}
