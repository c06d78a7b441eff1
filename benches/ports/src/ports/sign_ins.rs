//! Daily sign-ins, beside the two bitmaps of tutorials: one per user and month, and one per day.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mallbox_storage::{Day, DaySpan, SignIns, StoreError, UserId};

use crate::bench::{Bench, Row};
use crate::claims::NOON;
use crate::error::{BenchError, ensure};
use crate::load::{Load, Timed, drive};
use crate::mall::{Keep, Mall, Raw};
use crate::part::Draft;
use crate::settings::{Settings, Side};

/// The first day, on which every user signs. Later days of the month are signed while it is measured.
const FIRST: (i32, usize, i32) = (2026, 11, 2);
/// Callers of a fill.
const FILLERS: usize = 512;
/// Counts of a day, one after another.
const COUNTS: usize = 20;
/// Days that a streak of tutorials looks back, at most.
const MONTH_DAYS: i32 = 30;

pub(crate) fn parts(settings: &Settings) -> Vec<Draft> {
    let sizes: &[u64] = settings.pick(&[2_000], &[10_000, 100_000, 1_000_000]);
    let draft = |side: Side, size: u64| {
        let of_mall = 2 * settings.callers().len() + 1;
        let measurements = if side == Side::Servers { 3 * of_mall - 1 } else { of_mall };
        let filled = if side == Side::Servers { 8_000.0 } else { 40_000.0 };
        let seconds = 3.0 + size as f64 / filled + measurements as f64 * settings.span().as_secs_f64();
        Draft { side: Some(side), size, measurements, seconds }
    };
    sizes.iter().flat_map(|size| settings.sides.iter().map(|side| draft(*side, *size))).collect()
}

pub(crate) async fn measure(bench: &mut Bench) -> Result<(), BenchError> {
    let mall = bench.own_mall(Keep::Durably).await?;
    let signs = Arc::clone(&mall.storage.people.sign_ins);
    let way = Way::Port(signs);
    of_way(bench, &way, (mall.side.back_end(), mall.durability()), Memory::Mall(&mall)).await?;
    if let Some(raw) = mall.raw() {
        let bitmaps = [("SETBIT per user and month", true), ("SETBIT per day", false)];
        for (back_end, per_user) in bitmaps {
            let before = raw.memory().await?;
            let way = Way::Bitmap { raw: raw.clone(), per_user };
            let note = format!("no credits, no made-up days; {}", mall.durability());
            let memory = if per_user { Memory::Raw(&raw, before) } else { Memory::Day(&raw) };
            of_way(bench, &way, (back_end, &note), memory).await?;
        }
    }
    mall.close().await
}

/// A way to keep sign-ins.
#[derive(Clone)]
enum Way {
    Port(Arc<dyn SignIns>),
    Bitmap { raw: Raw, per_user: bool },
}

/// Whose memory grows.
enum Memory<'a> {
    Mall(&'a Mall),
    Raw(&'a Raw, Option<u64>),
    /// The bitmap of the first day.
    Day(&'a Raw),
}

impl Memory<'_> {
    async fn growth(&self) -> Result<Option<u64>, BenchError> {
        match self {
            Self::Mall(mall) => mall.memory().await,
            Self::Raw(raw, before) => raw.growth(*before).await,
            Self::Day(raw) => raw.memory_of(&place(false, UserId::new(0), first_day()?).0).await,
        }
    }
}

async fn of_way(
    bench: &mut Bench,
    way: &Way,
    (back_end, note): (&str, &str),
    memory: Memory<'_>,
) -> Result<(), BenchError> {
    let (users, span) = (bench.part.size, bench.settings.span());
    let first = first_day()?;
    sign_all(way, first, users).await?;
    let memory = memory.growth().await?;
    let row = || Row { back_end, note: note.to_owned(), memory, ..Row::default() };
    let mut day = first;
    for callers in bench.settings.callers() {
        let signer = way.clone();
        day = Day::from_number(day.number() + 2).unwrap_or(day);
        let timed = drive(Load::span(callers, span).at_most(users), move |number| {
            let way = signer.clone();
            async move {
                let is_new = way.sign(UserId::new(number), day).await?;
                ensure(is_new, || format!("user {number} had signed before"))
            }
        })
        .await?;
        bench.publish(Row { operation: "sign", callers: Some(callers), timed: Some(&timed), ..row() });
        let asker = way.clone();
        let timed = drive(Load::span(callers, span), move |number| {
            let way = asker.clone();
            async move {
                let user = UserId::new(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) % users);
                let streak = way.streak(user, first).await?;
                ensure(streak == 1, || format!("the streak of user {} is {streak} days", user.get()))
            }
        })
        .await?;
        bench.publish(Row { operation: "streak", callers: Some(callers), timed: Some(&timed), ..row() });
    }
    if matches!(way, Way::Bitmap { per_user: true, .. }) {
        // Its bitmaps would all have to be read.
        return Ok(());
    }
    let mut times = Vec::new();
    for _ in 0..COUNTS {
        let began = Instant::now();
        let count = way.count(first).await?;
        times.push(began.elapsed());
        ensure(count == users, || format!("{count} users signed, not {users}"))?;
    }
    let timed = Timed::of_batches(&times, COUNTS as u64)?;
    bench.publish(Row { operation: "count of a day", callers: Some(1), timed: Some(&timed), ..row() });
    Ok(())
}

