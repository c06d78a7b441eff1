//! Single HTTP requests on new connections, independent of the mall's code.

#![allow(dead_code, reason = "each test binary uses the part it needs")]

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use mallbox_test_patience as patience;
use serde_json::Value;

/// An HTTP response.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub text: String,
    pub body: Value,
}

impl Reply {
    /// Returns the code of a refusal, or `""`.
    pub fn code(&self) -> &str {
        self.body["code"].as_str().unwrap_or_default()
    }

    /// Returns the seconds of `retry-after`.
    pub fn retry_after(&self) -> Option<u64> {
        let line = self.head.lines().find_map(|line| line.strip_prefix("retry-after: "))?;
        line.trim().parse().ok()
    }
}

/// Sends one request without a body and reads the complete response.
pub fn ask(address: SocketAddr, method: &str, path: &str, token: &str) -> anyhow::Result<Reply> {
    send(address, method, path, token, "")
}

/// Sends one request and reads the complete response.
pub fn send(address: SocketAddr, method: &str, path: &str, token: &str, body: &str) -> anyhow::Result<Reply> {
    let authorization = [("authorization", token)];
    let headers = if token.is_empty() { &[][..] } else { &authorization };
    send_with(address, method, path, headers, body.as_bytes())
}

/// Sends one request with headers of its own, and reads the complete response.
pub fn send_with(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> anyhow::Result<Reply> {
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n"
    );
    let answer = exchange(TcpStream::connect(address)?, &[head.as_bytes(), body].concat());
    let answer = answer.with_context(|| format!("{method} {path} was not answered"))?;
    read(&answer).with_context(|| format!("{method} {path}"))
}

/// Sends bytes on a connection and reads until the server closes the connection.
pub fn exchange(mut stream: TcpStream, request: &[u8]) -> anyhow::Result<Vec<u8>> {
    stream.set_read_timeout(Some(patience::scaled(Duration::from_secs(20))))?;
    stream.write_all(request)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(answer)
}

/// Parses a response.
pub fn read(answer: &[u8]) -> anyhow::Result<Reply> {
    let text = String::from_utf8_lossy(answer);
    let (head, text) = text.split_once("\r\n\r\n").context("no whole answer")?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).context("no status")?;
    let body = serde_json::from_str(text).unwrap_or_default();
    Ok(Reply { status, head: head.to_owned(), text: text.to_owned(), body })
}

/// Repeats a GET until the response meets the condition. Returns the response and the time taken.
pub fn until(
    address: SocketAddr,
    path: &str,
    limit: Duration,
    is_wanted: impl Fn(&Reply) -> bool,
) -> anyhow::Result<(Reply, Duration)> {
    let began = Instant::now();
    loop {
        let reply = ask(address, "GET", path, "")?;
        if is_wanted(&reply) {
            return Ok((reply, began.elapsed()));
        }
        if !patience::is_within(began.elapsed(), limit) {
            bail!("{path} still says {} {} after {:?}", reply.status, reply.text, began.elapsed());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}
