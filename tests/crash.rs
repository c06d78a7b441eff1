//! `kill -9` at random moments: whatever was answered is there afterwards, and the mall goes on selling.
//!
//! `MALLBOX_CRASH_CYCLES` says how often (200 by hand), `MALLBOX_SEED` repeats a plan.

mod common;

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use parking_lot::Mutex;

use mallbox::mall::{Clock as _, SystemClock};
use mallbox_storage::{
    Claim, ClaimAnswer, LastOperator, OrderId, RightsAnswer, RightsChange, Role, VoucherId,
};

use common::aftermath;
use common::books;
use common::crowd::{Crowd, Mood};
use common::dice::{Dice, number_from};
use common::ledger::{self, Ledger, Outcome, Promises, Step, Try};
use common::mall::{self, Mall, Size};
use common::rush::Rush;
use common::server::{self, Server};

const DURABILITY: &str = "power";
/// Enough that the sale is under way when the server dies, few enough that the last units are sold soon.
const SIZE: Size = Size { people: 5_000, sales: 0, units: 3_500 };
/// A sale is crashed into this often at the most before it is sold out and the next one begins.
const CRASHES_PER_SALE: u64 = 3;

#[test]
fn kill_at_any_moment_breaks_no_promise() -> anyhow::Result<()> {
    let cycles = number_from("MALLBOX_CRASH_CYCLES").unwrap_or(6);
    let mut dice = Dice::from_environment("crash");
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let data = site.path().join("mall");
    let sales = usize::try_from(cycles)?;
    let mall = mall::make(&data, Size { sales, ..SIZE })?;
    let mut crashes =
        Crashes { site: site.path(), data: &data, mall: &mall, total: Promises::default(), crashed: 0 };
    for sale in 0..sales {
        if crashes.crashed >= cycles {
            break;
        }
        let crashes_in_this = (1 + dice.below(CRASHES_PER_SALE)).min(cycles - crashes.crashed);
        crashes
            .through_one_sale(sale, crashes_in_this, &mut dice)
            .with_context(|| format!("crash {} (sale {})", crashes.crashed, mall.sales[sale]))?;
    }
    println!("crash: {} times kill -9; kept: {:?}", crashes.crashed, crashes.total);
    Ok(())
}

struct Crashes<'a> {
    site: &'a Path,
    data: &'a Path,
    mall: &'a Mall,
    total: Promises,
    crashed: u64,
}

impl Crashes<'_> {
    fn through_one_sale(&mut self, sale: usize, times: u64, dice: &mut Dice) -> anyhow::Result<()> {
        let ledger = Arc::new(Mutex::new(Ledger::new(self.mall, self.mall.sales[sale])));
        let log = self.site.join("mallbox.log");
        let mut server = Server::start(self.data, &log, DURABILITY)?;
        for _ in 0..times {
            self.crash(server, &ledger, dice)?;
            if dice.chance(25) {
                server::start_and_kill(self.data, &log, DURABILITY, dice.millis(0, 150))?;
            }
            let known = ledger.lock().clone();
            let found = aftermath::examine(self.data, self.site, &known)?;
            println!("crash {}: {:?}; {found:?}", self.crashed, known.promises());
            server = aftermath::reopen(self.data, &log, &known, found.left, DURABILITY)?;
        }
        let found = aftermath::sell_out(server, self.data, &ledger, dice)?;
        println!("sale {}: sold out, {found:?}", self.mall.sales[sale]);
        self.total += ledger.lock().promises();
        Ok(())
    }

    /// Lets the crowd in and kills the server under it.
    fn crash(&mut self, server: Server, ledger: &Arc<Mutex<Ledger>>, dice: &mut Dice) -> anyhow::Result<()> {
        let connections = dice.pick(&[4, 32, 128, 512]);
        let crowd = Crowd::new(ledger, Mood::Lively, connections, dice.split());
        let rush = Rush::start(server.address, connections, crowd);
        rush.wait_for(dice.below(50));
        std::thread::sleep(dice.millis(0, 600));
        self.crashed += 1;
        server.kill()?;
        rush.end()?;
        Ok(())
    }
}

