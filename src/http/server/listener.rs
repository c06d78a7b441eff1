//! The listener, the worker threads, and their shutdown.
//!
//! Each worker thread runs a single-threaded runtime of its own, and keeps its connections: 10 to 30 % more
//! throughput than one multi-threaded runtime, which moves tasks between cores.
//!
//! Reasons and figures: `src/decisions/0001-thread-per-core.md`, `src/decisions/0035-greedy-connections.md`.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::backlog::listen;
use super::connection;
use super::front::Gateway;
use super::metrics::Metrics;
use super::open_connections::{OpenConnection, OpenConnections, TooMany};
use super::options::ServerOptions;
use super::security::SecurityEvent;

/// The server could not start.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// Another process uses the port.
    #[error("{0} is in use by another program; stop it, or choose another address")]
    InUse(SocketAddr),
    /// The port requires privileges.
    #[error("this user may not listen on {0}; choose a port above 1023")]
    NotAllowed(SocketAddr),
    /// Any other error of the socket.
    #[error("cannot listen on {0}: {1}")]
    Other(SocketAddr, io::Error),
    /// No thread could be started.
    #[error("cannot start a thread for the server: {0}")]
    Thread(io::Error),
}

/// A bound address without a server yet. Connections wait in the backlog.
#[derive(Debug)]
pub struct Bound {
    listener: std::net::TcpListener,
    address: SocketAddr,
}

impl Bound {
    /// Listens on `address`; port 0 takes any free port.
    ///
    /// # Errors
    /// [`ServerError`], one sentence each.
    pub fn to(address: SocketAddr) -> Result<Self, ServerError> {
        let refused = |error: io::Error| match error.kind() {
            io::ErrorKind::AddrInUse => ServerError::InUse(address),
            io::ErrorKind::PermissionDenied => ServerError::NotAllowed(address),
            _ => ServerError::Other(address, error),
        };
        Self::new(listen(address).map_err(refused)?).map_err(refused)
    }

    /// Takes over a listening socket.
    ///
    /// # Errors
    /// The socket has no address.
    pub fn new(listener: std::net::TcpListener) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        Ok(Self { address: listener.local_addr()?, listener })
    }

    /// Returns the bound address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Starts serving, until the server or the front is stopped.
    ///
    /// # Errors
    /// [`ServerError::Thread`]: a thread cannot be started.
    pub fn serve(self, front: &Gateway, options: ServerOptions) -> Result<Server, ServerError> {
        // Created before the threads, so that an early error stops the running threads.
        let mut server = Server {
            address: self.address,
            stop: front.stop().clone(),
            threads: Vec::new(),
            runtimes: Vec::new(),
        };
        let mut queues = Vec::new();
        for number in 0..options.workers.max(1) {
            let (queue, connections) = unbounded_channel();
            let worker =
                Worker { front: front.for_worker(), options, stop: server.stop.clone(), connections };
            server.run(format!("http-{number}"), worker.run())?;
            queues.push(queue);
        }
        let acceptor = Acceptor {
            listener: self.listener,
            queues,
            connections: OpenConnections::new(options, front.proxies().clone(), Arc::clone(front.metrics())),
            metrics: Arc::clone(front.metrics()),
            stop: server.stop.clone(),
        };
        server.run("http-accept".to_owned(), acceptor.run())?;
        Ok(server)
    }
}

/// A running server. Dropping the value stops the server without waiting.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    /// Cancelled to accept no further connection, and no further request on open connections.
    stop: CancellationToken,
    threads: Vec<JoinHandle<()>>,
    runtimes: Vec<Handle>,
}

/// The threads of a [`Server`], to be asked whether they go on.
#[derive(Clone, Debug)]
pub struct ServerThreads(Vec<Handle>);

impl ServerThreads {
    /// Waits until each thread has run a task. Returns false if one has ended.
    pub async fn probe(&self) -> bool {
        // All first: a thread that responds late does not delay the question to the next.
        let tasks: Vec<_> = self.0.iter().map(|runtime| runtime.spawn(async {})).collect();
        let mut all_go_on = true;
        for task in tasks {
            all_go_on &= task.await.is_ok();
        }
        all_go_on
    }
}

impl Server {
    /// Returns the threads.
    #[must_use]
    pub fn threads(&self) -> ServerThreads {
        ServerThreads(self.runtimes.clone())
    }

    /// Returns the bound address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops accepting connections, closes idle connections, and returns when all requests in flight are
    /// completed, or after [`ServerOptions::drain`].
    pub async fn drain(mut self) {
        self.stop.cancel();
        let threads = std::mem::take(&mut self.threads);
        let joined = tokio::task::spawn_blocking(move || {
            for thread in threads {
                // A worker's panic is already logged.
                let _ = thread.join();
            }
        });
        let _ = joined.await;
    }

