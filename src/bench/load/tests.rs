//! The load generator against correct and faulty servers.

mod answers;
mod faults;
mod paced;
mod server;
mod threads;

use std::net::SocketAddr;
use std::time::Duration;

use mallbox_test_patience as patience;
use server::Server;

use super::{Answer, Fault, Load, Progress, Report, Script, Share, get, run};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const SOLD_OUT: &[u8] = b"HTTP/1.1 409 Conflict\r\nContent-Length: 8\r\n\r\nsold out";

/// Sends `left` requests in all and records each result.
#[derive(Default)]
struct Counted {
    left: u64,
    ok: u64,
    sold_out: u64,
    longest: Duration,
    lost: Vec<Fault>,
}

impl Counted {
    fn requests(left: u64) -> Self {
        Self { left, ..Self::default() }
    }
}

impl Script for Counted {
    fn request(&mut self, _connection: usize, buffer: &mut Vec<u8>) -> bool {
        assert!(buffer.is_empty());
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        buffer.extend_from_slice(&get("/", "test", &[]));
        true
    }

    fn on_response(&mut self, _connection: usize, answer: Answer<'_>) {
        self.longest = self.longest.max(answer.took);
        match (answer.status, answer.body) {
            (200, b"ok") => self.ok += 1,
            (409, b"sold out") => self.sold_out += 1,
            other => panic!("{other:?}"),
        }
    }

    fn lost(&mut self, _connection: usize, fault: Fault) {
        self.lost.push(fault);
    }
}

/// Request timeout of [`drive`]; two cases wait for its end.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(1);

fn load(address: SocketAddr, connections: usize) -> Load {
    let request_timeout = Duration::from_secs(5);
    Load {
        addresses: vec![address],
        connections,
        stop_at: None,
        request_timeout,
        shape: None,
        share: Share::WHOLE,
    }
}

/// Sends `requests` over `connections` connections; each request must end as a response or a loss.
fn drive(server: &Server, connections: usize, requests: u64) -> (Counted, Report) {
    let load =
        Load { request_timeout: patience::scaled(REQUEST_TIMEOUT), ..load(server.address, connections) };
    let progress = Progress::default();
    let (script, report) = run(&load, Counted::requests(requests), &progress).unwrap();
    assert_eq!(script.ok + script.sold_out, report.answered);
    assert_eq!(report.answered + script.lost.len() as u64, requests);
    assert_eq!(report.latencies.len(), report.answered);
    assert_eq!(progress.answered(), report.answered);
    assert_eq!(progress.errors(), report.errors.total());
    (script, report)
}
