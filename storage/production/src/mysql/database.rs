//! The MySQL server and the connections to it.

use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::future::BoxFuture;
use mallbox_storage::{CircuitHealth, SPAN_TARGET, StoreError};
use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, Error, Opts, Pool};
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tracing::Instrument as _;

use super::errors::MysqlError;
use super::event_rows::{EventSwitch, KnownSubscribers};
use super::job::{Job, boxed};
use super::transaction_mode::TransactionMode;
use crate::breaker::{Breaker, Pass};

/// Time limit of a call with a waiting caller, and of every call until a connection is ready.
pub(super) const CALL_TIMEOUT: Duration = Duration::from_millis(700);
/// Time limit of a batch of orders on a busy server. No user waits for a batch. After a
/// timeout, the outcome is in doubt, and a repeat of the batch settles it.
const BATCH_TIMEOUT: Duration = Duration::from_secs(5);
/// Time limit of a check that reads every row, such as the ledger check: some ten million rows.
const SNAPSHOT_TIMEOUT: Duration = Duration::from_secs(600);
/// Interval of pings to the server while a long call runs.
const PING_INTERVAL: Duration = Duration::from_secs(1);
/// Attempts per job when the server rolls back a job in favour of another. The first pause is
/// [`RETRY_PAUSE_MIN`], and each further pause is four times longer.
const ATTEMPTS_MAX: u32 = 4;
const RETRY_PAUSE_MIN: Duration = Duration::from_millis(2);
/// A read that takes longer counts as slow: an API call has time for three such reads.
const SLOW_READ: Duration = Duration::from_millis(450);
/// Time limit for closing a connection that will not be reused.
const DISCONNECT_TIMEOUT: Duration = Duration::from_millis(100);

/// The connections to the MySQL server. Cheap to clone.
///
/// - Every call ends, with a result or with [`StoreError::Unavailable`] after [`CALL_TIMEOUT`] if the server
///   is dead, however the server died. The next call tries again; nothing has to be repaired.
/// - A job that the server rolls back in favour of another (deadlock) is retried in this module. Such a
///   rollback counts as no failure.
/// - A connection returns to the pool only if known to be in order. Dropping a call's future closes the
///   connection. The outcome of the call is then in doubt, as after a lost response.
/// - Each call passes a [circuit breaker](crate::breaker). Only the duration of reads counts as
///   the server's response time: a write may wait for row locks of other transactions, and the duration of a
///   full check depends on the number of rows.
/// - Calls may come from any runtime; the runtime that opened the database drives the connections.
#[derive(Clone)]
pub(crate) struct Database {
    inner: Arc<Inner>,
}

struct Inner {
    opts: Opts,
    pool: Pool,
    home: Handle,
    breaker: Arc<Breaker>,
    connections: Semaphore,
    /// Batches and checks get at most half of the connections: the rest serves calls with a waiting caller.
    slow: Semaphore,
    trouble: Mutex<Option<LastFailure>>,
    subscribers: KnownSubscribers,
}

/// Cause of the last failed call.
struct LastFailure {
    words: String,
    /// The server responds but refuses writes. A successful read does not clear such trouble.
    is_of_writing: bool,
}

/// The permits of a call: one for slow calls only, and one for a connection.
type Permits<'a> = (Option<SemaphorePermit<'a>>, SemaphorePermit<'a>);

/// A connection on loan. Dropped before [`end`](Lease::end), the connection is closed, since a statement may
/// be in progress.
struct Lease<'a> {
    conn: Option<Conn>,
    home: &'a Handle,
    _permits: Permits<'a>,
}

