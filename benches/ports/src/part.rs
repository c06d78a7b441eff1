//! Parts of a run: what one process measures.

use serde::{Deserialize, Serialize};

use crate::settings::Side;

/// A part of a run: one size of one port on one side, or on both where results are compared. Measured by a
/// process of its own, so that no memory of earlier parts counts.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Part {
    /// Name of the port.
    pub port: String,
    /// The side; `None` = every side of the run.
    pub side: Option<Side>,
    /// Size, in the port's own unit.
    pub size: u64,
    /// Number of measurements.
    pub measurements: usize,
    /// Estimated time, in seconds.
    pub seconds: f64,
}

impl Part {
    /// Returns the name of the part, unique in a run: `claim/directory/1000`.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}/{}/{}", self.port, self.side.map_or("all", Side::name), self.size)
    }
}

/// A part as its port drafts it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draft {
    pub(crate) side: Option<Side>,
    pub(crate) size: u64,
    pub(crate) measurements: usize,
    pub(crate) seconds: f64,
}
