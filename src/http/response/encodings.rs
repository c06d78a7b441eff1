//! Content encodings: gzip and Brotli, by the client's `Accept-Encoding`.

use std::io::Write as _;

use axum::http::HeaderMap;
use axum::http::header::ACCEPT_ENCODING;
use flate2::Compression;
use flate2::write::GzEncoder;

/// A supported content encoding, the preferred first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::http) enum Encoding {
    /// Produced at build time only, because Brotli is slow.
    Brotli,
    /// Supported by every client.
    Gzip,
}

impl Encoding {
    /// Returns the encoding's name in headers.
    pub(in crate::http) fn name(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Gzip => "gzip",
        }
    }
}

/// Returns the encodings that the client accepts, preferred first.
pub(in crate::http) fn accepted(headers: &HeaderMap) -> impl Iterator<Item = Encoding> {
    let accepted_encodings =
        headers.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    [Encoding::Brotli, Encoding::Gzip].into_iter().filter(move |encoding| {
        accepted_encodings.split(',').any(|one| {
            let (name, quality) = one.split_once(';').unwrap_or((one, ""));
            let refused = quality.trim().strip_prefix("q=").and_then(|text| text.parse().ok()) == Some(0.0);
            name.trim() == encoding.name() && !refused
        })
    })
}

/// Compresses a text generated for one response; `None` if the client does not accept gzip.
pub(in crate::http) fn gzipped(text: &str, headers: &HeaderMap) -> Option<Vec<u8>> {
    if takes_gzip(headers) { gzip(text) } else { None }
}

/// Returns whether the client accepts gzip.
pub(in crate::http) fn takes_gzip(headers: &HeaderMap) -> bool {
    accepted(headers).any(|encoding| encoding == Encoding::Gzip)
}

/// Compresses a text.
pub(in crate::http) fn gzip(text: &str) -> Option<Vec<u8>> {
    let mut gzip = GzEncoder::new(Vec::with_capacity(text.len() / 3), Compression::default());
    gzip.write_all(text.as_bytes()).ok()?;
    gzip.finish().ok()
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn who_takes_nothing_compressed_gets_it_plain() {
        use Encoding::{Brotli, Gzip};
        for (accepted_encodings, want) in [
            ("gzip, deflate, br", &[Brotli, Gzip][..]),
            ("gzip", &[Gzip]),
            ("br;q=0, gzip;q=0.5", &[Gzip]),
            ("br; q=0.000, GZIP", &[]),
            ("identity", &[]),
            ("", &[]),
        ] {
            let headers =
                HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(accepted_encodings))]);
            assert_eq!(accepted(&headers).collect::<Vec<_>>(), want, "{accepted_encodings}");
            assert_eq!(gzipped("<svg/>", &headers).is_some(), want.contains(&Gzip), "{accepted_encodings}");
        }
        assert_eq!(accepted(&HeaderMap::new()).count(), 0);
    }
}
