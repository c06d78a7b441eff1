//! Several processes on a shared Redis and MariaDB form a single mall. The processes sell as many units as
//! one process would, finish the work of a killed process, and are restarted one after the other under load.
//!
//! `MALLBOX_SEED` repeats a plan.

mod common;

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use mallbox::place::Place;
use mallbox_storage::VoucherId;
use mallbox_storage_production::ProductionOptions;
use mallbox_test_checker::History;
use mallbox_test_servers::{MariaDb, Redis};
use parking_lot::Mutex;
use tempfile::TempDir;

use common::dice::Dice;
use common::inspection;
use common::mall::{self, Mall, Size};
use common::rush::Rush;
use common::server::{self, Server};
use common::shoppers::{self, Behaviour, ShopperScript};

const INSTANCES: usize = 3;
/// Connections of each rush.
const CONNECTIONS: usize = 32;
/// Several times the heartbeat timeout after which other instances take over an instance's claims.
const TAKEOVER_TIMEOUT: Duration = Duration::from_secs(60);

/// Instances of one mall, and its servers.
struct Fleet {
    instances: Vec<Server>,
    redis: Redis,
    mariadb: MariaDb,
    mall: Mall,
    operator: String,
    site: TempDir,
}

impl Fleet {
    fn start(size: Size) -> anyhow::Result<Self> {
        let (redis, mariadb) = (Redis::start()?, MariaDb::start()?);
        let site = TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
        let place = Place::Production(ProductionOptions::new(redis.url(), mariadb.url("mall")));
        let (mall, operator) = mall::runtime()?.block_on(async {
            let storage = place.open().await?;
            let mall = mall::make_in(&storage, size).await?;
            let operator = mall::appoint_operator_in(&storage, &mall).await?;
            storage.base.upkeep.close().await?;
            anyhow::Ok((mall, operator))
        })?;
        let mut fleet = Self { instances: Vec::new(), redis, mariadb, mall, operator, site };
        for _ in 0..INSTANCES {
            fleet.instances.push(fleet.another()?);
        }
        Ok(fleet)
    }

    fn another(&self) -> anyhow::Result<Server> {
        Server::start_on(&self.redis.url(), &self.mariadb.url("mall"), &self.log())
    }

    fn log(&self) -> PathBuf {
        self.site.path().join("mallbox.log")
    }

    /// Returns the clients of an instance: every client uses a single instance per round, and changes
    /// to the next instance after each round. As a closed loop, or with a rate in requests a second.
    fn clients(
        &self,
        instance: usize,
        round: usize,
        rate: Option<f64>,
        history: &Arc<Mutex<History>>,
        dice: &mut Dice,
    ) -> Rush<ShopperScript> {
        let part = (instance + round) % INSTANCES;
        let people = (0..self.mall.people.len()).filter(|person| person % INSTANCES == part).collect();
        let sale = self.mall.sales[0];
        let clients = ShopperScript::among(people, history, sale, Behaviour::Live, CONNECTIONS, dice.split());
        let address = self.instances[instance].address;
        match rate {
            Some(rate) => Rush::paced(rate, address, CONNECTIONS, clients),
            None => Rush::start(address, CONNECTIONS, clients),
        }
    }

    /// Repeats each request without a response, sells the remaining units, and checks the mall against the
    /// history.
    fn sell_out(self, history: &Arc<Mutex<History>>, dice: &mut Dice) -> anyhow::Result<()> {
        let addresses = [self.instances[0].address, self.instances[1].address];
        inspection::settle_and_sell_out(addresses, history, self.mall.sales[0], dice)?;
        self.drained()?;
        let verify = server::verify_json_on(&self.redis.url(), &self.mariadb.url("mall"))?;
        let instance = &self.instances[2];
        inspection::inspect(instance, &history.lock(), &self.operator, &verify)?;
        self.instances.into_iter().try_for_each(Server::stop)
    }

    fn place(&self) -> Place {
        Place::Production(ProductionOptions::new(self.redis.url(), self.mariadb.url("mall")))
    }

