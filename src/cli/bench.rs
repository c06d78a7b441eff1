//! `mallbox bench`: measures throughput and latency on this machine, beside the machine's own limits.

mod arrivals;
mod compare;
mod dialects;
mod foreign_mall;
mod given_servers;
#[cfg(feature = "ladder")]
mod ladder;
mod load;
mod on;
mod ports;
#[cfg(feature = "ladder")]
mod queues;
#[cfg(feature = "ladder")]
mod reads;
#[cfg(feature = "ladder")]
mod way_flags;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use mallbox_storage::Durability;
use mallbox_storage_production::ProductionOptions;

use self::arrivals::{ArrivalFlags, GeneratorFlags, preset};
use self::compare::Compare;
use self::load::{ClaimFlags, Load};
use self::on::{On, count, servers};
use self::ports::Ports;
#[cfg(feature = "ladder")]
use self::queues::Queues;
#[cfg(feature = "ladder")]
use self::reads::Reads;
use super::messages::{BenchMisuse, UsageError};
#[cfg(feature = "ladder")]
use crate::bench::ReadsSubject;
use crate::bench::{self, AgentBench, BenchMalls, BenchTarget, Preset, RampBench, SaleBench};
use crate::config::{DurabilityChoice, LocationError, ServerUrl, Switch, at_least_one};
use crate::mall::{Clock as _, SystemClock};

/// Users of a sale unless told: a real rush, which costs more a claim than a small one.
const USERS_IN_DIRECTORY: usize = 200_000;
const USERS_ON_SERVERS: usize = 20_000;

/// Subcommands of `bench`.
#[derive(Debug, Subcommand)]
pub enum Bench {
    /// Runs a crowd in flash sales, over real connections against a `serve` process of its own, then the
    /// ledger check.
    Sale(Box<Sale>),
    /// Finds the highest rate of claims that a mall answers in time, on a `serve` process of its own.
    Ramp(Box<Ramp>),
    /// Sends claims to any mall that is running, in its dialect, and counts its orders.
    Load(Box<Load>),
    /// Runs the same workloads on several systems by turns: mallbox in a directory, on Redis and MySQL with
    /// several settings, and malls of others.
    Compare(Box<Compare>),
    /// Makes the claims of a `bench load` on another machine; runs until stopped.
    Agent {
        /// The malls that may be loaded from here, as the other machine names them:
        /// `http://HOST[:PORT][/PREFIX]`.
        #[arg(long, required = true, value_name = "URL")]
        target: Vec<String>,
        /// Address of the agent. Its secret and the tokens of users pass in clear: beyond loopback, only
        /// within a network that you trust.
        #[arg(long, default_value = "127.0.0.1:0", value_name = "ADDRESS")]
        listen: SocketAddr,
        /// Allows targets on other machines: they are yours, or their owners agree.
        #[arg(long)]
        i_may_load_this_host: bool,
    },
    /// Writes the load of `bench load` for other generators: a script for k6, a plan for JMeter, and the
    /// claims with their tokens as CSV.
    Export {
        /// The directory to create.
        dir: PathBuf,
        #[command(flatten)]
        claims: Box<ClaimFlags>,
    },
    /// Measures every storage port on both back ends, beside the commands of Redis and SQL that tutorials
    /// use.
    Ports(Box<Ports>),
    /// Measures a part of `bench ports`, which starts this command.
    #[command(hide = true)]
    PortsPart,
    /// Sells the same few units in every way that tutorials know, brings each into the situation in which it
    /// fails, and says who oversells.
    #[cfg(feature = "ladder")]
    Ladder(Box<ladder::Ladder>),
    /// Serves an instance of `bench ladder`, which starts this command.
    #[cfg(feature = "ladder")]
    #[command(hide = true)]
    LadderInstance,
    /// Compares ways to hand orders from the request to a worker, by eight criteria, each measured.
    #[cfg(feature = "ladder")]
    Queues(Box<Queues>),
    /// Plays a producer or a consumer of `bench queues`, which starts this command.
    #[cfg(feature = "ladder")]
    #[command(hide = true)]
    QueuesStation,
    /// Compares ways to assemble feeds: push, pull, hybrid, and mallbox, by the number of fans.
    #[cfg(feature = "ladder")]
    Feed(Box<Reads>),
    /// Compares ways to cache reads, each brought into the situations in which caches fail.
    #[cfg(feature = "ladder")]
    Cache(Box<Reads>),
    /// Makes a page of results that benches wrote with --json; several are compared.
    Report {
        /// The files with the results.
        #[arg(required = true)]
        results: Vec<PathBuf>,
        /// The page to create.
        #[arg(long, short, value_name = "FILE", default_value = "report.html")]
        output: PathBuf,
    },
    /// Prepares a folder of results for the project, in a checkout.
    Submit {
        /// The files with the results.
        #[arg(required = true)]
        results: Vec<PathBuf>,
        /// What was measured, in a few words for the folder's name, as in two-shared-cores.
        #[arg(long)]
        subject: String,
    },
    /// Prints a dialect, as a model for one of your own; without a name, the names.
    Dialect {
        /// Name of the dialect.
        name: Option<String>,
    },
    /// Serves a bare axum handler to compare with; runs until stopped.
    #[command(hide = true)]
    Ceiling,
}

