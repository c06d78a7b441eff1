//! Order: with one consumer, and with two of which the first is slower.

use crate::error::{QueueError, broken};
use crate::protocol::{Command, Role, Until};
use crate::question::Question;
use crate::stage::Stage;
use crate::verdict::Finding;
use crate::ways::Way;

const MESSAGES: u64 = 100;

pub(super) fn run(stage: &Stage, way: &'static Way) -> Result<Vec<Finding>, QueueError> {
    Ok(vec![one(stage, way)?, two(stage, way)?])
}

fn one(stage: &Stage, way: &'static Way) -> Result<Finding, QueueError> {
    let mut crew = stage.crew(way)?;
    crew.ask(Role::First, Command::Open)?;
    crew.tell(Role::First, Command::Consume(Until::End { dead: Vec::new() }))?;
    for number in 1..=MESSAGES {
        crew.await_listeners(1)?;
        crew.send(number)?;
    }
    crew.await_listeners(1)?;
    crew.send_end()?;
    let received = crew.numbers(Role::First)?;
    crew.leave()?;
    let turns = received.windows(2).filter(|pair| pair[0] > pair[1]).count();
    let verdict = if turns == 0 { "kept" } else { "changed" };
    let detail = format!("{} of {MESSAGES} received, {turns} out of order", received.len());
    Ok(Finding::new(Question::OrderOfOne, verdict, detail))
}

/// Both consumers wait. The one that receives message 1 keeps it in hand; the other one receives message 2,
/// or message 1 as well.
fn two(stage: &Stage, way: &'static Way) -> Result<Finding, QueueError> {
    let mut crew = stage.crew(way)?;
    for consumer in [Role::First, Role::Second] {
        crew.ask(consumer, Command::Open)?;
        crew.tell(consumer, Command::Take)?;
    }
    crew.await_listeners(2)?;
    crew.send(1)?;
    let (first, slow, quick) = crew.first_of([Role::First, Role::Second])?;
    if first != [1] {
        return Err(broken(format!("{}: {first:?} came before message 1", way.name)));
    }
    crew.send(2)?;
    let received = crew.numbers(quick)?;
    for consumer in [quick, slow] {
        crew.ask(consumer, Command::Work)?;
        crew.ask(consumer, Command::Settle)?;
    }
    crew.leave()?;
    let verdict = if received == [2] { "overtaken" } else { "each has all" };
    let detail = format!("while message 1 was in work, the other consumer worked on {received:?}");
    Ok(Finding::new(Question::OrderOfTwo, verdict, detail))
}
