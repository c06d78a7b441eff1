//! A mall that moves in from elsewhere, with the ids it had there.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;

use crate::{
    Card, NO_DEADLINE, OrderId, OrderStatus, PaymentMode, Shop, ShopId, ShopType, StoreError, Timestamp,
    User, UserId, VoucherId, VoucherText,
};

/// One thing that moves in.
#[derive(Clone, PartialEq, Debug)]
pub enum ImportRow {
    /// A setting of the mall, such as its time zone.
    Setting(&'static str, String),
    /// A kind of shop.
    ShopType(ShopType),
    /// A shop.
    Shop(Shop),
    /// A person, with what is stored for their password.
    User(User, Option<String>),
    /// What a person tells about themselves.
    Card(UserId, Card),
    /// A voucher.
    Voucher(ImportedVoucher),
    /// The terms of a voucher that is a sale.
    Sale(ImportedSale),
    /// An order, of a sale or not.
    Order(ImportedOrder),
    /// A note.
    Note(ImportedNote),
    /// A comment on a note.
    Comment(ImportedComment),
    /// One person follows another.
    Follow {
        /// Who follows.
        follower: UserId,
        /// Whom.
        followee: UserId,
        /// Since when.
        since: Timestamp,
    },
    /// A person signed in on a day.
    Sign {
        /// Who.
        user: UserId,
        /// `2026-11-21`.
        day: String,
        /// Whether it was made up for later.
        made_up: bool,
    },
}

/// A voucher that moves in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImportedVoucher {
    /// Which.
    pub id: VoucherId,
    /// What is told about it.
    pub text: VoucherText,
    /// Whether it calls itself a sale. Without an [`ImportedSale`] it becomes one that is over, with nothing left.
    pub is_sale: bool,
    /// Since when.
    pub created: Timestamp,
    /// Last change.
    pub updated: Timestamp,
}

/// A sale that moves in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImportedSale {
    /// Which.
    pub voucher: VoucherId,
    /// Units that nobody holds.
    pub remaining: u64,
    /// First instant at which a claim is taken.
    pub begin: Timestamp,
    /// First instant at which none is taken any more.
    pub end: Timestamp,
    /// Since when.
    pub created: Timestamp,
}

/// An order that moves in. What it costs is what its voucher costs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImportedOrder {
    /// Which. It need not be of this mall's form.
    pub id: OrderId,
    /// Of what.
    pub voucher: VoucherId,
    /// Whose.
    pub user: UserId,
    /// Where it stands.
    pub status: OrderStatus,
    /// 1 balance, 2 Alipay, 3 WeChat.
    pub pay_type: u8,
    /// When it was made.
    pub created: Timestamp,
    /// When it was paid.
    pub paid: Option<Timestamp>,
    /// When it was redeemed.
    pub used: Option<Timestamp>,
    /// When its money went back.
    pub refunded: Option<Timestamp>,
}

/// A note that moves in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImportedNote {
    /// Which.
    pub id: u64,
    /// About which shop.
    pub shop: ShopId,
    /// Whose.
    pub user: UserId,
    /// Its title.
    pub title: String,
    /// Comma-separated picture paths and addresses, `""` for none.
    pub images: String,
    /// What it says, as written.
    pub content: String,
    /// Likes it came with: those made here are added to them.
    pub liked: u64,
    /// Comments it says it has.
    pub comments: u64,
    /// Since when.
    pub created: Timestamp,
    /// Last change.
    pub updated: Timestamp,
}

/// A comment that moves in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImportedComment {
    /// Which.
    pub id: u64,
    /// On which note.
    pub note: u64,
    /// Whose.
    pub user: UserId,
    /// The comment it stands below; 0 for none.
    pub parent: u64,
    /// The comment it answers; 0 for none.
    pub answer: u64,
    /// What it says.
    pub content: String,
    /// Likes it came with.
    pub liked: u64,
    /// 0 to be seen, 1 reported, 2 hidden.
    pub status: u8,
    /// Since when.
    pub created: Timestamp,
}

/// What kind of thing something is that moves in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ImportKind {
    /// [`ImportRow::Card`].
    Card,
    /// [`ImportRow::Voucher`].
    Voucher,
    /// [`ImportRow::Sale`].
    Sale,
    /// [`ImportRow::Order`].
    Order,
    /// [`ImportRow::Note`].
    Note,
    /// [`ImportRow::Comment`].
    Comment,
    /// [`ImportRow::Follow`].
    Follow,
    /// [`ImportRow::Sign`].
    Sign,
}

/// What has ids that the mall draws itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ImportIds {
    /// Shops.
    Shops,
    /// People.
    Users,
    /// Vouchers, sales among them.
    Vouchers,
    /// Notes.
    Notes,
    /// Comments on notes.
    Comments,
}

/// What becomes of imported orders that nobody has paid.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum UnpaidOrders {
    /// Orders stay unpaid, keep their units, and have no deadline: [`NO_DEADLINE`](crate::NO_DEADLINE).
    #[default]
    Keep,
    /// Orders are cancelled, and sales get their units back.
    Cancel,
    /// Orders can be paid for this long from the import, and are then cancelled like any other.
    PayWithin(Duration),
}

