//! Rung 3: a lock by user, released inside the transaction.

use async_trait::async_trait;

use super::seller::Seller;
use super::user_locks::UserLocks;
use crate::error::LadderError;
use crate::instance::{Parts, Request};
use crate::point::Point;
use crate::reply::Reply;

pub(crate) struct UnlockBeforeCommit {
    pub(crate) parts: Parts,
    pub(super) locks: UserLocks,
}

impl UnlockBeforeCommit {
    pub(crate) fn new(parts: Parts) -> Self {
        Self { parts, locks: UserLocks::default() }
    }
}

#[async_trait]
impl Seller for UnlockBeforeCommit {
    fn parts(&self) -> &Parts {
        &self.parts
    }

    // As a method that is `@Transactional` and has its `synchronized` block inside.
    async fn buy(&self, request: &Request) -> Result<Reply, LadderError> {
        let mut transaction = self.parts.database.begin(request).await?;
        {
            let _guard = self.locks.lock(request.user()).await;
            let orders =
                transaction.number("SELECT COUNT(*) FROM orders WHERE user = ?", &[request.user()]).await?;
            if orders.unwrap_or(0) > 0 {
                return Ok(Reply::AlreadyBought);
            }
            request.at(Point::Checked).await;
            let taken = transaction.run("UPDATE vouchers SET stock = stock - 1 WHERE stock > 0", &[]).await?;
            if taken == 0 {
                return Ok(Reply::SoldOut);
            }
            transaction.run("INSERT INTO orders (user) VALUES (?)", &[request.user()]).await?;
        }
        // MISTAKE: the lock is free, and the order is not committed. The next request of the user does not
        // see it.
        request.at(Point::Unlocked).await;
        transaction.commit().await?;
        Ok(Reply::Accepted)
    }
}
