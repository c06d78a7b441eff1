//! A pass: the right to one claim of a guarded sale.

use crate::Timestamp;

/// A pass, as the caller has read and verified it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pass {
    /// Number of the pass, drawn at random and used once.
    pub nonce: u64,
    /// [Epoch](crate::Sales::pass_epoch) in which the pass was issued.
    pub epoch: u64,
    /// First instant at which the pass is void.
    pub expires: Timestamp,
}
