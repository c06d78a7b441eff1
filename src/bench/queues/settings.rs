//! Settings of the bench.

use std::path::PathBuf;

use mallbox_bench_queues::{Effort, Way};

/// Hidden command of a producer or a consumer.
pub const STATION: &str = "queues-station";

/// Settings of `bench queues`.
#[derive(Clone, Debug)]
pub struct QueuesBench {
    /// The ways, in the order of the table.
    pub ways: Vec<&'static Way>,
    /// How much is measured.
    pub effort: Effort,
    /// Repetitions of each experiment with a verdict.
    pub repeat: usize,
    /// URLs of the user's Redis and MySQL; `None` = the bench starts servers.
    pub servers: Option<(String, String)>,
    /// File to create with the result as JSON.
    pub json: Option<PathBuf>,
}
