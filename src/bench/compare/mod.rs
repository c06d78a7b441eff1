//! `bench compare`: the same workloads on several systems by turns, and what each of them loses.

mod findings;
mod foreign_mall;
mod interrupt;
mod kill;
mod loads;
mod own_servers;
mod round;
mod settings;
mod subject;
mod table;
mod visits;
mod workload;

use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use mallbox_storage::Timestamp;
use mallbox_storage_production::{ProductionOptions, TemporaryMall};
use tokio::runtime::Runtime;

use self::findings::Findings;
use self::interrupt::Interrupt;
pub use self::settings::{Appends, CompareBench, ComparedSystem, ForeignMall, ServerSetting, Topology};
pub use self::workload::Workload;
use super::new_file::check_new;
use super::numbers::count;
use super::result::Recording;

/// What a round of a system takes beside its measurements: servers, users, orders, the kill.
const BESIDE_EMBEDDED: Duration = Duration::from_secs(15);
const BESIDE_SERVERS: Duration = Duration::from_secs(45);
/// Time limit for the check of given servers.
const CHECK_TIMEOUT: Duration = Duration::from_secs(15);

/// Runs the bench and prints the results. Returns whether every run ended, all books balance, and nothing
/// was lost or sold twice.
///
/// # Errors
/// Settings that cannot be used, servers that are not empty, and a result that cannot be written. A system
/// that fails is a finding instead.
pub fn run(bench: &CompareBench, now: Timestamp) -> anyhow::Result<bool> {
    check(bench)?;
    check_new(bench.json.as_deref())?;
    let mut recording = Recording::begin("compare", bench.settings(), now);
    let mut bench = bench.clone();
    leave_out_missing(&mut bench, &mut recording)?;
    let minutes = estimate(&bench).as_secs().div_ceil(60);
    let (systems, rounds) = (bench.systems.len(), bench.rounds);
    println!("Systems {systems}, rounds {rounds}, workloads {}: some {minutes} min", bench.workloads.len());
    let mut findings = Findings::default();
    let (began, interrupt) = (Instant::now(), Interrupt::listen()?);
    for round in 1..=bench.rounds {
        // The order alternates, because a system finds a machine that has just been busy with another one.
        let mut systems: Vec<_> = bench.systems.iter().collect();
        if round % 2 == 0 {
            systems.reverse();
        }
        for system in systems {
            println!("\nround {round} of {rounds}, {}", system.title());
            // Sessions and sales of a mall last a day from its start.
            round::run(&bench, (system, round), now + began.elapsed(), &mut findings);
            if interrupt.has_come() {
                bail!("interrupted; the servers of the bench are gone, and nothing was written");
            }
        }
    }
    println!("{}", table::medians(findings.systems(), &findings.runs, bench.rounds));
    print!("{}", table::classes(findings.systems()));
    println!("Systems that promise different things are not ranked against each other.");
    let wrong = findings.wrong_systems();
    let right: Vec<_> = findings.runs.iter().filter(|run| !wrong.contains(&run.system)).cloned().collect();
    print!("{}", table::verdicts(findings.systems(), &right));
    findings.record(&mut recording);
    if let Some(file) = &bench.json {
        recording.write(file)?;
        println!("mallbox bench report {} makes a page of it.", file.display());
    }
    Ok(findings.wrong_systems().is_empty())
}

fn check(bench: &CompareBench) -> anyhow::Result<()> {
    bench.generator.check((bench.users, 1))?;
    for system in &bench.systems {
        match system {
            ComparedSystem::Foreign(mall) if mall.load.sales.len() < bench.rounds => bail!(
                "{}: {} vouchers for {} rounds; pass --rounds 1, or more vouchers: each round needs a sale of its own with all its units",
                mall.name,
                mall.load.sales.len(),
                bench.rounds
            ),
            ComparedSystem::Foreign(mall) => drop(foreign_mall::usage(mall)?),
            ComparedSystem::GivenServers(options) => check_empty(options)?,
            _ => {}
        }
    }
    Ok(())
}

/// Checks that servers of the user hold nothing.
fn check_empty(options: &ProductionOptions) -> anyhow::Result<()> {
    let held = Runtime::new()?.block_on(async {
        let occupancy = async {
            let trial = TemporaryMall::beside(options, "bench").await?;
            Ok::<_, anyhow::Error>(trial.occupancy(&options.mysql).await?)
        };
        let late = || format!("no reply within {} s", CHECK_TIMEOUT.as_secs());
        tokio::time::timeout(CHECK_TIMEOUT, occupancy).await.with_context(late)?
    });
    let held = held.context("cannot see whether the servers are empty")?;
    if held.keys > 0 || held.tables > 0 {
        bail!(
            "the servers are not empty: {} keys in Redis, {} tables in the database; pass empty ones, or leave \
             --redis and --mysql out: the bench then starts servers of its own. (A bench that was killed leaves \
             the database mallbox_bench_… and keys bench-… behind.)",
            count(held.keys),
            count(held.tables)
        );
    }
    Ok(())
}

/// Leaves out the systems whose programs are not installed, and says so.
fn leave_out_missing(bench: &mut CompareBench, recording: &mut Recording) -> anyhow::Result<()> {
    let missing = own_servers::missing();
    let is_own = |system: &ComparedSystem| matches!(system, ComparedSystem::OwnServers(_));
    if missing.is_empty() || !bench.systems.iter().any(is_own) {
        return Ok(());
    }
    let (left_out, kept): (Vec<_>, Vec<_>) = bench.systems.drain(..).partition(is_own);
    bench.systems = kept;
    let (missing, left_out) =
        (missing.join(" and "), left_out.iter().map(ComparedSystem::id).collect::<Vec<_>>().join(", "));
    let text = format!("{missing} not installed: {left_out} left out");
    if bench.systems.is_empty() {
        bail!("{text}, and no other system is named");
    }
    println!("! {text}");
    recording.warn("left_out", text);
    Ok(())
}

/// Returns how long the bench will take, roughly.
fn estimate(bench: &CompareBench) -> Duration {
    // A ceiling is measured before and after.
    let spans: usize =
        bench.workloads.iter().map(|workload| if workload.has_ceiling() { 3 } else { 1 }).sum();
    let measured = bench.span * u32::try_from(spans).unwrap_or(u32::MAX);
    let of = |system: &ComparedSystem| match system {
        ComparedSystem::Directory(_) => measured + BESIDE_EMBEDDED,
        ComparedSystem::OwnServers(_) | ComparedSystem::GivenServers(_) => measured + BESIDE_SERVERS,
        ComparedSystem::Foreign(_) => bench.span + BESIDE_EMBEDDED,
    };
    bench.systems.iter().map(of).sum::<Duration>() * u32::try_from(bench.rounds).unwrap_or(u32::MAX)
}
