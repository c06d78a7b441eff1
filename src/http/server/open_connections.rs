//! Open connections: how many there are, in total and per client address, and which one makes room for a
//! newcomer.
//!
//! At the total limit the connection idle the longest is closed: a client that only holds connections cannot
//! shut others out. A newcomer is refused if every connection has a request in progress, or if the address
//! holds too many connections already.
//!
//! Reasons and figures: `src/decisions/0035-greedy-connections.md`.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use parking_lot::Mutex;

use super::connection::ConnectionState;
use super::metrics::Metrics;
use super::options::ServerOptions;
use crate::http::request::client_address::TrustedProxies;
use crate::mall::base::client_network;

/// Connections found by one search for idle connections. During a flood, most newcomers need no search.
const CANDIDATES_MAX: usize = 64;
/// Connections that may be about to close, in addition to the total limit.
const CLOSING_MAX: usize = 64;

/// The open connections of a server.
pub(super) struct OpenConnections {
    options: ServerOptions,
    proxies: TrustedProxies,
    metrics: Arc<Metrics>,
    registry: Mutex<Registry>,
}

#[derive(Default)]
struct Registry {
    /// Id of the next connection.
    next: u64,
    open: HashMap<u64, Entry>,
    by_address: HashMap<IpAddr, u64>,
    /// Number of connections told to close, still in `open`.
    closing: usize,
    /// Idle connections with the time of their last activity, idle the longest last.
    candidates: Vec<(Instant, u64)>,
}

struct Entry {
    state: Arc<ConnectionState>,
    is_closing: bool,
}

/// Counts a connection while open.
pub(super) struct OpenConnection {
    connections: Arc<OpenConnections>,
    id: u64,
    /// The key of the limit per address; `None` for an exempt address.
    key: Option<IpAddr>,
    /// The connection's own state.
    pub(super) state: Arc<ConnectionState>,
}

/// Why a connection is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TooMany {
    /// The limit in total, without an idle connection to close.
    InTotal,
    /// The limit per address.
    OfAddress,
}

impl OpenConnections {
    pub(super) fn new(options: ServerOptions, proxies: TrustedProxies, metrics: Arc<Metrics>) -> Arc<Self> {
        Arc::new(Self { options, proxies, metrics, registry: Mutex::default() })
    }

    /// Counts a new connection. At the total limit, tells the connection idle the longest to close.
    pub(super) fn admit(self: &Arc<Self>, peer: IpAddr) -> Result<OpenConnection, TooMany> {
        let key = self.limited(peer);
        let mut registry = self.registry.lock();
        let of_address = key.and_then(|key| registry.by_address.get(&key)).copied().unwrap_or_default();
        if key.is_some() && of_address >= self.options.connections_per_address {
            return Err(TooMany::OfAddress);
        }
        let most = usize::try_from(self.options.most_connections).unwrap_or(usize::MAX);
        if registry.open.len() - registry.closing >= most && !registry.make_room() {
            return Err(TooMany::InTotal);
        }
        let id = registry.next;
        registry.next += 1;
        let state = Arc::<ConnectionState>::default();
        registry.open.insert(id, Entry { state: Arc::clone(&state), is_closing: false });
        if let Some(key) = key {
            *registry.by_address.entry(key).or_default() += 1;
        }
        self.metrics.connections.fetch_add(1, Relaxed);
        self.metrics.connections_taken.fetch_add(1, Relaxed);
        Ok(OpenConnection { connections: Arc::clone(self), id, key, state })
    }

    /// Returns the key under which connections of a peer are limited. Loopback and trusted proxies stand for
    /// many clients.
    fn limited(&self, peer: IpAddr) -> Option<IpAddr> {
        let is_local = self.options.exempts_loopback && peer.to_canonical().is_loopback();
        let is_exempt = self.options.connections_per_address == 0 || is_local || self.proxies.contains(peer);
        (!is_exempt).then(|| client_network(peer))
    }
}

impl Registry {
    /// Tells the connection idle the longest to close. Returns false if none is idle, or if many connections
    /// are still about to close.
    fn make_room(&mut self) -> bool {
        if self.closing >= CLOSING_MAX {
            return false;
        }
        if self.close_candidate() {
            return true;
        }
        let idle = self.open.iter().filter(|(_, entry)| !entry.is_closing && entry.state.is_idle());
        let mut idle: Vec<_> = idle.map(|(id, entry)| (entry.state.active_at(), *id)).collect();
        if idle.len() > CANDIDATES_MAX {
            idle.select_nth_unstable(CANDIDATES_MAX);
            idle.truncate(CANDIDATES_MAX);
        }
        idle.sort_unstable_by(|one, other| other.cmp(one));
        self.candidates = idle;
        self.close_candidate()
    }

