//! The [`OrderLog`] port: one Redis stream per partition, read by one consumer group of all workers of all
//! instances.
//!
//! Any worker takes claims from any partition. Leasing partitions to instances would keep two instances from
//! contending for the database row of a sale's stock. But one instance would then do all the work of the one
//! popular sale, and a leaseholder without a connection to the database would stall its sales. Row contention
//! costs only the waiting worker, and a worker takes a larger batch after a wait. Workers begin with the
//! partitions in which this process accepted claims, which keeps instances apart as long as all keep up.
//!
//! Only Redis tracks the claims in each worker's hands. A worker is a consumer of the group under a name
//! unique to the process. Returned claims go to the consumer [`RETURNED_CLAIMS`], and workers take those
//! before new claims.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::{join_all, try_join_all};
use mallbox_storage::{
    Claim, LogState, LoggedClaim, OrderId, OrderLog, PARTITIONS, PendingClaims, StoreError, Timestamp,
    UserId, VoucherId,
};
use parking_lot::Mutex;
use redis::{FromRedisValue, Value};
use tokio::time::Instant;

use super::epochs::{CachedEpochs, RequiredEpoch, ServerEpochs};
use super::keys::{Keys, LogKeys, partition_of, partition_of_order};
use super::link::Idempotence;
use super::log_entries::{
    CLAIMS_AT_ONCE, GROUP, RETURNED_CLAIMS, by_user, from_by_order, from_by_user, handed_out, pending,
    place_text, read_log,
};
use super::script::{Call, DONE, FIND_PENDING, LOG_STATE, PENDING_OF_USER, PUT_BACK, RECLAIM, TAKE};
use super::taken_claims::{TakeGuard, TakenClaims};
use super::wake_ups::{ALL, ReadySet};
use crate::{EpochScope, ServerEpoch};

/// Claims handed out per script call: Lua accepts at most some 8,000 values at once, and no count beyond its
/// number range.
const HANDED_AT_ONCE: usize = 4_000;
/// Interval at which an idle worker polls for claims accepted by another instance and not settled. Stretched
/// at random by up to a half, so that instances do not poll in step.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// The order log in Redis.
pub(super) struct RedisOrderLog {
    epochs: Arc<ServerEpochs>,
    logs: Vec<LogKeys>,
    /// By partition: key of the server id compared with the epoch a moment ago.
    compared: Vec<String>,
    wake_ups: Arc<ReadySet>,
    consumers: Arc<Consumers>,
    /// Where the next pass over all partitions begins, to avoid leaving the same partition last.
    turn: AtomicU64,
    /// Length of the log when last read.
    pending: AtomicU64,
}

/// The consumer names of this process's workers.
#[derive(Debug)]
pub(super) struct Consumers {
    instance: String,
    /// Number of renames by worker and partition. A worker gets a new name when the outcome of a hand-out is
    /// unknown. Claims under the old name are handed out again once the old name has been silent for long
    /// enough.
    lives: Mutex<HashMap<(String, u64), u64>>,
}

impl Consumers {
    fn new() -> Self {
        Self { instance: format!("{:016x}", crate::random::random()), lives: Mutex::default() }
    }

    fn named(&self, worker: &str, life: u64) -> String {
        format!("{}:{worker}:{life}", self.instance)
    }

    fn name(&self, worker: &str, partition: u64) -> String {
        let life = self.lives.lock().get(&(worker.to_owned(), partition)).copied();
        self.named(worker, life.unwrap_or(0))
    }

    fn note(&self, worker: &str, partition: u64) {
        self.lives.lock().entry((worker.to_owned(), partition)).or_default();
    }

    fn renew(&self, worker: &str, partition: u64) {
        *self.lives.lock().entry((worker.to_owned(), partition)).or_default() += 1;
    }

    /// Returns the consumers that may have claims in hand, with their partitions.
    pub(super) fn known(&self) -> Vec<(u64, String)> {
        let lives = self.lives.lock();
        lives.iter().map(|((worker, partition), life)| (*partition, self.named(worker, *life))).collect()
    }
}

/// Take calls in flight. On drop, the calls without a reply count as lost.
struct TakesInFlight<'a> {
    consumers: &'a Consumers,
    worker: &'a str,
    partitions: Vec<u64>,
}

