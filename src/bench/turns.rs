//! A bench on several grounds by turns, and the comparison at the end.

use super::comparison::{self, Outcome};
use super::sale_bench::BenchMalls;
use super::site::BenchTarget;

/// Runs `bench` on each ground, as many rounds as asked for, with the number of the round, and compares the
/// outcomes. The order of the
/// grounds alternates, because the second one finds a machine that has just been busy. Returns whether all
/// ledgers balance.
pub(super) fn on_all_grounds(
    malls: &BenchMalls,
    mut bench: impl FnMut(&BenchTarget, usize) -> anyhow::Result<Outcome>,
) -> anyhow::Result<bool> {
    let mut outcomes = Vec::new();
    for round in 1..=malls.rounds {
        let mut grounds: Vec<_> = malls.grounds.iter().collect();
        if round % 2 == 0 {
            grounds.reverse();
        }
        for ground in grounds {
            if malls.rounds * malls.grounds.len() > 1 {
                println!("\nround {round} of {}, {}", malls.rounds, ground.name());
            }
            outcomes.push(bench(ground, round)?);
        }
    }
    if outcomes.len() > 1 {
        println!("\n{}", comparison::table(&outcomes));
    }
    Ok(outcomes.iter().all(|outcome| outcome.books_balance))
}
