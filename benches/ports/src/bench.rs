//! The surroundings of a part while it is measured.

use std::path::PathBuf;

use crate::error::{BenchError, ensure};
use crate::load::Timed;
use crate::mall::{Keep, Mall};
use crate::measurement::Measurement;
use crate::part::Part;
use crate::servers::ServerAddresses;
use crate::settings::{Settings, Side};

/// The surroundings of a part while it is measured.
pub(crate) struct Bench {
    pub(crate) settings: Settings,
    pub(crate) part: Part,
    /// Directory for malls.
    pub(crate) dir: PathBuf,
    pub(crate) servers: Option<ServerAddresses>,
    /// Receives each measurement.
    pub(crate) emit: Box<dyn FnMut(Measurement) + Send>,
}

impl Bench {
    /// Opens an empty mall.
    pub(crate) async fn mall(&self, side: Side, keep: Keep) -> Result<Mall, BenchError> {
        match (side, &self.servers) {
            (Side::Directory, _) => Mall::in_directory(&self.dir).await,
            (Side::Servers, Some(servers)) => Mall::on_servers(servers, keep).await,
            (Side::Servers, None) => Err(BenchError::Wrong("no servers are at hand".to_owned())),
        }
    }

    /// Returns the side of a part that has one.
    pub(crate) fn side(&self) -> Result<Side, BenchError> {
        self.part.side.ok_or_else(|| BenchError::Wrong("a part of one side has none".to_owned()))
    }

    /// Opens an empty mall on the side of the part.
    pub(crate) async fn own_mall(&self, keep: Keep) -> Result<Mall, BenchError> {
        self.mall(self.side()?, keep).await
    }

    /// Publishes what a load measured. The size is the part's, unless the row has one; a size of 0 is none.
    pub(crate) fn publish(&mut self, row: Row<'_>) {
        let mut measurement =
            Measurement::new(format!("{}: {}", self.part.port, row.operation), row.back_end);
        measurement.size = Some(row.size.unwrap_or(self.part.size)).filter(|size| *size > 0);
        measurement.threads = row.callers;
        if let Some(timed) = row.timed {
            measurement.per_s = Some(timed.per_second());
            measurement.p50_us = Some(timed.micros(0.5));
            measurement.p99_us = Some(timed.micros(0.99));
        }
        measurement.memory_bytes = row.memory;
        measurement.error = row.error;
        measurement.note = (!row.note.is_empty()).then_some(row.note);
        (self.emit)(measurement);
    }
}

/// A measurement before it is published.
#[derive(Default)]
pub(crate) struct Row<'timed> {
    pub(crate) operation: &'timed str,
    pub(crate) back_end: &'timed str,
    pub(crate) size: Option<u64>,
    pub(crate) callers: Option<usize>,
    pub(crate) timed: Option<&'timed Timed>,
    pub(crate) memory: Option<u64>,
    pub(crate) error: Option<f64>,
    pub(crate) note: String,
}

/// Returns an error unless two results of different back ends agree.
pub(crate) fn agree<T: PartialEq + std::fmt::Debug>(
    what: &str,
    one: &T,
    other: &T,
) -> Result<(), BenchError> {
    ensure(one == other, || format!("{what} differ: {one:?} and {other:?}"))
}
