//! Worker heartbeat and re-queue: sends heartbeats for this process's workers, and re-queues the claims of
//! dead workers.
//!
//! Reasons and figures: `storage/decisions/0018-worker-heartbeats.md`.

use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::future::join_all;
use mallbox_storage::PARTITIONS;

use super::epochs::ServerEpochs;
use super::keys::{Keys, LogKeys};
use super::link::Idempotence;
use super::log_entries::{CLAIMS_AT_ONCE, GROUP, RETURNED_CLAIMS};
use super::order_log::Consumers;
use super::script::RESCUE;
use super::wake_ups::ReadySet;
use crate::EpochScope;

const OP: &str = "order_log.rescue";

/// Maintains the log for as long as the log is in use.
///
/// Redis knows when a consumer was last active. `XAUTOCLAIM` would go by the time at which each claim was
/// handed out. For a live worker with a slow database, that time is long ago too, and `XAUTOCLAIM` would keep
/// the names of dead consumers forever.
pub(super) struct WorkerReaper {
    epochs: Weak<ServerEpochs>,
    logs: Vec<LogKeys>,
    consumers: Weak<Consumers>,
    wake_ups: Arc<ReadySet>,
    silence: Duration,
}

impl WorkerReaper {
    /// Starts the background task. `silence` is the time without a heartbeat after which a worker counts as
    /// dead: real time, by Redis' clock. A worker that was only suspended loses its claims to another worker,
    /// and the database prevents duplicate orders.
    pub(super) fn start(
        epochs: &Arc<ServerEpochs>,
        keys: &Keys,
        consumers: &Arc<Consumers>,
        wake_ups: Arc<ReadySet>,
        silence: Duration,
    ) {
        let logs = (0..PARTITIONS).map(|partition| keys.log(partition)).collect();
        let consumers = Arc::downgrade(consumers);
        let reaper = Self { epochs: Arc::downgrade(epochs), logs, consumers, wake_ups, silence };
        epochs.link.runtime().spawn(reaper.run());
    }

    async fn run(self) {
        loop {
            // Three heartbeats may be lost. The random part keeps instances out of step.
            tokio::time::sleep(self.silence.mul_f64((1.0 + crate::random::share()) / 8.0)).await;
            let (Some(consumers), Some(epochs)) = (self.consumers.upgrade(), self.epochs.upgrade()) else {
                return;
            };
            self.show_life(&epochs, &consumers).await;
            drop(consumers);
            self.rescue(&epochs).await;
        }
    }

    /// Sends a heartbeat per consumer: reading the consumer's own pending entries counts as activity.
    async fn show_life(&self, epochs: &ServerEpochs, consumers: &Consumers) {
        let commands: Vec<redis::Cmd> = consumers
            .known()
            .into_iter()
            .filter_map(|(partition, consumer)| {
                let log = self.logs.get(usize::try_from(partition).ok()?)?;
                let mut command = redis::cmd("XREADGROUP");
                command.arg("GROUP").arg(GROUP).arg(consumer).arg("COUNT").arg(1);
                command.arg("STREAMS").arg(&log.log).arg("0");
                Some(command)
            })
            .collect();
        // A log lost by Redis has no consumer group either, which other calls detect.
        let _ = epochs.link.query_all::<redis::Value>(OP, &commands).await;
    }

    async fn rescue(&self, epochs: &ServerEpochs) {
        let known = epochs.known();
        let calls = (0..PARTITIONS).zip(&self.logs).filter_map(|(partition, log)| {
            let epoch = known.of(EpochScope::partition(partition))?;
            let call = RESCUE.on([&log.log]).arg(GROUP).arg(RETURNED_CLAIMS);
            let call =
                call.arg(u64::try_from(self.silence.as_millis()).unwrap_or(u64::MAX)).arg(CLAIMS_AT_ONCE);
            Some(async move { (partition, epochs.run_in::<u64>(OP, Idempotence::Safe, epoch, call).await) })
        });
        for (partition, rescued) in join_all(calls).await {
            if let Ok(Some(claims @ 1..)) = rescued {
                tracing::warn!(
                    partition,
                    claims,
                    "re-queued the claims of a worker that stopped sending heartbeats"
                );
                self.wake_ups.fill(partition);
            }
        }
    }
}
