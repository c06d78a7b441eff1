//! Who may use the page: whoever has the key, from a page of this address.

use std::net::SocketAddr;

use axum::http::{HeaderMap, header};
use sha2::{Digest as _, Sha256};

/// The header with the key.
const KEY_HEADER: &str = "x-learn-key";

/// The key, and the names of this server.
pub(super) struct Access {
    key: [u8; 32],
    /// Host and port, as browsers send them.
    hosts: [String; 2],
}

impl Access {
    pub(super) fn new(address: SocketAddr, key: &str) -> Self {
        let port = address.port();
        // Browsers leave out the port of HTTP.
        let port = if port == 80 { String::new() } else { format!(":{port}") };
        let hosts = [format!("{}{port}", address.ip()), format!("localhost{port}")];
        Self { key: Sha256::digest(key.as_bytes()).into(), hosts }
    }

    /// Whether the request was sent to this server by name, and by no page of another origin. A name that
    /// somebody lets point to this machine is refused.
    pub(super) fn is_here(&self, headers: &HeaderMap) -> bool {
        let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or_default());
        let is_own = |host: &str| self.hosts.iter().any(|own| own == host);
        let host = text(header::HOST).is_some_and(is_own);
        let origin =
            text(header::ORIGIN).is_none_or(|origin| origin.strip_prefix("http://").is_some_and(is_own));
        host && origin
    }

    pub(super) fn has_key(&self, headers: &HeaderMap) -> bool {
        // Digests are compared: the time of the comparison says nothing about the key.
        headers.get(KEY_HEADER).is_some_and(|given| Sha256::digest(given.as_bytes())[..] == self.key)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn access() -> Access {
        Access::new(SocketAddr::from(([127, 0, 0, 1], 4_000)), "the key")
    }

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn requests_of_other_hosts_and_origins_are_refused() {
        for (given, is_here) in [
            (&[("host", "127.0.0.1:4000")][..], true),
            (&[("host", "localhost:4000")], true),
            (&[("host", "127.0.0.1:4000"), ("origin", "http://127.0.0.1:4000")], true),
            (&[("host", "localhost:4000"), ("origin", "http://127.0.0.1:4000")], true),
            (&[], false),
            (&[("host", "127.0.0.1:4001")], false),
            (&[("host", "evil.example:4000")], false),
            (&[("host", "127.0.0.1:4000"), ("origin", "http://evil.example")], false),
            (&[("host", "127.0.0.1:4000"), ("origin", "https://127.0.0.1:4000")], false),
            (&[("host", "127.0.0.1:4000"), ("origin", "null")], false),
        ] {
            assert_eq!(access().is_here(&headers(given)), is_here, "{given:?}");
        }
    }

    #[test]
    fn the_key_has_to_be_the_whole_key() {
        for (given, has_key) in [("the key", true), ("the ke", false), ("the key ", false), ("", false)] {
            assert_eq!(access().has_key(&headers(&[(KEY_HEADER, given)])), has_key, "{given:?}");
        }
        assert!(!access().has_key(&HeaderMap::new()));
    }
}
