//! A mall in a directory with room beside it, and a crowd that buys.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use mallbox::mall::{Clock as _, SystemClock};
use mallbox_storage::{Claim, ClaimOutcome, FencingToken, OrderId, Storage, VoucherId};
use mallbox_test_checker::Connection;
use parking_lot::Mutex;
use tempfile::TempDir;

use crate::common::mall::{self, Mall, Size};
use crate::common::server::Server;
use crate::process::mallbox;

/// Users of the mall under load: each buys once in each sale.
pub const PEOPLE: usize = 1_500;
const BUYERS: usize = 6;

/// A mall in a directory, and room beside it.
pub struct Site {
    site: TempDir,
    pub mall: Mall,
}

impl Site {
    pub fn make(people: usize, sales: usize) -> anyhow::Result<Self> {
        let site = TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
        let mall = mall::make(&site.path().join("mall"), Size { people, sales, units: people as u64 })?;
        Ok(Self { site, mall })
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.site.path().join(name)
    }

    pub fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    pub fn data(&self) -> PathBuf {
        self.path("mall")
    }

    pub fn serve(&self) -> anyhow::Result<Server> {
        Server::start(&self.data(), &self.path("log"), "power")
    }

    /// Runs a command whose arguments may name files of the site, as `@name`.
    pub fn run(&self, arguments: &[&str]) -> anyhow::Result<Output> {
        let named = arguments.iter().map(|word| match word.strip_prefix('@') {
            Some(name) => self.text(name),
            None => (*word).to_owned(),
        });
        let named: Vec<String> = named.collect();
        Ok(mallbox(&named.iter().map(String::as_str).collect::<Vec<_>>()).output()?)
    }

    /// Runs a command that has to succeed. Returns its standard output.
    pub fn done(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let output = self.run(arguments)?;
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        ensure!(output.status.success(), "{arguments:?}: {}\n{out}{err}", output.status);
        Ok(out.into_owned())
    }

    /// Runs a command that has to fail with this exit code. Returns its last line on standard error.
    pub fn refused(&self, arguments: &[&str], code: i32) -> anyhow::Result<String> {
        let output = self.run(arguments)?;
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(output.status.code() == Some(code), "{arguments:?}: {}\n{err}", output.status);
        Ok(err.lines().last().unwrap_or_default().to_owned())
    }

    /// Claims a unit of the first sale for each user, as [`claim_for_all`] does.
    pub fn claim_for_all(&self) -> anyhow::Result<Vec<OrderId>> {
        mall::runtime()?.block_on(async {
            let storage = mall::open(&self.data()).await?;
            let orders = claim_for_all(&storage, &self.mall).await?;
            storage.base.upkeep.close().await?;
            Ok(orders)
        })
    }

    /// Returns the orders among `orders` that a mall lacks: neither in its database nor in its log.
    pub fn missing(&self, data: &Path, orders: &[OrderId]) -> anyhow::Result<Vec<OrderId>> {
        mall::runtime()?.block_on(async {
            let storage = mall::open(data).await?;
            let mut missing = Vec::new();
            for order in orders {
                let is_known = storage.selling.orders.get(*order).await?.is_some()
                    || storage.selling.order_log.find(*order).await?.is_some();
                if !is_known {
                    missing.push(*order);
                }
            }
            storage.base.upkeep.close().await?;
            Ok(missing)
        })
    }
}

/// Claims a unit of the first sale for each user. No process writes the claims to the database: they are in
/// the log alone, but for three that are in both.
pub async fn claim_for_all(storage: &Storage, mall: &Mall) -> anyhow::Result<Vec<OrderId>> {
    let (sale, now) = (mall.sales[0], SystemClock.now());
    let voucher = storage.catalogue.vouchers.get(sale).await?.and_then(|voucher| voucher.sale);
    let terms = voucher.context("no sale")?.terms;
    let _ = storage.selling.sales.put(terms, FencingToken::new(1)).await?;
    // The ids of the orders below, for the ledger check.
    for _ in 0..=mall.people.len() {
        storage.base.sequences.next("order", OrderId::day(now).context("before 2022")?).await?;
    }
    let mut orders = Vec::new();
    for (person, number) in mall.people.iter().zip(1..) {
        let order = OrderId::compose(now, number, sale).context("before 2022")?;
        let claim = Claim { order, voucher: sale, user: person.id, at: now };
        ensure!(storage.selling.sales.claim(claim).await? == ClaimOutcome::Accepted, "claim {number}");
        orders.push(order);
    }
    let taken = storage.selling.order_log.take("worker", orders.len(), Duration::ZERO).await?;
    storage.selling.orders.persist(&taken[taken.len() - 3..], now).await?;
    Ok(orders)
}

/// Units of a sale that somebody holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Held {
    pub pending: u64,
    pub orders: u64,
}

/// Counts the units of a sale that somebody holds, in a stopped mall.
pub fn held(data: &Path, sale: VoucherId) -> anyhow::Result<Held> {
    mall::runtime()?.block_on(async {
        let storage = mall::open(data).await?;
        let pending = storage.selling.order_log.count(sale).await?.durable;
        let orders = storage.selling.orders.count(sale).await?.held();
        storage.base.upkeep.close().await?;
        Ok(Held { pending, orders })
    })
}

/// Buyers of one sale, each of whom notes what the mall has acknowledged.
pub struct Crowd {
    acknowledged: Arc<Mutex<Vec<OrderId>>>,
    stop: Arc<AtomicBool>,
    buyers: Vec<JoinHandle<anyhow::Result<()>>>,
}

impl Crowd {
    pub fn start(address: SocketAddr, mall: &Mall, sale: VoucherId) -> Self {
        Self::start_slowly(address, mall, sale, Duration::ZERO)
    }

    /// Starts buyers who pause after each claim.
    pub fn start_slowly(address: SocketAddr, mall: &Mall, sale: VoucherId, pause: Duration) -> Self {
        let (acknowledged, stop) = (Arc::<Mutex<Vec<OrderId>>>::default(), Arc::<AtomicBool>::default());
        let buyers = (0..BUYERS).map(|buyer| {
            let (mall, acknowledged, stop) = (mall.clone(), Arc::clone(&acknowledged), Arc::clone(&stop));
            std::thread::spawn(move || {
                let mut connection = Connection::open(address)?;
                let path = format!("/voucher-order/seckill/{sale}");
                for person in mall.people.iter().skip(buyer).step_by(BUYERS) {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    let (_, answer) = connection.ask("POST", &path, &person.token)?;
                    let order = answer["dataText"].as_str().and_then(|id| id.parse().ok());
                    let order = order.with_context(|| format!("a claim was refused: {answer}"))?;
                    acknowledged.lock().push(OrderId::new(order));
                    std::thread::sleep(pause);
                }
                Ok(())
            })
        });
        let buyers = buyers.collect();
        Self { acknowledged, stop, buyers }
    }

    pub fn acknowledged(&self) -> Vec<OrderId> {
        self.acknowledged.lock().clone()
    }

    /// Waits for the buyers. Returns everything acknowledged.
    pub fn end(self) -> anyhow::Result<Vec<OrderId>> {
        self.stop.store(true, Ordering::Relaxed);
        for buyer in self.buyers {
            buyer.join().ok().context("a buyer panicked")??;
        }
        let acknowledged = self.acknowledged.lock().clone();
        Ok(acknowledged)
    }
}
