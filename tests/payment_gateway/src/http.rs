//! HTTP/1.1 with one request per connection.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use mallbox_test_patience as patience;
use serde_json::Value;

/// A request read in full.
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

/// A response in full.
pub(crate) struct Response(String);

impl Request {
    /// Reads a request. `None` if the client hung up, or sent no HTTP.
    pub(crate) fn read(stream: &mut TcpStream) -> Option<Self> {
        let (mut bytes, mut some) = (Vec::new(), [0; 4096]);
        loop {
            if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
                let head = String::from_utf8(bytes[..end].to_vec()).ok()?;
                let request = Self::parse(&head)?;
                let length = request.header("content-length").map_or(Some(0), |text| text.parse().ok())?;
                if bytes.len() >= end + 4 + length {
                    let body = String::from_utf8(bytes[end + 4..end + 4 + length].to_vec()).ok()?;
                    return Some(Self { body, ..request });
                }
            }
            match stream.read(&mut some) {
                Ok(0) | Err(_) => return None,
                Ok(read) => bytes.extend_from_slice(&some[..read]),
            }
        }
    }

    fn parse(head: &str) -> Option<Self> {
        let mut lines = head.split("\r\n");
        let mut first = lines.next()?.split(' ');
        let (method, path) = (first.next()?.to_owned(), first.next()?.to_owned());
        let headers = lines.filter_map(|line| line.split_once(':'));
        let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()));
        Some(Self { method, path, headers: headers.collect(), body: String::new() })
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

impl Response {
    fn new(status: u16, more: &str, kind: &str, body: &str) -> Self {
        let length = body.len();
        Self(format!(
            "HTTP/1.1 {status} x\r\nconnection: close\r\n{more}content-type: {kind}\r\ncontent-length: {length}\r\n\r\n{body}"
        ))
    }

    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::new(status, "", "application/json", &body.to_string())
    }

    pub(crate) fn page(status: u16, body: &str) -> Self {
        let page = format!("<!doctype html><html lang=en><title>Payment</title><body>{body}");
        Self::new(status, "", "text/html; charset=utf-8", &page)
    }

    pub(crate) fn redirect(to: &str) -> Self {
        Self::new(303, &format!("location: {to}\r\n"), "text/plain", "")
    }

    pub(crate) fn send(&self, stream: &mut TcpStream) {
        // The mall may have given up.
        let _ = stream.write_all(self.0.as_bytes());
    }
}

/// Posts a JSON text to an `http://` URL. Returns the status; `None` without a response.
pub(crate) fn post(url: &str, headers: &[(&str, &str)], body: &str) -> Option<u16> {
    let (host, path) = url.strip_prefix("http://")?.split_once('/')?;
    let mut stream = TcpStream::connect(host).ok()?;
    stream.set_read_timeout(Some(patience::scaled(Duration::from_secs(10)))).ok()?;
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let length = body.len();
    let request = format!(
        "POST /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-type: application/json\r\n{headers}content-length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut response = String::new();
    stream.read_to_string(&mut response).ok()?;
    response.split(' ').nth(1)?.parse().ok()
}

/// Returns whether the client has hung up.
pub(crate) fn is_closed(stream: &TcpStream) -> bool {
    let was_set = stream.set_nonblocking(true);
    let peeked = stream.peek(&mut [0; 1]);
    was_set.and_then(|()| stream.set_nonblocking(false)).is_err() || matches!(peeked, Ok(0))
}
