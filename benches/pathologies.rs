//! The load generator on trial: five servers that misbehave, over real connections. The percentiles that the
//! load measures are compared with those the server recorded, counted from the instants at which the requests
//! were due. Fails if one differs by more than 2 % in the median of five rounds. Takes five minutes.
//!
//! `cargo bench -p mallbox --bench pathologies`, on a machine without other work
#![expect(clippy::unwrap_used, reason = "a bench that cannot run has nothing to say")]

use std::process::ExitCode;
use std::time::Duration;

use hdrhistogram::Histogram;
use mallbox::bench::load::{self, Answer, Load, Piece, Progress, Report, Script, Shape, Share};
use mallbox_test_pathologies::{Pathology, Record, Server};

/// Requests per second.
const RATE: f64 = 400.0;
const LASTS: Duration = Duration::from_secs(12);
const CONNECTIONS: usize = 32;
/// Rounds of each server; an odd number.
const ROUNDS: usize = 5;
/// Largest share by which a percentile may differ.
const TOLERANCE: f64 = 0.02;
const QUANTILES: [f64; 5] = [0.5, 0.9, 0.99, 0.999, 1.0];

/// Numbers its requests, which are sent in the order in which they are due.
struct Numbered(u64);

impl Script for Numbered {
    fn request(&mut self, _connection: usize, buffer: &mut Vec<u8>) -> bool {
        buffer.extend_from_slice(&load::get(&format!("/{}", self.0), "pathology", &[]));
        self.0 += 1;
        true
    }

    fn on_response(&mut self, _connection: usize, _answer: Answer<'_>) {}
}

fn main() -> ExitCode {
    let seconds = LASTS.as_secs();
    println!("{RATE} requests a second for {seconds} s, {CONNECTIONS} connections, {ROUNDS} rounds");
    println!("{:<24}{:>9}{:>12}{:>12}{:>10}", "", "quantile", "load, ms", "server, ms", "off");
    let mut is_right = true;
    for pathology in Pathology::ALL {
        is_right &= on_trial(pathology);
    }
    if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns whether the load told the truth: the median of the rounds, since one late wake-up of a shared
/// machine decides the far end of a fast server.
fn on_trial(pathology: Pathology) -> bool {
    let rounds: Vec<_> = (0..ROUNDS).map(|_| round(pathology)).collect();
    let mut is_right = rounds.iter().all(|(_, has_all)| *has_all);
    for (place, quantile) in QUANTILES.into_iter().enumerate() {
        let mut pairs: Vec<_> = rounds.iter().map(|(percentiles, _)| percentiles[place]).collect();
        pairs.sort_by(|one, other| off(*one).total_cmp(&off(*other)));
        let (told, known) = pairs[ROUNDS / 2];
        let [least, median, most] = [0, ROUNDS / 2, ROUNDS - 1].map(|at| 100.0 * off(pairs[at]));
        is_right &= median.abs() <= 100.0 * TOLERANCE;
        let (told, known) = (told as f64 / 1e3, known as f64 / 1e3);
        let name = pathology.name();
        println!("{name:<24}{quantile:>9}{told:>12.2}{known:>12.2}{median:>8.1} % ({least:.1}..{most:.1})");
    }
    is_right
}

/// Returns by what share a measured percentile differs from the server's.
fn off((told, known): (u64, u64)) -> f64 {
    told as f64 / known as f64 - 1.0
}

/// Returns each percentile in µs, as measured and as the server knows it, and whether every request is
/// accounted for.
fn round(pathology: Pathology) -> ([(u64, u64); QUANTILES.len()], bool) {
    let server = Server::start(pathology);
    let shape = Shape::new(&[Piece::even(RATE, LASTS)]).unwrap();
    let load = Load {
        addresses: vec![server.address()],
        connections: CONNECTIONS,
        stop_at: None,
        request_timeout: Duration::from_secs(10),
        shape: Some(shape.clone()),
        share: Share::WHOLE,
    };
    let (_, report) = load::run(&load, Numbered(0), &Progress::default()).unwrap();
    let records = server.records();
    let truth = truth(&records, &shape, &report);
    let percentiles = QUANTILES
        .map(|quantile| (report.latencies.value_at_quantile(quantile), truth.value_at_quantile(quantile)));
    let dropped = records.iter().filter(|record| record.is_dropped).count() as u64;
    let has_all = report.errors.total() == dropped && report.answered + dropped == records.len() as u64;
    if !has_all {
        println!("{} answered, {:?}; the server dropped {dropped}", report.answered, report.errors);
    }
    if report.is_generator_bound() || report.is_generator_starved() {
        println!("the generator was short of CPU: {} requests late", report.late);
    }
    (percentiles, has_all)
}

/// Returns the latencies as the server knows them, in µs.
fn truth(records: &[Record], shape: &Shape, report: &Report) -> Histogram<u64> {
    let mut truth = Histogram::new(3).unwrap();
    let began = report.began.unwrap();
    for record in records.iter().filter(|record| !record.is_dropped) {
        let due = began + shape.due(record.number).unwrap();
        truth.record(u64::try_from((record.at - due).as_micros()).unwrap()).unwrap();
    }
    truth
}
