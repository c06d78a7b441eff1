//! The epochs in force, as cached by this process, and scripts that only the server of an epoch runs.
//!
//! A Redis that was restarted, or a replica that was promoted, may lack the last acknowledged writes. A
//! returning old master may run for seconds beside the new master. Redis draws a new replication id on each
//! start and each promotion. The database stores the id of the only valid server ([`EpochRows`]). Each script
//! receives the id, compares it with the server's own, and does nothing on any other server. No instance has
//! to know the server behind a connection.
//!
//! Claims, and scripts for handing out or putting back claims, use the cached id, read at most [`POLL`] plus
//! the duration of a call ago, or longer ago while the database is unreachable. Scripts that settle (`done`,
//! `release`, `reserve`, `put`, `forget`, and setting deadlines) read the id anew after the database has its
//! part. A server loaded later already knows the settled orders, and a server loaded earlier has the id just
//! read.
//!
//! Reasons and figures: `storage/decisions/0017-redis-epochs.md`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use mallbox_storage::{PARTITIONS, StoreError};
use redis::{FromRedisValue, Value};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::keys::Keys;
use super::link::{Idempotence, Link, to_store_error};
use super::script::Call;
use super::sentinels::Sentinels;
use super::taken_claims::TakenClaims;
use super::wake_ups::ReadySet;
use crate::{EpochRows, EpochScope, ServerEpoch};

/// Start of the reply of a server other than the epoch's. The server's own id follows.
const OTHER_SERVER: &[u8] = b"epoch:";
/// Interval at which the epochs are read from the database.
const POLL: Duration = Duration::from_millis(400);
/// Interval between rounds while a caller waits.
const POLL_FAST: Duration = Duration::from_millis(50);
/// Time after which a read with a lower generation is believed: the database was set back.
const ROLLBACK_ACCEPTED_AFTER: Duration = Duration::from_secs(2);
/// Time for which a call waits for a resync before the call fails.
pub(super) const RESYNC_WAIT: Duration = Duration::from_millis(700);

/// The epoch to run a script in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RequiredEpoch {
    /// The cached epoch, open or closed.
    Known,
    /// The cached epoch, if open.
    Open,
    /// A freshly read epoch, open or closed.
    Fresh,
    /// A freshly read epoch, if open.
    FreshOpen,
}

/// The cached epochs of the last read.
#[derive(Clone, Debug)]
pub(super) struct CachedEpochs {
    epochs: Vec<Option<Arc<ServerEpoch>>>,
    pub(super) generation: u64,
    read_at: Instant,
    /// Whether the last read of the database failed. Claims then continue in the cached epochs.
    is_away: bool,
}

impl CachedEpochs {
    pub(super) fn of(&self, scope: EpochScope) -> Option<&Arc<ServerEpoch>> {
        self.epochs.get(usize::try_from(scope.get()).ok()?)?.as_ref()
    }

    fn is_open(&self, scope: EpochScope) -> bool {
        self.of(scope).is_some_and(|epoch| epoch.is_open)
    }

    /// Returns whether an epoch with this number is over.
    pub(super) fn is_over(&self, scope: EpochScope, number: u64) -> bool {
        self.of(scope).is_some_and(|epoch| epoch.number > number)
    }
}

/// The epochs of one mall. The background tasks end when this value is dropped.
pub(super) struct ServerEpochs {
    pub(super) link: Link,
    pub(super) keys: Keys,
    pub(super) rows: Arc<dyn EpochRows>,
    pub(super) in_hand: Arc<TakenClaims>,
    pub(super) sentinels: Option<Sentinels>,
    /// Time without a heartbeat after which an instance counts as dead.
    pub(super) silence: Duration,
    wake_ups: Arc<ReadySet>,
    instance: String,
    known: watch::Sender<Arc<CachedEpochs>>,
    /// Number of rounds in which the server was checked.
    rounds: watch::Sender<u64>,
    wanted: Arc<Notify>,
    /// Whether a server has refused a script since the last round.
    was_refused: AtomicBool,
    /// Whether this instance is registered in the database as taking claims.
    is_enrolled: AtomicBool,
    enrolling: tokio::sync::Mutex<()>,
}

impl std::fmt::Debug for ServerEpochs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerEpochs").field("known", &*self.known.borrow()).finish_non_exhaustive()
    }
}

