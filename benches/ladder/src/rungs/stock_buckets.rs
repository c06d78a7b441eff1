//! Rung 12: the hot row behind eight buckets, and the buyers as a unique key.

use async_trait::async_trait;
use mysql_async::{IsolationLevel, TxOpts};

use super::seller::Seller;
use crate::error::LadderError;
use crate::instance::{Parts, Request};
use crate::point::Point;
use crate::reply::Reply;

/// Attempts of a transaction that a deadlock ended.
const ATTEMPTS_MAX: usize = 5;
/// Rows over which the stock is spread.
pub(crate) const BUCKETS: i64 = 8;

pub(crate) struct StockBuckets {
    pub(crate) parts: Parts,
}

#[async_trait]
impl Seller for StockBuckets {
    fn parts(&self) -> &Parts {
        &self.parts
    }

    async fn buy(&self, request: &Request) -> Result<Reply, LadderError> {
        // Requests of a user wait for the insert of the first one. If that is rolled back, both get a shared
        // lock and want an exclusive one: InnoDB lets one of them fail, which has to begin again.
        for _ in 1..ATTEMPTS_MAX {
            match self.attempt(request).await {
                Err(error) if error.is_deadlock() => {}
                done => return done,
            }
        }
        self.attempt(request).await
    }

    async fn give_back(&self, request: &Request) -> Result<(), LadderError> {
        let user = request.user();
        let mut transaction = self.parts.database.begin(request).await?;
        if transaction.run("DELETE FROM buyers WHERE user = ?", &[user]).await? > 0 {
            transaction.run("DELETE FROM orders WHERE user = ?", &[user]).await?;
            let returning = "UPDATE buckets SET stock = stock + 1 WHERE id = ?";
            transaction.run(returning, &[user % BUCKETS]).await?;
        }
        transaction.commit().await
    }

    async fn stock(&self, request: &Request) -> Result<i64, LadderError> {
        let stock =
            self.parts.database.number(request, "SELECT CAST(SUM(stock) AS SIGNED) FROM buckets", &[]);
        Ok(stock.await?.unwrap_or(0))
    }
}

impl StockBuckets {
    async fn attempt(&self, request: &Request) -> Result<Reply, LadderError> {
        // With repeatable read an empty bucket would stay locked, and two buyers could wait for each other.
        let mut options = TxOpts::new();
        options.with_isolation_level(IsolationLevel::ReadCommitted);
        let mut transaction = self.parts.database.begin_with(request, options).await?;
        // The unique key decides about the buyer: a second request waits for the first one's commit.
        let user = request.user();
        if transaction.run("INSERT IGNORE INTO buyers (user) VALUES (?)", &[user]).await? == 0 {
            transaction.roll_back().await?;
            return Ok(Reply::AlreadyBought);
        }
        request.at(Point::Checked).await;
        // All buckets in turn: with its own bucket alone, a buyer would be refused while others have units.
        for offset in 0..BUCKETS {
            let bucket = (user + offset) % BUCKETS;
            let taking = "UPDATE buckets SET stock = stock - 1 WHERE id = ? AND stock > 0";
            if transaction.run(taking, &[bucket]).await? > 0 {
                request.at(Point::Taken).await;
                transaction.run("INSERT INTO orders (user) VALUES (?)", &[user]).await?;
                transaction.commit().await?;
                return Ok(Reply::Accepted);
            }
        }
        transaction.roll_back().await?;
        Ok(Reply::SoldOut)
    }
}
