//! One mall of the bench, from the first user to the ledger check.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use anyhow::bail;
use indicatif::ProgressBar;
use mallbox_storage::{Health, Timestamp};
use mallbox_storage_production::ServerStats;

use super::comparison::{Outcome, Quantity};
use super::drive::{claim_all, drive, micros_per_response, print_claims, print_rate, progress_bar};
use super::load::Report;
use super::people::{self, BenchUsers, Size};
use super::rush::ClaimScript;
use super::sale_bench::SaleBench;
use super::server::{Server, cpu_of, cpu_since, this_program};
use super::site::{BenchLocation, BenchTarget};
use super::watch::{self, MetricsSampler};
use super::{call_counts, logins};

/// Time limit for the workers to persist the claims still pending after the sale.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(600);
/// Limits that are checked on every claim and log-in, and never reached: all log-ins have one address here.
const LIMITS_UNREACHED: [&str; 6] = [
    "--claims-per-minute",
    "1000000000",
    "--codes-per-hour-of-address",
    "1000000000",
    "--codes-per-day-of-mall",
    "1000000000",
];

/// A mall under load.
struct Round<'a> {
    bench: &'a SaleBench,
    site: &'a BenchLocation,
    crowd: BenchUsers,
    ceiling: &'a Report,
    servers: Vec<Server>,
    addresses: Vec<SocketAddr>,
    figures: Vec<(Quantity, f64)>,
}

/// Makes a mall on `ground`, runs the sales, and checks the ledger.
pub(super) fn run(
    bench: &SaleBench,
    ground: &BenchTarget,
    ceiling: &Report,
    now: Timestamp,
) -> anyhow::Result<Outcome> {
    let site = BenchLocation::find(ground)?;
    let (crowd, health) = make_mall(bench, &site, now)?;
    let arguments = arguments(bench, &site)?;
    print_servers(&arguments, &site, &health);
    let (servers, mut lines) = start(&arguments, &site)?;
    let addresses = servers.iter().map(|server| server.address).collect();
    let mut round = Round { bench, site: &site, crowd, ceiling, servers, addresses, figures: Vec::new() };
    round.sell(lines.swap_remove(0))?;
    round.refuse()?;
    let Round { servers, figures, .. } = round;
    for server in servers {
        server.stop()?;
    }
    if let Some(dir) = site.dir() {
        start_again(&arguments, dir)?;
    }
    Ok(Outcome { ground: ground.name(), figures, books_balance: verify(&site)? })
}

impl Round<'_> {
    /// Runs the sales, with log-ins at the first server meanwhile.
    fn sell(&mut self, lines: Receiver<String>) -> anyhow::Result<()> {
        let over = Arc::new(AtomicBool::new(false));
        let logins = {
            let (over, address) = (Arc::clone(&over), self.addresses[0]);
            std::thread::spawn(move || logins::measure(address, &lines, || over.load(Ordering::Relaxed)))
        };
        let before = self.site.figures()?;
        let watch = MetricsSampler::start(self.addresses.clone());
        let (cpu, began) = (cpu_of(&self.servers), Instant::now());
        let pressed = claim_all(self.bench, &self.addresses, &self.crowd);
        over.store(true, Ordering::Relaxed);
        let (tally, report) = pressed?;
        let claim_cpu = cpu_since(&self.servers, cpu);
        let left = watch::look(&self.addresses)?.pending;
        let bar = ProgressBar::new_spinner().with_message("waiting for the order workers");
        bar.enable_steady_tick(Duration::from_millis(100));
        let drained = watch::drained(&self.addresses, DRAIN_TIMEOUT)?;
        bar.finish_and_clear();
        let persisting = began.elapsed().as_secs_f64();
        let written = watch::look(&self.addresses)?;
        let looks = watch.stop();
        let spent = spent_since(self.site, before)?;
        print_claims(&tally, &report, claim_cpu);
        println!("               {:.0} % of the ceiling", self.of_ceiling(&report));
        println!(
            "persisted      {:>9.0} /s until the last of {} orders, {:.0} per transaction; {left} were \
             pending after the last response, written {:.2} s later; at most {} pending",
            tally.accepted as f64 / persisting,
            written.persisted,
            written.persisted as f64 / written.batches.max(1) as f64,
            drained.as_secs_f64(),
            looks.iter().map(|(_, look)| look.pending).max().unwrap_or(left),
        );
        self.note_claims(&report, claim_cpu);
        self.note(("accepted and durable /s", 0), tally.accepted as f64 / report.elapsed.as_secs_f64());
        self.note(("orders in the database /s", 0), tally.accepted as f64 / persisting);
        self.note(("orders per transaction", 0), written.persisted as f64 / written.batches.max(1) as f64);
        if let Some(spent) = spent {
            self.figures.extend(call_counts::of_claims(&spent, report.answered, written.persisted));
            println!("servers        {}", call_counts::line(&spent, report.answered, written.persisted));
        }
        print_logins(logins.join())
    }

    /// Measures refusals: claims on the sale without units, then repeated claims on the last sale, in which
    /// many users hold a unit.
    fn refuse(&mut self) -> anyhow::Result<()> {
        let last = self.crowd.sales.last().copied();
        for (what, sale) in [("sold out", self.crowd.sold_out), ("repeated claim", last)] {
            let Some(sale) = sale else { continue };
            let script = ClaimScript::new(Arc::clone(&self.crowd.tokens), &[sale], true);
            let before = self.site.figures()?;
            let cpu = cpu_of(&self.servers);
            let (rush, report) = drive(self.bench, &self.addresses, script, Some(self.bench.span), what)?;
            let tally = rush.tally;
            print_rate(what, &report, cpu_since(&self.servers, cpu));
            println!(
                "               {:.0} % of the ceiling; {} sold out, {} already bought, {} other, {} \
                 rejected, {} lost",
                self.of_ceiling(&report),
                tally.sold_out,
                tally.already_bought,
                tally.accepted + tally.refused,
                tally.rejected,
                tally.lost
            );
            if Some(sale) == self.crowd.sold_out {
                self.note(("sold out /s", 0), report.per_second());
                let spent = spent_since(self.site, before)?;
                self.figures
                    .extend(spent.iter().flat_map(|spent| call_counts::of_refusals(spent, report.answered)));
            }
        }
        Ok(())
    }

    fn note_claims(&mut self, report: &Report, cpu: Option<Duration>) {
        self.note(("claims /s", 0), report.per_second());
        self.note(("% of the ceiling", 1), self.of_ceiling(report));
        self.note(("p50 of a claim, ms", 2), report.p50().as_secs_f64() * 1e3);
        self.note(("p99 of a claim, ms", 2), report.p99().as_secs_f64() * 1e3);
        if let Some(cpu) = cpu {
            self.note(("mallbox' CPU per claim, µs", 1), micros_per_response(report, cpu));
        }
    }

    fn note(&mut self, what: Quantity, value: f64) {
        self.figures.push((what, value));
    }

    fn of_ceiling(&self, report: &Report) -> f64 {
        100.0 * report.per_second() / self.ceiling.per_second()
    }
}

