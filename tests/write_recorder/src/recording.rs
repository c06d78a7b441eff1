//! The state that all threads of a recorder share.

use crate::event::Event;
use crate::volume::Volume;

/// The file system as the program sees it, and its changes so far.
#[derive(Debug)]
pub(crate) struct Recording {
    pub(crate) volume: Volume,
    pub(crate) events: Vec<Event>,
}

impl Recording {
    /// Applies and records an event.
    pub(crate) fn record(&mut self, event: Event) {
        self.volume.apply(&event);
        self.events.push(event);
    }
}
