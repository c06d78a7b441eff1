//! Login codes through a gateway that accepts them over HTTP.

use std::pin::pin;
use std::time::Duration;

use async_trait::async_trait;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::{Method, Request, Response, StatusCode, Uri, header};
use hyper_util::rt::TokioIo;
use mallbox_storage::Phone;
use tokio::net::TcpStream;

use super::{SmsError, SmsSender};

/// Posts `{"phone":…,"code":…}` to a gateway. Any status of 200 to 299 counts as sent; redirects are not
/// followed.
#[derive(Clone, Debug)]
pub struct Webhook {
    /// Host and port for the connection.
    address: String,
    /// Value of the `Host` header.
    host: String,
    path: String,
}

impl Webhook {
    /// Timeout for connecting, posting and receiving the response head together, in real time.
    const PATIENCE: Duration = Duration::from_secs(1);

    /// Creates a webhook for an `http://` URL. For `https`, put a proxy on this machine in front.
    ///
    /// # Errors
    /// [`SmsError`] with a message for the operator, if the URL cannot be used.
    pub fn new(url: &str) -> Result<Self, SmsError> {
        let wrong = |why: &str| {
            SmsError(format!("expected --sms console or a URL like http://127.0.0.1:9000/sms: {why}"))
        };
        let uri: Uri = url.parse().map_err(|_| wrong("not a URL"))?;
        if uri.scheme_str() != Some("http") {
            return Err(wrong("URLs must begin with http://"));
        }
        let authority = uri.authority().ok_or_else(|| wrong("the URL has no host"))?;
        if authority.as_str().contains('@') {
            return Err(wrong("user names in the URL are not supported"));
        }
        let host = authority.host();
        // Any text after the host must be a port: `:` alone and `:99999` are valid in an authority too.
        let port = match authority.port_u16() {
            Some(port) => port,
            None if authority.as_str() == host => 80,
            None => 0,
        };
        if host.is_empty() || port == 0 {
            return Err(wrong("the URL has no host, or no port after the colon"));
        }
        let address = format!("{host}:{port}");
        let path = uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        Ok(Self { address, host: authority.as_str().to_owned(), path })
    }

    async fn post(&self, body: Vec<u8>) -> Result<StatusCode, SmsError> {
        let trouble =
            |what: &str, error: &dyn std::error::Error| SmsError(format!("SMS webhook: {what}: {error}"));
        let request = Request::builder()
            .method(Method::POST)
            .uri(&self.path)
            .header(header::HOST, &self.host)
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(body)))
            .map_err(|error| trouble("cannot build the request", &error))?;
        let stream =
            TcpStream::connect(&self.address).await.map_err(|error| trouble("cannot connect", &error))?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|error| trouble("cannot connect", &error))?;
        // Polled here instead of in a separate task: dropping this future leaves nothing behind.
        let mut answer = pin!(sender.send_request(request));
        let mut connection = pin!(connection);
        let answer: hyper::Result<Response<_>> = tokio::select! {
            biased;
            answer = &mut answer => answer,
            // A short response may arrive in full before the first poll: poll again.
            _ended = &mut connection => answer.await,
        };
        answer.map(|response| response.status()).map_err(|error| trouble("no response", &error))
    }
}

#[async_trait]
impl SmsSender for Webhook {
    async fn send(&self, phone: &Phone, code: &str) -> Result<(), SmsError> {
        let body = serde_json::json!({ "phone": phone.as_str(), "code": code }).to_string().into_bytes();
        let status = tokio::time::timeout(Self::PATIENCE, self.post(body))
            .await
            .map_err(|_| SmsError("SMS webhook: no response within a second".to_owned()))??;
        if status.is_success() {
            Ok(())
        } else {
            Err(SmsError(format!("SMS webhook: responded with {status}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpSocket};
    use tokio::sync::oneshot;

    use super::*;

    fn phone(text: &str) -> Phone {
        Phone::parse(text).unwrap()
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
        Webhook::new(&url).unwrap().send(&phone("13900000002"), "012345").await.unwrap();
        let request = received.await.unwrap();
        let host = url.split('/').nth(2).unwrap();
        assert!(request.starts_with("POST /sms?key=1 HTTP/1.1\r\n"), "{request}");
        assert!(request.to_lowercase().contains(&format!("\r\nhost: {host}\r\n")), "{request}");
        let body: serde_json::Value =
            serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap();
        assert_eq!(body, serde_json::json!({ "phone": "13900000002", "code": "012345" }));
    }

    #[tokio::test]
    async fn webhook_counts_only_2xx_as_sent() {
        for answer in [
            "HTTP/1.1 500 Internal Server Error\r\nconnection: close\r\n\r\noh",
            "HTTP/1.1 302 Found\r\nlocation: /x\r\ncontent-length: 0\r\n\r\n",
            "not HTTP at all\r\n\r\n",
        ] {
            let (url, _received) = gateway(answer).await;
            let error = Webhook::new(&url).unwrap().send(&phone("13900000002"), "012345").await.unwrap_err();
            assert!(!error.to_string().contains("13900000002"), "{error}");
        }
        let (url, _received) = gateway("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nfine").await;
        Webhook::new(&url).unwrap().send(&phone("13900000002"), "012345").await.unwrap();
    }

    #[tokio::test]
    async fn webhook_does_not_wait_for_a_silent_gateway() {
        let (url, _received) = gateway("").await;
        let error = Webhook::new(&url).unwrap().send(&phone("13900000002"), "012345").await.unwrap_err();
        assert!(error.to_string().contains("within a second"), "{error}");
    }

    #[tokio::test]
    async fn webhook_says_when_nobody_is_there() {
        let (_held, url) = nobody();
        let webhook = Webhook::new(&url).unwrap();
        assert!(webhook.send(&phone("13900000002"), "012345").await.is_err());
    }

    #[test]
    fn webhook_checks_its_url_when_it_is_made() {
        for good in
            ["http://127.0.0.1:9000/sms", "http://gateway", "http://[::1]:9000/", "http://gateway/a?b=c"]
        {
            assert!(Webhook::new(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "gateway:9000/sms",
            "https://gateway/",
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
        assert_eq!(Webhook::new("http://[::1]/").unwrap().address, "[::1]:80");
    }
}
