//! Says for this process' workers that they live, and hands out again what workers had in hand who do not.

use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::future::join_all;

use super::epochs::ServerEpochs;
use super::keys::{Keys, LogKeys};
use super::link::Repeat;
use super::order_log::{CLAIMS_AT_ONCE, Consumers, GROUP, NOBODY};
use super::script::RESCUE;
use super::wake_ups::WakeUps;
use crate::PARTITIONS;
use crate::production::EpochScope;

const OP: &str = "order_log.rescue";

/// Looks after the log for as long as the log is in use.
///
/// Redis knows when it last heard of a consumer. `XAUTOCLAIM` would go by when each claim was handed out, which is long ago
/// too for a live worker whose record is slow, and would keep the names of the dead for ever.
pub(super) struct Caretaker {
    epochs: Weak<ServerEpochs>,
    logs: Vec<LogKeys>,
    consumers: Weak<Consumers>,
    wake_ups: Arc<WakeUps>,
    silence: Duration,
}

impl Caretaker {
    /// `silence`: after so long without a sign of life a worker counts as dead. Real time, by Redis' clock. A worker that
    /// was only stopped loses what it had in hand to another, and the record sees to it that nothing is done twice.
    pub(super) fn start(
        epochs: &Arc<ServerEpochs>,
        keys: &Keys,
        consumers: &Arc<Consumers>,
        wake_ups: Arc<WakeUps>,
        silence: Duration,
    ) {
        let logs = (0..PARTITIONS).map(|partition| keys.log(partition)).collect();
        let consumers = Arc::downgrade(consumers);
        let caretaker = Self { epochs: Arc::downgrade(epochs), logs, consumers, wake_ups, silence };
        epochs.link.runtime().spawn(caretaker.run());
    }

    async fn run(self) {
        loop {
            // Three signs of life may be lost; and instances do not go round in step.
            tokio::time::sleep(self.silence.mul_f64((1.0 + super::share()) / 8.0)).await;
            let (Some(consumers), Some(epochs)) = (self.consumers.upgrade(), self.epochs.upgrade()) else {
                return;
            };
            self.show_life(&epochs, &consumers).await;
            drop(consumers);
            self.rescue(&epochs).await;
        }
    }

    /// A look at what a consumer has in hand already counts as a sign of life.
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
        // A log that Redis has lost has no group either: that shows elsewhere.
        let _ = epochs.link.query_all::<redis::Value>(OP, &commands).await;
    }

    async fn rescue(&self, epochs: &ServerEpochs) {
        let known = epochs.known();
        let calls = (0..PARTITIONS).zip(&self.logs).filter_map(|(partition, log)| {
            let epoch = known.of(EpochScope::partition(partition))?;
            let call = RESCUE.on([&log.log]).arg(GROUP).arg(NOBODY);
            let call =
                call.arg(u64::try_from(self.silence.as_millis()).unwrap_or(u64::MAX)).arg(CLAIMS_AT_ONCE);
            Some(async move { (partition, epochs.run_in::<u64>(OP, Repeat::Safe, epoch, call).await) })
        });
        for (partition, rescued) in join_all(calls).await {
            if let Ok(Some(claims @ 1..)) = rescued {
                tracing::warn!(
                    partition,
                    claims,
                    "claims of a worker that is not heard of any more go out again"
                );
                self.wake_ups.fill(partition);
            }
        }
    }
}
