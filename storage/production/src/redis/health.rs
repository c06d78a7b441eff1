//! Health of Redis, and the durability of acknowledged writes.

use std::collections::HashMap;

use mallbox_storage::{Durability, OpenError, StoreError, Timestamp};

use super::link::{Idempotence, Link, to_store_error};

/// Which failures an acknowledged write survives, according to Redis' own configuration.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum RedisDurability {
    /// `appendonly no`: a write survives as long as the server runs. Writes since the last snapshot are lost
    /// with the server process.
    Memory,
    /// Redis writes an append-only file, but `CONFIG` is forbidden, so `appendfsync` is unknown.
    Unknown,
    /// `appendfsync no`: a write survives a crash of the server. A power cut may lose up to some 30 s of
    /// writes.
    System,
    /// `appendfsync everysec`: a write survives a crash of the server. A power cut may lose a second or two
    /// of writes.
    EverySecond,
    /// `appendfsync always`: a write survives a power cut.
    Always,
}

impl RedisDurability {
    /// Returns the setting, as shown in the banner and in `/readyz`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Memory => "appendonly no",
            Self::Unknown => "appendonly yes, appendfsync unknown",
            Self::System => "appendfsync no",
            Self::EverySecond => "appendfsync everysec",
            Self::Always => "appendfsync always",
        }
    }
}

impl From<RedisDurability> for Durability {
    fn from(durability: RedisDurability) -> Self {
        match durability {
            RedisDurability::Memory => Self::Memory,
            // Redis has passed the write to the system before the reply is sent.
            RedisDurability::Unknown | RedisDurability::System | RedisDurability::EverySecond => {
                Self::Process
            }
            RedisDurability::Always => Self::Power,
        }
    }
}

/// Health of Redis. Replicas add nothing to the durability, because Redis replicates after the reply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RedisHealth {
    /// Durability of the weakest master; `None` while Redis is unreachable.
    pub durability: Option<RedisDurability>,
    /// Redis' clock, to compare with the mall's clock.
    pub clock: Option<Timestamp>,
    /// Current problems, worded for the operator; empty if there are none.
    pub troubles: Vec<String>,
}

/// A problem that a Redis server reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RedisTrouble {
    /// The append-only file cannot be written.
    AppendFile,
    /// The last snapshot failed, and the server may refuse writes.
    Snapshot,
    /// The server still loads its data set.
    Loading,
}

impl RedisTrouble {
    /// All kinds.
    pub(super) const ALL: [Self; 3] = [Self::AppendFile, Self::Snapshot, Self::Loading];

    /// Returns whether the server reports this problem.
    pub(super) fn is_in(self, info: &Info) -> bool {
        match self {
            Self::AppendFile => info.is("aof_last_write_status", "err"),
            Self::Snapshot => info.is("rdb_last_bgsave_status", "err"),
            Self::Loading => info.is("loading", "1"),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::AppendFile => "cannot write its append-only file",
            Self::Snapshot => "could not write its last snapshot, and may refuse writes",
            Self::Loading => "is still loading",
        }
    }
}

/// The values of an `INFO` reply by name.
pub(super) struct Info(HashMap<String, String>);

impl Info {
    /// Parses the reply of one server.
    pub(super) fn read(text: &str) -> Self {
        let values = text.lines().filter_map(|line| line.split_once(':'));
        Self(values.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect())
    }

    /// Returns whether a value is present and equal.
    pub(super) fn is(&self, name: &str, value: &str) -> bool {
        self.text(name) == Some(value)
    }

    /// Returns a value; `None` if absent.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Returns a number; 0 if absent.
    pub(super) fn number(&self, name: &str) -> u64 {
        self.text(name).and_then(|text| text.parse().ok()).unwrap_or(0)
    }
}

/// Rejects a Redis that may evict keys.
pub(super) async fn check_policy(link: &Link) -> Result<(), OpenError> {
    let server = || format!("Redis at {}", link.address());
    let infos = link.info("memory").await;
    let infos = infos.map_err(|error| OpenError::Unreachable { server: server(), source: error.into() })?;
    for text in infos {
        let info = Info::read(&text);
        match info.text("maxmemory_policy") {
            Some("noeviction") => {}
            Some(policy) => {
                let detail = format!(
                    "its maxmemory-policy {policy} may evict stock and buyers; set maxmemory-policy \
                     noeviction"
                );
                return Err(OpenError::Unfit { server: server(), detail });
            }
            None => tracing::warn!(
                server = server(),
                "could not read Redis' maxmemory-policy; it must be noeviction"
            ),
        }
    }
    Ok(())
}

