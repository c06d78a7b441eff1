//! Reasons why bytes cannot be read as a response, and the limits behind them.

/// Longest head accepted, in bytes; mallbox sends less than 1 KiB.
pub(super) const MAX_HEAD: usize = 16 * 1024;
/// Longest body accepted, in bytes. mallbox sends a few KiB at most; the limit bounds the memory a foreign
/// server can take.
pub(super) const MAX_BODY: usize = 8 * 1024 * 1024;

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
    /// A transfer encoding other than chunked alone.
    #[error("unsupported transfer-encoding; chunked and content-length are supported")]
    TransferEncoding,
    /// A chunk without a size in hexadecimal digits, or of another size.
    #[error("bad chunk")]
    BadChunk,
    /// A body delimited only by the end of the connection.
    #[error("neither a content-length, nor chunks, nor a status without body")]
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
