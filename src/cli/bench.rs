//! `mallbox bench`: how fast is it, on this machine, beside what the machine can do.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use mallbox_storage::VoucherId;

use super::words::Hindrance;
use crate::bench::{self, SaleBench};
use crate::mall::{Clock as _, SystemClock};

/// What to measure.
#[derive(Debug, Subcommand)]
pub enum Bench {
    /// A crowd in flash sales, over real connections against a `serve` of its own; then the books.
    Sale(Sale),
    /// A bare axum handler to compare with; runs until it is stopped.
    #[command(hide = true)]
    Ceiling,
}

/// The flags of `bench sale`.
#[derive(Args, Debug)]
pub struct Sale {
    /// People who press, each once a sale.
    #[arg(long, default_value_t = 20_000)]
    users: usize,
    /// Units of each sale; 0 = unlimited.
    #[arg(long, default_value_t = 5_000)]
    units: u64,
    /// Sales, one after another.
    #[arg(long, default_value_t = 1)]
    sales: usize,
    /// Connections that the crowd shares.
    #[arg(long, default_value_t = 64)]
    connections: usize,
    /// Claims per second over all connections; as fast as answers come unless given.
    #[arg(long, value_name = "PER_SECOND")]
    rate: Option<f64>,
    /// Seconds for which the ceiling and the refusals are measured.
    #[arg(long, default_value_t = 5, value_name = "SECONDS")]
    span: u64,
    /// How the server answers: after the disk has it, after the system has it, or every 200 ms.
    #[arg(long, default_value = "power", value_parser = ["power", "process", "relaxed"])]
    durability: String,
    /// Make the mall here, and keep it.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Press at a server that runs already, instead of one of our own.
    #[arg(long, requires = "tokens", requires = "voucher")]
    address: Option<SocketAddr>,
    /// A file of the tokens of those who press at `--address`, one a line.
    #[arg(long, requires = "address", value_name = "FILE")]
    tokens: Option<PathBuf>,
    /// The sales that are pressed in at `--address`, one after another.
    #[arg(long, requires = "address", value_name = "ID", value_delimiter = ',')]
    voucher: Vec<u64>,
}

/// Measures. Answers whether the books balanced afterwards.
///
/// # Errors
/// One sentence for whoever typed the command.
pub fn run(command: Bench) -> anyhow::Result<bool> {
    match command {
        Bench::Sale(sale) => bench::run_sale(&sale.plan()?, SystemClock.now()),
        Bench::Ceiling => bench::ceiling::serve().map(|()| true),
    }
}

impl Sale {
    fn plan(self) -> anyhow::Result<SaleBench> {
        let server = match (self.address, &self.tokens) {
            (Some(address), Some(file)) => {
                let text = std::fs::read_to_string(file)
                    .map_err(|error| Hindrance::CannotRead(file.clone()).since(error))?;
                let tokens: Vec<String> =
                    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect();
                if tokens.is_empty() {
                    return Err(Hindrance::NoToken(file.clone()).into());
                }
                Some((address, tokens, self.voucher.iter().copied().map(VoucherId::new).collect::<Vec<_>>()))
            }
            _ => None,
        };
        Ok(SaleBench {
            users: server.as_ref().map_or(self.users, |(_, tokens, _)| tokens.len()),
            units: (self.units > 0).then_some(self.units),
            sales: server.as_ref().map_or(self.sales, |(_, _, sales)| sales.len()),
            connections: self.connections,
            rate: self.rate,
            span: Duration::from_secs(self.span),
            serve: vec!["--durability".to_owned(), self.durability],
            dir: self.keep,
            server,
        })
    }
}
