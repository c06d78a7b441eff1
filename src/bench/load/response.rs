//! Incremental parsing of an HTTP response that arrives in any number of pieces.

use std::mem::MaybeUninit;

use httparse::{ParserConfig, Response, Status};

/// Longest head accepted, in bytes; mallbox sends less than 1 KiB.
const MAX_HEAD: usize = 16 * 1024;
/// Longest body accepted, in bytes. mallbox sends a few KiB at most; the limit bounds the memory a foreign
/// server can take.
const MAX_BODY: usize = 8 * 1024 * 1024;
/// Most headers accepted; mallbox sends about ten.
const MAX_HEADERS: usize = 64;
/// Most interim responses (1xx) before the final one. Without a limit a server could occupy the thread.
const MAX_INTERIM: u32 = 8;
/// Initial capacity of a buffer, above the size of a usual response. A read with capacity to spare makes the
/// next read unnecessary: the next one would only return `WouldBlock`.
const BUFFER_BYTES_INITIAL: usize = 4 * 1024;

/// Reason why bytes from a server cannot be read as a response.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResponseError {
    /// Not HTTP/1.0 or HTTP/1.1.
    #[error("not HTTP/1: {0}")]
    NotHttp(httparse::Error),
    /// The head is longer than 16 KiB.
    #[error("head longer than {MAX_HEAD} bytes")]
    HeadTooLong,
    /// A transfer encoding, such as chunked.
    #[error("transfer-encoding is not supported; the response needs a content-length")]
    TransferEncoding,
    /// A body delimited only by the end of the connection.
    #[error("neither a content-length nor a status without body")]
    NoLength,
    /// A `content-length` that is not a number, or two different values.
    #[error("bad content-length")]
    BadLength,
    /// A body longer than 8 MiB.
    #[error("body longer than {MAX_BODY} bytes")]
    BodyTooLong,
    /// 101, or a status below 100, or more interim responses than allowed.
    #[error("unexpected status {0}")]
    Status(u16),
    /// Bytes after the response, or without a request.
    #[error("bytes without a request")]
    Unasked,
}

/// A complete response in the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct CompleteResponse {
    pub status: u16,
    /// The connection cannot be reused.
    pub close: bool,
    /// Bytes came after the body.
    pub surplus: bool,
    /// Start of the body in the buffer.
    pub body_start: usize,
    pub body_end: usize,
}

/// The partially received response of one connection.
#[derive(Debug)]
pub(super) struct ResponseBuffer {
    buffer: Vec<u8>,
    filled: usize,
    /// Set once the head is complete, so that a long body does not cause the head to be parsed again.
    head: Option<CompleteResponse>,
    interim: u32,
}

impl ResponseBuffer {
    pub fn new() -> Self {
        Self { buffer: vec![0; BUFFER_BYTES_INITIAL], filled: 0, head: None, interim: 0 }
    }

    /// Clears the response and keeps the buffer's capacity.
    pub fn clear(&mut self) {
        self.filled = 0;
        self.head = None;
        self.interim = 0;
    }

    /// Returns the free part of the buffer; never empty.
    pub fn room(&mut self) -> &mut [u8] {
        // One byte more than needed: surplus bytes become visible, and a read never fills the buffer.
        let wanted = match self.head {
            Some(head) => head.body_end + 1,
            None => self.filled + 1,
        };
        if self.buffer.len() < wanted {
            let doubled = self.buffer.len() * 2;
            self.buffer.resize(wanted.max(doubled), 0);
        }
        &mut self.buffer[self.filled..]
    }

    /// Records `count` bytes written to [`room`](Self::room). Returns the response once it is complete.
    pub fn took(&mut self, count: usize) -> Result<Option<CompleteResponse>, ResponseError> {
        self.filled += count;
        while self.head.is_none() {
            let Some((length, head)) = read_head(&self.buffer[..self.filled])? else {
                return Ok(None);
            };
            if let Some(head) = head {
                self.head = Some(head);
            } else {
                self.drop_interim(length)?;
            }
        }
        Ok(self
            .head
            .filter(|head| self.filled >= head.body_end)
            .map(|head| CompleteResponse { surplus: self.filled > head.body_end, ..head }))
    }

    /// Returns the body of a response returned by [`took`](Self::took).
    pub fn body(&self, whole: CompleteResponse) -> &[u8] {
        &self.buffer[whole.body_start..whole.body_end]
    }

    fn drop_interim(&mut self, length: usize) -> Result<(), ResponseError> {
        self.interim += 1;
        if self.interim > MAX_INTERIM {
            return Err(ResponseError::Status(100));
        }
        self.buffer.copy_within(length..self.filled, 0);
        self.filled -= length;
        Ok(())
    }
}

/// Parses the head at the start of `bytes`. Returns the head's length and contents once complete, and no
/// contents for an interim response.
fn read_head(bytes: &[u8]) -> Result<Option<(usize, Option<CompleteResponse>)>, ResponseError> {
    let mut headers = [const { MaybeUninit::uninit() }; MAX_HEADERS];
    let mut response = Response::new(&mut []);
    let parsed = ParserConfig::default()
        .parse_response_with_uninit_headers(&mut response, bytes, &mut headers)
        .map_err(ResponseError::NotHttp)?;
    let length = match parsed {
        Status::Complete(length) if length <= MAX_HEAD => length,
        Status::Partial if bytes.len() <= MAX_HEAD => return Ok(None),
        _ => return Err(ResponseError::HeadTooLong),
    };
    let status = response.code.unwrap_or(0);
    match status {
        100 | 102..=199 => return Ok(Some((length, None))),
        200..=999 => {}
        _ => return Err(ResponseError::Status(status)),
    }
    let mut length_so_far = None;
    let mut close = response.version == Some(0);
    for header in response.headers.iter() {
        match header.name.len() {
            14 if header.name.eq_ignore_ascii_case("content-length") => {
                let value = number(header.value)?;
                if length_so_far.is_some_and(|earlier| earlier != value) {
                    return Err(ResponseError::BadLength);
                }
                length_so_far = Some(value);
            }
            10 if header.name.eq_ignore_ascii_case("connection") => {
                close = closes(header.value, close);
            }
            17 if header.name.eq_ignore_ascii_case("transfer-encoding") => {
                return Err(ResponseError::TransferEncoding);
            }
            _ => {}
        }
    }
    let body = match (status, length_so_far) {
        // No body follows these statuses, whatever `content-length` says.
        (204 | 304, _) => 0,
        (_, Some(value)) => value,
        (_, None) => return Err(ResponseError::NoLength),
    };
    let whole =
        CompleteResponse { status, close, surplus: false, body_start: length, body_end: length + body };
    Ok(Some((length, Some(whole))))
}