/// Logs a warning if a failover may lose more writes than necessary.
pub(super) async fn advise_on_replicas(link: &Link) {
    let Ok(infos) = link.info("replication").await else { return };
    let has_sentinels = link.address().has_sentinels();
    if infos.iter().any(|text| takes_writes_alone(&Info::read(text), has_sentinels)) {
        tracing::warn!(
            server = link.address().to_string(),
            "a Redis master accepts claims without a replica, and a failover loses them: set \
             min-replicas-to-write 1 and min-replicas-max-lag 1 on each server"
        );
    }
}

/// Returns whether a master with replicas, present or expected, acknowledges writes without any replica.
/// Redis reports the number of good replicas only if `min-replicas-to-write` is set.
pub(super) fn takes_writes_alone(info: &Info, has_sentinels: bool) -> bool {
    let has_replicas = has_sentinels || !info.is("connected_slaves", "0");
    info.is("role", "master") && has_replicas && info.text("min_slaves_good_slaves").is_none()
}

/// Queries the current health.
pub(super) async fn health(link: &Link) -> RedisHealth {
    let (infos, time) = futures_util::future::join(link.info("persistence"), clock(link)).await;
    let infos: Vec<Info> = match infos {
        Ok(infos) => infos.iter().map(|text| Info::read(text)).collect(),
        Err(error) => {
            let troubles = vec![format!("Redis at {}: {error}", link.address())];
            return RedisHealth { durability: None, clock: None, troubles };
        }
    };
    let reported =
        infos.iter().flat_map(|info| RedisTrouble::ALL.into_iter().filter(|kind| kind.is_in(info)));
    let troubles = reported.map(|kind| format!("Redis at {} {}", link.address(), kind.words())).collect();
    let (clock, durability) = (time.ok(), durability(link, &infos).await);
    RedisHealth { durability: Some(durability), clock, troubles }
}

/// Returns the durability of the weakest master.
pub(super) async fn durability(link: &Link, infos: &[Info]) -> RedisDurability {
    if infos.iter().any(|info| !info.is("aof_enabled", "1")) {
        return RedisDurability::Memory;
    }
    let mut command = redis::cmd("CONFIG");
    command.arg("GET").arg("appendfsync");
    let replies: Result<Vec<HashMap<String, String>>, _> =
        link.of_each_master("redis.config", &command).await;
    // `CONFIG` is forbidden or renamed.
    let Ok(replies) = replies else { return RedisDurability::Unknown };
    let each = replies.iter().map(|config| match config.get("appendfsync").map(String::as_str) {
        Some("always") => RedisDurability::Always,
        Some("everysec") => RedisDurability::EverySecond,
        Some("no") => RedisDurability::System,
        _ => RedisDurability::Unknown,
    });
    each.min().unwrap_or(RedisDurability::Unknown)
}

/// Returns the time by the clock of Redis.
pub(super) async fn clock(link: &Link) -> Result<Timestamp, StoreError> {
    const OP: &str = "redis.time";
    let (seconds, micros): (i64, i64) = link.query(OP, Idempotence::Safe, &redis::cmd("TIME")).await?;
    let ms = seconds.checked_mul(1000).and_then(|ms| ms.checked_add(micros / 1000));
    let bad = || to_store_error(OP, (redis::ErrorKind::UnexpectedReturnType, "not a time").into());
    ms.map(Timestamp::from_millis).ok_or_else(bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_master_with_replicas_is_to_answer_only_if_one_hears() {
        for (info, has_sentinels, expected) in [
            ("role:master\r\nconnected_slaves:0\r\n", false, false),
            ("role:master\r\nconnected_slaves:0\r\n", true, true),
            ("role:master\r\nconnected_slaves:1\r\n", false, true),
            ("role:master\r\nconnected_slaves:1\r\nmin_slaves_good_slaves:1\r\n", true, false),
            ("role:slave\r\nconnected_slaves:0\r\n", true, false),
        ] {
            assert_eq!(takes_writes_alone(&Info::read(info), has_sentinels), expected, "{info}");
        }
    }
}
