//! The agent: waits for a leader, and makes its part of the claims.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Query, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use http_body_util::channel::{Channel, Sender};
use mallbox_storage::VoucherId;
use parking_lot::Mutex;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use tokio::net::TcpListener;
use tokio::time::{interval, sleep};

use super::protocol::{Ended, Job, LINE_INTERVAL, Line};
use crate::bench::drive::{Arrivals, Driven, load_of, make_claims};
use crate::bench::foreign::{Target, is_header_value};
use crate::bench::generator::Generator;
use crate::bench::load::{Progress, Shape, Share};
use crate::bench::rush::Claims;
use crate::mall::Random;

/// Largest job, in bytes: some million tokens.
const JOB_MAX_BYTES: usize = 128 * 1024 * 1024;
/// Most claims of a job: each of several claims of a user takes a byte.
const CLAIMS_MAX: usize = 1_000_000_000;
/// Most agents of a load.
const AGENTS_MAX: usize = 1_000;
/// Most connections and threads of a job.
const CONNECTIONS_MAX: usize = 65_535;
const THREADS_MAX: usize = 1_024;
/// Longest time from the order to start until the start.
const START_DELAY_MAX: Duration = Duration::from_secs(60);

/// Settings of an agent.
#[derive(Clone, Debug)]
pub struct AgentBench {
    /// URLs of the malls that may be loaded from here.
    pub targets: Vec<String>,
    /// Address to listen on.
    pub listen: SocketAddr,
    /// Whether targets may be on other machines.
    pub may_load_others: bool,
}

struct Agent {
    settings: AgentBench,
    secret: [u8; 32],
    /// The next job; taken when it starts.
    job: Mutex<Option<Job>>,
}

/// Runs an agent until it is stopped. Prints its address and secret first.
///
/// # Errors
/// A target that cannot be loaded; an address that cannot be bound.
pub fn serve(settings: &AgentBench) -> anyhow::Result<()> {
    for target in &settings.targets {
        find(settings, target, "").context("--target")?;
    }
    let secret = Random::system().token();
    let hash = Sha256::digest(secret.as_bytes()).into();
    let agent = Arc::new(Agent { settings: settings.clone(), secret: hash, job: Mutex::new(None) });
    tokio::runtime::Runtime::new()?.block_on(async {
        let listener = TcpListener::bind(settings.listen)
            .await
            .with_context(|| format!("cannot listen on {}", settings.listen))?;
        println!("{} {secret}", listener.local_addr()?);
        println!(
            "The line above belongs into the file of bench load --agents; it is valid until this agent stops."
        );
        println!("Loads only {}.", settings.targets.join(", "));
        axum::serve(listener, router(agent)).await?;
        Ok(())
    })
}

fn find(settings: &AgentBench, target: &str, prefix: &str) -> anyhow::Result<Target> {
    Ok(Target::find(target, prefix, settings.may_load_others)?)
}

fn router(agent: Arc<Agent>) -> Router {
    Router::new()
        .route("/job", post(accept))
        .route("/run", post(run))
        .layer(DefaultBodyLimit::max(JOB_MAX_BYTES))
        // Before a body is read.
        .layer(from_fn_with_state(Arc::clone(&agent), check_secret))
        .with_state(agent)
}

async fn check_secret(State(agent): State<Arc<Agent>>, request: Request, next: Next) -> Response {
    let given = request.headers().get(header::AUTHORIZATION).map(|value| Sha256::digest(value.as_bytes()));
    // Digests are compared: the time of the comparison says nothing about the secret.
    if given.is_some_and(|given| given[..] == agent.secret) {
        next.run(request).await
    } else {
        (StatusCode::UNAUTHORIZED, "wrong secret: copy the line that the agent printed").into_response()
    }
}

async fn accept(State(agent): State<Arc<Agent>>, body: Bytes) -> Response {
    let job: Job = match serde_json::from_slice(&body) {
        Ok(job) => job,
        Err(error) => return (StatusCode::BAD_REQUEST, format!("not a job: {error}")).into_response(),
    };
    match check(&agent.settings, &job) {
        Ok(()) => {
            *agent.job.lock() = Some(job);
            StatusCode::NO_CONTENT.into_response()
        }
        Err(why) => (StatusCode::FORBIDDEN, format!("{why:#}")).into_response(),
    }
}

