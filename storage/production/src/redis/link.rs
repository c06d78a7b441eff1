//! The shared connection to Redis: reconnects after a failure, and fails fast while Redis is away.
//!
//! Each call first passes a [circuit breaker](crate::breaker). No call here blocks in Redis:
//! subscribers use a dedicated connection without a circuit breaker.
//!
//! Reasons and figures: `storage/decisions/0019-one-connection-and-breakers.md`.

use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};
use mallbox_storage::{CircuitHealth, OpenError, SPAN_TARGET, StoreError};
use parking_lot::Mutex;
use redis::aio::ConnectionLike as _;
use redis::cluster_async::ClusterConnection;
use redis::cluster_routing::{MultipleNodeRoutingInfo, RoutingInfo, SingleNodeRoutingInfo};
use redis::{Cmd, ErrorKind, FromRedisValue, RedisError, RedisResult, ServerErrorKind, Value};
use tokio::runtime::Handle;
use tokio::time::Instant;
use tracing::{Instrument as _, Span};

use super::address::{Address, Connection, Kind};
use super::nodes::Nodes;
use super::script::Call;
use crate::breaker::{Breaker, CircuitOpenError, Pass};

/// Time limit of a call, retries included.
const CALL_TIMEOUT: Duration = Duration::from_millis(700);
/// Pause after a failed attempt to connect. Calls fail immediately until the pause ends.
const RECONNECT_PAUSE: Duration = Duration::from_millis(100);
/// Duration from which a call counts as slow: an API request has room for three slow calls.
const SLOW_CALL_MIN: Duration = Duration::from_millis(450);

/// Whether a call may be repeated after its reply was lost with the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Idempotence {
    /// A repeated call has no further effect.
    Safe,
    /// A repeated call would count twice.
    Never,
}

/// One master of a cluster, or the only server.
pub(super) struct Master(Option<SingleNodeRoutingInfo>);

/// A connection to Redis of any kind. Cheap to clone; clones share the connection.
#[derive(Clone, Debug)]
pub(super) struct Link {
    inner: Arc<Inner>,
}

struct Inner {
    address: Address,
    nodes: Nodes,
    /// Runtime of the connections: the runtime of a caller's thread may end sooner.
    runtime: Handle,
    state: Mutex<State>,
    /// Held by the caller that connects.
    connecting: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    connection: Option<Connection>,
    /// Address of the server behind the last connection.
    place: String,
    /// Number of connections so far: identifies a broken connection, to drop it only once.
    generation: u64,
    /// Error of the last attempt to connect, and the end of the pause.
    broken: Option<(RedisError, Instant)>,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inner")
            .field("address", &self.address)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State")
            .field("generation", &self.generation)
            .field("broken", &self.broken)
            .finish_non_exhaustive()
    }
}

impl Link {
    /// Connects. If the server is a node of a cluster, opens a cluster connection instead.
    pub(super) async fn open(address: Address) -> Result<Self, OpenError> {
        let link = Self::to(address);
        let info = link.info("cluster").await.map_err(|error| link.unreachable(error))?;
        let is_node = info.iter().any(|text| text.contains("cluster_enabled:1"));
        if link.inner.address.kind != Kind::Server || !is_node {
            return Ok(link);
        }
        let link = Self::to(link.inner.address.as_cluster());
        link.info("cluster").await.map_err(|error| link.unreachable(error))?;
        Ok(link)
    }

