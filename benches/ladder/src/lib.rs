//! The ladder of locks and queues: how flash sales oversell, and how they do not.
//!
//! A [rung](Rung) is one way to sell units of a voucher, in one short file below `rungs/`. Its instances are
//! processes that share a Redis and a database. A [trigger](Trigger) brings them into the situation in which
//! the rung fails, by named [points](Point) at which requests are held, stopped or killed. [Findings] say
//! what was wrong, and a list of [events](Event) says why.

mod catalogue;
mod controller;
mod error;
mod expected;
mod findings;
mod instance;
mod point;
mod reply;
mod report;
mod run;
mod rungs;
mod scene;
mod story;
mod trace;
mod trigger;
mod triggers;
mod words;

pub use catalogue::{RUNGS, Rung};
pub use controller::{Launch, Location};
pub use error::LadderError;
pub use expected::expected;
pub use findings::{Evidence, Failure, Findings};
pub use instance::run_instance;
pub use point::Point;
pub use reply::Reply;
pub use report::{CaseReport, RungReport, Seen};
pub use run::{Outcome, Speed, measure, run};
pub use trace::{Event, EventKind, Server, now_us};
pub use trigger::Trigger;
pub use words::Words;
