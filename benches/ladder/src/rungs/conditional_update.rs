//! Rung 2: `stock = stock - 1 where stock > 0`, with the check of the buyer in another step.

use async_trait::async_trait;

use super::seller::Seller;
use super::shop;
use crate::error::LadderError;
use crate::instance::{Parts, Request};
use crate::reply::Reply;

pub(crate) struct ConditionalUpdate {
    pub(crate) parts: Parts,
}

#[async_trait]
impl Seller for ConditionalUpdate {
    fn parts(&self) -> &Parts {
        &self.parts
    }

    async fn buy(&self, request: &Request) -> Result<Reply, LadderError> {
        // MISTAKE: the update decides about the stock, but nothing decides about the buyer: requests of one
        // user that are checked together are accepted together.
        shop::check_then_buy(&self.parts.database, request).await
    }
}
