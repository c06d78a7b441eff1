//! `bench sale`: a crowd on one sale after another, the ceiling beside it, and the books at the end.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use indicatif::{ProgressBar, ProgressStyle};
use mallbox_storage::{Timestamp, VoucherId};

use crate::mall::Random;

use super::load::{self, Load, Progress, Report};
use super::logins;
use super::people::{self, Crowd, Size};
use super::rush::{Rush, Tally};
use super::server::Server;
use super::watch::{self, Watch};

/// What to measure.
#[derive(Clone, Debug)]
pub struct SaleBench {
    /// People who press, each once a sale.
    pub users: usize,
    /// Units of each sale; `None` = unlimited.
    pub units: Option<u64>,
    /// Sales, one after another.
    pub sales: usize,
    /// Connections that the crowd shares.
    pub connections: usize,
    /// Claims per second over all connections; `None` = as fast as answers come.
    pub rate: Option<f64>,
    /// How long the ceiling and the refusals are measured.
    pub span: Duration,
    /// Further flags for the server.
    pub serve: Vec<String>,
    /// Keep the mall here and do not remove it; `None` = a directory of its own that goes away.
    pub dir: Option<PathBuf>,
    /// A server that runs already, with the tokens of people who may press and the sales they press in.
    pub server: Option<(SocketAddr, Vec<String>, Vec<VoucherId>)>,
}

const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the workers may take for what the sale has left them.
const DRAIN: Duration = Duration::from_secs(600);

/// Measures, prints, and checks the books. Answers whether they balance.
///
/// # Errors
/// A server that cannot be started or reached; a request that no server should refuse.
pub fn run(bench: &SaleBench, now: Timestamp) -> anyhow::Result<bool> {
    if bench.users == 0 || bench.sales == 0 || bench.connections == 0 {
        bail!("users, sales and connections must each be at least 1");
    }
    if let Some((address, tokens, sales)) = &bench.server {
        let crowd = Crowd { tokens: Arc::new(tokens.clone()), sales: sales.clone(), sold_out: None };
        let (tally, report) = press(bench, *address, &crowd)?;
        print_claims(&tally, &report, None);
        return Ok(true);
    }
    let ceiling = measure_ceiling(bench)?;
    let own = mall_dir(bench)?;
    let crowd = make_mall(bench, &own.path, now)?;
    let dir = own.path.to_str().context("the directory's name is not valid text")?;
    let mut arguments = vec!["serve", "--data", dir, "--listen", "127.0.0.1:0", "--limits", "off"];
    arguments.extend(bench.serve.iter().map(String::as_str));
    println!("server         mallbox {}", arguments.join(" "));
    let (server, lines) = Server::start(&arguments)?;
    sell(bench, &server, lines, &crowd, &ceiling)?;
    refuse(bench, &server, &crowd, &ceiling)?;
    server.stop()?;
    start_again(&arguments, &own.path)?;
    verify(dir)
}

