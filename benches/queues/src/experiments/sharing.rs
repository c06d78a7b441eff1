//! Sharing: which of two consumers receives a message.

use std::collections::BTreeMap;

use crate::error::QueueError;
use crate::protocol::{Command, Role, Until};
use crate::question::Question;
use crate::stage::Stage;
use crate::verdict::Finding;
use crate::ways::Way;

const MESSAGES: u64 = 100;
const CONSUMERS: [Role; 2] = [Role::First, Role::Second];

pub(super) fn run(stage: &Stage, way: &'static Way) -> Result<Vec<Finding>, QueueError> {
    let mut crew = stage.crew(way)?;
    for consumer in CONSUMERS {
        crew.ask(consumer, Command::Open)?;
        crew.tell(consumer, Command::Consume(Until::End { dead: Vec::new() }))?;
    }
    for number in 1..=MESSAGES {
        crew.await_listeners(CONSUMERS.len())?;
        crew.send(number)?;
    }
    crew.await_listeners(CONSUMERS.len())?;
    // A mark for each, one after the other: a consumer that takes batches would take both.
    crew.send_end()?;
    let (first, _, other) = crew.first_of(CONSUMERS)?;
    crew.send_end()?;
    let second = crew.numbers(other)?;
    crew.leave()?;
    let mut receipts: BTreeMap<u64, usize> = BTreeMap::new();
    for number in first.iter().chain(&second) {
        *receipts.entry(*number).or_default() += 1;
    }
    let all_have = |count| receipts.len() as u64 == MESSAGES && receipts.values().all(|n| *n == count);
    let verdict = match () {
        () if all_have(1) => "one each",
        () if all_have(2) => "all to both",
        () => "mixed",
    };
    let detail = format!("{} and {} of {MESSAGES} messages", first.len(), second.len());
    Ok(vec![Finding::new(Question::Sharing, verdict, detail)])
}
