//! The archive: old days of a ledger, each in a compressed file outside of the ledger's table.
//!
//! Reasons: `storage/decisions/0031-archive.md`.

mod format;
mod vote_line;
mod votes;

use std::fmt;

use async_trait::async_trait;

use crate::{Day, StoreError, Timestamp, UserId};

pub use format::{ArchiveFault, DayReader, DayWriter};
pub use vote_line::vote_text;
pub use votes::{ArchiveOutcome, ArchivedVotes, LineCursor, LinesPage};

/// Upper bound on the bytes of a part: a part fits a packet of every MySQL server with default settings.
pub const PART_MAX_BYTES: usize = 1 << 20;

/// A ledger whose old days can be archived.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ArchiveLedger {
    /// The ledger of votes for reviews ([`VoteLine`](crate::VoteLine)).
    Votes,
}

impl ArchiveLedger {
    /// All ledgers.
    pub const ALL: [Self; 1] = [Self::Votes];

    /// Returns the name in files, commands and paths.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Votes => "votes",
        }
    }

    /// Returns the ledger of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ledger| ledger.name() == name)
    }
}

impl fmt::Display for ArchiveLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A day of a ledger in the archive. Days are those of UTC: two versions of the program may know other rules
/// of the mall's zone, and their days would overlap or leave a gap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArchivedDay {
    /// The ledger.
    pub ledger: ArchiveLedger,
    /// The day.
    pub day: Day,
    /// Lines in the file.
    pub lines: u64,
    /// Bytes of the compressed file.
    pub bytes: u64,
    /// Bytes of the text inside.
    pub text_bytes: u64,
    /// SHA-256 of the compressed file.
    pub sha256: [u8; 32],
    /// Time of the archiving.
    pub archived: Timestamp,
}

impl ArchivedDay {
    /// Returns the name of the day's file.
    #[must_use]
    pub fn file_name(&self) -> String {
        archive_file_name(self.ledger, self.day)
    }
}

/// Returns the name of the file of a ledger's day.
#[must_use]
pub fn archive_file_name(ledger: ArchiveLedger, day: Day) -> String {
    format!("{ledger}-{day}.jsonl.gz")
}

/// A file being written: visible to its writer alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArchiveDraft {
    /// The ledger.
    pub ledger: ArchiveLedger,
    /// The day.
    pub day: Day,
    /// Number of the draft, drawn at random.
    pub number: u64,
}

/// Outcome of registering a day.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RegisterOutcome {
    /// The day is archived from now on.
    Registered,
    /// The day was archived before; the draft is discarded.
    AlreadyArchived,
    /// The draft does not exist, or has not the announced length; nothing changed.
    DraftGone,
}

/// Files of archived days.
///
/// - A file consists of *parts*, each at most [`PART_MAX_BYTES`] and compressed on its own. [`DayWriter`] and
///   [`DayReader`] know the contents; this port stores bytes.
/// - A day is *archived* once registered. [`register`](Archive::register) makes the whole file durable before
///   the registration: an archived day has its file, whatever crashes when.
/// - Archived days never change, and are never removed.
/// - Drafts left by a crash cost space only. [`begin`](Archive::begin) removes old ones.
#[async_trait]
pub trait Archive: Send + Sync {
    /// Begins the file of a day.
    ///
    /// # Errors
    /// Any [`StoreError`]; [`StoreError::Full`] where the disk has no room to spare. Call again.
    async fn begin(
        &self,
        ledger: ArchiveLedger,
        day: Day,
        now: Timestamp,
    ) -> Result<ArchiveDraft, StoreError>;

    /// Writes a part at an offset, the end of the part before. `users` occur in the part, and are found by
    /// [`days_of`](Archive::days_of) later. Idempotent. Returns false if the draft does not exist any more.
    ///
    /// # Errors
    /// As [`begin`](Archive::begin).
    async fn append(
        &self,
        draft: ArchiveDraft,
        at: u64,
        part: Vec<u8>,
        users: Vec<UserId>,
    ) -> Result<bool, StoreError>;

    /// Registers the draft as the file of its day: durable when the call returns. The first registration of a
    /// day wins. `day` must have ledger and day of the draft.
    ///
    /// # Errors
    /// Any [`StoreError`]: the day may or may not be archived. Look with [`day`](Archive::day).
    async fn register(&self, draft: ArchiveDraft, day: ArchivedDay) -> Result<RegisterOutcome, StoreError>;

    /// Removes a draft, if it exists.
    ///
    /// # Errors
    /// Any [`StoreError`]: the draft stays, and costs space.
    async fn discard(&self, draft: ArchiveDraft) -> Result<(), StoreError>;

    /// Returns up to `max` archived days behind `after`, oldest first; `None` begins.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn days(
        &self,
        ledger: ArchiveLedger,
        after: Option<Day>,
        max: u32,
    ) -> Result<Vec<ArchivedDay>, StoreError>;

    /// Returns an archived day.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn day(&self, ledger: ArchiveLedger, day: Day) -> Result<Option<ArchivedDay>, StoreError>;

    /// Returns up to `max` archived days behind `after` that may have lines of a user, oldest first; `None`
    /// begins. A day may lack lines of the user after all, but no day with lines is left out.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn days_of(
        &self,
        ledger: ArchiveLedger,
        user: UserId,
        after: Option<Day>,
        max: u32,
    ) -> Result<Vec<ArchivedDay>, StoreError>;

    /// Reads the file of an archived day: at least the whole part that begins at offset `at`, at most
    /// [`PART_MAX_BYTES`]. Empty at the end of the file. `None` without a file.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn read(&self, ledger: ArchiveLedger, day: Day, at: u64) -> Result<Option<Vec<u8>>, StoreError>;

    /// Returns up to `max` names of files in the archive that belong to no archived day, sorted. Drafts are
    /// left out. A back end without files has none.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn strays(&self, max: u32) -> Result<Vec<String>, StoreError>;
}

/// Milliseconds of a day.
const DAY_MS: i64 = 86_400_000;

/// Returns the day of UTC in which an instant lies; `None` outside the supported years.
#[must_use]
pub fn utc_day(at: Timestamp) -> Option<Day> {
    Day::from_number(i32::try_from(at.as_millis().div_euclid(DAY_MS)).ok()?)
}

/// Returns the first instant of a day of UTC, and the first instant behind the day.
#[must_use]
pub fn utc_span(day: Day) -> (Timestamp, Timestamp) {
    let from = i64::from(day.number()) * DAY_MS;
    (Timestamp::from_millis(from), Timestamp::from_millis(from + DAY_MS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_of_utc_begins_at_its_midnight_and_ends_before_the_next() {
        let day = Day::parse("2026-11-24").unwrap();
        let (from, until) = utc_span(day);
        assert_eq!(from.as_millis(), 1_795_478_400_000);
        let last = Timestamp::from_millis(until.as_millis() - 1);
        assert_eq!([from, last, until].map(utc_day), [Some(day), Some(day), Day::parse("2026-11-25")]);
        assert_eq!(utc_day(Timestamp::from_millis(-1)), Day::parse("1969-12-31"));
        assert_eq!(utc_day(Timestamp::MAX), None);
    }

    #[test]
    fn a_ledger_has_one_name_everywhere() {
        for ledger in ArchiveLedger::ALL {
            assert_eq!(ArchiveLedger::named(ledger.name()), Some(ledger));
        }
        assert_eq!(ArchiveLedger::named("orders"), None);
        let day = Day::parse("2026-11-24").unwrap();
        assert_eq!(archive_file_name(ArchiveLedger::Votes, day), "votes-2026-11-24.jsonl.gz");
    }
}