impl TakesInFlight<'_> {
    fn arrived(&mut self, partition: u64) {
        self.partitions.retain(|other| *other != partition);
    }
}

impl Drop for TakesInFlight<'_> {
    fn drop(&mut self) {
        for partition in &self.partitions {
            self.consumers.renew(self.worker, *partition);
        }
    }
}

impl RedisOrderLog {
    pub(super) fn new(epochs: Arc<ServerEpochs>, keys: &Keys, wake_ups: Arc<ReadySet>) -> Self {
        Self {
            epochs,
            logs: (0..PARTITIONS).map(|partition| keys.log(partition)).collect(),
            compared: (0..PARTITIONS).map(|partition| keys.epoch_compared(partition)).collect(),
            wake_ups,
            consumers: Arc::new(Consumers::new()),
            turn: AtomicU64::new(0),
            pending: AtomicU64::new(0),
        }
    }

    pub(super) fn consumers(&self) -> Arc<Consumers> {
        Arc::clone(&self.consumers)
    }

    fn log(&self, partition: u64) -> &LogKeys {
        &self.logs[index(partition)]
    }

    /// Runs a script that reads pending claims, once the partition's epoch is open. A returning old master
    /// may still have claims unknown to the epoch in force, and a new master may lack claims in workers'
    /// hands.
    async fn read_pending<T: FromRedisValue>(
        &self,
        op: &'static str,
        partition: u64,
        call: Call,
    ) -> Result<T, StoreError> {
        let scope = EpochScope::partition(partition);
        let (found, _) = self.epochs.run((op, Idempotence::Safe), (scope, RequiredEpoch::Open), call).await?;
        Ok(found)
    }

    /// Takes up to `max` claims from the partitions in the bit set `from`. Each partition contributes an
    /// equal share, and then the partitions with more claims fill the rest.
    async fn take_from(&self, worker: &str, max: usize, from: u32) -> Result<Vec<LoggedClaim>, StoreError> {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let mut open: Vec<u64> = (0..PARTITIONS)
            .map(|number| (number + turn) % PARTITIONS)
            .filter(|partition| from >> partition & 1 == 1)
            .collect();
        let (mut taken, mut trouble) = (Vec::new(), None);
        while taken.len() < max && !open.is_empty() {
            let room = max - taken.len();
            let round: Vec<u64> = open.drain(..open.len().min(room)).collect();
            let share = (room / round.len()).min(HANDED_AT_ONCE);
            for (partition, handed) in self.hand_out(worker, round, share).await {
                match handed {
                    Ok((waiting, claims)) => {
                        taken.extend(claims);
                        if waiting > 0 {
                            open.push(partition);
                        }
                    }
                    Err(error) => trouble = Some(error),
                }
            }
        }
        // The rest is for the other workers.
        open.iter().for_each(|partition| self.wake_ups.fill(*partition));
        match trouble {
            Some(error) if taken.is_empty() => Err(error),
            _ => {
                taken.sort_by_key(|logged: &LoggedClaim| logged.position);
                Ok(taken)
            }
        }
    }

    /// Takes up to `share` claims from each partition, in one round trip per node. Also returns how many more
    /// claims wait in each partition.
    async fn hand_out(
        &self,
        worker: &str,
        partitions: Vec<u64>,
        share: usize,
    ) -> Vec<(u64, Result<(u64, Vec<LoggedClaim>), StoreError>)> {
        let known = self.epochs.known();
        let calls = partitions.iter().filter_map(|partition| {
            let scope = EpochScope::partition(*partition);
            let epoch = known.of(scope).filter(|epoch| epoch.is_open)?;
            let taking = self.in_hand().taking(scope, epoch.number);
            // Skips a finished epoch: the instance may have reported already that no claim of the epoch is in
            // hand.
            let is_over = self.epochs.known().is_over(scope, epoch.number);
            (!is_over).then(|| self.hand_out_of(worker, *partition, share, epoch, taking))
        });
        let calls: Vec<_> = calls.collect();
        let mut handing = TakesInFlight { consumers: &self.consumers, worker, partitions };
        let answers = join_all(calls).await;
        let mut handed = Vec::with_capacity(answers.len());
        for (partition, claims) in answers {
            if let Ok((_, claims)) = &claims {
                handing.arrived(partition);
                if !claims.is_empty() {
                    self.consumers.note(worker, partition);
                }
            }
            handed.push((partition, claims));
        }
        // A partition that was not queried handed out nothing.
        handing.partitions.retain(|partition| handed.iter().any(|(asked, _)| asked == partition));
        handed
    }

