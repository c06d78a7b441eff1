//! `mallbox archive`: what the command prints and refuses, and `kill -9` at any moment of the archiving, of
//! the command or of the running mall. No line of the ledger is ever lost or counted twice.
//!
//! `MALLBOX_CRASH_CYCLES` sets the number of kills, `MALLBOX_SEED` repeats a plan.

mod common;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use mallbox::mall::{Clock as _, SystemClock};
use mallbox_storage::{
    ArchiveLedger, ArchiveOutcome, ArchivedVotes, Day, LineCursor, ReviewId, Storage, StoreError, VoteLine,
    utc_day, utc_span,
};
use mallbox_storage_embedded::{DiskFaults, EmbeddedOptions};

use common::dice::{Dice, number_from};
use common::mall::{self, Size};
use common::server::{self, Server};

/// Days with votes, the last of them yesterday.
const DAYS: i32 = 12;
const VOTERS: usize = 12;
const REVIEWS: usize = 3;
/// Time from the start of the command to the kill, in milliseconds.
const KILL_WITHIN_MS: (u64, u64) = (5, 400);

/// Makes a mall with votes on each of the last days. Returns the reviews, and today.
fn make(data: &Path) -> anyhow::Result<([ReviewId; REVIEWS], Day)> {
    let people = mall::make(data, Size { people: VOTERS + 1, sales: 1, units: 1 })?;
    mall::runtime()?.block_on(async {
        let storage = mall::open(data).await?;
        let today = utc_day(SystemClock.now()).context("today")?;
        let reviews = mall::add_reviews(&storage, people.people[VOTERS].id).await?;
        for ago in (1..=DAYS).rev() {
            let day = Day::from_number(today.number() - ago).context("a day")?;
            for turn in 0..2 {
                for (place, voter) in people.people[..VOTERS].iter().enumerate() {
                    let at = utc_span(day).0
                        + Duration::from_secs(3600 * (1 + turn))
                        + Duration::from_millis(place as u64);
                    for review in reviews {
                        let up = turn == 0 || place % 3 == 0;
                        let _ = storage.writing.votes.vote(review, voter.id, up, at).await?;
                    }
                }
            }
        }
        storage.base.upkeep.close().await?;
        Ok((reviews, today))
    })
}

/// Returns every line in table and archive, each once.
async fn all_lines(storage: &Storage) -> anyhow::Result<BTreeMap<(ReviewId, u64), VoteLine>> {
    let mut lines = BTreeMap::new();
    let mut add = |line: VoteLine| {
        let same = *lines.entry((line.review, line.number)).or_insert(line);
        ensure!(same == line, "{same:?} is {line:?} elsewhere");
        Ok(())
    };
    let last = ReviewId::new(u64::MAX);
    for line in storage.writing.vote_lines.of_reviews((ReviewId::new(0), 0), last, u32::MAX).await? {
        add(line)?;
    }
    let archived = ArchivedVotes::of(storage);
    for day in storage.operator.archive.days(ArchiveLedger::Votes, None, u32::MAX).await? {
        ensure!(archived.check(day).await?.is_none(), "{day:?}");
        let page = archived.page(day.day, LineCursor::default(), u32::MAX).await?.context("no page")?;
        page.lines.into_iter().try_for_each(&mut add)?;
    }
    Ok(lines)
}

fn read(data: &Path) -> anyhow::Result<BTreeMap<(ReviewId, u64), VoteLine>> {
    mall::runtime()?.block_on(async {
        let storage = mall::open(data).await?;
        let lines = all_lines(&storage).await?;
        storage.base.upkeep.close().await?;
        Ok(lines)
    })
}

/// Returns whether every day is archived.
fn is_archived(data: &Path) -> anyhow::Result<bool> {
    mall::runtime()?.block_on(async {
        let storage = mall::open(data).await?;
        let today = utc_day(SystemClock.now()).context("today")?;
        let next = ArchivedVotes::of(&storage).next_day(None, today).await?;
        storage.base.upkeep.close().await?;
        Ok(next.is_none())
    })
}

