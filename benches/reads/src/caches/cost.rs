//! What a read costs, and how many reach the database.

use std::sync::Arc;
use std::time::Duration;

use mallbox_bench_ports::{BenchError, Load, drive, ensure};
use serde::Serialize;

use super::shop_cache::SHOPS;
use super::ways::{MallCaches, open};
use crate::{Stage, Way};

/// Callers at once.
const CALLERS: usize = 8;
/// Ids of shops that do not exist, from this one on, and their number.
const ABSENT: u64 = 1_000_000;
const ABSENT_IDS: u64 = 100;

/// Costs of a way. Names of fields are those of the published file.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CacheCost {
    /// Name of the way.
    pub way: &'static str,
    /// Reads per second by eight callers. Half of the reads are of one shop, a quarter of others, a quarter
    /// of shops that do not exist.
    pub reads_per_s: f64,
    /// Median of the time of a read, in µs.
    pub p50_us: f64,
    /// 99th percentile of the time of a read, in µs.
    pub p99_us: f64,
    /// Reads of the database per thousand reads, from an empty cache on.
    pub loads_per_1000: f64,
}

/// Measures a way.
pub(super) async fn cost(stage: &Stage, way: &Way, malls: &dyn MallCaches) -> Result<CacheCost, BenchError> {
    let span = stage.effort.pick(Duration::from_millis(300), Duration::from_secs(2));
    let cache = open(way, stage, malls).await?;
    let reading = Arc::clone(&cache);
    let timed = drive(Load::span(CALLERS, span), move |number| {
        let cache = Arc::clone(&reading);
        async move {
            let shop = match number % 4 {
                0 | 1 => 1,
                2 => 1 + number.wrapping_mul(7_919) % SHOPS,
                _ => ABSENT + number.wrapping_mul(7_919) % ABSENT_IDS,
            };
            let found = cache.read(shop).await?;
            ensure(found == (shop < ABSENT).then_some(1), || format!("the value of shop {shop} is {found:?}"))
        }
    })
    .await?;
    let loads = cache.loads().count();
    cache.remove().await?;
    Ok(CacheCost {
        way: way.name,
        reads_per_s: timed.per_second(),
        p50_us: timed.micros(0.5),
        p99_us: timed.micros(0.99),
        loads_per_1000: 1_000.0 * loads as f64 / timed.done.max(1) as f64,
    })
}
