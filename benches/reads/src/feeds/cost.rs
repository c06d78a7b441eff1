//! What a note and a page cost, by the number of fans.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mallbox_bench_ports::{BenchError, Effort, Load, Timed, drive, ensure};
use serde::Serialize;

use super::crowd::Crowd;
use super::feed::Feed;
use super::ways::open;
use crate::{Stage, Way};

/// Earlier notes of each author whom a reader follows: inboxes of 1,800 notes. Redis' hash table of such an
/// inbox has moved to 2,048 buckets, and does not grow with the measured notes.
const NOTES_EACH: u64 = 36;
/// Notes of a page.
const PAGE: u32 = 10;
/// Callers who read pages at once.
const CALLERS: usize = 8;
/// Notes written at least and at most.
const WRITES: (u32, u32) = (3, 100);

/// Costs of a way. Names of fields are those of the published file.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FeedCost {
    /// Name of the way.
    pub way: &'static str,
    /// Fans of the author who writes.
    pub fans: u64,
    /// Notes written.
    pub notes: u32,
    /// Median of the time from the insert of a note until every feed shows it, in µs.
    pub write_us: f64,
    /// Pages read per second by eight callers.
    pub pages_per_s: f64,
    /// Median of the time of a page, in µs.
    pub page_p50_us: f64,
    /// 99th percentile of the time of a page, in µs.
    pub page_p99_us: f64,
    /// Growth of Redis' data per note, in bytes; `None` if the way keeps none there.
    pub redis_bytes_per_note: Option<u64>,
}

/// Returns the numbers of fans that are measured, with the words of the step.
pub(super) fn fans(effort: Effort) -> &'static [(u64, &'static str)] {
    const SMALL: (u64, &str) = (100, "100 fans");
    const LARGE: (u64, &str) = (10_000, "10,000 fans");
    effort.pick(&[SMALL, LARGE], &[SMALL, (1_000, "1,000 fans"), LARGE, (100_000, "100,000 fans")])
}

/// Measures a way with an author of `fans` fans.
pub(super) async fn cost(stage: &Stage, way: &Way, fans: u64) -> Result<FeedCost, BenchError> {
    let crowd = Crowd { fans, notes_each: NOTES_EACH };
    let span = stage.effort.pick(Duration::from_millis(300), Duration::from_secs(2));
    let feed = open(way, stage, crowd).await?;
    // The first note makes buffers grow, and inboxes that did not exist.
    write(&*feed, crowd).await?;
    let before = feed.redis_bytes().await?;
    let times = write_for(&*feed, crowd, span).await?;
    let notes = u32::try_from(times.len()).unwrap_or(u32::MAX);
    let growth = before.zip(feed.redis_bytes().await?);
    let pages = read(&feed, crowd, span).await?;
    feed.remove().await?;
    Ok(FeedCost {
        way: way.name,
        fans,
        notes,
        write_us: Timed::of_batches(&times, times.len() as u64)?.micros(0.5),
        pages_per_s: pages.per_second(),
        page_p50_us: pages.micros(0.5),
        page_p99_us: pages.micros(0.99),
        redis_bytes_per_note: growth
            .map(|(before, now)| now.saturating_sub(before) / u64::from(notes.max(1))),
    })
}

/// Writes notes for `span`. Returns their times.
async fn write_for(feed: &dyn Feed, crowd: Crowd, span: Duration) -> Result<Vec<Duration>, BenchError> {
    let mut times = Vec::new();
    let (least, most) = WRITES;
    let began = Instant::now();
    for number in 0..most {
        if number >= least && began.elapsed() >= span {
            break;
        }
        times.push(write(feed, crowd).await?);
    }
    Ok(times)
}

/// Writes a note. Afterwards the feeds of the first and of the last fan begin with the note.
async fn write(feed: &dyn Feed, crowd: Crowd) -> Result<Duration, BenchError> {
    let start = Instant::now();
    let written = feed.insert(Crowd::STAR).await?;
    feed.pass_on(written).await?;
    let time = start.elapsed();
    for reader in [crowd.fans().start(), crowd.fans().end()] {
        let page = feed.page(*reader, PAGE).await?;
        let is_first = page.first() == Some(&written.note);
        ensure(is_first, || {
            format!("the feed of reader {reader} begins with {page:?}, not {}", written.note)
        })?;
    }
    Ok(time)
}

/// Reads pages of ten for `span`.
async fn read(feed: &Arc<dyn Feed>, crowd: Crowd, span: Duration) -> Result<Timed, BenchError> {
    let feed = Arc::clone(feed);
    let (first, readers) = (*crowd.readers().start(), crowd.readers().count() as u64);
    drive(Load::span(CALLERS, span), move |number| {
        let feed = Arc::clone(&feed);
        async move {
            let page = feed.page(first + number % readers, PAGE).await?;
            ensure(page.len() == PAGE as usize, || format!("{} notes are on a page of {PAGE}", page.len()))
        }
    })
    .await
}
