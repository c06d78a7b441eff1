//! Sessions: begin, find and end.

use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{NewSession, Sessions, TokenHash, UserId};

use crate::bench::{Bench, Row};
use crate::claims::NOON;
use crate::error::{BenchError, ensure};
use crate::insist::insist;
use crate::load::{Load, drive};
use crate::mall::{Keep, Mall};
use crate::part::Draft;
use crate::settings::Settings;

const TTL: Duration = Duration::from_secs(30 * 60);
/// Callers of a fill.
const FILLERS: usize = 512;

pub(crate) fn parts(settings: &Settings) -> Vec<Draft> {
    let sizes: &[u64] = settings.pick(&[2_000], &[10_000, 100_000, 1_000_000]);
    let measurements = 3 * settings.callers().len();
    let draft = |side, size: u64| {
        let seconds = 2.0 + size as f64 / 10_000.0 + measurements as f64 * settings.span().as_secs_f64();
        Draft { side: Some(side), size, measurements, seconds }
    };
    sizes.iter().flat_map(|size| settings.sides.iter().map(|side| draft(*side, *size))).collect()
}

pub(crate) async fn measure(bench: &mut Bench) -> Result<(), BenchError> {
    let mall = bench.own_mall(Keep::Durably).await?;
    let (live, sessions) = (bench.part.size, Arc::clone(&mall.storage.people.sessions));
    let port = Arc::clone(&sessions);
    drive(Load::count(FILLERS, live, Duration::MAX), move |number| {
        let port = Arc::clone(&port);
        async move { begin(&port, number).await }
    })
    .await?;
    let memory = mall.memory().await?;
    let (mut next, span) = (live, bench.settings.span());
    for callers in bench.settings.callers() {
        let (first, port) = (next, Arc::clone(&sessions));
        let timed = drive(Load::span(callers, span), move |number| {
            let port = Arc::clone(&port);
            async move { begin(&port, first + number).await }
        })
        .await?;
        publish(
            bench,
            &mall,
            Row { operation: "begin", callers: Some(callers), timed: Some(&timed), memory, ..Row::default() },
        );
        let port = Arc::clone(&sessions);
        let found = drive(Load::span(callers, span), move |number| {
            let (port, number) = (Arc::clone(&port), number.wrapping_mul(0x9E37_79B9_7F4A_7C15) % live);
            async move {
                let session = insist(|| port.find(token(number), TTL, NOON)).await?;
                let user = session.map(|session| session.user);
                ensure(user == Some(UserId::new(number)), || format!("session {number} is of {user:?}"))
            }
        })
        .await?;
        publish(
            bench,
            &mall,
            Row { operation: "find", callers: Some(callers), timed: Some(&found), memory, ..Row::default() },
        );
        let (port, begun) = (Arc::clone(&sessions), timed.done);
        let ended = drive(Load::span(callers, span).at_most(begun), move |number| {
            let port = Arc::clone(&port);
            async move { Ok(insist(|| port.end(token(first + number))).await?) }
        })
        .await?;
        let gone = sessions.find(token(first), TTL, NOON).await?;
        ensure(gone.is_none(), || "an ended session is still live".to_owned())?;
        publish(
            bench,
            &mall,
            Row { operation: "end", callers: Some(callers), timed: Some(&ended), memory, ..Row::default() },
        );
        next += begun;
    }
    mall.close().await
}

async fn begin(sessions: &Arc<dyn Sessions>, number: u64) -> Result<(), BenchError> {
    let session = NewSession::of(UserId::new(number), TTL);
    Ok(insist(|| sessions.begin(token(number), &session, NOON)).await?)
}

/// Returns the key of a session: spread evenly, as hashes are.
fn token(number: u64) -> TokenHash {
    let mut bytes = [0; 32];
    for (turn, eight) in (1..).zip(bytes.chunks_exact_mut(8)) {
        let mixed = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(17 * turn);
        eight.copy_from_slice(&(mixed ^ number).to_le_bytes());
    }
    TokenHash(bytes)
}

fn publish(bench: &mut Bench, mall: &Mall, row: Row<'_>) {
    bench.publish(Row { back_end: mall.side.back_end(), note: mall.durability().to_owned(), ..row });
}
