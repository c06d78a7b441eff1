//! The record's server, and the connections to it.

use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::future::BoxFuture;
use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, Error, Opts, Pool};
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::form::Form;
use super::job::{Job, run};
use super::trouble::Fault;
use crate::production::breaker::{Breaker, Pass};
use crate::{CircuitHealth, StoreError};

/// How long a call may take for which somebody waits, and every other one until it has a server that answers.
pub(super) const QUICK: Duration = Duration::from_millis(700);
/// A batch of orders on a busy server. Nobody waits for it; what it writes is written or not, and found out by a repeat.
const BATCH: Duration = Duration::from_secs(5);
/// A look at every row there is, for the books: some ten million.
const LOOK: Duration = Duration::from_secs(600);
/// While an answer may take long, the server is asked this often whether it is there at all.
const WATCH_EVERY: Duration = Duration::from_secs(1);
/// How often a job is tried that the server ended in favour of another, and the first pause, four times longer each time.
const TRIES: u32 = 4;
const PAUSE: Duration = Duration::from_millis(2);
/// A read that takes longer is slow: a call of the API has room for three of them.
const SLOW: Duration = Duration::from_millis(450);
/// To say good-bye on a connection that is not to be used again.
const GOOD_BYE: Duration = Duration::from_millis(100);

/// The connections to the record's server. Cheap to clone.
///
/// - Every call ends: with an answer, or with [`StoreError::Unavailable`] after [`QUICK`] if the server is dead, however it
///   died. The next call tries anew; nothing has to be mended.
/// - A job that the server ends because of another (locks in a circle) is tried again here: it counts for nobody.
/// - A connection goes back into the pool only if it is known to be in order. Dropping a call's future ends the connection,
///   and what the server then makes of the call is as open as after a lost answer.
/// - Each call passes a [circuit breaker](crate::production::breaker). Only a read's time speaks about the server: a write may
///   wait for rows that others hold, and a look takes as long as there are rows.
/// - Calls may come from any runtime; the connections are driven by the one that opened the record.
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
    /// Batches and looks have half of the connections at the most: the rest is for those who wait.
    slow: Semaphore,
    trouble: Mutex<Option<Trouble>>,
}

/// Why the last call failed.
struct Trouble {
    words: String,
    /// The server answers, but does not write: that calls are read means nothing then.
    is_of_writing: bool,
}

/// To have something slow to do, and to have a connection.
type Permits<'a> = (Option<SemaphorePermit<'a>>, SemaphorePermit<'a>);

/// A connection on loan. Dropped before [`end`](Lease::end), it is closed: it may be in the middle of something.
struct Lease<'a> {
    conn: Option<Conn>,
    home: &'a Handle,
    _permits: Permits<'a>,
}