/// Parses a `content-length`: digits only, as in RFC 9110, without sign or list.
fn number(value: &[u8]) -> Result<usize, ResponseError> {
    let value = value.trim_ascii();
    if value.is_empty() {
        return Err(ResponseError::BadLength);
    }
    value.iter().try_fold(0, |sum: usize, byte| {
        if !byte.is_ascii_digit() {
            return Err(ResponseError::BadLength);
        }
        let sum = sum * 10 + usize::from(byte - b'0');
        // Checked at every digit, so the sum cannot overflow.
        if sum > MAX_BODY { Err(ResponseError::BodyTooLong) } else { Ok(sum) }
    })
}

/// Returns whether a `connection` header closes the connection; `before` if the header says neither.
fn closes(value: &[u8], before: bool) -> bool {
    value.split(|byte| *byte == b',').fold(before, |close, word| {
        let word = word.trim_ascii();
        if word.eq_ignore_ascii_case(b"close") {
            true
        } else {
            close && !word.eq_ignore_ascii_case(b"keep-alive")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds `bytes` in pieces of `step`. Returns the response and its body.
    fn feed(bytes: &[u8], step: usize) -> Result<Option<(CompleteResponse, Vec<u8>)>, ResponseError> {
        let mut incoming = ResponseBuffer::new();
        for piece in bytes.chunks(step) {
            for part in piece.chunks(incoming.room().len()) {
                incoming.room()[..part.len()].copy_from_slice(part);
                if let Some(whole) = incoming.took(part.len())? {
                    return Ok(Some((whole, incoming.body(whole).to_vec())));
                }
            }
        }
        Ok(None)
    }

    #[test]
    fn an_answer_reads_the_same_in_any_pieces() {
        let rows: [(&[u8], u16, bool, &[u8]); 7] = [
            (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok", 200, false, b"ok"),
            (b"HTTP/1.1 409 Conflict\r\nCONTENT-LENGTH:3 \r\n\r\nno!", 409, false, b"no!"),
            (b"HTTP/1.1 200\r\nContent-Length:  00\r\nConnection: Close\r\n\r\n", 200, true, b""),
            (b"HTTP/1.0 200 OK\r\nContent-length: 1\r\n\r\nx", 200, true, b"x"),
            (b"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\ncontent-length: 1\r\n\r\nx", 200, false, b"x"),
            (b"HTTP/1.1 204 No Content\r\nserver: x\r\n\r\n", 204, false, b""),
            (
                b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nlink: a\r\n\r\n\
                  HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok",
                200,
                false,
                b"ok",
            ),
        ];
        for (bytes, status, close, body) in rows {
            for step in 1..=bytes.len() {
                let (whole, read) = feed(bytes, step).unwrap().unwrap();
                assert_eq!((whole.status, whole.close, whole.surplus), (status, close, false));
                assert_eq!(read, body);
            }
            assert_eq!(feed(&bytes[..bytes.len() - 1], 7).unwrap().map(|_| ()), None);
        }
    }

    #[test]
    fn a_body_larger_than_the_first_room_is_read() {
        let mut bytes = b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n".to_vec();
        bytes.resize(bytes.len() + 100_000, b'x');
        for step in [1000, 4096, bytes.len()] {
            assert_eq!(feed(&bytes, step).unwrap().unwrap().1.len(), 100_000);
        }
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let long = format!("HTTP/1.1 200 OK\r\nx: {}", "y".repeat(MAX_HEAD));
        let hints = "HTTP/1.1 103 Hints\r\n\r\n".repeat(9);
        let rows = [
            ("SSH-2.0-OpenSSH\r\n", ResponseError::NotHttp(httparse::Error::Version)),
            (&long, ResponseError::HeadTooLong),
            (&hints, ResponseError::Status(100)),
            ("HTTP/1.1 101 Switch\r\n\r\n", ResponseError::Status(101)),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", ResponseError::TransferEncoding),
            ("HTTP/1.1 200 OK\r\n\r\n", ResponseError::NoLength),
            ("HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n", ResponseError::BadLength),
            ("HTTP/1.1 200 OK\r\ncontent-length: \r\n\r\n", ResponseError::BadLength),
            ("HTTP/1.1 200 OK\r\ncontent-length: 5, 5\r\n\r\n", ResponseError::BadLength),
            ("HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n", ResponseError::BadLength),
            (
                "HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999999\r\n\r\n",
                ResponseError::BodyTooLong,
            ),
        ];
        for (bytes, why) in rows {
            assert_eq!(feed(bytes.as_bytes(), 11).unwrap_err(), why, "{bytes:.40}");
        }
    }

    #[test]
    fn surplus_is_seen() {
        let bytes = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP";
        assert!(feed(bytes, bytes.len()).unwrap().unwrap().0.surplus);
    }
}
