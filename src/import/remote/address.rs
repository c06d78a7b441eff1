//! Addresses of remote pictures, and the check against requests into private networks (SSRF) through an
//! untrusted dump.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hyper::Uri;

/// An `http://` or `https://` address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Address {
    pub(super) is_secure: bool,
    /// Host name, or IP address without brackets.
    pub(super) host: String,
    pub(super) port: u16,
    /// Path and query, percent-encoded.
    pub(super) target: String,
}

impl Address {
    /// Parses an address as used in pages; `//host/…` means `https`. `None` for any other scheme, for an
    /// address with user information, or without a host.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.split('#').next().unwrap_or_default().trim();
        let text = if text.starts_with("//") { format!("https:{text}") } else { text.to_owned() };
        let uri: Uri = encoded(&text).parse().ok()?;
        let is_secure = match uri.scheme_str()? {
            "https" => true,
            "http" => false,
            _ => return None,
        };
        let authority = uri.authority()?;
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        let is_plain = !authority.as_str().contains('@') && (1..=253).contains(&host.len());
        let port = match authority.port() {
            Some(port) => port.as_str().parse().ok()?,
            // Port number out of range.
            None if authority.as_str() != authority.host() => return None,
            None if is_secure => 443,
            None => 80,
        };
        let target = uri.path_and_query().map_or("/", |target| target.as_str()).to_owned();
        is_plain.then_some(Self { is_secure, host, port, target })
    }

    /// Resolves a `Location` header relative to this address.
    pub(super) fn join(&self, location: &str) -> Option<Self> {
        let location = location.trim();
        let scheme = if self.is_secure { "https" } else { "http" };
        if location.starts_with("//") {
            return Self::parse(&format!("{scheme}:{location}"));
        }
        if location.contains("://") {
            return Self::parse(location);
        }
        let folder = self.target.split('?').next().unwrap_or("/").rsplit_once('/').map_or("", |(dir, _)| dir);
        let path =
            if location.starts_with('/') { location.to_owned() } else { format!("{folder}/{location}") };
        Self::parse(&format!("{scheme}://{}{path}", self.authority()))
    }

    /// Returns host and port, as in the `Host` header.
    pub(super) fn authority(&self) -> String {
        let Self { host, port, is_secure, .. } = self;
        let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        let usual = if *is_secure { 443 } else { 80 };
        if *port == usual { host } else { format!("{host}:{port}") }
    }
}

/// Percent-encodes characters not allowed in a URL; existing escapes are kept.
fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' | 0..=b' ' | 0x7f.. => {
            format!("%{byte:02X}")
        }
        plain => char::from(plain).to_string(),
    };
    text.bytes().map(byte).collect()
}

/// Returns whether an address belongs to the public internet, not to this machine, its network, a carrier's
/// network, a multicast group or a reserved range. Of the IPv6 ranges that embed IPv4 addresses, only NAT64
/// counts, and only for public IPv4 addresses.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    /// Non-public IPv4 networks, as first address and prefix length.
    const OTHERS: [([u8; 4], u32); 15] = [
        ([0, 0, 0, 0], 8),
        ([10, 0, 0, 0], 8),
        ([100, 64, 0, 0], 10),
        ([127, 0, 0, 0], 8),
        ([169, 254, 0, 0], 16),
        ([172, 16, 0, 0], 12),
        ([192, 0, 0, 0], 24),
        ([192, 0, 2, 0], 24),
        ([192, 88, 99, 0], 24),
        ([192, 168, 0, 0], 16),
        ([198, 18, 0, 0], 15),
        ([198, 51, 100, 0], 24),
        ([203, 0, 113, 0], 24),
        ([224, 0, 0, 0], 4),
        ([240, 0, 0, 0], 4),
    ];
    let is_in = |(network, length): ([u8; 4], u32)| {
        (u32::from(address) ^ u32::from_be_bytes(network)) >> (32 - length) == 0
    };
    !OTHERS.into_iter().any(is_in)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, c, d, e, f, ..] = address.segments();
    let low = u32::from_be_bytes([12, 13, 14, 15].map(|place: usize| address.octets()[place]));
    // NAT64 prefix: an IPv6-only network reaches IPv4 hosts through these addresses.
    if [a, b, c, d, e, f] == [0x64, 0xff9b, 0, 0, 0, 0] {
        return is_public_v4(Ipv4Addr::from(low));
    }
    let is_unicast = a & 0xe000 == 0x2000;
    // Teredo and other protocol assignments, documentation, and embedded IPv4.
    let is_special = a == 0x2001 && (b < 0x200 || b == 0xdb8) || a == 0x2002 || a == 0x3fff && b < 0x1000;
    is_unicast && !is_special
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_pages_write_them() {
        let text = |address: &Address| {
            let scheme = if address.is_secure { "https" } else { "http" };
            format!("{scheme}://{}{}", address.authority(), address.target)
        };
        for (written, meant) in [
            ("https://p0.example/x/y.jpg?w=1#top", "https://p0.example/x/y.jpg?w=1"),
            ("//P0.example", "https://p0.example/"),
            ("http://p.example:8080/图 1.png", "http://p.example:8080/%E5%9B%BE%201.png"),
            ("http://[2001:4860::1]:81/a", "http://[2001:4860::1]:81/a"),
            ("https://p.example/a%40700w_1e", "https://p.example/a%40700w_1e"),
        ] {
            assert_eq!(Address::parse(written).as_ref().map(text).as_deref(), Some(meant), "{written}");
        }
        for none in [
            "ftp://p.example/a",
            "file:///etc/passwd",
            "http://",
            "http://me@p.example/",
            "/a.png",
            "http://p:99999/",
            "gopher://x/",
        ] {
            assert_eq!(Address::parse(none), None, "{none}");
        }
        let from = Address::parse("https://p.example/a/b.jpg?c").unwrap();
        for (location, to) in [
            ("/c", "https://p.example/c"),
            ("c.png", "https://p.example/a/c.png"),
            ("//q.example/d", "https://q.example/d"),
            ("http://127.0.0.1/", "http://127.0.0.1/"),
        ] {
            assert_eq!(from.join(location).as_ref().map(text).as_deref(), Some(to), "{location}");
        }
        assert_eq!(from.join("file:///etc/passwd"), None);
    }

    #[test]
    fn only_the_public_internet_is_public() {
        for private in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.9.9.9",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.168.1.1",
            "198.19.0.1",
            "198.51.100.7",
            "203.0.113.7",
            "224.0.0.1",
            "239.255.255.250",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b::a00:1",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "3fff::1",
            "fc00::1",
            "fd12:3456::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
        for public in [
            "1.1.1.1",
            "100.63.255.255",
            "100.128.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "223.5.5.5",
            "2400:3200::1",
            "2001:4860:4860::8888",
            "64:ff9b::808:808",
        ] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
    }
}
