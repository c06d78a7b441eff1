//! Incremental parsing of an HTTP response that arrives in any number of pieces.

use std::mem::MaybeUninit;

use httparse::{ParserConfig, Response, Status};

use super::chunked::ChunkDecoder;
use super::response_error::{MAX_BODY, MAX_HEAD, ResponseError};

/// Most headers accepted; mallbox sends about ten.
const MAX_HEADERS: usize = 64;
/// Most interim responses (1xx) before the final one. Without a limit a server could occupy the thread.
const MAX_INTERIM: u32 = 8;
/// Initial capacity of a buffer, above the size of a usual response. A read with capacity to spare makes the
/// next read unnecessary: the next one would only return `WouldBlock`.
const BUFFER_BYTES_INITIAL: usize = 4 * 1024;

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
    /// Set while a body arrives in chunks.
    chunks: Option<ChunkDecoder>,
    interim: u32,
}

impl ResponseBuffer {
    pub fn new() -> Self {
        Self { buffer: vec![0; BUFFER_BYTES_INITIAL], filled: 0, head: None, chunks: None, interim: 0 }
    }

    /// Clears the response and keeps the buffer's capacity.
    pub fn clear(&mut self) {
        self.filled = 0;
        self.head = None;
        self.chunks = None;
        self.interim = 0;
    }

    /// Returns the free part of the buffer; never empty.
    pub fn room(&mut self) -> &mut [u8] {
        // One byte more than needed: surplus bytes become visible, and a read never fills the buffer.
        let wanted = match self.head {
            Some(head) if self.chunks.is_none() => head.body_end + 1,
            _ => self.filled + 1,
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
            match head {
                Some((head, Body::Length)) => self.head = Some(head),
                Some((head, Body::Chunks)) => {
                    self.head = Some(head);
                    self.chunks = Some(ChunkDecoder::new(length));
                }
                None => self.drop_interim(length)?,
            }
        }
        if let (Some(head), Some(chunks)) = (&mut self.head, &mut self.chunks) {
            let (filled, is_complete) = chunks.decode(&mut self.buffer, self.filled)?;
            self.filled = filled;
            if !is_complete {
                return Ok(None);
            }
            head.body_end = chunks.decoded_end;
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

/// How the end of a body is found.
#[derive(Clone, Copy, Debug)]
enum Body {
    /// At the `body_end` of the head.
    Length,
    /// After the last chunk.
    Chunks,
}

/// The length of a head, and its contents unless the response is interim.
type Head = (usize, Option<(CompleteResponse, Body)>);

/// Parses the head at the start of `bytes`. Returns None until it is complete.
fn read_head(bytes: &[u8]) -> Result<Option<Head>, ResponseError> {
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
    let mut is_chunked = false;
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
                if is_chunked || !header.value.trim_ascii().eq_ignore_ascii_case(b"chunked") {
                    return Err(ResponseError::TransferEncoding);
                }
                is_chunked = true;
            }
            _ => {}
        }
    }
    let (body, size) = match (status, is_chunked, length_so_far) {
        // No body follows these statuses, whatever the headers say.
        (204 | 304, ..) => (Body::Length, 0),
        // With both headers, RFC 9112 suspects an attack.
        (_, true, Some(_)) => return Err(ResponseError::TransferEncoding),
        (_, true, None) => (Body::Chunks, 0),
        (_, false, Some(size)) => (Body::Length, size),
        (_, false, None) => return Err(ResponseError::NoLength),
    };
    let whole =
        CompleteResponse { status, close, surplus: false, body_start: length, body_end: length + size };
    Ok(Some((length, Some((whole, body)))))
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
        let rows: [(&[u8], u16, bool, &[u8]); 9] = [
            (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok", 200, false, b"ok"),
            (b"HTTP/1.1 409 Conflict\r\nCONTENT-LENGTH:3 \r\n\r\nno!", 409, false, b"no!"),
            (b"HTTP/1.1 200\r\nContent-Length:  00\r\nConnection: Close\r\n\r\n", 200, true, b""),
            (b"HTTP/1.0 200 OK\r\nContent-length: 1\r\n\r\nx", 200, true, b"x"),
            (b"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\ncontent-length: 1\r\n\r\nx", 200, false, b"x"),
            (b"HTTP/1.1 204 No Content\r\nserver: x\r\n\r\n", 204, false, b""),
            (b"HTTP/1.1 200\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n", 200, false, b""),
            (
                b"HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n\
                  2\r\nok\r\n0c ; name=value\r\n,\r\nnot \r\n0!!\r\n0\r\nx: y\r\nz: \r\n\r\n",
                200,
                true,
                b"ok,\r\nnot \r\n0!!",
            ),
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
        let chunked = |chunks: &str| format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}");
        let rows = [
            ("SSH-2.0-OpenSSH\r\n", ResponseError::NotHttp(httparse::Error::Version)),
            (&long, ResponseError::HeadTooLong),
            (&hints, ResponseError::Status(100)),
            ("HTTP/1.1 101 Switch\r\n\r\n", ResponseError::Status(101)),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", ResponseError::TransferEncoding),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", ResponseError::TransferEncoding),
            (
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n",
                ResponseError::TransferEncoding,
            ),
            (
                "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n",
                ResponseError::TransferEncoding,
            ),
            (&chunked("x\r\n"), ResponseError::BadChunk),
            (&chunked("\r\n\r\n"), ResponseError::BadChunk),
            (&chunked("2\r\nok\r\n;x\r\n\r\n"), ResponseError::BadChunk),
            (&chunked("2\r\nokay\r\n"), ResponseError::BadChunk),
            (&chunked("99999999999999999999\r\n"), ResponseError::BadChunk),
            (&chunked(&format!("2;{}", "y".repeat(2_000))), ResponseError::BadChunk),
            (&chunked(&format!("0\r\n{}", "y".repeat(2_000))), ResponseError::BadChunk),
            (&chunked(&format!("0\r\n{}", "y: z\r\n".repeat(65))), ResponseError::BadChunk),
            (&chunked("800001\r\n"), ResponseError::BodyTooLong),
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
    fn a_long_body_in_chunks_takes_no_more_memory_than_in_one_piece() {
        let mut bytes = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
        bytes.extend(b"1;padding=to-the-right\r\nx\r\n".repeat(20_000));
        bytes.extend(b"0\r\n\r\n");
        let mut incoming = ResponseBuffer::new();
        let mut left = &bytes[..];
        let whole = loop {
            let room = incoming.room();
            let count = room.len().min(left.len()).min(4_096);
            room[..count].copy_from_slice(&left[..count]);
            left = &left[count..];
            if let Some(whole) = incoming.took(count).unwrap() {
                break whole;
            }
        };
        assert_eq!(incoming.body(whole), b"x".repeat(20_000));
        assert!(!whole.surplus && incoming.buffer.len() < 64 * 1024, "{}", incoming.buffer.len());
    }

    #[test]
    fn surplus_is_seen() {
        for bytes in [
            &b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP"[..],
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\nHTTP",
        ] {
            assert!(feed(bytes, bytes.len()).unwrap().unwrap().0.surplus);
        }
    }
}
