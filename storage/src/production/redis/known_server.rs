//! Whether Redis still is the server whose holdings were put right last: for shops and deadlines, which the database has
//! too. Claims are fenced more strictly, by [`epochs`](super::epochs).
//!
//! A Redis that was restarted, or a replica that has become the master, may lack the end of what was answered for: how much
//! is decided by its configuration. It then knows less than the record, and would sell what is sold. Each start and each
//! promotion draws a new replication id. The id of the server that was put right last is kept beside what it holds, and the
//! scripts that must not be run by a stranger look whether it is their own server's: see `lua/known_server.lua`. It says of
//! itself who it is, so no instance has to know who is the master, on a cluster as little as behind sentinels.
//!
//! The look is taken once in 50 ms. That it was taken is noted on this server
//! alone: a replica is not told, so one that takes its master's place looks at once.

use redis::{FromRedisValue, Value};
use tokio::sync::Mutex;

use super::link::{Link, Repeat, trouble};
use super::script::{Call, PUT_RIGHT, Script};
use crate::StoreError;

/// What an answer begins with that a stranger gives, before the stranger's id.
const STRANGER: &[u8] = b"stranger:";
/// How often a server may change while what it holds is put right.
const TRIES: u32 = 3;

/// What a server that was asked says.
pub(super) enum Asked<T> {
    /// What the script says.
    Known(T),
    /// The id of a server that was not put right.
    Stranger(String),
}

/// A server, as far as some of the keys are concerned.
pub(super) struct KnownServer {
    /// The id of the one that was put right last, and that it was compared a moment ago.
    keys: [String; 2],
    /// Held by the one who puts right.
    putting_right: Mutex<()>,
}

impl KnownServer {
    pub(super) fn new(keys: [String; 2]) -> Self {
        Self { keys, putting_right: Mutex::default() }
    }

    /// A call of a script that begins with the look.
    pub(super) fn on<'k>(&'k self, script: &'static Script, keys: impl IntoIterator<Item = &'k str>) -> Call {
        script.on(self.keys.iter().map(String::as_str).chain(keys))
    }

    /// Makes the call, after `put_right` if the server is a stranger. Returns what the script returns.
    pub(super) async fn run<T, A, P>(
        &self,
        link: &Link,
        op: &'static str,
        ask: impl Fn() -> A,
        put_right: impl Fn() -> P,
    ) -> Result<T, StoreError>
    where
        A: Future<Output = Result<Asked<T>, StoreError>>,
        P: Future<Output = Result<(), StoreError>>,
    {
        if let Asked::Known(answer) = ask().await? {
            return Ok(answer);
        }
        let _one = self.putting_right.lock().await;
        for _ in 0..TRIES {
            // Perhaps it was done while this one waited.
            let id = match ask().await? {
                Asked::Known(answer) => return Ok(answer),
                Asked::Stranger(id) => id,
            };
            put_right().await?;
            // Unless yet another server has taken its place, which has not heard of it.
            let _: u64 = link.run(op, Repeat::Safe, PUT_RIGHT.on(&self.keys).arg(id)).await?;
        }
        Err(StoreError::Unavailable { op, source: "Redis is replaced again and again".into() })
    }

    /// Makes the call, and puts nothing right.
    pub(super) async fn ask<T: FromRedisValue>(
        &self,
        link: &Link,
        (op, repeat): (&'static str, Repeat),
        call: Call,
    ) -> Result<Asked<T>, StoreError> {
        asked(op, link.run(op, repeat, call).await?)
    }
}

/// Tells a stranger's answer from what the script returns.
pub(super) fn asked<T: FromRedisValue>(op: &'static str, answer: Value) -> Result<Asked<T>, StoreError> {
    match id_of_stranger(&answer) {
        Some(id) => Ok(Asked::Stranger(id)),
        None => T::from_redis_value(answer).map(Asked::Known).map_err(|error| trouble(op, error.into())),
    }
}

fn id_of_stranger(answer: &Value) -> Option<String> {
    let Value::BulkString(text) = answer else { return None };
    text.strip_prefix(STRANGER).map(|id| String::from_utf8_lossy(id).into_owned())
}
