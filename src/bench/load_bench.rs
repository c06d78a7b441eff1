//! `bench load`: claims at a server that somebody else started, in its dialect, and the count of its orders.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use indicatif::ProgressBar;
use mallbox_storage::{Timestamp, VoucherId};
use serde_json::json;

use super::agent::{self, AgentAddress, Job};
use super::drive::{Arrivals, Driven, drive, progress_bar};
use super::foreign::{Dialect, OrderCount, Target};
use super::generator::Generator;
use super::load::{Report, Shape};
use super::numbers::{count, millis, rate};
use super::result::{Books, Class, Rates, Recording, Run, Settings, System};
use super::run_record::run_record;
use super::rush::{ClaimOutcomes, Claims};
use super::sale::check_claims;
use super::summary::{Summary, generator, warning};

/// Interval between two counts of the orders.
const COUNT_INTERVAL: Duration = Duration::from_millis(100);

/// Settings of a run of `bench load`.
#[derive(Clone, Debug)]
pub struct LoadBench {
    /// The server.
    pub target: Target,
    /// Its dialect.
    pub dialect: Dialect,
    /// The users who claim.
    pub users: UserSource,
    /// The sales to claim from, one after another.
    pub sales: Vec<VoucherId>,
    /// Units of each sale at the begin, if known.
    pub units: Option<u64>,
    /// Claims of each user in a sale.
    pub claims_per_user: usize,
    /// The load generator.
    pub generator: Generator,
    /// Arrivals of the claims; `None` = closed loop.
    pub shape: Option<Shape>,
    /// URL of the mall's Redis, for the login codes.
    pub redis: Option<String>,
    /// URL of the mall's MySQL, for the count of orders.
    pub mysql: Option<String>,
    /// Longest time until all orders are written.
    pub settle: Duration,
    /// Agents that make the claims instead of this process, each with the generator's connections and
    /// threads.
    pub agents: Vec<AgentAddress>,
    /// The URL of the target as agents know it.
    pub target_url: String,
    /// Name of the dialect, for the result.
    pub dialect_name: String,
    /// File to create with the result as JSON.
    pub json: Option<PathBuf>,
}

/// Where the session tokens of the users come from.
#[derive(Clone, Debug)]
pub enum UserSource {
    /// Known tokens.
    Tokens(Vec<String>),
    /// So many users log in first; the file for their tokens, if any.
    LogIn {
        /// Number of users.
        users: usize,
        /// A file to create, one token a line.
        save: Option<PathBuf>,
    },
}

/// Runs the load and prints the result. Returns whether nothing was found wrong: no accepted claim lost, no
/// unit sold twice, nobody bought again.
///
/// # Errors
/// A server that cannot be reached or understood, users who cannot log in, and settings that do not fit.
pub fn run(bench: &LoadBench, now: Timestamp) -> anyhow::Result<bool> {
    let tokens = Arc::new(tokens(bench)?);
    check(bench, tokens.len())?;
    let place = (&*bench.target.host, &*bench.target.prefix);
    let claims = Claims::in_dialect(&bench.dialect, place, Arc::clone(&tokens), &bench.sales)
        .repeated(bench.claims_per_user);
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
    // Printed at once: what follows may fail.
    print!("{summary}");
    let written = before.map(|before| settled(bench, before, outcomes)).transpose()?;
    let findings = findings(bench, outcomes, written.as_ref());
    let mut summary = Summary::default();
    if let Some(written) = &written {
        summary.add("orders", count(written.orders), written.text(outcomes));
    }
    for finding in &findings {
        summary.add("! wrong", String::new(), finding.clone());
    }
    if findings.is_empty() {
        let (verdict, text) = checked(bench, written.as_ref());
        summary.add("verdict", verdict.to_owned(), text);
    }
    print!("{summary}");
    if let Some((code, text)) = warning(report) {
        recording.warn(code, text.to_owned());
    }
    recording.add(system(bench), record(bench, outcomes, report, written.as_ref()));
    bench.json.as_deref().map_or(Ok(()), |file| recording.write(file))?;
    Ok(findings.is_empty())
}

