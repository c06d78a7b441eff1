//! The connection to Redis: shared by all calls, made anew when it breaks, and quick to say that it is broken.
//!
//! Each call passes a [circuit breaker](crate::production::breaker) first. No call here blocks in Redis: what waits for
//! messages has a connection of its own and passes none.

use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};
use parking_lot::Mutex;
use redis::aio::ConnectionLike as _;
use redis::cluster_async::ClusterConnection;
use redis::cluster_routing::{MultipleNodeRoutingInfo, RoutingInfo, SingleNodeRoutingInfo};
use redis::{Cmd, ErrorKind, FromRedisValue, RedisError, RedisResult, ServerErrorKind, Value};
use tokio::runtime::Handle;
use tokio::time::Instant;

use super::address::{Address, Connection, Kind};
use super::nodes::Nodes;
use super::script::Call;
use crate::production::breaker::{Breaker, Pass, Refused};
use crate::{CircuitHealth, OpenError, StoreError};

/// How long a call may take in all, with whatever it tries again.
const PATIENCE: Duration = Duration::from_millis(700);
/// After an attempt to connect that failed, nobody tries for so long, and calls fail at once.
const REST: Duration = Duration::from_millis(100);
/// A call that takes longer is slow: a call of the API has room for three of them.
const SLOW: Duration = Duration::from_millis(450);

/// Whether a call may be made again when its answer was lost with the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Repeat {
    /// A repeat changes nothing.
    Safe,
    /// A repeat would count twice.
    Never,
}

/// One of the masters, or the one server.
pub(super) struct Master(Option<SingleNodeRoutingInfo>);

/// A connection to Redis, whichever kind it is. Cheap to clone; clones share it.
#[derive(Clone, Debug)]
pub(super) struct Link {
    inner: Arc<Inner>,
}

