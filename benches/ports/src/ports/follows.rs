//! Follows in common of two users, beside `SINTER`.

use std::collections::BTreeSet;
use std::sync::Arc;

use mallbox_storage::{Page, UserId};

use crate::bench::{Bench, Row, agree};
use crate::claims::NOON;
use crate::content::{follow, import, users};
use crate::error::{BenchError, ensure};
use crate::load::{Load, drive};
use crate::mall::{Keep, Mall, Raw};
use crate::part::Draft;
use crate::settings::{Settings, Side};

/// Users in a page of the list.
const PAGE: u32 = 20;
/// Pairs of users with equally many follows.
const PAIRS: u64 = 20;

pub(crate) fn parts(settings: &Settings) -> Vec<Draft> {
    let sizes: &[u64] = settings.pick(&[200], &[100, 1_000, 10_000]);
    let draft = |side: Side, size: u64| {
        let raw = usize::from(side == Side::Servers);
        let measurements = (2 + raw) * settings.callers().len();
        let seconds =
            4.0 + (size * PAIRS * 2) as f64 / 20_000.0 + measurements as f64 * settings.span().as_secs_f64();
        Draft { side: Some(side), size, measurements, seconds }
    };
    sizes.iter().flat_map(|size| settings.sides.iter().map(|side| draft(*side, *size))).collect()
}

/// Returns the users that the first or the second user of a pair follows: half of them in common.
fn followees(pair: u64, is_second: bool, size: u64) -> std::ops::Range<u64> {
    let first = 2 * PAIRS + 1 + pair + if is_second { size / 2 } else { 0 };
    first..first + size
}

fn pair_of(pair: u64) -> (u64, u64) {
    (2 * pair + 1, 2 * pair + 2)
}

pub(crate) async fn measure(bench: &mut Bench) -> Result<(), BenchError> {
    let mall = bench.own_mall(Keep::Durably).await?;
    let size = bench.part.size;
    let everybody = 3 * PAIRS + 2 * size;
    let all = (0..PAIRS).flat_map(|pair| {
        let (one, other) = pair_of(pair);
        let of_one = followees(pair, false, size).map(move |followee| Ok(follow(one, followee)));
        of_one.chain(followees(pair, true, size).map(move |followee| Ok(follow(other, followee))))
    });
    import(&mall.storage, users(everybody).chain(all)).await?;
    mall.analyze("follows").await?;
    common(bench, &mall).await?;
    let follows = Arc::clone(&mall.storage.people.follows);
    let mut made = 0;
    for callers in bench.settings.callers() {
        let (first, port) = (made, Arc::clone(&follows));
        let timed = drive(Load::span(callers, bench.settings.span()), move |number| {
            let (port, number) = (Arc::clone(&port), first + number);
            async move {
                let (user, followee) = (UserId::new(everybody + 1 + number), UserId::new(1 + number % PAIRS));
                let is_new = port.follow(user, followee, NOON).await?;
                ensure(is_new, || format!("user {} followed before", user.get()))
            }
        })
        .await?;
        made += timed.done;
        let operation = "follow";
        publish(
            bench,
            &mall,
            Row { operation, callers: Some(callers), timed: Some(&timed), ..Row::default() },
        );
    }
    if let Some(raw) = mall.raw() {
        intersection(bench, &mall, &raw).await?;
    }
    mall.close().await
}

async fn common(bench: &mut Bench, mall: &Mall) -> Result<(), BenchError> {
    let size = bench.part.size;
    let memory = mall.memory().await?;
    for callers in bench.settings.callers() {
        let port = Arc::clone(&mall.storage.people.follows);
        let timed = drive(Load::span(callers, bench.settings.span()), move |number| {
            let port = Arc::clone(&port);
            async move {
                let (one, other) = pair_of(number % PAIRS);
                let page =
                    port.common(UserId::new(one), UserId::new(other), Page::new(1, PAGE)).await?.len() as u64;
                let right = u64::from(PAGE).min(size - size / 2);
                ensure(page == right, || format!("{page} users in common on a page of {right}"))
            }
        })
        .await?;
        let (operation, timed) = ("in common, first page", Some(&timed));
        publish(bench, mall, Row { operation, callers: Some(callers), timed, memory, ..Row::default() });
    }
    Ok(())
}

/// `SINTER` returns the whole intersection.
async fn intersection(bench: &mut Bench, mall: &Mall, raw: &Raw) -> Result<(), BenchError> {
    let (size, before) = (bench.part.size, raw.memory().await?);
    for pair in 0..PAIRS {
        for (user, is_second) in [(pair_of(pair).0, false), (pair_of(pair).1, true)] {
            let mut add = raw.command("SADD", &format!("follows:{user}"));
            for followee in followees(pair, is_second, size) {
                add.arg(followee);
            }
            raw.redis.query::<()>(&add).await?;
        }
    }
    let memory = raw.growth(before).await?;
    let (one, other) = pair_of(3);
    let page = Page::new(1, u32::MAX);
    let of_port = mall.storage.people.follows.common(UserId::new(one), UserId::new(other), page).await?;
    let of_port: BTreeSet<u64> = of_port.into_iter().map(UserId::get).collect();
    agree("follows in common", &of_port, &inter(raw, 3).await?)?;
    for callers in bench.settings.callers() {
        let shared = raw.clone();
        let timed = drive(Load::span(callers, bench.settings.span()), move |number| {
            let raw = shared.clone();
            async move { inter(&raw, number % PAIRS).await.map(drop) }
        })
        .await?;
        bench.publish(Row {
            operation: "in common, first page",
            back_end: "SINTER",
            callers: Some(callers),
            timed: Some(&timed),
            memory,
            note: "the whole intersection, equal to the port's; no pages".to_owned(),
            ..Row::default()
        });
    }
    Ok(())
}

async fn inter(raw: &Raw, pair: u64) -> Result<BTreeSet<u64>, BenchError> {
    let (one, other) = pair_of(pair);
    let other = format!("{}:follows:{other}", raw.prefix);
    raw.redis.query(raw.command("SINTER", &format!("follows:{one}")).arg(other)).await
}

fn publish(bench: &mut Bench, mall: &Mall, row: Row<'_>) {
    bench.publish(Row { back_end: mall.side.back_end(), note: mall.durability().to_owned(), ..row });
}