/// The flags of `bench sale`.
#[derive(Args, Debug)]
pub struct Sale {
    /// Users who claim, each once per sale; default: 200,000 in a directory, and 20,000 on servers, where
    /// their log-ins take longer.
    #[arg(long)]
    users: Option<usize>,
    /// A load that others published, with their users, units and connections.
    #[arg(long, value_name = "NAME", value_parser = preset(), conflicts_with_all = ["users", "units", "connections"])]
    preset: Option<Preset>,
    /// Units of each sale; 0 = unlimited.
    #[arg(long, default_value_t = 5_000)]
    units: u64,
    /// Sales, run in sequence.
    #[arg(long, default_value_t = 1)]
    sales: usize,
    #[command(flatten)]
    generator: GeneratorFlags,
    #[command(flatten)]
    arrivals: ArrivalFlags,
    /// Seconds of each measurement of the ceiling and of the refusals.
    #[arg(long, default_value_t = 3, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3_600))]
    span: u64,
    /// Log-ins per second beside the claims, one after another; 0 = none.
    #[arg(long, default_value_t = 50, value_name = "PER_SECOND", value_parser = clap::value_parser!(u32).range(..=100_000))]
    log_ins: u32,
    /// Measures the batch door too: a gateway sends the claims of all users in a further sale, so many in a
    /// request.
    #[arg(long, value_name = "CLAIMS", value_parser = clap::value_parser!(u16).range(1..=500))]
    batch: Option<u16>,
    #[command(flatten)]
    ground: GroundFlags,
}

/// The flags of `bench ramp`.
#[derive(Args, Debug)]
pub struct Ramp {
    /// Users who claim: fifty claims of each at most, and every one is accepted.
    #[arg(long, default_value_t = 100_000)]
    users: usize,
    #[command(flatten)]
    generator: GeneratorFlags,
    /// Longest p99 in milliseconds, counted from the instants at which the claims are due.
    #[arg(long, default_value_t = 50, value_name = "MS", value_parser = at_least_one())]
    p99: u64,
    /// First rate to try, in claims per second.
    #[arg(long, default_value_t = 1_000, value_name = "PER_SECOND", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    from: u32,
    /// Seconds of a trial; the last one takes twice as long.
    #[arg(long, default_value_t = 3, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3_600))]
    span: u64,
    #[command(flatten)]
    ground: GroundFlags,
}