fn settings(bench: &LoadBench, users: usize) -> Settings {
    let mut settings = bench.generator.settings();
    settings.extend([
        ("users", json!(users)),
        ("sales", json!(bench.sales.len())),
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

fn record(bench: &LoadBench, outcomes: &ClaimOutcomes, report: &Report, written: Option<&Written>) -> Run {
    let run = run_record((bench.dialect_name.clone(), "flash sale", 1), outcomes, report);
    let again = written.and_then(Written::bought_again);
    let by_answers = (bench.claims_per_user > 1).then_some(outcomes.bought_again);
    let persisting =
        |written: &Written| written.orders as f64 / (report.elapsed + written.after).as_secs_f64();
    Run {
        offered_per_s: bench.shape.as_ref().map(Shape::peak),
        rates: Rates { persisted_per_s: written.map(persisting), ..run.rates },
        books: Books {
            balance: written.map(|written| written.orders == outcomes.accepted),
            oversold: units(bench).map(|units| sold(outcomes, written).saturating_sub(units)),
            bought_twice: again.max(by_answers),
            lost_after_kill: None,
        },
        ..run
    }
}

/// Returns the units of all sales.
fn units(bench: &LoadBench) -> Option<u64> {
    bench.units.map(|units| units.saturating_mul(bench.sales.len() as u64))
}

fn sold(outcomes: &ClaimOutcomes, written: Option<&Written>) -> u64 {
    outcomes.accepted.max(written.map_or(0, |written| written.orders))
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
pub(super) fn check(bench: &LoadBench, users: usize) -> anyhow::Result<u64> {
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
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
        made.and_then(|mut made| made.write_all((tokens.join("\n") + "\n").as_bytes()))
            .with_context(|| format!("cannot write the tokens to {}", file.display()))?;
    }
    Ok(tokens)
}

/// Counts the orders; `None` if the dialect does not say how, or without the URL of the database.
fn orders(bench: &LoadBench) -> anyhow::Result<Option<OrderCount>> {
    let Some(recipe) = &bench.dialect.orders else { return Ok(None) };
    if recipe.needs_mysql() && bench.mysql.is_none() {
        return Ok(None);
    }
    recipe.count(&bench.target, bench.mysql.as_deref(), &bench.sales).map(Some)
}

/// Orders written since the begin of the load.
struct Written {
    orders: u64,
    /// Buyers of all orders, also of those before the load.
    buyers: Option<u64>,
    /// All orders, also those before the load.
    total: u64,
    /// From the last response to the last order.
    after: Duration,
}

impl Written {
    /// Returns the number of orders of users with another order in the same sale.
    fn bought_again(&self) -> Option<u64> {
        self.buyers.map(|buyers| self.total.saturating_sub(buyers))
    }

    fn text(&self, outcomes: &ClaimOutcomes) -> String {
        format!(
            "written for {} accepted claims, {} after the last response",
            count(outcomes.accepted),
            millis(self.after)
        )
    }
}

/// Waits until there is an order for every accepted claim, or no more time.
fn settled(bench: &LoadBench, before: OrderCount, outcomes: &ClaimOutcomes) -> anyhow::Result<Written> {
    let bar = ProgressBar::new_spinner().with_message("waiting for the orders");
    bar.enable_steady_tick(COUNT_INTERVAL);
    let began = Instant::now();
    let mut last_change = Duration::ZERO;
    let mut last = before;
    loop {
        let now = orders(bench)?.context("the orders can no longer be counted")?;
        if now != last {
            (last, last_change) = (now, began.elapsed());
        }
        let orders = now.orders.saturating_sub(before.orders);
        if orders >= outcomes.accepted || began.elapsed() > bench.settle {
            return Ok(Written { orders, buyers: now.buyers, total: now.orders, after: last_change });
        }
        sleep(COUNT_INTERVAL);
    }
}

/// Returns what went wrong, a sentence each.
fn findings(bench: &LoadBench, outcomes: &ClaimOutcomes, written: Option<&Written>) -> Vec<String> {
    let mut findings = Vec::new();
    let sold = sold(outcomes, written);
    if let Some(units) = units(bench)
        && sold > units
    {
        findings.push(format!("OVERSOLD: {} of {} units", count(sold), count(units)));
    }
    if outcomes.lost > 0 {
        let lost = count(outcomes.lost);
        findings
            .push(format!("UNANSWERED: {lost} claims got no response; some of them may have been accepted"));
    }
    if outcomes.bought_again > 0 {
        let again = count(outcomes.bought_again);
        findings.push(format!("BOUGHT TWICE: {again} claims of users who had bought were accepted"));
    }
    if let Some(written) = written {
        if written.orders < outcomes.accepted {
            let missing = count(outcomes.accepted - written.orders);
            let waited = bench.settle.as_secs();
            findings.push(format!("LOST: {missing} accepted claims without an order after {waited} s"));
        }
        // A lost response may belong to a claim that was accepted.
        if written.orders > outcomes.accepted + outcomes.lost {
            let surplus = count(written.orders - outcomes.accepted);
            findings.push(format!("SURPLUS: {surplus} orders more than accepted claims"));
        }
        if let Some(again) = written.bought_again().filter(|again| *again > 0) {
            let again = count(again);
            findings
                .push(format!("BOUGHT TWICE: {again} orders of users with another order in the same sale"));
        }
    }
    findings
}

/// Returns the verdict without a finding: what it rests on, and what was not checked.
fn checked(bench: &LoadBench, written: Option<&Written>) -> (&'static str, String) {
    let has_buyers = written.is_some_and(|written| written.buyers.is_some());
    let how_orders = match &bench.dialect.orders {
        Some(_) => "pass --mysql",
        None => "the dialect has no [orders]",
    };
    let checks = [
        (bench.units.is_some(), "oversold units", "pass --units"),
        (has_buyers || bench.claims_per_user > 1, "second purchases", "pass --claims-per-user 2"),
        (written.is_some(), "lost orders", how_orders),
    ];
    let of_kind = |kind: bool| checks.into_iter().filter(move |(is_checked, ..)| *is_checked == kind);
    let done: Vec<_> = of_kind(true).map(|(_, what, _)| format!("no {what}")).collect();
    let open: Vec<_> = of_kind(false).map(|(_, what, how)| format!("{what} ({how})")).collect();
    let verdict = if done.is_empty() { "unknown" } else { "no fault" };
    let mut text = done.join(", ");
    if !open.is_empty() {
        let separator = if text.is_empty() { "" } else { "; " };
        text += &format!("{separator}not checked: {}", open.join(", "));
    }
    (verdict, text)
}
