//! Accepted claims on their way from the log to the record.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mallbox_storage::{
    Claim, DeadReason, Logged, OrderId, OrderStatus, Persisted, Reservation, Storage, StoreError,
};
use parking_lot::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::Context;
use super::batch_size::BatchSize;

/// How often the record may refuse a claim that stands alone.
const ATTEMPTS: u32 = 5;
/// How long an idle worker waits for a claim before it looks whether it shall stop.
const IDLE: Duration = Duration::from_millis(250);
/// The pauses after trouble, doubled each time.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// Calls of one round that the record may refuse without taking a single claim: then it is the record, not the claims.
const FRUITLESS: usize = 128;
/// What is tried after that: small enough to be halved down to every single claim within [`FRUITLESS`] calls.
const AFTER_FRUITLESS: usize = 64;

/// What the workers have done so far; for the metrics.
#[derive(Debug, Default)]
pub struct WorkerFigures {
    /// Claims written as orders.
    pub persisted: AtomicU64,
    /// Claims the log handed out again after they had been settled.
    pub repeats: AtomicU64,
    /// Claims that became dead letters.
    pub dead_letters: AtomicU64,
    /// Attempts that counted against a claim.
    pub refused: AtomicU64,
    /// Rounds that ended in trouble of the store.
    pub troubles: AtomicU64,
    /// Transactions that wrote claims.
    pub batches: AtomicU64,
    /// Workers started anew after they broke off.
    pub restarts: AtomicU64,
}

fn count(figure: &AtomicU64, by: usize) {
    figure.fetch_add(by as u64, Ordering::Relaxed);
}

/// Moves accepted claims from the log to the record, until told to stop.
///
/// - A claim leaves the log only after the record has answered for it: as an order, or as a dead letter.
/// - Trouble of the store counts for no claim: the worker waits, longer each time, and the log grows.
/// - A batch that the record refuses is halved until the claim that it is about stands alone. That counts as an attempt
///   if the record took others in the same round, or if this claim has been told apart like that before, or if there is
///   no other claim at all; where everything is refused, it is the record that is at fault, and nobody's attempt.
/// - A refused claim rests for a while, longer each time, and holds nobody up. At the fifth attempt it becomes a dead
///   letter.
pub struct OrderWorkers {
    context: Context,
    figures: Arc<WorkerFigures>,
}

impl OrderWorkers {
    /// Nobody works yet.
    #[must_use]
    pub fn new(context: Context) -> Self {
        Self { context, figures: Arc::default() }
    }

    /// What has been done so far.
    #[must_use]
    pub fn figures(&self) -> Arc<WorkerFigures> {
        Arc::clone(&self.figures)
    }

    /// Works with so many workers until `stop`; then each finishes what it has in hand. A worker that breaks off is
    /// replaced, and what it had in hand is handed out again.
    pub async fn run(&self, workers: usize, stop: CancellationToken) {
        let mut all = tokio::task::JoinSet::new();
        for number in 0..workers.max(1) {
            let worker = Worker::new(&self.context, &self.figures, format!("worker-{number}"));
            all.spawn(supervise(worker, stop.clone()));
        }
        while let Some(ended) = all.join_next().await {
            if let Err(error) = ended {
                tracing::error!(%error, "the supervisor of a worker broke off");
            }
        }
    }
}

