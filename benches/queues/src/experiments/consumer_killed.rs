//! A consumer that is killed (SIGKILL), at two points.
//!
//! Twelve messages: 1 to 3 are done; 4 is in hand at the kill, while 5 to 8 arrive; 9 and 10 come while
//! nobody consumes; 11 and 12 come when the next consumer listens. A way within one process loses the
//! process.

use std::collections::BTreeSet;

use crate::error::QueueError;
use crate::protocol::{Command, Role, Until};
use crate::question::Question;
use crate::stage::Stage;
use crate::verdict::{Finding, losses};
use crate::ways::Way;

const DONE: [u64; 3] = [1, 2, 3];
const IN_HAND: u64 = 4;
const ALL: u64 = 12;

pub(super) fn run(stage: &Stage, way: &'static Way) -> Result<Vec<Finding>, QueueError> {
    Ok(vec![killed(stage, way, false)?, killed(stage, way, true)?])
}

fn killed(stage: &Stage, way: &'static Way, has_worked: bool) -> Result<Finding, QueueError> {
    let mut crew = stage.crew(way)?;
    crew.exchange(Role::First, &DONE)?;
    crew.hand_over(Role::First, IN_HAND)?;
    if has_worked {
        crew.ask(Role::First, Command::Work)?;
    }
    (5..=8).try_for_each(|number| crew.send(number))?;
    crew.kill(Role::First)?;
    (9..=10).try_for_each(|number| crew.send(number))?;
    let received = crew.consume_with_heir(&[11, 12])?;
    crew.leave()?;

    let before = DONE.into_iter().chain(has_worked.then_some(IN_HAND));
    let done: BTreeSet<u64> = before.chain(received.iter().copied()).collect();
    let lost: Vec<u64> = (1..=ALL).filter(|number| !done.contains(number)).collect();
    let delivered: Vec<u64> = DONE.into_iter().chain([IN_HAND]).chain(received).collect();
    let different: BTreeSet<&u64> = delivered.iter().collect();
    let repeated = delivered.len() - different.len();
    let question = if has_worked { Question::KilledBeforeAck } else { Question::KilledAtWork };
    let detail = format!("of {ALL} messages {lost:?} lost, {repeated} delivered again");
    Ok(Finding::new(question, losses(lost.len(), repeated), detail))
}

impl crate::crew::Crew<'_> {
    /// Starts the next consumer, sends `more` once it listens, and returns all that it receives.
    fn consume_with_heir(&mut self, more: &[u64]) -> Result<Vec<u64>, QueueError> {
        let dead = self.dead();
        self.ask(Role::Heir, Command::Open)?;
        self.tell(Role::Heir, Command::Consume(Until::End { dead }))?;
        for number in more {
            self.await_listeners(1)?;
            self.send(*number)?;
        }
        self.await_listeners(1)?;
        self.send_end()?;
        self.numbers(Role::Heir)
    }
}