fn in_table(data: &Path) -> anyhow::Result<usize> {
    mall::runtime()?.block_on(async {
        let storage = mall::open(data).await?;
        let last = ReviewId::new(u64::MAX);
        let lines = storage.writing.vote_lines.of_reviews((ReviewId::new(0), 0), last, u32::MAX).await?;
        storage.base.upkeep.close().await?;
        Ok(lines.len())
    })
}

fn archive(data: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mallbox"));
    command.env_clear().arg("archive").args(words).arg("--data").arg(data);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn output_of(data: &Path, words: &[&str]) -> anyhow::Result<(Option<i32>, String)> {
    let Output { status, stdout, stderr } = archive(data, words).output()?;
    Ok((status.code(), String::from_utf8(stdout)? + &String::from_utf8(stderr)?))
}

#[test]
fn no_kill_of_the_archiving_loses_a_line() -> anyhow::Result<()> {
    let cycles = number_from("MALLBOX_CRASH_CYCLES").unwrap_or(8).min(40);
    let mut dice = Dice::from_environment("archive");
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let log = site.path().join("mallbox.log");
    let (mut data, mut interrupted) = (site.path().join("mall"), 0);
    let (_, today) = make(&data)?;
    let mut before = read(&data)?;
    let today = today.to_string();
    let words = ["votes", "--before", &*today];
    for cycle in 0..cycles {
        if is_archived(&data)? {
            // Nothing is left to interrupt: a new mall, whose voters may have other ids.
            data = site.path().join(format!("mall-{cycle}"));
            make(&data)?;
            before = read(&data)?;
        }
        if cycle % 2 == 0 {
            let mut command = archive(&data, &words).spawn()?;
            std::thread::sleep(dice.millis(KILL_WITHIN_MS.0, KILL_WITHIN_MS.1));
            command.kill()?;
            command.wait()?;
        } else {
            let server = Server::start_with(&data, &log, &[])?;
            let mut command = archive(&data, &words).spawn()?;
            std::thread::sleep(dice.millis(KILL_WITHIN_MS.0 / 2, KILL_WITHIN_MS.1 / 2));
            server.kill()?;
            // Whatever the command makes of a mall that is gone.
            command.wait()?;
        }
        server::verify(&data)?;
        ensure!(read(&data)? == before, "lines differ after kill {cycle}");
        interrupted += u64::from(!is_archived(&data)?);
    }
    let (code, text) = output_of(&data, &words)?;
    ensure!(code == Some(0), "{text}");
    server::verify(&data)?;
    ensure!(read(&data)? == before, "lines differ at the end");
    let left = in_table(&data)?;
    ensure!(left < before.len() / 4, "{left} of {} lines are left in the table", before.len());
    println!("archive: {cycles} kills, {interrupted} before the end; {left} of {} lines left", before.len());
    Ok(())
}

#[test]
fn days_are_archived_listed_and_shown_whether_the_mall_runs_or_not() -> anyhow::Result<()> {
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let (data, log) = (site.path().join("mall"), site.path().join("mallbox.log"));
    let (_, today) = make(&data)?;
    let before = read(&data)?;
    let day = |ago: i32| Day::from_number(today.number() - ago).map(|day| day.to_string()).context("a day");
    let tomorrow = day(-1)?;
    for (words, code, want) in [
        (&["votes"][..], 2, "--before"),
        (&["votes", "--before", "2026-02-30"], 2, "2026-02-30 is not a valid day"),
        (&["votes", "--before", &tomorrow], 1, "only days that are over can be archived"),
        (&["votes", "--keep-days", "4000000000"], 1, "a number of days, not too large"),
        (&["show", "votes", &tomorrow], 1, "This archived day does not exist"),
        (&["show", "orders", &tomorrow], 2, "orders"),
        (&["list"], 0, "nothing is archived yet"),
    ] {
        let (found, text) = output_of(&data, words)?;
        ensure!(found == Some(code) && text.contains(want), "{words:?}: {found:?} {text}");
    }
    let (first, eleventh) = (day(DAYS)?, day(DAYS - 10)?);
    let (code, text) = output_of(&data, &["votes", "--before", &eleventh])?;
    ensure!(code == Some(0) && text.contains(&format!("archived 10 days before {eleventh}")), "{text}");
    let file = data.join("archive").join(format!("votes-{first}.jsonl.gz"));
    ensure!(std::fs::metadata(&file)?.permissions().mode() & 0o777 == 0o600);
    ensure!(std::fs::metadata(data.join("archive"))?.permissions().mode() & 0o777 == 0o700);

    let server = Server::start_with(&data, &log, &[])?;
    let (code, text) = output_of(&data, &["votes", "--keep-days", "0"])?;
    ensure!(code == Some(0) && text.contains(&format!("archived 2 days before {today}")), "{text}");
    let (code, text) = output_of(&data, &["votes", "--keep-days", "0"])?;
    ensure!(code == Some(0) && text.contains("nothing left to archive"), "{text}");
    let (_, list) = output_of(&data, &["list"])?;
    ensure!(list.lines().count() == 12 && list.contains(&format!("votes-{first}.jsonl.gz")), "{list}");
    let (code, shown) = output_of(&data, &["show", "votes", &first])?;
    server.stop()?;
    ensure!(code == Some(0) && shown.lines().count() > 30, "{shown}");
    if let Ok(text) = Command::new("zcat").arg(&file).output() {
        let text = String::from_utf8(text.stdout)?;
        let lines: Vec<&str> = text.lines().collect();
        ensure!(lines[1..lines.len() - 1].join("\n") == shown.trim_end(), "zcat: {text}\nshow: {shown}");
    }
    ensure!(output_of(&data, &["show", "votes", &first])?.1 == shown);
    ensure!(read(&data)? == before);
    server::verify(&data)?;

    // A damaged file is named, and nothing leaves the table because of it.
    let mut bytes = std::fs::read(&file)?;
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    std::fs::write(&file, &bytes)?;
    let error = server::verify(&data).expect_err("a flipped bit").to_string();
    ensure!(
        error.contains("[ARCHIVE_FILE]") && error.contains(&format!("votes-{first}.jsonl.gz")),
        "{error}"
    );
    bytes[middle] ^= 4;
    std::fs::write(&file, &bytes)?;
    server::verify(&data)?;
    std::fs::write(data.join("archive/votes-1999-01-01.jsonl.gz"), "?")?;
    server::verify(&data)?;
    Ok(())
}

#[test]
fn a_full_disk_refuses_the_archiving_and_loses_nothing() -> anyhow::Result<()> {
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let data = site.path().join("mall");
    let (_, today) = make(&data)?;
    let before = read(&data)?;
    let faults = Arc::new(DiskFaults::default());
    mall::runtime()?.block_on(async {
        let mut options = EmbeddedOptions::new(&data);
        options.disk_faults = Some(Arc::clone(&faults));
        let storage = mallbox_storage_embedded::open(options).await?;
        let archived = ArchivedVotes::of(&storage);
        let day = archived.next_day(None, today).await?.context("nothing to archive")?;
        faults.set_full(true);
        let refused = archived.archive(day, SystemClock.now()).await;
        ensure!(matches!(refused, Err(StoreError::Full { .. })), "{refused:?}");
        faults.set_full(false);
        ensure!(storage.operator.archive.days(ArchiveLedger::Votes, None, 9).await?.is_empty());
        ensure!(all_lines(&storage).await? == before);
        let done = archived.archive(day, SystemClock.now()).await?;
        ensure!(matches!(done, ArchiveOutcome::Archived { is_new: true, .. }), "{done:?}");
        ensure!(all_lines(&storage).await? == before);
        Ok(storage.base.upkeep.close().await?)
    })?;
    server::verify(&data)
}
