//! Where the ways are compared.

use std::path::PathBuf;

use mallbox_bench_ports::BenchError;

use crate::Servers;

/// How much is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effort {
    /// Small crowds and short spans.
    Quick,
    /// Everything.
    Full,
}

impl Effort {
    pub(crate) fn pick<T>(self, quick: T, full: T) -> T {
        match self {
            Self::Quick => quick,
            Self::Full => full,
        }
    }
}

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
