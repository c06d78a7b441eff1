//! A bot run: one address attacks the log-ins of a mall with one operator, while honest people work there.
//!
//! `cargo bench --bench bots [-- --seconds 600 --connections 64 --phones 1000 --customers 12 --silent 200
//! --rate PER_SECOND]` starts `mallbox serve` with its default limits in a fresh directory, on a free port.
//! Codes are read from its standard output.
//!
//! The bots are at 127.0.0.1. They request codes for many phones, the operator's and customers' among them,
//! guess codes and passwords, spend turns of the password hash, try random tokens, write with five accounts
//! of their own, and hold silent connections. Meanwhile the operator logs in every few seconds from other
//! addresses, by code and by password, and calls the console. Customers log in and buy: some from addresses
//! of their own, some from the bots' address where they had logged in before, and one new at that address.
//! The bots do not know the phones of the last two kinds.
//!
//! Exit code 1 if a log-in of the operator was refused for good, or if more codes were sent than the limits
//! allow. Two things differ from an attack over a network: the bots take CPU from the mall, and loopback
//! addresses may open any number of connections.

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

mod attack;
mod felt;
mod people;
mod report;
mod silent;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{anyhow, ensure};
use clap::Parser;
use mallbox::bench::load::{self, Load, Progress, Shape, Share};

use attack::{Bots, Trick};
use felt::Felt;
use people::Span;
use report::{Memory, Results};
use shop::{Mall, OPERATOR};
use silent::SilentConnections;

const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// Bots against the log-ins of a mall.
#[derive(Parser)]
struct Options {
    /// Length of the attack.
    #[arg(long, default_value_t = 600)]
    seconds: u64,
    /// Connections of the bots, at least one per trick.
    #[arg(long, default_value_t = 64)]
    connections: usize,
    /// Phones that the bots attack.
    #[arg(long, default_value_t = 1_000)]
    phones: usize,
    /// Customers at addresses of their own, at most 20.
    #[arg(long, default_value_t = 12)]
    customers: usize,
    /// Connections that send nothing or half a request.
    #[arg(long, default_value_t = 200)]
    silent: usize,
    /// Requests of the bots per second; default: as many as the mall responds to.
    #[arg(long, value_name = "PER_SECOND")]
    rate: Option<f64>,
    /// Passed by cargo.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> anyhow::Result<ExitCode> {
    let options = Options::parse();
    ensure!(options.connections >= Trick::ALL.len(), "--connections: at least {}", Trick::ALL.len());
    ensure!(options.customers <= 20, "--customers: at most 20, who all get their first code at one address");
    ensure!(options.phones > options.customers, "--phones: more than customers");
    let mall = Mall::start(env!("CARGO_BIN_EXE_mallbox"), &[])?;
    let people = people::settle(&mall, options.customers)?;
    let asking = Instant::now();
    let bots = Bots::gather(&mall, targets(&options, &people.phones), people.goods, options.connections)?;
    let memory = Memory::of(mall.server.id())?;

    let span = Span { began: Instant::now(), length: Duration::from_secs(options.seconds) };
    println!(
        "{} s, {} connections, {} phones, {} silent connections, {} customers",
        options.seconds, options.connections, options.phones, options.silent, options.customers
    );
    let silent = SilentConnections::hold(options.silent, mall.server.address);
    let felt = Felt::default();
    let threads = people::begin(people, &mall, &span, &felt);
    let load = Load {
        addresses: vec![mall.server.address],
        connections: options.connections,
        stop_at: Some(span.began + span.length),
        request_timeout: REQUEST_TIMEOUT,
        shape: options.rate.map(Shape::constant),
        share: Share::WHOLE,
    };
    let (bots, load) = load::run(&load, bots, &Progress::default())?;
    for thread in threads {
        thread.join().map_err(|_| anyhow!("the thread of a person panicked"))?;
    }
    let silence = silent.stop()?;
    let newcomers = (0..).map(|number| mall.codes.count(&people::phone_of_newcomer(number)));
    let newcomers: usize = newcomers.take_while(|count| *count > 0).sum();
    let results = Results {
        bots: &bots,
        load: &load,
        silence,
        felt: &felt,
        codes: [mall.codes.total() as u64, newcomers as u64],
        asking: asking.elapsed(),
        memory: [memory, Memory::of(mall.server.id())?],
    };
    let is_kept = results.print(&mall.log)?;
    mall.server.stop()?;
    Ok(if is_kept { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns the phones that the bots attack, the operator's first.
fn targets(options: &Options, customers: &[String]) -> Vec<String> {
    let known = [OPERATOR.to_owned()].into_iter().chain(customers.iter().cloned());
    known.chain((0..).map(|number| format!("150{number:08}"))).take(options.phones).collect()
}
