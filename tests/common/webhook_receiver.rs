//! A receiver of events: a real HTTP server that checks signatures, and loses responses, fails, is slow and
//! away on request. Written from the manual alone.

#![allow(dead_code, reason = "each test binary uses the part it needs")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use mallbox_test_patience::{self as patience, Deadline};
use serde_json::Value;
use sha2::Sha256;

/// How requests are answered. A number `n` means every n-th request; 0 none.
#[derive(Clone, Copy, Default)]
pub struct Switches {
    /// The event is recorded, and the connection closed without a response.
    pub loses_every: usize,
    /// The event is not recorded, and the response is 503.
    pub fails_every: usize,
    /// Time before each response.
    pub delay: Duration,
}

#[derive(Default)]
struct Shared {
    secret: Mutex<String>,
    switches: Mutex<Switches>,
    requests: Mutex<usize>,
    events: Mutex<Vec<Value>>,
    forged: Mutex<usize>,
    is_closed: AtomicBool,
}

/// A receiver of events.
pub struct WebhookReceiver {
    shared: Arc<Shared>,
    address: SocketAddr,
    accepting: Mutex<Option<JoinHandle<()>>>,
}

impl WebhookReceiver {
    /// Starts a receiver at any free port of this machine.
    pub fn start(secret: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let receiver = Self {
            shared: Arc::default(),
            address: listener.local_addr().unwrap(),
            accepting: Mutex::default(),
        };
        secret.clone_into(&mut receiver.shared.secret.lock().unwrap());
        receiver.accept(listener);
        receiver
    }

    /// Returns the URL for a subscription.
    pub fn url(&self) -> String {
        format!("http://{}/events?key=k3p9", self.address)
    }

    /// Sets the key of the signatures, for a subscription whose key the mall makes.
    pub fn set_secret(&self, secret: &str) {
        secret.clone_into(&mut self.shared.secret.lock().unwrap());
    }

    /// Changes how requests are answered.
    pub fn set(&self, switches: Switches) {
        *self.shared.switches.lock().unwrap() = switches;
    }

    /// Ends the server: connections are refused.
    pub fn kill(&self) {
        self.shared.is_closed.store(true, Ordering::SeqCst);
        if let Some(accepting) = self.accepting.lock().unwrap().take() {
            // Wakes the thread.
            let _ = TcpStream::connect(self.address);
            accepting.join().unwrap();
        }
    }

    /// Serves again at the same port.
    pub fn restart(&self) {
        self.shared.is_closed.store(false, Ordering::SeqCst);
        self.accept(TcpListener::bind(self.address).unwrap());
    }

    /// Returns the number of requests so far.
    pub fn requests(&self) -> usize {
        *self.shared.requests.lock().unwrap()
    }

    /// Returns the number of requests without a valid signature.
    pub fn forged(&self) -> usize {
        *self.shared.forged.lock().unwrap()
    }

    /// Returns every event in the order of receipt, repetitions included.
    pub fn events(&self) -> Vec<Value> {
        self.shared.events.lock().unwrap().clone()
    }

    /// Returns each event once, in the order of its first receipt, as a consumer that deduplicates by id.
    pub fn unique(&self) -> Vec<Value> {
        let mut seen = BTreeSet::new();
        let mut events = self.events();
        events.retain(|event| seen.insert(event["id"].as_str().unwrap().to_owned()));
        events
    }

    /// Waits until `number` different events have arrived.
    pub fn wait_for(&self, number: usize) -> Vec<Value> {
        self.wait_while(number, || ())
    }

    /// Waits as [`wait_for`](Self::wait_for), and calls `meanwhile` again and again.
    pub fn wait_while(&self, number: usize, meanwhile: impl Fn()) -> Vec<Value> {
        let deadline = Deadline::after(Duration::from_secs(60));
        loop {
            let events = self.unique();
            if events.len() >= number {
                return events;
            }
            assert!(!deadline.is_over(), "{} of {number} events: {events:?}", events.len());
            meanwhile();
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Checks that the events of each key came in order of their positions, each id with one content.
    pub fn assert_in_order(&self) {
        let mut last: BTreeMap<String, u64> = BTreeMap::new();
        for event in self.unique() {
            let (key, position) = (event["key"].as_str().unwrap(), event["position"].as_u64().unwrap());
            let before = last.insert(key.to_owned(), position);
            assert!(before < Some(position), "{key}: {position} after {before:?}");
        }
        let contents: BTreeSet<String> = self.events().iter().map(Value::to_string).collect();
        assert_eq!(contents.len(), self.unique().len(), "an id came with two contents");
        assert_eq!(self.forged(), 0);
    }

    fn accept(&self, listener: TcpListener) {
        let shared = Arc::clone(&self.shared);
        let accepting = thread::spawn(move || {
            for stream in listener.incoming() {
                if shared.is_closed.load(Ordering::SeqCst) {
                    return;
                }
                let (Ok(stream), shared) = (stream, Arc::clone(&shared)) else { continue };
                thread::spawn(move || shared.serve(stream));
            }
        });
        *self.accepting.lock().unwrap() = Some(accepting);
    }
}

impl Drop for WebhookReceiver {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Shared {
    fn serve(&self, mut stream: TcpStream) {
        let _ = stream.set_read_timeout(Some(patience::scaled(Duration::from_secs(10))));
        let Some((head, body)) = read(&mut stream) else { return };
        if self.is_closed.load(Ordering::SeqCst) {
            return;
        }
        let number = {
            let mut requests = self.requests.lock().unwrap();
            *requests += 1;
            *requests
        };
        let Switches { loses_every, fails_every, delay } = *self.switches.lock().unwrap();
        let is_every = |every: usize| every > 0 && number.is_multiple_of(every);
        let status = if !is_signed(&self.secret.lock().unwrap(), &head, &body) {
            *self.forged.lock().unwrap() += 1;
            401
        } else if is_every(fails_every) {
            503
        } else {
            self.events.lock().unwrap().push(serde_json::from_slice(&body).unwrap());
            204
        };
        thread::sleep(delay);
        if !is_every(loses_every) {
            let response = format!("HTTP/1.1 {status} x\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
            let _ = stream.write_all(response.as_bytes());
        }
    }
}

fn read(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let (mut bytes, mut some) = (Vec::new(), [0; 4096]);
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8(bytes[..end].to_vec()).ok()?;
            let length: usize = header(&head, "content-length")?.parse().ok()?;
            if bytes.len() >= end + 4 + length {
                return Some((head, bytes[end + 4..end + 4 + length].to_vec()));
            }
        }
        match stream.read(&mut some) {
            Ok(0) | Err(_) => return None,
            Ok(read) => bytes.extend_from_slice(&some[..read]),
        }
    }
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut headers = head.split("\r\n").filter_map(|line| line.split_once(':'));
    headers.find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

fn is_signed(secret: &str, head: &str, body: &[u8]) -> bool {
    let time = header(head, "x-mallbox-timestamp").unwrap_or_default();
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(&[time.as_bytes(), b".", body].concat());
    let expected = mac.finalize().into_bytes().iter().fold("sha256=".to_owned(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    header(head, "x-mallbox-signature") == Some(&expected)
}
