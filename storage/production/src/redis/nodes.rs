//! The circuit breakers before Redis: one before a single server, or one per master of a cluster. If one
//! master of a cluster is dead, the slots of the other masters stay available.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;
use redis::cluster_routing::Slot;
use redis::{Arg, Cmd, FromRedisValue as _, RedisResult, Value};

use crate::breaker::{Breaker, CircuitOpenError};

/// Host and port of a cluster's master.
type Address = (String, u16);

/// Creates the breaker of a master, or the breaker for commands with an unknown master.
type Make = Box<dyn Fn(Option<Address>) -> Arc<Breaker> + Send + Sync>;

/// The circuit breakers, selected by a command's key.
pub(super) struct Nodes {
    make: Make,
    /// Breaker of a single server, and of a cluster whose masters are not known yet.
    whole: Arc<Breaker>,
    cluster: RwLock<Cluster>,
    /// Number of changes of the set of masters.
    changes: AtomicU64,
}

#[derive(Default)]
struct Cluster {
    masters: HashMap<Address, Arc<Breaker>>,
    by_slot: HashMap<Slot, Arc<Breaker>>,
}

impl Nodes {
    pub(super) fn new(make: Make) -> Self {
        Self { whole: make(None), make, cluster: RwLock::default(), changes: AtomicU64::new(0) }
    }

    /// Returns the breaker of the node with the command's key.
    pub(super) fn of(&self, command: &Cmd) -> Arc<Breaker> {
        let cluster = self.cluster.read();
        if cluster.masters.is_empty() {
            return Arc::clone(&self.whole);
        }
        let found = key_of(command).and_then(|key| cluster.by_slot.get(&Slot::for_key(key)));
        Arc::clone(found.unwrap_or(&self.whole))
    }

    /// Returns the breaker of the master at this address.
    pub(super) fn at(&self, host: &str, port: u16) -> Arc<Breaker> {
        let cluster = self.cluster.read();
        Arc::clone(cluster.masters.get(&(host.to_owned(), port)).unwrap_or(&self.whole))
    }

    /// Returns all breakers in use.
    pub(super) fn all(&self) -> Vec<Arc<Breaker>> {
        let cluster = self.cluster.read();
        if cluster.masters.is_empty() {
            return vec![Arc::clone(&self.whole)];
        }
        let mut all: Vec<_> = cluster.masters.iter().collect();
        all.sort_by_key(|(address, _)| *address);
        all.into_iter().map(|(_, breaker)| Arc::clone(breaker)).collect()
    }

    /// Returns the refusal of the first open breaker; `None` if all nodes may be called.
    pub(super) fn refusal(&self) -> Option<CircuitOpenError> {
        self.all().iter().find_map(|breaker| breaker.refusal())
    }

    /// Stores the slots of each master from the reply to `CLUSTER SLOTS`. A master that remains keeps its
    /// breaker.
    pub(super) fn learn(&self, slots: Value) -> RedisResult<()> {
        let ranges = read(slots)?;
        let mut cluster = self.cluster.write();
        let mut next = Cluster::default();
        for (first, last, address) in ranges {
            let known = next.masters.get(&address).or_else(|| cluster.masters.get(&address));
            let breaker = known.map_or_else(|| (self.make)(Some(address.clone())), Arc::clone);
            let slots = (first..=last).filter_map(Slot::new);
            next.by_slot.extend(slots.map(|slot| (slot, Arc::clone(&breaker))));
            next.masters.insert(address, breaker);
        }
        if next.masters.len() != cluster.masters.len()
            || next.masters.keys().any(|address| !cluster.masters.contains_key(address))
        {
            self.changes.fetch_add(1, Ordering::SeqCst);
        }
        *cluster = next;
        Ok(())
    }

    /// Returns the number of changes of the set of masters.
    pub(super) fn changes(&self) -> u64 {
        self.changes.load(Ordering::SeqCst)
    }
}

/// Parses the slot ranges of each master.
fn read(slots: Value) -> RedisResult<Vec<(u16, u16, Address)>> {
    let ranges = Vec::<Vec<Value>>::from_redis_value(slots)?;
    let range = |range: Vec<Value>| -> Option<(u16, u16, Address)> {
        let mut range = range.into_iter();
        let first = u16::from_redis_value(range.next()?).ok()?;
        let last = u16::from_redis_value(range.next()?).ok()?;
        let mut master = Vec::<Value>::from_redis_value(range.next()?).ok()?.into_iter();
        let host = String::from_redis_value(master.next()?).ok()?;
        Some((first, last, (host, u16::from_redis_value(master.next()?).ok()?)))
    };
    Ok(ranges.into_iter().filter_map(range).collect())
}

/// Returns the first key of a command; all keys of a command are in one slot.
fn key_of(command: &Cmd) -> Option<&[u8]> {
    let mut words = command.args_iter().map_while(|word| match word {
        Arg::Simple(bytes) => Some(bytes),
        _ => None,
    });
    match words.next()? {
        // Skips the script and the number of keys.
        b"EVALSHA" | b"EVAL" => words.nth(2),
        // Commands without a key.
        b"PING" | b"PUBLISH" | b"TIME" | b"INFO" | b"CONFIG" | b"CLUSTER" | b"SCAN" => None,
        _ => words.next(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::script::{Script, UNLOCK};
    use super::*;

    #[test]
    fn the_key_of_each_kind_of_command_is_found() {
        let script: &'static Script = &UNLOCK;
        let call = script.on(["{a}:key", "{a}:other"]).arg("argument");
        let mut get = redis::cmd("HGET");
        get.arg("{b}:key").arg("field");
        let mut scan = redis::cmd("SCAN");
        scan.arg("0");
        let keys: [(Cmd, Option<&[u8]>); 5] = [
            (call.by_hash(), Some(b"{a}:key")),
            (call.in_full(), Some(b"{a}:key")),
            (get, Some(b"{b}:key")),
            (scan, None),
            (redis::cmd("PING"), None),
        ];
        for (command, key) in keys {
            assert_eq!(key_of(&command), key);
        }
    }
}
