//! Import of a whole mall from elsewhere, with its ids.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;

use crate::{
    CommentId, NO_DEADLINE, NoteId, OrderId, OrderStatus, PaymentMode, Profile, Shop, ShopId, ShopType,
    StoreError, Timestamp, User, UserId, VoucherId, VoucherText,
};

/// One imported row.
#[derive(Clone, PartialEq, Debug)]
pub enum ImportRow {
    /// A setting of the mall, such as the time zone.
    Setting(&'static str, String),
    /// A shop type.
    ShopType(ShopType),
    /// A shop, with its own id.
    Shop(Shop),
    /// A user, with the stored password hash if any.
    User(User, Option<String>),
    /// A user's profile.
    Card(UserId, Profile),
    /// A voucher, possibly of a sale.
    Voucher(ImportedVoucher),
    /// The terms of a flash-sale voucher.
    Sale(ImportedSale),
    /// An order, of a sale or not.
    Order(ImportedOrder),
    /// A note about a shop.
    Note(ImportedNote),
    /// A comment on a note.
    Comment(ImportedComment),
    /// A follow relation between users.
    Follow {
        /// The user who follows.
        follower: UserId,
        /// The user being followed.
        followee: UserId,
        /// Time of the follow.
        since: Timestamp,
    },
    /// A user's sign-in on one day.
    Sign {
        /// The user who signed in.
        user: UserId,
        /// The day, as `2026-11-21`.
        day: String,
        /// Whether the sign-in was made up for later.
        made_up: bool,
    },
}

/// An imported voucher.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImportedVoucher {
    /// Id of the voucher.
    pub id: VoucherId,
    /// Description of the voucher.
    pub text: VoucherText,
    /// Whether the voucher is marked as a flash sale. Without an [`ImportedSale`], the sale is imported as
    /// ended, with no units left.
    pub is_sale: bool,
    /// Time of creation.
    pub created: Timestamp,
    /// Time of the last change.
    pub updated: Timestamp,
}

/// An imported flash sale.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImportedSale {
    /// Id of the sale's voucher.
    pub voucher: VoucherId,
    /// Units not held by any order.
    pub remaining: u64,
    /// First instant at which claims are accepted.
    pub begin: Timestamp,
    /// First instant at which claims are refused again (exclusive end).
    pub end: Timestamp,
    /// Time of creation.
    pub created: Timestamp,
}

/// An imported order. Its price is that of the voucher.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImportedOrder {
    /// Id of the order; need not have the form of this mall's ids.
    pub id: OrderId,
    /// The voucher bought.
    pub voucher: VoucherId,
    /// Id of the buyer.
    pub user: UserId,
    /// Status of the order.
    pub status: OrderStatus,
    /// Payment type: 1 balance, 2 Alipay, 3 WeChat.
    pub pay_type: u8,
    /// Time of the purchase.
    pub created: Timestamp,
    /// Time of the payment.
    pub paid: Option<Timestamp>,
    /// Time of redemption.
    pub used: Option<Timestamp>,
    /// Time of the refund.
    pub refunded: Option<Timestamp>,
}

/// An imported note.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImportedNote {
    /// Id of the note.
    pub id: NoteId,
    /// The shop described.
    pub shop: ShopId,
    /// Author of the note.
    pub user: UserId,
    /// Title of the note.
    pub title: String,
    /// Comma-separated picture paths and addresses, `""` for none.
    pub images: String,
    /// Text of the note, unchanged.
    pub content: String,
    /// Imported number of likes; likes given in the mall are added.
    pub liked: u64,
    /// Number of comments that the note claims to have.
    pub comments: u64,
    /// Time of writing.
    pub created: Timestamp,
    /// Time of the last change.
    pub updated: Timestamp,
}

/// An imported comment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImportedComment {
    /// Id of the comment.
    pub id: CommentId,
    /// Id of the note commented on.
    pub note: NoteId,
    /// Author of the comment.
    pub user: UserId,
    /// The comment above a reply.
    pub parent: Option<CommentId>,
    /// The comment replied to.
    pub answers: Option<CommentId>,
    /// Text of the comment.
    pub content: String,
    /// Imported number of likes.
    pub liked: u64,
    /// Visibility: 0 shown, 1 reported, 2 hidden.
    pub status: u8,
    /// Time of writing.
    pub created: Timestamp,
}

/// Kind of an imported row, for [`ImportFindings`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ImportRowKind {
    /// Kind of [`ImportRow::Card`].
    Card,
    /// Kind of [`ImportRow::Voucher`].
    Voucher,
    /// Kind of [`ImportRow::Sale`].
    Sale,
    /// Kind of [`ImportRow::Order`].
    Order,
    /// Kind of [`ImportRow::Note`].
    Note,
    /// Kind of [`ImportRow::Comment`].
    Comment,
    /// Kind of [`ImportRow::Follow`].
    Follow,
    /// Kind of [`ImportRow::Sign`].
    Sign,
}

/// Id sequences of the mall that an import can move forward.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ImportSequence {
    /// Ids of shops.
    Shops,
    /// Ids of users.
    Users,
    /// Ids of vouchers, flash sales included.
    Vouchers,
    /// Ids of notes.
    Notes,
    /// Ids of comments.
    Comments,
}

/// Treatment of imported unpaid orders.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum UnpaidOrders {
    /// Orders stay unpaid, keep their units, and have no deadline: [`NO_DEADLINE`].
    #[default]
    Keep,
    /// Orders are cancelled, and their units return to the sales.
    Cancel,
    /// Orders can be paid for this long from the import, and are then cancelled like any other order.
    PayWithin(Duration),
}

