//! The flags for servers of the user that a bench fills and clears.

use clap::Args;

use crate::cli::messages::{BenchMisuse, UsageError};
use crate::config::ServerUrl;

/// Servers of the user that a bench fills and clears.
#[derive(Args, Debug)]
pub(super) struct GivenServers {
    /// An empty Redis, which the bench fills and clears. MALLBOX_REDIS does not count.
    #[arg(long, value_name = "URL")]
    redis: Option<ServerUrl>,
    /// A MySQL with an empty or new database, in which the bench creates and drops tables and databases.
    /// MALLBOX_MYSQL does not count.
    #[arg(long, value_name = "URL")]
    mysql: Option<ServerUrl>,
    /// Allows the bench to fill and clear the servers of --redis and --mysql.
    #[arg(long)]
    may_destroy_data: bool,
}

impl GivenServers {
    /// Whether both servers are given.
    pub(super) fn are_both(&self) -> bool {
        self.redis.is_some() && self.mysql.is_some()
    }

    /// Returns the URLs, Redis first; `None` = servers of the bench.
    ///
    /// # Errors
    /// [`BenchMisuse::OneServer`], [`BenchMisuse::NotToBeDestroyed`].
    pub(super) fn urls(&self) -> Result<Option<(String, String)>, UsageError> {
        match (&self.redis, &self.mysql) {
            (None, None) => Ok(None),
            (Some(_), Some(_)) if !self.may_destroy_data => {
                Err(UsageError::Bench(BenchMisuse::NotToBeDestroyed))
            }
            (Some(redis), Some(mysql)) => Ok(Some((redis.as_str().to_owned(), mysql.as_str().to_owned()))),
            _ => Err(UsageError::Bench(BenchMisuse::OneServer)),
        }
    }
}
