//! Cost of a log-in, and of the calls that read a session: of one binary, or of two in one interleaved run.
//!
//! `cargo bench --bench log_ins [-- --against PATH --rounds 5 --connections 16 --log-ins 2000 --reads 40000
//! --passwords 100 --durability power]` measures requests for codes, log-ins by code, log-ins by password,
//! `GET /user/me`, and claims in a sale that is sold out: over one connection, with a tenth of the calls,
//! and over several. `MALLBOX=PATH` names the binary to measure; default: the one just built. `--against`
//! names a binary to compare with, such as one of an older version, built with the same profile.
//!
//! `--redis URL --mysql URL` measures a mall on servers instead, whose data stay there: name an empty
//! database. Two binaries then share the servers.
//!
//! Both malls run from the beginning to the end, each in a fresh directory, and take turns within each
//! round; every second round begins with the other. The first round makes users and is not counted. Limits
//! are raised by the flags that a binary knows, so that they are checked and never reached. The table has
//! the median of the rounds with minimum and maximum, and the ratios of both binaries within a round.

#[path = "../common/client.rs"]
mod client;
#[path = "../common/codes.rs"]
mod codes;
#[path = "../../tests/common/http.rs"]
mod http;
#[path = "../../tests/common/server.rs"]
#[expect(dead_code, reason = "tests do more with a server")]
mod server;
#[path = "../common/shop.rs"]
mod shop;

mod calls;
mod side;
mod table;

use anyhow::ensure;
use clap::Parser;

use shop::ServerUrls;
use side::{Counts, Place, Side};
use table::Table;

/// Share of the calls that are measured over one connection.
const SEQUENTIAL_SHARE: usize = 10;

/// Cost of log-ins.
#[derive(Parser)]
struct Options {
    /// The binary to compare with.
    #[arg(long, value_name = "PATH")]
    against: Option<String>,
    /// Rounds, besides a first one that is not counted; at most 40.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Connections of the measurement in parallel.
    #[arg(long, default_value_t = 16)]
    connections: usize,
    /// Log-ins by code in a round.
    #[arg(long, default_value_t = 2_000)]
    log_ins: usize,
    /// Log-ins by password in a round; 0 leaves them out. Many connections exceed the limit of an address.
    #[arg(long, default_value_t = 100)]
    passwords: usize,
    /// Calls of `GET /user/me`, and claims, in a round.
    #[arg(long, default_value_t = 40_000)]
    reads: usize,
    /// When the server responds: after a sync to disk (`power`), or before (`process`, `relaxed`).
    #[arg(long, default_value = "power")]
    durability: String,
    /// Redis of a mall on servers.
    #[arg(long, value_name = "URL", requires = "mysql")]
    redis: Option<String>,
    /// MySQL of a mall on servers.
    #[arg(long, value_name = "URL", requires = "redis")]
    mysql: Option<String>,
    /// Passed by cargo.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    ensure!((1..=40).contains(&options.rounds), "--rounds: 1 to 40, since a user has at most 50 sessions");
    ensure!((2..1_000).contains(&options.connections), "--connections: 2 to 999");
    let calls = [options.log_ins, options.passwords, options.reads];
    let [log_ins, passwords, reads] = calls;
    ensure!(log_ins.min(reads) >= SEQUENTIAL_SHARE, "at least {SEQUENTIAL_SHARE} log-ins and reads");
    ensure!(
        passwords == 0 || passwords >= SEQUENTIAL_SHARE,
        "--passwords: 0, or at least {SEQUENTIAL_SHARE}"
    );
    ensure!(log_ins <= 1_000_000, "--log-ins: at most 1,000,000");
    let parallel = Counts { log_ins, passwords, reads };
    let [log_ins, passwords, reads] = calls.map(|count| count / SEQUENTIAL_SHARE);
    let sequential = Counts { log_ins, passwords, reads };

    let own = std::env::var("MALLBOX").unwrap_or_else(|_| env!("CARGO_BIN_EXE_mallbox").to_owned());
    let programs: Vec<_> = std::iter::once(own).chain(options.against).collect();
    let passwords = (options.rounds + 1) * (parallel.passwords + sequential.passwords);
    let place = match (options.redis, options.mysql) {
        (Some(redis), Some(mysql)) => Place::Servers(ServerUrls { redis, mysql }),
        _ => Place::Directory { durability: options.durability.clone() },
    };
    let start = |program: &String| Side::start(program, &place, passwords);
    let mut sides: Vec<_> = programs.iter().map(start).collect::<anyhow::Result<_>>()?;
    println!(
        "{} rounds, {place}, {} log-ins by code, {} by password and {} reads a round",
        options.rounds, parallel.log_ins, parallel.passwords, parallel.reads
    );
    let mut table = Table::new(sides.len());
    for round in 0..=options.rounds {
        for (connections, counts) in [(1, sequential), (options.connections, parallel)] {
            for turn in 0..sides.len() {
                let number = (turn + round) % sides.len();
                let measured = sides[number].measure(connections, counts)?;
                if round > 0 {
                    table.add(number, connections, measured);
                }
            }
        }
    }
    table.print(&programs);
    sides.into_iter().try_for_each(Side::stop)
}
