//! Rungs 4 and 5: a lock of the process by user, released after the commit.

use async_trait::async_trait;

use super::seller::Seller;
use super::shop;
use super::user_locks::UserLocks;
use crate::error::LadderError;
use crate::instance::{Parts, Request};
use crate::reply::Reply;

pub(crate) struct UnlockAfterCommit {
    pub(crate) parts: Parts,
    pub(super) locks: UserLocks,
}

impl UnlockAfterCommit {
    pub(crate) fn new(parts: Parts) -> Self {
        Self { parts, locks: UserLocks::default() }
    }
}

#[async_trait]
impl Seller for UnlockAfterCommit {
    fn parts(&self) -> &Parts {
        &self.parts
    }

    async fn buy(&self, request: &Request) -> Result<Reply, LadderError> {
        // Right with one process. MISTAKE with two: each has a lock of its own.
        let _guard = self.locks.lock(request.user()).await;
        shop::check_then_buy(&self.parts.database, request).await
    }
}
