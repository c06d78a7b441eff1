//! The comparison of feeds, and its tables.

use std::ops::ControlFlow;

use anyhow::Context as _;
use mallbox_bench_reads::feeds::{FeedCost, FeedQuestion, FeedVerdict, examine};
use mallbox_bench_reads::{Stage, Way};

use super::compared::Compared;
use crate::bench::columns::aligned;
use crate::bench::numbers::{bytes, count, micros, rate};
use crate::bench::verdicts::{cell, footer};

/// Explains the columns.
const LEGEND: &str = "\
note: from the insert until every feed shows it, median   page: 10 notes with their texts, read by 8 callers
new fan: of 30 notes written before   deleted: notes on a page of 10 after its first 3 were deleted
writer killed: after the insert of the note and before the first inbox";

/// Compares ways. Returns `None` if `on_step` cancelled.
pub(super) async fn compare(
    stage: &Stage,
    ways: &[&'static Way],
    repeat: usize,
    on_step: &mut impl FnMut(&Way, &'static str) -> ControlFlow<()>,
) -> anyhow::Result<Option<Compared>> {
    let (mut verdicts, mut costs) = (Vec::new(), Vec::new());
    for way in ways {
        let result = examine(stage, way, repeat, |words| on_step(way, words)).await;
        let Some(result) = result.context(way.name)? else { return Ok(None) };
        verdicts.extend(result.verdicts);
        costs.extend(result.costs);
    }
    let text = text(ways, &verdicts, &costs);
    Ok(Some(Compared::new(ways, &verdicts, &costs, text)))
}

fn text(ways: &[&Way], verdicts: &[FeedVerdict], costs: &[FeedCost]) -> String {
    let mut costs_of_ways =
        vec![["", "fans", "note", "pages", "page p50", "page p99", "Redis/note"].map(str::to_owned)];
    for cost in costs {
        costs_of_ways.push([
            cost.way.to_owned(),
            count(cost.fans),
            micros(cost.write_us),
            rate(cost.pages_per_s),
            micros(cost.page_p50_us),
            micros(cost.page_p99_us),
            cost.redis_bytes_per_note.map_or_else(|| "−".to_owned(), bytes),
        ]);
    }
    let mut verdicts_of_ways =
        vec![["", "new fan", "unfollowed", "deleted", "writer killed"].map(str::to_owned)];
    for way in ways {
        let [late, unfollowed, deleted, killed] =
            FeedQuestion::ALL.map(|question| cell(verdicts, way.name, question));
        verdicts_of_ways.push([way.name.to_owned(), late, unfollowed, deleted, killed]);
    }
    let costs = format!("cost by number of fans\n{}\n", aligned(&costs_of_ways, &(1..7)));
    let seen = format!("what readers see\n{}\n", aligned(&verdicts_of_ways, &(0..0)));
    costs + &seen + &footer(LEGEND, verdicts)
}

#[cfg(test)]
mod tests {
    use mallbox_bench_reads::feeds::WAYS;

    use super::*;

    #[test]
    fn tables_fit_a_terminal() {
        let cost = |way: &Way| FeedCost {
            way: way.name,
            fans: 100_000,
            notes: 100,
            write_us: 1_234_567.0,
            pages_per_s: 123_456.0,
            page_p50_us: 1_234.0,
            page_p99_us: 123_456.0,
            redis_bytes_per_note: Some(12_345_678),
        };
        let costs: Vec<_> = WAYS.iter().map(cost).collect();
        let ways: Vec<_> = WAYS.iter().collect();
        let text = text(&ways, &[], &costs);
        assert!(
            text.contains(
                "push               100,000  1,235 ms  123,456 /s   1.23 ms    123 ms   11.77 MiB\n"
            ),
            "{text}"
        );
        assert!(text.lines().all(|line| line.chars().count() <= 110), "{text}");
    }
}