impl Database {
    /// Creates the pool without connecting. The current runtime drives the connections, and has to outlive
    /// them. `address` is shown to operators.
    pub(super) fn new(opts: Opts, address: String) -> Self {
        let connections = opts.pool_opts().constraints().max();
        let inner = Arc::new_cyclic(|inner: &Weak<Inner>| {
            let inner = inner.clone();
            let probe = move || -> BoxFuture<'static, bool> {
                let inner = inner.clone();
                Box::pin(async move {
                    let Some(inner) = inner.upgrade() else { return false };
                    Self { inner }.asked().await.is_some_and(|answered| answered.is_ok())
                })
            };
            Inner {
                pool: Pool::new(opts.clone()),
                opts,
                home: Handle::current(),
                breaker: Breaker::new("MySQL", address, SLOW_READ, Handle::current(), Box::new(probe)),
                connections: Semaphore::new(connections),
                slow: Semaphore::new(connections.div_ceil(2)),
                trouble: Mutex::default(),
                subscribers: KnownSubscribers::default(),
            }
        });
        Self { inner }
    }

    /// Runs a read with a waiting caller. Tries again if the connection turns out to be lost.
    pub(super) async fn read<'a, T>(&self, op: &'static str, job: impl Job<'a, T>) -> Result<T, StoreError> {
        self.run(op, TransactionMode::Read, CALL_TIMEOUT, job).await
    }

    /// Runs a write of one statement, which is its own transaction.
    pub(super) async fn write_at_once<'a, T>(
        &self,
        op: &'static str,
        job: impl Job<'a, T>,
    ) -> Result<T, StoreError> {
        self.run(op, TransactionMode::Statement, CALL_TIMEOUT, job).await
    }

    /// Runs a write in one transaction, with a waiting caller.
    pub(super) async fn write<'a, T>(&self, op: &'static str, job: impl Job<'a, T>) -> Result<T, StoreError> {
        self.run(op, TransactionMode::Transaction, CALL_TIMEOUT, job).await
    }

    /// Runs a large write in one transaction, without a waiting caller. Leaves the fault to the caller.
    pub(super) async fn try_bulk<'a, T>(&self, job: impl Job<'a, T>) -> Result<T, MysqlError> {
        self.tries(TransactionMode::Transaction, BATCH_TIMEOUT, job).await
    }

    /// Runs a long read in one consistent snapshot.
    pub(super) async fn look<'a, T>(&self, op: &'static str, job: impl Job<'a, T>) -> Result<T, StoreError> {
        self.run(op, TransactionMode::Snapshot, SNAPSHOT_TIMEOUT, job).await
    }

    /// Returns the runtime of the connections.
    pub(super) fn home(&self) -> Handle {
        self.inner.home.clone()
    }

    /// Spawns a task on the runtime of the connections, for work that outlives its caller.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.inner.home.spawn(task);
    }

    /// Returns whether transactions that begin now write events.
    pub(super) fn events(&self) -> EventSwitch {
        self.inner.subscribers.switch()
    }

    /// Returns the knowledge of subscribers of events.
    pub(super) fn subscribers(&self) -> &KnownSubscribers {
        &self.inner.subscribers
    }

    /// Has the pool open its first connection.
    pub(super) async fn first_call(&self) -> Result<(), MysqlError> {
        self.tries(TransactionMode::Read, CALL_TIMEOUT, |conn: &mut Conn| {
            boxed(async move { Ok(conn.ping().await?) })
        })
        .await
    }

    /// Returns the present trouble, if any: pings the server, and remembers the outcome of the last writes.
    pub(crate) async fn trouble(&self) -> Option<String> {
        let asked = self.read("ping", |conn| boxed(async move { Ok(conn.ping().await?) })).await;
        let stored = || self.inner.trouble.lock().as_ref().map(|trouble| trouble.words.clone());
        asked.err().map(|error| error.to_string()).or_else(stored)
    }

    /// Returns the state of the circuit breaker.
    pub(super) fn circuit(&self) -> CircuitHealth {
        self.inner.breaker.health()
    }

    /// Closes the connections. Later calls fail.
    pub(crate) async fn close(&self) -> Result<(), StoreError> {
        self.inner.connections.close();
        let (pool, limit) = (self.inner.pool.clone(), CALL_TIMEOUT);
        let closed = self.inner.home.spawn(async move { timeout(limit, pool.disconnect()).await });
        // Connections in use are closed by their users. All acknowledged writes are in the database.
        match closed.await {
            Ok(Ok(Err(error))) => Err(MysqlError::from(error).into_store_error("close")),
            _ => Ok(()),
        }
    }

    async fn run<'a, T>(
        &self,
        op: &'static str,
        form: TransactionMode,
        limit: Duration,
        job: impl Job<'a, T>,
    ) -> Result<T, StoreError> {
        let span = tracing::info_span!(
            target: SPAN_TARGET, "mysql", otel.kind = "client", otel.name = op, db.system.name = "mysql"
        );
        self.tries(form, limit, job).instrument(span).await.map_err(|fault| fault.into_store_error(op))
    }

    async fn tries<'a, T>(
        &self,
        form: TransactionMode,
        limit: Duration,
        job: impl Job<'a, T>,
    ) -> Result<T, MysqlError> {
        let begun = Instant::now();
        let (mut tries, mut pause) = (1, RETRY_PAUSE_MIN);
        loop {
            let fault = match self.attempt(begun, form, limit, &job).await {
                Ok(value) => {
                    self.record_success(form);
                    return Ok(value);
                }
                Err(fault) => fault,
            };
            let is_worth_it = fault.is_rolled_back() || !form.writes() && fault.is_lost_connection();
            if !is_worth_it || tries == ATTEMPTS_MAX || begun.elapsed() + pause >= limit {
                self.record_failure(form, &fault);
                return Err(fault);
            }
            sleep(pause).await;
            (tries, pause) = (tries + 1, pause * 4);
        }
    }

    async fn attempt<'a, T>(
        &self,
        begun: Instant,
        form: TransactionMode,
        limit: Duration,
        job: &impl Job<'a, T>,
    ) -> Result<T, MysqlError> {
        let is_slow = limit > CALL_TIMEOUT;
        let soon = if is_slow { Instant::now() } else { begun } + CALL_TIMEOUT;
        // The wait for a permit has causes besides a hanging server, so the circuit breaker does not count
        // the time.
        let permits = timeout_at(soon, self.permits(is_slow))
            .await
            .map_err(|_| MysqlError::Silence(CALL_TIMEOUT))??;
        let pass = self.inner.breaker.admit().map_err(MysqlError::NotCalled)?;
        let lease = timeout_at(soon, self.connect(permits)).await;
        let mut lease = match lease.unwrap_or(Err(MysqlError::Unreachable(CALL_TIMEOUT))) {
            Ok(lease) => lease,
            Err(fault) => return Err(report_failed_connection(pass, fault)),
        };
        if is_slow && let Err(fault) = lease.ping(soon).await {
            // Detects a dead server before the long wait.
            return Err(report_failed_connection(pass, fault));
        }
        let pass = if is_slow || form.writes() { pass.lenient() } else { pass };
        let done = tokio::select! {
            done = timeout_at(begun + limit, form.run(lease.conn()?, job)) => done.unwrap_or(Err(MysqlError::Silence(limit))),
            fault = self.watch(), if is_slow => Err(fault),
        };
        let done = lease.end(done);
        match &done {
            Err(fault @ MysqlError::Silence(_)) => pass.silent(fault),
            Err(fault) if fault.is_lost_connection() => pass.lost(fault),
            Err(MysqlError::Closed) => pass.unused(),
            _ => pass.answered(),
        }
        done
    }

    /// Opens a connection outside the pool, for the caller alone. To be closed by [`part`](Self::part).
    pub(super) async fn connect_dedicated(&self) -> Result<Conn, MysqlError> {
        if self.inner.connections.is_closed() {
            return Err(MysqlError::Closed);
        }
        let opts = self.inner.opts.clone();
        let conn = self.inner.home.spawn(async move { timeout(CALL_TIMEOUT, Conn::new(opts)).await });
        Ok(conn.await.map_err(|_| MysqlError::Closed)?.map_err(|_| MysqlError::Silence(CALL_TIMEOUT))??)
    }

    /// Closes a connection, even in the middle of a statement.
    pub(super) fn part(&self, conn: Conn) {
        part(&self.inner.home, conn);
    }

    /// Pings the server during a long call. Returns only when the server does not respond to a ping either.
    pub(super) async fn watch(&self) -> MysqlError {
        loop {
            sleep(PING_INTERVAL).await;
            if let Some(Err(fault)) = self.asked().await {
                return fault;
            }
        }
    }

    /// Pings the server. Returns `None` while all connections are in use: the calls in progress will detect a
    /// dead server.
    async fn asked(&self) -> Option<Result<(), MysqlError>> {
        let permit = self.inner.connections.try_acquire().ok()?;
        Some(match self.connect((None, permit)).await {
            Ok(mut lease) => lease.ping(Instant::now() + CALL_TIMEOUT).await.and_then(|()| lease.end(Ok(()))),
            Err(fault) => Err(fault),
        })
    }

    async fn permits(&self, is_slow: bool) -> Result<Permits<'_>, MysqlError> {
        let inner = &*self.inner;
        let slow =
            if is_slow { Some(inner.slow.acquire().await.map_err(|_| MysqlError::Closed)?) } else { None };
        let any = inner.connections.acquire().await.map_err(|_| MysqlError::Closed)?;
        Ok((slow, any))
    }

    async fn connect<'a>(&'a self, permits: Permits<'a>) -> Result<Lease<'a>, MysqlError> {
        let pool = self.inner.pool.clone();
        // A connection opened on this runtime lives as long as the runtime, not as long as the first user's.
        let conn = self.inner.home.spawn(async move { timeout(CALL_TIMEOUT, pool.get_conn()).await });
        let conn = conn
            .await
            .map_err(|_| MysqlError::Closed)?
            .map_err(|_| MysqlError::Unreachable(CALL_TIMEOUT))??;
        Ok(Lease { conn: Some(conn), home: &self.inner.home, _permits: permits })
    }

    fn record_success(&self, form: TransactionMode) {
        let mut trouble = self.inner.trouble.lock();
        if trouble.as_ref().is_some_and(|trouble| form.writes() || !trouble.is_of_writing) {
            *trouble = None;
        }
    }

    fn record_failure(&self, form: TransactionMode, fault: &MysqlError) {
        if fault.is_server_failure() {
            let is_of_writing = form.writes() && !fault.leaves_connection_unusable();
            *self.inner.trouble.lock() = Some(LastFailure { words: fault.to_string(), is_of_writing });
        }
    }
}

