//! `bench load`: claims at a server that somebody else started, in its dialect, and the count of its orders.

use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::bail;
use indicatif::ProgressBar;
use mallbox_storage::Timestamp;
use serde_json::json;

use super::agent::{self, Job};
use super::drive::{Arrivals, Driven, drive, progress_bar};
use super::evidence::{Evidence, Settled};
use super::foreign::OrderCount;
use super::load::Shape;
use super::load_settings::{LoadBench, UserSource};
use super::new_file::{check_new, write_new};
use super::numbers::{count, millis, rate};
use super::result::{Books, Class, Rates, Recording, Run, Settings, System};
use super::run_record::run_record;
use super::rush::Claims;
use super::sale::check_claims;
use super::summary::{Summary, generator, warning};

/// Interval between two counts of the orders.
const COUNT_INTERVAL: Duration = Duration::from_millis(100);
/// Time without a further order after which none is expected: a repeated message makes its order late.
const QUIET: Duration = Duration::from_secs(1);

/// Runs the load and prints the result. Returns whether nothing was found wrong: no accepted claim lost, no
/// unit sold twice, nobody bought again.
///
/// # Errors
/// A server that cannot be reached or understood, users who cannot log in, and settings that do not fit.
pub fn run(bench: &LoadBench, now: Timestamp) -> anyhow::Result<bool> {
    check(bench)?;
    check_new(bench.json.as_deref())?;
    let tokens = Arc::new(tokens(bench)?);
    let place = (&*bench.target.host, &*bench.target.prefix);
    let claims = Claims::in_dialect(&bench.dialect, place, Arc::clone(&tokens), &bench.sales)
        .repeated(bench.claims_per_user);
    if let Some(preset) = bench.preset {
        println!("{}", preset.text());
    }
    let mut recording = Recording::begin("load", settings(bench, tokens.len()), now);
    let before = orders(bench)?;
    let arrivals = bench.shape.clone().map_or(Arrivals::Closed, Arrivals::Open);
    let driven = if bench.agents.is_empty() {
        drive(&bench.generator, &[bench.target.address], &claims, &arrivals, "claims")?
    } else {
        agent::lead(&bench.agents, jobs(bench, &tokens), claims.count())?
    };
    let Driven { outcomes, report, unknown, .. } = &driven;
    let mut summary = Summary::default();
    summary.add_accepted(outcomes, report);
    summary.add_latency(report, "");
    summary.add("answered", rate(report.per_second()), generator(report));
    if let Some(unknown) = unknown {
        summary.add("unknown answer", String::new(), format!("the first of them: {unknown}"));
    }
    if let Some(fault) = report.errors.last {
        summary.add("last fault", String::new(), fault.to_string());
    }
    // Printed at once: what follows may fail.
    print!("{summary}");
    let settled = before.map(|before| settled(bench, &before, &driven)).transpose()?;
    let evidence = Evidence { bench, driven: &driven, settled: settled.as_ref() };
    let findings = evidence.findings();
    let mut summary = Summary::default();
    if let Some(settled) = &settled {
        let text = format!(
            "written for {} accepted claims, {} after the last response",
            count(outcomes.accepted),
            millis(settled.after)
        );
        summary.add("orders", count(settled.orders()), text);
    }
    for finding in &findings {
        summary.add("! wrong", String::new(), finding.clone());
    }
    if findings.is_empty() {
        let (verdict, text) = evidence.verdict();
        summary.add("verdict", verdict.to_owned(), text);
    }
    print!("{summary}");
    if let Some((code, text)) = warning(report) {
        recording.warn(code, text.to_owned());
    }
    recording.add(system(bench), record(&evidence));
    bench.json.as_deref().map_or(Ok(()), |file| recording.write(file))?;
    Ok(findings.is_empty())
}

fn settings(bench: &LoadBench, users: usize) -> Settings {
    let mut settings = bench.generator.settings();
    settings.extend([
        ("users", json!(users)),
        ("sales", json!(bench.sales.len())),
        ("preset", json!(bench.preset.map(|preset| preset.name))),
        ("units", json!(bench.units)),
        ("claims_per_user", json!(bench.claims_per_user)),
        ("dialect", json!(bench.dialect_name)),
        ("shape", json!(bench.shape.as_ref().map(Shape::text))),
        ("agents", json!(bench.agents.len())),
        ("settle_s", json!(bench.settle.as_secs_f64())),
    ]);
    settings
}

/// Describes the mall, of which only its answers are known.
fn system(bench: &LoadBench) -> System {
    System {
        id: bench.dialect_name.clone(),
        name: format!("{} at {}", bench.dialect_name, bench.target.host),
        class: Class { durable: "unknown", one_per_user: None, exactly_once_after_kill: None },
        versions: Vec::new(),
        tuned: false,
    }
}

