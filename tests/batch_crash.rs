//! `kill -9` in the middle of a batch of claims: the repeat has the outcome of every claim, and every
//! accepted claim is one order. In a directory by the restarted mall, on servers by another instance.
//!
//! `MALLBOX_CRASH_CYCLES` sets the number of kills, `MALLBOX_SEED` repeats a plan.

mod common;

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use mallbox::place::Place;
use mallbox_storage::{ClaimGatewayId, OrderId, Storage, UserId, VoucherId};
use mallbox_storage_production::ProductionOptions;
use mallbox_test_patience::{self as patience, Deadline};
use mallbox_test_servers::{MariaDb, Redis};
use serde_json::{Value, json};
use tempfile::TempDir;

use common::dice::{Dice, number_from};
use common::http;
use common::mall::{self, Mall, Size};
use common::server::{self, Server};

const DURABILITY: &str = "power";
const PATH: &str = "/api/voucher-order/seckill/batch";
/// Claims of a batch: as many as a batch may have.
const CLAIMS: usize = 500;
/// Units of each sale: fewer than claims.
const UNITS: u64 = 350;
/// Batches that are not interrupted: the shortest tells how long a batch takes.
const WARM_UP: usize = 3;
/// Longest wait for the outcomes: the lock of a killed instance, and a busy machine.
const REPEAT_TIMEOUT: Duration = Duration::from_secs(60);

/// A batch with the whole crowd in one sale.
struct Batch {
    name: String,
    sale: VoucherId,
    users: Vec<UserId>,
    body: String,
}

/// Order of each user, `None` for a refused claim.
type Orders = BTreeMap<UserId, Option<OrderId>>;

impl Batch {
    fn new(mall: &Mall, sale: VoucherId) -> Self {
        let users: Vec<UserId> = mall.people.iter().take(CLAIMS).map(|person| person.id).collect();
        let claims: Vec<Value> =
            users.iter().map(|user| json!({ "userId": user.get(), "voucherId": sale.get() })).collect();
        let name = format!("batch of {sale}");
        let body = json!({ "requestId": name, "claims": claims }).to_string();
        Self { name, sale, users, body }
    }

    fn ask(&self, address: SocketAddr, token: &str) -> anyhow::Result<http::Reply> {
        http::send(address, "POST", PATH, token, &self.body)
    }

    /// Asks until the batch is decided. Returns the orders, and whether an earlier request decided.
    fn decide(&self, address: SocketAddr, token: &str) -> anyhow::Result<(Orders, bool)> {
        let deadline = Deadline::after(REPEAT_TIMEOUT);
        loop {
            let reply = self.ask(address, token)?;
            if reply.status == 503 && !deadline.is_over() {
                std::thread::sleep(Duration::from_millis(100));
                continue;
            }
            return self.orders(&reply);
        }
    }

    fn orders(&self, reply: &http::Reply) -> anyhow::Result<(Orders, bool)> {
        ensure!(
            reply.status == 200 && reply.body["success"] == true,
            "{}: {}",
            reply.status,
            reply.body["code"]
        );
        let data = &reply.body["data"];
        let claims = data["claims"].as_array().context("no claims")?;
        ensure!(claims.len() == self.users.len(), "{} outcomes", claims.len());
        let mut orders = Orders::new();
        for (user, claim) in self.users.iter().zip(claims) {
            let order = match claim["orderId"].as_str() {
                Some(id) if claim["success"] == true => Some(OrderId::new(id.parse()?)),
                None if claim["code"] == "SOLD_OUT" => None,
                _ => anyhow::bail!("user {user}: {claim}"),
            };
            orders.insert(*user, order);
        }
        Ok((orders, data["repeated"] == true))
    }

    /// Checks that exactly the accepted claims are orders, under the ids of the outcomes.
    async fn check(&self, storage: &Storage, orders: &Orders) -> anyhow::Result<()> {
        ensure!(
            orders.values().flatten().count() as u64 == UNITS,
            "{} sold",
            orders.values().flatten().count()
        );
        for (user, order) in orders {
            let held = storage.selling.orders.holdings(self.sale, *user).await?;
            let expected: Vec<OrderId> = order.iter().copied().collect();
            ensure!(held == expected, "user {user} holds {held:?}, and the outcome was {expected:?}");
        }
        Ok(())
    }
}

