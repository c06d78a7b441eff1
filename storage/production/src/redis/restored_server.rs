//! Detects whether Redis is still the server whose data was last restored from the database. For shops and
//! deadlines, which the database has too; claims are fenced more strictly, by [`epochs`](super::epochs).
//!
//! A Redis that was restarted, or a replica that was promoted, may lack the last acknowledged writes. How
//! many writes is decided by Redis' configuration. Such a server knows less than the database: deadlines and
//! shops may be missing. Redis draws a new replication id on each start and each promotion. The id of the
//! last restored server is stored beside the data. Scripts that must not run on an unknown server compare the
//! stored id with the server's own: see `lua/known_server.lua`. The server identifies itself, so no instance
//! has to know the current master, neither in a cluster nor behind sentinels.
//!
//! The comparison is made once per 50 ms. The key that records a recent comparison is not replicated, so a
//! promoted replica compares at once.

use mallbox_storage::StoreError;
use redis::{FromRedisValue, Value};
use tokio::sync::Mutex;

use super::link::{Idempotence, Link, to_store_error};
use super::script::{Call, PUT_RIGHT, Script};

/// Start of the reply of an unknown server. The server's id follows.
const UNKNOWN_SERVER_PREFIX: &[u8] = b"stranger:";
/// How often the server may change while data is being restored.
const RESTORES_MAX: u32 = 3;

/// The outcome of a call to a server that may be unknown.
pub(super) enum Reply<T> {
    /// The script's result.
    Known(T),
    /// The id of a server that was not restored yet.
    UnknownEpoch(String),
}

/// The last restored server, for a set of keys.
pub(super) struct RestoredServer {
    /// Keys of the last restored server's id, and of the marker of a recent comparison.
    keys: [String; 2],
    /// Held during a restore.
    putting_right: Mutex<()>,
}

impl RestoredServer {
    pub(super) fn new(keys: [String; 2]) -> Self {
        Self { keys, putting_right: Mutex::default() }
    }

    /// Creates a call of a script that begins with the comparison.
    pub(super) fn on<'k>(&'k self, script: &'static Script, keys: impl IntoIterator<Item = &'k str>) -> Call {
        script.on(self.keys.iter().map(String::as_str).chain(keys))
    }

    /// Makes the call, after `put_right` has restored the data if the server is unknown. Returns the script's
    /// result.
    pub(super) async fn run<T, A, P>(
        &self,
        link: &Link,
        op: &'static str,
        ask: impl Fn() -> A,
        put_right: impl Fn() -> P,
    ) -> Result<T, StoreError>
    where
        A: Future<Output = Result<Reply<T>, StoreError>>,
        P: Future<Output = Result<(), StoreError>>,
    {
        if let Reply::Known(answer) = ask().await? {
            return Ok(answer);
        }
        let _one = self.putting_right.lock().await;
        for _ in 0..RESTORES_MAX {
            // Another task may have restored the data while this task waited for the lock.
            let id = match ask().await? {
                Reply::Known(answer) => return Ok(answer),
                Reply::UnknownEpoch(id) => id,
            };
            put_right().await?;
            // No effect if yet another server has taken over, which lacks the restored data.
            let _: u64 = link.run(op, Idempotence::Safe, PUT_RIGHT.on(&self.keys).arg(id)).await?;
        }
        Err(StoreError::Unavailable { op, source: "Redis is replaced repeatedly".into() })
    }

    /// Makes the call without restoring any data.
    pub(super) async fn ask<T: FromRedisValue>(
        &self,
        link: &Link,
        (op, repeat): (&'static str, Idempotence),
        call: Call,
    ) -> Result<Reply<T>, StoreError> {
        parse_reply(op, link.run(op, repeat, call).await?)
    }
}

/// Distinguishes the reply of an unknown server from the script's result.
pub(super) fn parse_reply<T: FromRedisValue>(
    op: &'static str,
    answer: Value,
) -> Result<Reply<T>, StoreError> {
    match unknown_server_id(&answer) {
        Some(id) => Ok(Reply::UnknownEpoch(id)),
        None => {
            T::from_redis_value(answer).map(Reply::Known).map_err(|error| to_store_error(op, error.into()))
        }
    }
}

fn unknown_server_id(answer: &Value) -> Option<String> {
    let Value::BulkString(text) = answer else { return None };
    text.strip_prefix(UNKNOWN_SERVER_PREFIX).map(|id| String::from_utf8_lossy(id).into_owned())
}
