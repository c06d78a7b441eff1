//! Login codes through a gateway that accepts them over HTTPS, or over HTTP on this machine.
//!
//! Reasons and figures: `src/decisions/0039-names-gateways-and-builds.md`.

use std::time::Duration;

use async_trait::async_trait;
use hyper::StatusCode;
use hyper::header::{HeaderName, HeaderValue};

use super::{Sms, SmsError, SmsSender};
use crate::mall::base::webhook_client::WebhookClient;

/// Header with the idempotency key of a code.
const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// Posts `{"phone":…,"code":…}` to a gateway. Any status of 200 to 299 counts as sent; redirects are not
/// followed. `Debug` hides the URL, which often contains a key.
#[derive(Clone, Debug)]
pub struct Webhook(WebhookClient);

impl Webhook {
    /// Timeout for connecting, posting and receiving the response head together, in real time.
    const TIMEOUT: Duration = Duration::from_secs(1);

    /// Creates a webhook for an `https://` URL, or an `http://` URL of this machine.
    ///
    /// # Errors
    /// [`SmsError`] with a message for the operator, if the URL cannot be used.
    pub fn new(url: &str) -> Result<Self, SmsError> {
        let client = WebhookClient::new(url).map_err(|why| {
            SmsError::Refused(format!(
                "expected --sms console or a URL like https://sms.example/send or http://127.0.0.1:9000/sms: {why}"
            ))
        })?;
        Ok(Self(client))
    }

    /// Signs every request with `secret`.
    #[must_use]
    pub fn signed_with(self, secret: impl Into<String>) -> Self {
        Self(self.0.signed_with(secret))
    }
}

#[async_trait]
impl SmsSender for Webhook {
    async fn send(&self, sms: &Sms) -> Result<(), SmsError> {
        let body = serde_json::json!({ "phone": sms.phone.as_str(), "code": sms.code });
        let key = HeaderValue::try_from(&sms.key).ok().map(|key| (IDEMPOTENCY_KEY, key));
        let headers = key.into_iter().map(|(name, key)| (HeaderName::from_static(name), key)).collect();
        let posted = self.0.post(body.to_string().into_bytes(), headers, Self::TIMEOUT).await;
        let status = posted.map_err(|error| {
            let text = format!("SMS webhook: {error}");
            if error.is_sent() { SmsError::InDoubt(text) } else { SmsError::Failed(text) }
        })?;
        let text = || format!("SMS webhook: responded with {status}");
        match status {
            status if status.is_success() => Ok(()),
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => Err(SmsError::Failed(text())),
            status if status.is_server_error() => Err(SmsError::Failed(text())),
            _ => Err(SmsError::Refused(text())),
        }
    }
}