/// Issues the token of a gateway for all sales of the mall.
fn token(address: SocketAddr, operator: &str, mall: &Mall) -> anyhow::Result<String> {
    let sales: Vec<u64> = mall.sales.iter().map(|sale| sale.get()).collect();
    let body = json!({ "name": "company", "vouchers": sales, "validHours": 1 }).to_string();
    let reply = http::send(address, "POST", "/api/ops/claim-gateways", operator, &body)?;
    Ok(reply.body["data"]["token"].as_str().with_context(|| reply.text.clone())?.to_owned())
}

/// States in which kills left batches.
#[derive(Default, Debug)]
struct Tally {
    unknown: u32,
    with_ids_alone: u32,
    decided: u32,
    answered: u32,
}

impl Tally {
    async fn count(&mut self, storage: &Storage, batch: &Batch) -> anyhow::Result<()> {
        match storage.selling.claim_batches.get(ClaimGatewayId::new(1), &batch.name).await? {
            None => self.unknown += 1,
            Some(stored) if stored.is_finished => self.decided += 1,
            Some(_) => self.with_ids_alone += 1,
        }
        Ok(())
    }
}

/// Sends a batch, and kills the server at a random moment of its usual duration. Returns the first response,
/// if there was any.
fn kill_within(
    server: Server,
    batch: &Batch,
    token: &str,
    moment: Duration,
) -> anyhow::Result<Option<(Orders, bool)>> {
    let address = server.address;
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| batch.ask(address, token));
        std::thread::sleep(moment);
        server.kill()?;
        match asking.join().ok().context("the gateway panicked")? {
            Ok(reply) if reply.body.is_object() => batch.orders(&reply).map(Some),
            // Nothing, or a part.
            _ => Ok(None),
        }
    })
}

/// Sends a batch to several instances at once. Returns the orders, which one instance decides and the others
/// repeat.
fn decide_at_once(batch: &Batch, addresses: [SocketAddr; 2], token: &str) -> anyhow::Result<Orders> {
    let decided = std::thread::scope(|scope| {
        let asking = addresses.map(|address| scope.spawn(move || batch.decide(address, token)));
        asking.map(|asked| asked.join().ok().context("a gateway panicked")?)
    });
    let [first, second] = decided;
    let ((orders, one), (others, other)) = (first?, second?);
    ensure!(orders == others, "two instances decided differently");
    ensure!(one != other, "repeated: {one}, {other}");
    Ok(orders)
}

#[test]
fn a_batch_that_a_kill_cut_short_is_completed_after_the_restart() -> anyhow::Result<()> {
    let cycles = number_from("MALLBOX_CRASH_CYCLES").unwrap_or(8).min(45) as usize;
    let mut dice = Dice::from_environment("batch");
    let site = TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let (data, log) = (site.path().join("mall"), site.path().join("mallbox.log"));
    let mall = mall::make(&data, Size { people: CLAIMS, sales: cycles + WARM_UP, units: UNITS })?;
    let operator = mall::appoint_operator(&data, &mall)?;
    let mut server = Server::start(&data, &log, DURABILITY)?;
    let token = token(server.address, &operator, &mall)?;
    let (mut tally, mut all) = (Tally::default(), Vec::new());
    let mut usual = Duration::MAX;
    for sale in &mall.sales[..WARM_UP] {
        let batch = Batch::new(&mall, *sale);
        let began = Instant::now();
        let (orders, _) = batch.decide(server.address, &token)?;
        usual = usual.min(began.elapsed());
        all.push((batch, orders));
    }
    for sale in &mall.sales[WARM_UP..] {
        let batch = Batch::new(&mall, *sale);
        let first = kill_within(server, &batch, &token, dice.within(usual))?;
        tally.answered += u32::from(first.is_some());
        mall::runtime()?.block_on(async {
            let storage = mall::open(&data).await?;
            tally.count(&storage, &batch).await?;
            anyhow::Ok(storage.base.upkeep.close().await?)
        })?;
        server = Server::start(&data, &log, DURABILITY)?;
        let (orders, _) = batch.decide(server.address, &token)?;
        if let Some((first, _)) = first {
            ensure!(first == orders, "the outcomes changed with the crash");
        }
        ensure!(batch.decide(server.address, &token)? == (orders.clone(), true), "the repeat differs");
        all.push((batch, orders));
    }
    server.stop()?;
    server::verify(&data)?;
    println!("batch: {cycles} times kill -9 within {usual:?}; found {tally:?}");
    mall::runtime()?.block_on(async {
        let storage = mall::open(&data).await?;
        for (batch, orders) in &all {
            batch.check(&storage, orders).await?;
        }
        Ok(storage.base.upkeep.close().await?)
    })
}

