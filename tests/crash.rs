//! `kill -9` at random moments: during a rush, a start or a recovery, and several times in a row. Every
//! acknowledged effect persists, and the mall continues to sell.
//!
//! `MALLBOX_CRASH_CYCLES` sets the number of kills (200 by hand), `MALLBOX_SEED` repeats a plan.

mod common;

use std::collections::HashSet;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use jiff::tz::TimeZone;
use mallbox_storage::{Claim, ClaimOutcome, FencingToken, OrderId, Storage, Timestamp, VoucherId};
use mallbox_test_checker::{Connection, History, Summary};
use parking_lot::Mutex;
use tempfile::TempDir;

use mallbox::mall::{Clock as _, Context, FlashSales, ManualClock, Settings, SystemClock};

use common::aftermath;
use common::dice::{Dice, number_from};
use common::inspection::{inspect_in, settle_and_sell_out};
use common::log_ins;
use common::mall::{self, Mall, Person, Size};
use common::moment::Moment;
use common::rush::Rush;
use common::server::{self, Server};
use common::shoppers::{self, Behaviour, ShopperScript};

const DURABILITY: &str = "power";
/// Sales of a mall before the next mall is made: each check reads the complete history.
const SALES: usize = 2;
const PEOPLE: usize = 2_500;
/// Some sales sell out within the first milliseconds, so that "sold out" depends on claims not yet durable.
const UNITS: [u64; 3] = [60, 400, 1_200];
/// Maximum number of kills during the rush of one sale.
const CRASHES_PER_SALE_MAX: u64 = 3;
/// Maximum number of kills during one start.
const KILLS_PER_START_MAX: u64 = 3;

#[test]
fn kill_at_any_moment_breaks_no_promise() -> anyhow::Result<()> {
    let kills = number_from("MALLBOX_CRASH_CYCLES").unwrap_or(10);
    let mut dice = Dice::from_environment("crash");
    let mut tally = Tally::default();
    let mut failures = Vec::new();
    while tally.kills() < kills {
        let before = tally.kills();
        if let Err(error) = World::make(&mut dice)?.live(kills, &mut tally, &mut dice) {
            println!("crash {before}-{}: {error:#}", tally.kills());
            failures.push(before);
        }
    }
    println!("crash: {tally:?}; {} worlds broke a promise", failures.len());
    ensure!(failures.is_empty(), "promises were broken in the worlds that began with kills {failures:?}");
    Ok(())
}

/// Number of kills and checks so far.
#[derive(Default, Debug)]
struct Tally {
    in_rush: u64,
    in_start: u64,
    in_recovery: u64,
    inspections: u64,
    calls: Summary,
}

impl Tally {
    fn kills(&self) -> u64 {
        self.in_rush + self.in_start + self.in_recovery
    }
}

/// A mall and its clients.
struct World {
    site: TempDir,
    mall: Mall,
    operator: String,
    history: Arc<Mutex<History>>,
    /// Duration of the last start.
    start: Duration,
}

impl World {
    fn make(dice: &mut Dice) -> anyhow::Result<Self> {
        let site = TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
        let size = Size { people: PEOPLE, sales: SALES, units: dice.pick(&UNITS) };
        let data = site.path().join("mall");
        let mall = mall::make(&data, size)?;
        let operator = mall::appoint_operator(&data, &mall)?;
        let history = shoppers::history(&mall, &mall.sales);
        Ok(Self { site, mall, operator, history, start: Duration::from_millis(500) })
    }

    fn data(&self) -> PathBuf {
        self.site.path().join("mall")
    }

    fn log(&self) -> PathBuf {
        self.site.path().join("mallbox.log")
    }

    fn live(mut self, kills: u64, tally: &mut Tally, dice: &mut Dice) -> anyhow::Result<()> {
        let mut server = self.start()?;
        for sale in self.mall.sales.clone() {
            for _ in 0..=dice.below(CRASHES_PER_SALE_MAX) {
                if tally.kills() < kills {
                    server = self.crash(server, sale, tally, dice)?;
                }
            }
            settle_and_sell_out([server.address], &self.history, sale, dice)?;
            self.inspect(&server, tally)?;
            if tally.kills() < kills && dice.chance(50) {
                server = self.restart(server, tally, dice)?;
            }
        }
        server.stop()?;
        server::verify(&self.data())?;
        aftermath::check_blobs(&self.data())?;
        tally.calls += self.history.lock().summary();
        Ok(())
    }