    async fn hand_out_of(
        &self,
        worker: &str,
        partition: u64,
        share: usize,
        epoch: &ServerEpoch,
        taking: TakeGuard,
    ) -> (u64, Result<(u64, Vec<LoggedClaim>), StoreError>) {
        const OP: &str = "order_log.take";
        let log = self.log(partition);
        let consumer = self.consumers.name(worker, partition);
        let call = TAKE.on([&log.log, &log.refused]).arg(GROUP).arg(consumer).arg(share).arg(RETURNED_CLAIMS);
        let answer = self.epochs.run_in::<Vec<Value>>(OP, Idempotence::Never, epoch, call).await;
        // A server other than the epoch's hands out nothing.
        let claims =
            answer.and_then(|answer| answer.map_or(Ok((0, Vec::new())), |answer| handed_out(OP, answer)));
        if let Ok((_, claims)) = &claims {
            taking.took(worker, claims);
        }
        (partition, claims)
    }

    /// Calls a script for the claims of each partition, in chunks. Calls commute, and repeats have no effect.
    /// Returns the claims of each call beside the result: `None` if the claims' epoch is over, or the server
    /// is not the epoch's.
    async fn for_claims<'c, T: FromRedisValue>(
        &self,
        op: &'static str,
        (worker, known): (&str, &CachedEpochs),
        claims: &'c [LoggedClaim],
        call: impl Fn(u64, &[&LoggedClaim]) -> Call,
    ) -> Vec<(Vec<&'c LoggedClaim>, Result<Option<T>, StoreError>)> {
        let mut by_epoch: HashMap<(u64, bool), Vec<&LoggedClaim>> = HashMap::new();
        for logged in claims {
            let scope = EpochScope::of(logged.claim.voucher);
            let number = self.in_hand().number(worker, logged.claim.order);
            let is_over = number.is_some_and(|number| known.is_over(scope, number));
            let partition = partition_of(logged.claim.voucher);
            by_epoch.entry((partition, is_over)).or_default().push(logged);
        }
        let call = &call;
        let calls = by_epoch.iter().flat_map(|((partition, is_over), claims)| {
            claims.chunks(CLAIMS_AT_ONCE).map(move |some| {
                let epoch = known.of(EpochScope::partition(*partition)).filter(|_| !*is_over);
                let call = call(*partition, some);
                async move {
                    let Some(epoch) = epoch else { return (some.to_vec(), Ok(None)) };
                    (some.to_vec(), self.epochs.run_in(op, Idempotence::Safe, epoch, call).await)
                }
            })
        });
        let calls: Vec<_> = calls.collect();
        join_all(calls).await
    }

    /// Moves claims from the worker to the queue of stranded claims, because their log is no longer in force.
    fn strand(&self, worker: &str, claims: &[&LoggedClaim], was_refused: bool) {
        self.in_hand().strand(worker, claims, was_refused);
        for logged in claims {
            let partition = partition_of(logged.claim.voucher);
            // Should the old log be in force again, the claims under the old name are re-queued after the
            // worker timeout.
            self.consumers.renew(worker, partition);
            self.wake_ups.fill(partition);
        }
    }

    /// Updates the claims in hand after Redis has re-queued a worker's claims of a partition. Claims of
    /// earlier epochs are stranded instead.
    fn reclaimed(&self, worker: &str, partition: u64, known: &CachedEpochs) {
        let orphans = self.in_hand().orphans(worker, partition);
        let is_over = |logged: &&LoggedClaim| {
            let number = self.in_hand().number(worker, logged.claim.order);
            number.is_some_and(|number| known.is_over(EpochScope::partition(partition), number))
        };
        let (older, own): (Vec<&LoggedClaim>, Vec<&LoggedClaim>) = orphans.iter().partition(is_over);
        self.strand(worker, &older, false);
        self.in_hand().let_go(worker, own);
    }

    fn in_hand(&self) -> &Arc<TakenClaims> {
        &self.epochs.in_hand
    }
}

