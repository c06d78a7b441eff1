//! Backlog: messages sent while the consumer is stopped, and the memory that each takes.

use crate::error::QueueError;
use crate::protocol::{Command, Role, Until};
use crate::question::Question;
use crate::stage::Stage;
use crate::verdict::Finding;
use crate::ways::{Component, Way};

pub(super) fn run(stage: &Stage, way: &'static Way) -> Result<Vec<Finding>, QueueError> {
    let count = messages(stage, way);
    let mut crew = stage.crew(way)?;
    crew.ask(Role::First, Command::Open)?;
    let consume = || Command::Consume(Until::End { dead: Vec::new() });
    if !crew.is_in_process() {
        crew.tell(Role::First, consume())?;
        crew.await_listeners(1)?;
        crew.suspend(Role::First, true)?;
    }
    let before = crew.bytes()?;
    let accepted = crew.fill(1, count, 0)?;
    let waiting = crew.bytes()?;
    if crew.is_in_process() {
        crew.tell(Role::First, consume())?;
    } else {
        crew.suspend(Role::First, false)?;
    }
    crew.await_listeners(1)?;
    crew.send_end()?;
    let received = crew.numbers(Role::First)?.len() as u64;
    let done = crew.bytes()?;
    crew.leave()?;
    let verdict = if received == accepted { "keeps all".to_owned() } else { format!("keeps {received}") };
    let growth = |now: Option<u64>| {
        now.zip(before).map(|(now, before)| now.saturating_sub(before) as f64 / count as f64)
    };
    let detail = format!("{received} of {accepted} messages received after the stop");
    let finding = Finding::new(Question::Backlog, verdict, detail)
        .with_figure("bytes_per_message", growth(waiting))
        .with_figure("bytes_per_done_message", growth(done));
    Ok(vec![finding])
}

/// Returns the number of messages: fewer where each takes a sync of the disk, more where each takes little of
/// a whole process' memory.
fn messages(stage: &Stage, way: &Way) -> u64 {
    match (way.name, way.component) {
        ("channel", _) => 200_000,
        (_, Component::Mysql) => stage.effort().pick(1_000, 5_000),
        (_, Component::RedisAndMysql) => stage.effort().pick(2_000, 10_000),
        _ => stage.effort().pick(10_000, 30_000),
    }
}