fn spent_since(site: &BenchLocation, before: Option<ServerStats>) -> anyhow::Result<Option<ServerStats>> {
    Ok(before.zip(site.figures()?).map(|(before, after)| after - before))
}

fn make_mall(
    bench: &SaleBench,
    site: &BenchLocation,
    now: Timestamp,
) -> anyhow::Result<(BenchUsers, Health)> {
    let bar = progress_bar(Some(bench.users as u64), "users logged in");
    let size = Size { users: bench.users, sales: bench.sales, units: bench.units };
    let made = site.runtime.block_on(people::make(&site.place(), size, now, &bar))?;
    bar.finish_and_clear();
    Ok(made)
}

fn arguments(bench: &SaleBench, site: &BenchLocation) -> anyhow::Result<Vec<String>> {
    let mut arguments = site.serve()?;
    arguments.extend(["--listen", "127.0.0.1:0"].map(str::to_owned));
    let limits: &[&str] = if bench.limits { &LIMITS_UNREACHED } else { &["--limits", "off"] };
    arguments.extend(limits.iter().map(|word| (*word).to_owned()));
    Ok(arguments)
}

fn print_servers(arguments: &[String], site: &BenchLocation, health: &Health) {
    let many = if site.instances() > 1 { format!("{} × ", site.instances()) } else { String::new() };
    println!("server         {many}mallbox {}", arguments.join(" "));
    for (server, address) in health.servers() {
        println!("               {} at {address}: {}", server.name, server.durability.unwrap_or_default());
    }
}

/// Starts all processes of the mall. Returns the lines each writes to standard output.
fn start(arguments: &[String], site: &BenchLocation) -> anyhow::Result<(Vec<Server>, Vec<Receiver<String>>)> {
    let environment = site.environment();
    let started: Vec<_> = (0..site.instances())
        .map(|_| Server::start(arguments, &environment))
        .collect::<anyhow::Result<_>>()?;
    Ok(started.into_iter().unzip())
}

/// Prints the size of the order log after the sales and the time of a restart on it.
fn start_again(arguments: &[String], dir: &Path) -> anyhow::Result<()> {
    let bytes = bytes_below(&dir.join("log"))?;
    let began = Instant::now();
    let (server, _lines) = Server::start(arguments, &[])?;
    let started = began.elapsed();
    server.stop()?;
    println!(
        "order log      {:>9.1} MiB on disk afterwards; the mall restarts in {:.0} ms",
        bytes as f64 / f64::from(1 << 20),
        started.as_secs_f64() * 1e3
    );
    Ok(())
}

fn bytes_below(dir: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() { bytes_below(&entry.path())? } else { metadata.len() };
    }
    Ok(bytes)
}

/// Checks the stopped mall's ledger with `verify`. Returns whether the ledger balances.
fn verify(site: &BenchLocation) -> anyhow::Result<bool> {
    Ok(this_program(&site.command("verify")?, &site.environment())?.status()?.success())
}

fn print_logins(
    latencies: std::thread::Result<anyhow::Result<hdrhistogram::Histogram<u64>>>,
) -> anyhow::Result<()> {
    match latencies {
        Ok(Ok(latencies)) => println!(
            "logins         {:>9} during the sale: p50 {} p99 {} max {} µs",
            latencies.len(),
            latencies.value_at_quantile(0.5),
            latencies.value_at_quantile(0.99),
            latencies.max()
        ),
        Ok(Err(error)) => bail!("logins failed during the sale: {error:#}"),
        Err(_) => bail!("the login thread panicked"),
    }
    Ok(())
}
