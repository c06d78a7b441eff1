//! Archiving and reading days of the ledger of votes, over the ports.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use super::format::decode_part;
use super::vote_line::vote_in;
use super::{
    Archive, ArchiveDraft, ArchiveFault, ArchiveLedger, ArchivedDay, DayReader, DayWriter, RegisterOutcome,
    utc_day, utc_span, vote_text,
};
use crate::{Day, ReviewId, Source, Storage, StoreError, Timestamp, UserId, VoteCursor, VoteLine, VoteLines};

const LEDGER: ArchiveLedger = ArchiveLedger::Votes;
const OP: &str = "archive votes";
/// Lines of a part: some 200 KiB of text.
const LINES_PER_PART: u32 = 2_048;
/// Lines removed from the table per transaction: a vote waits some milliseconds for one.
const LINES_PER_REMOVAL: usize = 256;

/// Outcome of archiving a day.
#[must_use]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ArchiveOutcome {
    /// The day is archived.
    Archived {
        /// The day's file.
        day: ArchivedDay,
        /// Whether this call wrote the file.
        is_new: bool,
        /// Lines removed from the table by this call.
        removed: u64,
    },
    /// The day was archived before, and its file has a fault. No line was removed.
    Damaged {
        /// The day's file.
        day: ArchivedDay,
        /// The fault.
        fault: ArchiveFault,
    },
    /// Another process removed the draft. Nothing changed; call again.
    Interrupted,
}

/// Place in the file of an archived day: a part, and lines of the part already read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LineCursor {
    /// Offset of the part.
    pub at: u64,
    /// Lines of the part before the next line.
    pub skip: u32,
}

/// Lines of an archived day, oldest first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinesPage {
    /// The lines.
    pub lines: Vec<VoteLine>,
    /// Place of the next line; `None` at the end.
    pub next: Option<LineCursor>,
}

/// Archived days of the ledger of votes. Cheap to clone.
#[derive(Clone)]
pub struct ArchivedVotes {
    archive: Arc<dyn Archive>,
    table: Arc<dyn VoteLines>,
}

impl ArchivedVotes {
    /// Creates the service on the ports of a storage.
    #[must_use]
    pub fn of(storage: &Storage) -> Self {
        Self {
            archive: Arc::clone(&storage.operator.archive),
            table: Arc::clone(&storage.writing.vote_lines),
        }
    }