    fn to(address: Address) -> Self {
        let inner = Arc::new_cyclic(|inner: &Weak<Inner>| {
            let (runtime, shown, its_runtime) = (Handle::current(), address.to_string(), Handle::current());
            let inner = inner.clone();
            let nodes = Nodes::new(Box::new(move |master| {
                let shown = master.as_ref().map_or(shown.clone(), |(host, port)| format!("{host}:{port}"));
                let inner = inner.clone();
                let probe = move || -> BoxFuture<'static, bool> {
                    let (inner, master) = (inner.clone(), master.clone());
                    Box::pin(async move {
                        let Some(inner) = inner.upgrade() else { return false };
                        Self { inner }.probe(master).await
                    })
                };
                Breaker::new("Redis", shown, SLOW_CALL_MIN, its_runtime.clone(), Box::new(probe))
            }));
            let (state, connecting) = (Mutex::default(), tokio::sync::Mutex::default());
            Inner { address, nodes, runtime, state, connecting }
        });
        Self { inner }
    }

    /// Probes the server, or one master of a cluster. Returns whether a reply came.
    async fn probe(&self, master: Option<(String, u16)>) -> bool {
        let ping = redis::cmd("PING");
        let Some((host, port)) = master else { return self.ask(Idempotence::Never, &ping).await.is_ok() };
        let Ok((generation, Connection::Cluster(mut cluster))) = self.connection().await else {
            return false;
        };
        // Another node may have taken over the slots.
        self.learn_masters(&mut cluster).await;
        let node = RoutingInfo::SingleNode(SingleNodeRoutingInfo::ByAddress { host, port });
        let reply = cluster.route_command(ping, node).await;
        self.heed(generation, reply).is_ok()
    }

    /// Reads which master has which slots. After a failure, calls are still routed by the previous map.
    async fn learn_masters(&self, cluster: &mut ClusterConnection) {
        let mut command = redis::cmd("CLUSTER");
        command.arg("SLOTS");
        let anywhere = RoutingInfo::SingleNode(SingleNodeRoutingInfo::Random);
        let slots = cluster.route_command(command, anywhere).await;
        if let Err(error) = slots.and_then(|slots| self.inner.nodes.learn(slots)) {
            tracing::debug!(%error, "could not read the slot map of the cluster");
        }
    }

    /// Returns a counter, incremented by each connection and each change of a cluster's masters. The server
    /// behind a new count may have lost writes.
    pub(super) fn servers_met(&self) -> u64 {
        self.inner.state.lock().generation + self.inner.nodes.changes()
    }

    /// Returns the health of all circuit breakers in use.
    pub(super) fn circuits(&self) -> Vec<CircuitHealth> {
        self.inner.nodes.all().iter().map(|breaker| breaker.health()).collect()
    }

    fn unreachable(&self, error: StoreError) -> OpenError {
        OpenError::Unreachable { server: format!("Redis at {}", self.inner.address), source: error.into() }
    }

    pub(super) fn address(&self) -> &Address {
        &self.inner.address
    }

    /// Returns the runtime of the connections.
    pub(super) fn runtime(&self) -> &Handle {
        &self.inner.runtime
    }

    /// Returns the number of the current connection and the address of its server; `None` without a
    /// connection.
    pub(super) fn place(&self) -> Option<(u64, String)> {
        let state = self.inner.state.lock();
        state.connection.as_ref().map(|_| (state.generation, state.place.clone()))
    }

    /// Drops the connection with this number, after its server lost the master role. Ignored if the
    /// connection was replaced already.
    pub(super) fn leave(&self, generation: u64) {
        let mut state = self.inner.state.lock();
        if state.generation == generation {
            state.connection = None;
        }
    }

    /// Sends a command, which must name a key or suit any node.
    pub(super) async fn query<T: FromRedisValue>(
        &self,
        op: &'static str,
        repeat: Idempotence,
        command: &Cmd,
    ) -> Result<T, StoreError> {
        let sent = self.send(repeat, command).instrument(span(op)).await;
        let value = sent.map_err(|error| to_store_error(op, error))?;
        T::from_redis_value(value).map_err(|error| to_store_error(op, error.into()))
    }

    /// Runs a script.
    pub(super) async fn run<T: FromRedisValue>(
        &self,
        op: &'static str,
        repeat: Idempotence,
        call: Call,
    ) -> Result<T, StoreError> {
        match self.send(repeat, &call.by_hash()).instrument(span(op)).await {
            // The script cache was lost in a restart or a flush. EVAL caches the script on the executing
            // node, whereas SCRIPT LOAD would have to reach every node of a cluster.
            Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
                self.query(op, repeat, &call.in_full()).await
            }
            Err(error) => Err(to_store_error(op, error)),
            Ok(value) => T::from_redis_value(value).map_err(|error| to_store_error(op, error.into())),
        }
    }

    /// Runs several scripts at once. One round trip per node, since calls share the connection.
    pub(super) async fn run_all<T: FromRedisValue>(
        &self,
        op: &'static str,
        repeat: Idempotence,
        calls: impl IntoIterator<Item = Call>,
    ) -> Vec<Result<T, StoreError>> {
        join_all(calls.into_iter().map(|call| self.run(op, repeat, call))).await
    }

    /// Sends several commands at once. One round trip per node, since calls share the connection.
    pub(super) async fn query_all<T: FromRedisValue>(
        &self,
        op: &'static str,
        commands: &[Cmd],
    ) -> Result<Vec<T>, StoreError> {
        join_all(commands.iter().map(|command| self.query(op, Idempotence::Safe, command)))
            .await
            .into_iter()
            .collect()
    }

    /// Returns `INFO section` of the server, or of each master.
    pub(super) async fn info(&self, section: &str) -> Result<Vec<String>, StoreError> {
        let mut command = redis::cmd("INFO");
        command.arg(section);
        self.of_each_master("redis.info", &command).await
    }

    /// Sends a command to the server, or to each master. Returns all replies.
    pub(super) async fn of_each_master<T: FromRedisValue>(
        &self,
        op: &'static str,
        command: &Cmd,
    ) -> Result<Vec<T>, StoreError> {
        let reply = self.masters_and(command).await.map_err(|error| to_store_error(op, error))?;
        let reply = reply.into_iter().map(|(_, value)| T::from_redis_value(value)).collect::<Result<_, _>>();
        reply.map_err(|error| to_store_error(op, error.into()))
    }

    /// Returns all masters, for commands without a key that continue on the same node, such as `SCAN`.
    pub(super) async fn masters(&self, op: &'static str) -> Result<Vec<Master>, StoreError> {
        let reply = self.masters_and(&redis::cmd("PING")).await.map_err(|error| to_store_error(op, error))?;
        Ok(reply.into_iter().map(|(master, _)| master).collect())
    }

    /// Sends a command to one of the [`masters`](Self::masters).
    pub(super) async fn query_at<T: FromRedisValue>(
        &self,
        op: &'static str,
        master: &Master,
        command: &Cmd,
    ) -> Result<T, StoreError> {
        let node = match &master.0 {
            Some(node @ SingleNodeRoutingInfo::ByAddress { host, port }) => Some((node, host, port)),
            _ => None,
        };
        let reply = match node {
            None => self.send(Idempotence::Safe, command).await,
            Some((node, host, port)) => {
                let breaker = self.inner.nodes.at(host, *port);
                guarded(&breaker, self.send_to(node, command)).await
            }
        };
        let value = reply.map_err(|error| to_store_error(op, error))?;
        T::from_redis_value(value).map_err(|error| to_store_error(op, error.into()))
    }

    async fn send_to(&self, node: &SingleNodeRoutingInfo, command: &Cmd) -> RedisResult<Value> {
        within(CALL_TIMEOUT, async {
            let (generation, connection) = self.connection().await?;
            let Connection::Cluster(mut cluster) = connection else {
                return Err((ErrorKind::ClusterConnectionNotFound, "no cluster").into());
            };
            let reply = cluster.route_command(command.clone(), RoutingInfo::SingleNode(node.clone())).await;
            self.heed(generation, reply)
        })
        .await
    }

    /// Sends a command to each master. Returns the masters with their replies.
    async fn masters_and(&self, command: &Cmd) -> RedisResult<Vec<(Master, Value)>> {
        within(CALL_TIMEOUT, async {
            let (generation, connection) = self.connection().await?;
            let Connection::Cluster(mut cluster) = connection else {
                return Ok(vec![(Master(None), self.send(Idempotence::Safe, command).await?)]);
            };
            // A multi-node call would wait for the unreachable master.
            self.inner.nodes.refusal().map_or(Ok(()), |refused| Err(refusal(refused)))?;
            let masters = RoutingInfo::MultiNode((MultipleNodeRoutingInfo::AllMasters, None));
            let reply = cluster.route_command(command.clone(), masters).await;
            match self.heed(generation, reply)? {
                Value::Map(reply) => {
                    reply.into_iter().map(|(address, value)| Ok((Master::at(address)?, value))).collect()
                }
                other => Ok(vec![(Master(None), other)]),
            }
        })
        .await
    }

    async fn send(&self, repeat: Idempotence, command: &Cmd) -> RedisResult<Value> {
        guarded(&self.inner.nodes.of(command), self.ask(repeat, command)).await
    }

    async fn ask(&self, repeat: Idempotence, command: &Cmd) -> RedisResult<Value> {
        within(CALL_TIMEOUT, async {
            let mut tries_left = if repeat == Idempotence::Safe { 2 } else { 1 };
            loop {
                tries_left -= 1;
                let (generation, mut connection) = self.connection().await?;
                let reply = match &mut connection {
                    Connection::Server(server) => server.req_packed_command(command).await,
                    Connection::Cluster(cluster) => cluster.req_packed_command(command).await,
                };
                match self.heed(generation, reply) {
                    Err(error) if tries_left > 0 && is_broken(&error) => {}
                    reply => return reply,
                }
            }
        })
        .await
    }

    /// Drops the connection if a reply shows a broken connection or a former master.
    fn heed(&self, generation: u64, reply: RedisResult<Value>) -> RedisResult<Value> {
        // Some errors arrive as a value.
        let reply = reply.and_then(Value::extract_error);
        if let Err(error) = &reply {
            let mut state = self.inner.state.lock();
            let is_useless = match state.connection {
                Some(Connection::Server(_)) => is_broken(error) || error.is_timeout(),
                // A cluster connection reconnects to nodes on its own, unless all nodes are lost.
                Some(Connection::Cluster(_)) => error.kind() == ErrorKind::ClusterConnectionNotFound,
                None => false,
            };
            if is_useless && state.generation == generation {
                state.connection = None;
            }
        }
        reply
    }

    /// Returns the current connection, or a new one. Concurrent callers wait for the same attempt to connect.
    async fn connection(&self) -> RedisResult<(u64, Connection)> {
        if let Some(found) = self.at_hand()? {
            return Ok(found);
        }
        let _one = self.inner.connecting.lock().await;
        if let Some(found) = self.at_hand()? {
            return Ok(found);
        }
        let link = self.clone();
        let connected = self.inner.runtime.spawn(async move { link.connect().await });
        connected.await.unwrap_or_else(|_| Err((ErrorKind::Io, "the runtime has ended").into()))
    }

    fn at_hand(&self) -> RedisResult<Option<(u64, Connection)>> {
        let state = self.inner.state.lock();
        match (&state.connection, &state.broken) {
            (Some(connection), _) => Ok(Some((state.generation, connection.clone()))),
            (None, Some((error, until))) if Instant::now() < *until => Err(error.clone()),
            (None, _) => Ok(None),
        }
    }

    async fn connect(&self) -> RedisResult<(u64, Connection)> {
        let mut connected = within(CALL_TIMEOUT, self.inner.address.connect()).await;
        if let Ok((Connection::Cluster(cluster), _)) = &mut connected {
            self.learn_masters(cluster).await;
        }
        let mut state = self.inner.state.lock();
        match connected {
            Ok((connection, place)) => {
                state.generation += 1;
                state.place = place;
                (state.connection, state.broken) = (Some(connection.clone()), None);
                Ok((state.generation, connection))
            }
            Err(error) => {
                state.broken = Some((error.clone(), Instant::now() + RECONNECT_PAUSE));
                Err(error)
            }
        }
    }
}

