//! Connections of greedy, silent and slow clients, over raw sockets.

#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

use std::convert::Infallible;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::pin::Pin;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Path;
use axum::routing::get;
use http_body_util::channel::Channel;
use hyper::body::Frame;
use mallbox::http::{
    Bound, ConnectionTimeouts, FrontOptions, Gateway, ProxyHeader, Server, ServerOptions, TrustedProxies,
};
use mallbox_test_patience::{self as patience, Deadline};

/// Time limit of a response, and of anything awaited.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Longer than any test.
const NEVER: Duration = Duration::from_secs(600);

/// Zeros without an end. Reports when the server drops it.
struct Endless(Sender<()>);

impl hyper::body::Body for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[0; 50_000])))))
    }
}

impl Drop for Endless {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

struct World {
    server: Server,
    /// A message for each dropped endless body.
    dropped: Receiver<()>,
}

/// Timeouts that end nothing.
fn patient() -> ConnectionTimeouts {
    ConnectionTimeouts { head: NEVER, idle: NEVER, stall: NEVER, min_bytes_per_s: 1 }
}

/// Options for loopback connections as if from anywhere.
fn options() -> ServerOptions {
    ServerOptions { workers: 2, exempts_loopback: false, patience: patient(), ..ServerOptions::default() }
}

impl World {
    fn new(options: ServerOptions) -> Self {
        Self::with(options, TrustedProxies::default())
    }