/// Returns the index of a partition in the vectors of logs.
fn index(partition: u64) -> usize {
    usize::try_from(partition % PARTITIONS).unwrap_or(0)
}

#[async_trait]
impl OrderLog for RedisOrderLog {
    async fn take(&self, worker: &str, max: usize, wait: Duration) -> Result<Vec<LoggedClaim>, StoreError> {
        self.epochs.enroll().await?;
        let until = Instant::now() + wait;
        let mut from = self.wake_ups.drain();
        loop {
            let stranded = self.in_hand().take_stranded(worker, max);
            if !stranded.is_empty() {
                return Ok(stranded);
            }
            let mut taken = self.take_from(worker, max, from).await?;
            if taken.is_empty() {
                taken = self.take_from(worker, max, ALL & !from).await?;
            }
            if !taken.is_empty() || Instant::now() >= until {
                return Ok(taken);
            }
            let look = POLL_INTERVAL.mul_f64(1.0 + crate::random::share() / 2.0);
            // After a wake-up or a timeout, the log is read again.
            let _ = tokio::time::timeout_at(until.min(Instant::now() + look), self.wake_ups.filled()).await;
            from = self.wake_ups.drain();
        }
    }

    async fn done(&self, worker: &str, settled: &[LoggedClaim]) -> Result<Vec<OrderId>, StoreError> {
        let call = |partition, claims: &[&LoggedClaim]| {
            let log = self.log(partition);
            let call = DONE.on([&log.log, &log.pending, &log.by_user, &log.refused]).arg(GROUP);
            claims.iter().fold(call.arg(self.consumers.name(worker, partition)), |call, logged| {
                let (order, entry) = (logged.claim.order.get(), by_user(&logged.claim));
                call.arg(place_text(logged.position)).arg(order).arg(entry)
            })
        };
        // Read after the database has the orders: a server with a later epoch is loaded with the orders.
        let known = self.epochs.read().await?;
        // A repeat after a lost reply finds no claim in hand, and reports all orders as not settled by the
        // call.
        let answers = self.for_claims::<Vec<u64>>("order_log.done", (worker, &known), settled, call).await;
        let (mut others, mut trouble) = (Vec::new(), None);
        for (claims, answer) in answers {
            match answer {
                Ok(Some(orders)) => others.extend(orders.into_iter().map(OrderId::new)),
                // Settlement on a server that is not the epoch's has no effect.
                Ok(None) => others.extend(claims.iter().map(|logged| logged.claim.order)),
                Err(error) => {
                    trouble = Some(error);
                    continue;
                }
            }
            self.in_hand().let_go(worker, claims);
        }
        trouble.map_or(Ok(others), Err)
    }

    async fn put_back(&self, worker: &str, claims: &[LoggedClaim], refused: bool) -> Result<(), StoreError> {
        let call = |partition, claims: &[&LoggedClaim]| {
            let log = self.log(partition);
            let call = PUT_BACK.on([&log.log, &log.refused]).arg(GROUP);
            let call =
                call.arg(self.consumers.name(worker, partition)).arg(RETURNED_CLAIMS).arg(u8::from(refused));
            claims.iter().fold(call, |call, logged| {
                call.arg(place_text(logged.position)).arg(logged.claim.order.get())
            })
        };
        let known = self.epochs.known();
        let answers = self.for_claims::<u64>("order_log.put_back", (worker, &known), claims, call).await;
        let mut trouble = None;
        for (claims, answer) in answers {
            match answer {
                Ok(Some(_)) => self.in_hand().let_go(worker, claims.iter().copied()),
                Ok(None) => self.strand(worker, &claims, refused),
                Err(error) => trouble = Some(error),
            }
            claims.iter().for_each(|logged| self.wake_ups.fill(partition_of(logged.claim.voucher)));
        }
        trouble.map_or(Ok(()), Err)
    }

