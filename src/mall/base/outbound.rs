//! HTTP requests to services of others: over TLS, or in plain text to this machine.
//!
//! Reasons and figures: `src/decisions/0039-names-gateways-and-builds.md`.

use std::error::Error;
use std::fmt::{self, Write as _};
use std::net::IpAddr;
use std::pin::pin;
use std::time::Duration;

use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Method, Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
#[cfg(feature = "https")]
use tokio_rustls::rustls::pki_types::ServerName;

#[cfg(feature = "https")]
use super::tls::{TlsClient, server_name};

/// A URL to send requests to. `Debug` hides the URL, which often contains a key. Cheap to clone.
#[derive(Clone)]
pub(in crate::mall) struct Endpoint {
    /// Host and port for the connection.
    address: String,
    /// Value of the `Host` header.
    host: String,
    /// Path and query of the URL.
    path: String,
    #[cfg(feature = "https")]
    tls: Option<(TlsClient, ServerName<'static>)>,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Endpoint(..)")
    }
}

/// Hosts that may be reached without TLS.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PlainText {
    ToThisMachine,
    #[cfg(feature = "otlp")]
    ToAnyHost,
}

/// Why a URL cannot be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub(in crate::mall) struct UrlError(pub(in crate::mall) &'static str);

/// A request without a response. Says nothing about its effect.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{text}")]
pub(in crate::mall) struct OutboundError {
    text: String,
    is_sent: bool,
}

impl OutboundError {
    /// The request cannot have reached anybody.
    fn unsent(what: &str, error: impl Error) -> Self {
        Self { text: format!("{what}: {error}"), is_sent: false }
    }

    /// The request may have taken effect.
    fn sent(text: String) -> Self {
        Self { text, is_sent: true }
    }

    /// No response came within `limit`.
    pub(in crate::mall) fn late(limit: Duration) -> Self {
        Self::sent(format!("no response within {} s", limit.as_secs()))
    }

    /// Returns whether the request may have taken effect.
    pub(in crate::mall) fn is_sent(&self) -> bool {
        self.is_sent
    }
}

/// A request; the endpoint adds host and connection.
#[derive(Clone, Debug)]
pub(in crate::mall) struct OutboundRequest<'a> {
    pub(in crate::mall) method: Method,
    /// Path and query.
    pub(in crate::mall) path: &'a str,
    /// Further headers. Without a `content-type` among them, a body is sent as JSON.
    pub(in crate::mall) headers: HeaderMap,
    /// The body; empty for none.
    pub(in crate::mall) body: Vec<u8>,
}

impl<'a> OutboundRequest<'a> {
    /// Creates a POST request with a form, as browsers send it.
    pub(in crate::mall) fn form(path: &'a str, fields: &[(&str, &str)]) -> Self {
        let mut headers = HeaderMap::new();
        let kind = HeaderValue::from_static("application/x-www-form-urlencoded");
        headers.insert(header::CONTENT_TYPE, kind);
        let body = form_text(fields).into_bytes();
        Self { method: Method::POST, path, headers, body }
    }
}

/// Writes fields as `name=value&name=value`, percent-encoded.
pub(in crate::mall) fn form_text(fields: &[(&str, &str)]) -> String {
    let pairs = fields.iter().map(|(name, value)| format!("{}={}", escaped(name), escaped(value)));
    pairs.collect::<Vec<_>>().join("&")
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' => out.push(byte.into()),
            // Writing to a String cannot fail.
            _ => drop(write!(out, "%{byte:02X}")),
        }
    }
    out
}

/// A response read in full.
#[derive(Clone, Debug)]
pub(in crate::mall) struct OutboundResponse {
    pub(in crate::mall) status: StatusCode,
    pub(in crate::mall) body: Bytes,
}

impl Endpoint {
    /// Creates an endpoint for an `https://` URL, or an `http://` URL of this machine.
    ///
    /// # Errors
    /// [`UrlError`] with the reason, if the URL cannot be used.
    pub(in crate::mall) fn new(url: &str) -> Result<Self, UrlError> {
        Self::parse(url, PlainText::ToThisMachine)
    }

    /// Creates an endpoint for an `https://` or `http://` URL of any host: for what anybody on the way may
    /// read.
    ///
    /// # Errors
    /// [`UrlError`] with the reason, if the URL cannot be used.
    #[cfg(feature = "otlp")]
    pub(in crate::mall) fn on_any_host(url: &str) -> Result<Self, UrlError> {
        Self::parse(url, PlainText::ToAnyHost)
    }

