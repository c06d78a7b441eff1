//! Likes of one note and of many, beside the sorted set of tutorials (`ZADD`).

use std::sync::Arc;

use mallbox_storage::{LikeChange, NoteId, Post, UserId};

use crate::bench::{Bench, Row};
use crate::claims::NOON;
use crate::content::{import, note, users};
use crate::error::{BenchError, ensure};
use crate::load::{Load, drive};
use crate::mall::{Keep, Raw};
use crate::part::Draft;
use crate::settings::{Settings, Side};

pub(crate) fn parts(settings: &Settings) -> Vec<Draft> {
    let draft = |side: Side, size: u64| {
        let ways = if side == Side::Servers { 2 } else { 1 };
        let measurements = ways * settings.callers().len();
        let seconds = 3.0 + measurements as f64 * settings.span().as_secs_f64();
        Draft { side: Some(side), size, measurements, seconds }
    };
    [1, 1_000].iter().flat_map(|size| settings.sides.iter().map(|side| draft(*side, *size))).collect()
}

pub(crate) async fn measure(bench: &mut Bench) -> Result<(), BenchError> {
    let mall = bench.own_mall(Keep::Durably).await?;
    let (notes, storage) = (bench.part.size, mall.storage.clone());
    import(&storage, users(1).chain((1..=notes).map(|number| Ok(note(number, 1))))).await?;
    let mut likes = 0;
    for callers in bench.settings.callers() {
        let (first, port) = (likes, Arc::clone(&storage.writing.likes));
        let timed = drive(Load::span(callers, bench.settings.span()), move |number| {
            let (port, user) = (Arc::clone(&port), UserId::new(2 + first + number));
            async move {
                let post = Post::Note(NoteId::new(1 + (first + number) % notes));
                let outcome = port.change(user, post, LikeChange::Like, NOON).await?;
                ensure(outcome.is_some_and(|outcome| outcome.likes), || "a like was refused".to_owned())
            }
        })
        .await?;
        likes += timed.done;
        let ids: Vec<NoteId> = (1..=notes).map(NoteId::new).collect();
        let counted: u64 = storage.writing.notes.those(&ids).await?.iter().map(|note| note.liked).sum();
        ensure(counted == likes, || format!("{likes} likes were made, {counted} are counted"))?;
        bench.publish(Row {
            operation: "like",
            back_end: mall.side.back_end(),
            callers: Some(callers),
            timed: Some(&timed),
            memory: mall.memory().await?,
            note: format!("no like lost or counted twice; {}", mall.durability()),
            ..Row::default()
        });
    }
    if let Some(raw) = mall.raw() {
        sorted_set(bench, &raw, mall.durability()).await?;
    }
    drop(storage);
    mall.close().await
}

/// `ZADD` of a user by time: the count is `ZCARD`, and a table of likes is not written.
async fn sorted_set(bench: &mut Bench, raw: &Raw, durability: &str) -> Result<(), BenchError> {
    let (notes, mut likes) = (bench.part.size, 0);
    let before = raw.memory().await?;
    for callers in bench.settings.callers() {
        let (first, shared) = (likes, raw.clone());
        let timed = drive(Load::span(callers, bench.settings.span()), move |number| {
            let (raw, number) = (shared.clone(), first + number);
            async move {
                let mut add = raw.command("ZADD", &format!("liked:{}", number % notes));
                let added: u64 = raw.redis.query(add.arg(NOON.as_millis()).arg(number)).await?;
                ensure(added == 1, || "a like was there before".to_owned())
            }
        })
        .await?;
        likes += timed.done;
        let memory = raw.growth(before).await?;
        bench.publish(Row {
            operation: "like",
            back_end: "ZADD",
            callers: Some(callers),
            timed: Some(&timed),
            memory,
            note: format!("no row in the database, no check of the note; {durability}"),
            ..Row::default()
        });
    }
    Ok(())
}
