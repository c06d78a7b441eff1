//! The order log: hand-out, acknowledgement, and replay after a consumer died.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mallbox_storage::{ClaimOutcome, LoggedClaim, OrderId, OrderLog, VoucherId};

use crate::bench::{Bench, Row};
use crate::claims::{BATCH, TOKEN, claim, expect_claim, terms};
use crate::error::{BenchError, ensure};
use crate::load::{Load, Timed, drive};
use crate::mall::Keep;
use crate::part::Draft;
use crate::settings::Settings;

const SALE: VoucherId = VoucherId::new(1);
/// Claims at once while the log is filled.
const BUYERS: usize = 512;
/// The consumers: one dies with all claims in hand, another settles half of them.
const DEAD: &str = "dead";
const HEIR: &str = "heir";
/// Longest wait for a claim that is there, and for one that is not.
const WAIT: Duration = Duration::from_secs(10);
const SHORT_WAIT: Duration = Duration::from_millis(50);

pub(crate) fn parts(settings: &Settings) -> Vec<Draft> {
    let sizes: &[u64] = settings.pick(&[4_000], &[10_000, 100_000, 1_000_000]);
    let draft = |side, size: u64| Draft {
        side: Some(side),
        size,
        measurements: 4,
        seconds: 2.0 + size as f64 / 6_000.0,
    };
    sizes.iter().flat_map(|size| settings.sides.iter().map(|side| draft(*side, *size))).collect()
}

pub(crate) async fn measure(bench: &mut Bench) -> Result<(), BenchError> {
    let mall = bench.own_mall(Keep::Durably).await?;
    let (size, log) = (bench.part.size, Arc::clone(&mall.storage.selling.order_log));
    let sales = Arc::clone(&mall.storage.selling.sales);
    let _ = sales.put(terms(SALE, None), TOKEN).await?;
    drive(Load::count(BUYERS, size, Duration::MAX), move |number| {
        let sales = Arc::clone(&sales);
        async move {
            let claim = claim(SALE, number + 1, number)?;
            expect_claim(&sales, claim, |outcome| outcome == ClaimOutcome::Accepted).await
        }
    })
    .await?;
    let memory = mall.memory().await?;
    let note = format!("in batches of {BATCH}; {}", mall.durability());
    let mut publish = |operation: &str, timed: &Timed, more: &str| {
        bench.publish(Row {
            operation,
            back_end: mall.side.back_end(),
            callers: Some(1),
            timed: Some(timed),
            memory,
            note: format!("{more}{note}"),
            ..Row::default()
        });
    };

    let (taken, timed) = take_all(&log, DEAD, size).await?;
    let orders: HashSet<OrderId> = orders(&taken).collect();
    ensure(orders.len() as u64 == size, || format!("{size} claims, {} different orders", orders.len()))?;
    publish("hand-out", &timed, "");
    // The first half is acknowledged before the consumer dies.
    let (settled, lost) = taken.split_at(taken.len() / 2);
    let mut times = Vec::new();
    for batch in settled.chunks(BATCH) {
        let began = Instant::now();
        let foreign = log.done(DEAD, batch).await?;
        times.push(began.elapsed());
        ensure(foreign.is_empty(), || format!("{} claims in hand belong to another worker", foreign.len()))?;
    }
    publish("acknowledge", &Timed::of_batches(&times, settled.len() as u64)?, "");
    let began = Instant::now();
    let replayed = log.reclaim(DEAD).await?;
    let took = began.elapsed();
    ensure(replayed == lost.len(), || format!("{replayed} claims were queued again, not {}", lost.len()))?;
    let again = Timed::of_batches(&[took], lost.len() as u64)?;
    publish("requeue of a dead consumer", &again, "all claims in one call; ");
    let (again, timed) = take_all(&log, HEIR, lost.len() as u64).await?;
    let (again, lost): (HashSet<OrderId>, HashSet<OrderId>) = (orders_of(&again), orders_of(lost));
    ensure(again == lost, || "the claims replayed are not those that were never acknowledged".to_owned())?;
    ensure(log.take(HEIR, 1, SHORT_WAIT).await?.is_empty(), || {
        "an acknowledged claim was replayed".to_owned()
    })?;
    publish("replay", &timed, "exactly the unacknowledged claims; ");
    mall.close().await
}

/// Takes `count` claims. Returns them, and the time of each batch.
async fn take_all(
    log: &Arc<dyn OrderLog>,
    worker: &str,
    count: u64,
) -> Result<(Vec<LoggedClaim>, Timed), BenchError> {
    let (mut taken, mut times) = (Vec::new(), Vec::new());
    while (taken.len() as u64) < count {
        let began = Instant::now();
        let batch = log.take(worker, BATCH, WAIT).await?;
        times.push(began.elapsed());
        ensure(!batch.is_empty(), || format!("{} claims were handed out, not {count}", taken.len()))?;
        taken.extend(batch);
    }
    let timed = Timed::of_batches(&times, taken.len() as u64)?;
    Ok((taken, timed))
}

fn orders(claims: &[LoggedClaim]) -> impl Iterator<Item = OrderId> {
    claims.iter().map(|logged| logged.claim.order)
}

fn orders_of(claims: &[LoggedClaim]) -> HashSet<OrderId> {
    orders(claims).collect()
}
