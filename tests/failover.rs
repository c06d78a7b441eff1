//! A master dies in the middle of a rush, the sentinel promotes its replica, and the old master returns after
//! 0.8 s with its data: for some seconds there are two masters. The checker verifies every response, and all
//! units are sold.
//!
//! A client may know of a lost order only if the dead master acknowledged it in its last pass
//! (`History::excuse_lost`): Redis responds before its replicas have the data. Without a failover nothing may
//! be lost, since the log is synced before each response.
//!
//! `MALLBOX_FAILOVERS` is the number of rounds, `MALLBOX_SEED` repeats a plan.

mod common;

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use mallbox::place::Place;
use mallbox_storage::{Storage, VoucherId};
use mallbox_storage_production::ProductionOptions;
use mallbox_test_checker::{History, State};
use mallbox_test_patience as patience;
use mallbox_test_servers::{Database, RedisOptions, SentinelRedis};
use parking_lot::Mutex;
use tempfile::TempDir;

use common::dice::{Dice, number_from};
use common::inspection::{inspect, settle_and_sell_out};
use common::mall::{self, Mall, Size};
use common::rush::Rush;
use common::server::{self, Server};
use common::shoppers::{self, Behaviour, ShopperScript};

const ROUNDS: u64 = 2;
const SIZE: Size = Size { people: 2_400, sales: 1, units: 1_600 };
/// Time until the old master returns.
const AWAY: Duration = Duration::from_millis(800);
/// Time limit for accepted claims to reach the database, and for the counts of both servers to agree.
const CONVERGENCE_TIMEOUT: Duration = Duration::from_secs(45);
/// Pause between two comparisons of the counts in Redis and in the database.
const COMPARE_EVERY: Duration = Duration::from_millis(100);

/// Parameters of a round.
#[derive(Clone, Copy, Debug)]
struct Plan {
    instances: usize,
    connections: usize,
    /// Whether a master without its replica refuses writes, as README recommends.
    needs_replica: bool,
    /// Number of responses before the master dies.
    kill_after: u64,
}

impl Plan {
    fn of(number: u64, dice: &mut Dice) -> Self {
        Self {
            instances: if number % 4 < 2 { 2 } else { 1 },
            connections: if number.is_multiple_of(2) { 256 } else { 32 },
            needs_replica: number % 3 == 1,
            kill_after: 200 + dice.below(900),
        }
    }

    fn redis(self) -> RedisOptions {
        // The old master then returns with everything it acknowledged.
        let options = RedisOptions::default().with("appendonly", "yes").with("appendfsync", "always");
        if self.needs_replica {
            // With Redis' default lag of 10 s: a busy disk may delay a replica by a second, which is not a
            // failover.
            return options.with("min-replicas-to-write", "1");
        }
        options
    }
}

/// One mall on a Redis with a sentinel.
struct Round {
    plan: Plan,
    redis: SentinelRedis,
    database: Database,
    mall: Mall,
    operator: String,
    instances: Vec<Server>,
    history: Arc<Mutex<History>>,
}

impl Round {
    fn start(site: &Path, plan: Plan) -> anyhow::Result<Self> {
        let (redis, database) = (SentinelRedis::start(&plan.redis())?, Database::fresh());
        let place = place(&redis.url(), database.url());
        let (mall, operator) = mall::runtime()?.block_on(async {
            let storage = place.open().await?;
            let mall = mall::make_in(&storage, SIZE).await?;
            let operator = mall::appoint_operator_in(&storage, &mall).await?;
            storage.base.upkeep.close().await?;
            anyhow::Ok((mall, operator))
        })?;
        let start = |number| {
            Server::start_on(&redis.url(), database.url(), &site.join(format!("mallbox-{number}.log")))
        };
        let instances = (0..plan.instances).map(start).collect::<anyhow::Result<_>>()?;
        let history = shoppers::history(&mall, &mall.sales);
        Ok(Self { plan, redis, database, mall, operator, instances, history })
    }