/// Waits until the log is empty, or in trouble, or `longest` (real time) is over. Answers whether it is empty.
///
/// To be called before the clock is moved: a claim that was made before is then an order with its own deadline.
pub async fn drained(storage: &Storage, longest: Duration) -> bool {
    /// How often the log is looked at.
    const LOOK_EVERY: Duration = Duration::from_millis(1);
    let until = Instant::now() + longest;
    loop {
        let state = storage.order_log.state().await;
        if state.pending == 0 {
            return true;
        }
        if state.trouble.is_some() || Instant::now() >= until {
            return false;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

async fn supervise(worker: Worker, stop: CancellationToken) {
    let mut pause = Pause::default();
    let name = worker.name.clone();
    loop {
        // Also at the start: what a worker of this name had in hand when it ended in disorder.
        match worker.context.storage.order_log.reclaim(&name).await {
            Ok(0) => {}
            Ok(claims) => {
                tracing::info!(worker = %name, claims, "claims of a worker that broke off go out again")
            }
            Err(error) => tracing::warn!(worker = %name, %error, "claims could not be reclaimed"),
        }
        let began = Instant::now();
        let running = tokio::spawn(worker.fresh().run(stop.clone()));
        match AbortOnDropHandle::new(running).await {
            Ok(Ok(())) => return,
            Ok(Err(error)) => tracing::warn!(worker = %name, %error, "a worker broke off and is replaced"),
            Err(error) => tracing::error!(worker = %name, %error, "a worker broke off and is replaced"),
        }
        count(&worker.figures.restarts, 1);
        if began.elapsed() > LONGEST_PAUSE {
            pause = Pause::default();
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

/// Pauses that grow.
#[derive(Clone, Copy, Debug, Default)]
struct Pause(Option<Duration>);

impl Pause {
    fn next(&mut self) -> Duration {
        let pause = self.0.map_or(FIRST_PAUSE, |last| (last * 2).min(LONGEST_PAUSE));
        self.0 = Some(pause);
        pause
    }
}

/// A refused claim that the worker keeps in hand for a while.
struct Resting {
    claim: Logged,
    until: Instant,
    /// Whether its refusal counts as an attempt.
    counts: bool,
}

/// How a round ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Round {
    Settled,
    Trouble,
}

struct Worker {
    context: Context,
    figures: Arc<WorkerFigures>,
    name: String,
    size: BatchSize,
    resting: Vec<Resting>,
    /// Became orders, and the log did not know them any more. Outlives a worker that breaks off.
    unknown: Arc<Mutex<Vec<Claim>>>,
}

impl Worker {
    fn new(context: &Context, figures: &Arc<WorkerFigures>, name: String) -> Self {
        let (context, figures) = (context.clone(), Arc::clone(figures));
        let size = BatchSize::new(context.storage.orders.batch_takes());
        let (resting, unknown) = (Vec::new(), Arc::default());
        Self { context, figures, name, size, resting, unknown }
    }

    fn fresh(&self) -> Self {
        let fresh = Self::new(&self.context, &self.figures, self.name.clone());
        Self { unknown: Arc::clone(&self.unknown), ..fresh }
    }

    async fn run(mut self, stop: CancellationToken) -> Result<(), StoreError> {
        let mut pause = Pause::default();
        while !stop.is_cancelled() {
            self.wake_rested(Instant::now()).await?;
            self.hold_units().await?;
            let wait = self.rest_left().min(IDLE);
            let batch = self.context.storage.order_log.take(&self.name, self.size.get(), wait).await?;
            if batch.is_empty() {
                continue;
            }
            if self.round(&batch).await? == Round::Settled {
                pause = Pause::default();
                continue;
            }
            count(&self.figures.troubles, 1);
            tokio::select! {
                () = tokio::time::sleep(pause.next()) => {}
                () = stop.cancelled() => {}
            }
        }
        let end_of_rest = Instant::now() + 2 * LONGEST_PAUSE;
        self.wake_rested(end_of_rest).await
    }

    /// Settles a batch, halving what the record refuses. The widest parts go first, so that a few bad claims among many
    /// are told apart by others that were taken.
    async fn round(&mut self, batch: &[Logged]) -> Result<Round, StoreError> {
        let mut parts = VecDeque::from([batch]);
        let mut refused: Vec<(Logged, String)> = Vec::new();
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
            let is_fruitless = !took_some && calls >= FRUITLESS;
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
                    let unsettled: Vec<Logged> =
                        rest.chain(refused.iter().map(|(claim, _)| *claim)).collect();
                    tracing::warn!(worker = %self.name, claims = unsettled.len(), %error, "claims wait for the record");
                    if is_fruitless {
                        self.size.limit(AFTER_FRUITLESS);
                    }
                    self.context.storage.order_log.put_back(&self.name, &unsettled, false).await?;
                    return Ok(Round::Trouble);
                }
            }
        }
        self.judge(refused, took_some).await
    }

    /// Writes claims to the record, sees to their deadlines, and only then lets them leave the log.
    async fn settle(&mut self, claims: &[Logged]) -> Result<(), StoreError> {
        let storage = &self.context.storage;
        let began = Instant::now();
        let outcomes = storage.orders.persist(claims, self.context.now()).await?;
        self.size.observe(claims.len(), began.elapsed());
        let (mut deadlines, mut written, mut repeats, mut dead) = (Vec::new(), 0, 0, 0);
        for (logged, outcome) in claims.iter().zip(&outcomes) {
            let order = logged.claim.order;
            match outcome {
                Persisted::Written { deadline } => {
                    deadlines.extend(deadline.map(|deadline| (order, deadline)));
                    written += 1;
                }
                Persisted::Repeat => {
                    // The first answer may have been lost before the deadline was set.
                    if let Some(found) = storage.orders.get(order).await?
                        && found.status == OrderStatus::Unpaid
                    {
                        deadlines.push((order, found.deadline));
                    }
                    repeats += 1;
                }
                Persisted::DeadLetter(reason) => {
                    report_dead(logged, *reason, "");
                    dead += 1;
                }
            }
        }
        storage.deadlines.set(&deadlines).await?;
        let unknown = storage.order_log.done(&self.name, claims).await?;
        if !unknown.is_empty() {
            let unknown: HashSet<OrderId> = unknown.into_iter().collect();
            let is_order = |outcome: &Persisted| !matches!(outcome, Persisted::DeadLetter(_));
            let orders = claims.iter().zip(&outcomes).filter(|(_, outcome)| is_order(outcome));
            let claims = orders.map(|(logged, _)| logged.claim);
            self.unknown.lock().extend(claims.filter(|claim| unknown.contains(&claim.order)));
        }
        for (logged, outcome) in claims.iter().zip(&outcomes) {
            if *outcome == Persisted::DeadLetter(DeadReason::Double) {
                let Claim { order, voucher, user, .. } = logged.claim;
                // Its user has a unit by another order. The errand that the record has does it otherwise.
                let _ = storage.sales.release(voucher, user, order).await;
            }
        }
        count(&self.figures.batches, 1);
        count(&self.figures.persisted, written);
        count(&self.figures.repeats, repeats);
        count(&self.figures.dead_letters, dead);
        Ok(())
    }

    /// Sees to it that orders hold a unit whose claims a log on another machine lost while they were in hand here: its sales
    /// may have been read anew meanwhile, from a log that did not have the claims and a record that did not have the orders.
    async fn hold_units(&self) -> Result<(), StoreError> {
        let storage = &self.context.storage;
        loop {
            let next = self.unknown.lock().last().copied();
            let Some(Claim { order, voucher, user, .. }) = next else { return Ok(()) };
            let reserved = storage.sales.reserve(voucher, user, order).await?;
            if !storage.orders.get(order).await?.is_some_and(|order| order.status.is_live()) {
                // Whoever closed it in between found no unit to give back.
                let _ = storage.sales.release(voucher, user, order).await?;
            } else if reserved == Reservation::SoldOut {
                tracing::warn!(order = order.get(), "the unit of an order was sold again");
            }
            self.unknown.lock().pop();
        }
    }

    /// Decides what the refusals of a round mean.
    async fn judge(&mut self, refused: Vec<(Logged, String)>, took_some: bool) -> Result<Round, StoreError> {
        if refused.is_empty() {
            return Ok(Round::Settled);
        }
        let counts = took_some
            || refused.iter().all(|(claim, _)| claim.attempts > 0)
            || (refused.len() == 1 && self.is_all_there_is(1).await);
        if !counts {
            let detail = refused.first().map_or("", |(_, detail)| detail);
            tracing::warn!(worker = %self.name, claims = refused.len(), detail, "the record takes no claim");
        }
        for (claim, detail) in refused {
            if counts {
                self.attempted(claim, &detail).await;
            } else {
                self.rest(claim, LONGEST_PAUSE / 2, false);
            }
        }
        Ok(Round::Settled)
    }

    /// Whether the log holds nothing but so many claims and those that rest.
    async fn is_all_there_is(&self, claims: usize) -> bool {
        let pending = self.context.storage.order_log.state().await.pending;
        pending <= (self.resting.len() + claims) as u64
    }

    /// One more attempt of this claim has failed, and that is its own fault.
    async fn attempted(&mut self, logged: Logged, detail: &str) {
        let storage = &self.context.storage;
        count(&self.figures.refused, 1);
        if logged.attempts + 1 < ATTEMPTS {
            return self.rest(logged, FIRST_PAUSE * (2 << logged.attempts.min(ATTEMPTS)), true);
        }
        let buried = storage.orders.bury(&logged, DeadReason::Refused, detail, self.context.now()).await;
        let settled = match buried {
            Ok(()) => storage.order_log.done(&self.name, &[logged]).await.map(drop),
            Err(error) => Err(error),
        };
        match settled {
            Ok(()) => {
                report_dead(&logged, DeadReason::Refused, detail);
                count(&self.figures.dead_letters, 1);
            }
            Err(error) => {
                let order = logged.claim.order.get();
                tracing::warn!(worker = %self.name, order, %error, "a refused claim is still to become a dead letter");
                self.rest(logged, LONGEST_PAUSE, false);
            }
        }
    }

    fn rest(&mut self, claim: Logged, pause: Duration, counts: bool) {
        self.resting.push(Resting { claim, until: Instant::now() + pause, counts });
    }

    fn rest_left(&self) -> Duration {
        let next = self.resting.iter().map(|resting| resting.until).min();
        next.map_or(IDLE, |until| until.saturating_duration_since(Instant::now()))
    }

    /// Claims that have rested go out again.
    async fn wake_rested(&mut self, now: Instant) -> Result<(), StoreError> {
        if self.resting.is_empty() {
            return Ok(());
        }
        for counts in [true, false] {
            let rested: Vec<Logged> = self
                .resting
                .extract_if(.., |resting| resting.until <= now && resting.counts == counts)
                .map(|resting| resting.claim)
                .collect();
            if !rested.is_empty() {
                self.context.storage.order_log.put_back(&self.name, &rested, counts).await?;
            }
        }
        Ok(())
    }
}

fn report_dead(logged: &Logged, reason: DeadReason, detail: &str) {
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