    fn run(
        &mut self,
        name: String,
        task: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), ServerError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(ServerError::Thread)?;
        let handle = runtime.handle().clone();
        let thread = std::thread::Builder::new().name(name);
        let thread = thread.spawn(move || {
            runtime.block_on(task);
            // The remaining tasks had their time; a file being read is not waited for.
            runtime.shutdown_background();
        });
        self.threads.push(thread.map_err(ServerError::Thread)?);
        self.runtimes.push(handle);
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// A connection on its way from the acceptor to a worker.
struct Accepted {
    stream: std::net::TcpStream,
    peer: SocketAddr,
    open: OpenConnection,
}

struct Acceptor {
    listener: std::net::TcpListener,
    queues: Vec<UnboundedSender<Accepted>>,
    connections: Arc<OpenConnections>,
    metrics: Arc<Metrics>,
    stop: CancellationToken,
}

/// Pause of the acceptor when the system has no file or memory for a connection.
const REST: Duration = Duration::from_millis(100);
/// Interval between reports of left out log lines.
const REPORT_INTERVAL: Duration = Duration::from_secs(10);

impl Acceptor {
    async fn run(self) {
        let listener = match TcpListener::from_std(self.listener) {
            Ok(listener) => listener,
            Err(error) => {
                return tracing::error!(%error, "could not watch the listener: no connections are accepted");
            }
        };
        let next = AtomicU64::new(0);
        let security = self.metrics.security();
        let mut report = tokio::time::interval(REPORT_INTERVAL);
        loop {
            let accepted = tokio::select! {
                () = self.stop.cancelled() => return security.report_suppressed(),
                _ = report.tick() => {
                    security.report_suppressed();
                    continue;
                }
                accepted = listener.accept() => accepted,
            };
            let (stream, peer) = match accepted {
                Ok(accepted) => accepted,
                // One client disconnected before it was accepted; the next accept is unaffected.
                Err(error) if is_of_one_client(&error) => continue,
                Err(error) => {
                    tracing::warn!(%error, "could not accept a connection; retrying");
                    tokio::time::sleep(REST).await;
                    continue;
                }
            };
            let open = match self.connections.admit(peer.ip()) {
                Ok(open) => open,
                Err(limit) => {
                    self.metrics.connections_refused.fetch_add(1, Relaxed);
                    reject(&stream);
                    let event = match limit {
                        TooMany::InTotal => SecurityEvent::ConnectionRefusedInTotal,
                        TooMany::OfAddress => SecurityEvent::ConnectionRefused,
                    };
                    security.record_refused_connection(event, peer.ip());
                    continue;
                }
            };
            // Responses are small and written at once: Nagle's algorithm would only delay them.
            let _ = stream.set_nodelay(true);
            limit_unsent_bytes(&stream);
            let at = usize::try_from(next.fetch_add(1, Relaxed)).unwrap_or(0) % self.queues.len();
            if let Ok(stream) = stream.into_std() {
                // A worker ends only when all workers are about to end.
                let _ = self.queues[at].send(Accepted { stream, peer, open });
            }
        }
    }
}

/// Lets the system accept few bytes ahead of the network. The progress of a slow reader is then visible as it
/// happens, instead of once per buffer of megabytes; a fast reader is served as before.
fn limit_unsent_bytes(stream: &TcpStream) {
    #[cfg(target_os = "linux")]
    let _ = socket2::SockRef::from(stream).set_tcp_notsent_lowat(connection::WRITE_MAX_BYTES);
    #[cfg(not(target_os = "linux"))]
    let _ = stream;
}

fn is_of_one_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

/// Writes a 503 in one write, if the socket takes it, and closes.
fn reject(stream: &TcpStream) {
    const TOO_MANY_CONNECTIONS: &[u8] =
        b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\n\
        content-type: application/json\r\ncontent-length: 65\r\n\r\n\
        {\"success\":false,\"errorMsg\":\"too many connections\",\"code\":\"BUSY\"}";
    let _ = stream.try_write(TOO_MANY_CONNECTIONS);
}

struct Worker {
    front: Gateway,
    options: ServerOptions,
    stop: CancellationToken,
    connections: UnboundedReceiver<Accepted>,
}

impl Worker {
    async fn run(mut self) {
        let tasks = TaskTracker::new();
        // Ends when the acceptor has stopped and every accepted connection has been received.
        while let Some(Accepted { stream, peer, open }) = self.connections.recv().await {
            let stream = match TcpStream::from_std(stream) {
                Ok(stream) => stream,
                Err(error) => {
                    tracing::warn!(%error, "could not register a connection with the runtime");
                    continue;
                }
            };
            let front = self.front.for_peer(Some(peer.ip()));
            let (patience, stop) = (self.options.patience, self.stop.clone());
            tasks.spawn(async move {
                connection::serve(stream, front, patience, stop, &open.state).await;
                drop(open);
            });
        }
        tasks.close();
        if tokio::time::timeout(self.options.drain, tasks.wait()).await.is_err() {
            tracing::warn!(left = tasks.len(), "aborted requests that exceeded the drain timeout");
        }
    }
}