/// Reports a failed connection attempt to the circuit breaker.
fn report_failed_connection(pass: Pass<'_>, fault: MysqlError) -> MysqlError {
    match &fault {
        MysqlError::Closed => pass.unused(),
        // The server responded with an error, such as too many connections.
        MysqlError::Driver(Error::Server(_)) => pass.answered(),
        fault => pass.lost(fault),
    }
    fault
}

impl Lease<'_> {
    fn conn(&mut self) -> Result<&mut Conn, MysqlError> {
        self.conn.as_mut().ok_or(MysqlError::Closed)
    }

    async fn ping(&mut self, until: Instant) -> Result<(), MysqlError> {
        let answered = timeout_at(until, self.conn()?.ping()).await;
        Ok(answered.map_err(|_| MysqlError::Silence(CALL_TIMEOUT))??)
    }

    /// Returns the connection to the pool if in order.
    fn end<T>(mut self, done: Result<T, MysqlError>) -> Result<T, MysqlError> {
        if !done.as_ref().err().is_some_and(MysqlError::leaves_connection_unusable) {
            self.conn = None;
        }
        done
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        if let Some(conn) = self.conn.take() {
            part(self.home, conn);
        }
    }
}

fn part(home: &Handle, conn: Conn) {
    // At the first poll of `disconnect`, the pool counts the connection as closed.
    home.spawn(async move { timeout(DISCONNECT_TIMEOUT, conn.disconnect()).await });
}
