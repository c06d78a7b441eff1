//! Reasons for dead letters.

use crate::{UserId, VoucherId};

/// Why a claim became a dead letter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeadReason {
    /// The user already has a live order of the sale. The dead letter holds no unit; an
    /// [`Outbox`](crate::Outbox) entry releases the unit taken in [`Sales`](crate::Sales).
    Double,
    /// The database's stock was used up.
    Oversold,
    /// Another order has the same id.
    IdClash,
    /// The database refused the claim five times.
    Refused,
}

impl DeadReason {
    /// Returns the code that is stored and shown.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Double => "DOUBLE",
            Self::Oversold => "OVERSOLD",
            Self::IdClash => "ID_CLASH",
            Self::Refused => "REFUSED",
        }
    }

    /// Returns the reason with this [`code`](Self::code).
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        [Self::Double, Self::Oversold, Self::IdClash, Self::Refused]
            .into_iter()
            .find(|one| one.code() == code)
    }

    /// Returns whether the dead letter takes a unit of the database's stock, to match the unit taken in
    /// [`Sales`](crate::Sales). False if no unit is left, or if the user's live order already accounts for
    /// one; the unit in `Sales` is then released.
    pub fn takes_unit(self) -> bool {
        !matches!(self, Self::Double | Self::Oversold)
    }

    /// Returns the text stored with the dead letter. `owner` is the user and voucher of the stored order with
    /// the same id, if any.
    pub fn detail(self, owner: Option<(UserId, VoucherId)>) -> String {
        match (self, owner) {
            (Self::IdClash, Some((user, voucher))) => {
                format!("the order of user {user} for voucher {voucher} has this id")
            }
            (Self::IdClash, None) => "another claim of the same batch had this id".into(),
            (Self::Double, _) => "the user already has a live order in this sale".into(),
            (Self::Oversold, _) => "the stock was used up".into(),
            (Self::Refused, _) => String::new(),
        }
    }
}
