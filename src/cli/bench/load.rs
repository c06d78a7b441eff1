//! `bench load`: the flags, and what they name.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use mallbox_storage::VoucherId;

use super::arrivals::{ArrivalFlags, GeneratorFlags, preset, read};
use super::dialects::unknown;
use crate::bench::{AgentAddress, Dialect, LoadBench, Preset, Target, UserSource};
use crate::cli::messages::{BenchMisuse, CommandFailure, UsageError};
use crate::config::{ServerUrl, at_least_one};

/// The flags of `bench load`.
#[derive(Args, Debug)]
pub struct Load {
    #[command(flatten)]
    claims: ClaimFlags,
    /// Units of each sale at the start: more accepted claims than units are a fault.
    #[arg(long, value_parser = at_least_one())]
    units: Option<u64>,
    /// The mall's MySQL, if its dialect counts the orders there. Better put a URL with a password into the
    /// environment variable than on the command line.
    #[arg(long, env = "MALLBOX_BENCH_MYSQL", hide_env_values = true, value_name = "URL")]
    mysql: Option<ServerUrl>,
    /// Longest wait in seconds for the order of every accepted claim.
    #[arg(long, default_value_t = 60, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(0..=86_400))]
    settle: u64,
    /// Writes the result to a new file, for `bench report`.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// A file with the agents that make the claims instead of this process: the line that each `bench agent`
    /// prints.
    #[arg(long, value_name = "FILE")]
    agents: Option<PathBuf>,
}

/// The flags for claims at any mall.
#[derive(Args, Debug)]
pub struct ClaimFlags {
    /// The running mall: `http://HOST[:PORT][/PREFIX]`.
    #[arg(long, value_name = "URL")]
    pub(super) target: String,
    /// How the mall speaks: a name that `bench dialect` lists, or a file.
    #[arg(long, default_value = "mallbox", value_name = "NAME|FILE")]
    pub(super) dialect: String,
    /// The sales to claim from, in sequence.
    #[arg(long, required = true, value_name = "ID", value_delimiter = ',')]
    pub(super) voucher: Vec<u64>,
    /// A file with the tokens of the users who claim, one a line; otherwise they log in first.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["users", "save_tokens"])]
    pub(super) tokens: Option<PathBuf>,
    /// Users who log in with the phone numbers 19900000000 and up, and claim.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pub(super) users: u32,
    /// A load that others published, with their users, units and connections.
    #[arg(long, value_name = "NAME", value_parser = preset(), conflicts_with_all = ["users", "tokens", "connections"])]
    pub(super) preset: Option<Preset>,
    /// Writes the tokens of these users to a new file, for --tokens of a later run.
    #[arg(long, value_name = "FILE")]
    pub(super) save_tokens: Option<PathBuf>,
    /// Claims of each user in each sale, in a row: a second one accepted is a fault.
    #[arg(long, default_value_t = 1, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) claims_per_user: u16,
    #[command(flatten)]
    pub(super) generator: GeneratorFlags,
    #[command(flatten)]
    pub(super) arrivals: ArrivalFlags,
    /// The mall's Redis, if its dialect reads the login codes there. Better put a URL with a password into
    /// the environment variable than on the command line.
    #[arg(long, env = "MALLBOX_BENCH_REDIS", hide_env_values = true, value_name = "URL")]
    pub(super) redis: Option<ServerUrl>,
    /// Allows a target on another machine: it is yours, or its owner agrees.
    #[arg(long)]
    pub(super) i_may_load_this_host: bool,
}

impl Load {
    pub(super) fn plan(&self) -> anyhow::Result<LoadBench> {
        Ok(LoadBench {
            units: self.units.or(self.claims.preset.map(|preset| preset.units).filter(|units| *units > 0)),
            mysql: self.mysql.as_ref().map(|url| url.as_str().to_owned()),
            settle: Duration::from_secs(self.settle),
            json: self.json.clone(),
            agents: self.agents.as_deref().map(agents).transpose()?.unwrap_or_default(),
            ..self.claims.plan()?
        })
    }
}

impl ClaimFlags {
    /// Returns the claims alone: no count of orders, no agents, no file.
    pub(super) fn plan(&self) -> anyhow::Result<LoadBench> {
        let dialect = dialect(&self.dialect)?;
        let mut known = HashSet::new();
        if let Some(twice) = self.voucher.iter().find(|sale| !known.insert(**sale)) {
            return Err(UsageError::Bench(BenchMisuse::SaleTwice(*twice)).into());
        }
        let users = self.preset.map_or(self.users, |preset| preset.claims);
        let users = match &self.tokens {
            Some(file) => UserSource::Tokens(tokens(file)?),
            None => UserSource::LogIn { users: users as usize, save: self.save_tokens.clone() },
        };
        let may_load_others = self.i_may_load_this_host;
        let target = Target::find(&self.target, dialect.prefix(), may_load_others)
            .map_err(|error| UsageError::Bench(BenchMisuse::BadTarget(error)))?;
        let name = Path::new(&self.dialect).file_stem().unwrap_or_default();
        Ok(LoadBench {
            target,
            dialect,
            users,
            sales: self.voucher.iter().copied().map(VoucherId::new).collect(),
            preset: self.preset,
            units: None,
            claims_per_user: self.claims_per_user.into(),
            generator: self.generator.plan(self.preset),
            shape: self.arrivals.shape()?,
            redis: self.redis.as_ref().map(|url| url.as_str().to_owned()),
            mysql: None,
            settle: Duration::ZERO,
            agents: Vec::new(),
            target_url: self.target.clone(),
            dialect_name: name.to_string_lossy().into_owned(),
            json: None,
        })
    }
}

/// Reads a dialect by its name or from a file.
fn dialect(name: &str) -> anyhow::Result<Dialect> {
    if let Some(known) = Dialect::named(name) {
        return Ok(known);
    }
    let file = Path::new(name);
    if !file.exists() {
        return Err(unknown(name).into());
    }
    let bad = |error| UsageError::Bench(BenchMisuse::BadDialect(file.to_owned(), error));
    Ok(Dialect::parse(&read(file)?).map_err(bad)?)
}

/// Reads agents, one a line.
fn agents(file: &Path) -> anyhow::Result<Vec<AgentAddress>> {
    let text = read(file)?;
    let mut agents = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let bad = || UsageError::Bench(BenchMisuse::BadAgent { file: file.to_owned(), line: number });
        agents.push(AgentAddress::parse(line).ok_or_else(bad)?);
    }
    if agents.is_empty() {
        return Err(UsageError::Bench(BenchMisuse::BadAgent { file: file.to_owned(), line: 1 }).into());
    }
    Ok(agents)
}

/// Reads tokens, one a line.
fn tokens(file: &Path) -> anyhow::Result<Vec<String>> {
    let text = read(file)?;
    let mut tokens = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let token = line.trim();
        if token.bytes().any(|byte| !byte.is_ascii_graphic()) {
            return Err(
                UsageError::Bench(BenchMisuse::BadToken { file: file.to_owned(), line: number }).into()
            );
        }
        if !token.is_empty() {
            tokens.push(token.to_owned());
        }
    }
    if tokens.is_empty() {
        return Err(CommandFailure::NoToken(file.to_owned()).into());
    }
    Ok(tokens)
}
