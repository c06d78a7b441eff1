//! `bench sale` on one mall, from the first user to the ledger check.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use anyhow::bail;
use indicatif::ProgressBar;
use mallbox_storage::Timestamp;

use super::batch_door;
use super::call_counts;
use super::ceiling::{self, BareHandler, Ceiling};
use super::claim_cost::{ClaimCost, ratio};
use super::comparison::{Outcome, Quantity};
use super::drive::{Arrivals, Driven, drive};
use super::load::{Report, Shape};
use super::log_ins::{self, LogIns};
use super::numbers::{count, millis, rate};
use super::people::Size;
use super::programs::ProgramUsage;
use super::result::{Books, Ceilings, Rates, Recording, Run, TimelinePoint};
use super::run_record::{run_record, timeline};
use super::running_mall::{Ending, RunningMall};
use super::rush::{ClaimOutcomes, Claims};
use super::sale_bench::SaleBench;
use super::site::BenchTarget;
use super::summary::{Summary, generator, micros_per_response, warning};
use super::watch::{self, MetricsSampler};

/// Time limit for the workers to persist the claims still pending after the sale.
pub(super) const DRAIN_TIMEOUT: Duration = Duration::from_secs(600);

/// The claims of a round.
struct Rush {
    outcomes: ClaimOutcomes,
    report: Report,
    cost: ClaimCost,
    log_ins: LogIns,
    /// From the first claim to the last order in the database.
    persisting: Duration,
    /// From the last response to the last order in the database.
    drained: Duration,
    most_pending: u64,
    timeline: Vec<TimelinePoint>,
    persisted: u64,
    batches: u64,
    /// Whether every user has claimed in every sale.
    is_complete: bool,
    /// Cost in Redis and MySQL.
    calls: Option<(Vec<(Quantity, f64)>, String)>,
}

/// Refused claims of one kind.
struct Refusals {
    what: &'static str,
    outcomes: ClaimOutcomes,
    report: Report,
    /// Cost of each program.
    usage: ProgramUsage,
    calls: Vec<(Quantity, f64)>,
}

/// Makes a mall on `ground`, runs the sales, checks the ledger, and prints the results.
/// Adds the run to the recording.
pub(super) fn run(
    bench: &SaleBench,
    (ground, number): (&BenchTarget, usize),
    now: Timestamp,
    recording: &mut Recording,
) -> anyhow::Result<Outcome> {
    let size = Size {
        users: bench.malls.users,
        sales: bench.sales,
        units: bench.units,
        scarce_units: 0,
        has_content: false,
        has_gateway: bench.batch.is_some(),
    };
    let (mall, lines) = RunningMall::start(bench.malls.limits, ground, size, now)?;
    let bare = || ceiling::measure(&bench.generator, bench.span);
    let before = bare()?;
    let rush = rush(bench, &mall, lines)?;
    let between = bare()?;
    let of_rush = Ceiling { before, after: between };
    let mut summary = Summary::default();
    print_rush(&mut summary, &rush, of_rush);
    // Printed at once: what follows may fail.
    print!("{summary}");
    let batches = match (&mall.crowd.gateway, bench.batch) {
        (Some(gateway), Some(size)) => Some(batch_door::measure(bench, &mall, gateway, size)?),
        _ => None,
    };
    let refusals = refusals(bench, &mall, rush.is_complete)?;
    let after = bare()?;
    let of_refusals = Ceiling { before: between, after };
    let (description, system) = (mall.description(), mall.system(ground));
    let ending = mall.end(bench.malls.verbose)?;
    let mut summary = Summary::default();
    if let Some(batches) = &batches {
        batches.print(&mut summary, &rush.report);
    }
    for refused in &refusals {
        print_refusals(&mut summary, refused, of_refusals);
    }
    print_rest(&mut summary, &rush, of_rush, &ending);
    println!("{summary}{description}");
    for (code, text) in swings([before, between, after]) {
        println!("! {text}");
        recording.warn(code, text);
    }
    if let Some((code, text)) = warning(&rush.report) {
        recording.warn(code, text.to_owned());
    }
    recording.add(system, record(bench, (ground.name(), number), &rush, of_rush, &ending));
    let mut figures = figures(&rush, &refusals, of_rush);
    figures.extend(batches.map(|batches| (("claims /s in batches", 0), batches.claims_per_second())));
    Ok(Outcome { ground: ground.name(), figures, books_balance: ending.books_balance })
}

/// Returns warnings about a bare handler that changed between two measurements.
fn swings(measured: [BareHandler; 3]) -> Vec<(&'static str, String)> {
    let pairs = || measured.windows(2).map(|pair| Ceiling { before: pair[0], after: pair[1] });
    let list = |shown: fn(BareHandler) -> Option<String>| {
        measured.into_iter().filter_map(shown).collect::<Vec<_>>().join(", ")
    };
    let mut warnings = Vec::new();
    if pairs().any(Ceiling::swings) {
        let rates = list(|bare| Some(rate(bare.per_s)));
        let text =
            format!("The ceiling changed by more than 15 % ({rates}): other work ran on this machine.");
        warnings.push(("ceiling_swings", text));
    }
    if pairs().any(Ceiling::cpu_swings) {
        let cpu = list(|bare| Some(format!("{:.1} µs", bare.cpu_us?)));
        let text = format!(
            "The CPU of a bare request changed by more than 15 % ({cpu}): ratios to it are unreliable."
        );
        warnings.push(("ceiling_cpu_swings", text));
    }
    warnings
}

