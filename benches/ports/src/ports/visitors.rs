//! Visitors: recording and counting, and the error of the estimate over many seeds, beside `PFADD` and
//! `PFCOUNT`.

use std::time::{Duration, Instant};

use mallbox_storage::{Day, DaySpan, ShopId, Visit, VisitTarget, Visitor};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::bench::{Bench, Row};
use crate::error::{BenchError, ensure};
use crate::load::Timed;
use crate::mall::{Keep, Mall, Raw};
use crate::part::Draft;
use crate::settings::{Settings, Side};

/// Visits in a batch, as the mall sends them; elements of a `PFADD`.
const BATCH: usize = 8_192;
const ELEMENTS: usize = 1_024;
/// Greatest root mean square of the relative error: a HyperLogLog with 2^14 registers has 0.81 %.
const ERROR_MAX: f64 = 0.016;
/// Visits per second, for the estimate: in a directory, and through a connection to Redis.
const VISITS_PER_S: [f64; 2] = [8_000_000.0, 900_000.0];

/// Numbers of visitors at which seeds are counted, with the number of seeds.
type Steps = (&'static [u64], u64);

fn steps(size: u64) -> Steps {
    match size {
        10_000_000 => (&[10_000_000], 20),
        1_000_000 => (&[1_000, 10_000, 100_000, 1_000_000], 400),
        _ => (&[1_000, 10_000], 40),
    }
}

pub(crate) fn parts(settings: &Settings) -> Vec<Draft> {
    let sizes: &[u64] = settings.pick(&[10_000], &[1_000_000, 10_000_000]);
    let draft = |side: Side, size: u64| {
        let (counted, seeds) = steps(size);
        let ways = if side == Side::Servers { 2 } else { 1 };
        let visits = (seeds * size) as f64 * ways as f64;
        let seconds = 2.0 + visits / VISITS_PER_S[usize::from(side == Side::Servers)];
        Draft { side: Some(side), size, measurements: ways * 2 * counted.len(), seconds }
    };
    sizes.iter().flat_map(|size| settings.sides.iter().map(|side| draft(*side, *size))).collect()
}

pub(crate) async fn measure(bench: &mut Bench) -> Result<(), BenchError> {
    let mall = bench.own_mall(Keep::InMemory).await?;
    of_way(bench, &Way::Port(&mall), (mall.side.back_end(), mall.durability())).await?;
    if let Some(raw) = mall.raw() {
        of_way(bench, &Way::Pf(&raw), ("PFADD and PFCOUNT", mall.durability())).await?;
    }
    mall.close().await
}

enum Way<'a> {
    Port(&'a Mall),
    Pf(&'a Raw),
}

/// What was seen at one number of visitors.
#[derive(Default)]
struct Step {
    recorded: Vec<Duration>,
    visits: u64,
    counted: Vec<Duration>,
    squares: f64,
    worst: f64,
    /// Memory with the visitors of one seed.
    memory: Option<u64>,
}

async fn of_way(
    bench: &mut Bench,
    way: &Way<'_>,
    (back_end, durability): (&str, &str),
) -> Result<(), BenchError> {
    let (sizes, seeds) = steps(bench.part.size);
    let mut seen: Vec<Step> = sizes.iter().map(|_| Step::default()).collect();
    for seed in 1..=seeds {
        let (mut random, mut visitors) = (StdRng::seed_from_u64(seed), 0);
        for (size, step) in sizes.iter().zip(&mut seen) {
            while visitors < *size {
                let batch: Vec<u64> = (visitors..*size).take(BATCH).map(|_| random.random()).collect();
                visitors += batch.len() as u64;
                step.visits += batch.len() as u64;
                step.recorded.push(way.record(seed, &batch).await?);
            }
            let began = Instant::now();
            let estimate = way.count(seed).await?;
            step.counted.push(began.elapsed());
            let error = estimate as f64 / *size as f64 - 1.0;
            step.squares += error * error;
            step.worst = step.worst.max(error.abs());
            if seed == 1 {
                step.memory = way.memory().await?;
            }
        }
    }
    for (size, step) in sizes.iter().zip(seen) {
        let rms = (step.squares / seeds as f64).sqrt();
        ensure(rms < ERROR_MAX, || format!("{back_end} is off by {rms:.4} (rms) at {size} visitors"))?;
        let note = format!("error over {seeds} seeds, {:.2} % at worst; {durability}", step.worst * 100.0);
        let recorded = Timed::of_batches(&step.recorded, step.visits)?;
        let counted = Timed::of_batches(&step.counted, seeds)?;
        let row = || Row {
            back_end,
            size: Some(*size),
            callers: Some(1),
            memory: step.memory,
            error: Some(rms),
            ..Row::default()
        };
        let of_batch = format!("times of a batch of up to {BATCH} visits; {note}");
        bench.publish(Row { operation: "record", timed: Some(&recorded), note: of_batch, ..row() });
        bench.publish(Row { operation: "count", timed: Some(&counted), note, ..row() });
    }
    Ok(())
}

impl Way<'_> {
    /// Records visitors of a seed's shop. Returns the time.
    async fn record(&self, seed: u64, visitors: &[u64]) -> Result<Duration, BenchError> {
        match self {
            Self::Port(mall) => {
                let (of, day) = (VisitTarget::Shop(ShopId::new(seed)), today()?);
                let visits: Vec<Visit> = visitors
                    .iter()
                    .map(|visitor| Visit { of, day, visitor: Visitor(*visitor), views: 1 })
                    .collect();
                let began = Instant::now();
                mall.storage.people.visitors.note(&visits, day).await?;
                Ok(began.elapsed())
            }
            Self::Pf(raw) => {
                let began = Instant::now();
                for some in visitors.chunks(ELEMENTS) {
                    let mut add = raw.command("PFADD", &format!("uv:{seed}"));
                    for visitor in some {
                        add.arg(*visitor);
                    }
                    raw.redis.query::<()>(&add).await?;
                }
                Ok(began.elapsed())
            }
        }
    }

    async fn count(&self, seed: u64) -> Result<u64, BenchError> {
        match self {
            Self::Port(mall) => {
                let day = today()?;
                let span =
                    DaySpan::new(day, day).ok_or_else(|| BenchError::Wrong("a day is no span".to_owned()))?;
                let shop = VisitTarget::Shop(ShopId::new(seed));
                Ok(mall.storage.people.visitors.count(shop, span, day).await?.visitors)
            }
            Self::Pf(raw) => raw.redis.query(&raw.command("PFCOUNT", &format!("uv:{seed}"))).await,
        }
    }

    async fn memory(&self) -> Result<Option<u64>, BenchError> {
        match self {
            Self::Port(mall) => mall.memory().await,
            Self::Pf(raw) => raw.memory_of("uv:1").await,
        }
    }
}

fn today() -> Result<Day, BenchError> {
    Day::of(2026, 11, 21).ok_or_else(|| BenchError::Wrong("the day does not exist".to_owned()))
}
