//! Tests against local servers, unreachable for the production client.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::io::{Cursor, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use image::{DynamicImage, ImageFormat};
use tempfile::TempDir;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{RootCertStore, ServerConfig, crypto};

use super::client::{Client, Network};
use super::fetch::fetch_by;
use super::*;
use crate::mall::base::tls::TlsClient;

/// Host names with addresses, and the addresses permitted in a test.
#[derive(Default)]
struct Here {
    names: HashMap<&'static str, SocketAddr>,
    allowed: Vec<SocketAddr>,
}

#[async_trait]
impl Network for Here {
    async fn resolve(&self, host: &str, _port: u16) -> io::Result<Vec<SocketAddr>> {
        let found = self.names.get(host).copied();
        found.map(|address| vec![address]).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn may_reach(&self, address: SocketAddr) -> bool {
        self.allowed.contains(&address)
    }
}

fn picture() -> Vec<u8> {
    let mut file = Vec::new();
    DynamicImage::new_rgb8(8, 6).write_to(&mut Cursor::new(&mut file), ImageFormat::Png).unwrap();
    file.extend_from_slice(b"<script>what a stranger hides behind a picture</script>");
    file
}

fn trusting(roots: RootCertStore) -> TlsClient {
    TlsClient::trusting(roots).unwrap()
}

/// Starts a server that responds according to the path.
fn serve() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                let mut head = Vec::new();
                let mut byte = [0];
                while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) > 0 {
                    head.push(byte[0]);
                }
                let head = String::from_utf8_lossy(&head).into_owned();
                let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                let to =
                    |place: &str| format!("HTTP/1.1 302 Found\r\nlocation: {place}\r\n\r\n").into_bytes();
                let with = |body: Vec<u8>| [b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), body].concat();
                let answer = match path.as_str() {
                    "/a.png?w=1" | "/a.png?w=2" | "/b.png" => with(picture()),
                    "/text" => with(b"<html>".to_vec()),
                    "/large" => with(vec![b'x'; (5 << 20) + 1]),
                    "/gone" => b"HTTP/1.1 404 Not Found\r\n\r\n".to_vec(),
                    "/moved" => to("b.png"),
                    "/round" => to("/round"),
                    "/inside" => to("http://inside.example/b.png"),
                    "/file" => to("file:///etc/passwd"),
                    "/silent" => {
                        // Waits until the client gives up.
                        let _ = stream.read(&mut byte);
                        return;
                    }
                    _ => b"nonsense\r\n\r\n".to_vec(),
                };
                let _ = stream.write_all(&answer);
            });
        }
    });
    address
}

fn kept(uploads: &Path, path: &str) -> Vec<u8> {
    std::fs::read(uploads.join(path.strip_prefix("/imgs/").unwrap())).unwrap()
}

#[tokio::test]
async fn pictures_are_fetched_and_drawn_anew_and_failures_are_listed_by_reason() {
    let (address, uploads) = (serve(), TempDir::new().unwrap());
    let inside = SocketAddr::from(([127, 0, 0, 1], address.port()));
    let closed = TcpListener::bind("127.0.0.2:0").unwrap().local_addr().unwrap();
    let mut here = Here { allowed: vec![address, closed], ..Here::default() };
    here.names = [("p.example", address), ("closed.example", closed)].into();
    // The server under another name: a redirect target is checked like any address.
    let other = SocketAddr::from(([127, 0, 0, 3], inside.port()));
    here.names.insert("inside.example", other);
    let client = Client::new(Arc::new(here), trusting(RootCertStore::empty()));
    let addresses = [
        "/a.png?w=1",
        "/a.png?w=2",
        "/b.png",
        "/moved",
        "/text",
        "/large",
        "/gone",
        "/round",
        "/inside",
        "/file",
        "/x",
    ];
    let addresses = addresses.map(|path| format!("http://p.example{path}")).into_iter();
    let others = [
        "http://inside.example/b.png",
        "http://nowhere.example/",
        "ftp://p.example/b.png",
        "https://closed.example/",
    ];
    let addresses = addresses.chain(others.map(str::to_owned)).collect::<BTreeSet<_>>();
    let mut steps = Vec::new();
    let fetched =
        fetch_by(client, addresses, uploads.path(), |done, of| steps.push((done, of))).await.unwrap();
    assert_eq!(steps.last(), Some(&(15, 15)));
    let paths: BTreeSet<_> = fetched.paths.values().collect();
    assert_eq!(paths.len(), 4, "one file each: {paths:?}");
    for path in paths {
        let file = kept(uploads.path(), path);
        assert!(path.starts_with("/imgs/fetched/") && path.ends_with(".jpg"), "{path}");
        assert!(file.starts_with(b"\xff\xd8\xff") && !file.windows(8).any(|eight| eight == b"<script>"));
    }
    for (why, of) in [
        (FetchError::Private, 2),
        (FetchError::NoAddress, 2),
        (FetchError::Unresolved, 1),
        (FetchError::Refused, 1),
        (FetchError::TooManyRedirects, 1),
        (FetchError::TooLarge, 1),
        (FetchError::NoPicture, 1),
        (FetchError::Unreachable, 2),
    ] {
        assert_eq!(fetched.failed.get(&why).map(BTreeSet::len), Some(of), "{why:?}: {fetched:?}");
    }
    assert!(!uploads.path().join(".part").exists());
}

