//! Settings of `bench feed` and `bench cache`.

use std::path::PathBuf;

use mallbox_bench_ports::Effort;
use mallbox_bench_reads::Way;

use super::subject::ReadsSubject;

/// Settings of `bench feed` or `bench cache`.
#[derive(Clone, Debug)]
pub struct ReadsBench {
    /// What is compared.
    pub subject: ReadsSubject,
    /// The ways, in the order of the tables.
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
