//! The back ends that a bench runs on, and numbers from flags.

use clap::ValueEnum;
use mallbox_storage_production::ProductionOptions;

use crate::cli::messages::{BenchMisuse, UsageError};
use crate::config::{LocationError, PlaceConfig, ServerUrl, ServersConfig};
use crate::place::Place;

/// Storage of a benched mall.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum On {
    /// In a directory.
    Directory,
    /// On Redis and MySQL.
    Servers,
    /// Alternately in a directory and on servers.
    Both,
}

/// Returns the servers at two URLs.
pub(super) fn servers(
    redis: Option<ServerUrl>,
    mysql: Option<ServerUrl>,
) -> Result<ProductionOptions, UsageError> {
    match (PlaceConfig { data: None, servers: ServersConfig { redis, mysql, redis_prefix: None } }).place() {
        Ok(Place::Production(options)) => Ok(options),
        Ok(Place::Embedded(_)) | Err(LocationError::Missing) => {
            Err(UsageError::Bench(BenchMisuse::NoServers))
        }
        Err(mistake) => Err(UsageError::Where(mistake)),
    }
}

/// Converts to `usize`, capped at `usize::MAX`.
pub(super) fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
