//! A mall under load: made, served by processes of the same binary, and checked at the end.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use mallbox_storage::{Durability, Health, Timestamp, VoucherId};
use mallbox_storage_production::ServerStats;

use super::drive::progress_bar;
use super::people::{self, BenchUsers, Size};
use super::programs::{Program, ProgramUsage};
use super::result::{Class, System, Version};
use super::server::{Server, this_program};
use super::site::{BenchLocation, BenchTarget};

/// Limits that are checked on every claim and log-in, and never reached: all log-ins have one address here.
const LIMITS_UNREACHED: [&str; 6] = [
    "--claims-per-minute",
    "1000000000",
    "--codes-per-hour-of-address",
    "1000000000",
    "--codes-per-day-of-mall",
    "1000000000",
];

/// The mall. Dropping it ends the processes and removes what is not to be kept.
pub(super) struct RunningMall {
    pub(super) crowd: BenchUsers,
    pub(super) servers: Vec<Server>,
    pub(super) addresses: Vec<SocketAddr>,
    pub(super) site: BenchLocation,
    arguments: Vec<String>,
    health: Health,
    /// Redis and MySQL.
    behind: Vec<Program>,
}

/// What the ledger check found, and what the mall left on the disk.
pub(super) struct Ending {
    pub(super) books_balance: bool,
    /// One line.
    pub(super) books: String,
    /// Size of the order log in bytes, and time of a restart on it; in a directory only.
    pub(super) log: Option<(u64, Duration)>,
}

impl RunningMall {
    /// Makes a mall on `ground` and starts its processes. Returns also the lines that the first process
    /// prints from now on.
    pub(super) fn start(
        limits: bool,
        ground: &BenchTarget,
        size: Size,
        now: Timestamp,
    ) -> anyhow::Result<(Self, Receiver<String>)> {
        let site = BenchLocation::find(ground)?;
        let bar = progress_bar(Some(size.users as u64), "users logged in");
        let (crowd, health) = site.runtime.block_on(people::make(&site.place(), size, now, &bar))?;
        bar.finish_and_clear();
        let mut arguments = site.serve()?;
        arguments.extend(["--listen", "127.0.0.1:0"].map(str::to_owned));
        let limits: &[&str] = if limits { &LIMITS_UNREACHED } else { &["--limits", "off"] };
        arguments.extend(limits.iter().map(|word| (*word).to_owned()));
        let (servers, line) = serve(&arguments, &site)?;
        let addresses = servers.iter().map(|server| server.address).collect();
        let behind = programs_behind(ground, &health);
        Ok((Self { crowd, servers, addresses, site, arguments, health, behind }, line))
    }

    /// Kills the processes at once.
    pub(super) fn kill(&mut self) -> anyhow::Result<()> {
        self.servers.iter_mut().try_for_each(Server::kill)?;
        self.servers.clear();
        Ok(())
    }

    /// Starts the processes again, after they were killed.
    pub(super) fn restart(&mut self) -> anyhow::Result<()> {
        (self.servers, _) = serve(&self.arguments, &self.site)?;
        self.addresses = self.servers.iter().map(|server| server.address).collect();
        Ok(())
    }

    /// Stops the processes in good order.
    pub(super) fn stop(&mut self) -> anyhow::Result<()> {
        self.servers.drain(..).try_for_each(Server::stop)
    }

    /// Describes the processes and the servers behind them, a line each.
    pub(super) fn description(&self) -> String {
        let many = if self.servers.len() > 1 { format!("{} × ", self.servers.len()) } else { String::new() };
        let mut text = format!("{many}mallbox {}", self.arguments.join(" "));
        for (server, address) in self.health.servers() {
            let durability = server.durability.unwrap_or_default();
            text += &format!("\n{} at {address}: {durability}", server.name);
        }
        text
    }

    /// Describes the mall as a system of the result document.
    pub(super) fn system(&self, ground: &BenchTarget) -> System {
        let durability = match ground {
            BenchTarget::Directory { durability, .. } => *durability,
            BenchTarget::Servers { .. } => self.health.durability,
        };
        let durable = match durability {
            Durability::Power => "power",
            Durability::Process => "process",
            Durability::Relaxed | Durability::Memory => "memory",
        };
        let version = |name: &str, settings: &str| Version {
            name: name.to_owned(),
            version: None,
            settings: Some(settings.to_owned()),
        };
        // A result is shown around: the directory's path stays at home.
        let dir = self.site.dir().and_then(Path::to_str);
        let words: Vec<_> =
            self.arguments.iter().map(|word| if Some(&**word) == dir { "DIR" } else { word }).collect();
        let mallbox = Version {
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            ..version("mallbox", &words.join(" "))
        };
        let servers =
            self.health.servers().map(|(server, _)| version(server.name, server.durability.unwrap_or("")));
        System {
            id: ground.name().to_owned(),
            name: ground.title().to_owned(),
            // A kill is measured by `bench compare` alone.
            class: Class { durable, one_per_user: Some(true), exactly_once_after_kill: None },
            versions: std::iter::once(mallbox).chain(servers).collect(),
            tuned: durability != Durability::Power && matches!(ground, BenchTarget::Directory { .. }),
        }
    }

