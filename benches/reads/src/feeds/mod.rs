//! Feeds of notes: push, pull, and what lies between.

mod cost;
mod crowd;
mod examine;
mod expected;
mod experiments;
mod feed;
mod question;
mod ways;

pub use cost::FeedCost;
pub use examine::{FeedResult, examine, steps};
pub use question::{FeedQuestion, FeedVerdict};
pub use ways::WAYS;