    async fn reclaim(&self, worker: &str) -> Result<usize, StoreError> {
        self.in_hand().orphan(worker);
        let known = self.epochs.known();
        let mut open: Vec<u64> = (0..PARTITIONS).collect();
        let mut reclaimed = 0;
        while !open.is_empty() {
            let calls = open.iter().map(|partition| {
                let call = RECLAIM.on([&self.log(*partition).log]).arg(GROUP);
                let call = call
                    .arg(self.consumers.name(worker, *partition))
                    .arg(RETURNED_CLAIMS)
                    .arg(CLAIMS_AT_ONCE);
                let epoch = known.of(EpochScope::partition(*partition));
                async move {
                    let Some(epoch) = epoch else { return Ok(None) };
                    self.epochs.run_in::<usize>("order_log.reclaim", Idempotence::Safe, epoch, call).await
                }
            });
            let calls: Vec<_> = calls.collect();
            let answers = join_all(calls).await;
            let mut next = Vec::new();
            for (partition, claims) in open.into_iter().zip(answers) {
                let claims = claims?;
                reclaimed += claims.unwrap_or(0);
                match claims {
                    Some(1..) => {
                        self.wake_ups.fill(partition);
                        next.push(partition);
                    }
                    Some(0) => self.reclaimed(worker, partition, &known),
                    None => {
                        let orphans = self.in_hand().orphans(worker, partition);
                        reclaimed += orphans.len();
                        self.strand(worker, &orphans.iter().collect::<Vec<_>>(), false);
                    }
                }
            }
            open = next;
        }
        Ok(reclaimed)
    }

    async fn find(&self, order: OrderId) -> Result<Option<Claim>, StoreError> {
        const OP: &str = "order_log.find";
        let partition = partition_of_order(order);
        let call = FIND_PENDING.on([&self.log(partition).pending, &self.compared[index(partition)]]);
        let found: Option<String> = self.read_pending(OP, partition, call.arg(order.get())).await?;
        found.map(|entry| from_by_order(OP, order, &entry)).transpose()
    }

    async fn of_user(&self, user: UserId) -> Result<Vec<Claim>, StoreError> {
        const OP: &str = "order_log.of_user";
        let calls = (0..PARTITIONS).map(|partition| {
            let call = PENDING_OF_USER.on([&self.log(partition).by_user, &self.compared[index(partition)]]);
            self.read_pending::<Vec<String>>(OP, partition, call.arg(user.get()))
        });
        let found: Vec<Vec<String>> = try_join_all(calls).await?;
        let claims = found.iter().flatten().map(|entry| from_by_user(OP, entry));
        let mut claims = claims.collect::<Result<Vec<_>, _>>()?;
        // Order ids rise with their seconds.
        claims.sort_by_key(|claim| std::cmp::Reverse(claim.order));
        Ok(claims)
    }

    async fn count(&self, voucher: VoucherId) -> Result<PendingClaims, StoreError> {
        let log = self.log(partition_of(voucher));
        let mut count = 0;
        let of_sale = |claim: &Claim| claim.voucher == voucher;
        let each = |claims: Vec<Claim>| count += claims.into_iter().filter(of_sale).count() as u64;
        read_log(&self.epochs.link, "order_log.count", log, each).await?;
        Ok(PendingClaims { durable: count, in_doubt: 0 })
    }

    async fn pending(&self) -> Result<Vec<Claim>, StoreError> {
        pending(&self.epochs.link, &self.logs).await
    }

    async fn state(&self) -> LogState {
        let calls = self.logs.iter().map(|log| LOG_STATE.on([&log.log]));
        let answers =
            self.epochs.link.run_all::<(u64, Option<i64>)>("order_log.state", Idempotence::Safe, calls).await;
        match answers.into_iter().collect::<Result<Vec<_>, _>>() {
            Ok(partitions) => {
                let pending = partitions.iter().map(|(pending, _)| pending).sum();
                self.pending.store(pending, Ordering::Relaxed);
                let oldest = partitions.iter().filter_map(|(_, oldest)| *oldest).min();
                let oldest = oldest.map(Timestamp::from_millis);
                LogState { pending, oldest, trouble: None, is_short_of_space: false }
            }
            Err(error) => LogState {
                pending: self.pending.load(Ordering::Relaxed),
                oldest: None,
                trouble: Some(error.to_string()),
                is_short_of_space: false,
            },
        }
    }
}
