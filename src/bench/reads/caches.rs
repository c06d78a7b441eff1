//! The comparison of caches, and its tables.

use std::ops::ControlFlow;

use anyhow::Context as _;
use mallbox_bench_reads::caches::{CacheCost, CacheQuestion, CacheVerdict, examine};
use mallbox_bench_reads::{Stage, Way};

use super::compared::Compared;
use super::mall_cache::Malls;
use crate::bench::columns::aligned;
use crate::bench::numbers::{micros, rate};
use crate::bench::verdicts::{cell, footer};

/// Explains the columns.
const LEGEND: &str = "\
reads by 8 callers: half of one shop, a quarter of 499 others, a quarter of 100 absent ones; from an empty cache on
absent: of 100 reads of 10 absent shops those that reach the database   hot expired: 50 callers of one shop
filled together: 500 entries   read in write, write in read: what readers get after both have ended";

/// Compares ways. Returns `None` if `on_step` cancelled.
pub(super) async fn compare(
    stage: &Stage,
    ways: &[&'static Way],
    repeat: usize,
    on_step: &mut impl FnMut(&Way, &'static str) -> ControlFlow<()>,
) -> anyhow::Result<Option<Compared>> {
    let (mut verdicts, mut costs) = (Vec::new(), Vec::new());
    for way in ways {
        let result = examine(stage, way, &Malls, repeat, |words| on_step(way, words)).await;
        let Some(result) = result.context(way.name)? else { return Ok(None) };
        verdicts.extend(result.verdicts);
        costs.push(result.cost);
    }
    let text = text(ways, &verdicts, &costs);
    Ok(Some(Compared::new(ways, &verdicts, &costs, text)))
}

fn text(ways: &[&Way], verdicts: &[CacheVerdict], costs: &[CacheCost]) -> String {
    let mut first =
        vec![["", "reads", "p50", "p99", "loads/1,000", "absent", "filled together"].map(str::to_owned)];
    let titles = ["", "hot expired", "while it is loaded", "read in write", "write in read", "holder killed"];
    let mut second = vec![titles.map(str::to_owned)];
    for way in ways {
        let of = |question| cell(verdicts, way.name, question);
        let cost = costs.iter().find(|cost| cost.way == way.name);
        let figure = |figure: fn(&CacheCost) -> String| cost.map(figure).unwrap_or_default();
        first.push([
            way.name.to_owned(),
            figure(|cost| rate(cost.reads_per_s)),
            figure(|cost| micros(cost.p50_us)),
            figure(|cost| micros(cost.p99_us)),
            figure(|cost| format!("{:.1}", cost.loads_per_1000)),
            of(CacheQuestion::Absent),
            of(CacheQuestion::FilledTogether),
        ]);
        second.push([
            way.name.to_owned(),
            of(CacheQuestion::HotExpired),
            of(CacheQuestion::WhileLoading),
            of(CacheQuestion::ReadInWrite),
            of(CacheQuestion::WriteInRead),
            of(CacheQuestion::HolderKilled),
        ]);
    }
    let reads = format!("reads, and what reaches the database\n{}\n", aligned(&first, &(1..5)));
    let stampede = format!("stampede and consistency\n{}\n", aligned(&second, &(0..0)));
    reads + &stampede + &footer(LEGEND, verdicts)
}

#[cfg(test)]
mod tests {
    use mallbox_bench_reads::caches::WAYS;

    use super::*;

    #[test]
    fn tables_fit_a_terminal() {
        let cost = |way: &Way| CacheCost {
            way: way.name,
            reads_per_s: 1_234_567.0,
            p50_us: 123.4,
            p99_us: 123_456.0,
            loads_per_1000: 1_000.0,
        };
        let costs: Vec<_> = WAYS.iter().map(cost).collect();
        let ways: Vec<_> = WAYS.iter().collect();
        let text = text(&ways, &[], &costs);
        assert!(
            text.contains("aside              1,234,567 /s  123 µs  123 ms       1000.0  −       −\n"),
            "{text}"
        );
        assert!(text.lines().all(|line| line.chars().count() <= 115), "{text}");
    }
}