/// Returns the rush as a run of the result document.
fn record(
    bench: &SaleBench,
    (system, round): (&str, usize),
    rush: &Rush,
    ceiling: Ceiling,
    ending: &Ending,
) -> Run {
    let Rush { outcomes, report, .. } = rush;
    let run = run_record((system.to_owned(), "flash sale", round), outcomes, report);
    let units = bench.units.map(|units| units.saturating_mul(bench.sales as u64));
    Run {
        ceiling_per_s: Some(Ceilings::rates(ceiling)),
        ceiling_cpu_us: Ceilings::cpu(ceiling),
        offered_per_s: bench.shape.as_ref().map(Shape::peak),
        rates: Rates { persisted_per_s: Some(orders_per_second(rush)), ..run.rates },
        cost: rush.cost.record(report, ceiling),
        books: Books {
            balance: Some(ending.books_balance),
            oversold: units.map(|units| outcomes.accepted.saturating_sub(units)),
            ..Books::default()
        },
        timeline: rush.timeline.clone(),
        ..run
    }
}

/// Runs the sales, with log-ins at the first server meanwhile.
fn rush(bench: &SaleBench, mall: &RunningMall, lines: Receiver<String>) -> anyhow::Result<Rush> {
    let over = Arc::new(AtomicBool::new(false));
    let log_ins = {
        let (over, address, rate) = (Arc::clone(&over), mall.addresses[0], bench.log_ins);
        std::thread::spawn(move || log_ins::measure(address, rate, &lines, || over.load(Ordering::Relaxed)))
    };
    let before = mall.site.figures()?;
    let watch = MetricsSampler::start(mall.addresses.clone());
    let at_begin = mall.usage();
    let claims = Claims::new(Arc::clone(&mall.crowd.tokens), &mall.crowd.sales);
    let arrivals = bench.shape.clone().map_or(Arrivals::Closed, Arrivals::Open);
    let claimed = drive(&bench.generator, &mall.addresses, &claims, &arrivals, "claims");
    over.store(true, Ordering::Relaxed);
    let Driven { outcomes, report, next, .. } = claimed?;
    let ended = Instant::now();
    let answered = mall.usage().since(&at_begin);
    let left = watch::look(&mall.addresses)?.pending;
    let bar = ProgressBar::new_spinner().with_message("waiting for the order workers");
    bar.enable_steady_tick(Duration::from_millis(100));
    watch::drained(&mall.addresses, DRAIN_TIMEOUT)?;
    let drained = ended.elapsed();
    bar.finish_and_clear();
    let persisting = report.elapsed + drained;
    let written = watch::look(&mall.addresses)?;
    let samples = watch.stop();
    let most_pending = samples.iter().map(|(_, look)| look.pending).max().unwrap_or(left).max(left);
    let cost = ClaimCost { answered, persisted: mall.usage().since(&at_begin), orders: written.persisted };
    let spent = mall.spent_since(before)?;
    let calls = spent.map(|spent| {
        let (answered, persisted) = (report.answered, written.persisted);
        (call_counts::of_claims(&spent, answered, persisted), call_counts::line(&spent, answered, persisted))
    });
    let log_ins = match log_ins.join() {
        Ok(log_ins) => log_ins?,
        Err(_) => bail!("the log-in thread panicked"),
    };
    let (persisted, batches) = (written.persisted, written.batches);
    Ok(Rush {
        timeline: timeline(report.began, &samples),
        outcomes,
        report,
        cost,
        log_ins,
        persisting,
        drained,
        most_pending,
        persisted,
        batches,
        is_complete: next as u64 >= claims.count(),
        calls,
    })
}

/// Measures refusals: claims on the sale without units, then repeated claims on the last sale, in which many
/// users hold a unit. Without the latter if some users have not claimed there, since they might get a unit.
fn refusals(bench: &SaleBench, mall: &RunningMall, is_complete: bool) -> anyhow::Result<Vec<Refusals>> {
    let mut refusals = Vec::new();
    let last = mall.crowd.sales.last().copied().filter(|_| is_complete);
    for (what, sale) in [("sold out", Some(mall.crowd.scarce)), ("repeated claim", last)] {
        let Some(sale) = sale else { continue };
        let claims = Claims::new(Arc::clone(&mall.crowd.tokens), &[sale]).endless();
        let (before, usage) = (mall.site.figures()?, mall.usage());
        let arrivals = Arrivals::ClosedFor(bench.span);
        let Driven { outcomes, report, .. } =
            drive(&bench.generator, &mall.addresses, &claims, &arrivals, what)?;
        let usage = mall.usage().since(&usage);
        let spent = if mall.crowd.scarce == sale { mall.spent_since(before)? } else { None };
        let calls = spent.iter().flat_map(|spent| call_counts::of_refusals(spent, report.answered)).collect();
        refusals.push(Refusals { what, outcomes, report, usage, calls });
    }
    Ok(refusals)
}