impl ServerEpochs {
    /// Creates the epochs, not read yet.
    pub(super) fn new(
        link: &Link,
        keys: &Keys,
        rows: Arc<dyn EpochRows>,
        wake_ups: Arc<ReadySet>,
        silence: Duration,
    ) -> Arc<Self> {
        let none = CachedEpochs { epochs: Vec::new(), generation: 0, read_at: Instant::now(), is_away: true };
        Arc::new(Self {
            link: link.clone(),
            keys: keys.clone(),
            rows,
            in_hand: Arc::default(),
            sentinels: Sentinels::of(link.address()),
            silence,
            wake_ups,
            instance: format!("{:016x}", crate::random::random()),
            known: watch::Sender::new(Arc::new(none)),
            rounds: watch::Sender::new(0),
            wanted: Arc::default(),
            was_refused: AtomicBool::new(false),
            is_enrolled: AtomicBool::new(false),
            enrolling: tokio::sync::Mutex::default(),
        })
    }

    /// Returns the cached epochs.
    pub(super) fn known(&self) -> Arc<CachedEpochs> {
        Arc::clone(&self.known.borrow())
    }

    /// Reads the epochs from the database.
    pub(super) async fn read(&self) -> Result<Arc<CachedEpochs>, StoreError> {
        let read_at = Instant::now();
        let current = match self.rows.current().await {
            Ok(current) => current,
            Err(error) => {
                self.known.send_modify(|known| Arc::make_mut(known).is_away = true);
                return Err(error);
            }
        };
        let generation = current.iter().map(|epoch| epoch.number).sum();
        let mut epochs = vec![None; EpochScope::all().count()];
        for epoch in current {
            let index = usize::try_from(epoch.scope.get()).unwrap_or(usize::MAX);
            if let Some(slot) = epochs.get_mut(index) {
                *slot = Some(Arc::new(epoch));
            }
        }
        let found = Arc::new(CachedEpochs { epochs, generation, read_at, is_away: false });
        self.known.send_modify(|known| {
            // Concurrent reads may finish out of order. A database that was set back is believed after a
            // while.
            let is_newer = found.generation >= known.generation && found.read_at >= known.read_at;
            if is_newer || found.read_at > known.read_at + ROLLBACK_ACCEPTED_AFTER {
                *known = Arc::clone(&found);
            }
        });
        Ok(found)
    }

    /// Registers this instance in the database as taking claims. From then on, no new epoch opens before this
    /// instance has settled the claims in hand.
    pub(super) async fn enroll(&self) -> Result<(), StoreError> {
        if self.is_enrolled.load(Ordering::Acquire) {
            return Ok(());
        }
        let _one = self.enrolling.lock().await;
        if !self.is_enrolled.load(Ordering::Acquire) {
            self.rows.settled(&self.instance, 0).await?;
            // An instance may have opened an epoch without seeing the registration. The epoch then began
            // before this read.
            self.read().await?;
            self.is_enrolled.store(true, Ordering::Release);
            self.wanted.notify_waiters();
        }
        Ok(())
    }

    /// Deregisters this instance. The caller takes no more claims, and has none in hand.
    pub(super) async fn leave(&self) {
        if self.is_enrolled.swap(false, Ordering::AcqRel)
            && let Err(error) = self.rows.leave(&self.instance).await
        {
            tracing::debug!(%error, "could not deregister this instance; others wait for its timeout");
        }
    }

