//! The epochs in force, as this process knows them, and scripts that only the server of an epoch runs.
//!
//! A Redis that was restarted, or a replica that has become the master, may lack the end of what was answered for; an old
//! master that is back may go on for seconds beside the new one. Each start and each promotion draws a new replication id.
//! The database has the id of the only server that counts ([`EpochRows`]); each script is told it, and does nothing on a
//! server with another. What that server says of itself is compared by the script, so no instance has to know which
//! server it is connected to.
//!
//! Claims, and what only hands out or puts back claims, take the id that this process read last, at most [`POLL`] and a
//! call's time ago. What settles (`done`, `release`, `reserve`, `put`, deadlines) reads it anew after the database has its
//! part, since a server loaded later knows that part, and one loaded earlier has this id.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use redis::{FromRedisValue, Value};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::in_hand::InHand;
use super::keys::Keys;
use super::link::{Link, Repeat, trouble};
use super::resync;
use super::script::Call;
use super::sentinels::Sentinels;
use super::wake_ups::WakeUps;
use crate::production::{EpochRows, EpochScope, ServerEpoch};
use crate::{PARTITIONS, StoreError};

/// What a server says that is not the one of the epoch, before its own id.
const OTHER_SERVER: &[u8] = b"epoch:";
/// How often the database is asked for the epochs.
const POLL: Duration = Duration::from_millis(400);
/// Between two rounds that somebody waits for.
const POLL_WANTED: Duration = Duration::from_millis(50);
/// A reading of fewer epochs is believed if it was made so long after the last one.
const SET_BACK: Duration = Duration::from_secs(2);
/// How long a call waits for a resync before it fails.
const RESYNC_WAIT: Duration = Duration::from_millis(700);

/// Which epoch a script is run in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Need {
    /// The one that was read last.
    Known,
    /// The one that was read last, and it is open.
    Open,
    /// One that is read now.
    Fresh,
    /// One that is read now, and it is open.
    FreshOpen,
}

/// What was read last.
#[derive(Clone, Debug)]
pub(super) struct Known {
    epochs: Vec<Option<Arc<ServerEpoch>>>,
    pub(super) generation: u64,
    read_at: Instant,
    /// Whether the database could not be read the last time. Then claims go on in the epochs that are known.
    is_away: bool,
}

impl Known {
    pub(super) fn of(&self, scope: EpochScope) -> Option<&Arc<ServerEpoch>> {
        self.epochs.get(usize::try_from(scope.get()).ok()?)?.as_ref()
    }

    fn is_open(&self, scope: EpochScope) -> bool {
        self.of(scope).is_some_and(|epoch| epoch.is_open)
    }

    /// Whether an epoch of this number is over.
    pub(super) fn is_over(&self, scope: EpochScope, number: u64) -> bool {
        self.of(scope).is_some_and(|epoch| epoch.number > number)
    }
}

/// The epochs of one mall. Its background work ends with it.
pub(super) struct ServerEpochs {
    pub(super) link: Link,
    pub(super) keys: Keys,
    pub(super) rows: Arc<dyn EpochRows>,
    pub(super) in_hand: Arc<InHand>,
    pub(super) sentinels: Option<Sentinels>,
    /// After so long without a sign of life an instance counts as dead.
    pub(super) silence: Duration,
    wake_ups: Arc<WakeUps>,
    instance: String,
    known: watch::Sender<Arc<Known>>,
    /// Counts the rounds in which the server was looked at.
    rounds: watch::Sender<u64>,
    wanted: Arc<Notify>,
    /// Whether a server has refused a script since the last round.
    was_refused: AtomicBool,
    /// Whether the database knows that this process takes claims.
    is_enrolled: AtomicBool,
    enrolling: tokio::sync::Mutex<()>,
}

impl std::fmt::Debug for ServerEpochs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerEpochs").field("known", &*self.known.borrow()).finish_non_exhaustive()
    }
}

