//! Servers with late, bad or no responses, and loads with invalid settings.

use std::time::{Duration, Instant};

use mallbox_test_patience as patience;

use super::super::{
    Answer, Errors, Fault, Load, LoadError, Progress, Report, ResponseError, Script, Shape, Share, run,
};
use super::server::{Action, Server};
use super::{Counted, OK, REQUEST_TIMEOUT, drive, load};

/// Drives a connection over six requests; the third fails.
fn third_goes_wrong(action: fn() -> Action) -> (Counted, Report) {
    let server = Server::start(move |number| if number == 3 { action() } else { Action::send(OK) });
    let (script, report) = drive(&server, 1, 6);
    assert_eq!(report.answered, 5);
    assert_eq!(server.requests(), 6);
    (script, report)
}

fn errors(last: Fault) -> Errors {
    let mut errors = Errors::default();
    errors.count(last);
    errors
}

#[test]
#[should_panic(expected = "without appending a request")]
fn a_script_that_sends_nothing_is_reported() {
    struct Silent;
    impl Script for Silent {
        fn request(&mut self, _connection: usize, _buffer: &mut Vec<u8>) -> bool {
            true
        }
        fn on_response(&mut self, _connection: usize, _answer: Answer<'_>) {}
    }
    let server = Server::start(|_| Action::send(OK));
    let _ = run(&load(server.address, 1), Silent, &Progress::default());
}

#[test]
fn an_answer_that_does_not_come_is_a_timeout() {
    let (script, report) = third_goes_wrong(|| Action::send(OK).after(Duration::from_secs(60)));
    assert_eq!(script.lost, [Fault::Timeout]);
    assert_eq!(report.errors, errors(Fault::Timeout));
    assert!(report.elapsed >= REQUEST_TIMEOUT);
    assert!(patience::is_within(report.elapsed, Duration::from_secs(5)));
}

#[test]
fn half_an_answer_is_a_timeout_too() {
    let (_, report) = third_goes_wrong(|| Action::send(&OK[..20]));
    assert_eq!(report.errors, errors(Fault::Timeout));
}

#[test]
fn a_connection_that_breaks_is_counted_and_dialled_anew() {
    let broken = Fault::Broken(std::io::ErrorKind::UnexpectedEof);
    for action in [|| Action::send(b"").then_close(), || Action::send(&OK[..30]).then_close()] {
        let (script, report) = third_goes_wrong(action);
        assert_eq!(script.lost, [broken]);
        assert_eq!(report.errors, errors(broken));
    }
}

#[test]
fn garbage_is_reported_with_its_reason() {
    let (script, report) = third_goes_wrong(|| Action::send(b"\0\xffgarbage\r\n\r\n"));
    assert!(matches!(script.lost[..], [Fault::Unreadable(ResponseError::NotHttp(_))]));
    assert_eq!(report.errors.unreadable, 1);

    let encoded = b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\nok";
    let server = Server::start(|_| Action::send(encoded));
    let refused = run(&load(server.address, 1), Counted::requests(99), &Progress::default());
    let message = refused.map(|_| ()).unwrap_err().to_string();
    assert!(message.contains(&server.address.to_string()), "{message}");
    assert!(message.contains("unsupported transfer-encoding"), "{message}");
}

#[test]
fn bytes_after_an_answer_cost_the_connection_and_not_the_answer() {
    let server = Server::start(|number| match number {
        3 => Action::send(&[OK, b"more"].concat()),
        _ => Action::send(OK),
    });
    let (script, report) = drive(&server, 1, 6);
    assert_eq!((script.ok, script.lost.len()), (6, 0));
    assert_eq!(report.errors, errors(Fault::Unreadable(ResponseError::Unasked)));
    assert_eq!(server.connections(), 2);
}

#[test]
fn a_server_that_is_down_ends_the_load_with_its_address() {
    let address = Server::nobody();
    let began = Instant::now();
    let failed = run(&load(address, 4), Counted::requests(1), &Progress::default());
    let Err(error @ LoadError::NoResponse { tries: 8, .. }) = failed.map(|_| ()) else {
        panic!("the load went on");
    };
    let expected = format!("no response from {address} in 8 tries; the last error: cannot connect");
    assert!(error.to_string().starts_with(&expected), "{error}");
    assert!(patience::is_within(began.elapsed(), Duration::from_secs(20)));

    let soon = Load { stop_at: Some(Instant::now()), ..load(address, 4) };
    let failed = run(&soon, Counted::requests(1), &Progress::default());
    assert!(matches!(failed, Err(LoadError::NoResponse { .. })));
}

#[test]
fn a_server_that_only_hangs_up_ends_the_load() {
    let server = Server::start(|_| Action::send(b"").then_close());
    let failed = run(&load(server.address, 2), Counted::requests(1_000), &Progress::default());
    assert!(matches!(failed, Err(LoadError::NoResponse { fault: Fault::Broken(_), .. })));
}

#[test]
fn settings_out_of_range_are_refused() {
    let good = load(Server::nobody(), 1);
    let rows = [
        Load { connections: 0, ..good.clone() },
        Load { request_timeout: Duration::ZERO, ..good.clone() },
        Load { share: Share { number: 1, of: 1 }, ..good.clone() },
        Load { shape: Some(Shape::constant(0.0)), ..good.clone() },
        Load { shape: Some(Shape::constant(f64::NAN)), ..good.clone() },
        Load { shape: Some(Shape::constant(f64::INFINITY)), ..good.clone() },
    ];
    for row in rows {
        let refused = run(&row, Counted::default(), &Progress::default());
        assert!(matches!(refused, Err(LoadError::Setting(_))), "{row:?}");
    }
}
