//! HTTP client for one picture: resolves the host once, checks the address, and connects to exactly the
//! checked address.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use axum::body::Bytes;
use http_body_util::{BodyExt as _, Empty};
use hyper::header::{ACCEPT, ACCEPT_ENCODING, CONNECTION, HOST, LOCATION, USER_AGENT};
use hyper::{Request, Response, StatusCode, body::Incoming};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use super::address::{Address, is_public};
use super::outcome::FetchError;
use crate::mall::base::tls::{TlsClient, server_name};
use crate::mall::writing::pictures::UPLOAD_MAX_BYTES;

/// Time limit of a connection attempt.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Timeout for a picture with all redirects.
const TOTAL_TIMEOUT: Duration = Duration::from_secs(15);
const REDIRECTS_MAX: usize = 3;
/// Number of a host's addresses to try.
const ADDRESSES_TRIED_MAX: usize = 3;
/// Ports below, other than 80 and 443, belong to other protocols.
const FIRST_FREE_PORT: u16 = 1024;

/// Name resolution, and the policy for permitted addresses.
#[async_trait]
pub(super) trait Network: Send + Sync {
    /// Returns the addresses of a host, at least one.
    async fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>>;

    /// Returns whether connecting to the address is permitted.
    fn may_reach(&self, address: SocketAddr) -> bool;
}

/// Permits the public internet only.
struct Internet;

#[async_trait]
impl Network for Internet {
    async fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        Ok(tokio::net::lookup_host((host, port)).await?.collect())
    }

    fn may_reach(&self, address: SocketAddr) -> bool {
        let port = address.port();
        is_public(address.ip()) && (port == 80 || port == 443 || port >= FIRST_FREE_PORT)
    }
}

/// HTTP client for pictures.
#[derive(Clone)]
pub(super) struct Client {
    network: Arc<dyn Network>,
    tls: TlsClient,
    whole: Duration,
}

/// Response of a server.
enum Answer {
    Picture(Vec<u8>),
    Elsewhere(String),
}

impl Client {
    /// Creates a client for the public internet, trusting the certificate authorities of browsers.
    pub(super) fn of_internet() -> Option<Self> {
        Some(Self::new(Arc::new(Internet), TlsClient::of_internet()?))
    }

    /// Creates a client for `network`.
    pub(super) fn new(network: Arc<dyn Network>, tls: TlsClient) -> Self {
        Self { network, tls, whole: TOTAL_TIMEOUT }
    }

    /// Changes the timeout for a picture.
    #[cfg(test)]
    pub(super) fn within(self, whole: Duration) -> Self {
        Self { whole, ..self }
    }

    /// Returns the bytes at an address, at most [`UPLOAD_MAX_BYTES`]. The content is not checked, whatever
    /// its declared type.
    pub(super) async fn get(&self, address: &str) -> Result<Vec<u8>, FetchError> {
        let address = Address::parse(address).ok_or(FetchError::NoAddress)?;
        tokio::time::timeout(self.whole, self.follow(address)).await.unwrap_or(Err(FetchError::TooSlow))
    }

    /// Follows redirects; each target is resolved and checked like the first address.
    async fn follow(&self, mut address: Address) -> Result<Vec<u8>, FetchError> {
        for _ in 0..=REDIRECTS_MAX {
            match self.ask(&address).await? {
                Answer::Picture(bytes) => return Ok(bytes),
                Answer::Elsewhere(location) => {
                    address = address.join(&location).ok_or(FetchError::NoAddress)?;
                }
            }
        }
        Err(FetchError::TooManyRedirects)
    }

    async fn ask(&self, address: &Address) -> Result<Answer, FetchError> {
        let stream = self.connect(address).await?;
        if !address.is_secure {
            return exchange(stream, address).await;
        }
        let name = server_name(&address.host).ok_or(FetchError::NoAddress)?;
        let stream = self.tls.connect(name, stream).await.map_err(|_| FetchError::Unreachable)?;
        exchange(stream, address).await
    }

    /// Connects after a single resolution, so that a later DNS change (rebinding) has no effect.
    async fn connect(&self, address: &Address) -> Result<TcpStream, FetchError> {
        let found = self.network.resolve(&address.host, address.port).await;
        let found = found.map_err(|_| FetchError::Unresolved)?;
        if found.is_empty() {
            return Err(FetchError::Unresolved);
        }
        let allowed: Vec<SocketAddr> =
            found.into_iter().filter(|address| self.network.may_reach(*address)).collect();
        if allowed.is_empty() {
            return Err(FetchError::Private);
        }
        for address in allowed.into_iter().take(ADDRESSES_TRIED_MAX) {
            if let Ok(Ok(stream)) = tokio::time::timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await {
                return Ok(stream);
            }
        }
        Err(FetchError::Unreachable)
    }
}

async fn exchange<S>(stream: S, address: &Address) -> Result<Answer, FetchError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.map_err(|_| FetchError::Unreachable)?;
    let request = Request::get(&address.target)
        .header(HOST, address.authority())
        .header(USER_AGENT, concat!("mallbox/", env!("CARGO_PKG_VERSION")))
        .header(ACCEPT, "image/webp,image/png,image/jpeg,image/gif")
        .header(ACCEPT_ENCODING, "identity")
        .header(CONNECTION, "close")
        .body(Empty::<Bytes>::new())
        .map_err(|_| FetchError::NoAddress)?;
    let exchanged = async {
        let response = sender.send_request(request).await.map_err(|_| FetchError::Unreachable)?;
        answer(response).await
    };
    // The connection ends with this call, whichever side gives up first.
    tokio::select! {
        answer = exchanged => answer,
        _ = async { let _ = connection.await; std::future::pending::<()>().await } => Err(FetchError::Unreachable),
    }
}

async fn answer(response: Response<Incoming>) -> Result<Answer, FetchError> {
    if response.status().is_redirection() && response.status() != StatusCode::NOT_MODIFIED {
        let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
        return location.map(|location| Answer::Elsewhere(location.to_owned())).ok_or(FetchError::Refused);
    }
    if response.status() != StatusCode::OK {
        return Err(FetchError::Refused);
    }
    let mut body = response.into_body();
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| FetchError::Unreachable)?.into_data() else { continue };
        if bytes.len() + data.len() > UPLOAD_MAX_BYTES {
            return Err(FetchError::TooLarge);
        }
        bytes.extend_from_slice(&data);
    }
    Ok(Answer::Picture(bytes))
}
