//! `bench ramp`: the highest rate of claims that a mall answers in time.

use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use mallbox_storage::Timestamp;
use serde_json::json;

use super::comparison::Outcome;
use super::drive::{Arrivals, Driven, drive};
use super::load::{Piece, Report, Shape};
use super::new_file::check_new;
use super::numbers::{count, millis, rate};
use super::people::Size;
use super::ramp::{self, Found, Length, Limit, Verdict};
use super::result::{Books, RAMP, Recording, Run, Settings, Trial};
use super::round::DRAIN_TIMEOUT;
use super::run_record::run_record;
use super::running_mall::RunningMall;
use super::rush::{ClaimOutcomes, Claims};
use super::sale_bench::RampBench;
use super::site::BenchTarget;
use super::summary::{GENERATOR_BOUND, Summary, generator};
use super::turns::on_all_grounds;
use super::watch;

/// Sales of a mall, without a limit of units: with 100,000 users enough for five million claims.
const SALES: usize = 50;

/// Runs the bench, prints the results and checks the ledgers. Returns whether all ledgers balance.
///
/// # Errors
/// A server that cannot be started or reached; users without claims before the search ends.
pub fn run(bench: &RampBench, now: Timestamp) -> anyhow::Result<bool> {
    bench.generator.check((bench.malls.users, SALES))?;
    check_new(bench.malls.json.as_deref())?;
    let mut recording = Recording::begin("ramp", settings(bench), now);
    let balance =
        on_all_grounds(&bench.malls, |ground, round| on_ground(bench, (ground, round), now, &mut recording))?;
    bench.malls.json.as_deref().map_or(Ok(()), |file| recording.write(file))?;
    Ok(balance)
}

fn settings(bench: &RampBench) -> Settings {
    let mut settings = bench.malls.settings();
    settings.extend(bench.generator.settings());
    settings.extend([
        ("p99_ms", json!(bench.p99.as_secs_f64() * 1e3)),
        ("from_per_s", json!(bench.from)),
        ("span_s", json!(bench.span.as_secs_f64())),
    ]);
    settings
}

fn on_ground(
    bench: &RampBench,
    (ground, round): (&BenchTarget, usize),
    now: Timestamp,
    recording: &mut Recording,
) -> anyhow::Result<Outcome> {
    let size = Size {
        users: bench.malls.users,
        sales: SALES,
        units: None,
        scarce_units: 0,
        has_content: false,
        has_gateway: false,
    };
    let (mall, _lines) = RunningMall::start(bench.malls.limits, ground, size, now)?;
    println!("Goal: p99 within {}, every claim accepted. Each rate for {:?}.", millis(bench.p99), bench.span);
    let mut trials = Trials { bench, mall: &mall, first: 0, best: None, last: None, tried: Vec::new() };
    let Found { rate: found, limit } = ramp::search(bench.from, |rate, length| trials.run(rate, length))?;
    let best = trials.best.take();
    let mut summary = Summary::default();
    match (found, &best) {
        (Some(found), Some((_, report))) => {
            summary.add("highest rate", rate(found), format!("accepted, p99 within {}", millis(bench.p99)));
            summary.add_latency(report, " at this rate");
            summary.add("CPU", String::new(), generator(report));
        }
        _ => summary.add("highest rate", "none".to_owned(), "no rate met the goal to the end".to_owned()),
    }
    // Printed at once: what follows may fail.
    print!("\n{summary}");
    let (description, system) = (mall.description(), mall.system(ground));
    let (tried, last) = (std::mem::take(&mut trials.tried), trials.last.take());
    let ending = mall.end(bench.malls.verbose)?;
    let mut summary = Summary::default();
    summary.add_books(&ending);
    println!("{summary}{description}");
    match limit {
        None => {}
        Some(Limit::Generator) => {
            println!("! {GENERATOR_BOUND}");
            recording.warn("generator_bound", GENERATOR_BOUND.to_owned());
        }
        Some(Limit::Claims) => {
            bail!("{} users have no claims left: pass more --users", count(bench.malls.users as u64));
        }
    }
    if let Some((outcomes, report)) = best.as_ref().filter(|_| found.is_some()).or(last.as_ref()) {
        let run = run_record((ground.name().to_owned(), RAMP, round), outcomes, report);
        let books = Books { balance: Some(ending.books_balance), ..Books::default() };
        let failure = found.is_none().then(|| "no rate met the goal to the end".to_owned());
        let offered_per_s = found.or(tried.last().map(|trial| trial.offered_per_s));
        recording.add(system, Run { failure, offered_per_s, trials: tried, books, ..run });
    }
    let figures = found.map(|found| (("highest rate, claims /s", 0), found)).into_iter().collect();
    Ok(Outcome { ground: ground.name(), figures, books_balance: ending.books_balance })
}