#[cfg(test)]
mod tests {
    use mallbox_storage::Phone;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpSocket};
    use tokio::sync::oneshot;

    use super::*;
    use crate::mall::base::request_signature::{SIGNATURE, SharedSecret, TIMESTAMP};

    fn sms(phone: &str, code: &str) -> Sms {
        let phone = Phone::parse(phone).unwrap();
        Sms { phone, code: code.to_owned(), key: "0d2a9a3e".to_owned() }
    }

    /// Returns a bound socket that does not listen, and its URL: connections are refused while the socket is
    /// held.
    fn nobody() -> (TcpSocket, String) {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let url = format!("http://{}/sms", socket.local_addr().unwrap());
        (socket, url)
    }

    /// Serves one request: sends `answer` and passes on the request.
    async fn gateway(answer: &'static str) -> (String, oneshot::Receiver<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (seen, received) = oneshot::channel();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut read = Vec::new();
            while !read.ends_with(b"}") {
                assert_ne!(stream.read_buf(&mut read).await.unwrap(), 0);
            }
            stream.write_all(answer.as_bytes()).await.unwrap();
            // Some tests drop the receiver.
            let _ = seen.send(String::from_utf8(read).unwrap());
            if answer.is_empty() {
                std::future::pending::<()>().await;
            }
        });
        (format!("http://{address}/sms?key=1"), received)
    }

    #[tokio::test]
    async fn webhook_posts_phone_and_code() {
        let (url, received) = gateway("HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n").await;
        Webhook::new(&url).unwrap().send(&sms("13900000002", "012345")).await.unwrap();
        let request = received.await.unwrap();
        let host = url.split('/').nth(2).unwrap();
        assert!(request.starts_with("POST /sms?key=1 HTTP/1.1\r\n"), "{request}");
        assert!(request.to_lowercase().contains(&format!("\r\nhost: {host}\r\n")), "{request}");
        assert!(request.contains("\r\nidempotency-key: 0d2a9a3e\r\n"), "{request}");
        let body: serde_json::Value =
            serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap();
        assert_eq!(body, serde_json::json!({ "phone": "13900000002", "code": "012345" }));
    }

    #[tokio::test]
    async fn webhook_counts_only_2xx_as_sent() {
        let failed: fn(&SmsError) -> bool = |error| matches!(error, SmsError::Failed(_));
        let refused: fn(&SmsError) -> bool = |error| matches!(error, SmsError::Refused(_));
        let in_doubt: fn(&SmsError) -> bool = |error| matches!(error, SmsError::InDoubt(_));
        for (answer, is_kind) in [
            ("HTTP/1.1 500 Internal Server Error\r\nconnection: close\r\n\r\noh", failed),
            ("HTTP/1.1 429 Too Many Requests\r\ncontent-length: 0\r\n\r\n", failed),
            ("HTTP/1.1 302 Found\r\nlocation: /x\r\ncontent-length: 0\r\n\r\n", refused),
            ("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n", refused),
            ("not HTTP at all\r\n\r\n", in_doubt),
        ] {
            let (url, _received) = gateway(answer).await;
            let error = Webhook::new(&url).unwrap().send(&sms("13900000002", "012345")).await.unwrap_err();
            assert!(is_kind(&error), "{answer} {error:?}");
            assert!(!error.to_string().contains("13900000002"), "{error}");
        }
        let (url, _received) = gateway("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nfine").await;
        Webhook::new(&url).unwrap().send(&sms("13900000002", "012345")).await.unwrap();
    }

    #[tokio::test]
    async fn webhook_does_not_wait_for_a_silent_gateway() {
        let (url, _received) = gateway("").await;
        let error = Webhook::new(&url).unwrap().send(&sms("13900000002", "012345")).await.unwrap_err();
        assert!(matches!(&error, SmsError::InDoubt(text) if text.contains("within 1 s")), "{error}");
    }

    #[tokio::test]
    async fn webhook_says_when_nobody_is_there() {
        let (_held, url) = nobody();
        let webhook = Webhook::new(&url).unwrap();
        let error = webhook.send(&sms("13900000002", "012345")).await.unwrap_err();
        assert!(matches!(error, SmsError::Failed(_)), "{error:?}");
    }

    #[tokio::test]
    async fn webhook_signs_time_and_body_with_its_secret() {
        let (url, received) = gateway("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
        let webhook = Webhook::new(&url).unwrap().signed_with("s3cr3t");
        webhook.send(&sms("13900000002", "012345")).await.unwrap();
        let request = received.await.unwrap();
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        let header = |name: &str| {
            let line = head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
            line.unwrap_or_else(|| panic!("{head}")).to_owned()
        };
        let time = header(TIMESTAMP);
        let want = SharedSecret::new("s3cr3t").signature(&[time.as_bytes(), b".", body.as_bytes()]);
        assert_eq!(header(SIGNATURE), want);
        assert!(!head.contains("s3cr3t"), "{head}");
    }

    #[cfg(feature = "https")]
    #[tokio::test]
    async fn webhook_speaks_tls_with_a_gateway_that_proves_its_name() {
        use tokio_rustls::TlsAcceptor;
        use tokio_rustls::rustls::pki_types::pem::PemObject as _;
        use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
        use tokio_rustls::rustls::{RootCertStore, ServerConfig, crypto};

        use crate::mall::base::tls::{TlsClient, server_name};

        let dir = tempfile::TempDir::new().unwrap();
        mallbox_test_servers::certificates(dir.path()).unwrap();
        let pem = |name: &str| CertificateDer::from_pem_file(dir.path().join(name)).unwrap();
        let key = PrivateKeyDer::from_pem_file(dir.path().join("server.key")).unwrap();
        let config =
            ServerConfig::builder_with_provider(std::sync::Arc::new(crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()
                .unwrap()
                .with_no_client_auth()
                .with_single_cert(vec![pem("server.crt")], key)
                .unwrap();
        let acceptor = TlsAcceptor::from(std::sync::Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://{}/sms", listener.local_addr().unwrap());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let Ok(mut stream) = acceptor.accept(stream).await else { continue };
                let _ = stream.read(&mut [0; 4096]).await;
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
                let _ = stream.shutdown().await;
            }
        });
        let unproven = Webhook::new(&url).unwrap();
        let error = unproven.send(&sms("13900000002", "012345")).await.unwrap_err();
        assert!(error.to_string().contains("cannot open a TLS connection"), "{error}");
        let mut roots = RootCertStore::empty();
        roots.add(pem("ca.crt")).unwrap();
        let trusting = TlsClient::trusting(roots).zip(server_name("127.0.0.1"));
        let proven = Webhook(unproven.0.trusting(trusting.unwrap()));
        proven.send(&sms("13900000002", "012345")).await.unwrap();
    }

    #[test]
    fn webhook_checks_its_url_when_it_is_made() {
        for good in
            ["http://127.0.0.1:9000/sms", "http://localhost", "http://[::1]:9000/", "http://LocalHost/a?b=c"]
        {
            assert!(Webhook::new(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "gateway:9000/sms",
            "ftp://gateway/",
            "http://gateway/",
            "http://localhost.example/",
            "http://10.0.0.7:9000/",
            "https://",
            "http://",
            "http:///sms",
            "http://a:b@gateway/",
            "/sms",
            "http://gateway:0/",
            "http://gateway:99999/",
            "http://gateway:/",
        ] {
            assert!(Webhook::new(bad).is_err(), "{bad}");
        }
        let shown =
            format!("{:?}", Webhook::new("http://localhost/?key=k3p9").unwrap().signed_with("s3cr3t"));
        assert!(!shown.contains("k3p9") && !shown.contains("s3cr3t"), "{shown}");
    }
}
