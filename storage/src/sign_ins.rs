//! Daily sign-ins of users.

use async_trait::async_trait;

use crate::{Day, DaySpan, Page, StoreError, Timestamp, UserId};

/// A day on which a user signed in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SignedDay {
    /// The day, in the mall's time zone.
    pub day: Day,
    /// Whether the sign-in was made up for later.
    pub is_made_up: bool,
}

/// Outcome of making up for a missed day.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum MakeUpOutcome {
    /// The day now counts as signed.
    Done,
    /// The day was already signed, on time or later; nothing changed.
    SignedAlready,
    /// The monthly limit of made-up days is reached; nothing changed.
    TooMany,
}

/// Daily sign-ins of users.
///
/// - A sign-in of a user on a day is permanent. Days are in the mall's time zone; the caller determines which
///   day is today, which users exist and which days may be signed.
/// - Sign-ins are durable when the call returns, and visible to every later call; for the exception see
///   below.
/// - A new sign-in earns [`SIGN_IN_CREDITS`](crate::SIGN_IN_CREDITS) in the same transaction; a day that is
///   made up earns none.
/// - A streak is a number of consecutive days, across months and years. Made-up days count fully.
/// - Lists are ordered by day, or by user.
/// - [`counts`](Self::counts) and [`signed_all`](Self::signed_all) scan all users, and are for operators. If
///   a process was killed, or Redis failed, in the middle of a [`sign`](Self::sign), both may miss that
///   sign-in for up to an hour. While loading days not requested
///   recently, both may ask the caller to call again: about a second for a million users and one day.
/// - Cost: some microseconds in a directory. On servers, queries about one user read a short key range of the
///   database, and queries about all users call Redis.
#[async_trait]
pub trait SignIns: Send + Sync {
    /// Signs a user in on a day, and adds the day's credits. Returns whether the sign-in is new.
    ///
    /// # Errors
    /// Any [`StoreError`]: the outcome is in doubt; call again.
    async fn sign(&self, user: UserId, day: Day, now: Timestamp) -> Result<bool, StoreError>;

    /// Makes up for a day that a user missed, unless `most` days of its month are made up already. The limit
    /// holds under concurrent calls for a user in the database.
    ///
    /// # Errors
    /// Any [`StoreError`]: the outcome is in doubt; call again.
    async fn make_up(&self, user: UserId, day: Day, most: u32) -> Result<MakeUpOutcome, StoreError>;

    /// Returns the days of a range on which a user signed in.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn days(&self, user: UserId, span: DaySpan) -> Result<Vec<SignedDay>, StoreError>;

    /// Returns the length of a user's streak up to `up_to`, or up to the day before if `up_to` is not signed
    /// (yet).
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn streak(&self, user: UserId, up_to: Day) -> Result<u32, StoreError>;

    /// Returns the length of a user's longest streak ever.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn longest_streak(&self, user: UserId) -> Result<u32, StoreError>;

    /// Returns the number of sign-ins on each day of a range, in order.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn counts(&self, span: DaySpan) -> Result<Vec<u64>, StoreError>;

    /// Returns a page of the users who signed in on every day of a range, and their total number.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn signed_all(&self, span: DaySpan, page: Page) -> Result<(Vec<UserId>, u64), StoreError>;
}

/// Returns the length of the longest run of consecutive days in an ascending sequence.
pub fn longest_run(days: impl IntoIterator<Item = Day>) -> u32 {
    let (mut longest, mut run, mut last) = (0, 0, None);
    for day in days {
        run = if last.is_some() && last == day.before() { run + 1 } else { 1 };
        longest = longest.max(run);
        last = Some(day);
    }
    longest
}

/// Computes the streak up to a day, or up to the day before, from signed days in descending order.
pub struct StreakUpTo {
    up_to: Day,
    length: u32,
    next: Option<Day>,
}

impl StreakUpTo {
    /// Starts a streak that ends on `up_to`, or on the day before.
    #[must_use]
    pub fn new(up_to: Day) -> Self {
        Self { up_to, length: 0, next: Some(up_to) }
    }

    /// Adds a signed day. Returns whether the day belongs to the streak; after the first `false`, the length
    /// is final.
    pub fn goes_on(&mut self, day: Day) -> bool {
        let begins_late = self.length == 0 && Some(day) == self.up_to.before();
        if Some(day) != self.next && !begins_late {
            return false;
        }
        self.length += 1;
        self.next = day.before();
        true
    }

    /// Returns the days counted so far.
    #[must_use]
    pub fn length(&self) -> u32 {
        self.length
    }
}
