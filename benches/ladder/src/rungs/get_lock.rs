//! Rung 9c: GET_LOCK of MySQL, which belongs to a connection.

use async_trait::async_trait;

use super::seller::Seller;
use super::shop;
use crate::error::LadderError;
use crate::instance::{Parts, Request, number};
use crate::point::Point;
use crate::reply::Reply;

pub(crate) struct GetLock {
    pub(crate) parts: Parts,
}

#[async_trait]
impl Seller for GetLock {
    fn parts(&self) -> &Parts {
        &self.parts
    }

    async fn buy(&self, request: &Request) -> Result<Reply, LadderError> {
        let database = &self.parts.database;
        // No lease: the server frees the lock when the connection ends, and a stopped process keeps it.
        let mut session = database.session().await?;
        let user = [request.user()];
        let locked = number(&mut session, request, "SELECT GET_LOCK(CONCAT('order:', ?), 5)", &user).await?;
        if locked != Some(1) {
            return Ok(Reply::Busy);
        }
        let reply = shop::check_then_buy(database, request).await;
        request.at(Point::Releasing).await;
        number(&mut session, request, "SELECT RELEASE_LOCK(CONCAT('order:', ?))", &user).await?;
        reply
    }
}
