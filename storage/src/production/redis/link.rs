//! The connection to Redis: shared by all calls, made anew when it breaks, and quick to say that it is broken.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use parking_lot::Mutex;
use redis::aio::ConnectionLike as _;
use redis::cluster_routing::{MultipleNodeRoutingInfo, RoutingInfo, SingleNodeRoutingInfo};
use redis::{Cmd, ErrorKind, FromRedisValue, RedisError, RedisResult, ServerErrorKind, Value};
use tokio::runtime::Handle;
use tokio::time::Instant;

use super::address::{Address, Connection, Kind};
use super::script::Call;
use crate::{OpenError, StoreError};

/// How long a call may take in all, with whatever it tries again.
const PATIENCE: Duration = Duration::from_millis(700);
/// After an attempt to connect that failed, nobody tries for so long, and calls fail at once.
const REST: Duration = Duration::from_millis(100);

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

#[derive(Debug)]
struct Inner {
    address: Address,
    /// Where connections live: a call may come from a thread whose runtime ends sooner.
    runtime: Handle,
    state: Mutex<State>,
    /// Held by the one who connects.
    connecting: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    connection: Option<Connection>,
    /// Counts connections, so that a broken one is dropped once.
    generation: u64,
    /// Why there is none, and until when nobody tries.
    broken: Option<(RedisError, Instant)>,
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
        let (state, connecting) = (Mutex::default(), tokio::sync::Mutex::default());
        Self { inner: Arc::new(Inner { address, runtime: Handle::current(), state, connecting }) }
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
        let asked = async {
            match (self.connection().await?, &master.0) {
                ((generation, Connection::Cluster(mut cluster)), Some(node)) => {
                    let to = RoutingInfo::SingleNode(node.clone());
                    let said = cluster.route_command(command.clone(), to).await;
                    self.heed(generation, said)
                }
                _ => self.send(Repeat::Safe, command).await,
            }
        };
        let value = within(PATIENCE, asked).await.map_err(|error| trouble(op, error))?;
        T::from_redis_value(value).map_err(|error| trouble(op, error.into()))
    }

    /// Each master, and what it says to a command.
    async fn masters_and(&self, command: &Cmd) -> RedisResult<Vec<(Master, Value)>> {
        within(PATIENCE, async {
            let (generation, connection) = self.connection().await?;
            let Connection::Cluster(mut cluster) = connection else {
                return Ok(vec![(Master(None), self.send(Repeat::Safe, command).await?)]);
            };
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
        let connected = within(PATIENCE, self.inner.address.connect()).await;
        let mut state = self.inner.state.lock();
        match connected {
            Ok(connection) => {
                state.generation += 1;
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
