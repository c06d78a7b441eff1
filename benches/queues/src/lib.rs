//! Ways to hand orders from the request to a worker, compared by measurement on real components.
//!
//! A way is a file in `ways/`: a queue, its producer and its consumer. An experiment is a
//! file in `experiments/`: it runs producers and consumers in processes of their own ([`run_station`]),
//! kills them or their broker between two commands, and counts messages by number. The verdict of each
//! experiment is compared with the table in `expected.rs`.
//!
//! To add a way: a file in `ways/`, a line in `ways/mod.rs`, and its verdicts in `expected.rs`.

mod crew;
mod error;
mod expected;
mod experiments;
mod load;
mod order;
mod process_memory;
mod protocol;
mod question;
mod queue;
mod redis_queue;
mod run;
mod servers;
mod stage;
mod station;
mod verdict;
mod ways;

pub use error::QueueError;
pub use question::Question;
pub use run::{WayResult, examine, steps};
pub use servers::{OwnServers, QueueServers};
pub use stage::{Effort, Stage};
pub use station::run_station;
pub use verdict::{Speed, Verdict};
pub use ways::{Component, WAYS, Way, way};
