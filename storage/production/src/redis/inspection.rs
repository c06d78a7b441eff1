//! Inspection of Redis: only `INFO`, `TIME`, `CONFIG GET` and, in a cluster, `CLUSTER SLOTS`.

use mallbox_storage::{OpenError, StoreError};
use redis::{ErrorKind, RedisError};

use super::address::Address;
use super::health::{Info, RedisDurability, RedisTrouble, clock, durability, takes_writes_alone};
use super::link::Link;
use crate::inspection::{ClockReading, ConnectFailure, Now, Support, support};

/// The oldest version that a mall can use.
const OLDEST: &str = "6.2";
/// Error codes of a refused login, or of a login without the rights for `INFO`.
const LOGIN_CODES: [&str; 3] = ["NOAUTH", "WRONGPASS", "NOPERM"];

/// State of Redis; of a cluster, the state of the weakest master.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RedisInspection {
    /// Number of masters.
    pub masters: usize,
    /// Oldest version among the masters.
    pub version: String,
    /// Whether a mall can use that version.
    pub support: Support,
    /// Durability of acknowledged writes.
    pub durability: RedisDurability,
    /// A `maxmemory-policy` other than `noeviction`, if any.
    pub evicts_by: Option<String>,
    /// Memory of the master with the least free memory.
    pub memory: RedisMemory,
    /// Whether a master acknowledges writes without any of its replicas.
    pub takes_writes_alone: bool,
    /// Whether the server is a replica, which refuses writes.
    pub is_replica: bool,
    /// Problems that the servers report.
    pub troubles: Vec<RedisTrouble>,
    /// The server's clock; `None` if unreadable.
    pub clock: Option<ClockReading>,
}

/// Memory of a Redis server, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RedisMemory {
    /// Memory in use.
    pub used: u64,
    /// `maxmemory`, from which Redis refuses writes; 0 for no limit.
    pub max: u64,
    /// Memory of the machine; 0 if unknown.
    pub of_machine: u64,
}

impl RedisMemory {
    /// Returns the free bytes below the limit, or below the memory of the machine; `None` if both are
    /// unknown.
    #[must_use]
    pub fn free(self) -> Option<u64> {
        let end = [self.max, self.of_machine].into_iter().filter(|end| *end > 0).min();
        end.map(|end| end.saturating_sub(self.used))
    }

    fn of(info: &Info) -> Self {
        Self {
            used: info.number("used_memory"),
            max: info.number("maxmemory"),
            of_machine: info.number("total_system_memory"),
        }
    }
}

/// Inspects Redis without changing anything there.
///
/// # Errors
/// [`ConnectFailure`]: no reply, or a refusal.
pub(in super::super) async fn inspect(
    address: Address,
    now: &Now,
) -> Result<RedisInspection, ConnectFailure> {
    let link = Link::open(address).await.map_err(|error| match error {
        OpenError::Unreachable { source, .. } => match source.downcast_ref::<StoreError>() {
            Some(error) => failure(error),
            None => ConnectFailure::Other(source.to_string()),
        },
        other => ConnectFailure::Other(other.to_string()),
    })?;
    let infos = link.info("default").await.map_err(|error| failure(&error))?;
    let infos: Vec<Info> = infos.iter().map(|text| Info::read(text)).collect();
    let before = now();
    let theirs = clock(&link).await.ok();
    let clock = theirs.map(|theirs| ClockReading { before, theirs, after: now() });
    let versions = infos.iter().map(version);
    let worst = versions.max_by_key(|(support, _)| rank(*support));
    let (support, version) = worst.unwrap_or_else(|| (support("", OLDEST, true), String::new()));
    let policies = infos.iter().filter_map(|info| info.text("maxmemory_policy"));
    let memory = infos.iter().map(RedisMemory::of).min_by_key(|memory| memory.free().unwrap_or(u64::MAX));
    let has_sentinels = link.address().has_sentinels();
    Ok(RedisInspection {
        masters: infos.len(),
        version,
        support,
        durability: durability(&link, &infos).await,
        evicts_by: policies.into_iter().find(|policy| *policy != "noeviction").map(str::to_owned),
        memory: memory.unwrap_or_default(),
        takes_writes_alone: infos.iter().any(|info| takes_writes_alone(info, has_sentinels)),
        is_replica: infos.iter().any(|info| info.is("role", "slave")),
        troubles: RedisTrouble::ALL
            .into_iter()
            .filter(|trouble| infos.iter().any(|info| trouble.is_in(info)))
            .collect(),
        clock,
    })
}

/// Returns the version of a server. Valkey reports a version of Redis beside its own.
fn version(info: &Info) -> (Support, String) {
    let of_redis = info.text("redis_version").unwrap_or_default();
    match info.text("valkey_version") {
        None => (support(of_redis, OLDEST, true), of_redis.to_owned()),
        Some(valkey) => (support(of_redis, OLDEST, false), format!("Valkey {valkey}")),
    }
}

/// Orders versions from the best to the worst.
fn rank(support: Support) -> u8 {
    match support {
        Support::Supported => 0,
        Support::Untested => 1,
        Support::TooOld(_) => 2,
    }
}

/// Finds the error of the driver below the error of the store.
fn failure(error: &StoreError) -> ConnectFailure {
    let source = match error {
        StoreError::Unavailable { source, .. } => source.downcast_ref::<RedisError>(),
        _ => None,
    };
    source.map_or_else(|| ConnectFailure::Other(error.to_string()), failure_of_driver)
}

fn failure_of_driver(error: &RedisError) -> ConnectFailure {
    let is_login = error.kind() == ErrorKind::AuthenticationFailed
        || error.code().is_some_and(|code| LOGIN_CODES.contains(&code));
    if is_login {
        ConnectFailure::Login(error.to_string())
    } else if error.is_connection_refusal() {
        ConnectFailure::Refused
    } else if error.is_timeout() {
        ConnectFailure::Silent
    } else if error.kind() == ErrorKind::Parse {
        ConnectFailure::OtherProgram
    } else {
        ConnectFailure::Other(error.to_string())
    }
}
