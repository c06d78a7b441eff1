//! The state of a master as reported by sentinels, beyond the address.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use futures_util::future::join_all;
use parking_lot::Mutex;
use redis::aio::{ConnectionLike as _, MultiplexedConnection};
use redis::{AsyncConnectionConfig, Client, FromRedisValue as _, RedisResult};

use super::address::{Address, CONNECT_TIMEOUT, Kind};

/// Time limit of a sentinel's reply.
const ANSWER_WITHIN: Duration = Duration::from_millis(300);

/// The sentinels of a master.
pub(super) struct Sentinels {
    name: String,
    clients: Vec<Client>,
    connections: Mutex<HashMap<usize, MultiplexedConnection>>,
}

/// The view shared by most of the sentinels that replied.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct MasterView {
    /// Address of the master, `host:port`.
    pub(super) master: String,
    /// Whether the master is up and no failover is under way.
    pub(super) is_settled: bool,
}

impl Sentinels {
    /// Creates clients for the sentinels of an address; `None` for other kinds of address.
    pub(super) fn of(address: &Address) -> Option<Self> {
        let Kind::Sentinel(name) = &address.kind else { return None };
        let clients = address.sentinel_clients().ok()?;
        Some(Self { name: name.clone(), clients, connections: Mutex::default() })
    }

    /// Queries all sentinels. `None` if no sentinel replies, or no master is named by most of the replies.
    pub(super) async fn word(&self) -> Option<MasterView> {
        let asked = join_all((0..self.clients.len()).map(|index| self.ask(index))).await;
        majority(&asked.into_iter().flatten().collect::<Vec<_>>())
    }

    async fn ask(&self, index: usize) -> Option<MasterView> {
        let asked = tokio::time::timeout(ANSWER_WITHIN, self.try_ask(index)).await;
        let reply = asked.unwrap_or_else(|_| Err((redis::ErrorKind::Io, "no answer").into()));
        if reply.is_err() {
            self.connections.lock().remove(&index);
        }
        read(&reply.ok()?)
    }

    async fn try_ask(&self, index: usize) -> RedisResult<HashMap<String, String>> {
        let mut command = redis::cmd("SENTINEL");
        command.arg("MASTER").arg(&self.name);
        let known = self.connections.lock().get(&index).cloned();
        let mut connection = match known {
            Some(connection) => connection,
            None => {
                let config = AsyncConnectionConfig::new().set_connection_timeout(Some(CONNECT_TIMEOUT));
                let made = self.clients[index].get_multiplexed_async_connection_with_config(&config).await?;
                self.connections.lock().insert(index, made.clone());
                made
            }
        };
        let reply = connection.req_packed_command(&command).await?.extract_error()?;
        Ok(HashMap::from_redis_value(reply)?)
    }
}

fn read(reply: &HashMap<String, String>) -> Option<MasterView> {
    let master = format!("{}:{}", reply.get("ip")?, reply.get("port")?);
    let flags: Vec<&str> = reply.get("flags")?.split(',').collect();
    let is_settled =
        !["o_down", "failover_in_progress", "disconnected"].iter().any(|flag| flags.contains(flag));
    Some(MasterView { master, is_settled })
}

fn majority(views: &[MasterView]) -> Option<MasterView> {
    let mut by_master: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for view in views {
        let (named, settled) = by_master.entry(&view.master).or_default();
        (*named, *settled) = (*named + 1, *settled + usize::from(view.is_settled));
    }
    let (master, (_, settled)) = by_master.into_iter().find(|(_, (named, _))| named * 2 > views.len())?;
    Some(MasterView { master: master.to_owned(), is_settled: settled * 2 > views.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(master: &str, is_settled: bool) -> MasterView {
        MasterView { master: master.to_owned(), is_settled }
    }

    #[test]
    fn the_master_is_the_one_that_most_sentinels_name() {
        let (a, b) = (view("a:1", true), view("b:1", true));
        let in_failover = view("a:1", false);
        for (views, expected) in [
            (vec![], None),
            (vec![a.clone()], Some(a.clone())),
            (vec![a.clone(), b.clone()], None),
            (vec![a.clone(), a.clone(), b], Some(a.clone())),
            (vec![a.clone(), in_failover.clone(), in_failover.clone()], Some(in_failover.clone())),
            (vec![a.clone(), a.clone(), in_failover], Some(a)),
        ] {
            assert_eq!(majority(&views), expected, "{views:?}");
        }
    }

    #[test]
    fn a_master_that_is_being_replaced_is_not_settled() {
        for (flags, is_settled) in [
            ("master", true),
            ("s_down,master", true),
            ("s_down,o_down,master", false),
            ("master,failover_in_progress", false),
        ] {
            let reply = [("ip", "10.0.0.1"), ("port", "6379"), ("flags", flags)];
            let reply = reply.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
            assert_eq!(read(&reply), Some(view("10.0.0.1:6379", is_settled)), "{flags}");
        }
    }
}