    /// Waits until every claim is in the database, including those of a killed instance.
    fn drained(&self) -> anyhow::Result<()> {
        mall::drained(&self.place(), TAKEOVER_TIMEOUT)
    }
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn three_instances_sell_exactly_the_units_and_two_finish_what_a_killed_one_left() -> anyhow::Result<()> {
    let mut dice = Dice::from_environment("three instances");
    let mut fleet = Fleet::start(Size { people: 3_000, sales: 1, units: 1_500 })?;
    let history = shoppers::history(&fleet.mall, &fleet.mall.sales);
    for round in 0..3 {
        let mut crowds = Vec::new();
        for instance in 0..INSTANCES {
            crowds.push(fleet.clients(instance, round, None, &history, &mut dice));
        }
        // Fewer than 500 users each: there is time for a kill before the end of the rush.
        crowds[0].wait_for(40 + dice.below(200));
        if round < 2 {
            fleet.instances.remove(0).kill()?;
            let other = fleet.another()?;
            fleet.instances.insert(0, other);
        }
        for crowd in crowds {
            crowd.end()?;
        }
    }
    let summary = history.lock().summary();
    fleet.sell_out(&history, &mut dice)?;
    println!("three instances, two kills: {summary:?}, then sold out");
    Ok(())
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn instances_are_restarted_one_by_one_while_people_buy() -> anyhow::Result<()> {
    let mut dice = Dice::from_environment("rolling restart");
    // A rate for slow machines: an overloaded instance may reject requests, and the test would show nothing
    // about restarts.
    let rate = Some(40.0);
    let mut fleet = Fleet::start(Size { people: 3_000, sales: 1, units: 1_500 })?;
    let history = shoppers::history(&fleet.mall, &fleet.mall.sales);
    let mut crowds: Vec<_> =
        (0..INSTANCES).map(|instance| fleet.clients(instance, 0, rate, &history, &mut dice)).collect();
    for instance in 0..INSTANCES {
        crowds[instance].wait_for(30 + dice.below(60));
        fleet.instances.remove(instance).stop()?;
        crowds.remove(instance).end()?;
        let other = fleet.another()?;
        fleet.instances.insert(instance, other);
        crowds.insert(instance, fleet.clients(instance, 0, rate, &history, &mut dice));
    }
    for crowd in crowds {
        crowd.end()?;
    }
    let known = history.lock().clone();
    let (summary, unavailable) = (known.summary(), known.unavailable());
    ensure!(unavailable.is_empty(), "an instance that stops finishes what it was asked: {unavailable:?}");
    // A connection closed between two requests may lose the request in transit.
    let lost_at_most = (INSTANCES * CONNECTIONS) as u64;
    ensure!(summary.unknown <= lost_at_most, "{} answers are missing", summary.unknown);
    fleet.sell_out(&history, &mut dice)?;
    println!("rolling restart: {summary:?}, then sold out");
    Ok(())
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn operators_at_two_instances_change_the_units_while_people_buy_at_a_third() -> anyhow::Result<()> {
    let mut dice = Dice::from_environment("two operators");
    let fleet = Fleet::start(Size { people: 2_000, sales: 1, units: 100 })?;
    let sale = fleet.mall.sales[0];
    let history = shoppers::history(&fleet.mall, &[]);
    let clients = ShopperScript::new(&history, sale, Behaviour::SellOut, CONNECTIONS, dice.split());
    let rush = Rush::start(fleet.instances[2].address, CONNECTIONS, clients);
    let over = Arc::new(AtomicBool::new(false));
    let operators: Vec<_> = (0..2)
        .map(|instance: usize| {
            let (address, token) = (fleet.instances[instance].address, fleet.operator.clone());
            let over = Arc::clone(&over);
            std::thread::spawn(move || {
                let (mut number, mut added) = (0, 0);
                while !over.load(Ordering::Relaxed) {
                    number += 1;
                    let add = if number % 3 == 0 { -60 } else { 35 };
                    added += change_stock(address, sale, &token, &format!("{instance}-{number}"), add)?;
                }
                anyhow::Ok((number, added))
            })
        })
        .collect();
    std::thread::sleep(Duration::from_secs(3));
    over.store(true, Ordering::Relaxed);
    let (mut changes, mut added) = (0, 0);
    for operator in operators {
        let (number, by) = operator.join().ok().context("an operator panicked")??;
        (changes, added) = (changes + number, added + by);
    }
    rush.report()?;
    fleet.drained()?;
    server::verify_on(&fleet.redis.url(), &fleet.mariadb.url("mall"))?;
    mall::runtime()?.block_on(async {
        let storage = fleet.place().open().await?;
        let record = storage
            .catalogue
            .vouchers
            .get(sale)
            .await?
            .and_then(|voucher| voucher.sale)
            .context("no sale")?;
        ensure!(record.added == added, "added is {}, and the changes say {added}", record.added);
        let counts = storage.selling.orders.count(sale).await?;
        ensure!(counts.dead_letters == 0, "units were sold twice: {counts:?}");
        ensure!(counts.held() > 100, "what was added was sold: {counts:?}");
        println!("two operators: {changes} changes, {added} added, {} sold", counts.held());
        Ok(storage.base.upkeep.close().await?)
    })
}

/// Changes the stock. Returns the number of units added.
fn change_stock(
    address: SocketAddr,
    sale: VoucherId,
    token: &str,
    request: &str,
    add: i64,
) -> anyhow::Result<i64> {
    let body = format!(r#"{{"add":{add},"requestId":"{request}"}}"#);
    let mut stream = TcpStream::connect(address)?;
    write!(
        stream,
        "POST /api/ops/sales/{sale}/stock HTTP/1.1\r\nhost: mall\r\nconnection: close\r\nauthorization: {token}\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (_, body) = answer.split_once("\r\n\r\n").context("no answer")?;
    let envelope: serde_json::Value = serde_json::from_str(body)?;
    envelope["data"]["by"].as_i64().with_context(|| answer.clone())
}
