//! The [`OrderLog`] port: a stream a partition, consumed by the group of all workers of all instances.
//!
//! Any worker takes from any partition. A lease of a partition would keep two instances from waiting for each other on
//! the record's one row of a sale's stock; but then one instance would have to do all the work of the one sale that
//! everybody wants, and an instance that holds a lease while it cannot reach the record would hold up its sales. What the
//! row costs is paid by whoever waits for it, and a worker that waits takes a larger batch next time. Workers begin with
//! the partitions in which this process accepted claims, which keeps instances apart as long as all keep up.
//!
//! Who has what in hand is known to Redis alone. A worker is a consumer of the group under a name that no other process
//! has; what it puts back goes to a consumer who stands for nobody, from whom it is taken before anything new.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use redis::FromRedisValue;
use tokio::time::Instant;

use super::keys::{Keys, LogKeys, partition_of, partition_of_order};
use super::link::{Link, Repeat};
use super::log_entries::{by_user, claims_in, from_by_order, from_by_user, handed_out, place_text};
use super::script::{Call, DONE, LOG_STATE, PUT_BACK, RECLAIM, TAKE};
use super::wake_ups::{ALL, WakeUps};
use crate::{
    Claim, LogState, Logged, OrderId, OrderLog, PARTITIONS, PendingClaims, StoreError, Timestamp, UserId,
    VoucherId,
};

/// The group of all workers.
pub(super) const GROUP: &str = "workers";
/// The consumer who stands for nobody: what it has in hand is to be taken.
pub(super) const NOBODY: &str = "nobody";
/// Claims named in one script: about a millisecond of Redis' time.
pub(super) const CLAIMS_AT_ONCE: usize = 250;
/// Claims handed out by one script: Lua takes no more than some 8,000 values at once, nor a number that it cannot hold.
const HANDED_AT_ONCE: usize = 4_000;
/// How often a waiting worker looks for claims of which nobody told it: another instance took them, and has not settled
/// them. Stretched by up to a half, so that instances do not look in step.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// The log in Redis.
pub(super) struct RedisOrderLog {
    link: Link,
    logs: Vec<LogKeys>,
    wake_ups: Arc<WakeUps>,
    consumers: Arc<Consumers>,
    /// Where the next look at all partitions begins, so that none is always last.
    turn: AtomicU64,
    /// The last length there was an answer about.
    pending: AtomicU64,
}

/// The names under which this process' workers are known to Redis.
#[derive(Debug)]
pub(super) struct Consumers {
    instance: String,
    /// By worker and partition, counted up whenever it is not known what a worker was handed: it goes on under another
    /// name, and what the old name has in hand is handed out again when nobody has heard of it for long enough.
    lives: Mutex<HashMap<(String, u64), u64>>,
}

impl Consumers {
    fn new() -> Self {
        Self { instance: format!("{:016x}", super::random()), lives: Mutex::default() }
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

    /// Those that may have something in hand.
    pub(super) fn known(&self) -> Vec<(u64, String)> {
        let lives = self.lives.lock();
        lives.iter().map(|((worker, partition), life)| (*partition, self.named(worker, *life))).collect()
    }
}

/// Calls under way that hand out claims. Those of which no answer is seen count as lost.
struct Handing<'a> {
    consumers: &'a Consumers,
    worker: &'a str,
    partitions: Vec<u64>,
}

impl Handing<'_> {
    fn arrived(&mut self, partition: u64) {
        self.partitions.retain(|other| *other != partition);
    }
}

impl Drop for Handing<'_> {
    fn drop(&mut self) {
        for partition in &self.partitions {
            self.consumers.renew(self.worker, *partition);
        }
    }
}