impl ServerEpochs {
    /// Reads the epochs, and begins the first ones if there are none.
    pub(super) async fn start(
        link: &Link,
        keys: &Keys,
        rows: Arc<dyn EpochRows>,
        wake_ups: Arc<WakeUps>,
        silence: Duration,
    ) -> Arc<Self> {
        let none = Known { epochs: Vec::new(), generation: 0, read_at: Instant::now(), is_away: true };
        let epochs = Arc::new(Self {
            link: link.clone(),
            keys: keys.clone(),
            rows,
            in_hand: Arc::default(),
            sentinels: Sentinels::of(link.address()),
            silence,
            wake_ups,
            instance: format!("{:016x}", super::random()),
            known: watch::Sender::new(Arc::new(none)),
            rounds: watch::Sender::new(0),
            wanted: Arc::default(),
            was_refused: AtomicBool::new(false),
            is_enrolled: AtomicBool::new(false),
            enrolling: tokio::sync::Mutex::default(),
        });
        let _ = epochs.read().await;
        let _ = timeout(RESYNC_WAIT, resync::round(&epochs)).await;
        link.runtime().spawn(poll(Arc::downgrade(&epochs)));
        link.runtime().spawn(look_after_server(Arc::downgrade(&epochs)));
        epochs
    }

    /// What was read last.
    pub(super) fn known(&self) -> Arc<Known> {
        Arc::clone(&self.known.borrow())
    }

    /// Reads the epochs.
    pub(super) async fn read(&self) -> Result<Arc<Known>, StoreError> {
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
        let found = Arc::new(Known { epochs, generation, read_at, is_away: false });
        self.known.send_modify(|known| {
            // Of two readings the later one may come first. A database that was set back is believed after a while.
            let is_newer = found.generation >= known.generation && found.read_at >= known.read_at;
            if is_newer || found.read_at > known.read_at + SET_BACK {
                *known = Arc::clone(&found);
            }
        });
        Ok(found)
    }

    /// Lets the database know that this process takes claims: a new epoch is not opened before this instance has settled
    /// what it has in hand.
    pub(super) async fn enroll(&self) -> Result<(), StoreError> {
        if self.is_enrolled.load(Ordering::Acquire) {
            return Ok(());
        }
        let _one = self.enrolling.lock().await;
        if !self.is_enrolled.load(Ordering::Acquire) {
            self.rows.settled(&self.instance, 0).await?;
            // Whoever opened an epoch without knowing of this instance had begun it before this is read.
            self.read().await?;
            self.is_enrolled.store(true, Ordering::Release);
            self.wanted.notify_waiters();
        }
        Ok(())
    }

    /// This process takes no claims any more, and has none in hand.
    pub(super) async fn leave(&self) {
        if self.is_enrolled.swap(false, Ordering::AcqRel)
            && let Err(error) = self.rows.leave(&self.instance).await
        {
            tracing::debug!(%error, "this instance counts as alive for a while");
        }
    }