    /// Runs a rush with the failover. Returns the effects on the clients' history.
    fn rush(&mut self, dice: &mut Dice) -> anyhow::Result<Killed> {
        let connections = self.plan.connections;
        let addresses = self.instances.iter().map(|instance| instance.address).collect();
        let press = ShopperScript::new(
            &self.history,
            self.mall.sales[0],
            Behaviour::Press,
            connections,
            dice.split(),
        );
        let rush = Rush::on_all(addresses, connections, press);
        rush.wait_for(self.plan.kill_after);
        let before = self.history.lock().now();
        self.redis.first_mut().kill();
        let kill = before..=self.history.lock().now();
        std::thread::sleep(AWAY);
        self.redis.first_mut().restart()?;
        let is_failover = self.redis.wait_for_agreement()?;
        let errors = rush.report()?.errors;
        ensure!(errors.total() == 0, "requests were lost while the mall was up: {errors:?}");
        Ok(Killed { kill, is_failover })
    }

    /// Waits until both servers agree, sells the remaining units, and checks the mall against every response.
    fn settle(&self, killed: &Killed, dice: &mut Dice) -> anyhow::Result<Settled> {
        let began = Instant::now();
        self.balanced()?;
        let took = began.elapsed();
        let lost = if killed.is_failover { self.excuse_lost(&killed.kill)? } else { 0 };
        let last = self.instances.len() - 1;
        let addresses = [self.instances[0].address, self.instances[last].address];
        settle_and_sell_out(addresses, &self.history, self.mall.sales[0], dice)?;
        self.balanced()?;
        let verify = server::verify_json_on(&self.redis.url(), self.database.url())?;
        inspect(&self.instances[last], &self.history.lock(), &self.operator, &verify)?;
        Ok(Settled { took, lost })
    }

    fn excuse_lost(&self, kill: &RangeInclusive<u64>) -> anyhow::Result<usize> {
        let mut history = self.history.lock();
        let state = State::read(self.instances[0].address, &history, &self.operator)?;
        Ok(history.excuse_lost(kill, &state).len())
    }

    fn balanced(&self) -> anyhow::Result<()> {
        let (began, place) = (Instant::now(), place(&self.redis.url(), self.database.url()));
        let counted = mall::runtime()?.block_on(async {
            let storage = place.open().await?;
            let counted = loop {
                match count(&storage, self.mall.sales[0]).await {
                    Ok(counted)
                        if counted.is_balanced()
                            || !patience::is_within(began.elapsed(), CONVERGENCE_TIMEOUT) =>
                    {
                        break counted;
                    }
                    // A server may still be catching up.
                    Err(error) if !patience::is_within(began.elapsed(), CONVERGENCE_TIMEOUT) => {
                        return Err(error);
                    }
                    _ => {}
                }
                tokio::time::sleep(COMPARE_EVERY).await;
            };
            storage.base.upkeep.close().await?;
            anyhow::Ok(counted)
        })?;
        ensure!(counted.is_balanced(), "the books differ: {counted:?}");
        Ok(())
    }
}

/// Time of the kill on the history's clock, and whether the replica was promoted.
struct Killed {
    kill: RangeInclusive<u64>,
    is_failover: bool,
}

struct Settled {
    took: Duration,
    lost: usize,
}

/// Counts of both servers.
#[derive(Debug)]
struct Counted {
    taken: Option<u64>,
    held: u64,
    pending: u64,
}

impl Counted {
    /// Returns whether the counts agree. A new master loads a sale at the sale's next use.
    fn is_balanced(&self) -> bool {
        self.pending == 0 && self.taken.is_none_or(|taken| taken == self.held)
    }
}

async fn count(storage: &Storage, sale: VoucherId) -> anyhow::Result<Counted> {
    let held = storage.selling.orders.count(sale).await?.held();
    // Read after the orders: every order had its unit before.
    let units = storage.selling.sales.units(sale).await?;
    let pending = storage.selling.order_log.count(sale).await?.durable;
    Ok(Counted { taken: units.map(|units| units.taken), held, pending })
}

