//! What the browser talks to: a proxy in front of a mall that records the paths of all requests, and pages of
//! the tests.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The proxy. Its threads end with the test.
pub struct Recorder {
    pub address: SocketAddr,
    paths: Arc<Mutex<Vec<String>>>,
}

impl Recorder {
    pub fn start(mall: SocketAddr) -> anyhow::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let paths = Arc::new(Mutex::new(Vec::new()));
        let record = Arc::clone(&paths);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let record = Arc::clone(&record);
                thread::spawn(move || pass_on(client, mall, &record));
            }
        });
        Ok(Self { address, paths })
    }

    /// Returns the paths of all requests so far.
    pub fn paths(&self) -> Vec<String> {
        self.paths.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Serves a page at every path that runs a script a moment after it was loaded.
pub fn serve_page(script: &str) -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let body = format!(
        "<!doctype html><title>a page</title><script>setTimeout(() => {{ {script} }}, 1000)</script>"
    );
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close";
    let response = format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    thread::spawn(move || {
        for mut client in listener.incoming().map_while(Result::ok) {
            // A browser also opens connections that it does not use yet.
            let response = response.clone();
            thread::spawn(move || {
                if client.read(&mut [0; 16 << 10]).is_ok_and(|count| count > 0) {
                    let _ = client.write_all(response.as_bytes());
                }
            });
        }
    });
    Ok(address)
}

/// Passes bytes on in both directions until either side ends.
fn pass_on(client: TcpStream, mall: SocketAddr, record: &Mutex<Vec<String>>) {
    let Ok(server) = TcpStream::connect(mall) else { return };
    let (Ok(mut from), Ok(mut to)) = (client.try_clone(), server.try_clone()) else { return };
    let back = thread::spawn(move || {
        let (mut server, mut client) = (server, client);
        let _ = std::io::copy(&mut server, &mut client);
        let _ = client.shutdown(Shutdown::Both);
    });
    let mut buffer = [0; 16 << 10];
    // A request of a browser is one segment.
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let text = String::from_utf8_lossy(&buffer[..count]);
        let path = text.strip_prefix("GET ").and_then(|rest| rest.split(' ').next());
        if let Some(path) = path {
            record.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
        }
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
    let _ = back.join();
}
