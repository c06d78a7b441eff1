//! A minimal HTTP/1.1 client of the checker's own, without code shared with the mall.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use mallbox_test_patience as patience;
use serde_json::Value;

use crate::history::{Client, History, Request, Response};
use crate::wire;

/// A later response counts as none.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);
const RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// An HTTP response.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The complete body.
    pub body: Vec<u8>,
}

/// A keep-alive connection.
#[derive(Debug)]
pub struct Connection {
    stream: BufReader<TcpStream>,
}

impl Connection {
    /// Opens a connection.
    ///
    /// # Errors
    /// Nothing listens at the address.
    pub fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).with_context(|| format!("{address} cannot be reached"))?;
        stream.set_read_timeout(Some(patience::scaled(RESPONSE_TIMEOUT)))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::new(stream) })
    }

    /// Sends the bytes of a request and reads the complete response.
    ///
    /// # Errors
    /// No complete response arrived. The request may have taken effect.
    pub fn send(&mut self, request: &[u8]) -> anyhow::Result<Reply> {
        self.stream.get_mut().write_all(request)?;
        let status = self.line()?.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.context("a response without a status")?;
        let mut length = 0;
        loop {
            let header = self.line()?.to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse()?;
            }
            ensure!(!header.starts_with("transfer-encoding:"), "a response without a length");
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok(Reply { status, body })
    }

    fn line(&mut self) -> anyhow::Result<String> {
        let mut line = String::new();
        ensure!(self.stream.read_line(&mut line)? > 0, "the connection was closed");
        Ok(line.trim_end().to_owned())
    }

    /// Sends an API request and returns the response, including refusals.
    ///
    /// # Errors
    /// No complete response arrived.
    pub fn ask(&mut self, method: &str, path: &str, token: &str) -> anyhow::Result<(u16, Value)> {
        let Reply { status, body } = self
            .send(&wire::message(method, path, token, &Value::Null))
            .with_context(|| format!("{method} {path}"))?;
        Ok((status, serde_json::from_slice(&body).unwrap_or_default()))
    }

    /// Repeats a GET until the mall responds with a status below 500.
    ///
    /// # Errors
    /// Every response within the timeout was a 5xx, or the mall did not respond.
    pub(crate) fn get_with_retry(&mut self, path: &str, token: &str) -> anyhow::Result<(u16, Value)> {
        let until = Instant::now() + RESPONSE_TIMEOUT;
        loop {
            let (status, json) = self.ask("GET", path, token)?;
            if status < 500 {
                return Ok((status, json));
            }
            ensure!(Instant::now() < until, "GET {path} is answered {status} {json} all the time");
            std::thread::sleep(RETRY_INTERVAL);
        }
    }

    /// Returns the `data` of a response that must be a success.
    ///
    /// # Errors
    /// The mall did not respond, or refused the request.
    pub(crate) fn get(&mut self, path: &str, token: &str) -> anyhow::Result<Value> {
        let (status, mut json) = self.get_with_retry(path, token)?;
        if json["success"] != true {
            bail!("GET {path} was answered {status} {json}");
        }
        Ok(json["data"].take())
    }
}

impl Client {
    /// Returns the client of a session, with the user id reported by the mall.
    ///
    /// # Errors
    /// The mall did not respond, or does not know the session.
    pub fn of_session(address: SocketAddr, token: &str) -> anyhow::Result<Self> {
        let user = Connection::open(address)?.get("/user/me", token)?["id"].as_u64();
        Ok(Self { user: user.context("a user without an id")?, token: token.to_owned() })
    }
}

impl History {
    /// Sends a request on a new connection, and records and returns the response.
    ///
    /// # Panics
    /// If the client does not exist.
    pub fn ask(&mut self, address: SocketAddr, client: usize, request: Request) -> Response {
        let (call, bytes) = self.invoke(client, request);
        match Connection::open(address).and_then(|mut connection| connection.send(&bytes)) {
            Ok(reply) => self.respond(call, reply.status, &reply.body).clone(),
            Err(_) => {
                self.record_loss(call);
                Response::Unknown
            }
        }
    }
}