    /// Runs a script in the epoch in force, after a resync if the connected server is not the epoch's server.
    /// Returns the script's result and the number of the epoch.
    pub(super) async fn run<T: FromRedisValue>(
        &self,
        (op, repeat): (&'static str, Idempotence),
        (scope, need): (EpochScope, RequiredEpoch),
        call: Call,
    ) -> Result<(T, u64), StoreError> {
        let until = Instant::now() + RESYNC_WAIT;
        loop {
            if let Some(epoch) = self.epoch(op, scope, need).await?
                && let Some(value) = self.run_in(op, repeat, &epoch, call.clone()).await?
            {
                return Ok((value, epoch.number));
            }
            if !self.next_round(until).await {
                let source = "Redis was replaced, and its resync is running".into();
                return Err(StoreError::Unavailable { op, source });
            }
        }
    }

    /// Runs a script in `epoch`. `None` on a server other than the epoch's.
    pub(super) async fn run_in<T: FromRedisValue>(
        &self,
        op: &'static str,
        repeat: Idempotence,
        epoch: &ServerEpoch,
        call: Call,
    ) -> Result<Option<T>, StoreError> {
        let value: Value = self.link.run(op, repeat, call.arg(&epoch.server)).await?;
        if matches!(&value, Value::BulkString(text) if text.starts_with(OTHER_SERVER)) {
            self.was_refused.store(true, Ordering::Release);
            return Ok(None);
        }
        T::from_redis_value(value).map(Some).map_err(|error| to_store_error(op, error.into()))
    }

    /// Returns the epoch for a script; `None` if the scope has none yet, or a required open epoch is closed.
    async fn epoch(
        &self,
        op: &'static str,
        scope: EpochScope,
        need: RequiredEpoch,
    ) -> Result<Option<Arc<ServerEpoch>>, StoreError> {
        let known = match need {
            RequiredEpoch::Fresh | RequiredEpoch::FreshOpen => self.read().await?,
            RequiredEpoch::Known | RequiredEpoch::Open => self.recent(op).await?,
        };
        let is_fit = matches!(need, RequiredEpoch::Known | RequiredEpoch::Fresh) || known.is_open(scope);
        Ok(known.of(scope).filter(|_| is_fit).cloned())
    }

    /// Returns the cached epochs. A process just resumed from a long suspension reads the database first,
    /// because other instances may have opened an epoch in the meantime.
    async fn recent(&self, op: &'static str) -> Result<Arc<CachedEpochs>, StoreError> {
        let known = self.known();
        if known.is_away || known.read_at.elapsed() < self.silence / 2 {
            return Ok(known);
        }
        let source = "the epochs of Redis are unknown".into();
        timeout(RESYNC_WAIT, self.read()).await.unwrap_or(Err(StoreError::Unavailable { op, source }))
    }

    /// Waits for the next check of the server. `false` if `until` passes first.
    async fn next_round(&self, until: Instant) -> bool {
        let mut rounds = self.rounds.subscribe();
        self.was_refused.store(true, Ordering::Release);
        self.wanted.notify_waiters();
        timeout_at(until, rounds.changed()).await.is_ok()
    }

    /// Returns whether a server has refused a script since the last call, and resets the flag.
    pub(super) fn take_refusal(&self) -> bool {
        self.was_refused.swap(false, Ordering::AcqRel)
    }

    /// Requests another check of the server.
    pub(super) fn refused(&self) {
        self.was_refused.store(true, Ordering::Release);
    }

    /// Counts a finished round, and wakes the callers that wait for it.
    pub(super) fn end_round(&self) {
        self.rounds.send_modify(|rounds| *rounds += 1);
    }

    /// Waits until the next round is due, or sooner if a caller waits for the round. Does not keep the epochs
    /// alive.
    pub(super) fn pause(&self) -> impl Future<Output = ()> + use<> {
        let (wanted, is_wanted) = (Arc::clone(&self.wanted), self.was_refused.load(Ordering::Acquire));
        async move {
            let began = Instant::now();
            if is_wanted || timeout(POLL, wanted.notified()).await.is_ok() {
                sleep(POLL_FAST.saturating_sub(began.elapsed())).await;
            }
        }
    }

    /// Requests the next rounds early.
    pub(super) fn hurry(&self) {
        self.wanted.notify_waiters();
    }

    /// Reports to the database what this process has settled. `last` is the generation last reported, and the
    /// time of the report.
    async fn report(&self, last: &mut (u64, Option<Instant>)) {
        if !self.is_enrolled.load(Ordering::Acquire) {
            return;
        }
        let known = self.known();
        let is_left = self.in_hand.has_older(|scope, number| known.is_over(scope, number));
        if is_left {
            // Wakes the workers, which receive stranded claims.
            (0..PARTITIONS).for_each(|partition| self.wake_ups.fill(partition));
        }
        let generation = if is_left { last.0 } else { known.generation };
        let is_due = last.1.is_none_or(|at| at.elapsed() >= self.silence / 4);
        if (generation > last.0 || is_due) && self.rows.settled(&self.instance, generation).await.is_ok() {
            *last = (generation, Some(Instant::now()));
        }
    }
}

/// Reads the epochs periodically, and reports settled generations.
pub(super) async fn poll(epochs: Weak<ServerEpochs>) {
    let mut last = (0, None);
    while let Some(epochs) = epochs.upgrade() {
        let _ = epochs.read().await;
        epochs.report(&mut last).await;
        let pause = epochs.pause();
        drop(epochs);
        pause.await;
    }
}
