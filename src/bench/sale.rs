//! `bench sale`: a rush of claims on one sale after another, the ceiling for comparison, and the ledger check
//! at the end.

use anyhow::bail;
use mallbox_storage::Timestamp;
use serde_json::json;

use super::load::Shape;
use super::new_file::check_new;
use super::numbers::count;
use super::result::{Recording, Settings};
use super::round;
use super::sale_bench::SaleBench;
use super::turns::on_all_grounds;

/// Runs the bench, prints the results and checks the ledgers. Returns whether all ledgers balance.
///
/// # Errors
/// A server that cannot be started or reached; a refusal of a request that no server should refuse.
pub fn run(bench: &SaleBench, now: Timestamp) -> anyhow::Result<bool> {
    bench.generator.check((bench.malls.users, bench.sales))?;
    check_claims(bench.shape.as_ref(), bench.malls.users.saturating_mul(bench.sales), "--users or --sales")?;
    check_new(bench.malls.json.as_deref())?;
    if let Some(preset) = bench.preset {
        println!("{}", preset.text());
    }
    let mut recording = Recording::begin("sale", settings(bench), now);
    let balance = on_all_grounds(&bench.malls, |ground, number| {
        round::run(bench, (ground, number), now, &mut recording)
    })?;
    bench.malls.json.as_deref().map_or(Ok(()), |file| recording.write(file))?;
    Ok(balance)
}

fn settings(bench: &SaleBench) -> Settings {
    let mut settings = bench.malls.settings();
    settings.extend(bench.generator.settings());
    settings.extend([
        ("preset", json!(bench.preset.map(|preset| preset.name))),
        ("units", json!(bench.units)),
        ("sales", json!(bench.sales)),
        ("shape", json!(bench.shape.as_ref().map(Shape::text))),
        ("span_s", json!(bench.span.as_secs_f64())),
        ("log_ins_per_s", json!(bench.log_ins)),
        ("batch", json!(bench.batch)),
    ]);
    settings
}

/// Checks that there are claims enough for a shape that ends; `more` says how there would be.
pub(super) fn check_claims(shape: Option<&Shape>, possible: usize, more: &str) -> anyhow::Result<()> {
    let Some((shape, lasts)) = shape.and_then(|shape| Some((shape, shape.lasts()?))) else {
        return Ok(());
    };
    let (asked, possible) = (shape.due_by(lasts), possible as u64);
    if asked > possible {
        let (asked, possible) = (count(asked), count(possible));
        bail!("the shape has {asked} claims, and the users make only {possible}: pass more {more}");
    }
    Ok(())
}