impl RedisOrderLog {
    pub(super) fn new(link: Link, keys: &Keys, wake_ups: Arc<WakeUps>) -> Self {
        Self {
            link,
            logs: (0..PARTITIONS).map(|partition| keys.log(partition)).collect(),
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
        // Partitions are counted to as many as there are logs.
        &self.logs[usize::try_from(partition % PARTITIONS).unwrap_or(0)]
    }

    /// Takes up to `max` claims from these partitions, the same share from each, and then the rest from those that have
    /// more.
    async fn take_from(&self, worker: &str, max: usize, from: u32) -> Result<Vec<Logged>, StoreError> {
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
        // For the other workers.
        open.iter().for_each(|partition| self.wake_ups.fill(*partition));
        match trouble {
            Some(error) if taken.is_empty() => Err(error),
            _ => {
                taken.sort_by_key(|logged: &Logged| logged.position);
                Ok(taken)
            }
        }
    }

    /// One round trip a node: up to `share` claims from each of these partitions, and how many more wait there.
    async fn hand_out(
        &self,
        worker: &str,
        partitions: Vec<u64>,
        share: usize,
    ) -> Vec<(u64, Result<(u64, Vec<Logged>), StoreError>)> {
        const OP: &str = "order_log.take";
        let calls = partitions.iter().map(|partition| {
            let log = self.log(*partition);
            let consumer = self.consumers.name(worker, *partition);
            TAKE.on([&log.log, &log.refused]).arg(GROUP).arg(consumer).arg(share).arg(NOBODY)
        });
        let calls: Vec<Call> = calls.collect();
        let mut handing = Handing { consumers: &self.consumers, worker, partitions: partitions.clone() };
        let answers = self.link.run_all(OP, Repeat::Never, calls).await;
        let mut handed = Vec::with_capacity(partitions.len());
        for (partition, answer) in partitions.into_iter().zip(answers) {
            let claims = answer.and_then(|answer| handed_out(OP, answer));
            if let Ok((_, claims)) = &claims {
                handing.arrived(partition);
                if !claims.is_empty() {
                    self.consumers.note(worker, partition);
                }
            }
            handed.push((partition, claims));
        }
        handed
    }

    /// One call for so many claims of a partition; any order of these, and any repeat, comes to the same.
    async fn for_claims<T: FromRedisValue>(
        &self,
        op: &'static str,
        claims: &[Logged],
        call: impl Fn(u64, &[Logged]) -> Call,
    ) -> Result<Vec<T>, StoreError> {
        let mut by_partition: HashMap<u64, Vec<Logged>> = HashMap::new();
        for logged in claims {
            by_partition.entry(partition_of(logged.claim.voucher)).or_default().push(*logged);
        }
        let calls = by_partition
            .iter()
            .flat_map(|(partition, claims)| claims.chunks(CLAIMS_AT_ONCE).map(|some| call(*partition, some)));
        let calls: Vec<Call> = calls.collect();
        self.link.run_all(op, Repeat::Safe, calls).await.into_iter().collect()
    }
}

#[async_trait]
impl OrderLog for RedisOrderLog {
    async fn take(&self, worker: &str, max: usize, wait: Duration) -> Result<Vec<Logged>, StoreError> {
        let until = Instant::now() + wait;
        let mut from = self.wake_ups.drain();
        loop {
            let mut taken = self.take_from(worker, max, from).await?;
            if taken.is_empty() {
                taken = self.take_from(worker, max, ALL & !from).await?;
            }
            if !taken.is_empty() || Instant::now() >= until {
                return Ok(taken);
            }
            let look = LOOK_EVERY.mul_f64(1.0 + super::share() / 2.0);
            // Either way the log is looked at once more.
            let _ = tokio::time::timeout_at(until.min(Instant::now() + look), self.wake_ups.filled()).await;
            from = self.wake_ups.drain();
        }
    }

    async fn done(&self, worker: &str, settled: &[Logged]) -> Result<Vec<OrderId>, StoreError> {
        let call = |partition, claims: &[Logged]| {
            let log = self.log(partition);
            let call = DONE.on([&log.log, &log.pending, &log.by_user, &log.refused]).arg(GROUP);
            claims.iter().fold(call.arg(self.consumers.name(worker, partition)), |call, logged| {
                let (order, entry) = (logged.claim.order.get(), by_user(&logged.claim));
                call.arg(place_text(logged.position)).arg(order).arg(entry)
            })
        };
        // A repeat after a lost answer has none of them in hand, and says so of all.
        let others: Vec<Vec<u64>> = self.for_claims("order_log.done", settled, call).await?;
        Ok(others.into_iter().flatten().map(OrderId::new).collect())
    }

