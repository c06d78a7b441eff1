//! HTTP requests from an address of the client's own: the whole of 127.0.0.0/8 is this machine.

#![allow(dead_code, reason = "each bench uses the part it needs")]

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;
use socket2::{Domain, Socket, Type};

use crate::http::{self, Reply};

/// Stands among the codes of refusals for a request without a response.
pub const NO_RESPONSE: &str = "no response";

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A client at an address of its own.
#[derive(Clone, Copy, Debug)]
pub struct Client {
    from: Ipv4Addr,
    to: SocketAddr,
}

impl Client {
    pub fn new(from: [u8; 4], to: SocketAddr) -> Self {
        Self { from: Ipv4Addr::from(from), to }
    }

    /// Sends one request on a new connection and returns `data` of a success, or the code of the refusal.
    /// `Value::Null` sends no body.
    pub fn data(self, method: &str, path: &str, token: &str, body: &Value) -> Result<Value, String> {
        let mut reply = self.call(method, path, token, body).map_err(|_| NO_RESPONSE.to_owned())?;
        if reply.body["success"] == true {
            return Ok(reply.body["data"].take());
        }
        Err(if reply.code().is_empty() {
            format!("status {}", reply.status)
        } else {
            reply.code().to_owned()
        })
    }

    fn call(self, method: &str, path: &str, token: &str, body: &Value) -> anyhow::Result<Reply> {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let request = written(method, path, token, "connection: close\r\n", &body);
        http::read(&http::exchange(self.connect()?, &request)?)
    }

    fn connect(self) -> std::io::Result<TcpStream> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        socket.bind(&SocketAddr::from((self.from, 0)).into())?;
        socket.connect_timeout(&self.to.into(), CONNECT_TIMEOUT)?;
        Ok(socket.into())
    }
}

/// Returns a request that keeps the connection open. An empty token sends no header.
pub fn request(method: &str, path: &str, token: &str, body: &str) -> Vec<u8> {
    written(method, path, token, "", body)
}

/// Returns such a request as a trusted proxy passes it on for a client of this number.
pub fn request_of_client(number: usize, method: &str, path: &str, body: &str) -> Vec<u8> {
    let header = format!("x-forwarded-for: 10.{}.{}.1\r\n", number / 250, number % 250);
    written(method, path, "", &header, body)
}

fn written(method: &str, path: &str, token: &str, headers: &str, body: &str) -> Vec<u8> {
    let token = if token.is_empty() { String::new() } else { format!("authorization: {token}\r\n") };
    let length = body.len();
    let head = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n");
    format!("{head}{headers}{token}content-length: {length}\r\n\r\n{body}").into_bytes()
}