impl Database {
    /// Does not connect yet. The current runtime drives the connections, and has to outlive them. `address` is for operators.
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
                breaker: Breaker::new("MySQL", address, SLOW, Handle::current(), Box::new(probe)),
                connections: Semaphore::new(connections),
                slow: Semaphore::new(connections.div_ceil(2)),
                trouble: Mutex::default(),
            }
        });
        Self { inner }
    }

    /// Reads, for somebody who waits. Asked twice if the connection turns out to be lost.
    pub(super) async fn read<'a, T>(&self, op: &'static str, job: impl Job<'a, T>) -> Result<T, StoreError> {
        self.run(op, Form::Read, QUICK, job).await
    }

    /// Writes with one statement, which is its own transaction.
    pub(super) async fn write_at_once<'a, T>(
        &self,
        op: &'static str,
        job: impl Job<'a, T>,
    ) -> Result<T, StoreError> {
        self.run(op, Form::Statement, QUICK, job).await
    }

    /// Writes in one transaction, for somebody who waits.
    pub(super) async fn write<'a, T>(&self, op: &'static str, job: impl Job<'a, T>) -> Result<T, StoreError> {
        self.run(op, Form::Transaction, QUICK, job).await
    }

    /// Writes much in one transaction, for nobody who waits. Leaves the fault to the caller.
    pub(super) async fn try_bulk<'a, T>(&self, job: impl Job<'a, T>) -> Result<T, Fault> {
        self.tries(Form::Transaction, BATCH, job).await
    }

    /// Reads much of one state of the record.
    pub(super) async fn look<'a, T>(&self, op: &'static str, job: impl Job<'a, T>) -> Result<T, StoreError> {
        self.run(op, Form::Snapshot, LOOK, job).await
    }

    /// Runs a task where the connections are driven, for work that outlives its caller.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.inner.home.spawn(task);
    }

    /// Has the pool make its first connection.
    pub(super) async fn first_call(&self) -> Result<(), Fault> {
        self.tries(Form::Read, QUICK, |conn: &mut Conn| run(async move { Ok(conn.ping().await?) })).await
    }

    /// What does not work at present: asks the server, and knows what became of the last writes.
    pub(crate) async fn trouble(&self) -> Option<String> {
        let asked = self.read("ping", |conn| run(async move { Ok(conn.ping().await?) })).await;
        let stored = || self.inner.trouble.lock().as_ref().map(|trouble| trouble.words.clone());
        asked.err().map(|error| error.to_string()).or_else(stored)
    }

    /// The circuit breaker.
    pub(super) fn circuit(&self) -> CircuitHealth {
        self.inner.breaker.health()
    }

    /// Lets go of the connections. Calls after it fail.
    pub(crate) async fn close(&self) -> Result<(), StoreError> {
        self.inner.connections.close();
        let (pool, limit) = (self.inner.pool.clone(), QUICK);
        let closed = self.inner.home.spawn(async move { timeout(limit, pool.disconnect()).await });
        // What is still in use is closed by its user. Everything that was answered is in the record.
        match closed.await {
            Ok(Ok(Err(error))) => Err(Fault::from(error).explain("close")),
            _ => Ok(()),
        }
    }

    async fn run<'a, T>(
        &self,
        op: &'static str,
        form: Form,
        limit: Duration,
        job: impl Job<'a, T>,
    ) -> Result<T, StoreError> {
        self.tries(form, limit, job).await.map_err(|fault| fault.explain(op))
    }

    async fn tries<'a, T>(&self, form: Form, limit: Duration, job: impl Job<'a, T>) -> Result<T, Fault> {
        let begun = Instant::now();
        let (mut tries, mut pause) = (1, PAUSE);
        loop {
            let fault = match self.attempt(begun, form, limit, &job).await {
                Ok(value) => {
                    self.went_well(form);
                    return Ok(value);
                }
                Err(fault) => fault,
            };
            let is_worth_it = fault.is_collision() || !form.writes() && fault.is_lost_connection();
            if !is_worth_it || tries == TRIES || begun.elapsed() + pause >= limit {
                self.went_wrong(form, &fault);
                return Err(fault);
            }
            sleep(pause).await;
            (tries, pause) = (tries + 1, pause * 4);
        }
    }

    async fn attempt<'a, T>(
        &self,
        begun: Instant,
        form: Form,
        limit: Duration,
        job: &impl Job<'a, T>,
    ) -> Result<T, Fault> {
        let is_slow = limit > QUICK;
        let soon = if is_slow { Instant::now() } else { begun } + QUICK;
        // A server that hangs is not the only one that keeps others waiting here.
        let permits = timeout_at(soon, self.permits(is_slow)).await.map_err(|_| Fault::Silence(QUICK))??;
        let pass = self.inner.breaker.admit().map_err(Fault::NotCalled)?;
        let lease = timeout_at(soon, self.connect(permits)).await;
        let mut lease = match lease.unwrap_or(Err(Fault::Unreachable(QUICK))) {
            Ok(lease) => lease,
            Err(fault) => return Err(lost(pass, fault)),
        };
        if is_slow && let Err(fault) = lease.ping(soon).await {
            // A dead server is found out before it is waited for.
            return Err(lost(pass, fault));
        }
        let pass = if is_slow || form.writes() { pass.lenient() } else { pass };
        let done = tokio::select! {
            done = timeout_at(begun + limit, form.run(lease.conn()?, job)) => done.unwrap_or(Err(Fault::Silence(limit))),
            fault = self.watch(), if is_slow => Err(fault),
        };
        let done = lease.end(done);
        match &done {
            Err(fault @ Fault::Silence(_)) => pass.silent(fault),
            Err(fault) if fault.is_lost_connection() => pass.lost(fault),
            Err(Fault::Closed) => pass.unused(),
            _ => pass.answered(),
        }
        done
    }

    /// A connection beside the pool, which no other call waits for. To be closed by [`part`](Self::part).
    pub(super) async fn connect_apart(&self) -> Result<Conn, Fault> {
        if self.inner.connections.is_closed() {
            return Err(Fault::Closed);
        }
        let opts = self.inner.opts.clone();
        let conn = self.inner.home.spawn(async move { timeout(QUICK, Conn::new(opts)).await });
        Ok(conn.await.map_err(|_| Fault::Closed)?.map_err(|_| Fault::Silence(QUICK))??)
    }

    /// Closes a connection, whatever it is in the middle of.
    pub(super) fn part(&self, conn: Conn) {
        part(&self.inner.home, conn);
    }

    /// Ends when the server, of which an answer may take long, does not answer anything else either.
    pub(super) async fn watch(&self) -> Fault {
        loop {
            sleep(WATCH_EVERY).await;
            if let Some(Err(fault)) = self.asked().await {
                return fault;
            }
        }
    }

    /// Whether the server answers at all; `None` while all connections are in use: their users will find out.
    async fn asked(&self) -> Option<Result<(), Fault>> {
        let permit = self.inner.connections.try_acquire().ok()?;
        Some(match self.connect((None, permit)).await {
            Ok(mut lease) => lease.ping(Instant::now() + QUICK).await.and_then(|()| lease.end(Ok(()))),
            Err(fault) => Err(fault),
        })
    }

    async fn permits(&self, is_slow: bool) -> Result<Permits<'_>, Fault> {
        let inner = &*self.inner;
        let slow = if is_slow { Some(inner.slow.acquire().await.map_err(|_| Fault::Closed)?) } else { None };
        let any = inner.connections.acquire().await.map_err(|_| Fault::Closed)?;
        Ok((slow, any))
    }

    async fn connect<'a>(&'a self, permits: Permits<'a>) -> Result<Lease<'a>, Fault> {
        let pool = self.inner.pool.clone();
        // Made there, a connection lives as long as that runtime, and not as its first user's.
        let conn = self.inner.home.spawn(async move { timeout(QUICK, pool.get_conn()).await });
        let conn = conn.await.map_err(|_| Fault::Closed)?.map_err(|_| Fault::Unreachable(QUICK))??;
        Ok(Lease { conn: Some(conn), home: &self.inner.home, _permits: permits })
    }

    fn went_well(&self, form: Form) {
        let mut trouble = self.inner.trouble.lock();
        if trouble.as_ref().is_some_and(|trouble| form.writes() || !trouble.is_of_writing) {
            *trouble = None;
        }
    }

    fn went_wrong(&self, form: Form, fault: &Fault) {
        if fault.is_trouble() {
            let is_of_writing = form.writes() && !fault.spoils_connection();
            *self.inner.trouble.lock() = Some(Trouble { words: fault.to_string(), is_of_writing });
        }
    }
}

/// Tells the circuit breaker of a connection that could not be had.
fn lost(pass: Pass<'_>, fault: Fault) -> Fault {
    match &fault {
        Fault::Closed => pass.unused(),
        // The server says why, such as that it has too many connections.
        Fault::Driver(Error::Server(_)) => pass.answered(),
        fault => pass.lost(fault),
    }
    fault
}

impl Lease<'_> {
    fn conn(&mut self) -> Result<&mut Conn, Fault> {
        self.conn.as_mut().ok_or(Fault::Closed)
    }

    async fn ping(&mut self, until: Instant) -> Result<(), Fault> {
        let answered = timeout_at(until, self.conn()?.ping()).await;
        Ok(answered.map_err(|_| Fault::Silence(QUICK))??)
    }

    /// Gives the connection back if it is in order.
    fn end<T>(mut self, done: Result<T, Fault>) -> Result<T, Fault> {
        if !done.as_ref().err().is_some_and(Fault::spoils_connection) {
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
    // From its first step on, the pool takes the connection for a closed one.
    home.spawn(async move { timeout(GOOD_BYE, conn.disconnect()).await });
}
