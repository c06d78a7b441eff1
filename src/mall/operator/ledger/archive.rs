//! Check of the archive: every archived day has its file as written, and table and archive together hold each
//! line of the ledger of votes once.
//!
//! Memory: the lines of a part, and the sums of [`REVIEWS_PER_PASS`] reviews with their present voters.

use std::collections::HashMap;

use mallbox_storage::{
    ArchiveLedger, ArchivedDay, ArchivedVotes, ReviewId, ReviewVotes, Storage, StoreError, VoteLine,
};

use super::code::Code;
use super::object::{Kind, Object};
use super::report::{Finding, Report, Warning};
use super::vote_chain::VoteChains;

/// Reviews rebuilt at once: each pass reads the whole archive.
const REVIEWS_PER_PASS: u32 = 50_000;
/// Archived days, and lines of the table, read at once.
const PAGE: u32 = 2_048;
/// Repetitions of the rebuilding while days are archived meanwhile.
const READS_MAX: usize = 5;
/// Unknown files named.
const STRAYS_MAX: u32 = 20;

/// Checks the archive, and rebuilds the sums of all votes from archive and table. Without an archived day,
/// the row checks have done the latter.
pub(super) async fn verify(storage: &Storage, report: &mut Report) -> Result<(), StoreError> {
    for name in storage.operator.archive.strays(STRAYS_MAX).await? {
        report.warnings.push(Warning::unknown_archive_file(name));
    }
    let archived = ArchivedVotes::of(storage);
    let mut read = 0;
    loop {
        let days = all_days(storage).await?;
        if days.is_empty() {
            return Ok(());
        }
        let mut found = Findings::default();
        let whole = found.check_files(&archived, &days).await?;
        let is_whole = whole.len() == days.len();
        match found.rebuild(storage, &archived, &whole, is_whole).await {
            // A value that no mall writes; the row checks name the row.
            Err(StoreError::Corrupt { key, .. }) => {
                let object = Object::new(Kind::Table, "vote_lines");
                found.0.push(Finding::new(Code::VoteLine, object, "readable lines", key));
            }
            done => done?,
        }
        read += 1;
        // Lines that left the table meanwhile are in the file of a day archived meanwhile.
        if found.0.is_empty() || read == READS_MAX || all_days(storage).await? == days {
            found.0.into_iter().for_each(|finding| report.find(finding));
            return Ok(());
        }
    }
}

async fn all_days(storage: &Storage) -> Result<Vec<ArchivedDay>, StoreError> {
    let mut days: Vec<ArchivedDay> = Vec::new();
    loop {
        let after = days.last().map(|day| day.day);
        let page = storage.operator.archive.days(ArchiveLedger::Votes, after, PAGE).await?;
        if page.is_empty() {
            return Ok(days);
        }
        days.extend(page);
    }
}

#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    /// Reads every file once. Returns the days whose file is as written.
    async fn check_files(
        &mut self,
        archived: &ArchivedVotes,
        days: &[ArchivedDay],
    ) -> Result<Vec<ArchivedDay>, StoreError> {
        let mut whole = Vec::with_capacity(days.len());
        for day in days {
            match archived.check(*day).await? {
                None => whole.push(*day),
                Some(fault) => {
                    let object = Object::new(Kind::ArchivedDay, day.file_name());
                    let sha256 = mallbox_storage::hex(&day.sha256);
                    let expected = format!("{} bytes, {} lines, SHA-256 {sha256}", day.bytes, day.lines);
                    self.0.push(Finding::new(Code::ArchiveFile, object, expected, fault));
                }
            }
        }
        Ok(whole)
    }

    /// Rebuilds the sums of all reviews, some reviews after the other. Without a file, gaps are no finding
    /// of their own.
    async fn rebuild(
        &mut self,
        storage: &Storage,
        archived: &ArchivedVotes,
        days: &[ArchivedDay],
        is_whole: bool,
    ) -> Result<(), StoreError> {
        let mut after = ReviewId::new(0);
        loop {
            let sums = storage.writing.vote_lines.sums(after, REVIEWS_PER_PASS).await?;
            let is_last = (sums.len() as u64) < u64::from(REVIEWS_PER_PASS);
            let last = match sums.last() {
                Some(sums) if !is_last => sums.review,
                _ => ReviewId::new(u64::MAX),
            };
            self.rebuild_range(storage, archived, days, (after, last), &sums, is_whole).await?;
            if is_last {
                return Ok(());
            }
            after = last;
        }
    }

    /// Rebuilds the reviews behind `after` up to `last`.
    async fn rebuild_range(
        &mut self,
        storage: &Storage,
        archived: &ArchivedVotes,
        days: &[ArchivedDay],
        (after, last): (ReviewId, ReviewId),
        sums: &[ReviewVotes],
        is_whole: bool,
    ) -> Result<(), StoreError> {
        let mut chains = VoteChains::new(sums);
        for day in days {
            let mut at = 0;
            while let Some((mut lines, next)) = archived.part(day.day, at).await? {
                lines.retain(|line| line.review > after && line.review <= last);
                self.compare(storage, &lines).await?;
                lines.iter().for_each(|line| chains.add(line));
                at = next;
            }
        }
        let mut place = (after, u64::MAX);
        loop {
            let lines = storage.writing.vote_lines.of_reviews(place, last, PAGE).await?;
            let Some(end) = lines.last() else { break };
            place = (end.review, end.number);
            lines.iter().for_each(|line| chains.add(line));
        }
        self.0.extend(chains.findings(is_whole));
        Ok(())
    }

    /// Compares archived lines with the table, where the table has them.
    async fn compare(&mut self, storage: &Storage, lines: &[VoteLine]) -> Result<(), StoreError> {
        let archived: HashMap<_, _> = lines.iter().map(|line| ((line.review, line.number), line)).collect();
        let keys: Vec<_> = archived.keys().copied().collect();
        for line in storage.writing.vote_lines.at(&keys).await? {
            let Some(same) = archived.get(&(line.review, line.number)) else { continue };
            if **same != line {
                let object = Object::new(Kind::VoteLine, format!("{} {}", line.review, line.number));
                let (expected, found) = (mallbox_storage::vote_text(same), mallbox_storage::vote_text(&line));
                self.0.push(Finding::new(Code::ArchiveLine, object, expected, found));
            }
        }
        Ok(())
    }
}
