//! Experiments on one feed: late fans, leaving fans, deleted notes, a writer who dies.

use mallbox_bench_ports::{BenchError, ensure};
use mallbox_bench_verdicts::Finding;

use super::crowd::Crowd;
use super::feed::Feed;
use super::question::FeedQuestion;
use super::ways::open;
use crate::{Stage, Way};

/// A few fans: every way pushes to them, or none.
const CROWD: Crowd = Crowd { fans: 300, notes_each: 0 };
/// Notes of an author before the first fan.
const EARLIER: usize = 30;
/// Notes of a page, and of those the deleted ones.
const PAGE: u32 = 10;
const DELETED: usize = 3;
/// A page that holds everything.
const ALL: u32 = 1_000;

/// Runs all experiments on a new feed.
pub(super) async fn experiment(stage: &Stage, way: &Way) -> Result<Vec<Finding<FeedQuestion>>, BenchError> {
    let feed = open(way, stage, CROWD).await?;
    let findings = vec![
        followed_late(&*feed).await?,
        unfollowed(&*feed).await?,
        writer_killed(&*feed).await?,
        deleted(&*feed).await?,
    ];
    feed.remove().await?;
    Ok(findings)
}

async fn write(feed: &dyn Feed, author: u64) -> Result<u64, BenchError> {
    let written = feed.insert(author).await?;
    feed.pass_on(written).await?;
    Ok(written.note)
}

/// A reader follows an author who has written before.
async fn followed_late(feed: &dyn Feed) -> Result<Finding<FeedQuestion>, BenchError> {
    let (reader, author) = (*CROWD.readers().start(), *CROWD.fans().end());
    let mut notes = Vec::new();
    for _ in 0..EARLIER {
        notes.push(write(feed, author).await?);
    }
    let before = feed.page(reader, ALL).await?;
    ensure(notes.iter().all(|note| !before.contains(note)), || {
        "notes of a stranger are in a feed".to_owned()
    })?;
    feed.follow(reader, author).await?;
    let page = feed.page(reader, ALL).await?;
    let seen = notes.iter().filter(|note| page.contains(note)).count();
    // From now on every way shows them.
    let next = write(feed, author).await?;
    let shows_next = feed.page(reader, PAGE).await?.first() == Some(&next);
    ensure(shows_next, || format!("note {next} is not the first in the feed of its author's new fan"))?;
    let detail = format!("{seen} notes of {EARLIER} written before the follow");
    Ok(Finding::new(FeedQuestion::FollowedLate, format!("{seen} of {EARLIER}"), detail))
}

/// A reader unfollows an author whose notes are in the feed.
async fn unfollowed(feed: &dyn Feed) -> Result<Finding<FeedQuestion>, BenchError> {
    let reader = *CROWD.readers().start() + 1;
    let mut notes = Vec::new();
    for _ in 0..PAGE {
        notes.push(write(feed, Crowd::STAR).await?);
    }
    let before = feed.page(reader, PAGE).await?;
    ensure(before.iter().rev().eq(&notes), || format!("{before:?} is on a page instead of {notes:?}"))?;
    feed.unfollow(reader, Crowd::STAR).await?;
    let page = feed.page(reader, ALL).await?;
    let left = notes.iter().filter(|note| page.contains(note)).count();
    let verdict = match left {
        0 => "gone".to_owned(),
        left if left == notes.len() => "stay".to_owned(),
        left => format!("{left} stay"),
    };
    Ok(Finding::new(FeedQuestion::Unfollowed, verdict, format!("{left} of {} notes left", notes.len())))
}

/// A writer dies when the note is stored and no inbox has it.
async fn writer_killed(feed: &dyn Feed) -> Result<Finding<FeedQuestion>, BenchError> {
    let readers = [*CROWD.readers().start(), *CROWD.readers().end(), *CROWD.fans().end()];
    for reader in readers {
        // Whoever keeps an inbox keeps one for these.
        feed.page(reader, PAGE).await?;
    }
    let note = feed.insert(Crowd::STAR).await?.note;
    let at_once = seen_by(feed, &readers, note).await?;
    feed.catch_up().await?;
    let later = seen_by(feed, &readers, note).await?;
    let verdict = match (at_once, later) {
        (at_once, _) if at_once == readers.len() => "all see it",
        (_, later) if later == readers.len() => "all see it later",
        (_, 0) => "nobody sees it",
        _ => "some see it",
    };
    let detail = format!("seen by {at_once} of {} fans at once, by {later} later", readers.len());
    Ok(Finding::new(FeedQuestion::WriterKilled, verdict, detail))
}

async fn seen_by(feed: &dyn Feed, readers: &[u64], note: u64) -> Result<usize, BenchError> {
    let mut seen = 0;
    for reader in readers {
        seen += usize::from(feed.page(*reader, PAGE).await?.contains(&note));
    }
    Ok(seen)
}

/// An author deletes the newest notes.
async fn deleted(feed: &dyn Feed) -> Result<Finding<FeedQuestion>, BenchError> {
    let reader = *CROWD.readers().end();
    let mut notes = Vec::new();
    for _ in 0..PAGE as usize + DELETED {
        notes.push(write(feed, Crowd::STAR).await?);
    }
    let before = feed.page(reader, PAGE).await?.len();
    ensure(before == PAGE as usize, || format!("{before} notes are on a page of {PAGE}"))?;
    for note in notes.iter().rev().take(DELETED) {
        feed.delete(*note).await?;
    }
    let shown = feed.page(reader, PAGE).await?.len();
    let detail = format!("{shown} notes on a page of {PAGE} after {DELETED} deletions");
    Ok(Finding::new(FeedQuestion::Deleted, format!("{shown} notes"), detail))
}
