//! Votes for one review and for many, beside the two shortest ways to count: `INCR`, and `UPDATE` of a row.

use std::sync::Arc;

use mallbox_storage::{
    NewReview, ReviewId, ReviewOrigin, ReviewOutcome, ReviewTags, ReviewText, Stars, UserId, VoteOutcome,
};
use mysql_async::Pool;
use mysql_async::prelude::Queryable as _;

use crate::bench::{Bench, Row};
use crate::claims::NOON;
use crate::content::{insert_kind, shop};
use crate::error::{BenchError, ensure};
use crate::load::{Load, Timed, drive};
use crate::mall::{Keep, Mall, Raw};
use crate::part::Draft;
use crate::settings::{Settings, Side};

/// Author of the reviews, who does not vote.
const AUTHOR: UserId = UserId::new(u64::MAX >> 1);

pub(crate) fn parts(settings: &Settings) -> Vec<Draft> {
    let draft = |side: Side, size: u64| {
        let ways = if side == Side::Servers { 3 } else { 1 };
        let measurements = ways * settings.callers().len();
        let seconds = 3.0 + size as f64 / 500.0 + measurements as f64 * settings.span().as_secs_f64();
        Draft { side: Some(side), size, measurements, seconds }
    };
    [1, 1_000].iter().flat_map(|size| settings.sides.iter().map(|side| draft(*side, *size))).collect()
}

pub(crate) async fn measure(bench: &mut Bench) -> Result<(), BenchError> {
    let mall = bench.own_mall(Keep::Durably).await?;
    let reviews = Arc::new(reviews(&mall, bench.part.size).await?);
    let (mut votes, memory) = (0, mall.memory().await?);
    for callers in bench.settings.callers() {
        let (first, port, targets) = (votes, Arc::clone(&mall.storage.writing.votes), Arc::clone(&reviews));
        let timed = drive(Load::span(callers, bench.settings.span()), move |number| {
            let (port, number) = (Arc::clone(&port), first + number);
            let review = targets[at(number, targets.len())];
            async move {
                let outcome = port.vote(review, UserId::new(1 + number), true, NOON).await?;
                let is_counted = matches!(outcome, VoteOutcome::Counted { changed: true, .. });
                ensure(is_counted, || format!("a vote was {outcome:?}"))
            }
        })
        .await?;
        votes += timed.done;
        let rows = mall.storage.writing.reviews.those(&reviews).await?;
        let counted: u64 = rows.iter().map(|review| review.votes).sum();
        ensure(counted == votes, || format!("{votes} votes were given, {counted} are counted"))?;
        let note = format!("with a ledger, one vote a user, none lost; {}", mall.durability());
        publish(bench, (mall.side.back_end(), callers), &timed, (memory, note));
    }
    if let Some(raw) = mall.raw() {
        incr(bench, &raw, mall.durability()).await?;
        rows(bench, &raw, mall.durability()).await?;
    }
    mall.close().await
}

async fn reviews(mall: &Mall, count: u64) -> Result<Vec<ReviewId>, BenchError> {
    let text = ReviewText {
        stars: Stars::from_score(45).ok_or_else(|| BenchError::Wrong("no stars".to_owned()))?,
        content: "面很香。".to_owned(),
        images: String::new(),
        average_price: None,
        tags: ReviewTags::default(),
    };
    let kind = insert_kind(&mall.storage).await?;
    let shop = mall.storage.catalogue.shops.insert(&shop(kind), NOON).await?;
    let request = String::new();
    let review = NewReview { author: AUTHOR, shop, origin: ReviewOrigin::Demo, text, request };
    let mut ids = Vec::new();
    for _ in 0..count {
        match mall.storage.writing.reviews.insert(&review, NOON).await? {
            ReviewOutcome::Written(id) => ids.push(id),
            refused => return Err(BenchError::Wrong(format!("a review was {refused:?}"))),
        }
    }
    Ok(ids)
}

async fn incr(bench: &mut Bench, raw: &Raw, durability: &str) -> Result<(), BenchError> {
    let (reviews, before) = (bench.part.size, raw.memory().await?);
    for callers in bench.settings.callers() {
        let shared = raw.clone();
        let timed = drive(Load::span(callers, bench.settings.span()), move |number| {
            let raw = shared.clone();
            async move { raw.redis.query(&raw.command("INCR", &format!("votes:{}", number % reviews))).await }
        })
        .await?;
        let memory = raw.growth(before).await?;
        let note = format!("no ledger, a user counts twice; {durability}");
        publish(bench, ("INCR", callers), &timed, (memory, note));
    }
    Ok(())
}

async fn rows(bench: &mut Bench, raw: &Raw, durability: &str) -> Result<(), BenchError> {
    let (reviews, pool) = (bench.part.size, Pool::from_url(&raw.mysql)?);
    let mut connection = pool.get_conn().await?;
    connection.query_drop("CREATE TABLE bare_votes (id BIGINT PRIMARY KEY, n BIGINT NOT NULL)").await?;
    let zeroes = (0..reviews).map(|id| (id, 0));
    connection.exec_batch("INSERT INTO bare_votes (id, n) VALUES (?, ?)", zeroes).await?;
    let mut votes = 0;
    for callers in bench.settings.callers() {
        let shared = pool.clone();
        let timed = drive(Load::span(callers, bench.settings.span()), move |number| {
            let pool = shared.clone();
            async move {
                let mut connection = pool.get_conn().await?;
                let sql = "UPDATE bare_votes SET n = n + 1 WHERE id = ?";
                connection.exec_drop(sql, (number % reviews,)).await?;
                ensure(connection.affected_rows() == 1, || "no row was counted".to_owned())
            }
        })
        .await?;
        votes += timed.done;
        let sql = "SELECT CAST(SUM(n) AS UNSIGNED) FROM bare_votes";
        let counted: Option<u64> = connection.query_first(sql).await?;
        ensure(counted == Some(votes), || format!("{votes} votes were given, {counted:?} are counted"))?;
        let note = format!("no ledger, a user counts twice; {durability}");
        publish(bench, ("UPDATE of a row", callers), &timed, (None, note));
    }
    drop(connection);
    pool.disconnect().await?;
    Ok(())
}

fn publish(
    bench: &mut Bench,
    (back_end, callers): (&str, usize),
    timed: &Timed,
    (memory, note): (Option<u64>, String),
) {
    let (operation, callers, timed) = ("vote", Some(callers), Some(timed));
    bench.publish(Row { operation, back_end, callers, timed, memory, note, ..Row::default() });
}

fn at(number: u64, length: usize) -> usize {
    usize::try_from(number % length as u64).unwrap_or(0)
}
