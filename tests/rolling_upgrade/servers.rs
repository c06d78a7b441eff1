//! Processes of both versions on one Redis and one MariaDB.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::ensure;
use mallbox::place::Place;
use mallbox_storage_production::ProductionOptions;
use mallbox_test_checker::History;
use mallbox_test_patience as patience;
use mallbox_test_servers::{MariaDb, Redis};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::common::dice::Dice;
use super::common::inspection;
use super::common::mall::{self, Size};
use super::common::rush::Rush;
use super::common::server::{self, Server};
use super::common::shoppers::{self, Behaviour, ShopperScript};
use super::former::Former;
use super::founding::{Founded, call, shop};
use super::sessions::{LogOut, Visitors};

/// Connections of each rush.
const CONNECTIONS: usize = 16;
/// Requests a second at each process: an overloaded one may refuse, and the test would show nothing about
/// upgrades.
const RATE: f64 = 30.0;
const SIZE: Size = Size { people: 900, sales: 2, units: 650 };
/// Several times the heartbeat timeout after which other processes take over the claims of a killed one.
const TAKEOVER_TIMEOUT: Duration = Duration::from_secs(60);
/// Time limit for a change at one process to be shown by another.
const CHANGE_SHOWN_WITHIN: Duration = Duration::from_secs(2);
/// Bounds of ended sessions on other processes, by the manual's page about Redis and MySQL.
const ENDED_WITHIN: Duration = Duration::from_secs(1);
const ENDED_AT_FORMER_WITHIN: Duration = Duration::from_secs(10);
/// Response to a payment or cancellation whose claim a killed process had in hand.
const PENDING: &str = "NOT_YET";

/// Servers, the mall on them, and the clients.
struct Site {
    redis: Redis,
    mariadb: MariaDb,
    dir: TempDir,
    former: Former,
}

impl Site {
    fn start() -> anyhow::Result<Self> {
        let former = Former::from_environment()?;
        let (redis, mariadb) = (Redis::start()?, MariaDb::start()?);
        Ok(Self { redis, mariadb, dir: TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?, former })
    }

    fn place(&self) -> [String; 4] {
        ["--redis".to_owned(), self.redis.url(), "--mysql".to_owned(), self.mariadb.url("mall")]
    }

    fn log(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn former(&self, name: &str) -> anyhow::Result<Server> {
        self.former.serve(&self.place(), &self.log(name))
    }

    fn this(&self, name: &str) -> anyhow::Result<Server> {
        Server::start_on(&self.redis.url(), &self.mariadb.url("mall"), &self.log(name))
    }

    /// Waits until every claim is in the database, including those of a killed process.
    fn drained(&self) -> anyhow::Result<()> {
        let options = ProductionOptions::new(self.redis.url(), self.mariadb.url("mall"));
        mall::drained(&Place::Production(options), TAKEOVER_TIMEOUT)
    }
}

/// The clients of the first sale, in rounds. Every client uses a single process per round, and another one in
/// the next round.
struct Crowd<'a> {
    founded: &'a Founded,
    history: Arc<Mutex<History>>,
    dice: Dice,
    round: usize,
}

impl Crowd<'_> {
    /// Starts a rush at each process.
    fn rush(&mut self, servers: &[&Server]) -> Vec<Rush<ShopperScript>> {
        self.round += 1;
        let mut rushes = Vec::new();
        for (number, server) in servers.iter().enumerate() {
            let part = (number + self.round) % servers.len();
            let people = (0..self.founded.mall.people.len()).filter(|person| person % servers.len() == part);
            let (history, sale) = (&self.history, self.founded.mall.sales[0]);
            let dice = self.dice.split();
            let script =
                ShopperScript::among(people.collect(), history, sale, Behaviour::Live, CONNECTIONS, dice);
            rushes.push(Rush::paced(RATE, server.address, CONNECTIONS, script));
        }
        rushes
    }

    /// Waits for a number of further responses of each process.
    fn go_on(&mut self, rushes: &[Rush<ShopperScript>]) -> anyhow::Result<()> {
        for rush in rushes {
            let answers = rush.answered() + 40 + self.dice.below(40);
            rush.wait_for(answers);
            ensure!(rush.answered() >= answers, "a process responds no longer, or nobody wants anything");
        }
        Ok(())
    }

    /// Ends rushes at processes that are up.
    fn end(&self, rushes: Vec<Rush<ShopperScript>>) -> anyhow::Result<()> {
        for rush in rushes {
            let report = rush.report()?;
            ensure!(report.errors.total() == 0, "requests were lost: {:?}", report.errors);
        }
        Ok(())
    }

    /// Checks that no request was refused for an outage, apart from those with an allowed code.
    fn was_served(&self, allowed: &[&str]) -> anyhow::Result<()> {
        let mut unavailable = self.history.lock().unavailable().clone();
        unavailable.retain(|code, _| !allowed.contains(&code.as_str()));
        ensure!(unavailable.is_empty(), "requests without an answer: {unavailable:?}");
        Ok(())
    }
}

