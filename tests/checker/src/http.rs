//! A plain HTTP/1.1 client of the checker's own, which shares no code with the mall.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use mallbox_test_patience as patience;
use serde_json::Value;

use crate::history::{Client, History, Request, Response};
use crate::wire;

/// A mall that answers later than this does not answer.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);
const BETWEEN_TRIES: Duration = Duration::from_millis(100);

/// A response as it came.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The body, complete.
    pub body: Vec<u8>,
}

/// One connection that is kept alive.
#[derive(Debug)]
pub struct Connection {
    stream: BufReader<TcpStream>,
}

impl Connection {
    /// Connects.
    ///
    /// # Errors
    /// Nobody listens there.
    pub fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).with_context(|| format!("{address} cannot be reached"))?;
        stream.set_read_timeout(Some(patience::scaled(RESPONSE_TIMEOUT)))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::new(stream) })
    }

    /// Sends the bytes of a request and reads the response to its end.
    ///
    /// # Errors
    /// There was no whole response. The request may have taken effect all the same.
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

    /// Asks the API and returns the response, whatever it says.
    ///
    /// # Errors
    /// There was no whole response.
    pub fn ask(&mut self, method: &str, path: &str, token: &str) -> anyhow::Result<(u16, Value)> {
        let Reply { status, body } = self
            .send(&wire::message(method, path, token, &Value::Null))
            .with_context(|| format!("{method} {path}"))?;
        Ok((status, serde_json::from_slice(&body).unwrap_or_default()))
    }

    /// Asks until the mall does not say "not now".
    ///
    /// # Errors
    /// The mall said so all the time, or did not respond.
    pub(crate) fn insist(&mut self, path: &str, token: &str) -> anyhow::Result<(u16, Value)> {
        let until = Instant::now() + RESPONSE_TIMEOUT;
        loop {
            let (status, json) = self.ask("GET", path, token)?;
            if status < 500 {
                return Ok((status, json));
            }
            ensure!(Instant::now() < until, "GET {path} is answered {status} {json} all the time");
            std::thread::sleep(BETWEEN_TRIES);
        }
    }

    /// The `data` of a response that must be granted.
    ///
    /// # Errors
    /// There was no response, or another.
    pub(crate) fn get(&mut self, path: &str, token: &str) -> anyhow::Result<Value> {
        let (status, mut json) = self.insist(path, token)?;
        if json["success"] != true {
            bail!("GET {path} was answered {status} {json}");
        }
        Ok(json["data"].take())
    }
}

impl Client {
    /// Returns the client of a session, as the mall knows it.
    ///
    /// # Errors
    /// The mall did not respond, or does not know the session.
    pub fn of_session(address: SocketAddr, token: &str) -> anyhow::Result<Self> {
        let user = Connection::open(address)?.get("/user/me", token)?["id"].as_u64();
        Ok(Self { user: user.context("a user without an id")?, token: token.to_owned() })
    }
}

impl History {
    /// Sends a request on a connection of its own, and records and returns its response.
    ///
    /// # Panics
    /// If there is no such client.
    pub fn ask(&mut self, address: SocketAddr, client: usize, request: Request) -> Response {
        let (call, bytes) = self.invoke(client, request);
        match Connection::open(address).and_then(|mut connection| connection.send(&bytes)) {
            Ok(reply) => self.respond(call, reply.status, &reply.body).clone(),
            Err(_) => {
                self.lose(call);
                Response::Unknown
            }
        }
    }
}
