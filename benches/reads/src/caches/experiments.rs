//! Experiments on one cache: absent shops, a hot entry that expires, overlapping reads and writes, a dead
//! holder of a lock.

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mallbox_bench_ports::{BenchError, ensure};
use mallbox_bench_verdicts::Finding;
use tokio::task::JoinSet;

use super::question::CacheQuestion;
use super::shop_cache::{SHOPS, ShopCache, WriteStep};

/// The shop that everybody reads.
const HOT: u64 = 7;
/// Callers of a hot shop.
const CALLERS: u64 = 50;
/// Shops that do not exist, and how often each is read.
const ABSENT: std::ops::RangeInclusive<u64> = 1_000_001..=1_000_010;
const READS_EACH: u64 = 10;
/// Entries expire together if all end within this time.
const TOGETHER: Duration = Duration::from_secs(5);
/// Pause of a write that deletes twice.
const PAUSE: Duration = Duration::from_millis(500);

type Found = Result<Vec<Finding<CacheQuestion>>, BenchError>;
pub(super) type Experiment =
    for<'a> fn(&'a Arc<dyn ShopCache>) -> Pin<Box<dyn Future<Output = Found> + Send + 'a>>;

/// The experiments, each on a cache of its own.
pub(super) const EXPERIMENTS: &[(&str, Experiment)] = &[
    ("absent shops", |cache| Box::pin(absent(cache))),
    ("a hot entry expires", |cache| Box::pin(hot_expired(cache))),
    ("entries filled together", |cache| Box::pin(filled_together(cache))),
    ("a read between the steps of a write", |cache| Box::pin(read_in_write(cache))),
    ("a write between the steps of a read", |cache| Box::pin(write_in_read(cache))),
    ("holder of the lock killed", |cache| Box::pin(holder_killed(cache))),
];

async fn absent(cache: &Arc<dyn ShopCache>) -> Found {
    for _ in 0..READS_EACH {
        for shop in ABSENT {
            let found = cache.read(shop).await?;
            ensure(found.is_none(), || format!("shop {shop} does not exist, and its value is {found:?}"))?;
        }
    }
    let (loads, reads) = (cache.loads().count(), ABSENT.count() as u64 * READS_EACH);
    let detail = format!("{loads} reads of the database for {reads} reads of absent shops");
    Ok(vec![Finding::new(CacheQuestion::Absent, format!("{loads} of {reads}"), detail)])
}

/// All callers read a shop whose entry has expired, while the first load is held.
async fn hot_expired(cache: &Arc<dyn ShopCache>) -> Found {
    cache.warm(HOT..=HOT).await?;
    cache.expire(HOT).await?;
    cache.loads().reset();
    cache.loads().hold();
    let mut callers = JoinSet::new();
    for _ in 0..CALLERS {
        let cache = Arc::clone(cache);
        callers.spawn(async move { cache.read(HOT).await });
    }
    let loads = cache.loads().settled().await;
    let mut answered = 0;
    while let Some(read) = callers.try_join_next() {
        ensure(read?? == Some(1), || "a caller got another value".to_owned())?;
        answered += 1;
    }
    cache.loads().release();
    while let Some(read) = callers.join_next().await {
        ensure(read?? == Some(1), || "a caller got another value".to_owned())?;
    }
    let verdict = match loads {
        CALLERS => "each loads".to_owned(),
        1 => "one loads".to_owned(),
        loads => format!("{loads} load"),
    };
    let loaded =
        Finding::new(CacheQuestion::HotExpired, verdict, format!("{loads} of {CALLERS} callers loaded"));
    let verdict = match answered {
        0 => "wait",
        CALLERS => "old value at once",
        _ => "some wait",
    };
    let detail = format!("{answered} of {CALLERS} callers had an answer before the load ended");
    Ok(vec![loaded, Finding::new(CacheQuestion::WhileLoading, verdict, detail)])
}

async fn filled_together(cache: &Arc<dyn ShopCache>) -> Found {
    cache.warm(1..=SHOPS).await?;
    let lifetimes = cache.lifetimes(1..=SHOPS).await?;
    let ends = lifetimes.iter().min().zip(lifetimes.iter().max());
    Ok(ends.map_or_else(Vec::new, |(first, last)| {
        let spread = *last - *first;
        let verdict = if spread < TOGETHER { "together" } else { "spread" };
        let (entries, spread) = (lifetimes.len(), spread.as_secs_f64());
        let detail = format!("{entries} entries expire within {spread:.1} s");
        vec![Finding::new(CacheQuestion::FilledTogether, verdict, detail)]
    }))
}

/// A reader comes after the first step of a write.
async fn read_in_write(cache: &Arc<dyn ShopCache>) -> Found {
    cache.warm(HOT..=HOT).await?;
    let (first, rest) = cache.write_steps().split_at(1);
    write(cache, first).await?;
    let between = cache.read(HOT).await?;
    write(cache, rest).await?;
    stale(cache, CacheQuestion::ReadInWrite, &format!("the reader in between got {between:?}")).await
}

/// A reader has loaded the old row and waits; the write runs as far as its pause; the reader stores; the
/// write goes on.
async fn write_in_read(cache: &Arc<dyn ShopCache>) -> Found {
    cache.warm(HOT..=HOT).await?;
    cache.remove_entry(HOT).await?;
    cache.loads().reset();
    cache.loads().hold();
    let reading = Arc::clone(cache);
    let reader = tokio::spawn(async move { reading.read(HOT).await });
    let loads = cache.loads().settled().await;
    ensure(loads == 1, || format!("{loads} reads of the database instead of one"))?;
    let steps = cache.write_steps();
    let pause = steps.iter().position(|step| *step == WriteStep::Pause).unwrap_or(steps.len());
    let (first, rest) = steps.split_at(pause);
    write(cache, first).await?;
    cache.loads().release();
    let old = reader.await??;
    write(cache, rest).await?;
    // The reader may store in the background.
    tokio::time::sleep(PAUSE).await;
    stale(cache, CacheQuestion::WriteInRead, &format!("the reader got {old:?}")).await
}

/// Takes steps of a write of the value 2.
async fn write(cache: &Arc<dyn ShopCache>, steps: &[WriteStep]) -> Result<(), BenchError> {
    for step in steps {
        match step {
            WriteStep::Row => cache.put_row(HOT, 2).await?,
            WriteStep::Entry => cache.renew_entry(HOT).await?,
            WriteStep::Pause => tokio::time::sleep(PAUSE).await,
        }
    }
    Ok(())
}

/// Returns whether readers still get the old value after the write of 2.
async fn stale(cache: &Arc<dyn ShopCache>, question: CacheQuestion, detail: &str) -> Found {
    let found = cache.read(HOT).await?;
    let verdict = match found {
        Some(2) => "new value",
        Some(1) => "old value stays",
        _ => "no value",
    };
    Ok(vec![Finding::new(question, verdict, format!("{detail}, the one after the write {found:?}"))])
}

async fn holder_killed(cache: &Arc<dyn ShopCache>) -> Found {
    cache.warm(HOT..=HOT).await?;
    cache.remove_entry(HOT).await?;
    if !cache.leave_lock(HOT).await? {
        return Ok(Vec::new());
    }
    let began = Instant::now();
    let found = cache.read(HOT).await?;
    let took = began.elapsed().as_millis();
    let verdict = if cache.is_locked(HOT).await? { "go on" } else { "wait for its end" };
    ensure(found == Some(1), || format!("the value is {found:?} instead of 1"))?;
    Ok(vec![Finding::new(CacheQuestion::HolderKilled, verdict, format!("an answer after {took} ms"))])
}