/// What the sales have left in the order log, and how long the mall takes to start on it.
fn start_again(arguments: &[&str], dir: &Path) -> anyhow::Result<()> {
    let bytes = bytes_below(&dir.join("log"))?;
    let began = Instant::now();
    let (server, _lines) = Server::start(arguments)?;
    let started = began.elapsed();
    server.stop()?;
    println!(
        "order log      {:>9.1} MiB on the disk after it all; the mall starts again in {:.0} ms",
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

/// The sales themselves, with people logging in beside them.
fn sell(
    bench: &SaleBench,
    server: &Server,
    lines: Receiver<String>,
    crowd: &Crowd,
    ceiling: &Report,
) -> anyhow::Result<()> {
    let over = Arc::new(AtomicBool::new(false));
    let logins = {
        let (over, address) = (Arc::clone(&over), server.address);
        std::thread::spawn(move || logins::measure(address, &lines, || over.load(Ordering::Relaxed)))
    };
    let watch = Watch::start(server.address);
    let (cpu, began) = (server.cpu(), Instant::now());
    let pressed = press(bench, server.address, crowd);
    over.store(true, Ordering::Relaxed);
    let (tally, report) = pressed?;
    let claim_cpu = cpu.zip(server.cpu());
    let left = watch::look(server.address)?.pending;
    let bar = ProgressBar::new_spinner().with_message("waiting for the order workers");
    bar.enable_steady_tick(Duration::from_millis(100));
    let drained = watch::drained(server.address, DRAIN)?;
    bar.finish_and_clear();
    let persisted = watch::look(server.address)?.persisted;
    let looks = watch.stop();
    print_claims(&tally, &report, claim_cpu);
    println!("               {:.0} % of the ceiling", 100.0 * report.per_second() / ceiling.per_second());
    let persisting = began.elapsed().as_secs_f64();
    println!(
        "persisted      {:>9.0} /s until the last of {persisted} orders; {left} were pending after the last answer, gone {:.2} s later; at most {} at once",
        tally.accepted as f64 / persisting,
        drained.as_secs_f64(),
        looks.iter().map(|(_, look)| look.pending).max().unwrap_or(left),
    );
    match logins.join() {
        Ok(Ok(latencies)) => println!(
            "log-ins        {:>9} meanwhile: p50 {} p99 {} max {} µs",
            latencies.len(),
            latencies.value_at_quantile(0.5),
            latencies.value_at_quantile(0.99),
            latencies.max()
        ),
        Ok(Err(error)) => bail!("log-ins failed during the sale: {error:#}"),
        Err(_) => bail!("the thread that logs in panicked"),
    }
    Ok(())
}

/// Refusals: everybody presses where nothing is to be had, and then again in the last sale, where many hold a unit.
fn refuse(bench: &SaleBench, server: &Server, crowd: &Crowd, ceiling: &Report) -> anyhow::Result<()> {
    let last = crowd.sales.last().copied();
    for (what, sale) in [("sold out", crowd.sold_out), ("pressed again", last)] {
        let Some(sale) = sale else { continue };
        let script = Rush::new(Arc::clone(&crowd.tokens), &[sale], true);
        let cpu = server.cpu();
        let (rush, report) = drive(bench, server.address, script, Some(bench.span), what)?;
        let tally = rush.tally;
        print_rate(what, &report, cpu.zip(server.cpu()));
        println!(
            "               {:.0} % of the ceiling; {} sold out, {} already bought, {} other, {} turned away, {} lost",
            100.0 * report.per_second() / ceiling.per_second(),
            tally.sold_out,
            tally.already_bought,
            tally.accepted + tally.refused,
            tally.turned_away,
            tally.lost
        );
    }
    Ok(())
}

/// Every user presses once in every sale.
fn press(bench: &SaleBench, address: SocketAddr, crowd: &Crowd) -> anyhow::Result<(Tally, Report)> {
    let script = Rush::new(Arc::clone(&crowd.tokens), &crowd.sales, false);
    let (rush, report) = drive(bench, address, script, None, "claims")?;
    Ok((rush.tally, report))
}

/// What a bare handler answers under the same load.
fn measure_ceiling(bench: &SaleBench) -> anyhow::Result<Report> {
    let (server, _lines) = Server::start(&["bench", "ceiling"])?;
    let cpu = server.cpu();
    let tokens = Arc::new(vec![Random::system().token(); 1000]);
    let closed = SaleBench { rate: None, ..bench.clone() };
    let script = Rush::new(tokens, &[VoucherId::new(1)], true);
    let (_, report) = drive(&closed, server.address, script, Some(bench.span), "ceiling")?;
    print_rate("ceiling", &report, cpu.zip(server.cpu()));
    println!("               a bare axum handler under the same load, {} connections", bench.connections);
    Ok(report)
}

/// Runs a script with a progress bar.
fn drive(
    bench: &SaleBench,
    address: SocketAddr,
    script: Rush,
    span: Option<Duration>,
    what: &'static str,
) -> anyhow::Result<(Rush, Report)> {
    let progress = Progress::default();
    let expected = span.map_or(Some((bench.users * bench.sales) as u64), |_| None);
    let load = Load {
        address,
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

/// The directory of the bench's mall; one of its own goes away with it.
struct MallDir {
    path: PathBuf,
    own: bool,
}

impl Drop for MallDir {
    fn drop(&mut self) {
        if self.own
            && let Err(error) = std::fs::remove_dir_all(&self.path)
        {
            eprintln!("{} stays behind: {error}", self.path.display());
        }
    }
}

fn mall_dir(bench: &SaleBench) -> anyhow::Result<MallDir> {
    if let Some(path) = &bench.dir {
        if path.exists() {
            bail!("{} is there already: name a directory that the bench may make", path.display());
        }
        return Ok(MallDir { path: path.clone(), own: false });
    }
    // Not in /tmp, which is memory on many machines: then nothing would reach a disk.
    let path = std::env::current_dir()?.join(format!(".mallbox-bench-{}", std::process::id()));
    Ok(MallDir { path, own: true })
}

fn make_mall(bench: &SaleBench, dir: &Path, now: Timestamp) -> anyhow::Result<Crowd> {
    let bar = progress_bar(Some(bench.users as u64), "users logged in");
    let size = Size { users: bench.users, sales: bench.sales, units: bench.units };
    let runtime = tokio::runtime::Runtime::new()?;
    let crowd = runtime.block_on(people::make(dir, size, now, &bar))?;
    bar.finish_and_clear();
    Ok(crowd)
}

/// Counts the books of the stopped mall from what is on the disk.
fn verify(dir: &str) -> anyhow::Result<bool> {
    let binary = std::env::current_exe()?;
    let status = std::process::Command::new(binary).args(["verify", "--data", dir]).status()?;
    Ok(status.success())
}

fn print_claims(tally: &Tally, report: &Report, cpu: Option<(Duration, Duration)>) {
    print_rate("claims", report, cpu);
    println!(
        "               {} accepted ({:.0} /s), {} sold out, {} already bought, {} other, {} turned away, {} lost",
        tally.accepted,
        tally.accepted as f64 / report.elapsed.as_secs_f64(),
        tally.sold_out,
        tally.already_bought,
        tally.refused,
        tally.turned_away,
        tally.lost
    );
    if report.unsent > 0 {
        println!(
            "               {} were due and found no free connection: the server did not keep up",
            report.unsent
        );
    }
}

fn print_rate(what: &str, report: &Report, cpu: Option<(Duration, Duration)>) {
    let answered = report.answered.max(1) as f64;
    let cpu = cpu.map(|(before, after)| {
        format!(", {:.1} µs of server CPU each", after.saturating_sub(before).as_secs_f64() * 1e6 / answered)
    });
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

/// A bar on a terminal, nothing elsewhere.
fn progress_bar(length: Option<u64>, what: &'static str) -> ProgressBar {
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