    fn start(&mut self) -> anyhow::Result<Server> {
        let began = Instant::now();
        let server = Server::start(&self.data(), &self.log(), DURABILITY)?;
        self.start = began.elapsed();
        Ok(server)
    }

    fn inspect(&self, server: &Server, tally: &mut Tally) -> anyhow::Result<()> {
        tally.inspections += 1;
        inspect_in(server, &self.data(), &self.history.lock(), &self.operator).map(drop)
    }

    /// Starts the clients and kills the server under load, and possibly during the recovery.
    fn crash(
        &mut self,
        mut server: Server,
        sale: VoucherId,
        tally: &mut Tally,
        dice: &mut Dice,
    ) -> anyhow::Result<Server> {
        let connections = dice.pick(&[4, 32, 128, 512]);
        let lines = server.take_lines();
        let logging_in = log_ins::begin(server.address, lines, &self.history);
        let clients = ShopperScript::new(&self.history, sale, Behaviour::Live, connections, dice.split());
        let rush = Rush::start(server.address, connections, clients);
        rush.go_on_for_a_while(dice, 2 * self.mall.units);
        server.kill()?;
        tally.in_rush += 1;
        rush.end()?;
        logging_in.join().ok().context("the log-ins panicked")?;
        self.history.lock().record_crash();
        for _ in 0..dice.below(KILLS_PER_START_MAX + 1) {
            self.kill_in_start(dice)?;
            tally.in_recovery += 1;
        }
        let server = self.start()?;
        self.inspect(&server, tally)?;
        Ok(server)
    }

    /// Stops the server gracefully, and kills it during the next start.
    fn restart(&mut self, server: Server, tally: &mut Tally, dice: &mut Dice) -> anyhow::Result<Server> {
        server.stop()?;
        for _ in 0..=dice.below(KILLS_PER_START_MAX) {
            self.kill_in_start(dice)?;
            tally.in_start += 1;
        }
        let server = self.start()?;
        self.inspect(&server, tally)?;
        Ok(server)
    }

    fn kill_in_start(&self, dice: &mut Dice) -> anyhow::Result<()> {
        let moment = Moment::of_start(self.start, dice);
        let data = self.data();
        server::start_and_kill(&data, &self.log(), DURABILITY, || moment.wait(&data))
            .with_context(|| format!("a start that was to be killed: {moment:?}"))
    }
}

/// An operator changes the stock repeatedly while the crowd buys, and the kill interrupts both.
#[test]
fn an_answered_change_of_the_stock_outlives_a_kill_and_no_change_is_done_half() -> anyhow::Result<()> {
    let cycles = number_from("MALLBOX_CRASH_CYCLES").unwrap_or(6).min(20);
    let mut dice = Dice::from_environment("stock");
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let (data, log) = (site.path().join("mall"), site.path().join("mallbox.log"));
    let mall = mall::make(&data, Size { people: 2_000, sales: 1, units: 100 })?;
    let (sale, operator) = (mall.sales[0], mall::appoint_operator(&data, &mall)?);
    let history = shoppers::history(&mall, &[]);
    // The number of units changes all the time.
    history.lock().open_sale(sale.get(), None);
    let (mut asked, mut answered) = (0_u64, Vec::new());
    for _ in 0..cycles {
        let server = Server::start(&data, &log, DURABILITY)?;
        let address = server.address;
        let clients = ShopperScript::new(&history, sale, Behaviour::Live, 32, dice.split());
        let rush = Rush::start(address, 32, clients);
        let changes = std::thread::spawn({
            let (token, mut changed) = (operator.clone(), Vec::new());
            move || {
                let mut number = asked;
                loop {
                    number += 1;
                    let add = if number.is_multiple_of(3) { -60 } else { 35 };
                    let Some(by) = change_stock(address, sale, &token, number, add) else { break };
                    changed.push((number, by));
                }
                (number, changed)
            }
        });
        std::thread::sleep(dice.millis(100, 900));
        server.kill()?;
        rush.end()?;
        let (number, changed) = changes.join().ok().context("the operator panicked")?;
        asked = number;
        answered.extend(changed);
        history.lock().record_crash();
        let server = Server::start(&data, &log, DURABILITY)?;
        inspect_in(&server, &data, &history.lock(), &operator)?;
        server.kill()?;
    }
    mall::runtime()?.block_on(async {
        let storage = mall::open(&data).await?;
        let (mut added, mut done) = (0, 0);
        for number in 1..=asked {
            let change = storage.catalogue.vouchers.stock_change(sale, &number.to_string()).await?;
            let by = change.map(|change| change.by);
            let promised = answered.iter().find(|(other, _)| *other == number).map(|(_, by)| *by);
            ensure!(promised.is_none() || promised == by, "change {number}: {promised:?}, {by:?}");
            added += by.unwrap_or(0);
            done += u64::from(by.is_some());
        }
        let record = storage
            .catalogue
            .vouchers
            .get(sale)
            .await?
            .and_then(|voucher| voucher.sale)
            .context("no sale")?;
        ensure!(record.added == added, "added is {}, and the changes say {added}", record.added);
        println!("stock: {cycles} times kill -9; {} changes answered, {done} done", answered.len());
        Ok(storage.base.upkeep.close().await?)
    })
}

