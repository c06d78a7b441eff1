//! `bench export`: the load of `bench load`, as files for k6 and JMeter.

mod jmeter;
mod load_file;

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use anyhow::{Context as _, bail};

use self::load_file::LoadFile;
use super::load_bench::{LoadBench, check, tokens};
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
    DirBuilder::new().mode(0o700).create(dir).with_context(|| format!("cannot create {shown}"))?;
    let tokens = tokens(bench)?;
    let claims = check(bench, tokens.len())?;
    let pieces = bench.shape.as_ref().map(|shape| shape.pieces(claims));
    let load = LoadFile::new(&bench.dialect, &bench.target, bench.generator.connections, pieces);
    let rows = rows(bench, &tokens)?;
    for (name, text) in [
        ("claims.csv", &*rows),
        ("load.json", &(serde_json::to_string_pretty(&load)? + "\n")),
        ("claims.k6.js", K6),
        ("claims.jmx", &jmeter::plan(&load, &bench.target)),
        ("answers.groovy", ANSWERS),
    ] {
        let file = dir.join(name);
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file);
        made.and_then(|mut made| made.write_all(text.as_bytes()))
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    println!("{} claims are in {shown}. Each file of claims is spent by one run.\n", count(claims));
    println!("k6      cd {shown} && k6 run claims.k6.js");
    println!(
        "JMeter  cd {shown} && jmeter -n -t claims.jmx -l answers.jtl   (the label of a sample is its answer)"
    );
    Ok(true)
}

/// Returns the claims in their order, a line each.
fn rows(bench: &LoadBench, tokens: &[String]) -> anyhow::Result<String> {
    if let Some(token) = tokens.iter().find(|token| token.contains([',', '"'])) {
        bail!("the token {token} has a comma or a quotation mark, and cannot be a field of claims.csv");
    }
    let mut rows = String::from("token,sale\n");
    for sale in &bench.sales {
        for token in tokens {
            rows += &format!("{token},{sale}\n").repeat(bench.claims_per_user);
        }
    }
    Ok(rows)
}
