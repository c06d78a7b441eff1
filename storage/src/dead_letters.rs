//! Dead letters: claims that were accepted and did not become orders.

use async_trait::async_trait;

use crate::stored::Numbered as _;
use crate::{DeadLetterId, Order, OrderId, Page, StoreError, Timestamp, UserId, VoucherId};

/// Why a claim did not become an order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeadReason {
    /// Its user has a live order of this sale already. It holds no unit: [`Outbox`](crate::Outbox) has the errand that
    /// gives back what memory took for it.
    Double,
    /// The record's stock was used up.
    Oversold,
    /// Another order has this id.
    IdClash,
    /// The record refused it five times.
    Refused,
}

impl DeadReason {
    /// The word that is stored and shown.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Double => "DOUBLE",
            Self::Oversold => "OVERSOLD",
            Self::IdClash => "ID_CLASH",
            Self::Refused => "REFUSED",
        }
    }

    /// The reason with this [`code`](Self::code).
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        [Self::Double, Self::Oversold, Self::IdClash, Self::Refused]
            .into_iter()
            .find(|one| one.code() == code)
    }

    /// Whether a claim that dies of it takes a unit of the record's stock, as it has one in memory: not if none is left, and
    /// not if its user has an order, whose unit is enough. Then memory is asked to give it back.
    pub(crate) fn takes_unit(self) -> bool {
        !matches!(self, Self::Double | Self::Oversold)
    }

    /// What is told of a claim that the record lets die; `owner` has the order with the claim's id, if that is there.
    pub(crate) fn detail(self, owner: Option<(UserId, VoucherId)>) -> String {
        match (self, owner) {
            (Self::IdClash, Some((user, voucher))) => {
                format!("the order of user {user} for voucher {voucher} has this id")
            }
            (Self::IdClash, None) => "another claim of the same batch had this id".into(),
            (Self::Double, _) => "the user has a live order of this sale".into(),
            (Self::Oversold, _) => "the stock was used up".into(),
            (Self::Refused, _) => String::new(),
        }
    }
}

/// Where a dead letter stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeadState {
    /// Nobody has decided about it.
    Open,
    /// It is an order now.
    Replayed,
    /// It was given up.
    Voided,
}

impl DeadState {
    /// The state with this number in a row; `None` for a number that no mall writes.
    #[must_use]
    pub fn in_row(number: i64) -> Option<Self> {
        Self::numbered(number)
    }
}

/// A claim that did not become an order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeadLetter {
    /// Which.
    pub id: DeadLetterId,
    /// The id its order would have had.
    pub order: OrderId,
    /// Of what.
    pub voucher: VoucherId,
    /// Whose.
    pub user: UserId,
    /// When it was claimed.
    pub claimed: Timestamp,
    /// Why: see [`DeadReason::code`].
    pub reason: String,
    /// What the record said.
    pub detail: String,
    /// How often the record was asked to take it, replays included.
    pub attempts: u32,
    /// Whether it holds a unit of the sale.
    pub holds_unit: bool,
    /// When it died.
    pub buried: Timestamp,
    /// Where it stands.
    pub state: DeadState,
    /// When it was replayed or voided.
    pub closed: Option<Timestamp>,
}

/// What became of a replay.
#[must_use]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Replayed {
    /// It is an order: by this call or an earlier one. The order as it is now.
    Order(Order),
    /// The record refuses it still, for this reason and in these words. It counts as an attempt.
    Refused(DeadReason, String),
    /// It was given up before.
    Voided,
    /// There is no such dead letter.
    Unknown,
}

/// What became of voiding.
#[must_use]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Voided {
    /// It is given up, by this call or an earlier one.
    Void(DeadLetter),
    /// It is an order, which can be voided itself.
    Replayed(DeadLetter),
    /// There is no such dead letter.
    Unknown,
}

/// Dead letters: a part of the record. [`Orders::persist`](crate::Orders::persist) and
/// [`Orders::bury`](crate::Orders::bury) write them, and they are never removed.
///
/// - An open one that holds a unit keeps it from the record's stock, and stands for its user's order
///   ([`Orders::holding`](crate::Orders::holding)). One that is closed holds nothing.
/// - Whatever became of it, its claim stays settled: the log may hand it out again, and nothing happens.
/// - Every call is its own transaction and durable when it answers.
#[async_trait]
pub trait DeadLetters: Send + Sync {
    /// A page of them, all or those in a state, the last that died first, and how many there are in all.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn page(&self, state: Option<DeadState>, page: Page) -> Result<(Vec<DeadLetter>, u64), StoreError>;

    /// Those of an order id, by their own: more than one only if claims of several users had the same.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn of_order(&self, order: OrderId) -> Result<Vec<DeadLetter>, StoreError>;

    /// Tries again to make it an order, unpaid, with as long to pay as the sale gives. Its unit
    /// becomes the order's; one that holds none takes one from the record's stock.
    ///
    /// # Errors
    /// [`StoreError`]: nothing changed, or the answer was lost; call again.
    async fn replay(&self, letter: DeadLetterId, now: Timestamp) -> Result<Replayed, StoreError>;

    /// Gives it up: its unit, if it holds one, goes back to the record's stock. Giving it back to
    /// [`Sales`](crate::Sales) is the caller's next step.
    ///
    /// # Errors
    /// [`StoreError`]: nothing changed, or the answer was lost; call again.
    async fn void(&self, letter: DeadLetterId, now: Timestamp) -> Result<Voided, StoreError>;
}
