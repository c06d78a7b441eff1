//! Where the ways are compared.

use std::path::PathBuf;

use mallbox_bench_ports::{BenchError, Effort};

use crate::Servers;

/// Where the ways are compared.
#[derive(Clone)]
pub struct Stage {
    /// Directory for malls.
    pub dir: PathBuf,
    /// The servers; `None` if they are not installed.
    pub servers: Option<Servers>,
    /// How much is measured.
    pub effort: Effort,
}

impl Stage {
    pub(crate) fn servers(&self) -> Result<&Servers, BenchError> {
        self.servers.as_ref().ok_or_else(|| BenchError::Wrong("no servers run".to_owned()))
    }
}