struct Inner {
    address: Address,
    nodes: Nodes,
    /// Where connections live: a call may come from a thread whose runtime ends sooner.
    runtime: Handle,
    state: Mutex<State>,
    /// Held by the one who connects.
    connecting: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    connection: Option<Connection>,
    /// Where the last connection leads to.
    place: String,
    /// Counts connections, so that a broken one is dropped once.
    generation: u64,
    /// Why there is none, and until when nobody tries.
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
    /// Connects. A server that says it is a node of a cluster is taken for that cluster.
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
                Breaker::new("Redis", shown, SLOW, its_runtime.clone(), Box::new(probe))
            }));
            let (state, connecting) = (Mutex::default(), tokio::sync::Mutex::default());
            Inner { address, nodes, runtime, state, connecting }
        });
        Self { inner }
    }

    /// Whether the server, or this master of a cluster, answers.
    async fn probe(&self, master: Option<(String, u16)>) -> bool {
        let ping = redis::cmd("PING");
        let Some((host, port)) = master else { return self.ask(Repeat::Never, &ping).await.is_ok() };
        let Ok((generation, Connection::Cluster(mut cluster))) = self.connection().await else {
            return false;
        };
        // Perhaps another node has its slots by now.
        self.learn_masters(&mut cluster).await;
        let node = RoutingInfo::SingleNode(SingleNodeRoutingInfo::ByAddress { host, port });
        let said = cluster.route_command(ping, node).await;
        self.heed(generation, said).is_ok()
    }

    /// Learns which master has which slots. Where nobody says so, calls pass by what was known before.
    async fn learn_masters(&self, cluster: &mut ClusterConnection) {
        let mut command = redis::cmd("CLUSTER");
        command.arg("SLOTS");
        let anywhere = RoutingInfo::SingleNode(SingleNodeRoutingInfo::Random);
        let slots = cluster.route_command(command, anywhere).await;
        if let Err(error) = slots.and_then(|slots| self.inner.nodes.learn(slots)) {
            tracing::debug!(%error, "the masters of the cluster are not known");
        }
    }

    /// Rises with each connection and each change of a cluster's masters: what answers from then on may have lost something.
    pub(super) fn servers_met(&self) -> u64 {
        self.inner.state.lock().generation + self.inner.nodes.changes()
    }

    /// The circuit breakers.
    pub(super) fn circuits(&self) -> Vec<CircuitHealth> {
        self.inner.nodes.all().iter().map(|breaker| breaker.health()).collect()
    }

    fn unreachable(&self, error: StoreError) -> OpenError {
        OpenError::Unreachable { server: format!("Redis at {}", self.inner.address), source: error.into() }
    }

    pub(super) fn address(&self) -> &Address {
        &self.inner.address
    }

    /// Where connections live.
    pub(super) fn runtime(&self) -> &Handle {
        &self.inner.runtime
    }

    /// The connection there is, by its number, and the place it leads to.
    pub(super) fn place(&self) -> Option<(u64, String)> {
        let state = self.inner.state.lock();
        state.connection.as_ref().map(|_| (state.generation, state.place.clone()))
    }

    /// Drops this connection, if it still is the one in use: it leads to a server that is not the master any more.
    pub(super) fn leave(&self, generation: u64) {
        let mut state = self.inner.state.lock();
        if state.generation == generation {
            state.connection = None;
        }
    }

    /// Calls a command. It names a key, or any node can answer it.
    pub(super) async fn query<T: FromRedisValue>(
        &self,
        op: &'static str,
        repeat: Repeat,
        command: &Cmd,
    ) -> Result<T, StoreError> {
        let value = self.send(repeat, command).await.map_err(|error| trouble(op, error))?;
        T::from_redis_value(value).map_err(|error| trouble(op, error.into()))
    }

    /// Runs a script.
    pub(super) async fn run<T: FromRedisValue>(
        &self,
        op: &'static str,
        repeat: Repeat,
        call: Call,
    ) -> Result<T, StoreError> {
        match self.send(repeat, &call.by_hash()).await {
            // Gone with a restart or a flush. EVAL leaves it with the node that runs it, where SCRIPT LOAD would have
            // to reach every node of a cluster.
            Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
                self.query(op, repeat, &call.in_full()).await
            }
            Err(error) => Err(trouble(op, error)),
            Ok(value) => T::from_redis_value(value).map_err(|error| trouble(op, error.into())),
        }
    }

    /// Runs several scripts at once: one round trip a node, since calls share the connection.
    pub(super) async fn run_all<T: FromRedisValue>(
        &self,
        op: &'static str,
        repeat: Repeat,
        calls: impl IntoIterator<Item = Call>,
    ) -> Vec<Result<T, StoreError>> {
        join_all(calls.into_iter().map(|call| self.run(op, repeat, call))).await
    }

    /// Calls several commands at once, likewise.
    pub(super) async fn query_all<T: FromRedisValue>(
        &self,
        op: &'static str,
        commands: &[Cmd],
    ) -> Result<Vec<T>, StoreError> {
        join_all(commands.iter().map(|command| self.query(op, Repeat::Safe, command)))
            .await
            .into_iter()
            .collect()
    }

    /// `INFO section` of the server, or of each master.
    pub(super) async fn info(&self, section: &str) -> Result<Vec<String>, StoreError> {
        let mut command = redis::cmd("INFO");
        command.arg(section);
        self.of_each_master("redis.info", &command).await
    }

    /// What a command says on the server, or on each master.
    pub(super) async fn of_each_master<T: FromRedisValue>(
        &self,
        op: &'static str,
        command: &Cmd,
    ) -> Result<Vec<T>, StoreError> {
        let said = self.masters_and(command).await.map_err(|error| trouble(op, error))?;
        let said = said.into_iter().map(|(_, value)| T::from_redis_value(value)).collect::<Result<_, _>>();
        said.map_err(|error| trouble(op, error.into()))
    }

    /// The masters there are, for commands that name no key and whose answer is only of use to the one that gave it.
    pub(super) async fn masters(&self, op: &'static str) -> Result<Vec<Master>, StoreError> {
        let said = self.masters_and(&redis::cmd("PING")).await.map_err(|error| trouble(op, error))?;
        Ok(said.into_iter().map(|(master, _)| master).collect())
    }

    /// Calls a command on one of the [`masters`](Self::masters).
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
        let said = match node {
            None => self.send(Repeat::Safe, command).await,
            Some((node, host, port)) => {
                let breaker = self.inner.nodes.at(host, *port);
                guarded(&breaker, self.send_to(node, command)).await
            }
        };
        let value = said.map_err(|error| trouble(op, error))?;
        T::from_redis_value(value).map_err(|error| trouble(op, error.into()))
    }

    async fn send_to(&self, node: &SingleNodeRoutingInfo, command: &Cmd) -> RedisResult<Value> {
        within(PATIENCE, async {
            let (generation, connection) = self.connection().await?;
            let Connection::Cluster(mut cluster) = connection else {
                return Err((ErrorKind::ClusterConnectionNotFound, "no cluster").into());
            };
            let said = cluster.route_command(command.clone(), RoutingInfo::SingleNode(node.clone())).await;
            self.heed(generation, said)
        })
        .await
    }

    /// Each master, and what it says to a command.
    async fn masters_and(&self, command: &Cmd) -> RedisResult<Vec<(Master, Value)>> {
        within(PATIENCE, async {
            let (generation, connection) = self.connection().await?;
            let Connection::Cluster(mut cluster) = connection else {
                return Ok(vec![(Master(None), self.send(Repeat::Safe, command).await?)]);
            };
            // All of them would wait for the one.
            self.inner.nodes.refusal().map_or(Ok(()), |refused| Err(refusal(refused)))?;
            let masters = RoutingInfo::MultiNode((MultipleNodeRoutingInfo::AllMasters, None));
            let said = cluster.route_command(command.clone(), masters).await;
            match self.heed(generation, said)? {
                Value::Map(said) => {
                    said.into_iter().map(|(address, value)| Ok((Master::at(address)?, value))).collect()
                }
                other => Ok(vec![(Master(None), other)]),
            }
        })
        .await
    }

    async fn send(&self, repeat: Repeat, command: &Cmd) -> RedisResult<Value> {
        guarded(&self.inner.nodes.of(command), self.ask(repeat, command)).await
    }

    async fn ask(&self, repeat: Repeat, command: &Cmd) -> RedisResult<Value> {
        within(PATIENCE, async {
            let mut tries_left = if repeat == Repeat::Safe { 2 } else { 1 };
            loop {
                tries_left -= 1;
                let (generation, mut connection) = self.connection().await?;
                let said = match &mut connection {
                    Connection::Server(server) => server.req_packed_command(command).await,
                    Connection::Cluster(cluster) => cluster.req_packed_command(command).await,
                };
                match self.heed(generation, said) {
                    Err(error) if tries_left > 0 && is_broken(&error) => {}
                    said => return said,
                }
            }
        })
        .await
    }

    /// Drops the connection if the answer says that it is of no use any more.
    fn heed(&self, generation: u64, said: RedisResult<Value>) -> RedisResult<Value> {
        // Some errors come as a value.
        let said = said.and_then(Value::extract_error);
        if let Err(error) = &said {
            let mut state = self.inner.state.lock();
            let is_useless = match state.connection {
                Some(Connection::Server(_)) => is_broken(error) || error.is_timeout(),
                // It looks after its nodes itself, unless it has lost all of them.
                Some(Connection::Cluster(_)) => error.kind() == ErrorKind::ClusterConnectionNotFound,
                None => false,
            };
            if is_useless && state.generation == generation {
                state.connection = None;
            }
        }
        said
    }

    /// The connection there is, or a new one. All who need a new one wait for the same attempt.
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
        let mut connected = within(PATIENCE, self.inner.address.connect()).await;
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
                state.broken = Some((error.clone(), Instant::now() + REST));
                Err(error)
            }
        }
    }
}