/// The flags for the storage of benched malls.
#[derive(Args, Debug)]
struct GroundFlags {
    /// Storage of the sales; default: servers if --redis and --mysql are on the command line, otherwise a
    /// directory.
    #[arg(long)]
    on: Option<On>,
    /// In a directory, when the server responds: after a sync to disk (`power`, the default), after a write
    /// to the operating system (`process`), or with a write every 200 ms (`relaxed`).
    #[arg(long)]
    durability: Option<DurabilityChoice>,
    /// Creates the mall in this directory and keeps the directory.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// A Redis on which the bench uses a prefix of its own and removes the keys afterwards. MALLBOX_REDIS
    /// counts only with --on servers or --on both.
    #[arg(long, value_name = "URL")]
    redis: Option<ServerUrl>,
    /// A MySQL in which the bench creates a database and drops it afterwards. MALLBOX_MYSQL counts only with
    /// --on servers or --on both.
    #[arg(long, value_name = "URL")]
    mysql: Option<ServerUrl>,
    /// Server processes of the mall on servers; the crowd is spread over all of them.
    #[arg(long, value_name = "NUMBER", value_parser = at_least_one())]
    instances: Option<u64>,
    /// Repetitions of the whole bench; a table at the end compares them.
    #[arg(long, default_value_t = 1, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..=1_000))]
    rounds: u64,
    /// Whether the mall checks each user's limit, which no user reaches here.
    #[arg(long, default_value = "off")]
    limits: Switch,
    /// Prints the ledger check of every sale.
    #[arg(long)]
    verbose: bool,
    /// Writes the result to a new file, for `bench report`.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Runs a bench. Returns whether the ledger balanced afterwards.
///
/// # Errors
/// One sentence for the user of the command line.
pub fn run(command: Bench) -> anyhow::Result<bool> {
    match command {
        Bench::Sale(sale) => bench::run_sale(&sale.plan()?, SystemClock.now()),
        Bench::Ramp(ramp) => bench::run_ramp(&ramp.plan()?, SystemClock.now()),
        Bench::Load(load) => bench::run_load(&load.plan()?, SystemClock.now()),
        Bench::Compare(compare) => bench::run_compare(&compare.plan()?, SystemClock.now()),
        Bench::Agent { target, listen, i_may_load_this_host } => {
            let agent = AgentBench { targets: target, listen, may_load_others: i_may_load_this_host };
            bench::run_agent(&agent).map(|()| true)
        }
        Bench::Export { dir, claims } => bench::run_export(&claims.plan()?, &dir),
        Bench::Ports(ports) => ports.run(SystemClock.now()),
        Bench::PortsPart => Ok(bench::run_part().map(|()| true)?),
        #[cfg(feature = "ladder")]
        Bench::Ladder(ladder) => ladder.run(SystemClock.now()),
        #[cfg(feature = "ladder")]
        Bench::LadderInstance => Ok(mallbox_bench_ladder::run_instance().map(|()| true)?),
        #[cfg(feature = "ladder")]
        Bench::Queues(queues) => queues.run(SystemClock.now()),
        #[cfg(feature = "ladder")]
        Bench::QueuesStation => Ok(bench::run_station().map(|()| true)?),
        #[cfg(feature = "ladder")]
        Bench::Feed(reads) => reads.run(ReadsSubject::Feeds, SystemClock.now()),
        #[cfg(feature = "ladder")]
        Bench::Cache(reads) => reads.run(ReadsSubject::Caches, SystemClock.now()),
        Bench::Report { results, output } => bench::run_report(&results, &output),
        Bench::Submit { results, subject } => bench::run_submit(&results, &subject, SystemClock.now()),
        Bench::Dialect { name } => dialects::print(name.as_deref()).map(|()| true),
        Bench::Ceiling => bench::ceiling::serve().map(|()| true),
    }
}

impl Sale {
    fn malls(&self) -> Result<BenchMalls, UsageError> {
        let malls = self.ground.malls(0)?;
        let is_on_servers = malls.grounds.iter().any(|ground| matches!(ground, BenchTarget::Servers { .. }));
        let default = if is_on_servers { USERS_ON_SERVERS } else { USERS_IN_DIRECTORY };
        let users = self.preset.map(|preset| preset.claims as usize).or(self.users);
        Ok(BenchMalls { users: users.unwrap_or(default), ..malls })
    }

