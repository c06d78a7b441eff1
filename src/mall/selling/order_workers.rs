//! Workers moving accepted claims from the order log to the database.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mallbox_storage::{
    Claim, DeadReason, LoggedClaim, OrderId, OrderStatus, PersistOutcome, ReserveOutcome, Storage, StoreError,
};
use parking_lot::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::batch_size::BatchSize;
use crate::mall::base::Context;

/// Attempts after which the database's refusal of a single claim is final.
const ATTEMPTS_MAX: u32 = 5;
/// Longest wait of an idle worker for a claim. Afterwards the worker checks for shutdown.
const TAKE_TIMEOUT: Duration = Duration::from_millis(250);
/// Time from the begin of a batch in which claims gather for the next one: the fixed costs of a transaction
/// are several times those of an order. Meanwhile, a buyer sees the order as pending.
const GATHER: Duration = Duration::from_millis(20);
/// Longest time in which a worker that stops writes claims that had gathered.
const FINISH_TIMEOUT: Duration = Duration::from_millis(500);
/// First pause after an error. Each further pause doubles, up to [`BACKOFF_MAX`].
const BACKOFF_MIN: Duration = Duration::from_millis(50);
const BACKOFF_MAX: Duration = Duration::from_secs(2);
/// Calls per round that the database may refuse without accepting a single claim. Beyond, the database is at
/// fault, not the claims.
const FRUITLESS_CALLS_MAX: usize = 128;
/// Batch size after a fruitless round: small enough to be halved down to every single claim within
/// [`FRUITLESS_CALLS_MAX`] calls.
const BATCH_AFTER_FRUITLESS: usize = 64;

/// Metrics of the order workers.
#[derive(Debug, Default)]
pub struct WorkerMetrics {
    /// Claims written as orders.
    pub persisted: AtomicU64,
    /// Settled claims that the log handed out again.
    pub repeats: AtomicU64,
    /// Claims that became dead letters.
    pub dead_letters: AtomicU64,
    /// Refusals counted as an attempt of a claim.
    pub refused: AtomicU64,
    /// Rounds ended by a failure of the store.
    pub troubles: AtomicU64,
    /// Transactions that wrote claims.
    pub batches: AtomicU64,
    /// Restarts of failed workers.
    pub restarts: AtomicU64,
}

fn count(figure: &AtomicU64, by: usize) {
    figure.fetch_add(by as u64, Ordering::Relaxed);
}

/// Moves accepted claims from the order log to the database until stopped.
///
/// - A claim leaves the log only after the database has settled the claim: as an order, or as a dead letter.
/// - A failure of the store counts against no claim: the worker backs off with growing pauses, and the log
///   grows.
/// - A batch refused by the database is halved until the offending claim stands alone. The refusal counts as
///   an attempt in three cases: the database accepted other claims in the same round, the claim has been
///   isolated before, or no other claim exists. If every claim is refused, the database is at fault and no
///   attempt is counted.
/// - A refused claim is retried after growing pauses and delays no other claim. The fifth attempt makes the
///   claim a dead letter.
pub struct OrderWorkers {
    context: Context,
    figures: Arc<WorkerMetrics>,
}

impl OrderWorkers {
    /// Creates the workers; [`run`](Self::run) starts them.
    #[must_use]
    pub fn new(context: Context) -> Self {
        Self { context, figures: Arc::default() }
    }

    /// Returns the metrics.
    #[must_use]
    pub fn figures(&self) -> Arc<WorkerMetrics> {
        Arc::clone(&self.figures)
    }

    /// Runs `workers` workers until `stop` is cancelled. Each worker then finishes the claims in hand. A
    /// failed worker is replaced and its claims are handed out again.
    pub async fn run(&self, workers: usize, stop: CancellationToken) {
        let mut all = tokio::task::JoinSet::new();
        for number in 0..workers.max(1) {
            let worker = Worker::new(&self.context, &self.figures, format!("worker-{number}"));
            all.spawn(supervise(worker, stop.clone()));
        }
        while let Some(ended) = all.join_next().await {
            if let Err(error) = ended {
                tracing::error!(%error, "the supervisor of an order worker panicked");
            }
        }
    }
}