fn first_day() -> Result<Day, BenchError> {
    let (year, month, day) = FIRST;
    Day::of(year, month, day).ok_or_else(|| BenchError::Wrong("the first day does not exist".to_owned()))
}

async fn sign_all(way: &Way, day: Day, users: u64) -> Result<(), BenchError> {
    let way = way.clone();
    let signed = drive(Load::count(FILLERS, users, Duration::MAX), move |number| {
        let way = way.clone();
        async move { way.sign(UserId::new(number), day).await.map(drop) }
    });
    signed.await.map(drop)
}

impl Way {
    async fn sign(&self, user: UserId, day: Day) -> Result<bool, BenchError> {
        match self {
            Self::Port(signs) => Ok(signs.sign(user, day, NOON).await?),
            Self::Bitmap { raw, per_user } => {
                let (key, bit) = place(*per_user, user, day);
                let was: u64 = raw.redis.query(raw.command("SETBIT", &key).arg(bit).arg(1)).await?;
                Ok(was == 0)
            }
        }
    }

    async fn streak(&self, user: UserId, up_to: Day) -> Result<u32, BenchError> {
        match self {
            Self::Port(signs) => Ok(signs.streak(user, up_to).await?),
            Self::Bitmap { raw, per_user: true } => {
                let (key, bit) = place(true, user, up_to);
                let days = format!("u{}", bit + 1);
                let bits: Vec<u64> =
                    raw.redis.query(raw.command("BITFIELD", &key).arg("GET").arg(days).arg(0)).await?;
                Ok(bits.first().map_or(0, |bits| bits.trailing_ones()))
            }
            Self::Bitmap { raw, per_user: false } => {
                let mut bits = redis::pipe();
                for back in 0..MONTH_DAYS {
                    let Some(day) = Day::from_number(up_to.number() - back) else { break };
                    let (key, bit) = place(false, user, day);
                    bits.add_command(raw.command("GETBIT", &key).arg(bit).to_owned());
                }
                let bits: Vec<u8> = raw.redis.pipeline(&bits).await?;
                Ok(bits.iter().take_while(|bit| **bit == 1).map(|_| 1).sum())
            }
        }
    }

    async fn count(&self, day: Day) -> Result<u64, BenchError> {
        match self {
            Self::Port(signs) => count(signs, day).await,
            Self::Bitmap { raw, .. } => {
                let (key, _) = place(false, UserId::new(0), day);
                raw.redis.query(&raw.command("BITCOUNT", &key)).await
            }
        }
    }
}

/// Counts a day. A day that was not asked for recently is loaded first.
async fn count(signs: &Arc<dyn SignIns>, day: Day) -> Result<u64, BenchError> {
    let span = DaySpan::new(day, day).ok_or_else(|| BenchError::Wrong("a day is no span".to_owned()))?;
    loop {
        match signs.counts(span).await {
            Ok(counts) => return Ok(counts.first().copied().unwrap_or(0)),
            Err(StoreError::Unavailable { .. }) => tokio::time::sleep(Duration::from_millis(20)).await,
            Err(error) => return Err(error.into()),
        }
    }
}

/// Returns the key and the bit of a sign-in.
fn place(per_user: bool, user: UserId, day: Day) -> (String, u64) {
    if per_user {
        let (year, month, _) = FIRST;
        (format!("sign:{}:{year}{month:02}", user.get()), u64::from(day.of_month().unsigned_abs()) - 1)
    } else {
        (format!("sign:{day}"), user.get())
    }
}