pub(super) fn record(evidence: &Evidence<'_>) -> Run {
    let Evidence { bench, driven: Driven { outcomes, report, .. }, settled } = evidence;
    let run = run_record((bench.dialect_name.clone(), "flash sale", 1), outcomes, report);
    let persisting =
        |settled: &Settled| settled.orders() as f64 / (report.elapsed + settled.after).as_secs_f64();
    Run {
        offered_per_s: bench.shape.as_ref().map(Shape::peak),
        rates: Rates { persisted_per_s: settled.map(persisting), ..run.rates },
        books: Books {
            balance: settled.map(|_| evidence.lost() + evidence.surplus() == 0),
            oversold: evidence.oversold(),
            bought_twice: evidence.bought_twice(),
            ..Books::default()
        },
        ..run
    }
}

/// Returns the part of the load of each agent: an equal share of the users and of the arrivals.
fn jobs(bench: &LoadBench, tokens: &[String]) -> Vec<Job> {
    let agents = bench.agents.len();
    let job = |number: usize| Job {
        target: bench.target_url.clone(),
        dialect: bench.dialect.clone(),
        tokens: tokens.iter().skip(number).step_by(agents).cloned().collect(),
        sales: bench.sales.iter().map(|sale| sale.get()).collect(),
        claims_per_user: bench.claims_per_user,
        connections: bench.generator.connections,
        threads: bench.generator.threads,
        shape: bench.shape.as_ref().map(Shape::text),
        number,
        agents,
    };
    (0..agents).map(job).collect()
}

/// Checks the settings, and returns the number of claims.
pub(super) fn check(bench: &LoadBench) -> anyhow::Result<u64> {
    let (users, save) = match &bench.users {
        UserSource::Tokens(tokens) => (tokens.len(), None),
        UserSource::LogIn { users, save } => (*users, save.as_deref()),
    };
    check_new(save)?;
    bench.generator.check((users, bench.sales.len()))?;
    let claims = users.saturating_mul(bench.sales.len()).saturating_mul(bench.claims_per_user);
    check_claims(bench.shape.as_ref(), claims, "users, --voucher or --claims-per-user")?;
    Ok(claims as u64)
}

/// Returns the tokens of the users, who log in if need be.
pub(super) fn tokens(bench: &LoadBench) -> anyhow::Result<Vec<String>> {
    let (users, save) = match &bench.users {
        UserSource::Tokens(tokens) => return Ok(tokens.clone()),
        UserSource::LogIn { users, save } => (*users, save),
    };
    let Some(recipe) = &bench.dialect.log_in else {
        bail!("the dialect has no [log-in]: pass --tokens FILE with a token of each user, one a line");
    };
    if recipe.needs_redis() && bench.redis.is_none() {
        bail!("the login codes are read from the mall's Redis: pass --redis URL, or --tokens FILE");
    }
    let bar = progress_bar(Some(users as u64), "users logged in");
    let tokens = recipe.tokens(&bench.target, bench.redis.as_deref(), users, &bar)?;
    bar.finish_and_clear();
    if let Some(file) = save {
        // Whoever has a token is logged in: the file is for its owner alone.
        write_new(file, "the tokens to ", &(tokens.join("\n") + "\n"))?;
    }
    Ok(tokens)
}

/// Counts the orders by sale; `None` if the dialect does not say how, or without the URL of the database.
pub(super) fn orders(bench: &LoadBench) -> anyhow::Result<Option<Vec<OrderCount>>> {
    let Some(recipe) = &bench.dialect.orders else { return Ok(None) };
    if recipe.needs_mysql() && bench.mysql.is_none() {
        return Ok(None);
    }
    recipe.count(&bench.target, bench.mysql.as_deref(), &bench.sales).map(Some)
}

/// Waits until the orders of all accepted claims are written and no more follow, or until the time is over. A
/// count that fails meanwhile is repeated.
pub(super) fn settled(bench: &LoadBench, before: &[OrderCount], driven: &Driven) -> anyhow::Result<Settled> {
    let bar = ProgressBar::new_spinner().with_message("waiting for the orders");
    bar.enable_steady_tick(COUNT_INTERVAL);
    let began = Instant::now();
    let (mut last, mut after) = (before.to_vec(), Duration::ZERO);
    loop {
        // A count takes its time; what it finds was there when it began.
        let at = began.elapsed();
        match orders(bench) {
            Ok(Some(now)) if now != last => (last, after) = (now, at),
            Ok(_) => {}
            Err(error) if at > bench.settle => return Err(error),
            Err(_) => {
                sleep(COUNT_INTERVAL);
                continue;
            }
        }
        let settled = Settled::between(before, &last, after);
        let is_complete =
            settled.sales.iter().zip(&driven.by_sale).all(|(sale, claimed)| sale.orders >= claimed.accepted);
        if (is_complete && at >= after + QUIET) || at > bench.settle {
            return Ok(settled);
        }
        sleep(COUNT_INTERVAL);
    }
}
