//! Calls of single users, each on a connection of its own.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::Context as _;
use mallbox_bench_ladder::Reply;
use serde_json::Value;

/// Time limit of a call, beyond the stop of an instance.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Sends a request without a body. Returns the body of the response.
pub(super) fn call(address: SocketAddr, start: &str, token: &str) -> anyhow::Result<Value> {
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    let head = format!(
        "{start} HTTP/1.1\r\nhost: mall\r\nauthorization: {token}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    let mut response = String::new();
    stream.read_to_string(&mut response)?;
    let (_, body) = response.split_once("\r\n\r\n").context("a response without an end of its head")?;
    serde_json::from_str(body).with_context(|| format!("a response without JSON: {body}"))
}

/// Claims a unit. `None` if the mall ended before its reply.
pub(super) fn claim(address: SocketAddr, sale: u64, token: &str) -> Option<Reply> {
    let body = call(address, &format!("POST /api/voucher-order/seckill/{sale}"), token).ok()?;
    let code = body.get("code").and_then(Value::as_str).unwrap_or_default();
    Some(match code {
        _ if body.get("success") == Some(&Value::Bool(true)) => Reply::Accepted,
        "ALREADY_BOUGHT" => Reply::AlreadyBought,
        "SOLD_OUT" => Reply::SoldOut,
        _ => Reply::Failed(body.to_string()),
    })
}