    /// Returns the first day from `from` to before `before` that has something to archive: lines without a
    /// file, or lines in the table that decide nothing any more.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn next_day(&self, from: Option<Day>, before: Day) -> Result<Option<Day>, StoreError> {
        let (end, _) = utc_span(before);
        let mut since = from.map_or(Timestamp::from_millis(i64::MIN), |from| utc_span(from).0);
        while let Some(first) = self.table.first_since(since).await?.filter(|first| *first < end) {
            let Some(day) = utc_day(first) else {
                // A line before the supported years: the first day of all is as good as any to begin.
                since = utc_span(Day::from_number(0).ok_or_else(|| corrupt("day 0"))?).0;
                continue;
            };
            let (from, until) = utc_span(day);
            if self.archive.day(LEDGER, day).await?.is_none() || self.table.has_idle(from, until).await? {
                return Ok(Some(day));
            }
            since = until;
        }
        Ok(None)
    }

    /// Writes the file of a day, unless the day is archived, and removes those of its lines from the table
    /// that decide nothing any more. The file is durable, read back and checked before the first line is
    /// removed. A crash at any moment loses no line; a repeat ends in the same state.
    ///
    /// Lines written to an archived day later, by a clock that lags behind, stay in the table.
    ///
    /// # Errors
    /// Any [`StoreError`]: no line is lost; call again.
    pub async fn archive(&self, day: Day, now: Timestamp) -> Result<ArchiveOutcome, StoreError> {
        let before = self.archive.day(LEDGER, day).await?;
        let is_new = before.is_none();
        let archived = match before {
            Some(archived) => archived,
            None => match self.write(day, now).await? {
                Some(archived) => archived,
                None => return Ok(ArchiveOutcome::Interrupted),
            },
        };
        if let Some(fault) = self.check(archived).await? {
            return Ok(ArchiveOutcome::Damaged { day: archived, fault });
        }
        let removed = self.remove(archived).await?;
        Ok(ArchiveOutcome::Archived { day: archived, is_new, removed })
    }

    /// Writes and registers the file of a day. Returns `None` if the draft disappeared.
    async fn write(&self, day: Day, now: Timestamp) -> Result<Option<ArchivedDay>, StoreError> {
        let draft = self.archive.begin(LEDGER, day, now).await?;
        let written = self.write_draft(draft, now).await;
        if !matches!(written, Ok(Some(_)))
            && let Err(error) = self.archive.discard(draft).await
        {
            tracing::warn!(%error, "could not remove an unfinished file of the archive");
        }
        written
    }

    async fn write_draft(
        &self,
        draft: ArchiveDraft,
        now: Timestamp,
    ) -> Result<Option<ArchivedDay>, StoreError> {
        let (from, until) = utc_span(draft.day);
        let mut writer = DayWriter::new(LEDGER, draft.day);
        let mut after = None;
        loop {
            let lines = self.table.between(from, until, after, LINES_PER_PART).await?;
            after =
                lines.last().map(|line| VoteCursor { at: line.at, review: line.review, number: line.number });
            let is_last = lines.len() as u64 != u64::from(LINES_PER_PART);
            let users = lines.iter().filter_map(|line| line.user).collect::<BTreeSet<_>>();
            let at = writer.bytes();
            let part =
                writer.part(&lines.iter().map(vote_text).collect::<Vec<_>>(), is_last).map_err(refused)?;
            if !self.archive.append(draft, at, part, users.into_iter().collect()).await? {
                return Ok(None);
            }
            if is_last {
                break;
            }
        }
        let archived = writer.finish(now);
        match self.archive.register(draft, archived).await? {
            RegisterOutcome::Registered => Ok(Some(archived)),
            RegisterOutcome::AlreadyArchived => self.archive.day(LEDGER, draft.day).await,
            RegisterOutcome::DraftGone => Ok(None),
        }
    }

    /// Reads the whole file of an archived day. Returns the first fault.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn check(&self, day: ArchivedDay) -> Result<Option<ArchiveFault>, StoreError> {
        let mut reader = DayReader::new(day);
        loop {
            let bytes = self.archive.read(day.ledger, day.day, reader.at()).await?;
            match reader.part(bytes.as_deref()) {
                Ok(Some(lines)) => {
                    if let Err(fault) = votes_in(&lines, reader.at(), day.day) {
                        return Ok(Some(fault));
                    }
                }
                Ok(None) => return Ok(None),
                Err(fault) => return Ok(Some(fault)),
            }
        }
    }

    /// Removes lines of a checked file from the table, as far as they decide nothing.
    async fn remove(&self, day: ArchivedDay) -> Result<u64, StoreError> {
        let (mut removed, mut at) = (0, 0);
        while let Some((lines, next)) = self.part(day.day, at).await? {
            for lines in lines.chunks(LINES_PER_REMOVAL) {
                removed += self.table.remove_idle(lines).await?;
            }
            at = next;
        }
        Ok(removed)
    }

    /// Returns the lines of the part at an offset, and the offset of the next part; `None` at the end of the
    /// file. Trusts the contents.
    ///
    /// # Errors
    /// Any [`StoreError`]; [`StoreError::Corrupt`] for a missing or unreadable file.
    pub async fn part(&self, day: Day, at: u64) -> Result<Option<(Vec<VoteLine>, u64)>, StoreError> {
        let named = |fault: &ArchiveFault| corrupt(format!("{LEDGER} {day}: {fault}"));
        let bytes = self.archive.read(LEDGER, day, at).await?.ok_or_else(|| named(&ArchiveFault::Missing))?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let part = decode_part(&bytes, at).map_err(|fault| named(&fault))?;
        let lines = votes_in(&part.lines, at, day).map_err(|fault| named(&fault))?;
        Ok(Some((lines, at + part.length as u64)))
    }

    /// Returns up to `max` lines of an archived day from a place on, oldest first. `None` for a day that is
    /// not archived, or a place that no page returned.
    ///
    /// # Errors
    /// As [`part`](Self::part).
    pub async fn page(&self, day: Day, from: LineCursor, max: u32) -> Result<Option<LinesPage>, StoreError> {
        let Some(archived) = self.archive.day(LEDGER, day).await? else { return Ok(None) };
        let (mut place, mut lines) = (from, Vec::new());
        while (lines.len() as u64) < u64::from(max) {
            if place.at > archived.bytes {
                return Ok(None);
            }
            let part = match self.part(day, place.at).await {
                Err(StoreError::Corrupt { .. }) if place.at == from.at && from.at > 0 => return Ok(None),
                part => part?,
            };
            let Some((part, next)) = part else {
                // A store of parts has none where no part begins.
                let is_over = place.at == archived.bytes;
                return Ok(is_over.then_some(LinesPage { lines, next: None }));
            };
            let room = max as usize - lines.len();
            let rest = part.len().saturating_sub(place.skip as usize);
            lines.extend(part.into_iter().skip(place.skip as usize).take(room));
            place = if rest > room {
                let read = u32::try_from(room).map_err(|_| corrupt("a part of too many lines"))?;
                LineCursor { at: place.at, skip: place.skip.saturating_add(read) }
            } else {
                LineCursor { at: next, skip: 0 }
            };
        }
        let is_over = place.at >= archived.bytes;
        Ok(Some(LinesPage { lines, next: (!is_over).then_some(place) }))
    }

    /// Returns lines of a user from the parts of an archived day at `at` and behind, oldest first, until at
    /// least one line is found. Lines that are still in the table are left out. Returns also the offset of
    /// the next part; `None` at the end of the file.
    ///
    /// # Errors
    /// As [`part`](Self::part).
    pub async fn lines_of(
        &self,
        user: UserId,
        day: Day,
        mut at: u64,
    ) -> Result<(Vec<VoteLine>, Option<u64>), StoreError> {
        while let Some((mut lines, next)) = self.part(day, at).await? {
            at = next;
            lines.retain(|line| line.user == Some(user));
            let keys: Vec<_> = lines.iter().map(key).collect();
            let still: HashSet<_> = self.table.at(&keys).await?.iter().map(key).collect();
            lines.retain(|line| !still.contains(&key(line)));
            if !lines.is_empty() {
                return Ok((lines, Some(at)));
            }
        }
        Ok((Vec::new(), None))
    }
}

fn key(line: &VoteLine) -> (ReviewId, u64) {
    (line.review, line.number)
}

/// Parses the lines of a part of a day.
fn votes_in(lines: &[String], at: u64, day: Day) -> Result<Vec<VoteLine>, ArchiveFault> {
    let parse = |text: &String| {
        let line = vote_in(text)
            .ok_or_else(|| ArchiveFault::Unreadable { at, detail: "no line of votes".to_owned() })?;
        match utc_day(line.at) {
            Some(own) if own == day => Ok(line),
            own => Err(ArchiveFault::Foreign {
                found: own.map_or_else(|| line.at.as_millis().to_string(), |own| own.to_string()),
            }),
        }
    };
    lines.iter().map(parse).collect()
}

fn refused(source: impl Into<Source>) -> StoreError {
    StoreError::Refused { op: OP, source: source.into() }
}

fn corrupt(key: impl Into<String>) -> StoreError {
    StoreError::Corrupt { op: OP, key: key.into() }
}
