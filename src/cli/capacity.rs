//! How many clients a process can hold: the flag, the limit on open files, and the memory budget.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::config::SiteConfig;
use crate::mall::Settings;
use crate::mall::base::MemoryBudget;

/// Files kept open by the mall itself, with some to spare.
const RESERVED_FILES: u64 = 128;

/// Returns the maximum number of open connections of a server. Logs a memory budget that bounds something.
pub(super) fn connections(config: &SiteConfig, settings: &Settings) -> u64 {
    let budget = settings.memory;
    let connections = config.connections.min(connections_of_files()).min(budget.connections());
    if budget < MemoryBudget::FULL {
        tracing::info!(
            budget_mib = budget.bytes() >> 20,
            connections,
            backlog = settings.max_backlog,
            megapixels = budget.megapixels(),
            "the memory budget bounds connections, waiting claims and pictures"
        );
    }
    connections
}

/// Raises the soft limit on open files to the hard limit. Returns how many connections fit below the limit.
fn connections_of_files() -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    let files = if raised.is_ok() { maximum } else { current };
    files.map_or(u64::MAX, |files| files.saturating_sub(RESERVED_FILES).max(16))
}
