//! Why a call did not do what was asked. Services answer with it; HTTP turns it into status, code and words.

use std::time::Duration;

use mallbox_storage::{Closed, DeadReason, DeadState, OrderId, StoreError};

/// A refusal: the mall works, and says no. What it says to a person is HTTP's business.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// No unit is left.
    SoldOut,
    /// The user holds one already, by this order.
    AlreadyBought(OrderId),
    /// The sale has not begun.
    NotOpen,
    /// The sale is over.
    Ended,
    /// The operator holds the sale.
    Paused,
    /// No such sale.
    UnknownSale,
    /// The sale is for members of a higher level.
    LevelTooLow,
    /// No such thing: which.
    NotFound(&'static str),
    /// Nobody is logged in.
    NotLoggedIn,
    /// Only an operator may.
    Forbidden,
    /// The user is blocked.
    Blocked,
    /// No operator would be left who can come in.
    LastOperator,
    /// The price of a sale stays while it takes claims.
    SaleIsOn,
    /// Something a person typed or picked wrongly: said with 200 on hm-dianping's calls.
    Mistyped(Mistake),
    /// The voucher is sold in a flash sale and not over the counter.
    SoldInSale,
    /// A value of a request that is missing or out of its range: its name.
    BadValue(&'static str),
    /// Too often.
    RateLimited {
        /// When to try again.
        retry_after: Duration,
    },
    /// The order is not in the record yet.
    NotYet,
    /// The order stands where this step cannot be taken: its status number.
    OrderStands(u8),
    /// What was typed or scanned as a receipt's code can be none.
    ReceiptMistyped,
    /// The sale is unlimited: its units are not counted.
    Unlimited,
    /// The record refuses a dead letter still: why, and in its own words.
    StillDead(DeadReason, String),
    /// The dead letter was replayed or voided before.
    DeadLetterStands(DeadState),
    /// The day is signed already: nothing was made up for.
    SignedAlready,
    /// So many days of this month are made up for, and no more may be.
    MakeUpsUsed(u32),
    /// The gateway did not take the money.
    PaymentDeclined,
    /// The user has so many pictures, and may have no more.
    PicturesFull(u64),
    /// The user's pictures may have so many bytes together, and no more.
    PictureBytesFull(u64),
    /// The mall has too much on hand just now.
    Busy,
}

/// What a person got wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mistake {
    /// The phone number has not the form of one.
    Phone,
    /// The login code is wrong.
    Code,
    /// There is no live login code: ask for one.
    NoCode,
    /// Phone or password is wrong.
    Password,
    /// The password until now is wrong.
    OldPassword,
    /// A new password is too short or too long.
    PasswordLength,
    /// A code was asked for too soon or too often: seconds to wait.
    CodeTooSoon(u64),
    /// A text that must be there is missing: its name.
    Missing(&'static str),
    /// A value is out of its range or too long: its name.
    OutOfRange(&'static str),
    /// What was uploaded is none of the pictures that are taken.
    NoPicture,
    /// A picture has more pixels than so many millions.
    TooManyPixels(u32),
    /// Nobody follows oneself.
    Oneself,
}

/// Why a call did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The mall says no.
    #[error("refused: {0:?}")]
    Refused(Refusal),
    /// The store is in trouble.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A bug: for the log and nobody else.
    #[error("{0}")]
    Bug(String),
}

impl From<Closed> for Refusal {
    fn from(closed: Closed) -> Self {
        match closed {
            Closed::NotOpen => Self::NotOpen,
            Closed::Paused => Self::Paused,
            Closed::Ended => Self::Ended,
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Mistake> for Failure {
    fn from(mistake: Mistake) -> Self {
        Self::Refused(Refusal::Mistyped(mistake))
    }
}
