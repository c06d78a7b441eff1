//! The ways, one per file.

mod hybrid;
mod inboxes;
mod mall;
mod pull;
mod push;
mod server_feed;
mod tables;

use std::sync::Arc;

use mallbox_bench_ports::BenchError;

use super::crowd::Crowd;
use super::feed::Feed;
use crate::{Stage, Way};

/// The ways to assemble a feed, in the order of the tables.
pub const WAYS: &[Way] = &[
    Way::on_servers("pull", "a page collects the newest rows of all followed authors from MySQL"),
    Way::on_servers("push", "a note goes to a sorted set of Redis for every fan"),
    Way::on_servers("hybrid", "push to at most 1,000 fans, pull from authors with more"),
    Way::in_directory(
        "mallbox-directory",
        "mallbox in a directory: inboxes in memory for readers who come, refilled from SQLite",
    ),
    Way::on_servers(
        "mallbox-servers",
        "mallbox on servers: inboxes in Redis for readers who come, refilled from MySQL",
    ),
];

/// Opens a feed with the follows and the earlier notes of a crowd.
pub(super) async fn open(way: &Way, stage: &Stage, crowd: Crowd) -> Result<Arc<dyn Feed>, BenchError> {
    match way.name {
        "pull" => pull::open(stage, crowd).await,
        "push" => push::open(stage, crowd).await,
        "hybrid" => hybrid::open(stage, crowd).await,
        "mallbox-directory" => mall::in_directory(stage, crowd).await,
        "mallbox-servers" => mall::on_servers(stage, crowd).await,
        other => Err(BenchError::Wrong(format!("no way {other:?}"))),
    }
}
