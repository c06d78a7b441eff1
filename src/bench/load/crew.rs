//! A thread among the threads of a load.

use std::sync::Arc;

use super::share::Share;
use super::start_line::StartLine;

/// A thread's share of the load, and the start that it has in common with the others.
pub(super) struct Crew {
    /// The thread's share of the connections.
    pub share: Share,
    /// The thread's share of the arrivals, which other loads may share too.
    pub arrivals: Share,
    pub line: Arc<StartLine>,
}

impl Crew {
    /// Returns the number of the thread's connection `own` among those of all threads.
    pub fn number(&self, own: usize) -> usize {
        own * self.share.of + self.share.number
    }

    /// Returns the numbers of the thread's connections.
    pub fn numbers(&self, connections: usize) -> impl Iterator<Item = usize> {
        (self.share.number..connections).step_by(self.share.of)
    }
}
