//! A collector of traces: a real HTTP server that decodes the batches, refuses, is slow or silent on request.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use mallbox_test_patience::{self as patience, Deadline};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;

/// How batches are answered.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub enum Behaviour {
    /// At once, with 200.
    #[default]
    Takes,
    /// With 503.
    Refuses,
    /// After this time.
    Slow(Duration),
    /// Never.
    Silent,
}

#[derive(Default)]
struct Shared {
    behaviour: Mutex<Behaviour>,
    requests: Mutex<Vec<String>>,
    batches: Mutex<Vec<ExportTraceServiceRequest>>,
}

/// A collector at a free port of this machine. Its threads end with the test's process.
pub struct Collector {
    shared: Arc<Shared>,
    address: SocketAddr,
}

impl Collector {
    pub fn start(behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared { behaviour: Mutex::new(behaviour), ..Shared::default() });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&accepting);
                thread::spawn(move || shared.serve(stream));
            }
        });
        Self { shared, address }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn set(&self, behaviour: Behaviour) {
        *self.shared.behaviour.lock().unwrap() = behaviour;
    }

    /// Returns the heads of all requests so far.
    pub fn requests(&self) -> Vec<String> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// Returns everything received, as text: to look for what must not be there.
    pub fn everything(&self) -> String {
        format!("{:?}{:?}", self.shared.batches.lock().unwrap(), self.requests())
    }

    /// Returns all spans received.
    pub fn spans(&self) -> Vec<Span> {
        let batches = self.shared.batches.lock().unwrap();
        let resources = batches.iter().flat_map(|batch| &batch.resource_spans);
        resources.flat_map(|resource| &resource.scope_spans).flat_map(|scope| scope.spans.clone()).collect()
    }

    /// Waits for a span.
    pub fn wait_for(&self, is_wanted: impl Fn(&Span) -> bool) -> Span {
        let deadline = Deadline::after(Duration::from_secs(30));
        loop {
            if let Some(span) = self.spans().into_iter().find(&is_wanted) {
                return span;
            }
            assert!(!deadline.is_over(), "no such span: {:?}", self.spans());
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Shared {
    fn serve(&self, mut stream: TcpStream) {
        let _ = stream.set_read_timeout(Some(patience::scaled(Duration::from_secs(10))));
        let Some((head, body)) = read(&mut stream) else { return };
        self.requests.lock().unwrap().push(head);
        let behaviour = *self.behaviour.lock().unwrap();
        let status = match behaviour {
            Behaviour::Refuses => 503,
            Behaviour::Silent => {
                // Holds the connection until the client gives up.
                let _ = stream.set_read_timeout(None);
                let _ = stream.read(&mut [0]);
                return;
            }
            Behaviour::Slow(delay) => {
                thread::sleep(delay);
                200
            }
            Behaviour::Takes => 200,
        };
        if status == 200 {
            let batch = ExportTraceServiceRequest::decode(body.as_slice()).unwrap();
            self.batches.lock().unwrap().push(batch);
        }
        let response = format!("HTTP/1.1 {status} x\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
        let _ = stream.write_all(response.as_bytes());
    }
}

/// Returns an attribute of a span as text.
pub fn attribute(span: &Span, name: &str) -> Option<String> {
    let found = span.attributes.iter().find(|attribute| attribute.key == name)?;
    Some(match found.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => text.clone(),
        Value::IntValue(number) => number.to_string(),
        other => format!("{other:?}"),
    })
}

/// Reads one request. Returns its head and its body.
fn read(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let (mut bytes, mut some) = (Vec::new(), [0; 65_536]);
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8(bytes[..end].to_vec()).ok()?.to_lowercase();
            let length =
                head.split("content-length: ").nth(1)?.lines().next()?.trim().parse::<usize>().ok()?;
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
