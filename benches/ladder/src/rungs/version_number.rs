//! Rung 1c: an optimistic lock, the version number.

use async_trait::async_trait;

use super::seller::Seller;
use super::shop;
use crate::error::LadderError;
use crate::instance::{Parts, Request};
use crate::point::Point;
use crate::reply::Reply;

pub(crate) struct VersionNumber {
    pub(crate) parts: Parts,
}

#[async_trait]
impl Seller for VersionNumber {
    fn parts(&self) -> &Parts {
        &self.parts
    }

    async fn buy(&self, request: &Request) -> Result<Reply, LadderError> {
        let database = &self.parts.database;
        // Before the check of the buyer: an order that is written in between changes the version.
        let version = database.number(request, "SELECT version FROM vouchers WHERE stock > 0", &[]).await?;
        if shop::has_order(database, request).await? {
            return Ok(Reply::AlreadyBought);
        }
        let Some(version) = version else { return Ok(Reply::SoldOut) };
        request.at(Point::Checked).await;
        let mut transaction = database.begin(request).await?;
        let taken = transaction
            .run("UPDATE vouchers SET stock = stock - 1, version = version + 1 WHERE version = ?", &[version])
            .await?;
        if taken == 0 {
            transaction.roll_back().await?;
            // MISTAKE: another buyer was faster, which is no reason to refuse while units are left.
            return Ok(Reply::SoldOut);
        }
        request.at(Point::Taken).await;
        transaction.run("INSERT INTO orders (user) VALUES (?)", &[request.user()]).await?;
        transaction.commit().await?;
        Ok(Reply::Accepted)
    }
}