impl Master {
    /// Creates the master from an address in a cluster reply.
    fn at(address: Value) -> RedisResult<Self> {
        let address = String::from_redis_value(address)?;
        let parts = address.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
        let (host, port) = parts.ok_or((ErrorKind::UnexpectedReturnType, "not the address of a node"))?;
        Ok(Self(Some(SingleNodeRoutingInfo::ByAddress { host: host.to_owned(), port })))
    }
}

/// Returns the span of a call, for traces.
fn span(op: &'static str) -> Span {
    tracing::info_span!(
        target: SPAN_TARGET, "redis", otel.kind = "client", otel.name = op, db.system.name = "redis"
    )
}

async fn within<T>(span: Duration, work: impl Future<Output = RedisResult<T>>) -> RedisResult<T> {
    let late = || std::io::Error::new(std::io::ErrorKind::TimedOut, "Redis does not respond");
    tokio::time::timeout(span, work).await.unwrap_or_else(|_| Err(late().into()))
}

/// Makes a call if the circuit breaker admits it, and reports the outcome to the breaker.
async fn guarded(
    breaker: &Arc<Breaker>,
    call: impl Future<Output = RedisResult<Value>>,
) -> RedisResult<Value> {
    let pass = breaker.admit().map_err(refusal)?;
    let reply = call.await;
    match &reply {
        Err(error) if error.is_timeout() => Pass::silent(pass, error),
        Err(error) if is_lost(error) => Pass::lost(pass, error),
        _ => Pass::answered(pass),
    }
    reply
}

