//! The leader: hands out jobs, starts all agents, and adds up what they measured.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use axum::body::Bytes;
use axum::http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::protocol::{AgentAddress, Job, Line, SILENCE_MAX};
use crate::bench::drive::{Driven, ShownProgress, progress_bar};
use crate::bench::rush::SaleOutcomes;

/// From the order to start until the start: longer than the order takes to the farthest agent.
const START_DELAY: Duration = Duration::from_millis(500);

/// Lets each agent do its job, all at the same time, and returns the sum.
pub(in crate::bench) fn lead(agents: &[AgentAddress], jobs: Vec<Job>, claims: u64) -> anyhow::Result<Driven> {
    let answered: Vec<_> = agents.iter().map(|_| Arc::new(AtomicU64::new(0))).collect();
    let seen = answered.clone();
    let shown = ShownProgress::start(progress_bar(Some(claims), "claims"), move || {
        seen.iter().map(|one| one.load(Ordering::Relaxed)).sum()
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let driven = runtime.block_on(async {
        hand_out(agents, jobs).await?;
        let start = Instant::now() + START_DELAY;
        let mut runs = JoinSet::new();
        for (agent, answered) in agents.iter().cloned().zip(answered) {
            runs.spawn(async move { run(&agent, start, &answered).await });
        }
        let mut whole: Option<Driven> = None;
        // The first that fails ends the others: their connections close with the set.
        while let Some(ended) = runs.join_next().await {
            let one = ended??;
            whole = Some(match whole {
                None => one,
                Some(sum) => added(sum, one),
            });
        }
        whole.context("no agent")
    });
    drop(shown);
    driven
}

fn added(mut sum: Driven, one: Driven) -> Driven {
    sum.outcomes = sum.outcomes + one.outcomes;
    SaleOutcomes::add_all(&mut sum.by_sale, &one.by_sale);
    sum.report.add(&one.report);
    sum.unknown = sum.unknown.or(one.unknown);
    sum
}

async fn hand_out(agents: &[AgentAddress], jobs: Vec<Job>) -> anyhow::Result<()> {
    let mut sent = JoinSet::new();
    for (agent, job) in agents.iter().cloned().zip(jobs) {
        sent.spawn(async move { ask(&agent, "/job", serde_json::to_vec(&job)?).await.map(|_| ()) });
    }
    while let Some(one) = sent.join_next().await {
        one??;
    }
    Ok(())
}

async fn run(agent: &AgentAddress, start: Instant, answered: &AtomicU64) -> anyhow::Result<Driven> {
    let in_ms = start.saturating_duration_since(Instant::now()).as_millis();
    let response = ask(agent, &format!("/run?in_ms={in_ms}"), Vec::new()).await?;
    let mut body = response.into_body();
    let mut text = Vec::new();
    loop {
        let frame = timeout(SILENCE_MAX, body.frame()).await;
        let frame = frame.with_context(|| {
            format!("the agent at {} has been silent for {} s", agent.address, SILENCE_MAX.as_secs())
        })?;
        let gone = || format!("the agent at {} went away", agent.address);
        let frame = frame.with_context(gone)?.with_context(gone)?;
        let Ok(data) = frame.into_data() else { continue };
        text.extend_from_slice(&data);
        while let Some(end) = text.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = text.drain(..=end).collect();
            match serde_json::from_slice(&line)? {
                Line::Answered(number) => answered.store(number, Ordering::Relaxed),
                Line::Ended(ended) => return ended.driven(start),
                Line::Failed(why) => bail!("the agent at {}: {why}", agent.address),
            }
        }
    }
}

/// Sends a request to an agent. Every answer but success is an error with the agent's own words.
async fn ask(agent: &AgentAddress, path: &str, body: Vec<u8>) -> anyhow::Result<Response<Incoming>> {
    let address = agent.address;
    let asked = async {
        let stream = TcpStream::connect(address).await?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        let request = Request::post(path)
            .header(header::HOST, address.to_string())
            .header(header::AUTHORIZATION, &agent.secret)
            .body(Full::new(Bytes::from(body)))?;
        anyhow::Ok(sender.send_request(request).await?)
    };
    let response = timeout(SILENCE_MAX, asked)
        .await
        .with_context(|| format!("the agent at {address} does not answer"))?
        .with_context(|| format!("cannot reach the agent at {address}"))?;
    if matches!(response.status(), StatusCode::OK | StatusCode::NO_CONTENT) {
        return Ok(response);
    }
    let status = response.status();
    let words = timeout(SILENCE_MAX, response.into_body().collect()).await;
    let words = words.ok().and_then(Result::ok).map(|body| body.to_bytes()).unwrap_or_default();
    bail!("the agent at {address} refuses ({status}): {}", String::from_utf8_lossy(&words));
}
