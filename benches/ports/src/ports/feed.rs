//! Feeds: a page from an inbox, a page that has to be assembled first (pull), and a note to the inboxes of
//! all fans (push).

use std::sync::Arc;
use std::time::{Duration, Instant};

use mallbox_storage::{FeedEntry, NoteText, ShopId, Storage, Timestamp, UserId};

use crate::bench::{Bench, Row};
use crate::claims::NOON;
use crate::content::{follow, import, note, users};
use crate::error::{BenchError, ensure};
use crate::load::{Load, Timed, drive};
use crate::mall::Keep;
use crate::part::Draft;
use crate::settings::Settings;

/// Authors, the first users. Each reader follows half of them, and all readers follow the first.
const AUTHORS: u64 = 100;
const NOTES_EACH: u64 = 20;
const PAGE: u32 = 10;
/// Readers whose inboxes are filled before pages are read from them.
const WARM: u64 = 50;
/// Notes pushed.
const PUSHED: [u64; 2] = [5, 20];
/// An author with more fans is pulled.
const WHO: UserId = UserId::new(1);

pub(crate) fn parts(settings: &Settings) -> Vec<Draft> {
    let sizes: &[u64] = settings.pick(&[500], &[1_000, 10_000]);
    let measurements = 2 * settings.callers().len() + 1;
    let seconds =
        |readers: u64| 5.0 + readers as f64 / 300.0 + measurements as f64 * settings.span().as_secs_f64();
    let draft = |side, size: u64| Draft { side: Some(side), size, measurements, seconds: seconds(size) };
    sizes.iter().flat_map(|size| settings.sides.iter().map(|side| draft(*side, *size))).collect()
}

pub(crate) async fn measure(bench: &mut Bench) -> Result<(), BenchError> {
    let mall = bench.own_mall(Keep::Durably).await?;
    let (readers, storage) = (bench.part.size, mall.storage.clone());
    fill(&storage, readers).await?;
    mall.analyze("follows, notes").await?;
    let row = |memory| Row {
        back_end: mall.side.back_end(),
        memory,
        note: format!("{AUTHORS} authors of {NOTES_EACH} notes; {}", mall.durability()),
        ..Row::default()
    };
    for callers in bench.settings.callers() {
        for (operation, is_pulled) in
            [("page, pulled from the database", true), ("page from the inbox", false)]
        {
            let storage = storage.clone();
            let readers = if is_pulled { readers } else { WARM };
            if !is_pulled {
                visit(&storage, readers).await?;
            }
            let timed = drive(Load::span(callers, bench.settings.span()), move |number| {
                let storage = storage.clone();
                async move {
                    let reader = UserId::new(AUTHORS + 1 + number % readers);
                    if is_pulled {
                        storage.writing.feeds.refresh(reader).await?;
                    }
                    let page = storage.writing.feeds.page(reader, Timestamp::MAX, PAGE, NOON).await?;
                    let is_full = page.len() == PAGE as usize;
                    ensure(is_full, || format!("{} entries on a page of {PAGE}", page.len()))
                }
            })
            .await?;
            let memory = mall.memory().await?;
            bench.publish(Row { operation, callers: Some(callers), timed: Some(&timed), ..row(memory) });
        }
    }
    let pushed = bench.settings.pick(PUSHED[0], PUSHED[1]);
    let timed = push(&storage, readers, pushed).await?;
    let memory = mall.memory().await?;
    bench.publish(Row {
        operation: "push of a note",
        callers: Some(1),
        timed: Some(&timed),
        note: format!("to {readers} inboxes; every note is in the feed afterwards; {}", mall.durability()),
        ..row(memory)
    });
    drop(storage);
    mall.close().await
}

async fn fill(storage: &Storage, readers: u64) -> Result<(), BenchError> {
    let notes = (0..AUTHORS * NOTES_EACH).map(|number| Ok(note(number + 1, number % AUTHORS + 1)));
    let follows = (AUTHORS + 1..=AUTHORS + readers).flat_map(|reader| {
        let authors = (1..=AUTHORS).filter(move |author| *author == 1 || (author + reader) % 2 == 0);
        authors.map(move |author| Ok(follow(reader, author)))
    });
    import(storage, users(AUTHORS + readers).chain(notes).chain(follows)).await
}

/// Pushes notes of the first author to the inboxes of all readers, who have all read their feeds.
async fn push(storage: &Storage, readers: u64, notes: u64) -> Result<Timed, BenchError> {
    visit(storage, readers).await?;
    let text =
        NoteText {
            shop: ShopId::new(1), title: "面".into(), images: String::new(), content: "好吃".into()
        };
    let mut times = Vec::new();
    for number in 1..=notes {
        let written = NOON + Duration::from_secs(number);
        let entry = FeedEntry { note: storage.writing.notes.insert(WHO, &text, written).await?, written };
        let began = Instant::now();
        storage.writing.feeds.pass_on(entry, WHO, NOON).await?;
        times.push(began.elapsed());
        for reader in [AUTHORS + 1, AUTHORS + readers] {
            let page = storage.writing.feeds.page(UserId::new(reader), Timestamp::MAX, 1, NOON).await?;
            ensure(page == [entry], || format!("the feed of user {reader} begins with {page:?}"))?;
        }
    }
    Timed::of_batches(&times, notes)
}

/// Lets the first readers read their feeds, which fills their inboxes.
async fn visit(storage: &Storage, readers: u64) -> Result<(), BenchError> {
    let feeds = Arc::clone(&storage.writing.feeds);
    let visits = drive(Load::count(64, readers, Duration::MAX), move |number| {
        let feeds = Arc::clone(&feeds);
        async move {
            let reader = UserId::new(AUTHORS + 1 + number);
            Ok(feeds.page(reader, Timestamp::MAX, PAGE, NOON).await.map(drop)?)
        }
    });
    visits.await.map(drop)
}
