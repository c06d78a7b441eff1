//! A patient behind real connections.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use crate::pathology::{Outcome, Pathology, Patient};

/// What the server did with a request.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    /// The number in the path.
    pub number: u64,
    /// Just before the response was written, or the connection closed.
    pub at: Instant,
    /// Whether the connection ended without a response.
    pub is_dropped: bool,
}

/// A server with a thread per connection. Ends with the process. A request is `GET /N`, with a number of the
/// client's choice.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    patient: Mutex<Patient>,
    began: Instant,
    records: Mutex<Vec<Record>>,
    connections: AtomicUsize,
}

impl Server {
    /// Starts a server on a free port of this machine.
    ///
    /// # Panics
    /// If the machine has no port.
    #[must_use]
    pub fn start(pathology: Pathology) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            patient: Mutex::new(Patient::new(pathology)),
            began: Instant::now(),
            records: Mutex::default(),
            connections: AtomicUsize::new(0),
        });
        let of_threads = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = Arc::clone(&of_threads);
                thread::spawn(move || shared.serve(&stream));
            }
        });
        Self { address, shared }
    }

    /// Returns the address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns what the server did, in the order of the responses.
    ///
    /// # Panics
    /// If a thread of the server panicked.
    #[must_use]
    pub fn records(&self) -> Vec<Record> {
        self.shared.records.lock().unwrap().clone()
    }
}

impl Shared {
    /// Serves a connection until the client closes it, or the pathology ends it.
    fn serve(&self, stream: &TcpStream) {
        let connection = self.connections.fetch_add(1, Ordering::Relaxed);
        stream.set_nodelay(true).unwrap();
        let (mut reader, mut writer) = (BufReader::new(stream), stream);
        while let Some(number) = request(&mut reader) {
            let arrived = self.began.elapsed();
            let Outcome { at, is_dropped } = self.patient.lock().unwrap().decide(connection, arrived);
            thread::sleep(at.saturating_sub(self.began.elapsed()));
            self.records.lock().unwrap().push(Record { number, at: Instant::now(), is_dropped });
            if is_dropped {
                return;
            }
            if writer.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").is_err() {
                return;
            }
        }
    }
}

/// Reads a request. Returns the number in its path; `None` at the end of the connection.
fn request(reader: &mut BufReader<&TcpStream>) -> Option<u64> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|bytes| *bytes > 0)?;
    let number = line.split(' ').nth(1)?.strip_prefix('/')?.parse().ok()?;
    while reader.read_line(&mut line).ok()? > 2 {}
    Some(number)
}
