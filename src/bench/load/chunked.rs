//! Decoding of a body in chunks (RFC 9112, section 7.1), as servers in Java send it.

use httparse::Status;

use super::response_error::{MAX_BODY, ResponseError};

/// Longest line of a chunk's size or of a trailer, in bytes.
const MAX_LINE: usize = 1024;
/// Most trailers accepted.
const MAX_TRAILERS: u32 = 64;

/// Decoder of the chunks of one body. The decoded body replaces the chunks in the buffer they arrived in.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChunkDecoder {
    /// End of the decoded body in the buffer.
    pub decoded_end: usize,
    next: Next,
}

/// What the next bytes are.
#[derive(Clone, Copy, Debug)]
enum Next {
    Size,
    Data { left: usize },
    EndOfData,
    Trailer { number: u32 },
}

impl ChunkDecoder {
    /// Starts at the end of the head.
    pub fn new(body_start: usize) -> Self {
        Self { decoded_end: body_start, next: Next::Size }
    }

    /// Decodes what arrived between `decoded_end` and `filled`, and closes up what cannot be decoded yet.
    /// Returns the new end of the filled part, and whether the body is complete.
    pub fn decode(&mut self, buffer: &mut [u8], filled: usize) -> Result<(usize, bool), ResponseError> {
        let mut at = self.decoded_end;
        let mut is_complete = false;
        while !is_complete {
            let rest = &buffer[at..filled];
            match self.next {
                // An empty size is read as 0 below.
                Next::Size if rest.first().is_some_and(|byte| !byte.is_ascii_hexdigit()) => {
                    return Err(ResponseError::BadChunk);
                }
                Next::Size => match httparse::parse_chunk_size(rest) {
                    Ok(Status::Complete((used, size))) => {
                        at += used;
                        self.next = self.after_size(size)?;
                    }
                    Ok(Status::Partial) if rest.len() <= MAX_LINE => break,
                    _ => return Err(ResponseError::BadChunk),
                },
                Next::Data { left } => {
                    let count = left.min(rest.len());
                    buffer.copy_within(at..at + count, self.decoded_end);
                    at += count;
                    self.decoded_end += count;
                    if count < left {
                        self.next = Next::Data { left: left - count };
                        break;
                    }
                    self.next = Next::EndOfData;
                }
                Next::EndOfData => match rest {
                    [b'\r', b'\n', ..] => {
                        at += 2;
                        self.next = Next::Size;
                    }
                    [] | [b'\r'] => break,
                    _ => return Err(ResponseError::BadChunk),
                },
                Next::Trailer { number } => match rest.windows(2).position(|two| two == b"\r\n") {
                    Some(length) if length <= MAX_LINE && number < MAX_TRAILERS => {
                        at += length + 2;
                        is_complete = length == 0;
                        self.next = Next::Trailer { number: number + 1 };
                    }
                    None if rest.len() <= MAX_LINE => break,
                    _ => return Err(ResponseError::BadChunk),
                },
            }
        }
        buffer.copy_within(at..filled, self.decoded_end);
        Ok((self.decoded_end + filled - at, is_complete))
    }

    fn after_size(&self, size: u64) -> Result<Next, ResponseError> {
        match usize::try_from(size) {
            Ok(0) => Ok(Next::Trailer { number: 0 }),
            // Slightly too strict: the head before the body counts too.
            Ok(left) if left <= MAX_BODY.saturating_sub(self.decoded_end) => Ok(Next::Data { left }),
            _ => Err(ResponseError::BodyTooLong),
        }
    }
}
