//! Replies to buyers.

use serde::{Deserialize, Serialize};

/// Reply to a request.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// The buyer got a unit.
    Accepted,
    /// The buyer has a unit already.
    AlreadyBought,
    /// No unit is left.
    SoldOut,
    /// Another request of the sale or of the buyer is being worked on.
    Busy,
    /// A server returned an error.
    Failed(String),
}

impl Reply {
    /// Returns the reply in one or two words.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Accepted => "accepted",
            Self::AlreadyBought => "already bought",
            Self::SoldOut => "sold out",
            Self::Busy => "busy",
            Self::Failed(_) => "failed",
        }
    }
}
