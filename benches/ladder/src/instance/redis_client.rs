//! Redis as a rung sees it: each call is an event, and the client follows a failover.

use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{Arg, AsyncConnectionConfig, Cmd, FromRedisValue, Value};
use tokio::sync::Mutex;

use super::request::Request;
use crate::error::LadderError;
use crate::trace::Server;

/// Time limit of a call, above the blocking time of worker reads.
const CALL_TIMEOUT: Duration = Duration::from_secs(5);
/// Characters of a script shown in an event.
const SCRIPT_NAME_MAX: usize = 40;

/// A Redis server and its replica.
#[derive(Debug)]
pub(crate) struct Redis {
    addresses: Vec<String>,
    connection: Mutex<Option<MultiplexedConnection>>,
}

impl Redis {
    pub(super) fn new(addresses: Vec<String>) -> Self {
        Self { addresses, connection: Mutex::new(None) }
    }

    /// Returns a client with a connection of its own, for blocking reads.
    pub(crate) fn apart(&self) -> Self {
        Self::new(self.addresses.clone())
    }

    /// Calls Redis; once more, on the new master, if the connection is lost.
    pub(crate) async fn call<T: FromRedisValue>(
        &self,
        request: &Request,
        command: &Cmd,
    ) -> Result<T, LadderError> {
        let began = request.calling();
        let value = match self.attempt(command).await {
            Err(error) if error.is_io_error() || error.is_connection_dropped() => {
                *self.connection.lock().await = None;
                self.attempt(command).await
            }
            done => done,
        };
        request.called(began, Server::Redis, || (words(command), outcome(&value)));
        Ok(redis::from_redis_value(value?)?)
    }

    /// Returns a subscription to `channel`.
    pub(crate) async fn subscribe(&self, channel: &str) -> Result<redis::aio::PubSub, LadderError> {
        let mut subscription = self.master().await?.get_async_pubsub().await?;
        subscription.subscribe(channel).await?;
        Ok(subscription)
    }

    async fn attempt(&self, command: &Cmd) -> Result<Value, redis::RedisError> {
        let mut connection = {
            let mut kept = self.connection.lock().await;
            match &*kept {
                Some(connection) => connection.clone(),
                None => kept.insert(connect(&self.master().await?).await?).clone(),
            }
        };
        command.query_async(&mut connection).await
    }

    /// Returns the first server that is up and a master.
    async fn master(&self) -> Result<redis::Client, redis::RedisError> {
        let mut last = None;
        for address in &self.addresses {
            let client = redis::Client::open(address.as_str())?;
            match role(&client).await {
                Ok(role) if role == "master" => return Ok(client),
                Ok(_) => {}
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(|| redis::RedisError::from((redis::ErrorKind::Io, "no Redis is a master"))))
    }
}

async fn connect(client: &redis::Client) -> Result<MultiplexedConnection, redis::RedisError> {
    let config = AsyncConnectionConfig::new().set_response_timeout(Some(CALL_TIMEOUT));
    client.get_multiplexed_async_connection_with_config(&config).await
}

async fn role(client: &redis::Client) -> Result<String, redis::RedisError> {
    let value: Value = redis::cmd("ROLE").query_async(&mut connect(client).await?).await?;
    let Value::Array(parts) = value else { return Ok(String::new()) };
    let role = parts.into_iter().next().unwrap_or(Value::Nil);
    Ok(redis::from_redis_value(role)?)
}

/// Returns an `EVAL` of `text`, whose first line is a comment with the name of the script.
pub(crate) fn script(text: &str, keys: &[&str]) -> Cmd {
    let mut command = redis::cmd("EVAL");
    command.arg(text).arg(keys.len()).arg(keys);
    command
}

/// Returns a command as people type it; of a script, its name.
fn words(command: &Cmd) -> String {
    let word = |arg: Arg<&[u8]>| match arg {
        Arg::Simple(bytes) => {
            let text = String::from_utf8_lossy(bytes);
            let first = text.lines().next().unwrap_or_default();
            let name = first.trim_start_matches("-- ");
            if text.contains('\n') { name.chars().take(SCRIPT_NAME_MAX).collect() } else { text.into_owned() }
        }
        _ => String::new(),
    };
    command.args_iter().map(word).collect::<Vec<_>>().join(" ")
}

fn outcome(value: &Result<Value, redis::RedisError>) -> String {
    match value {
        Ok(value) => value_words(value),
        Err(error) => error.to_string(),
    }
}

fn value_words(value: &Value) -> String {
    match value {
        Value::Nil => "nil".to_owned(),
        Value::Okay => "OK".to_owned(),
        Value::Int(number) => number.to_string(),
        Value::BulkString(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::SimpleString(text) => text.clone(),
        Value::Array(values) => values.iter().map(value_words).collect::<Vec<_>>().join(" "),
        other => format!("{other:?}"),
    }
}