    fn with(options: ServerOptions, proxies: TrustedProxies) -> Self {
        let (sender, dropped) = channel();
        let endless = move || {
            let sender = sender.clone();
            async move { Body::new(Endless(sender)) }
        };
        let zeros = |Path(bytes): Path<usize>| async move { vec![0_u8; bytes] };
        let api = Router::new()
            .route("/ask", get(|| async { "well" }))
            .route("/endless", get(endless))
            .route("/zeros/{bytes}", get(zeros))
            .route("/events/{pause_ms}", get(events));
        let front = Gateway::new(FrontOptions { proxies, ..FrontOptions::bare(api) });
        let bound = Bound::to(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
        Self { server: bound.serve(&front, options).unwrap(), dropped }
    }

    fn connect(&self) -> TcpStream {
        self.connect_from(Ipv4Addr::LOCALHOST, None)
    }

    /// Connects from an address of this machine, with a chosen size of the receive buffer.
    fn connect_from(&self, from: Ipv4Addr, buffer: Option<usize>) -> TcpStream {
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
        socket.bind(&SocketAddr::from((from, 0)).into()).unwrap();
        if let Some(bytes) = buffer {
            socket.set_recv_buffer_size(bytes).unwrap();
        }
        socket.connect(&self.server.address().into()).unwrap();
        let stream = TcpStream::from(socket);
        stream.set_read_timeout(Some(patience::scaled(TIMEOUT))).unwrap();
        stream
    }
}

/// An endless stream: one event, and others with a pause before each.
async fn events(Path(pause_ms): Path<u64>) -> Body {
    let (mut sender, body) = Channel::<Bytes, Infallible>::new(1);
    tokio::spawn(async move {
        let mut event = "one";
        while sender.send_data(Bytes::from_static(event.as_bytes())).await.is_ok() {
            event = "two";
            tokio::time::sleep(Duration::from_millis(pause_ms)).await;
        }
    });
    Body::new(body)
}

fn send(stream: &mut TcpStream, path: &str) {
    let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
}

/// Reads up to and including a text.
fn read_to(stream: &mut TcpStream, text: &str) -> String {
    let mut read = Vec::new();
    let mut byte = [0];
    while !read.ends_with(text.as_bytes()) {
        let received = || String::from_utf8_lossy(&read).into_owned();
        let count = stream.read(&mut byte).unwrap_or_else(|error| panic!("{error} after: {}", received()));
        assert_eq!(count, 1, "closed after: {}", received());
        read.push(byte[0]);
    }
    String::from_utf8(read).unwrap()
}

/// Makes a request on a connection that stays open.
fn ask(stream: &mut TcpStream) {
    send(stream, "/ask");
    assert!(read_to(stream, "well").starts_with("HTTP/1.1 200"));
}

/// Returns everything up to the end of the connection, which a reset ends too.
fn rest_of(stream: &mut TcpStream) -> String {
    let mut read = Vec::new();
    if let Err(error) = stream.read_to_end(&mut read) {
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "still open");
    }
    String::from_utf8_lossy(&read).into_owned()
}

fn is_refused(stream: &mut TcpStream) -> bool {
    let answer = rest_of(stream);
    answer.starts_with("HTTP/1.1 503") && answer.ends_with(r#""code":"BUSY"}"#)
}

#[test]
fn a_connection_that_never_makes_a_request_is_closed() {
    let head = Duration::from_millis(300);
    let world = World::new(ServerOptions { patience: ConnectionTimeouts { head, ..patient() }, ..options() });
    let mut asked = world.connect();
    ask(&mut asked);
    let mut silent = world.connect();
    assert_eq!(rest_of(&mut silent), "");
    let mut slow = world.connect();
    // One byte of a head at a time; each would prolong a time limit between bytes.
    for byte in b"GET /ask HTTP/1.1\r\nx: ".iter().chain(std::iter::repeat(&b'y')).take(16_000) {
        if slow.write_all(&[*byte]).is_err() {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(rest_of(&mut slow), "");
    ask(&mut asked);
}

#[test]
fn a_reader_that_takes_nothing_is_disconnected() {
    let stall = Duration::from_millis(500);
    let world =
        World::new(ServerOptions { patience: ConnectionTimeouts { stall, ..patient() }, ..options() });
    let mut greedy = world.connect();
    send(&mut greedy, "/endless");
    world.dropped.recv_timeout(patience::scaled(TIMEOUT)).expect("the response is given up");
}

#[test]
fn a_reader_below_the_least_rate_is_disconnected() {
    let (stall, min_bytes_per_s) = (Duration::from_millis(500), 50_000_000);
    let patience = ConnectionTimeouts { stall, min_bytes_per_s, ..patient() };
    let world = World::new(ServerOptions { patience, ..options() });
    let mut trickling = world.connect_from(Ipv4Addr::LOCALHOST, Some(4096));
    send(&mut trickling, "/endless");
    let deadline = Deadline::after(TIMEOUT);
    while world.dropped.try_recv().is_err() {
        assert!(!deadline.is_over(), "still served");
        let _ = trickling.read(&mut [0; 1024]);
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_slow_phone_gets_the_whole_response() {
    // Slower than the time limit allows for all of it, and faster than the least rate.
    let (stall, min_bytes_per_s) = (Duration::from_secs(2), 8 * 1024);
    let patience = ConnectionTimeouts { stall, min_bytes_per_s, ..patient() };
    let world = World::new(ServerOptions { patience, ..options() });
    let mut phone = world.connect_from(Ipv4Addr::LOCALHOST, Some(4096));
    let bytes = 512 * 1024;
    let began = Instant::now();
    send(&mut phone, &format!("/zeros/{bytes}"));
    read_to(&mut phone, "\r\n\r\n");
    let mut left = bytes;
    let mut buffer = [0; 8 * 1024];
    while left > 0 {
        let count = phone.read(&mut buffer).unwrap();
        assert!(count > 0, "cut off with {left} bytes left");
        left -= count;
        // At most 200 KiB/s.
        std::thread::sleep(Duration::from_millis(5 * count as u64 / 1024));
    }
    assert!(began.elapsed() > stall, "the limit was never near: {:?}", began.elapsed());
    ask(&mut phone);
}

#[test]
fn an_event_stream_without_events_is_not_cut_off() {
    let patience = ConnectionTimeouts {
        stall: Duration::from_millis(200),
        head: Duration::from_millis(200),
        ..patient()
    };
    let world = World::new(ServerOptions { patience, ..options() });
    let mut watching = world.connect();
    send(&mut watching, "/events/1000");
    read_to(&mut watching, "one");
    read_to(&mut watching, "two");
}

#[test]
fn the_connection_idle_the_longest_makes_room() {
    let world = World::new(ServerOptions { most_connections: 2, ..options() });
    let (mut first, mut second) = (world.connect(), world.connect());
    ask(&mut first);
    std::thread::sleep(Duration::from_millis(5));
    ask(&mut second);
    let mut third = world.connect();
    ask(&mut third);
    assert_eq!(rest_of(&mut first), "", "the first is closed without a word");
    ask(&mut second);
    ask(&mut third);
}

#[test]
fn silent_connections_shut_nobody_out() {
    let world = World::new(ServerOptions { most_connections: 20, ..options() });
    let silent: Vec<_> = (0..60).map(|_| world.connect()).collect();
    for _ in 0..40 {
        let mut honest = world.connect();
        ask(&mut honest);
    }
    drop(silent);
}

#[test]
fn a_response_in_progress_makes_no_room_and_the_newcomer_is_refused() {
    let world = World::new(ServerOptions { most_connections: 2, ..options() });
    let mut busy = [world.connect(), world.connect()];
    for stream in &mut busy {
        send(stream, "/events/200");
        read_to(stream, "one");
    }
    assert!(is_refused(&mut world.connect()));
    drop(busy);
    // The server notices the close a moment later.
    let deadline = Deadline::after(TIMEOUT);
    loop {
        let mut newcomer = world.connect();
        if newcomer.write_all(b"GET /ask HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").is_ok()
            && rest_of(&mut newcomer).ends_with("well")
        {
            break;
        }
        assert!(!deadline.is_over(), "still refused");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn one_address_cannot_take_the_place_of_the_others() {
    let world = World::new(ServerOptions { connections_per_address: 2, ..options() });
    let mut kept: Vec<_> = (0..2).map(|_| world.connect()).collect();
    kept.iter_mut().for_each(ask);
    assert!(is_refused(&mut world.connect()));
    ask(&mut world.connect_from(Ipv4Addr::new(127, 0, 0, 2), None));
    // The refused one did no harm to the others.
    kept.iter_mut().for_each(ask);
}

#[test]
fn loopback_and_trusted_proxies_hold_as_many_connections_as_they_like() {
    let few = ServerOptions { connections_per_address: 2, ..options() };
    let proxy = TrustedProxies::new(
        &["127.0.0.1".parse::<std::net::IpAddr>().unwrap().into()],
        ProxyHeader::Forwarded,
    );
    for world in [World::new(ServerOptions { exempts_loopback: true, ..few }), World::with(few, proxy)] {
        let mut kept: Vec<_> = (0..10).map(|_| world.connect()).collect();
        kept.iter_mut().for_each(ask);
    }
}
