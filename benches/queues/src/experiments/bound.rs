//! Bounds: what a send does when the queue is full.

use std::time::Duration;

use crate::error::{QueueError, broken};
use crate::expected::EXPECTED;
use crate::protocol::{Command, Event, Role, Until};
use crate::question::Question;
use crate::stage::Stage;
use crate::verdict::Finding;
use crate::ways::{Component, Way};

/// Bound of a channel, a stream or a sale, and the number of messages sent.
const BOUND: usize = 100;
const SENT: u64 = 150;
/// Memory left to Redis, and messages that need more.
const ROOM: u64 = 4 << 20;
const LARGE: usize = 1 << 10;
const LARGE_COUNT: u64 = 10_000;
/// Messages beyond the output buffer of a subscriber: 32 MiB by default, after the buffers of both sockets.
const BUFFERED: usize = 8 << 10;
const BUFFERED_COUNT: u64 = 10_000;
/// Time without a reply after which a send counts as waiting.
const WAITING: Duration = Duration::from_millis(200);

pub(super) fn run(stage: &Stage, way: &'static Way) -> Result<Vec<Finding>, QueueError> {
    let full = match (way.name, way.component) {
        ("pub-sub", _) => Some(output_buffer(stage, way)?),
        ("channel", _) => Some(capacity(stage, way)?),
        (_, Component::Redis) => stage.may_harm().then(|| memory(stage, way)).transpose()?,
        _ => Some(units(stage, way)?),
    };
    let length = EXPECTED.arises(way.name, Question::FullLength).then(|| length(stage, way)).transpose()?;
    Ok(full.into_iter().chain(length).collect())
}

/// Fills Redis up to `maxmemory` with the policy `noeviction`, and reads what it kept.
fn memory(stage: &Stage, way: &'static Way) -> Result<Finding, QueueError> {
    let mut crew = stage.crew(way)?;
    crew.ask(Role::Producer, Command::LimitMemory { room: Some(ROOM) })?;
    let accepted = crew.fill(1, LARGE_COUNT, LARGE);
    crew.ask(Role::Producer, Command::LimitMemory { room: None })?;
    let accepted = accepted?;
    let kept = match way.name {
        // Its reader missed everything; the entries are there.
        "stream" => match crew.ask(Role::Producer, Command::Replay { from: 1 })? {
            Event::Numbers(numbers) => numbers,
            event => return Err(broken(format!("no numbers but {event:?}"))),
        },
        _ => crew.consume_all(Role::First)?,
    };
    crew.leave()?;
    let verdict = match () {
        () if accepted == LARGE_COUNT => "no bound",
        () if kept.len() as u64 == accepted => "refuses",
        () => "drops",
    };
    let detail = format!(
        "maxmemory, noeviction: {accepted} of {LARGE_COUNT} sends were accepted, {} kept",
        kept.len()
    );
    Ok(Finding::new(Question::Full, verdict, detail))
}

/// Publishes to a subscriber whose process is stopped.
fn output_buffer(stage: &Stage, way: &'static Way) -> Result<Finding, QueueError> {
    let mut crew = stage.crew(way)?;
    crew.ask(Role::First, Command::Open)?;
    crew.tell(Role::First, Command::Consume(Until::End { dead: Vec::new() }))?;
    crew.suspend(Role::First, true)?;
    let accepted = crew.fill(1, BUFFERED_COUNT, BUFFERED)?;
    crew.suspend(Role::First, false)?;
    crew.await_listeners(1)?;
    crew.send_end()?;
    let received = crew.numbers(Role::First)?.len() as u64;
    crew.leave()?;
    let verdict = if received < accepted { "cuts off" } else { "no bound" };
    let detail =
        format!("{received} of {accepted} messages of {BUFFERED} bytes reached a stopped subscriber");
    Ok(Finding::new(Question::Full, verdict, detail))
}

/// Sends one message more than a channel holds, and receives one.
fn capacity(stage: &Stage, way: &'static Way) -> Result<Finding, QueueError> {
    let mut crew = stage.bounded_crew(way, BOUND)?;
    let bound = crew.fill(1, BOUND as u64, 0)?;
    crew.tell(Role::Producer, Command::Send { number: bound + 1 })?;
    let reply = crew.hear_within(Role::Producer, WAITING)?;
    let verdict = match reply {
        None => {
            crew.ask(Role::First, Command::Take)?;
            match crew.hear(Role::Producer)? {
                Event::Sent { is_accepted: true } => "waits",
                _ => "refuses",
            }
        }
        Some(Event::Sent { is_accepted: false }) => "refuses",
        Some(_) => "no bound",
    };
    crew.leave()?;
    let detail = format!("capacity {BOUND}: the next send returned after a receipt, and not before");
    Ok(Finding::new(Question::Full, verdict, detail))
}

/// Sends more than the units of a sale, or than any number that a table would mind.
fn units(stage: &Stage, way: &'static Way) -> Result<Finding, QueueError> {
    let mut crew = stage.bounded_crew(way, BOUND)?;
    let accepted = crew.fill(1, SENT, 0)?;
    crew.ask(Role::First, Command::Open)?;
    crew.tell(Role::First, Command::Consume(Until::Drained))?;
    let kept = crew.numbers(Role::First)?.len() as u64;
    crew.leave()?;
    let verdict = match () {
        () if kept < accepted => "drops",
        () if accepted < SENT => "refuses",
        () => "no bound",
    };
    let detail = format!("{accepted} of {SENT} sends were accepted, {kept} kept");
    Ok(Finding::new(Question::Full, verdict, detail))
}

/// Sends more than `MAXLEN` entries while no consumer reads.
fn length(stage: &Stage, way: &'static Way) -> Result<Finding, QueueError> {
    let mut crew = stage.bounded_crew(way, BOUND)?;
    let accepted = crew.fill(1, SENT, 0)?;
    let Event::Numbers(kept) = crew.ask(Role::Producer, Command::Replay { from: 1 })? else {
        return Err(broken("no numbers are read"));
    };
    crew.leave()?;
    let newest: Vec<u64> = (SENT - BOUND as u64 + 1..=SENT).collect();
    let verdict = match () {
        () if accepted == SENT && kept == newest => "drops oldest",
        () if accepted < SENT => "refuses",
        () => "no bound",
    };
    let detail = format!("MAXLEN {BOUND}: {accepted} of {SENT} sends were accepted, {} kept", kept.len());
    Ok(Finding::new(Question::FullLength, verdict, detail))
}
