//! The address of a client, computed once per request: the peer of the connection or, behind trusted proxies,
//! the address that they report.
//!
//! Each proxy appends the address of its own peer to a header. The entries are read from the right: entries
//! of trusted proxies are skipped, and the first other address is the client. Everything to its left was
//! written by the client and is never read. Of a peer that is no trusted proxy, no header is read.
//!
//! Reasons and figures: `src/decisions/0034-client-addresses.md`.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use axum::http::header::FORWARDED;
use axum::http::{HeaderMap, HeaderName};
use ipnet::IpNet;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The header in which proxies report client addresses. The other header is ignored: a proxy that writes one
/// passes on whatever a client writes into the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ProxyHeader {
    /// `X-Forwarded-For: 203.0.113.7, 10.0.0.2`.
    #[default]
    XForwardedFor,
    /// `Forwarded: for=203.0.113.7;proto=https, for="[2001:db8::2]:443"` (RFC 7239).
    Forwarded,
}

/// The proxies whose reports are believed. Empty by default.
#[derive(Clone, Debug, Default)]
pub struct TrustedProxies {
    networks: Arc<[IpNet]>,
    header: ProxyHeader,
}

/// The client address of a request.
#[derive(Clone, Copy, Debug)]
pub(in crate::http) struct ClientAddress(pub(in crate::http) IpAddr);

impl TrustedProxies {
    /// Trusts the proxies in `networks`, and reads their reports from `header`.
    #[must_use]
    pub fn new(networks: &[IpNet], header: ProxyHeader) -> Self {
        Self { networks: networks.into(), header }
    }

    /// Returns whether the address belongs to a trusted proxy.
    pub(in crate::http) fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.networks.iter().any(|network| network.contains(&address))
    }

    /// Returns the client's address for a request from `peer`: the right-most reported address that belongs
    /// to no trusted proxy. A malformed or obfuscated entry ends the walk at the last address read before.
    pub(in crate::http) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let mut client = peer.to_canonical();
        if !self.contains(client) {
            return client;
        }
        let (name, read): (_, fn(&str) -> Option<IpAddr>) = match self.header {
            ProxyHeader::XForwardedFor => (X_FORWARDED_FOR, address_of),
            ProxyHeader::Forwarded => (FORWARDED, address_in_element),
        };
        let lines: Vec<_> = headers.get_all(name).iter().collect();
        for line in lines.into_iter().rev() {
            let Ok(line) = line.to_str() else { return client };
            for entry in from_the_right(line).map(str::trim).filter(|entry| !entry.is_empty()) {
                let Some(address) = read(entry) else { return client };
                client = address;
                if !self.contains(client) {
                    return client;
                }
            }
        }
        client
    }
}

/// Splits a list at the commas outside of quotes, from the right: whatever a client wrote further left, even
/// an open quote, leaves the entries of proxies as they are.
fn from_the_right(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let line = rest?;
        let mut is_quoted = false;
        let comma = line.bytes().rposition(|byte| {
            is_quoted ^= byte == b'"';
            byte == b',' && !is_quoted
        });
        rest = comma.map(|at| &line[..at]);
        Some(&line[comma.map_or(0, |at| at + 1)..])
    })
}

/// Returns the address of the one `for` in an element of `Forwarded`.
fn address_in_element(element: &str) -> Option<IpAddr> {
    let mut named = element.split(';').filter_map(|pair| pair.split_once('='));
    let is_for = |(name, _): &(&str, &str)| name.trim().eq_ignore_ascii_case("for");
    let (_, node) = named.find(is_for)?;
    if named.any(|pair| is_for(&pair)) { None } else { address_of(node.trim()) }
}

