//! Health of Redis, and the durability of acknowledged writes.

use std::collections::HashMap;

use mallbox_storage::{Durability, OpenError, StoreError, Timestamp};

use super::address::Kind;
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

/// The values of an `INFO` reply by name.
struct Info(HashMap<String, String>);

impl Info {
    fn read(text: &str) -> Self {
        let values = text.lines().filter_map(|line| line.split_once(':'));
        Self(values.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect())
    }

    fn is(&self, name: &str, value: &str) -> bool {
        self.0.get(name).is_some_and(|found| found == value)
    }
}

/// Rejects a Redis that may evict keys.
pub(super) async fn check_policy(link: &Link) -> Result<(), OpenError> {
    let server = || format!("Redis at {}", link.address());
    let infos = link.info("memory").await;
    let infos = infos.map_err(|error| OpenError::Unreachable { server: server(), source: error.into() })?;
    for text in infos {
        let info = Info::read(&text);
        match info.0.get("maxmemory_policy") {
            Some(policy) if policy == "noeviction" => {}
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
    let has_sentinels = matches!(link.address().kind, Kind::Sentinel(_));
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
fn takes_writes_alone(info: &Info, has_sentinels: bool) -> bool {
    let has_replicas = has_sentinels || !info.is("connected_slaves", "0");
    info.is("role", "master") && has_replicas && !info.0.contains_key("min_slaves_good_slaves")
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
    let mut troubles = Vec::new();
    for info in &infos {
        for (name, words) in [
            ("aof_last_write_status", "cannot write its append-only file"),
            ("rdb_last_bgsave_status", "could not write its last snapshot, and may refuse writes"),
        ] {
            if info.is(name, "err") {
                troubles.push(format!("Redis at {} {words}", link.address()));
            }
        }
        if info.is("loading", "1") {
            troubles.push(format!("Redis at {} is still loading", link.address()));
        }
    }
    let (clock, durability) = (time.ok(), durability(link, &infos).await);
    RedisHealth { durability: Some(durability), clock, troubles }
}

async fn durability(link: &Link, infos: &[Info]) -> RedisDurability {
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

async fn clock(link: &Link) -> Result<Timestamp, StoreError> {
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