#[test]
#[cfg_attr(
    not(all(feature = "former-tests", feature = "production-tests")),
    ignore = "needs redis-server, mariadbd and a former version; tests/run --former REV builds one"
)]
fn processes_are_replaced_one_by_one_while_people_buy() -> anyhow::Result<()> {
    let dice = Dice::from_environment("rolling upgrade");
    let site = Site::start()?;
    let [first, second] = [site.former("former-1")?, site.former("former-2")?];
    let founded =
        Founded::make(&first, SIZE, |phone| site.former.run(&["user", "grant", phone], &site.place()))?;
    let history = shoppers::history(&founded.mall, &founded.mall.sales[..1]);
    let mut crowd = Crowd { founded: &founded, history: Arc::clone(&history), dice, round: 0 };
    let mut visitors = Visitors::default();
    visitors.log_in_at_each(&[&first, &second])?;

    let rushes = crowd.rush(&[&first, &second]);
    crowd.go_on(&rushes)?;
    let third = site.this("new-1")?;
    visitors.stay(&[&third])?;
    crowd.end(rushes)?;

    let beside = [&first, &third, &second];
    let rushes = crowd.rush(&beside);
    visitors.log_in_at_each(&beside)?;
    let ended = visitors.log_out(&beside, &log_outs(&first, &third))?;
    changes_are_shown(&founded, &first, &third)?;
    crowd.go_on(&rushes)?;
    crowd.end(rushes)?;
    crowd.was_served(&[])?;

    // The one process stops in good order, the other one dies.
    let mut rushes = crowd.rush(&[&first, &second, &third]);
    crowd.go_on(&rushes)?;
    first.stop()?;
    rushes.remove(0).end()?;
    crowd.was_served(&[])?;
    let lost = history.lock().summary().unknown;
    ensure!(lost <= CONNECTIONS as u64, "{lost} responses are missing");
    let fourth = site.this("new-2")?;
    second.kill()?;
    rushes.remove(0).end()?;
    crowd.end(rushes)?;
    let rushes = crowd.rush(&[&third, &fourth]);
    crowd.go_on(&rushes)?;
    visitors.log_out(&[&third, &fourth], &[LogOut { at: &third, of_all: false, within: ENDED_WITHIN }])?;
    crowd.end(rushes)?;

    let again = site.former.serve_after_upgrade(&site.place(), &site.log("former-3"))?;
    if let Some(again) = &again {
        back_beside(&mut crowd, &mut visitors, again, &third)?;
    }
    crowd.was_served(&[PENDING])?;
    let summary = history.lock().summary();

    let last: Vec<&Server> = again.iter().chain([&third, &fourth]).collect();
    visitors.stay(&last)?;
    let addresses = [last[0].address, fourth.address];
    inspection::settle_and_sell_out(addresses, &history, founded.mall.sales[0], &mut crowd.dice)?;
    site.drained()?;
    let verify = server::verify_json_on(&site.redis.url(), &site.mariadb.url("mall"))?;
    inspection::inspect(&fourth, &history.lock(), &founded.operator, &verify)?;
    let goes_back = again.is_some();
    again.into_iter().chain([third, fourth]).try_for_each(Server::stop)?;
    println!(
        "rolling upgrade: {summary:?}, then sold out; an ended session lived for {ended:?}; \
         the former version starts again: {goes_back}"
    );
    Ok(())
}

/// The way back: a former process starts beside those of this version.
fn back_beside(
    crowd: &mut Crowd<'_>,
    visitors: &mut Visitors,
    former: &Server,
    this: &Server,
) -> anyhow::Result<()> {
    let rushes = crowd.rush(&[former, this]);
    visitors.log_in_at_each(&[former, this])?;
    visitors.log_out(&[former, this], &log_outs(former, this))?;
    changes_are_shown(crowd.founded, former, this)?;
    crowd.go_on(&rushes)?;
    crowd.end(rushes)
}

/// Returns every way to end sessions at either version, with the manual's bound.
fn log_outs<'a>(former: &'a Server, this: &'a Server) -> [LogOut<'a>; 4] {
    [
        LogOut { at: this, of_all: true, within: Duration::ZERO },
        LogOut { at: this, of_all: false, within: ENDED_WITHIN },
        LogOut { at: former, of_all: true, within: ENDED_AT_FORMER_WITHIN },
        LogOut { at: former, of_all: false, within: ENDED_AT_FORMER_WITHIN },
    ]
}

/// Changes a shop and the units of the second sale at each of two processes, and checks that the other one
/// shows the change.
fn changes_are_shown(founded: &Founded, former: &Server, this: &Server) -> anyhow::Result<()> {
    let (operator, sale) = (&founded.operator, founded.mall.sales[1]);
    for (at, other) in [(former, this), (this, former), (former, this)] {
        let stock = |server| shown(server, &format!("/sale/{sale}"), "stock");
        let before = stock(other)?.as_u64().unwrap_or_default();
        let name = format!("店{} {before}", at.address.port());
        let kind = shown(at, "/shop/1", "typeId")?.as_u64().unwrap_or_default();
        let mut form = shop(kind, &name);
        form["id"] = json!(1);
        call(at, "PUT", "/shop", operator, &form)?;
        let change = json!({ "add": 7, "requestId": name });
        call(at, "POST", &format!("/ops/sales/{sale}/stock"), operator, &change)?;
        patience::until_ok(CHANGE_SHOWN_WITHIN, || {
            let (found, units) = (shown(other, "/shop/1", "name")?, stock(other)?);
            ensure!(
                found == name.as_str() && units == before + 7,
                "{found} {units}, not {name} {before} + 7"
            );
            Ok(())
        })?;
    }
    Ok(())
}

/// Returns a field of a public page.
fn shown(server: &Server, path: &str, field: &str) -> anyhow::Result<Value> {
    Ok(call(server, "GET", path, "", &Value::Null)?[field].clone())
}
