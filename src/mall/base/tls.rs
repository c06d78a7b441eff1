//! TLS towards servers of others.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

/// Opens TLS connections to servers whose certificates a set of authorities vouches for. Cheap to clone.
#[derive(Clone)]
pub(crate) struct TlsClient {
    connector: TlsConnector,
}

impl TlsClient {
    /// Creates a client that trusts the certificate authorities of browsers; `None` if TLS cannot be set up.
    pub(crate) fn of_internet() -> Option<Self> {
        let mut roots = RootCertStore::empty();
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        Self::trusting(roots)
    }

    /// Creates a client that trusts `roots` only; `None` if TLS cannot be set up.
    pub(crate) fn trusting(roots: RootCertStore) -> Option<Self> {
        let config = ClientConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .ok()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Some(Self { connector: TlsConnector::from(Arc::new(config)) })
    }

    /// Opens TLS over a connection. The server has to prove `name`.
    ///
    /// # Errors
    /// The connection failed, or the server could not prove its name.
    pub(crate) async fn connect(
        &self,
        name: ServerName<'static>,
        stream: TcpStream,
    ) -> io::Result<TlsStream<TcpStream>> {
        self.connector.connect(name, stream).await
    }
}

/// Returns the name to prove for the host of a URL, an IPv6 address with or without brackets; `None` if the
/// host is neither a name nor an address.
pub(crate) fn server_name(host: &str) -> Option<ServerName<'static>> {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    match address.parse::<IpAddr>() {
        Ok(ip) => Some(ServerName::IpAddress(ip.into())),
        Err(_) => ServerName::try_from(host.to_owned()).ok(),
    }
}
