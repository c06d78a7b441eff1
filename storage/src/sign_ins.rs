//! The days on which people sign in.

use async_trait::async_trait;

use crate::{Day, DaySpan, Page, StoreError, UserId};

/// A day on which somebody signed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SignedDay {
    /// Which.
    pub day: Day,
    /// Whether it was made up for later.
    pub is_made_up: bool,
}

/// What became of making up a day.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum MakeUp {
    /// The day counts as signed.
    Done,
    /// It was signed before, on the day or later: nothing changed.
    SignedAlready,
    /// As many days of its month as may be are made up: nothing changed.
    TooMany,
}

/// The days on which people sign in.
///
/// - A user and a day are signed or not, once and for ever. Days are those of the mall's wall: which one is today is the
///   caller's to say, and so is who exists and which days may be signed.
/// - What is answered is durable, and seen by every call that begins after it, with one exception: see below.
/// - A streak is a number of days in a row. It goes across months and years, and days that were made up are as good as
///   others.
/// - Lists are by day, or by user.
/// - [`counts`](Self::counts) and [`signed_all`](Self::signed_all) look at everybody, and are for operators. After a process
///   was killed in the middle of [`sign`](Self::sign), or Redis failed there, they may miss that sign-in for
///   [an hour](crate::production::redis::SIGNS_KEPT) at the most. They may ask to be called again while days are read that were not asked for
///   lately: about a second for a million users and a day.
/// - Cost: some microseconds in a directory. On servers, what a user is told is a short range of the record's keys, and what
///   is told of everybody a call of Redis.
#[async_trait]
pub trait SignIns: Send + Sync {
    /// Signs a user in on a day. Whether that is new.
    ///
    /// # Errors
    /// [`StoreError`]: it may be done or not; call again.
    async fn sign(&self, user: UserId, day: Day) -> Result<bool, StoreError>;

    /// Makes up for a day that a user missed, unless `most` days of its month are made up already. Of any number of
    /// concurrent calls for a user who is in the record, no more than that succeed.
    ///
    /// # Errors
    /// [`StoreError`]: it may be done or not; call again.
    async fn make_up(&self, user: UserId, day: Day, most: u32) -> Result<MakeUp, StoreError>;

    /// The days of a span on which a user signed.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn days(&self, user: UserId, span: DaySpan) -> Result<Vec<SignedDay>, StoreError>;

    /// How many days in a row a user has signed up to this one; up to the day before, if this one is not signed (yet).
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn streak(&self, user: UserId, up_to: Day) -> Result<u32, StoreError>;

    /// The most days in a row on which a user ever signed.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn longest_streak(&self, user: UserId) -> Result<u32, StoreError>;

    /// How many signed on each day of a span, first to last.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn counts(&self, span: DaySpan) -> Result<Vec<u64>, StoreError>;

    /// A page of those who signed on every day of a span, and how many they are.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn signed_all(&self, span: DaySpan, page: Page) -> Result<(Vec<UserId>, u64), StoreError>;
}

/// The most days in a row among these, each later than the one before.
pub(crate) fn longest_run(days: impl IntoIterator<Item = Day>) -> u32 {
    let (mut longest, mut run, mut last) = (0, 0, None);
    for day in days {
        run = if last.is_some() && last == day.before() { run + 1 } else { 1 };
        longest = longest.max(run);
        last = Some(day);
    }
    longest
}

/// Counts the days in a row up to a day, or up to the one before it. Told of signed days from the latest down.
pub(crate) struct StreakUpTo {
    up_to: Day,
    length: u32,
    next: Option<Day>,
}

impl StreakUpTo {
    pub(crate) fn new(up_to: Day) -> Self {
        Self { up_to, length: 0, next: Some(up_to) }
    }

    /// Whether this day still is one of the streak. After the first that is not, it has its length.
    pub(crate) fn goes_on(&mut self, day: Day) -> bool {
        let begins_late = self.length == 0 && Some(day) == self.up_to.before();
        if Some(day) != self.next && !begins_late {
            return false;
        }
        self.length += 1;
        self.next = day.before();
        true
    }

    pub(crate) fn length(&self) -> u32 {
        self.length
    }
}
