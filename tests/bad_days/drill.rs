//! A mall under a steady load, with checks during a failure.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use mallbox_test_checker::{History, Response};
use mallbox_test_patience as patience;
use parking_lot::Mutex;

use crate::common::dice::Dice;
use crate::common::http::{self, Reply};
use crate::common::inspection;
use crate::common::mall::{self, Mall, Size};
use crate::common::rush::Rush;
use crate::common::server::Server;
use crate::common::shoppers::{self, Behaviour, ShopperScript};

/// More users than claims during a drill: a user whose request fails does not retry before the end.
const SIZE: Size = Size { people: 3_000, sales: 2, units: 2_600 };
const CONNECTIONS: usize = 32;
/// Requests a second: enough for constant activity, few enough for the number of users.
const RATE: f64 = 150.0;
const RECOVERY_TIMEOUT: Duration = Duration::from_secs(20);

/// A sale in progress during a failure.
pub struct Drill {
    name: &'static str,
    data: PathBuf,
    pub server: Server,
    pub mall: Mall,
    operator: String,
    history: Arc<Mutex<History>>,
    rush: Rush<ShopperScript>,
    dice: Dice,
    /// Number of probes so far; each uses another user.
    probes: u64,
}

impl Drill {
    /// Starts a mall in `dir/mall`, with a load on its first sale. The second sale is for probes.
    pub fn begin(name: &'static str, dir: &Path, log: &Path) -> anyhow::Result<Self> {
        let mut dice = Dice::from_environment(name);
        let data = dir.join("mall");
        let mall = mall::make(&data, SIZE)?;
        let operator = mall::appoint_operator(&data, &mall)?;
        let server = Server::start(&data, log, "power")?;
        let history = shoppers::history(&mall, &mall.sales[..1]);
        let clients = ShopperScript::new(&history, mall.sales[0], Behaviour::Live, CONNECTIONS, dice.split());
        let rush = Rush::paced(RATE, server.address, CONNECTIONS, clients);
        rush.wait_for(200);
        Ok(Self { name, data, server, mall, operator, history, rush, dice, probes: 0 })
    }

    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Sends one claim in the second sale, by a user without an earlier request.
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

    /// Cancels an order that a probe bought: a step of an order, sent by its owner.
    pub fn cancel(&self, bought: &Reply) -> anyhow::Result<Reply> {
        let order = bought.body["dataText"].as_str().context("no order id")?;
        let owner = &self.mall.people[usize::try_from(self.probes)?];
        let path = format!("/api/voucher-order/{order}/cancel");
        http::ask(self.server.address, "POST", &path, &owner.token)
    }

    /// Claims until a response meets the condition. Returns the time taken.
    pub fn claims_are(&mut self, what: &str, is_so: impl Fn(&Reply) -> bool) -> anyhow::Result<Duration> {
        let began = Instant::now();
        loop {
            let reply = self.claim()?;
            if is_so(&reply) {
                return Ok(began.elapsed());
            }
            ensure!(
                patience::is_within(began.elapsed(), RECOVERY_TIMEOUT),
                "claims are still not {what}: {} {}",
                reply.status,
                reply.text
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until `/readyz` responds with 503 and a reason containing `words`.
    pub fn readyz_tells(&self, words: &str) -> anyhow::Result<()> {
        let tells = |reply: &Reply| reply.status == 503 && reply.text.contains(words);
        http::until(self.server.address, "/readyz", RECOVERY_TIMEOUT, tells).map(drop)
    }

    /// Checks that pages, shops, the sale and orders are served.
    pub fn reading_goes_on(&self) -> anyhow::Result<()> {
        let (order, owner) = {
            let history = self.history.lock();
            let bought = history.calls().iter().find_map(|call| match call.response {
                Response::Accepted(order) => Some((order, history.clients[call.client].token.clone())),
                _ => None,
            });
            bought.context("nobody has bought yet")?
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

    /// Measures the recovery. Returns the time until `/readyz` is healthy, and until a claim is accepted.
    pub fn recovers(&mut self) -> anyhow::Result<(Duration, Duration)> {
        let began = Instant::now();
        http::until(self.server.address, "/readyz", RECOVERY_TIMEOUT, |reply| reply.status == 200)?;
        let ready = began.elapsed();
        self.claims_are("accepted", |reply| reply.body["success"] == true)?;
        Ok((ready, began.elapsed()))
    }

    /// Stops the clients, repeats each request without a response, sells everything, and checks the mall.
    pub fn end(mut self, figures: &str) -> anyhow::Result<()> {
        ensure!(self.server.is_alive(), "the mall died; {}", self.server.stderr_tail());
        let report = self.rush.report()?;
        ensure!(report.errors.total() == 0, "answers were lost: {:?}", report.errors);
        let (summary, unavailable) = {
            let history = self.history.lock();
            (history.summary(), history.unavailable().clone())
        };
        let log_bytes = self.server.log_bytes();
        let words = self.server.stderr_tail();
        let (sale, operator) = (self.mall.sales[0], &self.operator);
        inspection::finish(self.server, &self.data, &self.history, sale, operator, &mut self.dice)
            .context(words)?;
        println!(
            "{}: {figures}; {} answers, 503: {unavailable:?}; {summary:?}; log {} KiB",
            self.name,
            report.answered,
            log_bytes >> 10,
        );
        Ok(())
    }
}
