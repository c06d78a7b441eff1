//! The server under load that somebody else started.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use axum::http::Uri;

use super::faults::is_path;
use crate::bench::load::{Load, Share};

/// Longest time of a connection and of a response.
pub(in crate::bench) const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// Most connections while users log in.
const CONNECTIONS: usize = 32;

/// A target that cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// Not `http://host[:port][/prefix]`; the value.
    #[error("expected http://HOST[:PORT][/PREFIX] and got '{0}'")]
    NotAUrl(String),
    /// The name has no address; the host.
    #[error("cannot find the host '{0}': {1}")]
    UnknownHost(String, std::io::Error),
    /// Another machine, without the permission to load it; its address.
    #[error("{0} is another machine; if it is yours, or its owner agrees, add --i-may-load-this-host")]
    NotThisMachine(SocketAddr),
    /// Nobody accepts a connection; the address tried last.
    #[error("cannot connect to {0}: {1}")]
    NoConnection(SocketAddr, std::io::Error),
}

/// A server to load, which accepts connections.
#[derive(Clone, Debug)]
pub struct Target {
    /// The address that accepted a connection.
    pub(in crate::bench) address: SocketAddr,
    /// Value of the `host` header.
    pub(in crate::bench) host: String,
    /// Comes before every path.
    pub(in crate::bench) prefix: String,
}

impl Target {
    /// Finds the server at a URL and connects once. The dialect's `prefix` counts unless the URL has a path.
    /// `may_load_others` allows addresses beyond the loopback interface.
    ///
    /// # Errors
    /// [`TargetError`].
    pub fn find(url: &str, prefix: &str, may_load_others: bool) -> Result<Self, TargetError> {
        let not_a_url = || TargetError::NotAUrl(url.to_owned());
        let parsed: Uri = url.parse().map_err(|_| not_a_url())?;
        let (Some("http"), Some(authority)) = (parsed.scheme_str(), parsed.authority()) else {
            return Err(not_a_url());
        };
        let path = parsed.path().trim_end_matches('/');
        if authority.as_str().contains('@') || parsed.query().is_some() || !(path.is_empty() || is_path(path))
        {
            return Err(not_a_url());
        }
        // A port that is no number would be taken for none.
        if authority.port_u16().is_none() && authority.as_str() != authority.host() {
            return Err(not_a_url());
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        let addresses: Vec<SocketAddr> = (host, authority.port_u16().unwrap_or(80))
            .to_socket_addrs()
            .map_err(|error| TargetError::UnknownHost(host.to_owned(), error))?
            .collect();
        if let Some(other) = addresses.iter().find(|address| !address.ip().to_canonical().is_loopback())
            && !may_load_others
        {
            return Err(TargetError::NotThisMachine(*other));
        }
        let address = first_that_accepts(&addresses).ok_or_else(not_a_url)??;
        let prefix = if path.is_empty() { prefix } else { path };
        Ok(Self { address, host: authority.to_string(), prefix: prefix.to_owned() })
    }

    /// Returns the name of the host without brackets or port, and the port.
    pub(in crate::bench) fn host_and_port(&self) -> (&str, u16) {
        let port = self.address.port();
        let host = self.host.strip_suffix(&format!(":{port}")).unwrap_or(&self.host);
        (host, port)
    }

    /// Returns a load for so many requests, which are not measured.
    pub(super) fn load(&self, requests: usize) -> Load {
        Load {
            addresses: vec![self.address],
            connections: CONNECTIONS.min(requests).max(1),
            stop_at: None,
            request_timeout: REQUEST_TIMEOUT,
            shape: None,
            share: Share::WHOLE,
        }
    }
}

/// Returns the first address that accepts a connection, or the last error; `None` without addresses. A name
/// often has an address of IPv6 too, on which nobody listens.
fn first_that_accepts(addresses: &[SocketAddr]) -> Option<Result<SocketAddr, TargetError>> {
    let mut last = None;
    for address in addresses {
        match TcpStream::connect_timeout(address, REQUEST_TIMEOUT) {
            Ok(_) => return Some(Ok(*address)),
            Err(error) => last = Some(Err(TargetError::NoConnection(*address, error))),
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_target_is_an_address_that_accepts_connections() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        for (url, host, prefix) in [
            (format!("http://{address}"), address.to_string(), "/api"),
            (format!("http://{address}/"), address.to_string(), "/api"),
            (
                format!("http://localhost:{}/mall/", address.port()),
                format!("localhost:{}", address.port()),
                "/mall",
            ),
        ] {
            let target = Target::find(&url, "/api", false).unwrap();
            assert_eq!(
                (target.address, target.host.as_str(), target.prefix.as_str()),
                (address, &*host, prefix)
            );
        }
    }

    #[test]
    fn another_machine_needs_a_permission() {
        // Addresses for documentation: nobody answers there.
        for url in ["http://192.0.2.1:81", "http://[2001:db8::1]:81", "http://[::ffff:192.0.2.1]:81"] {
            let refused = Target::find(url, "/api", false);
            assert!(matches!(refused, Err(TargetError::NotThisMachine(_))), "{url}: {refused:?}");
        }
    }

    #[test]
    fn a_target_that_cannot_be_used_says_why() {
        for url in
            ["", "mall", "127.0.0.1:81", "https://localhost", "http://u:p@localhost", "http://localhost/a?b"]
        {
            let refused = Target::find(url, "/api", false);
            assert!(matches!(refused, Err(TargetError::NotAUrl(_))), "{url}: {refused:?}");
        }
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let refused = Target::find(&format!("http://{free}"), "/api", false);
        assert!(
            matches!(refused, Err(TargetError::NoConnection(address, _)) if address == free),
            "{refused:?}"
        );
        let refused = Target::find("http://nowhere.invalid", "/api", true);
        assert!(matches!(refused, Err(TargetError::UnknownHost(..))), "{refused:?}");
    }
}