// Apart from the others: on a busy machine a short timeout would end them too.
#[tokio::test]
async fn a_picture_that_does_not_come_in_time_is_too_slow() {
    let (address, uploads) = (serve(), TempDir::new().unwrap());
    let here = Here { names: [("p.example", address)].into(), allowed: vec![address] };
    let client = Client::new(Arc::new(here), trusting(RootCertStore::empty()));
    let client = client.within(Duration::from_millis(400));
    let silent = "http://p.example/silent".to_owned();
    let fetched = fetch_by(client, [silent.clone()].into(), uploads.path(), |_, _| {}).await.unwrap();
    assert_eq!(fetched.failed, [(FetchError::TooSlow, [silent].into())].into());
    assert!(fetched.paths.is_empty());
}

#[tokio::test]
async fn the_internet_has_nothing_of_this_machine_or_its_network() {
    let address = serve();
    let uploads = TempDir::new().unwrap();
    let port = address.port();
    let addresses =
        ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0x7f.1", "2130706433", "127.1"];
    let addresses = addresses.map(|host| format!("http://{host}:{port}/b.png")).into_iter().collect();
    let fetched = fetch(addresses, uploads.path(), |_, _| {}).await.unwrap();
    assert!(fetched.paths.is_empty(), "{fetched:?}");
    let reasons: Vec<_> = fetched.failed.keys().collect();
    assert!(
        reasons.iter().all(|why| [FetchError::Private, FetchError::Unresolved].contains(why)),
        "{fetched:?}"
    );
    assert!(fetched.failed[&FetchError::Private].len() >= 2, "{fetched:?}");
}

#[tokio::test]
async fn a_picture_behind_tls_is_fetched_if_its_server_can_prove_its_name() {
    let (dir, uploads) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    mallbox_test_servers::certificates(dir.path()).unwrap();
    let pem = |name: &str| CertificateDer::from_pem_file(dir.path().join(name)).unwrap();
    let key = PrivateKeyDer::from_pem_file(dir.path().join("server.key")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![pem("server.crt")], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let _ = stream.read(&mut [0; 4096]).await;
            let _ = stream.write_all(&[b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), picture()].concat()).await;
            let _ = stream.shutdown().await;
        }
    });
    let here =
        || Here { names: [("127.0.0.1", address), ("p.example", address)].into(), allowed: vec![address] };
    let mut roots = RootCertStore::empty();
    let addresses = || {
        ["127.0.0.1", "p.example"]
            .map(|host| format!("https://{host}:{}/a", address.port()))
            .into_iter()
            .collect()
    };
    let trusting_nobody = Client::new(Arc::new(here()), trusting(roots.clone()));
    let fetched = fetch_by(trusting_nobody, addresses(), uploads.path(), |_, _| {}).await.unwrap();
    assert_eq!(fetched.failed[&FetchError::Unreachable].len(), 2, "{fetched:?}");
    roots.add(pem("ca.crt")).unwrap();
    let client = Client::new(Arc::new(here()), trusting(roots));
    let fetched = fetch_by(client, addresses(), uploads.path(), |_, _| {}).await.unwrap();
    // The certificate is valid for the IP address only.
    assert_eq!(
        fetched.paths.keys().map(|one| one.contains("127.0.0.1")).collect::<Vec<_>>(),
        [true],
        "{fetched:?}"
    );
}
