//! Throughput, and time from send to receipt.

use crate::error::{QueueError, broken};
use crate::protocol::{Command, Event, Role};
use crate::servers::Append;
use crate::stage::Stage;
use crate::verdict::Speed;
use crate::ways::{Component, Way};

/// Requests that send at once.
const PRODUCERS: usize = 8;
/// Pace of the messages whose time is taken: below what a disk with slow syncs carries.
const PER_S: u64 = 200;

/// Measures a way; in Redis with each setting of the append-only file, if the effort is full.
pub(crate) fn speeds(stage: &Stage, way: &'static Way) -> Result<Vec<Speed>, QueueError> {
    let has_settings = way.component.has_redis() && stage.may_harm();
    let settings = match has_settings {
        true => stage.effort().pick(vec![Append::EverySecond, Append::Always], Append::ALL.to_vec()),
        false => vec![Append::EverySecond],
    };
    settings.into_iter().map(|append| speed(stage, way, append)).collect()
}

fn speed(stage: &Stage, way: &'static Way, append: Append) -> Result<Speed, QueueError> {
    let mut crew = stage.crew_at(way, append, None)?;
    let count = stage.effort().pick(PER_S, PER_S * 2);
    let Event::Latency(latency) = crew.ask(Role::Producer, Command::Latency { count, per_s: PER_S })? else {
        return Err(broken("no times were taken"));
    };
    let span_ms = stage.effort().pick(1_000, 1_500);
    let Event::Rates(rates) = crew.ask(Role::Producer, Command::Rates { span_ms, producers: PRODUCERS })?
    else {
        return Err(broken("nothing was counted"));
    };
    crew.leave()?;
    let redis = if stage.may_harm() { append.name() } else { "as given" };
    let setting = match way.component {
        Component::Process if way.name == "channel" => "memory".to_owned(),
        Component::Process => "durability power".to_owned(),
        Component::Redis => format!("Redis {redis}"),
        Component::RedisAndMysql => format!("Redis {redis}, MySQL"),
        Component::Mysql if stage.may_harm() => "MySQL innodb_flush_log_at_trx_commit 1".to_owned(),
        Component::Mysql => "MySQL as given".to_owned(),
    };
    Ok(Speed {
        way: way.name,
        setting,
        producers: PRODUCERS,
        sent_per_s: rates.sent_per_s,
        received_per_s: rates.received_per_s,
        paced_per_s: PER_S,
        paced: latency.sent,
        paced_received: latency.received,
        p50_us: latency.p50_us,
        p99_us: latency.p99_us,
    })
}