fn refusal(refused: CircuitOpenError) -> RedisError {
    (ErrorKind::Io, "the circuit breaker is open", refused.to_string()).into()
}

/// Returns whether the error means no server was reached.
fn is_lost(error: &RedisError) -> bool {
    error.is_io_error() || error.kind() == ErrorKind::ClusterConnectionNotFound
}

/// Returns whether the connection is broken, or leads to a former master.
fn is_broken(error: &RedisError) -> bool {
    error.is_unrecoverable_error() || error.kind() == ErrorKind::Server(ServerErrorKind::ReadOnly)
}

/// Maps an error of the Redis driver to a [`StoreError`].
pub(super) fn to_store_error(op: &'static str, error: RedisError) -> StoreError {
    match (error.kind(), error.code()) {
        (_, Some("OOM")) => StoreError::Full { op, detail: "Redis has reached its maxmemory".to_owned() },
        (
            ErrorKind::Server(
                ServerErrorKind::ResponseError | ServerErrorKind::ExecAbort | ServerErrorKind::CrossSlot,
            )
            | ErrorKind::UnexpectedReturnType,
            _,
        ) => StoreError::Corrupt { op, key: format!("Redis: {error}") },
        (ErrorKind::Extension, Some("WRONGTYPE")) => {
            StoreError::Corrupt { op, key: format!("Redis: {error}") }
        }
        _ => StoreError::Unavailable { op, source: error.into() },
    }
}
