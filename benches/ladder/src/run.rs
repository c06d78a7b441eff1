//! Runs rungs under triggers, and measures them without.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::catalogue::Rung;
use crate::controller::{Launch, Location, Stage};
use crate::error::LadderError;
use crate::findings::Findings;
use crate::reply::Reply;
use crate::scene::InRedis;
use crate::story;
use crate::trace::Event;
use crate::trigger::Trigger;
use crate::triggers::{UNITS, strike};

/// Units of a sale that does not sell out.
const PLENTY: u64 = 10_000_000;
/// Concurrent buyers of a rush.
const CALLERS: usize = 64;

/// Result of one run under a trigger.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was wrong.
    pub findings: Findings,
    /// The events that explain the result.
    pub story: Vec<Event>,
    /// Place of the event with which the failure is decided; `None` if nothing failed.
    pub mistake: Option<usize>,
}

/// What a rush measured.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Speed {
    /// Accepted claims a second.
    pub accepted_per_s: f64,
    /// Orders in the database a second, until the last one or the end of patience.
    pub persisted_per_s: f64,
    /// 99th percentile of accepted claims, in ms.
    pub p99_ms: f64,
}

/// Runs a rung under a trigger, once.
///
/// # Errors
/// [`LadderError`]: the situation did not arise, or a server failed.
pub async fn run(
    location: &Location,
    launch: &Launch,
    rung: &'static Rung,
    trigger: Trigger,
) -> Result<Outcome, LadderError> {
    let has_replica = trigger == Trigger::FailedOver && rung.scene.in_redis != InRedis::Nothing;
    let mut stage = Stage::open((location, launch), rung, UNITS, (true, has_replica)).await?;
    strike(trigger, &mut stage).await?;
    let (evidence, events) = stage.end().await?;
    if let Some(why) = evidence.unexplained(trigger) {
        return Err(LadderError::NotReached(why));
    }
    let findings = evidence.judge();
    let story = story::choose(&evidence, &findings, events);
    let has_failed = findings != Findings::default();
    let mistake = has_failed.then(|| story::mistake(trigger, &story)).flatten();
    Ok(Outcome { findings, story, mistake })
}

/// Measures a rush of buyers without repetition, for `span`.
///
/// # Errors
/// [`LadderError`]: a server failed.
pub async fn measure(
    location: &Location,
    launch: &Launch,
    rung: &'static Rung,
    span: Duration,
) -> Result<Speed, LadderError> {
    let mut stage = Stage::open((location, launch), rung, PLENTY, (false, false)).await?;
    let (next, is_over) = (Arc::new(AtomicU64::new(1)), Arc::new(AtomicBool::new(false)));
    let began = Instant::now();
    let mut latencies = Histogram::<u64>::new(3).map_err(histogram)?;
    let instances: Vec<_> = stage.instances().collect();
    let callers = (0..CALLERS).map(|caller| {
        let instance = instances[caller % instances.len()];
        let (next, is_over) = (Arc::clone(&next), Arc::clone(&is_over));
        async move {
            let mut accepted = Vec::new();
            while !is_over.load(Ordering::Relaxed) {
                let sent = Instant::now();
                let (_, reply) = instance.buy(next.fetch_add(1, Ordering::Relaxed));
                if reply.await == Some(Reply::Accepted) {
                    accepted.push(sent.elapsed());
                }
            }
            accepted
        }
    });
    let clock = async {
        tokio::time::sleep(span).await;
        is_over.store(true, Ordering::Relaxed);
    };
    let (accepted, ()) = tokio::join!(futures_util::future::join_all(callers), clock);
    let elapsed = began.elapsed().as_secs_f64();
    let accepted: Vec<Duration> = accepted.into_iter().flatten().collect();
    for latency in &accepted {
        let micros = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX);
        latencies.record(micros).map_err(range)?;
    }
    stage.settle().await?;
    let settled = began.elapsed().as_secs_f64();
    // A repeated order is no further one.
    let orders = location.orders().await?.into_iter().collect::<BTreeSet<_>>().len();
    drop(stage);
    Ok(Speed {
        accepted_per_s: accepted.len() as f64 / elapsed,
        persisted_per_s: orders as f64 / settled,
        p99_ms: latencies.value_at_quantile(0.99) as f64 / 1_000.0,
    })
}

fn range(error: hdrhistogram::RecordError) -> LadderError {
    LadderError::NotReached(format!("no latency: {error}"))
}

fn histogram(error: hdrhistogram::CreationError) -> LadderError {
    LadderError::NotReached(format!("no histogram: {error}"))
}
