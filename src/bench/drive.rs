//! Runs a script of claims against the servers and prints the results.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::load::{self, Load, Progress, Report};
use super::people::BenchUsers;
use super::rush::{ClaimOutcomes, ClaimScript};
use super::sale_bench::SaleBench;

const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// Sends one claim per user and sale.
pub(super) fn claim_all(
    bench: &SaleBench,
    addresses: &[SocketAddr],
    crowd: &BenchUsers,
) -> anyhow::Result<(ClaimOutcomes, Report)> {
    let script = ClaimScript::new(Arc::clone(&crowd.tokens), &crowd.sales, false);
    let (rush, report) = drive(bench, addresses, script, None, "claims")?;
    Ok((rush.tally, report))
}

/// Runs a script with a progress bar.
pub(super) fn drive(
    bench: &SaleBench,
    addresses: &[SocketAddr],
    script: ClaimScript,
    span: Option<Duration>,
    what: &'static str,
) -> anyhow::Result<(ClaimScript, Report)> {
    let progress = Progress::default();
    let expected = span.map_or(Some((bench.users * bench.sales) as u64), |_| None);
    let load = Load {
        addresses: addresses.to_vec(),
        connections: bench.connections,
        stop_at: span.map(|span| Instant::now() + span),
        request_timeout: REQUEST_TIMEOUT,
        rate: bench.rate,
    };
    let bar = progress_bar(expected, what);
    let done = AtomicBool::new(false);
    let result = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                bar.set_position(progress.answered());
                std::thread::sleep(Duration::from_millis(100));
            }
        });
        let result = load::run(&load, script, &progress);
        done.store(true, Ordering::Relaxed);
        result
    });
    bar.finish_and_clear();
    Ok(result?)
}

pub(super) fn print_claims(tally: &ClaimOutcomes, report: &Report, cpu: Option<Duration>) {
    print_rate("claims", report, cpu);
    println!(
        "               {} accepted ({:.0} /s), {} sold out, {} already bought, {} other, {} rejected, {} \
         lost",
        tally.accepted,
        tally.accepted as f64 / report.elapsed.as_secs_f64(),
        tally.sold_out,
        tally.already_bought,
        tally.refused,
        tally.rejected,
        tally.lost
    );
    if report.unsent > 0 {
        println!(
            "               {} were due but found no free connection: the server did not keep up",
            report.unsent
        );
    }
}

pub(super) fn print_rate(what: &str, report: &Report, cpu: Option<Duration>) {
    let cpu = cpu.map(|cpu| format!(", {:.1} µs of server CPU each", micros_per_response(report, cpu)));
    println!(
        "{what:<14} {:>9.0} /s: {} in {:.2} s; p50 {} p99 {} max {} µs{}; {} errors",
        report.per_second(),
        report.answered,
        report.elapsed.as_secs_f64(),
        report.p50().as_micros(),
        report.p99().as_micros(),
        report.max().as_micros(),
        cpu.unwrap_or_default(),
        report.errors.total()
    );
}

/// Returns the time per response within `span`, in µs.
pub(super) fn micros_per_response(report: &Report, span: Duration) -> f64 {
    span.as_secs_f64() * 1e6 / report.answered.max(1) as f64
}

/// Returns a progress bar, hidden when the output is not a terminal.
pub(super) fn progress_bar(length: Option<u64>, what: &'static str) -> ProgressBar {
    let bar = length.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    let template = match length {
        Some(_) => "{msg:<16} {bar:40} {human_pos}/{human_len} {per_sec} {eta}",
        None => "{msg:<16} {spinner} {human_pos} {per_sec}",
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.set_message(what);
    bar
}