    async fn put_back(&self, worker: &str, claims: &[Logged], refused: bool) -> Result<(), StoreError> {
        let call = |partition, claims: &[Logged]| {
            let log = self.log(partition);
            let call = PUT_BACK.on([&log.log, &log.refused]).arg(GROUP);
            let call = call.arg(self.consumers.name(worker, partition)).arg(NOBODY).arg(u8::from(refused));
            claims.iter().fold(call, |call, logged| {
                call.arg(place_text(logged.position)).arg(logged.claim.order.get())
            })
        };
        self.for_claims::<u64>("order_log.put_back", claims, call).await?;
        claims.iter().for_each(|logged| self.wake_ups.fill(partition_of(logged.claim.voucher)));
        Ok(())
    }

    async fn reclaim(&self, worker: &str) -> Result<usize, StoreError> {
        let mut open: Vec<u64> = (0..PARTITIONS).collect();
        let mut reclaimed = 0;
        while !open.is_empty() {
            let calls = open.iter().map(|partition| {
                let call = RECLAIM.on([&self.log(*partition).log]).arg(GROUP);
                call.arg(self.consumers.name(worker, *partition)).arg(NOBODY).arg(CLAIMS_AT_ONCE)
            });
            let calls: Vec<Call> = calls.collect();
            let answers = self.link.run_all::<usize>("order_log.reclaim", Repeat::Safe, calls).await;
            let mut next = Vec::new();
            for (partition, claims) in open.into_iter().zip(answers) {
                let claims = claims?;
                reclaimed += claims;
                if claims > 0 {
                    self.wake_ups.fill(partition);
                    next.push(partition);
                }
            }
            open = next;
        }
        Ok(reclaimed)
    }

    async fn find(&self, order: OrderId) -> Result<Option<Claim>, StoreError> {
        const OP: &str = "order_log.find";
        let mut command = redis::cmd("HGET");
        command.arg(&self.log(partition_of_order(order)).pending).arg(order.get());
        let found: Option<String> = self.link.query(OP, Repeat::Safe, &command).await?;
        found.map(|entry| from_by_order(OP, order, &entry)).transpose()
    }

    async fn of_user(&self, user: UserId) -> Result<Vec<Claim>, StoreError> {
        const OP: &str = "order_log.of_user";
        let commands: Vec<redis::Cmd> = self
            .logs
            .iter()
            .map(|log| {
                let mut command = redis::cmd("ZRANGEBYLEX");
                // A semicolon comes right after the colon.
                command.arg(&log.by_user).arg(format!("[{user}:")).arg(format!("({user};"));
                command
            })
            .collect();
        let found: Vec<Vec<String>> = self.link.query_all(OP, &commands).await?;
        let claims = found.iter().flatten().map(|entry| from_by_user(OP, entry));
        let mut claims = claims.collect::<Result<Vec<_>, _>>()?;
        // Order ids rise with time.
        claims.sort_by_key(|claim| std::cmp::Reverse(claim.order));
        Ok(claims)
    }

    async fn count(&self, voucher: VoucherId) -> Result<PendingClaims, StoreError> {
        let log = self.log(partition_of(voucher));
        let (mut count, mut after) = (0, None);
        loop {
            let (claims, last) = claims_in(&self.link, "order_log.count", log, after.as_deref()).await?;
            count += claims.iter().filter(|claim| claim.voucher == voucher).count() as u64;
            after = last;
            if after.is_none() {
                return Ok(PendingClaims { durable: count, in_doubt: 0 });
            }
        }
    }

    async fn state(&self) -> LogState {
        let calls = self.logs.iter().map(|log| LOG_STATE.on([&log.log]));
        let answers = self.link.run_all::<(u64, Option<i64>)>("order_log.state", Repeat::Safe, calls).await;
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