    /// Runs a script in the epoch in force, after a resync if the server is not its server, and returns the number of the
    /// epoch beside what the script returns.
    pub(super) async fn run<T: FromRedisValue>(
        &self,
        (op, repeat): (&'static str, Repeat),
        (scope, need): (EpochScope, Need),
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
                let source = "Redis was replaced, and is being brought up to date".into();
                return Err(StoreError::Unavailable { op, source });
            }
        }
    }

    /// Runs a script in this epoch. `None` if the server is another.
    pub(super) async fn run_in<T: FromRedisValue>(
        &self,
        op: &'static str,
        repeat: Repeat,
        epoch: &ServerEpoch,
        call: Call,
    ) -> Result<Option<T>, StoreError> {
        let value: Value = self.link.run(op, repeat, call.arg(&epoch.server)).await?;
        if matches!(&value, Value::BulkString(text) if text.starts_with(OTHER_SERVER)) {
            self.was_refused.store(true, Ordering::Release);
            return Ok(None);
        }
        T::from_redis_value(value).map(Some).map_err(|error| trouble(op, error.into()))
    }

    /// The epoch that a script is to be run in; `None` if there is none yet, or it is not open.
    async fn epoch(
        &self,
        op: &'static str,
        scope: EpochScope,
        need: Need,
    ) -> Result<Option<Arc<ServerEpoch>>, StoreError> {
        let known = match need {
            Need::Fresh | Need::FreshOpen => self.read().await?,
            Need::Known | Need::Open => self.recent(op).await?,
        };
        let is_fit = matches!(need, Need::Known | Need::Fresh) || known.is_open(scope);
        Ok(known.of(scope).filter(|_| is_fit).cloned())
    }

    /// What was read last. A process that was stopped for long reads anew first: others may have opened an epoch without it.
    async fn recent(&self, op: &'static str) -> Result<Arc<Known>, StoreError> {
        let known = self.known();
        if known.is_away || known.read_at.elapsed() < self.silence / 2 {
            return Ok(known);
        }
        let source = "the epochs of Redis are not known".into();
        timeout(RESYNC_WAIT, self.read()).await.unwrap_or(Err(StoreError::Unavailable { op, source }))
    }

    /// Waits for the next look at the server. `false` if there is no time for one.
    async fn next_round(&self, until: Instant) -> bool {
        let mut rounds = self.rounds.subscribe();
        self.was_refused.store(true, Ordering::Release);
        self.wanted.notify_waiters();
        timeout_at(until, rounds.changed()).await.is_ok()
    }

    /// Whether a server has refused a script since this was asked last.
    pub(super) fn take_refusal(&self) -> bool {
        self.was_refused.swap(false, Ordering::AcqRel)
    }

    /// The server has to be looked at once more.
    pub(super) fn refused(&self) {
        self.was_refused.store(true, Ordering::Release);
    }

    /// Ends when the next round is due, which is sooner if somebody waits for it. Does not keep the epochs alive.
    fn pause(&self) -> impl Future<Output = ()> + use<> {
        let (wanted, is_wanted) = (Arc::clone(&self.wanted), self.was_refused.load(Ordering::Acquire));
        async move {
            let began = Instant::now();
            if is_wanted || timeout(POLL, wanted.notified()).await.is_ok() {
                sleep(POLL_WANTED.saturating_sub(began.elapsed())).await;
            }
        }
    }

    /// Somebody waits for the next rounds.
    pub(super) fn hurry(&self) {
        self.wanted.notify_waiters();
    }

    /// Reports what this process has settled. `last` is what was reported last, and when.
    async fn report(&self, last: &mut (u64, Option<Instant>)) {
        if !self.is_enrolled.load(Ordering::Acquire) {
            return;
        }
        let known = self.known();
        let is_left = self.in_hand.has_older(|scope, number| known.is_over(scope, number));
        if is_left {
            // For the workers, to whom stranded claims are handed out.
            (0..PARTITIONS).for_each(|partition| self.wake_ups.fill(partition));
        }
        let generation = if is_left { last.0 } else { known.generation };
        let is_due = last.1.is_none_or(|at| at.elapsed() >= self.silence / 4);
        if (generation > last.0 || is_due) && self.rows.settled(&self.instance, generation).await.is_ok() {
            *last = (generation, Some(Instant::now()));
        }
    }
}

/// Reads the epochs again and again, and reports what is settled.
async fn poll(epochs: Weak<ServerEpochs>) {
    let mut last = (0, None);
    while let Some(epochs) = epochs.upgrade() {
        let _ = epochs.read().await;
        epochs.report(&mut last).await;
        let pause = epochs.pause();
        drop(epochs);
        pause.await;
    }
}

/// Looks after the server that this process is connected to.
async fn look_after_server(epochs: Weak<ServerEpochs>) {
    while let Some(epochs) = epochs.upgrade() {
        resync::round(&epochs).await;
        epochs.rounds.send_modify(|rounds| *rounds += 1);
        let pause = epochs.pause();
        drop(epochs);
        pause.await;
    }
}
