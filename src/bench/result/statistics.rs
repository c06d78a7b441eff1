//! Medians of several runs with intervals, and comparisons that say when there is no difference.

use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};
use serde::Serialize;

use super::run::{Class, Run, System};

/// The workload whose runs each have their own rate.
pub(in crate::bench) const RAMP: &str = "ramp";
/// The workload whose claims are refused, but for a few.
pub(in crate::bench) const SOLD_OUT: &str = "sold out";
/// Resamplings of a bootstrap.
const RESAMPLES: usize = 2_000;
/// Share of the resamplings within an interval.
const CONFIDENCE: f64 = 0.95;
/// Fewest runs that an interval and a comparison rest on. The bootstrap of a median covers the true one in
/// 93 % of all cases with five runs, and only in 73 % with three.
const RUNS_MIN: usize = 5;
/// Equal results on every machine.
const SEED: u64 = 0x6d61_6c6c_626f_7821;

/// A figure of a system in a workload: the median of its runs, and the bootstrap interval around it.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub(super) struct Figure {
    system: String,
    workload: &'static str,
    figure: &'static str,
    median: f64,
    /// `None` with fewer runs than an interval needs.
    low: Option<f64>,
    high: Option<f64>,
    runs: usize,
}

/// Two systems side by side: the ratio of their medians, `a` to `b`.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub(in crate::bench) struct Comparison {
    pub(in crate::bench) workload: &'static str,
    pub(in crate::bench) figure: &'static str,
    pub(in crate::bench) a: String,
    pub(in crate::bench) b: String,
    pub(in crate::bench) ratio: f64,
    pub(in crate::bench) low: f64,
    pub(in crate::bench) high: f64,
    /// `a` or `b`, whichever is better; `no_difference` if the interval holds 1; `not_comparable` between
    /// different classes.
    pub(in crate::bench) verdict: &'static str,
}

/// Reads a figure of a run.
type Read = fn(&Run) -> Option<f64>;

/// The figures by name, and whether more of it is better.
const FIGURES: [(&str, bool, Read); 11] = [
    ("accepted_per_s", true, |run| (run.workload != SOLD_OUT).then_some(run.rates.accepted_per_s)),
    ("answered_per_s", true, |run| (run.workload == SOLD_OUT).then_some(run.rates.answered_per_s)),
    ("persisted_per_s", true, |run| run.rates.persisted_per_s),
    ("p50_us", false, |run| run.latency.at(0.5).map(|us| us as f64)),
    ("p99_us", false, |run| run.latency.at(0.99).map(|us| us as f64)),
    ("cpu_us_per_operation", false, |run| run.cost.cpu_us_per_operation),
    ("cpu_ratio", false, |run| run.cost.cpu_ratio),
    ("cpu_ratio_persisted", false, |run| run.cost.cpu_ratio_persisted),
    ("memory_bytes", false, |run| run.cost.memory_bytes.map(|bytes| bytes as f64)),
    ("written_bytes_per_operation", false, |run| run.cost.written_bytes_per_operation),
    ("written_bytes_per_order", false, |run| run.cost.written_bytes_per_order),
];

/// Returns every figure of every system and workload.
pub(super) fn summary(systems: &[System], runs: &[Run]) -> Vec<Figure> {
    let mut rng = SmallRng::seed_from_u64(SEED);
    let mut figures = Vec::new();
    for workload in workloads(runs) {
        for system in systems {
            for (figure, _, value) in FIGURES {
                let values = values(runs, &system.id, workload, value);
                if values.is_empty() {
                    continue;
                }
                let interval =
                    (values.len() >= RUNS_MIN).then(|| interval(|| median(resampled(&values, &mut rng))));
                let (low, high) = interval.unzip();
                let (system, runs) = (system.id.clone(), values.len());
                figures.push(Figure { system, workload, figure, median: median(values), low, high, runs });
            }
        }
    }
    figures
}

/// Compares all pairs of systems, in the order of the systems.
pub(in crate::bench) fn comparisons(systems: &[System], runs: &[Run]) -> Vec<Comparison> {
    let mut rng = SmallRng::seed_from_u64(SEED);
    let mut comparisons = Vec::new();
    for workload in workloads(runs) {
        for (number, a) in systems.iter().enumerate() {
            for b in &systems[number + 1..] {
                for (figure, is_more_better, value) in FIGURES {
                    let of = |system: &System| values(runs, &system.id, workload, value);
                    let (of_a, of_b) = (of(a), of(b));
                    // Latencies at different rates say nothing about each other.
                    let has_own_rate = workload == RAMP && figure.ends_with("_us");
                    if of_a.len() < RUNS_MIN || of_b.len() < RUNS_MIN || has_own_rate {
                        continue;
                    }
                    let (low, high) =
                        interval(|| median(resampled(&of_a, &mut rng)) / median(resampled(&of_b, &mut rng)));
                    let verdict = verdict((&a.class, &b.class), (low, high), is_more_better);
                    let ratio = median(of_a) / median(of_b);
                    if ratio.is_finite() && low.is_finite() && high.is_finite() {
                        let (a, b) = (a.id.clone(), b.id.clone());
                        comparisons.push(Comparison { workload, figure, a, b, ratio, low, high, verdict });
                    }
                }
            }
        }
    }
    comparisons
}

