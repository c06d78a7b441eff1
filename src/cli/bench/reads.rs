//! The flags of `bench feed` and `bench cache`.

use clap::Args;
use mallbox_storage::Timestamp;

use super::way_flags::WayFlags;
use crate::bench::{self, Effort, ReadsBench, ReadsSubject};
use crate::cli::messages::UsageError;

/// The flags of `bench feed` and `bench cache`.
#[derive(Args, Debug)]
pub struct Reads {
    #[command(flatten)]
    flags: WayFlags,
}

impl Reads {
    /// Runs the bench, or prints the ways. Returns whether every verdict was the expected one.
    pub(super) fn run(&self, subject: ReadsSubject, now: Timestamp) -> anyhow::Result<bool> {
        Ok(self.flags.prints(subject.ways()) || bench::run_reads(&self.plan(subject)?, now)?)
    }

    fn plan(&self, subject: ReadsSubject) -> Result<ReadsBench, UsageError> {
        Ok(ReadsBench {
            subject,
            ways: self.flags.chosen(subject.ways())?,
            effort: if self.flags.quick { Effort::Quick } else { Effort::Full },
            repeat: self.flags.repeat(),
            servers: self.flags.servers()?,
            json: self.flags.json.clone(),
        })
    }
}