/// How an import ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImportEnd {
    /// How long sales give their buyers to pay.
    pub pay_within: Duration,
    /// What becomes of orders that nobody has paid.
    pub unpaid: UnpaidOrders,
    /// The lowest id that the mall may draw next, where that is known; at most 2^62.
    pub next_ids: BTreeMap<ImportIds, u64>,
    /// The instant of the import.
    pub now: Timestamp,
}

impl ImportEnd {
    /// Keeps unpaid orders, and draws ids above those of the imported rows.
    #[must_use]
    pub fn new(pay_within: Duration, now: Timestamp) -> Self {
        Self { pay_within, unpaid: UnpaidOrders::default(), next_ids: BTreeMap::new(), now }
    }

    /// What is found of unpaid orders that are not cancelled, and their deadline.
    pub(crate) fn unpaid_that_stay(&self, payment: PaymentMode) -> (ImportFinding, Timestamp) {
        match (payment, self.unpaid) {
            (PaymentMode::None, _) => (ImportFinding::UnpaidFinal, NO_DEADLINE),
            (_, UnpaidOrders::PayWithin(span)) => (ImportFinding::UnpaidTimed, self.now + span),
            (_, UnpaidOrders::Keep | UnpaidOrders::Cancel) => (ImportFinding::UnpaidKept, NO_DEADLINE),
        }
    }
}

/// What was found when everything was there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ImportFinding {
    /// Of a user who did not move in: left out.
    NoUser,
    /// Of a voucher that did not move in: left out.
    NoVoucher,
    /// On a note that did not move in: left out.
    NoNote,
    /// A voucher or note of a shop that did not move in: kept.
    NoShop,
    /// A voucher that calls itself a sale and has no terms: kept, as a sale that is over.
    NoTerms,
    /// One more live order of the same user in the same sale: kept as a dead letter `DOUBLE`, which holds its unit.
    SecondLive,
    /// An unpaid order: kept without a deadline.
    UnpaidKept,
    /// An unpaid order: final, in a mall without payments.
    UnpaidFinal,
    /// An unpaid order: cancelled.
    UnpaidCancelled,
    /// An unpaid order: kept, with a new deadline.
    UnpaidTimed,
}

impl ImportFinding {
    /// Whether what it is about is not in the mall.
    #[must_use]
    pub fn is_left_out(self) -> bool {
        matches!(self, Self::NoUser | Self::NoVoucher | Self::NoNote)
    }
}

/// Things of one kind with one finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImportFindings {
    /// What they are.
    pub kind: ImportKind,
    /// What was found.
    pub finding: ImportFinding,
    /// How many.
    pub count: u64,
    /// The first few of their ids; of cards, follows and signs their users' ids.
    pub examples: Vec<u64>,
}

/// The way in for a whole mall.
///
/// - [`begin`](Import::begin) opens the one transaction that everything moves in by. Nobody sees anything of it before
///   [`Importing::finish`] answers, and nothing of it stays if that is not called, or fails, or the process ends.
/// - Rows may come in any order: what refers to what is looked at in the end.
/// - While somebody moves in, nobody else writes people, shops, vouchers or orders: such calls wait for the end, or fail as
///   [`StoreError::Unavailable`]. Everybody reads on.
/// - The mall's own ids go on above those that were put, perhaps even above those of an import that was given up.
#[async_trait]
pub trait Import: Send + Sync {
    /// Opens the transaction; `None` if the mall has a user, a shop or anything else already.
    ///
    /// # Errors
    /// [`StoreError`]: call again. Perhaps somebody else is moving in, or one who gave up is still being undone.
    async fn begin(&self) -> Result<Option<Box<dyn Importing>>, StoreError>;
}

/// Somebody who is moving in. Dropping it undoes everything.
#[async_trait]
pub trait Importing: Send {
    /// Writes rows; those marked take the place of an earlier one with their id. Answers for each whether it was written: if
    /// not, an earlier row has its id, or its phone, or is the same follow or day.
    ///
    /// # Errors
    /// [`StoreError`]: nothing of all that was put will stay.
    async fn put(&mut self, rows: Vec<(ImportRow, bool)>) -> Result<Vec<bool>, StoreError>;

    /// Leaves out what refers to nobody, and makes the rest one mall:
    ///
    /// - A sale's initial units are those that remain and those that its live orders hold.
    /// - Of several live orders of a user in a sale the one that is furthest stays; each other becomes a dead letter.
    /// - Orders take the [`PaymentMode`] that moved in as a setting. In [`PaymentMode::None`] unpaid orders that are not
    ///   cancelled are final, as where they come from; in any other they follow [`ImportEnd::unpaid`].
    /// - Sales give their buyers [`ImportEnd::pay_within`].
    /// - A paid order has a captured payment, a refunded one a payment that was given back, unless the mode is
    ///   [`PaymentMode::None`].
    /// - An answer that stands below no comment of its own note, or below another answer, stands below the note itself.
    /// - No note says that it has fewer comments than came with it.
    /// - Order numbers that the mall's own scheme could give again are passed over.
    /// - The mall draws ids from [`ImportEnd::next_ids`] on, or above the highest imported id if that is higher.
    ///
    /// # Errors
    /// [`StoreError`]: nothing of all that was put stays; if the commit's answer was lost, it may.
    async fn finish(self: Box<Self>, end: ImportEnd) -> Result<Vec<ImportFindings>, StoreError>;
}