fn orders_per_second(rush: &Rush) -> f64 {
    rush.outcomes.accepted as f64 / rush.persisting.as_secs_f64()
}

fn print_rush(summary: &mut Summary, rush: &Rush, ceiling: Ceiling) {
    let Rush { outcomes, report, .. } = rush;
    summary.add_accepted(outcomes, report);
    summary.add_latency(report, "");
    summary.add(
        "answered",
        rate(report.per_second()),
        format!(
            "{:.0} % of what a bare axum handler answers in a closed loop: {} before, {} after",
            ceiling.percent(report.per_second()),
            rate(ceiling.before.per_s),
            rate(ceiling.after.per_s)
        ),
    );
    summary.add(
        "persisted",
        rate(orders_per_second(rush)),
        format!(
            "until the last of {} orders, {} after the last response, {:.0} a transaction; at most {} pending",
            count(rush.persisted),
            millis(rush.drained),
            rush.persisted as f64 / rush.batches.max(1) as f64,
            count(rush.most_pending)
        ),
    );
}

fn print_refusals(summary: &mut Summary, refused: &Refusals, ceiling: Ceiling) {
    let Refusals { what, outcomes, report, usage, .. } = refused;
    let cpu = usage
        .mallbox()
        .map(|usage| format!(", {:.1} µs of mallbox' CPU each", micros_per_response(report, usage.cpu)))
        .unwrap_or_default();
    let times = ratio(usage.total(), report, ceiling)
        .map(|ratio| format!(", CPU ratio {ratio:.2}"))
        .unwrap_or_default();
    summary.add(
        what,
        rate(report.per_second()),
        format!(
            "{:.0} % of the bare handler; p50 {}, p99 {}{cpu}{times}; {}",
            ceiling.percent(report.per_second()),
            millis(report.p50()),
            millis(report.p99()),
            outcomes
        ),
    );
}

fn print_rest(summary: &mut Summary, rush: &Rush, ceiling: Ceiling, ending: &Ending) {
    let times = &rush.log_ins.latencies;
    let at = |quantile| millis(Duration::from_micros(times.value_at_quantile(quantile)));
    summary.add(
        "log-ins",
        rate(rush.log_ins.per_second()),
        format!(
            "beside the claims, {} in all; p50 {}, p99 {}, longest {}",
            count(times.len()),
            at(0.5),
            at(0.99),
            at(1.0)
        ),
    );
    let cpu = rush.cost.answered.mallbox();
    let cpu = cpu.map(|usage| format!("{:.1} µs", micros_per_response(&rush.report, usage.cpu)));
    let text = format!("of all mallbox processes a claim; {}", generator(&rush.report));
    summary.add("CPU", cpu.unwrap_or_else(|| "unknown".to_owned()), text);
    rush.cost.print(summary, (&rush.outcomes, &rush.report), ceiling);
    if let Some((_, line)) = &rush.calls {
        summary.add("servers", String::new(), line.clone());
    }
    if let Some((bytes, restart)) = ending.log {
        let mib = format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20));
        summary.add("order log", mib, format!("on disk; the mall restarts in {}", millis(restart)));
    }
    summary.add_books(ending);
}

/// Returns the figures for the comparison of several runs.
fn figures(rush: &Rush, refusals: &[Refusals], ceiling: Ceiling) -> Vec<(Quantity, f64)> {
    let report = &rush.report;
    let mut figures = vec![
        (("claims /s", 0), report.per_second()),
        (("% of the ceiling", 1), ceiling.percent(report.per_second())),
        (("p50 of a claim, ms", 2), report.p50().as_secs_f64() * 1e3),
        (("p99 of a claim, ms", 2), report.p99().as_secs_f64() * 1e3),
        (("accepted and durable /s", 0), rush.outcomes.accepted_per_second(report)),
        (("orders in the database /s", 0), orders_per_second(rush)),
        (("orders per transaction", 0), rush.persisted as f64 / rush.batches.max(1) as f64),
    ];
    if let Some(usage) = rush.cost.answered.mallbox() {
        figures.push((("mallbox' CPU per claim, µs", 1), micros_per_response(report, usage.cpu)));
    }
    figures.extend(rush.cost.figures(report, ceiling));
    figures.extend(rush.calls.iter().flat_map(|(figures, _)| figures.iter().copied()));
    for refused in refusals.iter().filter(|refused| refused.what == "sold out") {
        figures.push((("sold out /s", 0), refused.report.per_second()));
        figures.extend(refused.calls.iter().copied());
    }
    figures
}
