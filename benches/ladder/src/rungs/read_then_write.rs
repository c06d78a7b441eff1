//! Rung 1: reads the stock, then writes it, without a lock.

use async_trait::async_trait;

use super::seller::Seller;
use super::shop;
use crate::error::LadderError;
use crate::instance::{Database, Parts, Request};
use crate::point::Point;
use crate::reply::Reply;

pub(crate) struct ReadThenWrite {
    pub(crate) parts: Parts,
}

#[async_trait]
impl Seller for ReadThenWrite {
    fn parts(&self) -> &Parts {
        &self.parts
    }

    async fn buy(&self, request: &Request) -> Result<Reply, LadderError> {
        read_then_write(&self.parts.database, request).await
    }
}

pub(super) async fn read_then_write(database: &Database, request: &Request) -> Result<Reply, LadderError> {
    if shop::has_order(database, request).await? {
        return Ok(Reply::AlreadyBought);
    }
    if shop::stock(database, request).await? <= 0 {
        return Ok(Reply::SoldOut);
    }
    request.at(Point::Checked).await;
    // MISTAKE: the write does not check the stock again.
    let mut transaction = database.begin(request).await?;
    transaction.run("UPDATE vouchers SET stock = stock - 1", &[]).await?;
    // A process that dies here loses nothing: the transaction is rolled back.
    request.at(Point::Taken).await;
    transaction.run("INSERT INTO orders (user) VALUES (?)", &[request.user()]).await?;
    transaction.commit().await?;
    Ok(Reply::Accepted)
}