    fn plan(&self) -> anyhow::Result<SaleBench> {
        let units = self.preset.map_or(self.units, |preset| preset.units);
        Ok(SaleBench {
            malls: self.malls()?,
            preset: self.preset,
            generator: self.generator.plan(self.preset),
            units: (units > 0).then_some(units),
            sales: self.sales,
            shape: self.arrivals.shape()?,
            span: Duration::from_secs(self.span),
            log_ins: self.log_ins.into(),
            batch: self.batch.map(usize::from),
        })
    }
}

impl Ramp {
    fn plan(&self) -> Result<RampBench, UsageError> {
        Ok(RampBench {
            malls: self.ground.malls(self.users)?,
            generator: self.generator.plan(None),
            p99: Duration::from_millis(self.p99),
            from: self.from.into(),
            span: Duration::from_secs(self.span),
        })
    }
}

impl GroundFlags {
    fn malls(&self, users: usize) -> Result<BenchMalls, UsageError> {
        Ok(BenchMalls {
            users,
            limits: self.limits == Switch::On,
            grounds: self.grounds(|name| std::env::var(name).ok())?,
            rounds: count(self.rounds),
            json: self.json.clone(),
            verbose: self.verbose,
        })
    }

    /// Returns the storages to bench. A flag without a meaning for the chosen storage is a mistake.
    fn grounds(&self, variable: impl Fn(&str) -> Option<String>) -> Result<Vec<BenchTarget>, UsageError> {
        let is_typed = self.redis.is_some() || self.mysql.is_some();
        let on = self.on.unwrap_or(if is_typed { On::Servers } else { On::Directory });
        let of_servers = [
            ("--redis", self.redis.is_some()),
            ("--mysql", self.mysql.is_some()),
            ("--instances", self.instances.is_some()),
        ];
        let of_directory = [("--durability", self.durability.is_some()), ("--keep", self.keep.is_some())];
        let given = |flags: &[(&'static str, bool)]| flags.iter().find(|(_, is)| *is).map(|(flag, _)| *flag);
        let mistake = match on {
            On::Directory => given(&of_servers).map(LocationError::OnlyOnServers),
            On::Servers => given(&of_directory).map(LocationError::OnlyInDirectory),
            On::Both => None,
        };
        if let Some(mistake) = mistake {
            return Err(UsageError::Where(mistake));
        }
        if self.keep.is_some() && self.rounds > 1 {
            return Err(UsageError::Bench(BenchMisuse::OneMallToKeep));
        }
        let mut grounds = Vec::new();
        if on != On::Servers {
            let durability = self.durability.map_or(Durability::Power, Durability::from);
            grounds.push(BenchTarget::Directory { durability, keep: self.keep.clone() });
        }
        if on != On::Directory {
            let instances = self.instances.map_or(1, count);
            let options = self.servers(variable)?;
            grounds.push(BenchTarget::Servers { options, instances, is_temporary: false });
        }
        Ok(grounds)
    }

    /// Returns the servers from the flags, or else from the environment.
    fn servers(&self, variable: impl Fn(&str) -> Option<String>) -> Result<ProductionOptions, UsageError> {
        let url = |typed: &Option<ServerUrl>, name| {
            typed.clone().or_else(|| variable(name).map(|url| ServerUrl::from(&*url)))
        };
        servers(url(&self.redis, "MALLBOX_REDIS"), url(&self.mysql, "MALLBOX_MYSQL"))
    }
}

#[cfg(test)]
mod tests {
    use clap::{Command, FromArgMatches as _};

    use super::*;
    use crate::language::Language;

    /// Parses a command line, with both server variables in the environment, and returns the storages.
    fn grounds(typed: &[&str]) -> Result<Vec<BenchTarget>, String> {
        let command = Sale::augment_args(Command::new("sale")).no_binary_name(true);
        let sale = Sale::from_arg_matches(&command.get_matches_from(typed)).unwrap();
        let grounds = sale.ground.grounds(|name| Some(format!("{name}-url")));
        grounds.map_err(|misuse| misuse.words(Language::En))
    }

    fn shape(grounds: &[BenchTarget]) -> Vec<(&str, String, usize)> {
        let shape = |ground: &BenchTarget| match ground {
            BenchTarget::Directory { durability, .. } => ("directory", durability.name().to_owned(), 1),
            BenchTarget::Servers { options, instances, .. } => {
                ("servers", format!("{} {}", options.redis.url, options.mysql), *instances)
            }
        };
        grounds.iter().map(shape).collect()
    }

    #[test]
    fn the_environment_of_a_real_mall_does_not_move_a_bench_there() {
        let directory = ("directory", "power".to_owned(), 1);
        let servers =
            |redis: &str, mysql: &str, instances| ("servers", format!("{redis} {mysql}"), instances);
        let (redis, mysql) = ("MALLBOX_REDIS-url", "MALLBOX_MYSQL-url");
        for (typed, want) in [
            (&[][..], vec![directory.clone()]),
            (&["--on=directory"], vec![directory.clone()]),
            (&["--on=servers"], vec![servers(redis, mysql, 1)]),
            (&["--on=both", "--instances=3"], vec![directory, servers(redis, mysql, 3)]),
            (&["--redis=a", "--mysql=b"], vec![servers("a", "b", 1)]),
            (&["--redis=a", "--on=both", "--durability=process"], {
                vec![("directory", "process".to_owned(), 1), servers("a", mysql, 1)]
            }),
        ] {
            assert_eq!(shape(&grounds(typed).unwrap()), want, "{typed:?}");
        }
    }

    #[test]
    fn arrivals_are_a_rate_a_shape_or_a_trace() {
        let shape = |typed: &[&str]| {
            let command = Sale::augment_args(Command::new("sale")).no_binary_name(true);
            let sale = Sale::from_arg_matches(&command.try_get_matches_from(typed)?)?;
            Ok::<_, anyhow::Error>(sale.arrivals.shape()?.map(|shape| (shape.peak(), shape.lasts())))
        };
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "7 100\n9 0\n").unwrap();
        let trace = format!("--trace={}", file.path().display());
        for (typed, want) in [
            (&[][..], None),
            (&["--rate=500"], Some((500.0, None))),
            (&["--rate=500", "--shape=flash"], Some((500.0, seconds(20)))),
            (&["--shape=5x2s"], Some((5.0, seconds(2)))),
            (&[&trace], Some((100.0, seconds(2)))),
        ] {
            assert_eq!(shape(typed).unwrap(), want, "{typed:?}");
        }
        for (typed, words) in [
            (&["--shape=flash"][..], "--rate"),
            (&["--shape=5x2"], "'5x2'"),
            (&["--shape=5x2s", "--trace=/dev/null"], "cannot be used with"),
            (&["--trace=/nowhere"], "/nowhere"),
            (&["--trace=/dev/null"], "SECONDS 0"),
        ] {
            let error = shape(typed).unwrap_err();
            let text = error.downcast_ref::<UsageError>().map(|misuse| misuse.words(Language::En));
            let text = text.unwrap_or_else(|| format!("{error:#}"));
            assert!(text.contains(words), "{typed:?}: {text}");
        }
    }

    #[test]
    fn a_flag_that_means_nothing_is_refused() {
        for (typed, words) in [
            (&["--instances=2"][..], "--instances is for malls in Redis and MySQL"),
            (&["--on=directory", "--mysql=b"], "--mysql is for malls in Redis and MySQL"),
            (&["--on=servers", "--durability=power"], "--durability is for malls in a directory"),
            (&["--on=servers", "--keep=a"], "--keep is for malls in a directory"),
            (&["--rounds=2", "--keep=a"], "--keep keeps a single mall"),
        ] {
            let refused = grounds(typed).unwrap_err();
            assert!(refused.contains(words), "{typed:?}: {refused}");
        }
    }
}