/// Parameters of the final step of an import.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FinishOptions {
    /// Time to pay in the imported sales.
    pub pay_within: Duration,
    /// Treatment of unpaid orders.
    pub unpaid: UnpaidOrders,
    /// Lower bounds for the next ids to assign, where known; at most 2^62.
    pub next_ids: BTreeMap<ImportSequence, u64>,
    /// Time of the import.
    pub now: Timestamp,
}

impl FinishOptions {
    /// Creates the default: keep unpaid orders, and assign ids above those of the imported rows.
    #[must_use]
    pub fn new(pay_within: Duration, now: Timestamp) -> Self {
        Self { pay_within, unpaid: UnpaidOrders::default(), next_ids: BTreeMap::new(), now }
    }

    /// Returns the finding and the deadline for unpaid orders that are not cancelled.
    pub fn unpaid_that_stay(&self, payment: PaymentMode) -> (ImportFinding, Timestamp) {
        match (payment, self.unpaid) {
            (PaymentMode::None, _) => (ImportFinding::UnpaidFinal, NO_DEADLINE),
            (_, UnpaidOrders::PayWithin(span)) => (ImportFinding::UnpaidTimed, self.now + span),
            (_, UnpaidOrders::Keep | UnpaidOrders::Cancel) => (ImportFinding::UnpaidKept, NO_DEADLINE),
        }
    }
}

/// Finding about a row, made after all rows were imported.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ImportFinding {
    /// The user was not imported: row left out.
    NoUser,
    /// The voucher was not imported: row left out.
    NoVoucher,
    /// The note was not imported: row left out.
    NoNote,
    /// The shop of a voucher or note was not imported: row kept.
    NoShop,
    /// A voucher marked as a sale has no terms: kept, as an ended sale.
    NoTerms,
    /// Second live order of a user in a sale: kept as a dead letter `DOUBLE`, which holds its unit.
    SecondLive,
    /// Unpaid order: kept without a deadline.
    UnpaidKept,
    /// Unpaid order: final, in a mall without payments.
    UnpaidFinal,
    /// Unpaid order: cancelled.
    UnpaidCancelled,
    /// Unpaid order: kept, with a new deadline.
    UnpaidTimed,
}

impl ImportFinding {
    /// Returns whether the row is missing from the mall.
    #[must_use]
    pub fn is_left_out(self) -> bool {
        matches!(self, Self::NoUser | Self::NoVoucher | Self::NoNote)
    }
}

/// Number of rows of one kind with one finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImportFindings {
    /// Kind of the rows.
    pub kind: ImportRowKind,
    /// Finding about the rows.
    pub finding: ImportFinding,
    /// Number of rows.
    pub count: u64,
    /// Ids of the first few rows; for cards, follows and sign-ins, the users' ids.
    pub examples: Vec<u64>,
}

/// Import of a whole mall into an empty one.
///
/// - [`begin`](Import::begin) opens a single transaction for the entire import. Nothing is visible before
///   [`Importing::finish`] returns, and nothing remains if `finish` is not called, fails, or the process
///   ends.
/// - Rows may arrive in any order: references are checked at the end.
/// - During an import, writes of users, shops, vouchers or orders by others wait for the end, or fail with
///   [`StoreError::Unavailable`]. Reads continue.
/// - The mall's own ids continue above the imported ones, possibly even above those of an abandoned import.
#[async_trait]
pub trait Import: Send + Sync {
    /// Opens the transaction; `None` if the mall is not empty: if a user, a shop or anything else exists.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again. Another import may be running, or an abandoned one is still being
    /// rolled back.
    async fn begin(&self) -> Result<Option<Box<dyn Importing>>, StoreError>;
}

/// An import in progress. Dropping the value rolls everything back.
#[async_trait]
pub trait Importing: Send {
    /// Writes rows. A row marked `true` replaces an earlier row with the same id. Returns for each row
    /// whether the row was written: `false` if an earlier row has the same id or phone, or is the same follow
    /// or sign-in.
    ///
    /// # Errors
    /// Any [`StoreError`]: the whole import will be rolled back.
    async fn put(&mut self, rows: Vec<(ImportRow, bool)>) -> Result<Vec<bool>, StoreError>;

    /// Removes rows with dangling references, makes the rest a consistent mall, and commits:
    ///
    /// - Initial units of a sale = remaining units + units held by live orders.
    /// - Of several live orders of a user in a sale, the most advanced one stays; each other becomes a dead
    ///   letter.
    /// - Orders take the [`PaymentMode`] imported as a setting. In [`PaymentMode::None`], unpaid orders that
    ///   are not cancelled are final, as in their original mall; in any other mode they follow
    ///   [`FinishOptions::unpaid`].
    /// - Sales get [`FinishOptions::pay_within`] as their time to pay.
    /// - Unless the mode is [`PaymentMode::None`], a paid order gets a captured payment, and a refunded order
    ///   a refunded payment.
    /// - A reply whose parent is missing, belongs to another note, or is itself a reply becomes a top-level
    ///   comment.
    /// - A note's claimed comment count is raised to the number of imported comments if lower.
    /// - Order numbers that the mall's own scheme could assign again are skipped.
    /// - New ids start at [`FinishOptions::next_ids`], or above the highest imported id if that is higher.
    ///
    /// # Errors
    /// Any [`StoreError`]: the whole import is rolled back. If only the response to the commit was lost, the
    /// import may have been committed.
    async fn finish(self: Box<Self>, end: FinishOptions) -> Result<Vec<ImportFindings>, StoreError>;
}
