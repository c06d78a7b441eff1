//! Loads on several threads, and loads whose shape ends.

use std::net::{Ipv4Addr, TcpListener};
use std::time::Duration;

use super::super::{LoadError, Piece, Progress, Shape, run_on_threads};
use super::server::{Action, Server};
use super::{Counted, OK, load};

#[test]
fn threads_share_a_load_and_their_results_are_added() {
    let server = Server::start(|_| Action::send(OK));
    let progress = Progress::default();
    let scripts = [40, 50, 60].map(Counted::requests).into();
    let (scripts, report) = run_on_threads(&load(server.address, 7), scripts, &progress).unwrap();
    assert_eq!(scripts.iter().map(|script| script.ok).collect::<Vec<_>>(), [40, 50, 60]);
    assert_eq!((report.answered, report.latencies.len(), progress.answered()), (150, 150, 150));
    assert_eq!(server.requests(), 150);
    assert!(report.busiest < report.cpu && report.elapsed > Duration::ZERO, "{report:?}");
}

#[test]
fn a_shape_ends_the_load_after_its_last_arrival() {
    let server = Server::start(|_| Action::send(OK));
    let piece = |rate| Piece::even(rate, Duration::from_millis(100));
    let shape = Shape::new(&[piece(200.0), piece(0.0), piece(100.0)]).unwrap();
    let load = super::Load { shape: Some(shape), ..load(server.address, 4) };
    let scripts = vec![Counted::requests(1_000), Counted::requests(1_000)];
    let (scripts, report) = run_on_threads(&load, scripts, &Progress::default()).unwrap();
    assert_eq!((report.answered, report.unsent), (30, 0));
    assert!(scripts.iter().all(|script| script.ok == 15));
    // The last of the third piece is due 290 ms after the start.
    assert!(report.elapsed >= Duration::from_millis(290), "{:?}", report.elapsed);
}

#[test]
fn a_thread_that_reaches_nobody_ends_the_others() {
    let server = Server::start(|_| Action::send(OK));
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let nobody = free.local_addr().unwrap();
    drop(free);
    let load = super::Load { addresses: vec![server.address, nobody], ..load(server.address, 2) };
    let scripts = vec![Counted::requests(u64::MAX), Counted::requests(u64::MAX)];
    let result = run_on_threads(&load, scripts, &Progress::default());
    assert!(
        matches!(result, Err(LoadError::NoResponse { address, .. }) if address == nobody),
        "the second thread fails"
    );
}

#[test]
fn a_load_needs_a_script_and_a_connection_for_each() {
    let server = Server::start(|_| Action::send(OK));
    for (connections, scripts) in [(1, vec![]), (1, vec![Counted::default(), Counted::default()])] {
        let refused = run_on_threads(&load(server.address, connections), scripts, &Progress::default());
        assert!(matches!(refused, Err(LoadError::Setting(_))));
    }
}