fn check(settings: &AgentBench, job: &Job) -> anyhow::Result<()> {
    if !settings.targets.contains(&job.target) {
        bail!("this agent does not load {}, only {}", job.target, settings.targets.join(", "));
    }
    job.dialect.check().map_err(|error| anyhow!("the dialect cannot be used: {error:?}"))?;
    if let Some(token) = job.tokens.iter().find(|token| !is_header_value(token)) {
        bail!("a token cannot be sent in a header: {token:?}");
    }
    let claims = [job.tokens.len(), job.sales.len(), job.claims_per_user]
        .iter()
        .try_fold(1_usize, |product, number| product.checked_mul(*number));
    if !claims.is_some_and(|claims| (1..=CLAIMS_MAX).contains(&claims)) {
        bail!("a job needs 1 to {CLAIMS_MAX} claims: pass at least as many users as agents");
    }
    if !(1..=CONNECTIONS_MAX).contains(&job.connections) || !(1..=THREADS_MAX).contains(&job.threads) {
        bail!("a job needs 1 to {CONNECTIONS_MAX} connections and 1 to {THREADS_MAX} threads");
    }
    if job.number >= job.agents || job.agents > AGENTS_MAX {
        bail!("agent {} of {} does not exist; {AGENTS_MAX} are possible", job.number, job.agents);
    }
    shape(job).map(|_| ())
}

/// Returns the arrivals of all agents.
fn shape(job: &Job) -> anyhow::Result<Option<Shape>> {
    let Some(text) = &job.shape else { return Ok(None) };
    let shape = match text.parse::<f64>() {
        Ok(rate) => Shape::checked(rate)?,
        Err(_) => Shape::parse(text, None).map_err(|error| anyhow!("the arrivals {text}: {error:?}"))?,
    };
    Ok(Some(shape))
}

#[derive(Deserialize)]
struct Start {
    in_ms: u64,
}

async fn run(State(agent): State<Arc<Agent>>, Query(start): Query<Start>) -> Response {
    let Some(job) = agent.job.lock().take() else {
        return (StatusCode::CONFLICT, "no job: another leader may have taken this agent").into_response();
    };
    println!("{} users claim at {}", job.tokens.len(), job.target);
    let (lines, body) = Channel::<Bytes, Infallible>::new(1);
    let settings = agent.settings.clone();
    tokio::spawn(async move {
        sleep(Duration::from_millis(start.in_ms).min(START_DELAY_MAX)).await;
        work(settings, job, lines).await;
        println!("done");
    });
    Body::new(body).into_response()
}

/// Makes the claims, and tells the leader how far it is. A leader that is gone ends them.
async fn work(settings: AgentBench, job: Job, mut lines: Sender<Bytes, Infallible>) {
    let progress = Progress::default();
    let own = progress.clone();
    let mut claims = tokio::task::spawn_blocking(move || make(&settings, &job, &own));
    let mut tick = interval(LINE_INTERVAL);
    let last = loop {
        tokio::select! {
            ended = &mut claims => break match ended {
                Ok(Ok(ended)) => Line::Ended(Box::new(ended)),
                Ok(Err(error)) => Line::Failed(format!("{error:#}")),
                Err(error) => Line::Failed(error.to_string()),
            },
            _ = tick.tick() => {
                if send(&mut lines, &Line::Answered(progress.answered())).await.is_none() {
                    progress.stop();
                }
            }
        }
    };
    // Nobody is there to be told that nobody listens.
    let _ = send(&mut lines, &last).await;
}

async fn send(lines: &mut Sender<Bytes, Infallible>, line: &Line) -> Option<()> {
    let text = serde_json::to_string(line).ok()? + "\n";
    lines.send_data(text.into()).await.ok()
}

fn make(settings: &AgentBench, job: &Job, progress: &Progress) -> anyhow::Result<Ended> {
    let target = find(settings, &job.target, job.dialect.prefix())?;
    let sales: Vec<_> = job.sales.iter().copied().map(VoucherId::new).collect();
    let tokens = Arc::new(job.tokens.clone());
    let claims = Claims::in_dialect(&job.dialect, (&target.host, &target.prefix), tokens, &sales)
        .repeated(job.claims_per_user);
    let generator = Generator { connections: job.connections, threads: job.threads };
    generator.check((job.tokens.len(), sales.len()))?;
    let arrivals = shape(job)?.map_or(Arrivals::Closed, Arrivals::Open);
    let mut load = load_of(&generator, &[target.address], &arrivals);
    load.share = Share { number: job.number, of: job.agents };
    let driven: Driven = make_claims(&load, job.threads, &claims, progress)?;
    Ended::of(&driven)
}