/// Parses an address, with or without quotes, brackets and a port. `None` for `unknown` and for names.
fn address_of(node: &str) -> Option<IpAddr> {
    let node = match node.strip_prefix('"') {
        Some(quoted) => quoted.strip_suffix('"')?,
        None => node,
    };
    let bracketed = || node.strip_prefix('[')?.strip_suffix(']')?.parse::<Ipv6Addr>().ok();
    let address = node
        .parse::<IpAddr>()
        .ok()
        .or_else(|| bracketed().map(IpAddr::V6))
        .or_else(|| node.parse::<SocketAddr>().ok().map(|address| address.ip()))?;
    Some(address.to_canonical())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn proxies(header: ProxyHeader) -> TrustedProxies {
        let networks = ["10.0.0.0/8", "127.0.0.1/32", "fd00::/8"];
        TrustedProxies::new(&networks.map(|network| network.parse().unwrap()), header)
    }

    fn client(header: ProxyHeader, peer: &str, lines: &[(&'static str, &[u8])]) -> String {
        let mut headers = HeaderMap::new();
        for (name, line) in lines {
            headers.append(*name, HeaderValue::from_bytes(line).unwrap());
        }
        proxies(header).client(peer.parse().unwrap(), &headers).to_string()
    }

    #[test]
    fn the_right_most_address_that_is_no_proxys_is_the_client() {
        for (line, want) in [
            ("203.0.113.7", "203.0.113.7"),
            ("1.1.1.1, 203.0.113.7", "203.0.113.7"),
            ("1.1.1.1,203.0.113.7,10.0.0.2 , 10.1.2.3", "203.0.113.7"),
            ("203.0.113.7:4711", "203.0.113.7"),
            ("\"203.0.113.7:4711\"", "203.0.113.7"),
            ("2001:db8::7", "2001:db8::7"),
            ("[2001:db8::7]", "2001:db8::7"),
            ("\"[2001:db8::7]:443\"", "2001:db8::7"),
            ("::ffff:203.0.113.7", "203.0.113.7"),
            ("::ffff:10.0.0.2", "10.0.0.2"),
            ("203.0.113.7, fd00::1", "203.0.113.7"),
            // Empty entries are no entries.
            ("203.0.113.7,, ,10.0.0.2,", "203.0.113.7"),
            // Only proxies on the way: the left-most one made the request.
            ("10.0.0.2, 10.0.0.3", "10.0.0.2"),
            ("", "10.0.0.1"),
        ] {
            let read =
                client(ProxyHeader::XForwardedFor, "10.0.0.1", &[("x-forwarded-for", line.as_bytes())]);
            assert_eq!(read, want, "{line}");
        }
    }

    #[test]
    fn an_entry_that_is_no_address_ends_the_walk_at_the_last_good_one() {
        for (line, want) in [
            ("1.1.1.1, unknown", "10.0.0.1"),
            ("1.1.1.1, unknown, 10.0.0.9", "10.0.0.9"),
            ("1.1.1.1, _hidden, 10.0.0.9", "10.0.0.9"),
            ("1.1.1.1, 300.0.0.1", "10.0.0.1"),
            ("1.1.1.1, 203.0.113.7:port", "10.0.0.1"),
            ("1.1.1.1, 203.0.113.7:99999", "10.0.0.1"),
            ("1.1.1.1, fe80::1%eth0", "10.0.0.1"),
            ("1.1.1.1, \"203.0.113.7", "10.0.0.1"),
            ("1.1.1.1, [2001:db8::7", "10.0.0.1"),
            ("1.1.1.1, for=203.0.113.7", "10.0.0.1"),
        ] {
            let read =
                client(ProxyHeader::XForwardedFor, "10.0.0.1", &[("x-forwarded-for", line.as_bytes())]);
            assert_eq!(read, want, "{line}");
        }
        let bytes: &[(_, &[u8])] = &[("x-forwarded-for", b"1.1.1.1"), ("x-forwarded-for", b"\xff\xfe")];
        assert_eq!(client(ProxyHeader::XForwardedFor, "10.0.0.1", bytes), "10.0.0.1");
    }

    #[test]
    fn elements_of_forwarded_are_read_as_the_standard_has_them() {
        for (line, want) in [
            ("for=203.0.113.7", "203.0.113.7"),
            ("For=\"[2001:db8::7]:4711\"", "2001:db8::7"),
            ("for=203.0.113.7;proto=https;by=10.0.0.1", "203.0.113.7"),
            ("proto=http; by=10.0.0.1; for=203.0.113.7", "203.0.113.7"),
            ("for=1.1.1.1, for=203.0.113.7, for=10.0.0.2", "203.0.113.7"),
            ("host=\"a,b\";for=203.0.113.7", "203.0.113.7"),
            ("for=1.1.1.1, for=unknown", "10.0.0.1"),
            ("for=1.1.1.1, for=_hidden", "10.0.0.1"),
            ("for=1.1.1.1, proto=https", "10.0.0.1"),
            ("for=1.1.1.1, for=203.0.113.7;for=203.0.113.8", "10.0.0.1"),
            // A quote that a client leaves open swallows nothing of the proxy's.
            ("for=\"1.1.1.1, for=203.0.113.7", "203.0.113.7"),
            ("203.0.113.7", "10.0.0.1"),
        ] {
            let read = client(ProxyHeader::Forwarded, "10.0.0.1", &[("forwarded", line.as_bytes())]);
            assert_eq!(read, want, "{line}");
        }
    }

    #[test]
    fn several_lines_of_a_header_are_one_list() {
        let lines: &[(_, &[u8])] = &[
            ("x-forwarded-for", b"1.1.1.1"),
            ("x-forwarded-for", b"2.2.2.2, 203.0.113.7"),
            ("x-forwarded-for", b"10.0.0.2"),
        ];
        assert_eq!(client(ProxyHeader::XForwardedFor, "10.0.0.1", lines), "203.0.113.7");
    }

    #[test]
    fn only_one_header_is_believed_and_only_from_a_trusted_peer() {
        let both: &[(_, &[u8])] = &[
            ("x-forwarded-for", b"203.0.113.7"),
            ("forwarded", b"for=203.0.113.8"),
            ("x-real-ip", b"1.1.1.1"),
        ];
        assert_eq!(client(ProxyHeader::XForwardedFor, "10.0.0.1", both), "203.0.113.7");
        assert_eq!(client(ProxyHeader::Forwarded, "10.0.0.1", both), "203.0.113.8");
        assert_eq!(client(ProxyHeader::Forwarded, "10.0.0.1", &both[..1]), "10.0.0.1");
        for peer in ["192.0.2.1", "127.0.0.2", "2001:db8::1", "::ffff:192.0.2.1"] {
            let read = client(ProxyHeader::XForwardedFor, peer, both);
            assert_eq!(read, peer.trim_start_matches("::ffff:"), "an untrusted peer is believed");
        }
        assert_eq!(client(ProxyHeader::XForwardedFor, "::ffff:10.0.0.1", both), "203.0.113.7");
        let nobody = TrustedProxies::default().client("127.0.0.1".parse().unwrap(), &HeaderMap::new());
        assert_eq!(nobody.to_string(), "127.0.0.1");
    }
}
