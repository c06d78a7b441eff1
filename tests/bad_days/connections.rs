//! Disruptive clients: ten thousand idle connections and some malformed requests, while other clients buy.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

use mallbox_test_patience as patience;

use crate::common::dice::Dice;
use crate::common::http::{self, Reply};
use crate::common::inspection;
use crate::common::mall::{self, Size};
use crate::common::rush::Rush;
use crate::common::server::{Server, allow_files};
use crate::common::shoppers::{self, Behaviour, ShopperScript};

const SIZE: Size = Size { people: 4_000, sales: 1, units: 3_000 };
const IDLE: usize = 10_000;
const BUYING: usize = 32;
const RATE: f64 = 500.0;
const ASK: &[u8] = b"GET /api/shop/1 HTTP/1.1\r\nhost: localhost\r\n\r\n";

/// Reads one response from a connection that stays open.
fn one_answer(stream: &mut TcpStream) -> anyhow::Result<Reply> {
    let mut answer = Vec::new();
    let mut bytes = [0; 4_096];
    loop {
        let length = stream.read(&mut bytes)?;
        ensure!(length > 0, "the connection was closed");
        answer.extend_from_slice(&bytes[..length]);
        let reply = http::read(&answer);
        if let Ok(reply) = reply
            && reply.body["success"].is_boolean()
        {
            return Ok(reply);
        }
    }
}

fn connect(address: SocketAddr) -> anyhow::Result<TcpStream> {
    let stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(patience::scaled(Duration::from_secs(30))))?;
    Ok(stream)
}

/// Opens idle connections; every other one has sent a request before.
fn fall_silent(address: SocketAddr) -> anyhow::Result<Vec<TcpStream>> {
    (0..IDLE)
        .map(|number| {
            let mut stream = connect(address).with_context(|| format!("connection {number}"))?;
            if number % 2 == 0 {
                stream.write_all(ASK)?;
                ensure!(one_answer(&mut stream)?.status == 200, "connection {number}");
            }
            Ok(stream)
        })
        .collect()
}

fn resident_mib(address: SocketAddr) -> anyhow::Result<u64> {
    let text = http::ask(address, "GET", "/metrics", "")?.text;
    let line = text.lines().find_map(|line| line.strip_prefix("process_resident_memory_bytes "));
    Ok(line.context("no figure of memory")?.parse::<u64>()? >> 20)
}

#[test]
fn ten_thousand_idle_connections_and_odd_ones_keep_nobody_from_buying() -> anyhow::Result<()> {
    allow_files(2 * IDLE)?;
    let mut dice = Dice::from_environment("connections");
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let data = site.path().join("mall");
    let mall = mall::make(&data, SIZE)?;
    let operator = mall::appoint_operator(&data, &mall)?;
    let server = Server::start(&data, &site.path().join("mallbox.log"), "power")?;
    let before = resident_mib(server.address)?;
    let began = Instant::now();
    let mut idle = fall_silent(server.address)?;
    let (opened, after) = (began.elapsed(), resident_mib(server.address)?);

    let (history, sale) = (shoppers::history(&mall, &mall.sales), mall.sales[0]);
    let clients = ShopperScript::new(&history, sale, Behaviour::Live, BUYING, dice.split());
    let rush = Rush::paced(RATE, server.address, BUYING, clients);
    rush.wait_for(100);
    let odd = odd_clients(server.address)?;
    std::thread::sleep(Duration::from_secs(2));
    // Those that have sent a request: a connection without any is closed after 10 s.
    for stream in idle.iter_mut().step_by(98) {
        stream.write_all(ASK)?;
        ensure!(one_answer(stream)?.status == 200, "an idle connection is not served any more");
    }
    let report = rush.report()?;
    ensure!(report.errors.total() == 0, "buyers were kept away: {:?}", report.errors);
    let mut unavailable = history.lock().unavailable().clone();
    // On a busy machine more than a second may pass between a claim and its order; the mall then responds
    // with these codes.
    unavailable.remove("NOT_YET");
    if patience::is_busy() {
        unavailable.remove("BUSY");
    }
    ensure!(unavailable.is_empty(), "buyers were sent away: {unavailable:?}");
    drop(idle);
    let summary = history.lock().summary();
    inspection::finish(server, &data, &history, sale, &operator, &mut dice)?;
    println!(
        "{IDLE} idle connections opened in {opened:?}, {before} MiB before and {after} MiB with them; {odd} odd ones; \
         meanwhile {} answers, p50 {:?}, p99 {:?}, slowest {:?}; {summary:?}",
        report.answered,
        report.p50(),
        report.p99(),
        report.max()
    );
    Ok(())
}

