//! Readings of a server's clock.

use mallbox_storage::Timestamp;

/// Returns the current time by the clock of this machine.
pub type Now = dyn Fn() -> Timestamp + Send + Sync;

/// A reading of a server's clock, between two readings of the clock of this machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClockReading {
    /// This machine's time before the call.
    pub before: Timestamp,
    /// The server's time.
    pub theirs: Timestamp,
    /// This machine's time after the call.
    pub after: Timestamp,
}
