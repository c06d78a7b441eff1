//! `bench export`: the load of `bench load`, as files for k6 and JMeter.

mod jmeter;
mod load_file;

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail};

use self::load_file::LoadFile;
use super::load_bench::{check, tokens};
use super::load_settings::LoadBench;
use super::new_file::{check_new, write_new};
use super::numbers::count;

const K6: &str = include_str!("claims.k6.js");
const ANSWERS: &str = include_str!("answers.groovy");

/// Writes the files of a load into a new directory, for its owner alone: whoever has a token is logged in.
/// Prints how to use them.
///
/// # Errors
/// A directory that exists or cannot be made; users who cannot log in; tokens with a comma.
pub fn run(bench: &LoadBench, dir: &Path) -> anyhow::Result<bool> {
    let shown = dir.display();
    let possible = check(bench)?;
    check_new(Some(dir))?;
    let tokens = tokens(bench)?;
    let claims = bench.shape.as_ref().map_or(possible, |shape| shape.due_by(Duration::MAX).min(possible));
    let pieces = bench.shape.as_ref().map(|shape| shape.pieces(claims));
    let load = LoadFile::new(&bench.dialect, &bench.target, bench.generator.connections, pieces);
    let rows = rows(bench, &tokens, usize::try_from(claims)?)?;
    DirBuilder::new().mode(0o700).create(dir).with_context(|| format!("cannot create {shown}"))?;
    for (name, text) in [
        ("claims.csv", &*rows),
        ("load.json", &(serde_json::to_string_pretty(&load)? + "\n")),
        ("claims.k6.js", K6),
        ("claims.jmx", &jmeter::plan(&load, &bench.target)),
        ("answers.groovy", ANSWERS),
    ] {
        write_new(&dir.join(name), "", text)?;
    }
    println!("{} claims are in {shown}. Each file of claims is spent by one run.\n", count(claims));
    println!("k6      cd {shown} && k6 run claims.k6.js");
    println!(
        "JMeter  cd {shown} && jmeter -n -t claims.jmx -l answers.jtl   (the label of a sample is its answer)"
    );
    Ok(true)
}

/// Returns the first claims in their order, a line each.
fn rows(bench: &LoadBench, tokens: &[String], claims: usize) -> anyhow::Result<String> {
    if let Some(number) = tokens.iter().position(|token| token.contains([',', '"'])) {
        let user = number + 1;
        bail!(
            "the token of user {user} has a comma or a quotation mark, and cannot be a field of claims.csv"
        );
    }
    let of_sale = |sale| {
        let claim = move |token| std::iter::repeat_n(format!("{token},{sale}\n"), bench.claims_per_user);
        tokens.iter().flat_map(claim)
    };
    let rows = bench.sales.iter().flat_map(of_sale).take(claims);
    Ok(std::iter::once("token,sale\n".to_owned()).chain(rows).collect())
}
