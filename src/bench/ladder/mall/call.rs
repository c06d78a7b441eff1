//! Calls of single users, each on a connection of its own.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::Context as _;
use mallbox_bench_ladder::Reply;
use serde_json::Value;

/// Time limit of a call, beyond the stop of an instance.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A response that ends before its head does.
#[derive(Debug, thiserror::Error)]
#[error("the response ends within its head")]
struct CutResponse;

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
    let (_, body) = response.split_once("\r\n\r\n").ok_or(CutResponse)?;
    serde_json::from_str(body).with_context(|| format!("a response without JSON: {body}"))
}

/// Claims a unit. `None` if the mall ended before its reply; a failure if it is silent for too long.
pub(super) fn claim(address: SocketAddr, sale: u64, token: &str) -> Option<Reply> {
    let body = match call(address, &format!("POST /api/voucher-order/seckill/{sale}"), token) {
        Ok(body) => body,
        Err(error) if has_ended(&error) => return None,
        Err(error) => return Some(Reply::Failed(format!("{error:#}"))),
    };
    let code = body.get("code").and_then(Value::as_str).unwrap_or_default();
    Some(match code {
        _ if body.get("success") == Some(&Value::Bool(true)) => Reply::Accepted,
        "ALREADY_BOUGHT" => Reply::AlreadyBought,
        "SOLD_OUT" => Reply::SoldOut,
        _ => Reply::Failed(body.to_string()),
    })
}

/// Whether a call failed because the process that was called is gone.
fn has_ended(error: &anyhow::Error) -> bool {
    let kind = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
    let is_cut = error.is::<CutResponse>();
    is_cut
        || matches!(
            kind,
            Some(ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe)
        )
}
