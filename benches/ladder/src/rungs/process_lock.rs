//! Rung 1b: rung 1 under one lock of the process.

use async_trait::async_trait;
use tokio::sync::Mutex;

use super::read_then_write::read_then_write;
use super::seller::Seller;
use crate::error::LadderError;
use crate::instance::{Parts, Request};
use crate::reply::Reply;

pub(crate) struct ProcessLock {
    pub(crate) parts: Parts,
    pub(crate) lock: Mutex<()>,
}

#[async_trait]
impl Seller for ProcessLock {
    fn parts(&self) -> &Parts {
        &self.parts
    }

    async fn buy(&self, request: &Request) -> Result<Reply, LadderError> {
        // Right with one process, and slow: one buyer at a time, for the length of a commit.
        let _guard = self.lock.lock().await;
        read_then_write(&self.parts.database, request).await
    }
}
