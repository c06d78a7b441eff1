//! A thread among the threads of a load.

use std::sync::Arc;

use super::schedule::Share;
use super::start_line::StartLine;

/// A thread's share of the load, and the start that it has in common with the others.
pub(super) struct Crew {
    pub share: Share,
    pub line: Arc<StartLine>,
}

impl Crew {
    /// Returns the number of the thread's connection `own` among those of all threads.
    pub fn number(&self, own: usize) -> usize {
        own * self.share.threads + self.share.thread
    }

    /// Returns the numbers of the thread's connections.
    pub fn numbers(&self, connections: usize) -> impl Iterator<Item = usize> {
        (self.share.thread..connections).step_by(self.share.threads)
    }
}
