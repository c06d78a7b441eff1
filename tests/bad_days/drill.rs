//! A mall under a steady load, and how it is looked at while something goes wrong.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use parking_lot::Mutex;

use crate::common::aftermath;
use crate::common::crowd::{Crowd, Mood};
use crate::common::dice::Dice;
use crate::common::http::{self, Reply};
use crate::common::ledger::Ledger;
use crate::common::mall::{self, Mall, Size};
use crate::common::rush::Rush;
use crate::common::server::Server;

/// More people than claims during a drill: whoever meets the trouble does not come again until it is over.
const SIZE: Size = Size { people: 7_000, sales: 2, units: 6_000 };
const CONNECTIONS: usize = 32;
/// Requests a second: enough that something is always under way, few enough that the people last.
const RATE: f64 = 400.0;
const PATIENCE: Duration = Duration::from_secs(20);

/// A sale that is under way while something goes wrong.
pub struct Drill {
    name: &'static str,
    data: PathBuf,
    pub server: Server,
    pub mall: Mall,
    ledger: Arc<Mutex<Ledger>>,
    rush: Rush<Crowd>,
    dice: Dice,
    /// Who asks from outside: each once.
    probes: u64,
}

impl Drill {
    /// A mall in `dir/mall`, in whose first sale people buy. The second is for probes.
    pub fn begin(name: &'static str, dir: &Path, log: &Path) -> anyhow::Result<Self> {
        let mut dice = Dice::from_environment(name);
        let data = dir.join("mall");
        let mall = mall::make(&data, SIZE)?;
        let server = Server::start(&data, log, "power")?;
        let ledger = Arc::new(Mutex::new(Ledger::new(&mall, mall.sales[0])));
        let crowd = Crowd::new(&ledger, Mood::Lively, CONNECTIONS, dice.split());
        let rush = Rush::paced(RATE, server.address, CONNECTIONS, crowd);
        rush.wait_for(200);
        Ok(Self { name, data, server, mall, ledger, rush, dice, probes: 0 })
    }

    pub fn data(&self) -> &Path {
        &self.data
    }

    /// One claim in the other sale, by somebody who has not asked before.
    pub fn claim(&mut self) -> anyhow::Result<Reply> {
        self.probes += 1;
        let person = &self.mall.people[usize::try_from(self.probes)?];
        http::ask(
            self.server.address,
            "POST",
            &format!("/api/voucher-order/seckill/{}", self.mall.sales[1]),
            &person.token,
        )
    }

    /// Waits until a claim is answered as wanted. Answers how long that took.
    pub fn claims_are(&mut self, what: &str, is_so: impl Fn(&Reply) -> bool) -> anyhow::Result<Duration> {
        let began = Instant::now();
        loop {
            let reply = self.claim()?;
            if is_so(&reply) {
                return Ok(began.elapsed());
            }
            ensure!(
                began.elapsed() < PATIENCE,
                "claims are still not {what}: {} {}",
                reply.status,
                reply.text
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// `/readyz` says 503, and why.
    pub fn readyz_tells(&self, words: &str) -> anyhow::Result<()> {
        let tells = |reply: &Reply| reply.status == 503 && reply.text.contains(words);
        http::until(self.server.address, "/readyz", PATIENCE, tells).map(drop)
    }

    /// Pages, shops, the sale and orders are shown.
    pub fn reading_goes_on(&self) -> anyhow::Result<()> {
        let (order, owner) = {
            let ledger = self.ledger.lock();
            let known = |(person, _): &(usize, _)| ledger.orders(*person).next();
            let person = ledger.tries.iter().enumerate().find(|one| known(one).is_some());
            let (person, _) = person.context("nobody has bought yet")?;
            let (order, _) = ledger.orders(person).next().context("nobody has bought yet")?;
            (order, ledger.people[person].token.clone())
        };
        let sale = self.mall.sales[0];
        for path in [
            "/".to_owned(),
            "/healthz".to_owned(),
            "/api/shop/1".to_owned(),
            "/api/shop/of/name?name=".to_owned(),
            "/api/voucher/list/1".to_owned(),
            format!("/api/sale/{sale}"),
            format!("/api/voucher-order/{order}"),
            "/api/user/me".to_owned(),
        ] {
            let reply = http::ask(self.server.address, "GET", &path, &owner)?;
            ensure!(reply.status == 200, "{path} says {} {}", reply.status, reply.text);
        }
        Ok(())
    }

    /// The trouble is over: answers how long it takes until `/readyz` says so, and until a claim is accepted.
    pub fn recovers(&mut self) -> anyhow::Result<(Duration, Duration)> {
        let began = Instant::now();
        http::until(self.server.address, "/readyz", PATIENCE, |reply| reply.status == 200)?;
        let ready = began.elapsed();
        self.claims_are("accepted", |reply| reply.body["success"] == true)?;
        Ok((ready, began.elapsed()))
    }

    /// The crowd goes home; whoever does not know what became of a claim asks; everything is sold; the books are counted.
    pub fn end(mut self, figures: &str) -> anyhow::Result<()> {
        ensure!(self.server.is_alive(), "the mall died; {}", self.server.last_words());
        let report = self.rush.report()?;
        ensure!(report.errors.total() == 0, "answers were lost: {:?}", report.errors);
        let (promises, unable) = {
            let ledger = self.ledger.lock();
            (ledger.promises(), ledger.unable.clone())
        };
        let log_bytes = self.server.log_bytes();
        let words = self.server.last_words();
        let found =
            aftermath::sell_out(self.server, &self.data, &self.ledger, &mut self.dice).context(words)?;
        let unable: Vec<_> = unable.iter().map(|(code, times)| format!("{times} {code}")).collect();
        println!(
            "{}: {figures}; {} answers, 503: [{}], of which {} had been taken; {promises:?}; in the end {found:?}; log {} KiB",
            self.name,
            report.answered,
            unable.join(", "),
            self.ledger.lock().came_to_light,
            log_bytes >> 10,
        );
        Ok(())
    }
}