impl Master {
    /// By the address under which a cluster's answers are told apart.
    fn at(address: Value) -> RedisResult<Self> {
        let address = String::from_redis_value(address)?;
        let parts = address.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
        let (host, port) = parts.ok_or((ErrorKind::UnexpectedReturnType, "not the address of a node"))?;
        Ok(Self(Some(SingleNodeRoutingInfo::ByAddress { host: host.to_owned(), port })))
    }
}

async fn within<T>(span: Duration, work: impl Future<Output = RedisResult<T>>) -> RedisResult<T> {
    let late = || std::io::Error::new(std::io::ErrorKind::TimedOut, "Redis does not answer");
    tokio::time::timeout(span, work).await.unwrap_or_else(|_| Err(late().into()))
}

/// Makes a call if the circuit breaker lets it pass, and tells it how the call went.
async fn guarded(
    breaker: &Arc<Breaker>,
    call: impl Future<Output = RedisResult<Value>>,
) -> RedisResult<Value> {
    let pass = breaker.admit().map_err(refusal)?;
    let said = call.await;
    match &said {
        Err(error) if error.is_timeout() => Pass::silent(pass, error),
        Err(error) if is_lost(error) => Pass::lost(pass, error),
        _ => Pass::answered(pass),
    }
    said
}

fn refusal(refused: Refused) -> RedisError {
    (ErrorKind::Io, "the circuit breaker is open", refused.to_string()).into()
}

/// Whether no server was reached.
fn is_lost(error: &RedisError) -> bool {
    error.is_io_error() || error.kind() == ErrorKind::ClusterConnectionNotFound
}

/// Whether the connection is gone, or leads to a server that has ceased to be the master.
fn is_broken(error: &RedisError) -> bool {
    error.is_unrecoverable_error() || error.kind() == ErrorKind::Server(ServerErrorKind::ReadOnly)
}

/// What an error of the driver means to whoever called.
pub(super) fn trouble(op: &'static str, error: RedisError) -> StoreError {
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