/// Waits until the log is empty, the log fails, or `longest` (real time) has elapsed. Returns whether the log
/// is empty.
///
/// Called before the clock is moved: every earlier claim is then an order with its own deadline.
pub async fn drained(storage: &Storage, longest: Duration) -> bool {
    /// Interval of polling the log.
    const POLL_INTERVAL: Duration = Duration::from_millis(1);
    let until = Instant::now() + longest;
    loop {
        let state = storage.selling.order_log.state().await;
        if state.pending == 0 {
            return true;
        }
        if state.trouble.is_some() || Instant::now() >= until {
            return false;
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

async fn supervise(worker: Worker, stop: CancellationToken) {
    let mut pause = Backoff::default();
    let name = worker.name.clone();
    loop {
        // At start too: an earlier worker of the same name may have crashed with claims in hand.
        match worker.context.storage.selling.order_log.reclaim(&name).await {
            Ok(0) => {}
            Ok(claims) => {
                tracing::info!(worker = %name, claims, "re-queued the claims of a failed worker")
            }
            Err(error) => tracing::warn!(worker = %name, %error, "could not re-queue claims"),
        }
        let began = Instant::now();
        let running = tokio::spawn(worker.fresh().run(stop.clone()));
        match AbortOnDropHandle::new(running).await {
            Ok(Ok(())) => return,
            Ok(Err(error)) => tracing::warn!(worker = %name, %error, "an order worker failed; restarting it"),
            Err(error) => tracing::error!(worker = %name, %error, "an order worker panicked; restarting it"),
        }
        count(&worker.figures.restarts, 1);
        if began.elapsed() > BACKOFF_MAX {
            pause = Backoff::default();
        }
        tokio::select! {
            () = tokio::time::sleep(pause.next()) => {}
            () = stop.cancelled() => {}
        }
        if stop.is_cancelled() {
            return;
        }
    }
}

/// Exponential backoff: pauses that double up to [`BACKOFF_MAX`].
#[derive(Clone, Copy, Debug, Default)]
struct Backoff(Option<Duration>);

impl Backoff {
    fn next(&mut self) -> Duration {
        let pause = self.0.map_or(BACKOFF_MIN, |last| (last * 2).min(BACKOFF_MAX));
        self.0 = Some(pause);
        pause
    }
}

/// A refused claim that the worker keeps until the retry.
struct DelayedRetry {
    claim: LoggedClaim,
    until: Instant,
    /// Whether the refusal counts as an attempt.
    counts: bool,
}

/// Outcome of a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Round {
    Settled,
    StoreFailed,
}

struct Worker {
    context: Context,
    figures: Arc<WorkerMetrics>,
    name: String,
    size: BatchSize,
    resting: Vec<DelayedRetry>,
    /// Claims that became orders after the log had lost them. Shared with the worker's replacement.
    lost_claims: Arc<Mutex<Vec<Claim>>>,
}

impl Worker {
    fn new(context: &Context, figures: &Arc<WorkerMetrics>, name: String) -> Self {
        let (context, figures) = (context.clone(), Arc::clone(figures));
        let size = BatchSize::new(context.storage.selling.orders.batch_takes());
        let (resting, unknown) = (Vec::new(), Arc::default());
        Self { context, figures, name, size, resting, lost_claims: unknown }
    }

    fn fresh(&self) -> Self {
        let fresh = Self::new(&self.context, &self.figures, self.name.clone());
        Self { lost_claims: Arc::clone(&self.lost_claims), ..fresh }
    }

    async fn run(mut self, stop: CancellationToken) -> Result<(), StoreError> {
        let mut pause = Backoff::default();
        let mut next_batch = Instant::now();
        while !stop.is_cancelled() {
            tokio::select! {
                () = tokio::time::sleep_until(next_batch) => {}
                () = stop.cancelled() => {}
            }
            self.wake_rested(Instant::now()).await?;
            self.reserve_lost_units().await?;
            let wait = self.rest_left().min(TAKE_TIMEOUT);
            let batch =
                self.context.storage.selling.order_log.take(&self.name, self.size.get(), wait).await?;
            if batch.is_empty() {
                continue;
            }
            next_batch = self.next_batch(Instant::now(), batch.len());
            if self.round(&batch).await? == Round::Settled {
                pause = Backoff::default();
                continue;
            }
            count(&self.figures.troubles, 1);
            tokio::select! {
                () = tokio::time::sleep(pause.next()) => {}
                () = stop.cancelled() => {}
            }
        }
        self.finish_gathered().await?;
        let end_of_rest = Instant::now() + 2 * BACKOFF_MAX;
        self.wake_rested(end_of_rest).await
    }

    /// Writes claims that had gathered at the stop, for [`FINISH_TIMEOUT`] at most. The rest waits for the
    /// next start.
    async fn finish_gathered(&mut self) -> Result<(), StoreError> {
        let until = Instant::now() + FINISH_TIMEOUT;
        while Instant::now() < until {
            let log = &self.context.storage.selling.order_log;
            let batch = log.take(&self.name, self.size.get(), Duration::ZERO).await?;
            if batch.is_empty() || self.round(&batch).await? == Round::StoreFailed {
                break;
            }
        }
        Ok(())
    }

    /// Returns when the batch after one of `claims` claims, begun `now`, may begin. A full batch leaves a
    /// backlog behind, so that the next one begins at once.
    fn next_batch(&self, now: Instant, claims: usize) -> Instant {
        if claims >= self.size.get() { now } else { now + GATHER }
    }

    /// Settles a batch, halving each part that the database refuses. Breadth-first, so that a few bad claims
    /// among many are isolated while other claims are accepted.
    async fn round(&mut self, batch: &[LoggedClaim]) -> Result<Round, StoreError> {
        let mut parts = VecDeque::from([batch]);
        let mut refused: Vec<(LoggedClaim, String)> = Vec::new();
        let (mut took_some, mut calls) = (false, 0);
        while let Some(part) = parts.pop_front() {
            calls += 1;
            let error = match self.settle(part).await {
                Ok(()) => {
                    took_some = true;
                    continue;
                }
                Err(error) => error,
            };
            let is_fruitless = !took_some && calls >= FRUITLESS_CALLS_MAX;
            match (error, part) {
                (StoreError::Refused { source, .. }, [claim]) if !is_fruitless => {
                    refused.push((*claim, source.to_string()));
                }
                (StoreError::Refused { .. }, _) if !is_fruitless => {
                    let (first, second) = part.split_at(part.len() / 2);
                    parts.extend([first, second]);
                }
                (error, _) => {
                    let rest = std::iter::once(part).chain(parts).flatten().copied();
                    let unsettled: Vec<LoggedClaim> =
                        rest.chain(refused.iter().map(|(claim, _)| *claim)).collect();
                    tracing::warn!(worker = %self.name, claims = unsettled.len(), %error, "could not write claims to the database; retrying");
                    if is_fruitless {
                        self.size.limit(BATCH_AFTER_FRUITLESS);
                    }
                    self.context.storage.selling.order_log.put_back(&self.name, &unsettled, false).await?;
                    return Ok(Round::StoreFailed);
                }
            }
        }
        self.classify_refusals(refused, took_some).await
    }

    /// Writes claims to the database, sets their deadlines, and only then removes the claims from the log.
    async fn settle(&mut self, claims: &[LoggedClaim]) -> Result<(), StoreError> {
        let storage = &self.context.storage;
        let began = Instant::now();
        let outcomes = storage.selling.orders.persist(claims, self.context.now()).await?;
        self.size.observe(claims.len(), began.elapsed());
        let (mut deadlines, mut written, mut repeats, mut dead) = (Vec::new(), 0, 0, 0);
        for (logged, outcome) in claims.iter().zip(&outcomes) {
            let order = logged.claim.order;
            match outcome {
                PersistOutcome::Written { deadline } => {
                    deadlines.extend(deadline.map(|deadline| (order, deadline)));
                    written += 1;
                }
                PersistOutcome::Repeat => {
                    // The first attempt may have failed before setting the deadline.
                    if let Some(found) = storage.selling.orders.get(order).await?
                        && found.status == OrderStatus::Unpaid
                    {
                        deadlines.push((order, found.deadline));
                    }
                    repeats += 1;
                }
                PersistOutcome::DeadLetter(reason) => {
                    report_dead(logged, *reason, "");
                    dead += 1;
                }
            }
        }
        storage.selling.deadlines.set(&deadlines).await?;
        let unknown = storage.selling.order_log.done(&self.name, claims).await?;
        if !unknown.is_empty() {
            let unknown: HashSet<OrderId> = unknown.into_iter().collect();
            let is_order = |outcome: &PersistOutcome| !matches!(outcome, PersistOutcome::DeadLetter(_));
            let orders = claims.iter().zip(&outcomes).filter(|(_, outcome)| is_order(outcome));
            let claims = orders.map(|(logged, _)| logged.claim);
            self.lost_claims.lock().extend(claims.filter(|claim| unknown.contains(&claim.order)));
        }
        for (logged, outcome) in claims.iter().zip(&outcomes) {
            if *outcome == PersistOutcome::DeadLetter(DeadReason::Double) {
                let Claim { order, voucher, user, .. } = logged.claim;
                // The user holds a unit by another order. If the release fails, the outbox entry in the
                // database repeats it.
                let _ = storage.selling.sales.release(voucher, user, order).await;
            }
        }
        count(&self.figures.batches, 1);
        count(&self.figures.persisted, written);
        count(&self.figures.repeats, repeats);
        count(&self.figures.dead_letters, dead);
        Ok(())
    }

    /// Re-reserves units for orders whose claims a log on another machine lost while the worker was
    /// processing them. The sales store may have been rebuilt meanwhile, from a log without the claims and a
    /// database without the orders.
    async fn reserve_lost_units(&self) -> Result<(), StoreError> {
        let storage = &self.context.storage;
        loop {
            let next = self.lost_claims.lock().last().copied();
            let Some(Claim { order, voucher, user, .. }) = next else { return Ok(()) };
            let reserved = storage.selling.sales.reserve(voucher, user, order).await?;
            if !storage.selling.orders.get(order).await?.is_some_and(|order| order.status.is_live()) {
                // A concurrent close of the order found no unit to release.
                let _ = storage.selling.sales.release(voucher, user, order).await?;
            } else if reserved == ReserveOutcome::SoldOut {
                tracing::warn!(order = order.get(), "the lost unit of an order was sold again");
            }
            self.lost_claims.lock().pop();
        }
    }

    /// Decides whether the refusals of a round count as attempts.
    async fn classify_refusals(
        &mut self,
        refused: Vec<(LoggedClaim, String)>,
        took_some: bool,
    ) -> Result<Round, StoreError> {
        if refused.is_empty() {
            return Ok(Round::Settled);
        }
        let counts = took_some
            || refused.iter().all(|(claim, _)| claim.attempts > 0)
            || (refused.len() == 1 && self.is_all_there_is(1).await);
        if !counts {
            let detail = refused.first().map_or("", |(_, detail)| detail);
            tracing::warn!(worker = %self.name, claims = refused.len(), detail, "the database refuses every claim of the round; retrying");
        }
        for (claim, detail) in refused {
            if counts {
                self.attempted(claim, &detail).await;
            } else {
                self.rest(claim, BACKOFF_MAX / 2, false);
            }
        }
        Ok(Round::Settled)
    }

    /// Returns whether the log holds nothing but `claims` claims and the resting claims.
    async fn is_all_there_is(&self, claims: usize) -> bool {
        let pending = self.context.storage.selling.order_log.state().await.pending;
        pending <= (self.resting.len() + claims) as u64
    }

    /// Counts a failed attempt of a claim. The last attempt makes the claim a dead letter.
    async fn attempted(&mut self, logged: LoggedClaim, detail: &str) {
        let storage = &self.context.storage;
        count(&self.figures.refused, 1);
        if logged.attempts + 1 < ATTEMPTS_MAX {
            return self.rest(logged, BACKOFF_MIN * (2 << logged.attempts.min(ATTEMPTS_MAX)), true);
        }
        let inserted = storage
            .selling
            .orders
            .insert_dead_letter(&logged, DeadReason::Refused, detail, self.context.now())
            .await;
        let settled = match inserted {
            Ok(()) => storage.selling.order_log.done(&self.name, &[logged]).await.map(drop),
            Err(error) => Err(error),
        };
        match settled {
            Ok(()) => {
                report_dead(&logged, DeadReason::Refused, detail);
                count(&self.figures.dead_letters, 1);
            }
            Err(error) => {
                let order = logged.claim.order.get();
                tracing::warn!(worker = %self.name, order, %error, "could not write a dead letter; retrying");
                self.rest(logged, BACKOFF_MAX, false);
            }
        }
    }

    fn rest(&mut self, claim: LoggedClaim, pause: Duration, counts: bool) {
        self.resting.push(DelayedRetry { claim, until: Instant::now() + pause, counts });
    }

    fn rest_left(&self) -> Duration {
        let next = self.resting.iter().map(|resting| resting.until).min();
        next.map_or(TAKE_TIMEOUT, |until| until.saturating_duration_since(Instant::now()))
    }

    /// Puts claims back into the log after their pause.
    async fn wake_rested(&mut self, now: Instant) -> Result<(), StoreError> {
        if self.resting.is_empty() {
            return Ok(());
        }
        for counts in [true, false] {
            let rested: Vec<LoggedClaim> = self
                .resting
                .extract_if(.., |resting| resting.until <= now && resting.counts == counts)
                .map(|resting| resting.claim)
                .collect();
            if !rested.is_empty() {
                self.context.storage.selling.order_log.put_back(&self.name, &rested, counts).await?;
            }
        }
        Ok(())
    }
}

fn report_dead(logged: &LoggedClaim, reason: DeadReason, detail: &str) {
    let claim = logged.claim;
    tracing::warn!(
        order = claim.order.get(),
        voucher = claim.voucher.get(),
        user = claim.user.get(),
        reason = reason.code(),
        attempts = logged.attempts,
        detail,
        "a claim became a dead letter"
    );
}
