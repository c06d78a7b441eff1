//! Loads at a fixed rate.

use std::time::{Duration, Instant};

use super::super::{Errors, Load, Progress, Shape, run};
use super::server::{Action, Server};
use super::{Counted, OK, load};

#[test]
fn a_paced_load_keeps_its_rate() {
    let server = Server::start(|_| Action::send(OK));
    let load = Load { shape: Some(Shape::constant(200.0)), ..load(server.address, 4) };
    let (_, report) = run(&load, Counted::requests(41), &Progress::default()).unwrap();
    // The 41st is due 200 ms after the first.
    assert_eq!(report.answered, 41);
    assert!(report.elapsed >= Duration::from_millis(200), "{:?}", report.elapsed);
}

#[test]
fn a_stall_counts_against_every_request_that_was_due_in_it() {
    let stall = Duration::from_millis(300);
    let server = Server::start(move |number| match number {
        1 => Action::send(OK).after(stall),
        _ => Action::send(OK),
    });
    let load = Load { shape: Some(Shape::constant(100.0)), ..load(server.address, 1) };
    let (_, report) = run(&load, Counted::requests(20), &Progress::default()).unwrap();
    // Request n was due at 10 n ms and none was answered before 300: a closed loop would have seen one slow
    // response out of twenty.
    assert_eq!(report.latencies.count_between(100_000, u64::MAX), 20);
}

#[test]
fn requests_without_a_free_connection_are_reported() {
    let server = Server::start(|_| Action::send(OK).after(Duration::from_millis(40)));
    let load = Load {
        stop_at: Some(Instant::now() + Duration::from_millis(400)),
        shape: Some(Shape::constant(1_000.0)),
        ..load(server.address, 2)
    };
    let (_, report) = run(&load, Counted::requests(10_000), &Progress::default()).unwrap();
    assert!(report.answered <= 22, "{}", report.answered);
    assert!(report.unsent > 0 && report.unsent <= 400, "{}", report.unsent);
}

#[test]
fn an_idle_connection_that_the_server_closes_is_no_error() {
    let server = Server::start(|_| Action::send(OK).then_close());
    // A pause in which even a busy machine closes the connection: a request that crosses the close is lost.
    let load = Load { shape: Some(Shape::constant(2.0)), ..load(server.address, 1) };
    let (_, report) = run(&load, Counted::requests(3), &Progress::default()).unwrap();
    assert_eq!((report.answered, report.errors), (3, Errors::default()));
    // The last reconnect may come after the end.
    assert!((2..=3).contains(&report.reconnects), "{}", report.reconnects);
}
