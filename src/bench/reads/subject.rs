//! What is compared.

use std::path::Path;

use mallbox_bench_ports::ServerAddresses;
use mallbox_bench_reads::{Effort, Way, caches, feeds};
use serde_json::Value;

use super::compared::{Compared, OnStep};
use crate::bench::result::Recording;

/// What is compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReadsSubject {
    /// Ways to assemble feeds.
    Feeds,
    /// Ways to cache reads.
    Caches,
}

impl ReadsSubject {
    /// Returns the name of the command and of the result's kind.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Feeds => "feed",
            Self::Caches => "cache",
        }
    }

    /// Returns the ways, in the order of the tables.
    #[must_use]
    pub fn ways(self) -> &'static [Way] {
        match self {
            Self::Feeds => feeds::WAYS,
            Self::Caches => caches::WAYS,
        }
    }

    /// Returns the number of steps of a way.
    pub(in crate::bench) fn steps(self, effort: Effort, repeat: usize) -> usize {
        match self {
            Self::Feeds => feeds::steps(effort, repeat),
            Self::Caches => caches::steps(repeat),
        }
    }

    /// Compares ways, with data below a directory and on servers. `None` if ended early.
    ///
    /// # Errors
    /// An experiment could not be carried out.
    pub(in crate::bench) fn compare(
        self,
        ways: &[&'static Way],
        place: (&Path, Option<&ServerAddresses>),
        (effort, repeat): (Effort, usize),
        on_step: &mut OnStep<'_>,
    ) -> anyhow::Result<Option<Compared>> {
        let runtime = tokio::runtime::Runtime::new()?;
        runtime.block_on(async {
            let stage = super::stage(place, effort).await?;
            let compared = match self {
                Self::Feeds => super::feeds::compare(&stage, ways, repeat, on_step).await?,
                Self::Caches => super::caches::compare(&stage, ways, repeat, on_step).await?,
            };
            if let Some(servers) = stage.servers {
                servers.close().await?;
            }
            Ok(compared)
        })
    }

    /// Adds the section of the published file.
    pub(super) fn record(self, recording: &mut Recording, section: Value) {
        match self {
            Self::Feeds => recording.feeds(section),
            Self::Caches => recording.caches(section),
        }
    }
}
