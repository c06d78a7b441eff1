//! Outcome of a write that a lock guards.

use super::FencingToken;

/// Outcome of a write under a fencing token.
///
/// The guarded resource stores the greatest token seen. An equal token is accepted, so the holder of a lock
/// may write several times and repeat a write.
#[must_use]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fenced<T> {
    /// The token is current; the result of the call.
    Done(T),
    /// A later holder of the lock has written. Nothing changed.
    Stale {
        /// Greatest token seen by the resource.
        seen: FencingToken,
    },
}

impl<T> Fenced<T> {
    /// Returns the result of the call; `None` if the token was stale.
    #[must_use]
    pub fn done(self) -> Option<T> {
        match self {
            Self::Done(result) => Some(result),
            Self::Stale { .. } => None,
        }
    }
}