    fn parse(url: &str, plain_text: PlainText) -> Result<Self, UrlError> {
        let uri: Uri = url.parse().map_err(|_| UrlError("not a URL"))?;
        let is_secure = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(UrlError("URLs must begin with https:// or http://")),
        };
        let authority = uri.authority().ok_or(UrlError("the URL has no host"))?;
        if authority.as_str().contains('@') {
            return Err(UrlError("user names in the URL are not supported"));
        }
        let host = authority.host();
        // Any text after the host must be a port: `:` alone and `:99999` are valid in an authority too.
        let port = match authority.port_u16() {
            Some(port) => port,
            None if authority.as_str() == host && is_secure => 443,
            None if authority.as_str() == host => 80,
            None => 0,
        };
        if host.is_empty() || port == 0 {
            return Err(UrlError("the URL has no host, or no port after the colon"));
        }
        if !is_secure && plain_text == PlainText::ToThisMachine && !is_this_machine(host) {
            return Err(UrlError("beyond this machine, URLs must begin with https://"));
        }
        #[cfg(not(feature = "https"))]
        if is_secure {
            return Err(UrlError("this program is built without https"));
        }
        Ok(Self {
            address: format!("{host}:{port}"),
            path: uri.path_and_query().map_or("/", |path| path.as_str()).to_owned(),
            #[cfg(feature = "https")]
            tls: match is_secure {
                true => {
                    let tls = TlsClient::of_internet().zip(server_name(host));
                    Some(tls.ok_or(UrlError("TLS cannot be set up for this host"))?)
                }
                false => None,
            },
            host: authority.as_str().to_owned(),
        })
    }

    /// Replaces the trusted authorities.
    #[cfg(all(test, feature = "https"))]
    pub(in crate::mall) fn trusting(self, tls: (TlsClient, ServerName<'static>)) -> Self {
        Self { tls: Some(tls), ..self }
    }

    /// Returns path and query of the URL.
    pub(in crate::mall) fn path(&self) -> &str {
        &self.path
    }

    /// Sends a request over a new connection and reads a response body of at most `max_body` bytes; with 0
    /// leaves the body unread. Redirects are not followed. Dropping the future closes the connection; the
    /// caller limits the time.
    ///
    /// # Errors
    /// [`OutboundError`]: the request may have taken effect, unless no connection was opened.
    pub(in crate::mall) async fn send(
        &self,
        request: OutboundRequest<'_>,
        max_body: usize,
    ) -> Result<OutboundResponse, OutboundError> {
        let OutboundRequest { method, path, headers, body } = request;
        let mut built = Request::builder().method(method).uri(path).header(header::HOST, &self.host);
        if let Some(own) = built.headers_mut() {
            own.extend(headers);
            if !body.is_empty() {
                own.entry(header::CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
            }
        }
        let request = built
            .body(Full::new(Bytes::from(body)))
            .map_err(|error| OutboundError::unsent("cannot build the request", error))?;
        let stream = TcpStream::connect(&self.address)
            .await
            .map_err(|error| OutboundError::unsent("cannot connect", error))?;
        #[cfg(feature = "https")]
        if let Some((tls, name)) = &self.tls {
            let stream = tls
                .connect(name.clone(), stream)
                .await
                .map_err(|error| OutboundError::unsent("cannot open a TLS connection", error))?;
            return exchange(stream, request, max_body).await;
        }
        exchange(stream, request, max_body).await
    }
}

/// Sends a request over a new connection and reads the response.
async fn exchange<S>(
    stream: S,
    request: Request<Full<Bytes>>,
    max_body: usize,
) -> Result<OutboundResponse, OutboundError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let no_response = |error: hyper::Error| OutboundError::sent(format!("no response: {error}"));
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(no_response)?;
    let call = async {
        let response = sender.send_request(request).await.map_err(no_response)?;
        let status = response.status();
        if max_body == 0 {
            return Ok(OutboundResponse { status, body: Bytes::new() });
        }
        let body = Limited::new(response.into_body(), max_body).collect().await.map_err(|error| {
            let is_large = error.downcast_ref::<LengthLimitError>().is_some();
            let what = if is_large { "the response is too large" } else { "the response was cut off" };
            OutboundError::sent(what.to_owned())
        })?;
        Ok(OutboundResponse { status, body: body.to_bytes() })
    };
    // Polled here instead of in a separate task: dropping this future leaves nothing behind.
    let mut call = pin!(call);
    let mut connection = pin!(connection);
    tokio::select! {
        biased;
        response = &mut call => response,
        // A short response may arrive in full before the first poll: poll again.
        _ended = &mut connection => call.await,
    }
}

/// Returns whether the host of a URL is this machine, without a look-up: names may point anywhere.
fn is_this_machine(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_percent_encoded() {
        let request = OutboundRequest::form("/verify", &[("secret", "a&b=c"), ("response", "验 +~.-_9Z")]);
        assert_eq!(request.headers[header::CONTENT_TYPE], "application/x-www-form-urlencoded");
        let body = String::from_utf8(request.body).unwrap();
        assert_eq!(body, "secret=a%26b%3Dc&response=%E9%AA%8C%20%2B%7E.-_9Z");
    }

    #[test]
    fn a_url_is_secure_or_of_this_machine() {
        for url in
            ["http://127.0.0.1:9000/pay?key=1", "http://localhost/", "http://[::1]:80", "http://LocalHost"]
        {
            assert!(Endpoint::new(url).is_ok(), "{url}");
        }
        for (url, why) in [
            ("http://pay.example/", "https://"),
            ("http://10.0.0.1/", "https://"),
            ("ftp://pay.example/", "begin with"),
            ("pay.example", "begin with"),
            ("https://me@pay.example/", "user names"),
            ("https://pay.example:99999/", "port"),
            ("https://pay.example:/", "port"),
            ("https:///pay", "not a URL"),
        ] {
            let error = Endpoint::new(url).unwrap_err();
            assert!(error.to_string().contains(why), "{url}: {error}");
        }
        assert_eq!(Endpoint::new("https://pay.example").is_ok(), cfg!(feature = "https"));
        let endpoint = Endpoint::new("http://127.0.0.1/?key=k3p9").unwrap();
        assert_eq!(Endpoint::new("http://[::1]/").unwrap().address, "[::1]:80");
        assert_eq!((endpoint.path(), format!("{endpoint:?}").as_str()), ("/?key=k3p9", "Endpoint(..)"));
    }
}
