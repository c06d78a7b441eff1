//! What every service needs: the store, the time, the settings.

use std::sync::Arc;

use jiff::tz::TimeZone;
use mallbox_storage::{Storage, Timestamp};

use super::{Clock, Settings};

/// Handed to every service; cheap to clone. Nothing of it is process-wide, so two malls live in one process.
#[derive(Clone)]
pub struct Context {
    /// What the mall remembers.
    pub storage: Storage,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// The zone in which times are written for people.
    pub zone: TimeZone,
    /// How the mall behaves.
    pub settings: Arc<Settings>,
}

impl Context {
    /// The mall's time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }
}
