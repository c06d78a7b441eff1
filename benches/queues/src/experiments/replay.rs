//! Replay: whether messages can be read again that are received and done.

use crate::error::{QueueError, broken};
use crate::protocol::{Command, Event, Role};
use crate::question::Question;
use crate::stage::Stage;
use crate::verdict::Finding;
use crate::ways::Way;

const MESSAGES: u64 = 10;
/// First message to read again.
const FROM: u64 = 6;

pub(super) fn run(stage: &Stage, way: &'static Way) -> Result<Vec<Finding>, QueueError> {
    let mut crew = stage.crew(way)?;
    let numbers: Vec<u64> = (1..=MESSAGES).collect();
    crew.exchange(Role::First, &numbers)?;
    let Event::Numbers(again) = crew.ask(Role::Producer, Command::Replay { from: FROM })? else {
        return Err(broken("no numbers are read again"));
    };
    crew.leave()?;
    let want: Vec<u64> = (FROM..=MESSAGES).collect();
    let verdict = match () {
        () if again == want => "from any",
        () if again.is_empty() => "none",
        () => "in part",
    };
    let detail = format!("{} of {} done messages were read again", again.len(), want.len());
    Ok(vec![Finding::new(Question::Replay, verdict, detail)])
}