/// An operator who changes the stock again and again while the crowd buys, and is cut off with it.
#[test]
fn an_answered_change_of_the_stock_outlives_a_kill_and_no_change_is_done_half() -> anyhow::Result<()> {
    let cycles = number_from("MALLBOX_CRASH_CYCLES").unwrap_or(6).min(20);
    let mut dice = Dice::from_environment("stock");
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let (data, log) = (site.path().join("mall"), site.path().join("mallbox.log"));
    let mall = mall::make(&data, Size { people: 2_000, sales: 1, units: 100 })?;
    let (sale, operator) = (mall.sales[0], &mall.people[0]);
    mall::runtime()?.block_on(async {
        let storage = mall::open(&data).await?;
        let change = RightsChange::Role(Role::Operator);
        let now = SystemClock.now();
        let answer = storage.users.put_rights(operator.id, &change, LastOperator::Stays, now).await?;
        anyhow::ensure!(matches!(answer, RightsAnswer::Done(_)), "{answer:?}");
        anyhow::Ok(storage.upkeep.close().await?)
    })?;
    let ledger = Arc::new(Mutex::new(Ledger::new(&mall, sale)));
    let (mut asked, mut answered) = (0_u64, Vec::new());
    for _ in 0..cycles {
        let server = Server::start(&data, &log, DURABILITY)?;
        let address = server.address;
        let rush = Rush::start(address, 32, Crowd::new(&ledger, Mood::Lively, 32, dice.split()));
        let changes = std::thread::spawn({
            let (token, mut changed) = (operator.token.clone(), Vec::new());
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
        server::verify(aftermath::copy(&data, site.path())?.path())?;
    }
    mall::runtime()?.block_on(async {
        let storage = mall::open(&data).await?;
        let (mut added, mut done) = (0, 0);
        for number in 1..=asked {
            let change = storage.vouchers.stock_change(sale, &number.to_string()).await?;
            let by = change.map(|change| change.by);
            let promised = answered.iter().find(|(other, _)| *other == number).map(|(_, by)| *by);
            anyhow::ensure!(promised.is_none() || promised == by, "change {number}: {promised:?}, {by:?}");
            added += by.unwrap_or(0);
            done += u64::from(by.is_some());
        }
        let record = storage.vouchers.get(sale).await?.and_then(|voucher| voucher.sale).context("no sale")?;
        anyhow::ensure!(record.added == added, "added is {}, and the changes say {added}", record.added);
        println!("stock: {cycles} times kill -9; {} changes answered, {done} done", answered.len());
        Ok(storage.upkeep.close().await?)
    })
}

/// By how many units it was changed; `None` if there is no answer.
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

/// A check that finds nothing is worth nothing: each promise is broken once, and has to be noticed.
#[test]
fn broken_promises_are_noticed() -> anyhow::Result<()> {
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let mall = mall::make(site.path(), Size { people: 2, sales: 1, units: 1 })?;
    let (sale, now) = (mall.sales[0], SystemClock.now());
    let order = OrderId::compose(now, 1, sale).context("before 2022")?;
    let accepted = |step| Try { claim: ledger::Claim::Accepted(order), asked: 1, step };
    let unknown = Try::open();
    mall::runtime()?.block_on(async {
        let storage = mall::open(site.path()).await?;
        let terms =
            storage.vouchers.get(sale).await?.and_then(|voucher| voucher.sale).context("no sale")?.terms;
        let _ = storage.sales.put(terms).await?;
        let told = async |tries: Vec<Try>, person: usize| {
            let mut ledger = Ledger::new(&mall, sale);
            ledger.tries[person] = tries;
            books::check(&storage, &ledger).await.map(|found| found.live).map_err(|error| error.to_string())
        };
        assert_eq!(told(vec![], 0).await, Ok(0));
        assert_eq!(told(vec![unknown], 0).await, Ok(0));
        assert!(told(vec![accepted(None)], 0).await.is_err_and(|error| error.contains("is lost")));

        let user = mall.people[0].id;
        let claim = Claim { order, voucher: sale, user, at: now };
        assert_eq!(storage.sales.claim(claim).await?, ClaimAnswer::Accepted);
        for kept in [vec![accepted(None)], vec![unknown]] {
            assert_eq!(told(kept, 0).await, Ok(1));
        }
        let paid = Some((Step::Pay, Outcome::Done));
        for (tries, person, words) in [
            (vec![accepted(paid)], 0, "is Pending after"),
            (vec![accepted(None), accepted(None)], 0, "twice"),
            (vec![], 0, "was only promised"),
            (vec![accepted(None)], 1, "is lost"),
        ] {
            let told = told(tries, person).await;
            assert!(told.as_ref().is_err_and(|error| error.contains(words)), "{told:?} should say {words}");
        }
        Ok(storage.upkeep.close().await?)
    })
}

/// A crash leaves commits of which a part is settled: that part is in the record and in the log, and is one all the same.
#[test]
fn a_claim_that_is_settled_and_still_in_the_log_counts_once() -> anyhow::Result<()> {
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let data = site.path().join("mall");
    let mall = mall::make(&data, Size { people: 8, sales: 1, units: 10 })?;
    let (sale, now) = (mall.sales[0], SystemClock.now());
    let copy = mall::runtime()?.block_on(async {
        let storage = mall::open(&data).await?;
        let terms =
            storage.vouchers.get(sale).await?.and_then(|voucher| voucher.sale).context("no sale")?.terms;
        let _ = storage.sales.put(terms).await?;
        for (person, number) in mall.people.iter().zip(1..) {
            let order = OrderId::compose(now, number, sale).context("before 2022")?;
            let claim = Claim { order, voucher: sale, user: person.id, at: now };
            assert_eq!(storage.sales.claim(claim).await?, ClaimAnswer::Accepted);
        }
        let taken = storage.order_log.take("worker", 8, Duration::ZERO).await?;
        assert_eq!(taken.len(), 8);
        // The last ones first, so that the mark stays below all of them.
        storage.orders.persist(&taken[5..], now).await?;
        aftermath::copy(&data, site.path())
    })?;
    mall::runtime()?.block_on(async {
        let storage = mall::open(copy.path()).await?;
        assert_eq!(storage.order_log.count(sale).await?, 5);
        assert_eq!(storage.order_log.take("worker", 8, Duration::ZERO).await?.len(), 5);
        assert_eq!(storage.orders.count(sale).await?.held(), 3);
        Ok(storage.upkeep.close().await?)
    })
}
