//! The file of a foreign mall for `bench compare`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use super::arrivals::{ArrivalFlags, GeneratorFlags, read};
use super::load::ClaimFlags;
use crate::bench::{ForeignMall, LoadBench, toml_error_line};
use crate::cli::messages::{BenchMisuse, UsageError};

/// The fields, as the manual's page about other malls explains them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Fields {
    name: String,
    target: String,
    dialect: String,
    /// A sale for each round, with all its units.
    vouchers: Vec<u64>,
    units: Option<u64>,
    #[serde(default = "users")]
    users: u32,
    tokens: Option<PathBuf>,
    #[serde(default = "one")]
    claims_per_user: u16,
    redis: Option<String>,
    mysql: Option<String>,
    #[serde(default = "settle")]
    settle_seconds: u32,
    /// Ids of the server processes.
    #[serde(default)]
    processes: Vec<u32>,
    #[serde(default)]
    durable: Durable,
    #[serde(default)]
    i_may_load_this_host: bool,
}

/// What an accepted claim survives.
#[derive(Clone, Copy, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
enum Durable {
    Power,
    Process,
    Memory,
    #[default]
    Unknown,
}

fn users() -> u32 {
    1_000
}

fn one() -> u16 {
    1
}

fn settle() -> u32 {
    60
}

/// Reads a foreign mall, and checks everything that can be checked before the first request.
pub(super) fn foreign_mall(file: &Path) -> anyhow::Result<ForeignMall> {
    let text = read(file)?;
    let bad = |line, message: String| BenchMisuse::BadForeignMall { file: file.to_owned(), line, message };
    let fields: Fields = toml::from_str(&text).map_err(|error| {
        UsageError::Bench(bad(toml_error_line(&text, &error), error.message().to_owned()))
    })?;
    if fields.vouchers.is_empty() || fields.users == 0 || fields.claims_per_user == 0 {
        let message = "vouchers, users and claims-per-user must each be at least one".to_owned();
        return Err(UsageError::Bench(bad(None, message)).into());
    }
    let claims = ClaimFlags {
        target: fields.target,
        // A dialect in a file of its own lies beside this one.
        dialect: beside(file, &fields.dialect),
        voucher: fields.vouchers,
        tokens: fields.tokens.map(|tokens| beside(file, &tokens.to_string_lossy()).into()),
        users: fields.users,
        preset: None,
        save_tokens: None,
        claims_per_user: fields.claims_per_user,
        generator: GeneratorFlags::default(),
        arrivals: ArrivalFlags::default(),
        redis: fields.redis.as_deref().map(Into::into),
        i_may_load_this_host: fields.i_may_load_this_host,
    };
    let load = LoadBench {
        units: fields.units,
        mysql: fields.mysql,
        settle: Duration::from_secs(fields.settle_seconds.into()),
        ..claims.plan()?
    };
    let durable = match fields.durable {
        Durable::Power => "power",
        Durable::Process => "process",
        Durable::Memory => "memory",
        Durable::Unknown => "unknown",
    };
    Ok(ForeignMall { name: fields.name, load, processes: fields.processes, durable })
}

/// Returns the path of a file named in another one, if it is there; otherwise the name.
fn beside(file: &Path, name: &str) -> String {
    let path = file.with_file_name(name);
    if path.exists() { path.to_string_lossy().into_owned() } else { name.to_owned() }
}