fn verdict(classes: (&Class, &Class), (low, high): (f64, f64), is_more_better: bool) -> &'static str {
    // Two systems of which nobody knows what they promise need not promise the same.
    if classes.0 != classes.1 || classes.0.durable == "unknown" {
        "not_comparable"
    } else if low <= 1.0 && high >= 1.0 {
        "no_difference"
    } else if (low > 1.0) == is_more_better {
        "a"
    } else {
        "b"
    }
}

/// Returns the workloads in the order of their first run.
fn workloads(runs: &[Run]) -> Vec<&'static str> {
    let mut workloads = Vec::new();
    for run in runs {
        if !workloads.contains(&run.workload) {
            workloads.push(run.workload);
        }
    }
    workloads
}

/// Returns a figure of all runs that did not fail.
fn values(runs: &[Run], system: &str, workload: &str, value: Read) -> Vec<f64> {
    let of_system = runs.iter().filter(|run| run.system == system && run.workload == workload);
    of_system.filter(|run| run.failure.is_none()).filter_map(value).collect()
}

fn resampled(values: &[f64], rng: &mut SmallRng) -> Vec<f64> {
    values.iter().map(|_| values[rng.random_range(0..values.len())]).collect()
}

/// Returns the interval that holds most of the drawn values.
fn interval(mut draw: impl FnMut() -> f64) -> (f64, f64) {
    let mut drawn: Vec<f64> = (0..RESAMPLES).map(|_| draw()).collect();
    drawn.sort_by(f64::total_cmp);
    let outside = (1.0 - CONFIDENCE) / 2.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "below the number of resamplings"
    )]
    let skipped = (RESAMPLES as f64 * outside) as usize;
    (drawn[skipped], drawn[RESAMPLES - 1 - skipped])
}

/// Returns the median; 0 without values.
pub(in crate::bench) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values[..] {
        [] => 0.0,
        _ => f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::super::run::tests::{run, system};
    use super::*;

    /// Runs of two systems, with the accepted claims per second of each run.
    fn runs(of_a: &[f64], of_b: &[f64]) -> Vec<Run> {
        let of = |name: &'static str| move |rate: &f64| run(name, *rate);
        of_a.iter().map(of("a")).chain(of_b.iter().map(of("b"))).collect()
    }

    fn accepted(comparisons: Vec<Comparison>) -> Comparison {
        comparisons.into_iter().find(|one| one.figure == "accepted_per_s").unwrap()
    }

    #[test]
    fn a_difference_smaller_than_the_spread_is_none() {
        let systems = [system("a", "power"), system("b", "power")];
        let of = |of_a: &[f64], of_b: &[f64]| accepted(comparisons(&systems, &runs(of_a, of_b)));
        assert_eq!(
            of(&[100.0, 110.0, 90.0, 99.0, 101.0], &[105.0, 95.0, 102.0, 98.0, 103.0]).verdict,
            "no_difference"
        );
        assert_eq!(of(&[100.0, 110.0, 90.0, 99.0, 101.0], &[50.0, 52.0, 48.0, 49.0, 51.0]).verdict, "a");
        let slower = of(&[50.0, 52.0, 48.0, 49.0, 51.0], &[100.0, 110.0, 90.0, 99.0, 101.0]);
        assert_eq!((slower.verdict, slower.ratio), ("b", 0.5));
        assert!(slower.low >= 48.0 / 110.0 && slower.low < 0.5 && slower.high > 0.5, "{slower:?}");
    }

    #[test]
    fn few_runs_have_no_interval() {
        let figures = summary(&[system("a", "power")], &runs(&[100.0, 300.0], &[]));
        let figure = figures.iter().find(|figure| figure.figure == "accepted_per_s").unwrap();
        assert_eq!((figure.median, figure.low, figure.high), (200.0, None, None));
    }

    #[test]
    fn ramps_are_not_compared_by_their_latencies() {
        let systems = [system("a", "power"), system("b", "power")];
        let mut runs = runs(&[100.0; 5], &[50.0; 5]);
        runs.iter_mut().for_each(|run| run.workload = RAMP);
        let figures: Vec<_> = comparisons(&systems, &runs).iter().map(|one| one.figure).collect();
        assert_eq!(figures, ["accepted_per_s"]);
    }

    #[test]
    fn less_latency_is_better() {
        let (low, high) = (0.4, 0.6);
        let class = system("a", "power").class;
        assert_eq!(verdict((&class, &class), (low, high), false), "a");
        assert_eq!(verdict((&class, &class), (low, high), true), "b");
    }

    #[test]
    fn classes_are_never_ranked_against_each_other() {
        let systems = [system("a", "power"), system("b", "memory")];
        let one = accepted(comparisons(&systems, &runs(&[100.0; 5], &[50.0; 5])));
        assert_eq!(one.verdict, "not_comparable");
    }

    #[test]
    fn four_runs_make_no_comparison_and_a_failed_one_does_not_count() {
        let systems = [system("a", "power"), system("b", "power")];
        assert!(comparisons(&systems, &runs(&[100.0; 4], &[50.0; 5])).is_empty());
        let mut runs = runs(&[100.0, 200.0, 300.0, 400.0, 500.0, 9.0], &[]);
        runs[5].failure = Some("killed".to_owned());
        let figures = summary(&systems, &runs);
        let figure = figures.iter().find(|figure| figure.figure == "accepted_per_s").unwrap();
        assert_eq!(
            (figure.median, figure.low, figure.high, figure.runs),
            (300.0, Some(100.0), Some(500.0), 5)
        );
    }
}
