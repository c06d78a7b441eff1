//! A mall with accepted claims in the log but not in the database, and checks that all are still known.

use std::path::Path;

use anyhow::{Context as _, ensure};
use mallbox::mall::{Clock as _, SystemClock, ZONE};
use mallbox_storage::{Claim, ClaimOutcome, FencingToken, OrderId, Storage};

use super::http;
use super::mall::{self, Mall, Size};
use super::server::Server;

/// State in which the mall was left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Left {
    Stopped,
    Killed,
}

/// A mall and the claims it has accepted.
pub struct Pending {
    pub mall: Mall,
    /// Orders with the buyers' positions among the users. The last user has not bought.
    pub orders: Vec<(usize, OrderId)>,
}

impl Pending {
    /// Makes a mall in an empty directory where all but the last of `people` have bought, and leaves the
    /// mall stopped or killed.
    pub fn make(dir: &Path, people: usize, left: Left) -> anyhow::Result<Self> {
        let size = Size { people, sales: 1, units: 10 * people as u64 };
        mall::runtime()?.block_on(async {
            let storage = mall::open(dir).await?;
            storage.base.upkeep.put_setting(ZONE, "Asia/Shanghai").await?;
            let mall = mall::make_in(&storage, size).await?;
            let orders = buy(&storage, &mall).await?;
            if left == Left::Stopped {
                storage.base.upkeep.close().await?;
            }
            Ok(Self { mall, orders })
        })
    }

    /// Checks that a server shows every order to its buyer, and the other pages too.
    pub fn are_shown(&self, server: &Server) -> anyhow::Result<()> {
        let orders =
            self.orders.iter().map(|(person, order)| (format!("/api/voucher-order/{order}"), *person));
        let pages = ["/api/shop/1", "/api/voucher/list/1", "/api/user/me", "/healthz"];
        for (path, person) in orders.chain(pages.map(|path| (path.to_owned(), 0))) {
            let reply = http::ask(server.address, "GET", &path, &self.mall.people[person].token)?;
            ensure!(reply.status == 200, "{path} says {} {}", reply.status, reply.text);
        }
        Ok(())
    }

    /// Sends one claim by the user without an order.
    pub fn claim(&self, server: &Server) -> anyhow::Result<http::Reply> {
        let path = format!("/api/voucher-order/seckill/{}", self.mall.sales[0]);
        let last = self.mall.people.last().context("a mall without people")?;
        http::ask(server.address, "POST", &path, &last.token)
    }

    /// Checks that every order is in the log or in the database of a closed mall.
    pub fn are_kept(&self, dir: &Path) -> anyhow::Result<()> {
        mall::runtime()?.block_on(async {
            let storage = mall::open(dir).await?;
            for (_, order) in &self.orders {
                let is_there = storage.selling.order_log.find(*order).await?.is_some()
                    || storage.selling.orders.get(*order).await?.is_some();
                ensure!(is_there, "order {order} is lost");
            }
            storage.base.upkeep.close().await?;
            Ok(())
        })
    }
}

async fn buy(storage: &Storage, mall: &Mall) -> anyhow::Result<Vec<(usize, OrderId)>> {
    let (voucher, now) = (mall.sales[0], SystemClock.now());
    let sale =
        storage.catalogue.vouchers.get(voucher).await?.and_then(|voucher| voucher.sale).context("no sale")?;
    storage.selling.sales.put(sale.terms, FencingToken::new(1)).await?.done().context("a stale token")?;
    let mut orders = Vec::new();
    for (number, person) in mall.people.iter().enumerate().take(mall.people.len() - 1) {
        let day = OrderId::day(now).context("no day")?;
        let count = storage.base.sequences.next("order", day).await?;
        let order = OrderId::compose(now, count, voucher).context("no order id")?;
        let answer = storage.selling.sales.claim(Claim { order, voucher, user: person.id, at: now }).await?;
        ensure!(answer == ClaimOutcome::Accepted, "{answer:?}");
        orders.push((number, order));
    }
    Ok(orders)
}
