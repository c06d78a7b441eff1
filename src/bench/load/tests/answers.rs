//! Servers with correct responses, some in several pieces or late.

use std::time::{Duration, Instant};

use super::super::{Answer, Errors, Load, Progress, Script, get, run};
use super::server::{Action, Server};
use super::{Counted, OK, SOLD_OUT, drive, load};

#[test]
fn every_request_is_answered_once() {
    let server = Server::start(|number| Action::send(if number <= 300 { OK } else { SOLD_OUT }));
    let (script, report) = drive(&server, 8, 1_000);
    assert_eq!((script.ok, script.sold_out), (300, 700));
    assert_eq!(server.requests(), 1_000);
    assert_eq!(server.connections(), 8);
    assert_eq!((report.errors, report.reconnects, report.unsent), (Errors::default(), 0, 0));
    assert!(report.per_second() > 0.0 && report.p50() <= report.p99());
    assert!(report.max() <= report.elapsed + Duration::from_millis(1));
}

#[test]
fn an_answer_split_over_writes_is_one_answer() {
    let server = Server::start(|_| Action::pieces(OK, 5));
    assert_eq!(drive(&server, 2, 20).1.errors, Errors::default());
}

#[test]
fn answers_in_chunks_keep_the_connection() {
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n";
    let server = Server::start(|_| Action::pieces(chunked, 9));
    assert_eq!(drive(&server, 2, 20).0.ok, 20);
    assert_eq!(server.connections(), 2);
}

#[test]
fn a_request_larger_than_a_socket_takes_goes_out_whole() {
    struct Large(u64);
    impl Script for Large {
        fn request(&mut self, _connection: usize, buffer: &mut Vec<u8>) -> bool {
            let filler = "x".repeat(8 << 20);
            buffer.extend_from_slice(&get("/", "test", &[("filler", &filler)]));
            self.0 < 2
        }
        fn on_response(&mut self, _connection: usize, answer: Answer<'_>) {
            self.0 += u64::from(answer.body == b"ok");
        }
    }
    // The server responds after the last bytes of the request.
    let server = Server::start(|_| Action::send(OK));
    let (script, report) = run(&load(server.address, 1), Large(0), &Progress::default()).unwrap();
    assert_eq!((script.0, report.errors), (2, Errors::default()));
}

#[test]
fn an_answer_before_the_request_is_out_counts_and_costs_the_connection() {
    struct Endless(u64);
    impl Script for Endless {
        fn request(&mut self, _connection: usize, buffer: &mut Vec<u8>) -> bool {
            buffer.extend_from_slice(&get("/", "test", &[]));
            buffer.resize(buffer.len() + (32 << 20), b'x');
            self.0 < 2
        }
        fn on_response(&mut self, _connection: usize, answer: Answer<'_>) {
            self.0 += u64::from(answer.body == b"ok");
        }
    }
    let server = Server::start(|_| Action::send(OK).then_hang());
    let (script, report) = run(&load(server.address, 1), Endless(0), &Progress::default()).unwrap();
    assert_eq!((script.0, report.errors, report.reconnects), (2, Errors::default(), 2));
}

#[test]
fn a_close_after_the_answer_is_no_error() {
    let close = b"HTTP/1.1 200 OK\r\nConnection: close\r\ncontent-length: 2\r\n\r\nok";
    let server = Server::start(|_| Action::send(close).then_close());
    let (_, report) = drive(&server, 2, 10);
    assert_eq!((report.errors, report.reconnects), (Errors::default(), 10));
    // The last connections are dialled before the script ends them.
    assert!((10..=12).contains(&server.connections()));
}

#[test]
fn latency_is_what_the_server_took() {
    let pause = Duration::from_millis(30);
    let server = Server::start(move |_| Action::send(OK).after(pause));
    let (script, report) = drive(&server, 1, 5);
    assert!(report.latencies.min() >= 29_900);
    assert!(report.p50() >= Duration::from_millis(29) && script.longest >= pause);
    assert!(report.elapsed >= pause * 5);
}

#[test]
fn a_deadline_ends_the_load_and_waits_for_what_is_in_flight() {
    let server = Server::start(|_| Action::send(OK).after(Duration::from_millis(20)));
    let stop_at = Instant::now() + Duration::from_millis(210);
    let load = Load { stop_at: Some(stop_at), ..load(server.address, 3) };
    let (script, report) = run(&load, Counted::requests(1_000), &Progress::default()).unwrap();
    assert!(Instant::now() >= stop_at && script.lost.is_empty());
    assert_eq!(report.answered, server.requests());
    assert_eq!(script.left, 1_000 - report.answered);
}

#[test]
fn another_thread_can_watch_and_stop() {
    let server = Server::start(|_| Action::send(OK).after(Duration::from_millis(1)));
    let progress = Progress::default();
    let shared = progress.clone();
    let watcher = std::thread::spawn(move || {
        while shared.answered() < 20 {
            std::thread::sleep(Duration::from_millis(1));
        }
        shared.stop();
    });
    let endless = Counted::requests(u64::MAX);
    let (_, report) = run(&load(server.address, 2), endless, &progress).unwrap();
    watcher.join().unwrap();
    assert!(report.answered >= 20 && report.errors == Errors::default());
}