/// The trials on a mall.
struct Trials<'a> {
    bench: &'a RampBench,
    mall: &'a RunningMall,
    /// Number of the first claim that was not made yet.
    first: usize,
    /// The last trial that met the goal.
    best: Option<(ClaimOutcomes, Report)>,
    /// The last trial of all.
    last: Option<(ClaimOutcomes, Report)>,
    tried: Vec<Trial>,
}

impl Trials<'_> {
    fn run(&mut self, per_second: f64, length: Length) -> anyhow::Result<Verdict> {
        let span = if length == Length::Confirming { self.bench.span * 2 } else { self.bench.span };
        let shape = Shape::new(&[Piece::even(per_second, span)])?;
        let claims =
            Claims::new(Arc::clone(&self.mall.crowd.tokens), &self.mall.crowd.sales).from(self.first);
        if shape.due_by(span) > claims.count() {
            return Ok(Verdict::OutOfClaims);
        }
        let arrivals = Arrivals::Open(shape);
        let Driven { outcomes, report, next, .. } =
            drive(&self.bench.generator, &self.mall.addresses, &claims, &arrivals, "trial")?;
        self.first = next;
        // The next trial finds no work of this one.
        let drained = watch::drained(&self.mall.addresses, DRAIN_TIMEOUT)?;
        let verdict = self.judge(&outcomes, &report);
        println!("{}", line(per_second, &report, drained, verdict));
        self.tried.push(Trial {
            offered_per_s: per_second,
            achieved_per_s: outcomes.accepted_per_second(&report),
            p50_us: report.latencies.value_at_quantile(0.5),
            p99_us: report.latencies.value_at_quantile(0.99),
            met: verdict == Verdict::Met,
        });
        if verdict == Verdict::Met {
            self.best = Some((outcomes, report.clone()));
        }
        self.last = Some((outcomes, report));
        Ok(verdict)
    }

    fn judge(&self, outcomes: &ClaimOutcomes, report: &Report) -> Verdict {
        let is_in_time = report.p99() <= self.bench.p99 && report.unsent == 0;
        if is_in_time && outcomes.accepted == report.answered && report.errors.total() == 0 {
            Verdict::Met
        } else if report.is_generator_bound() {
            Verdict::GeneratorBound
        } else {
            Verdict::Missed
        }
    }
}

fn line(per_second: f64, report: &Report, drained: Duration, verdict: Verdict) -> String {
    let verdict = match verdict {
        Verdict::Met => "met",
        Verdict::Missed => "missed",
        Verdict::GeneratorBound => "generator at its limit",
        Verdict::OutOfClaims => "too few claims left",
    };
    let mut line = format!(
        "{:>14}  p50 {:>9}  p99 {:>9}  longest {:>9}  orders written {:>9} later  {verdict}",
        rate(per_second),
        millis(report.p50()),
        millis(report.p99()),
        millis(report.max()),
        millis(drained)
    );
    let errors = report.errors.total();
    if errors > 0 {
        line += &format!(", {} without a response", count(errors));
    }
    if report.is_generator_starved() {
        line += ", generator short of CPU";
    }
    line
}