/// Bytes of malformed clients, and the status of the response; 0: the connection is closed without a
/// response.
const ODD: &[(&str, &[u8], u16)] = &[
    ("garbage", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 a TLS hello\r\n\r\n", 400),
    ("zeros", &[0; 2_000], 400),
    ("another protocol", b"SSH-2.0-OpenSSH_9.9\r\n\r\n", 400),
    ("HTTP/2 at once", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 0),
    (
        "two lengths",
        b"POST /api/user/login HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}",
        400,
    ),
    ("a body cut short", b"POST /api/user/login HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99\r\n\r\n{", 400),
    ("a half-open socket", ASK, 200),
    ("half a head", b"GET /api/shop/1 HTTP/1.1\r\nhost:", 0),
    ("nothing", b"", 0),
];

/// Sends each and then shuts down the write side. Returns the number of clients.
fn odd_clients(address: SocketAddr) -> anyhow::Result<usize> {
    for (what, bytes, status) in ODD {
        let received = say(address, bytes)?;
        let got = http::read(&received).map_or(0, |reply| reply.status);
        ensure!(got == *status, "{what}: {}", String::from_utf8_lossy(&received));
    }
    let huge = |path: &str, header: &str| {
        format!("GET /api/shop/1?{path} HTTP/1.1\r\nhost: localhost\r\nx: {header}\r\n\r\n")
    };
    for (what, request, status) in [
        ("a huge header", huge("", &"a".repeat(100_000)), 431),
        ("a huge URL", huge(&"a".repeat(100_000), ""), 431),
        ("a URL longer than any", huge(&"a".repeat(14_000), ""), 200),
        (
            "a thousand headers",
            format!("GET / HTTP/1.1\r\nhost: localhost\r\n{}\r\n", "x: y\r\n".repeat(1_000)),
            431,
        ),
    ] {
        let received = say(address, request.as_bytes())?;
        let got = http::read(&received).map_or(0, |reply| reply.status);
        ensure!(got == status, "{what}: {}", String::from_utf8_lossy(&received));
    }
    pipelined(address)?;
    let slow = slow_clients(address)?;
    Ok(ODD.len() + 5 + slow)
}

fn say(address: SocketAddr, bytes: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut stream = connect(address)?;
    // A server may refuse and close before everything is written.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let mut received = Vec::new();
    let _ = stream.read_to_end(&mut received);
    Ok(received)
}

/// Checks that a thousand pipelined requests get responses in order.
fn pipelined(address: SocketAddr) -> anyhow::Result<()> {
    const REQUESTS: usize = 1_000;
    let mut stream = connect(address)?;
    let requests: String = (0..REQUESTS)
        .map(|number| format!("GET /api/shop/x{number} HTTP/1.1\r\nhost: localhost\r\n\r\n"))
        .collect();
    let mut writing = stream.try_clone()?;
    let writer = std::thread::spawn(move || writing.write_all(requests.as_bytes()));
    let (mut received, mut bytes) = (String::new(), [0; 16_384]);
    while received.matches("HTTP/1.1 400").count() < REQUESTS || !received.ends_with('}') {
        let length = stream.read(&mut bytes)?;
        ensure!(length > 0, "closed after {} answers", received.matches("HTTP/1.1").count());
        received.push_str(&String::from_utf8_lossy(&bytes[..length]));
    }
    let order: Vec<usize> = received
        .split("\"errorMsg\":\"")
        .skip(1)
        .filter_map(|rest| rest.split_once('x')?.1.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok())
        .collect();
    ensure!(order == (0..REQUESTS).collect::<Vec<_>>(), "answered out of order");
    writer.join().ok().context("the writer panicked")??;
    Ok(())
}

/// Opens hundreds of connections that send a byte now and then. They must not slow other clients down, and
/// are not waited for.
fn slow_clients(address: SocketAddr) -> anyhow::Result<usize> {
    const SLOW: usize = 300;
    let mut heads: Vec<_> = (0..SLOW).map(|_| connect(address)).collect::<Result<_, _>>()?;
    let mut bodies: Vec<_> = (0..SLOW).map(|_| connect(address)).collect::<Result<_, _>>()?;
    for stream in &mut heads {
        stream.write_all(b"GET /api/shop/1 HTTP/1.1\r\n")?;
    }
    for stream in &mut bodies {
        stream
            .write_all(b"POST /api/user/login HTTP/1.1\r\nhost: localhost\r\ncontent-length: 50\r\n\r\n{")?;
    }
    for stream in &mut bodies {
        let mut received = Vec::new();
        let _ = stream.read_to_end(&mut received);
        let reply = http::read(&received)?;
        ensure!((reply.status, reply.code()) == (408, "REQUEST_TIMEOUT"), "{reply:?}");
    }
    let began = Instant::now();
    for stream in &mut heads {
        let _ = stream.write_all(b"x");
        let mut received = Vec::new();
        let _ = stream.read_to_end(&mut received);
        ensure!(
            received.is_empty() && patience::is_within(began.elapsed(), Duration::from_secs(25)),
            "a slow head was waited for"
        );
    }
    Ok(2 * SLOW)
}