    /// Closes the first candidate that was not active since it was found.
    fn close_candidate(&mut self) -> bool {
        while let Some((active_at, id)) = self.candidates.pop() {
            if let Some(entry) = self.open.get_mut(&id)
                && !entry.is_closing
                && entry.state.is_idle()
                && entry.state.active_at() == active_at
            {
                entry.is_closing = true;
                entry.state.close();
                self.closing += 1;
                return true;
            }
        }
        false
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.connections.metrics.connections.fetch_sub(1, Relaxed);
        let mut registry = self.connections.registry.lock();
        if registry.open.remove(&self.id).is_some_and(|entry| entry.is_closing) {
            registry.closing -= 1;
        }
        if let Some(key) = self.key
            && let Some(open) = registry.by_address.get_mut(&key)
        {
            *open -= 1;
            if *open == 0 {
                registry.by_address.remove(&key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connections(most: u64, per_address: u64) -> Arc<OpenConnections> {
        let options = ServerOptions {
            most_connections: most,
            connections_per_address: per_address,
            ..ServerOptions::default()
        };
        let proxies = TrustedProxies::new(&["10.0.0.0/8".parse().unwrap()], Default::default());
        OpenConnections::new(options, proxies, Arc::default())
    }

    fn refusal(result: Result<OpenConnection, TooMany>) -> Option<TooMany> {
        result.err()
    }

    #[test]
    fn an_address_holds_as_many_connections_as_allowed_and_no_more() {
        let all = connections(1_000, 2);
        let admit = |peer: &str| all.admit(peer.parse().unwrap());
        for (one, other, neighbour) in [
            ("203.0.113.1", "203.0.113.1", "203.0.113.2"),
            ("2001:db8:0:1::1", "2001:db8:0:1::2", "2001:db8:0:2::1"),
            ("203.0.113.3", "::ffff:203.0.113.3", "203.0.113.4"),
        ] {
            let (kept, second) = (admit(one), admit(other));
            assert!(kept.is_ok() && second.is_ok());
            assert_eq!(refusal(admit(one)), Some(TooMany::OfAddress), "{one}");
            assert_eq!(refusal(admit(neighbour)), None, "{neighbour}");
            drop(second);
            assert_eq!(refusal(admit(one)), None, "{one}");
        }
        assert!(all.registry.lock().by_address.is_empty());
    }

    #[test]
    fn loopback_and_trusted_proxies_stand_for_many_clients() {
        let all = connections(1_000, 2);
        for peer in ["127.0.0.1", "::1", "::ffff:127.0.0.1", "10.1.2.3", "::ffff:10.1.2.3"] {
            let many: Vec<_> = (0..10).map(|_| all.admit(peer.parse().unwrap())).collect();
            assert!(many.iter().all(Result::is_ok), "{peer}");
        }
        let unlimited = connections(1_000, 0);
        let many: Vec<_> = (0..10).map(|_| unlimited.admit("203.0.113.1".parse().unwrap())).collect();
        assert!(many.iter().all(Result::is_ok));
    }

    #[test]
    fn a_newcomer_takes_the_place_of_the_connection_idle_the_longest() {
        let all = connections(3, 0);
        let admit = || all.admit(IpAddr::from([203, 0, 113, 1]));
        let mut kept: Vec<_> = (0..3).map(|_| admit().ok().unwrap()).collect();
        // The second one has been active since, and the first one has a request in progress.
        std::thread::sleep(std::time::Duration::from_millis(5));
        kept[1].state.has_read();
        kept[0].state.begin();
        let newcomer = admit().ok().unwrap();
        let closed = |of: &OpenConnection| all.registry.lock().open[&of.id].is_closing;
        assert_eq!([0, 1, 2].map(|at| closed(&kept[at])), [false, false, true]);
        drop(kept.remove(2));
        newcomer.state.begin();
        kept[1].state.begin();
        assert_eq!(refusal(admit()), Some(TooMany::InTotal), "nobody is idle");
        kept[1].state.end();
        kept[1].state.has_sent();
        assert!(admit().is_ok());
        assert!(closed(&kept[1]));
    }

    #[test]
    fn a_flood_of_newcomers_waits_for_the_closing_connections() {
        let all = connections(200, 0);
        let admit = || all.admit(IpAddr::from([203, 0, 113, 1]));
        let kept: Vec<_> = (0..200 + CLOSING_MAX).map(|_| admit().ok().unwrap()).collect();
        assert_eq!(refusal(admit()), Some(TooMany::InTotal));
        assert_eq!(all.registry.lock().closing, CLOSING_MAX);
        drop(kept);
        let registry = all.registry.lock();
        assert_eq!((registry.open.len(), registry.closing), (0, 0));
    }
}