/// Changes the stock. Returns the number of units added; `None` without a response.
fn change_stock(address: SocketAddr, sale: VoucherId, token: &str, number: u64, add: i64) -> Option<i64> {
    let body = format!(r#"{{"add":{add},"requestId":"{number}"}}"#);
    let mut stream = TcpStream::connect(address).ok()?;
    write!(
        stream,
        "POST /api/ops/sales/{sale}/stock HTTP/1.1\r\nhost: mall\r\nconnection: close\r\nauthorization: {token}\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let envelope: serde_json::Value = serde_json::from_str(answer.split_once("\r\n\r\n")?.1).ok()?;
    assert_eq!(envelope["success"], true, "{answer}");
    envelope["data"]["by"].as_i64()
}

/// After a crash some settled claims of a commit may be both in the database and in the log. Each counts
/// once.
#[test]
fn a_claim_that_is_settled_and_still_in_the_log_counts_once() -> anyhow::Result<()> {
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let data = site.path().join("mall");
    let mall = mall::make(&data, Size { people: 8, sales: 1, units: 10 })?;
    let (sale, now) = (mall.sales[0], SystemClock.now());
    let copy = mall::runtime()?.block_on(async {
        let storage = mall::open(&data).await?;
        let terms = storage
            .catalogue
            .vouchers
            .get(sale)
            .await?
            .and_then(|voucher| voucher.sale)
            .context("no sale")?
            .terms;
        let _ = storage.selling.sales.put(terms, FencingToken::new(1)).await?;
        for (person, number) in mall.people.iter().zip(1..) {
            let order = OrderId::compose(now, number, sale).context("before 2022")?;
            let claim = Claim { order, voucher: sale, user: person.id, at: now };
            assert_eq!(storage.selling.sales.claim(claim).await?, ClaimOutcome::Accepted);
        }
        let taken = storage.selling.order_log.take("worker", 8, Duration::ZERO).await?;
        assert_eq!(taken.len(), 8);
        // The last ones first, so that the mark stays below all of them.
        storage.selling.orders.persist(&taken[5..], now).await?;
        aftermath::copy(&data, site.path())
    })?;
    mall::runtime()?.block_on(async {
        let storage = mall::open(copy.path()).await?;
        assert_eq!(storage.selling.order_log.count(sale).await?.durable, 5);
        assert_eq!(storage.selling.order_log.take("worker", 8, Duration::ZERO).await?.len(), 5);
        assert_eq!(storage.selling.orders.count(sale).await?.held(), 3);
        Ok(storage.base.upkeep.close().await?)
    })
}

/// A user of three devices ends one session; then the mall is killed.
#[test]
fn sessions_keep_their_records_and_their_ends_after_a_kill() -> anyhow::Result<()> {
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let (data, log) = (site.path().join("mall"), site.path().join("mallbox.log"));
    let mut server = Server::start(&data, &log, DURABILITY)?;
    let lines = server.take_lines();
    let mut connection = Connection::open(server.address)?;
    let mut tokens = Vec::new();
    for _ in 0..3 {
        let (_, sent) = connection.ask("POST", "/user/code?phone=13900000002", "")?;
        ensure!(sent["success"] == true, "{sent}");
        let code =
            lines.iter().find_map(|line| line.strip_prefix("SMS 13900000002 code ").map(str::to_owned));
        let form = format!(r#"{{"phone":"13900000002","code":"{}"}}"#, code.context("no code")?);
        let head = "POST /api/user/login HTTP/1.1\r\nhost: mall\r\nuser-agent: Firefox/140.0\r\n";
        let reply =
            connection.send(format!("{head}content-length: {}\r\n\r\n{form}", form.len()).as_bytes())?;
        let body: serde_json::Value = serde_json::from_slice(&reply.body)?;
        tokens.push(body["data"].as_str().context("no token")?.to_owned());
    }
    let (_, own) = connection.ask("GET", "/user/sessions", &tokens[2])?;
    let current =
        own["data"].as_array().and_then(|own| own.iter().find(|session| session["current"] == true));
    let id = current.and_then(|session| session["id"].as_str()).context("no id")?;
    let (_, ended) = connection.ask("DELETE", &format!("/user/sessions/{id}"), &tokens[0])?;
    ensure!(ended["success"] == true, "{ended}");
    let (_, before) = connection.ask("GET", "/user/sessions", &tokens[0])?;
    server.kill()?;

    let server = Server::start(&data, &log, DURABILITY)?;
    let mut connection = Connection::open(server.address)?;
    let (status, _) = connection.ask("GET", "/user/me", &tokens[2])?;
    ensure!(status == 401, "the ended session responds with {status}");
    let (_, after) = connection.ask("GET", "/user/sessions", &tokens[1])?;
    let facts = |list: &serde_json::Value| -> Vec<serde_json::Value> {
        let facts = ["id", "origin", "createTime", "address", "browser"];
        let of = |session: &serde_json::Value| facts.iter().map(|name| session[*name].clone()).collect();
        list["data"].as_array().into_iter().flatten().map(of).collect()
    };
    ensure!(facts(&before).len() == 2 && facts(&before) == facts(&after), "{before} became {after}");
    ensure!(after["data"][0]["browser"] == "Firefox 140", "{after}");
    server.kill()
}

/// Numbers are reserved before they are used: the start after a kill continues above them.
#[test]
fn a_kill_in_the_middle_of_a_second_draws_no_order_id_twice() -> anyhow::Result<()> {
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let data = site.path().join("mall");
    let mall = mall::make(&data, Size { people: 8, sales: 1, units: 10 })?;
    let (sale, now) = (mall.sales[0], SystemClock.now());
    mall::runtime()?.block_on(async {
        let killed = mall::open(&data).await?;
        let mut ids = claimed_at(&killed, sale, &mall.people[..4], now).await?;
        // The files as the kill leaves them.
        let copy = aftermath::copy(&data, site.path())?;
        let storage = mall::open(copy.path()).await?;
        ids.extend(claimed_at(&storage, sale, &mall.people[4..], now).await?);
        let distinct: HashSet<_> = ids.iter().collect();
        ensure!(distinct.len() == 8, "an id came twice: {ids:?}");
        // One second and one secret: the counts rise, around the end of their 28 bits.
        let count = |id: &OrderId| id.get() >> 4 & OrderId::MAX_COUNT;
        let steps = ids.windows(2).map(|pair| count(&pair[1]).wrapping_sub(count(&pair[0])));
        ensure!(steps.map(|step| step & OrderId::MAX_COUNT).all(|step| step < 100_000), "{ids:?}");
        Ok(storage.base.upkeep.close().await?)
    })
}

async fn claimed_at(
    storage: &Storage,
    sale: VoucherId,
    people: &[Person],
    now: Timestamp,
) -> anyhow::Result<Vec<OrderId>> {
    let (clock, settings) = (Arc::new(ManualClock::new(now)), Arc::new(Settings::default().without_limits()));
    let sales = FlashSales::new(Context::new(storage.clone(), clock, TimeZone::UTC, settings));
    let mut ids = Vec::new();
    for person in people {
        ids.push(sales.claim(person.id, sale, now).await.context("the claim was refused")?);
    }
    Ok(ids)
}
