//! The [`Deadlines`] port: one sorted set.
//!
//! The set covers the whole mall rather than a partition. Each deadline follows an order written to the
//! database, and the database writes far fewer orders than one Redis server accepts. So "earliest first" is
//! exact, and reading the earliest takes one call.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::deadlines::{LEASE_MS, restore};
use mallbox_storage::{Deadlines, OrderId, Orders, StoreError, Timestamp};

use super::epochs::{RequiredEpoch, ServerEpochs};
use super::keys::Keys;
use super::link::Idempotence;
use super::restored_server::{RestoredServer, parse_reply};
use super::script::{DUE, NEXT_DEADLINE, SET_DEADLINES};
use crate::EpochScope;

/// Deadlines set per command: some milliseconds of Redis' time.
const SET_AT_ONCE: usize = 1_000;

/// Deadlines in Redis.
pub(super) struct RedisDeadlines {
    epochs: Arc<ServerEpochs>,
    key: String,
    orders: Arc<dyn Orders>,
    /// Guards the query for the next deadline: only a server with all deadlines may reply.
    server: RestoredServer,
}

impl RedisDeadlines {
    /// Creates the port. `orders` supplies unpaid orders when Redis may have lost deadlines.
    pub(super) fn new(epochs: Arc<ServerEpochs>, keys: &Keys, orders: Arc<dyn Orders>) -> Self {
        let server = RestoredServer::new(keys.server_of_deadlines());
        Self { epochs, key: keys.deadlines(), orders, server }
    }
}

/// Returns the order id with a fixed number of digits: Redis sorts members with equal scores as text.
fn member(order: OrderId) -> String {
    format!("{:020}", order.get())
}

#[async_trait]
impl Deadlines for RedisDeadlines {
    async fn set(&self, deadlines: &[(OrderId, Timestamp)]) -> Result<(), StoreError> {
        for some in deadlines.chunks(SET_AT_ONCE) {
            let call = some.iter().fold(SET_DEADLINES.on([&self.key]), |call, (order, at)| {
                call.arg(at.as_millis()).arg(member(*order))
            });
            // The orders are in the database already: a later server restores the deadlines from there.
            let need = (EpochScope::DEADLINES, RequiredEpoch::Fresh);
            let (_, _): (u64, _) = self.epochs.run(("deadlines.set", Idempotence::Safe), need, call).await?;
        }
        Ok(())
    }

    async fn clear(&self, orders: &[OrderId]) -> Result<(), StoreError> {
        if orders.is_empty() {
            return Ok(());
        }
        let mut command = redis::cmd("ZREM");
        command.arg(&self.key).arg(orders.iter().map(|order| member(*order)).collect::<Vec<_>>());
        self.epochs.link.query("deadlines.clear", Idempotence::Safe, &command).await
    }

    async fn due(&self, now: Timestamp, max: usize) -> Result<Vec<OrderId>, StoreError> {
        let lease = now + Duration::from_millis(LEASE_MS.unsigned_abs());
        let max = i64::try_from(max).unwrap_or(i64::MAX);
        let call = DUE.on([&self.key]).arg(now.as_millis()).arg(max).arg(lease.as_millis());
        // A repeat would hand out other orders. Orders of a lost reply are due again when the lease ends.
        let need = (EpochScope::DEADLINES, RequiredEpoch::Known);
        let (due, _): (Vec<u64>, _) =
            self.epochs.run(("deadlines.due", Idempotence::Never), need, call).await?;
        Ok(due.into_iter().map(OrderId::new).collect())
    }

    async fn next(&self) -> Result<Option<Timestamp>, StoreError> {
        const OP: &str = "deadlines.next";
        let call = self.server.on(&NEXT_DEADLINE, [&*self.key]);
        let ask = async || {
            let need = (EpochScope::DEADLINES, RequiredEpoch::Known);
            parse_reply(OP, self.epochs.run((OP, Idempotence::Safe), need, call.clone()).await?.0)
        };
        let put_right = async || restore(self, &*self.orders, None).await.map(drop);
        let first: Option<String> = self.server.run(&self.epochs.link, OP, ask, put_right).await?;
        let number = |text: String| {
            text.parse::<f64>().map_err(|_| StoreError::Corrupt { op: OP, key: format!("deadline {text:?}") })
        };
        let first = first.map(number).transpose()?;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "whole milliseconds; the end of time stays the end"
        )]
        let at = |score: f64| Timestamp::from_millis(score as i64);
        Ok(first.map(at))
    }

    async fn count(&self) -> Result<u64, StoreError> {
        let mut command = redis::cmd("ZCARD");
        command.arg(&self.key);
        self.epochs.link.query("deadlines.count", Idempotence::Safe, &command).await
    }
}
