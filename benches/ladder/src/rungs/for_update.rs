//! Rung 9d: SELECT … FOR UPDATE on a row of the user.

use async_trait::async_trait;

use super::seller::Seller;
use crate::error::LadderError;
use crate::instance::{Parts, Request};
use crate::point::Point;
use crate::reply::Reply;

pub(crate) struct ForUpdate {
    pub(crate) parts: Parts,
}

#[async_trait]
impl Seller for ForUpdate {
    fn parts(&self) -> &Parts {
        &self.parts
    }

    async fn buy(&self, request: &Request) -> Result<Reply, LadderError> {
        let user = [request.user()];
        self.parts.database.run(request, "INSERT IGNORE INTO user_locks (user) VALUES (?)", &user).await?;
        // The lock ends with the transaction, committed or not: it cannot end before the order is written.
        let mut transaction = self.parts.database.begin(request).await?;
        transaction.number("SELECT user FROM user_locks WHERE user = ? FOR UPDATE", &user).await?;
        if transaction.number("SELECT COUNT(*) FROM orders WHERE user = ?", &user).await?.unwrap_or(0) > 0 {
            transaction.roll_back().await?;
            return Ok(Reply::AlreadyBought);
        }
        request.at(Point::Checked).await;
        let taken = transaction.run("UPDATE vouchers SET stock = stock - 1 WHERE stock > 0", &[]).await?;
        if taken == 0 {
            transaction.roll_back().await?;
            return Ok(Reply::SoldOut);
        }
        request.at(Point::Taken).await;
        transaction.run("INSERT INTO orders (user) VALUES (?)", &user).await?;
        transaction.commit().await?;
        Ok(Reply::Accepted)
    }
}