    /// Returns mallbox' own processes.
    pub(super) fn program(&self) -> Program {
        Program::mallbox(self.servers.iter().map(Server::id))
    }

    /// Returns the cost so far of mallbox, and of Redis and MySQL where their processes are known.
    pub(super) fn usage(&self) -> ProgramUsage {
        ProgramUsage::of(&[vec![self.program()], self.behind.clone()].concat())
    }

    /// Returns what Redis and MySQL did since `before`.
    pub(super) fn spent_since(&self, before: Option<ServerStats>) -> anyhow::Result<Option<ServerStats>> {
        Ok(before.zip(self.site.figures()?).map(|(before, after)| after - before))
    }

    /// Returns the numbers of the users who hold a unit of a sale, counted from 0, and the number of orders
    /// that hold one. The processes must be stopped.
    pub(super) fn holdings(&self, sale: VoucherId) -> anyhow::Result<(Vec<usize>, u64)> {
        self.site.runtime.block_on(async {
            let storage = self.site.place().open().await?;
            let mut holders = Vec::new();
            for (number, user) in self.crowd.ids.iter().enumerate() {
                if storage.selling.orders.holding(sale, *user).await?.is_some() {
                    holders.push(number);
                }
            }
            let orders = storage.selling.orders.count(sale).await?.held();
            storage.base.upkeep.close().await?;
            Ok((holders, orders))
        })
    }

    /// Stops the processes, restarts a mall in a directory once, and checks the ledger.
    pub(super) fn end(mut self, verbose: bool) -> anyhow::Result<Ending> {
        self.stop()?;
        let log = self.site.dir().map(|dir| start_again(&self.arguments, dir)).transpose()?;
        self.check(verbose, log)
    }

    /// Checks the ledger of a mall whose processes are stopped.
    pub(super) fn check(&self, verbose: bool, log: Option<(u64, Duration)>) -> anyhow::Result<Ending> {
        let output = this_program(&self.site.command("verify")?, &self.site.environment())?.output()?;
        let books_balance = output.status.success();
        let text = String::from_utf8_lossy(&output.stdout);
        if verbose || !books_balance {
            print!("{text}");
            eprint!("{}", String::from_utf8_lossy(&output.stderr));
        }
        let books = text.lines().last().unwrap_or("the ledger check printed nothing").to_owned();
        Ok(Ending { books_balance, books, log })
    }
}

/// Starts the processes of a mall. Returns also the lines that the first one prints from now on.
fn serve(arguments: &[String], site: &BenchLocation) -> anyhow::Result<(Vec<Server>, Receiver<String>)> {
    let environment = site.environment();
    let started: Vec<_> = (0..site.instances())
        .map(|_| Server::start(arguments, &environment))
        .collect::<anyhow::Result<_>>()?;
    let (servers, mut lines): (Vec<_>, Vec<_>) = started.into_iter().unzip();
    Ok((servers, lines.swap_remove(0)))
}

/// Returns Redis and MySQL, with their processes on this machine. The nodes of a Redis cluster and the
/// servers behind a sentinel are out of reach.
fn programs_behind(ground: &BenchTarget, health: &Health) -> Vec<Program> {
    let is_single = match ground {
        BenchTarget::Directory { .. } => true,
        BenchTarget::Servers { options, .. } => {
            ["redis://", "rediss://"].iter().any(|scheme| options.redis.url.starts_with(scheme))
        }
    };
    let program = |name, address: &str| {
        if is_single || name != "Redis" {
            Program::of_server(name, address)
        } else {
            Program::out_of_reach(name)
        }
    };
    health.servers().map(|(server, address)| program(server.name, address)).collect()
}

/// Returns the size of the order log after the sales, and the time of a restart on it.
fn start_again(arguments: &[String], dir: &Path) -> anyhow::Result<(u64, Duration)> {
    let bytes = bytes_below(&dir.join("log"))?;
    let began = Instant::now();
    let (server, _lines) = Server::start(arguments, &[])?;
    let started = began.elapsed();
    server.stop()?;
    Ok((bytes, started))
}

fn bytes_below(dir: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() { bytes_below(&entry.path())? } else { metadata.len() };
    }
    Ok(bytes)
}
