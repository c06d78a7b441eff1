//! Options of a server.

use std::time::Duration;

use super::connection::ConnectionTimeouts;

/// Default limit of connections per client address: 40 browsers with six connections each.
pub const CONNECTIONS_PER_ADDRESS: u64 = 256;

/// Options of a server.
#[derive(Clone, Copy, Debug)]
pub struct ServerOptions {
    /// Threads that serve connections.
    pub workers: usize,
    /// Maximum number of open connections. At the limit, the connection idle the longest is closed; if none
    /// is idle, further clients get a 503 and are disconnected.
    pub most_connections: u64,
    /// Maximum number of open connections per client address, except for trusted proxies; 0 = no limit.
    pub connections_per_address: u64,
    /// Exempts loopback addresses from the limit per address.
    pub exempts_loopback: bool,
    /// Time limit for requests in flight after a stop.
    pub drain: Duration,
    /// Timeouts of a connection.
    pub patience: ConnectionTimeouts,
}

impl Default for ServerOptions {
    fn default() -> Self {
        let workers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self {
            workers,
            most_connections: 20_000,
            connections_per_address: CONNECTIONS_PER_ADDRESS,
            exempts_loopback: true,
            drain: Duration::from_secs(10),
            patience: ConnectionTimeouts::default(),
        }
    }
}