/// Compares the counts of both servers during the rush. No order is cancelled, so Redis never counts fewer
/// units than the database.
struct Watch {
    over: Arc<AtomicBool>,
    thread: JoinHandle<anyhow::Result<(u64, Vec<String>)>>,
}

impl Watch {
    fn start(round: &Round) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let (ended, sale) = (Arc::clone(&over), round.mall.sales[0]);
        let place = place(&round.redis.url(), round.database.url());
        let thread = std::thread::spawn(move || {
            mall::runtime()?.block_on(async {
                let storage = place.open().await?;
                let (mut compared, mut faults) = (0, Vec::new());
                while !ended.load(Ordering::Relaxed) {
                    // An unavailable server is compared later.
                    if let Ok(counted) = count(&storage, sale).await
                        && let Some(taken) = counted.taken
                    {
                        compared += 1;
                        if taken < counted.held {
                            faults.push(format!("{counted:?}"));
                        }
                    }
                    tokio::time::sleep(COMPARE_EVERY).await;
                }
                storage.base.upkeep.close().await?;
                Ok((compared, faults))
            })
        });
        Self { over, thread }
    }

    fn end(self) -> anyhow::Result<u64> {
        self.over.store(true, Ordering::Relaxed);
        let (compared, faults) = self.thread.join().ok().context("the comparison panicked")??;
        ensure!(
            faults.is_empty(),
            "of {compared} times Redis counted too few {}: {:?}",
            faults.len(),
            first(&faults)
        );
        Ok(compared)
    }
}

fn place(redis: &str, mysql: &str) -> Place {
    Place::Production(ProductionOptions::new(redis, mysql))
}

fn first<T>(faults: &[T]) -> &[T] {
    &faults[..faults.len().min(5)]
}

fn round(number: u64, dice: &mut Dice) -> anyhow::Result<String> {
    let site = TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let plan = Plan::of(number, dice);
    let tell = || {
        let words = std::env::var_os("MALLBOX_FAILOVER_LOGS").map(|_| logs(site.path())).unwrap_or_default();
        format!("round {number}: {plan:?}{words}")
    };
    let mut round =
        Round::start(site.path(), plan).with_context(|| format!("round {number} did not begin"))?;
    let watch = Watch::start(&round);
    let rushed = round.rush(dice);
    let compared = watch.end();
    let (killed, compared) = (rushed.with_context(tell)?, compared.with_context(tell)?);
    let settled = round.settle(&killed, dice).with_context(tell)?;
    let history = round.history.lock();
    Ok(format!(
        "round {number}: {plan:?}: compared {compared} times, balanced after {:?}; failover {}, {} orders lost with their \
         master; {:?}, {:?}",
        settled.took,
        killed.is_failover,
        settled.lost,
        history.summary(),
        history.unavailable()
    ))
}

/// Returns the standard error of all instances.
fn logs(site: &Path) -> String {
    let texts = (0..2).map(|number| std::fs::read_to_string(site.join(format!("mallbox-{number}.log"))));
    texts.map(Result::unwrap_or_default).collect::<Vec<_>>().join("\n---\n")
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn a_failover_with_the_old_master_back_sold_to_some_twice_and_left_units_unsold() -> anyhow::Result<()> {
    let mut dice = Dice::from_environment("failover");
    let rounds = number_from("MALLBOX_FAILOVERS").unwrap_or(ROUNDS);
    let mut failed = Vec::new();
    for number in 1..=rounds {
        match round(number, &mut dice) {
            Ok(line) => println!("{line}"),
            Err(error) => {
                println!("FAILED {error:#}");
                failed.push(format!("{error:#}"));
            }
        }
    }
    ensure!(failed.is_empty(), "{} of {rounds} rounds failed:\n{}", failed.len(), failed.join("\n"));
    Ok(())
}