#[test]
#[cfg_attr(
    not(feature = "production-tests"),
    ignore = "needs redis-server and mariadbd, which tests/run installs"
)]
fn a_batch_of_a_killed_instance_is_completed_by_another() -> anyhow::Result<()> {
    const CYCLES: usize = 4;
    let mut dice = Dice::from_environment("batch on servers");
    let (redis, mariadb) = (Redis::start()?, MariaDb::start()?);
    let site = TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let log = site.path().join("mallbox.log");
    let open =
        async || Place::Production(ProductionOptions::new(redis.url(), mariadb.url("mall"))).open().await;
    let (mall, operator) = mall::runtime()?.block_on(async {
        let storage = open().await?;
        let size = Size { people: CLAIMS, sales: CYCLES + WARM_UP, units: UNITS };
        let mall = mall::make_in(&storage, size).await?;
        let operator = mall::appoint_operator_in(&storage, &mall).await?;
        storage.base.upkeep.close().await?;
        anyhow::Ok((mall, operator))
    })?;
    let another = || Server::start_on(&redis.url(), &mariadb.url("mall"), &log);
    let (stays, beside) = (another()?, another()?);
    let token = token(stays.address, &operator, &mall)?;
    let (mut tally, mut all) = (Tally::default(), HashMap::new());
    let mut usual = Duration::MAX;
    for sale in &mall.sales[..WARM_UP] {
        let batch = Batch::new(&mall, *sale);
        let began = Instant::now();
        let orders = decide_at_once(&batch, [stays.address, beside.address], &token)?;
        usual = usual.min(began.elapsed());
        all.insert(batch.name.clone(), (batch, orders));
    }
    for sale in &mall.sales[WARM_UP..] {
        let batch = Batch::new(&mall, *sale);
        let first = kill_within(another()?, &batch, &token, dice.within(usual))?;
        tally.answered += u32::from(first.is_some());
        mall::runtime()?.block_on(async {
            let storage = open().await?;
            tally.count(&storage, &batch).await?;
            anyhow::Ok(storage.base.upkeep.close().await?)
        })?;
        let (orders, _) = batch.decide(stays.address, &token)?;
        if let Some((first, _)) = first {
            ensure!(first == orders, "the outcomes changed with the crash");
        }
        all.insert(batch.name.clone(), (batch, orders));
    }
    println!("batch on servers: {CYCLES} times kill -9 within {usual:?}; found {tally:?}");
    // Claims of a killed instance are handed out again after its heartbeat timeout.
    let deadline = Deadline::after(REPEAT_TIMEOUT);
    let settled = || http::ask(stays.address, "GET", "/readyz", "").map(|reply| reply.text);
    mall::runtime()?.block_on(async {
        let storage = open().await?;
        while storage.selling.order_log.state().await.pending > 0 && !deadline.is_over() {
            tokio::time::sleep(patience::scaled(Duration::from_millis(100))).await;
        }
        ensure!(
            storage.selling.order_log.state().await.pending == 0,
            "claims stay pending: {:?}",
            settled()?
        );
        for (batch, orders) in all.values() {
            batch.check(&storage, orders).await?;
        }
        Ok(storage.base.upkeep.close().await?)
    })?;
    let revoked = http::ask(stays.address, "DELETE", "/api/ops/claim-gateways/1", &operator)?;
    ensure!(revoked.body["success"] == true, "{}", revoked.text);
    let (batch, _) = all.values().next().context("no batch")?;
    for server in [&stays, &beside] {
        let refused = batch.ask(server.address, &token)?;
        ensure!(refused.code() == "GATEWAY_TOKEN_INVALID", "a revoked token: {}", refused.text);
    }
    stays.stop()?;
    beside.stop()?;
    server::verify_on(&redis.url(), &mariadb.url("mall"))
}
