//! The flags of `bench queues`.

use clap::Args;
use mallbox_storage::Timestamp;

use super::way_flags::WayFlags;
use crate::bench::{self, QueueEffort, QueuesBench, WAYS};
use crate::cli::messages::UsageError;

/// The flags of `bench queues`.
#[derive(Args, Debug)]
pub struct Queues {
    #[command(flatten)]
    flags: WayFlags,
}

impl Queues {
    /// Runs the bench, or prints the ways. Returns whether every verdict was the expected one.
    pub(super) fn run(&self, now: Timestamp) -> anyhow::Result<bool> {
        Ok(self.flags.prints(WAYS) || bench::run_queues(&self.plan()?, now)?)
    }

    fn plan(&self) -> Result<QueuesBench, UsageError> {
        Ok(QueuesBench {
            ways: self.flags.chosen(WAYS)?,
            effort: if self.flags.quick { QueueEffort::Quick } else { QueueEffort::Full },
            repeat: self.flags.repeat(),
            servers: self.flags.servers()?,
            json: self.flags.json.clone(),
        })
    }
}
