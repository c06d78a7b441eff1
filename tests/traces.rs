//! Traces by OTLP: what a collector receives, what it never receives, and that no collector, however bad,
//! slows a request or holds up a stop for long.

#![cfg(feature = "otlp")]
#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

#[path = "traces/collector.rs"]
mod collector;
mod common;
#[path = "common/process.rs"]
mod process;

use std::fs::File;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use collector::{Behaviour, Collector, attribute};
use common::http;
use common::mall::Size;
use mallbox_storage::hex;
use mallbox_test_patience as patience;
use mallbox_test_servers::{MariaDb, Redis};
use opentelemetry_proto::tonic::trace::v1::Span;
use process::{Process, address_in, mallbox};

const PHONE: &str = "13900000001";
/// Longest stop: the drain of an idle mall, and the flush of 2 s.
const STOP_TIMEOUT: Duration = Duration::from_secs(8);
/// Far more than a request takes, and less than the collector's time limit of 5 s.
const REQUEST_TIMEOUT: Duration = Duration::from_millis(1_500);

/// A mall that sends traces.
struct Mall {
    process: Process,
    address: SocketAddr,
}

impl Mall {
    fn start(arguments: &[&str], log: Stdio) -> Self {
        let common = ["serve", "--listen", "127.0.0.1:0", "--limits", "off"];
        let process = Process::start(mallbox(&[&common, arguments].concat()).stderr(log));
        let address = address_in(&process.line());
        Self { process, address }
    }

    fn in_directory(dir: &Path, arguments: &[&str]) -> Self {
        Self::start(&[&["--data", dir.to_str().unwrap()], arguments].concat(), Stdio::null())
    }

    /// Sends a request with further header lines. Returns the whole response.
    fn send(&self, method: &str, path: &str, headers: &str, body: &str) -> String {
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n{body}"
        );
        let stream = TcpStream::connect(self.address).unwrap();
        String::from_utf8(http::exchange(stream, request.as_bytes()).unwrap()).unwrap()
    }

    fn log_in(&self) -> String {
        self.send("POST", &format!("/api/user/code?phone={PHONE}"), "", "");
        let code = self.process.code(PHONE);
        let body = format!(r#"{{"phone":"{PHONE}","code":"{code}"}}"#);
        let reply = http::send(self.address, "POST", "/api/user/login", "", &body).unwrap();
        reply.body["data"].as_str().unwrap().to_owned()
    }

    /// Stops the mall. Returns the time taken.
    fn stop(self) -> Duration {
        let began = Instant::now();
        assert_eq!(self.process.stop(), 0);
        began.elapsed()
    }
}

fn has_request_id(id: &str) -> impl Fn(&Span) -> bool {
    move |span| attribute(span, "mallbox.request_id").as_deref() == Some(id)
}

#[test]
fn a_request_becomes_a_span_of_the_callers_trace() {
    let (dir, collector) = (tempfile::tempdir().unwrap(), Collector::start(Behaviour::Takes));
    let mall = Mall::in_directory(dir.path(), &["--otlp", &collector.url()]);
    let (trace, caller) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
    let headers = |id: &str, parent: &str| format!("x-request-id: {id}\r\ntraceparent: {parent}\r\n");
    mall.send("GET", "/api/shop/7", &headers("traced", &format!("00-{trace}-{caller}-01")), "");
    mall.send("GET", "/api/shop/7", &headers("untraced", &format!("00-{trace}-{caller}-00")), "");
    mall.send("GET", "/api/shop/7", &headers("malformed", "00-xyz"), "");
    mall.send("GET", "/no-such-page", "x-request-id: page\r\n", "");
    let span = collector.wait_for(has_request_id("traced"));
    assert_eq!((hex(&span.trace_id), hex(&span.parent_span_id)), (trace.to_owned(), caller.to_owned()));
    assert_eq!((span.name.as_str(), span.kind), ("GET /api/shop/{id}", 2), "{span:?}");
    for (name, value) in [
        ("http.request.method", "GET"),
        ("http.route", "/api/shop/{id}"),
        ("http.response.status_code", "200"),
        ("mallbox.code", "NOT_FOUND"),
    ] {
        assert_eq!(attribute(&span, name).as_deref(), Some(value), "{name}: {span:?}");
    }
    assert!(span.end_time_unix_nano > span.start_time_unix_nano);
    let own = collector.wait_for(has_request_id("malformed"));
    assert!(own.parent_span_id.is_empty() && hex(&own.trace_id) != trace, "{own:?}");
    let page = collector.wait_for(has_request_id("page"));
    assert_eq!((page.name.as_str(), attribute(&page, "http.route")), ("GET", None), "{page:?}");
    mall.stop();
    assert!(!collector.spans().iter().any(has_request_id("untraced")), "the caller did not want it");
    let requests = collector.requests();
    assert!(requests.iter().all(|head| head.starts_with("post /v1/traces http/1.1")), "{requests:?}");
    assert!(collector.everything().contains("mallbox"), "the name of the service");
}

#[test]
fn a_claim_has_spans_below_the_request_and_a_stop_sends_them() {
    let (dir, collector) = (tempfile::tempdir().unwrap(), Collector::start(Behaviour::Takes));
    let made = common::mall::make(dir.path(), Size { people: 1, sales: 1, units: 3 }).unwrap();
    let mall = Mall::in_directory(dir.path(), &["--otlp", &collector.url()]);
    let (sale, token) = (made.sales[0].to_string(), &made.people[0].token);
    let path = format!("/api/voucher-order/seckill/{sale}");
    let reply = http::send(mall.address, "POST", &path, token, "").unwrap();
    assert_eq!(reply.body["success"], true, "{}", reply.text);
    mall.stop();
    let spans = collector.spans();
    let commit = spans.iter().find(|span| span.name == "group commit").expect("the wait for the commit");
    let claim = spans.iter().find(|span| span.span_id == commit.parent_span_id).unwrap();
    assert_eq!((claim.name.as_str(), attribute(claim, "mallbox.sale")), ("claim", Some(sale)));
    let request = spans.iter().find(|span| span.span_id == claim.parent_span_id).unwrap();
    assert_eq!(request.name, "POST /api/voucher-order/seckill/{voucherId}");
    assert!(request.parent_span_id.is_empty());
}

#[test]
fn no_phone_token_query_or_address_is_in_a_span() {
    let (dir, collector) = (tempfile::tempdir().unwrap(), Collector::start(Behaviour::Takes));
    let mall = Mall::in_directory(dir.path(), &["--otlp", &collector.url()]);
    let token = mall.log_in();
    let secrets =
        "tracestate: vendor=s3cr3t\r\nbaggage: user=s3cr3t\r\nuser-agent: s3cr3t\r\ncookie: a=s3cr3t\r\n";
    let traceparent = "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n";
    let login = format!("authorization: {token}\r\n{secrets}{traceparent}");
    mall.send("GET", "/api/user/me?name=s3cr3t", &login, "");
    mall.send("GET", "/api/user/s3cr3t", &login, "");
    mall.send("GET", "/s3cr3t", &login, "");
    mall.send("S3CR3T", "/api/shop/1", &login, "");
    mall.send("GET", &format!("/api/shop/of/name?name={PHONE}"), &format!("x-request-id: {PHONE}\r\n"), "");
    for id in [format!("order-{PHONE}"), token.clone()] {
        mall.send("GET", "/api/shop/2", &format!("x-request-id: {id}\r\n"), "");
    }
    mall.send("POST", "/api/user/login", &login, r#"{"phone":"13900000001","code":"s3cr3t"}"#);
    mall.send("GET", "/api/shop/1", "x-request-id: last\r\n", "");
    collector.wait_for(has_request_id("last"));
    assert!(collector.spans().len() >= 8, "{:?}", collector.spans());
    let everything = collector.everything();
    for secret in [PHONE, &token, "s3cr3t", "S3CR3T", "127.0.0.1", "?"] {
        let found = everything.replace(&collector.url()["http://".len()..], "");
        assert!(!found.contains(secret), "{secret} is in {found}");
    }
    mall.stop();
}

#[test]
fn a_share_of_requests_is_traced() {
    let (dir, collector) = (tempfile::tempdir().unwrap(), Collector::start(Behaviour::Takes));
    let mall = Mall::in_directory(dir.path(), &["--otlp", &collector.url(), "--otlp-sample", "0.25"]);
    for _ in 0..400 {
        http::ask(mall.address, "GET", "/api/shop/1", "").unwrap();
    }
    mall.stop();
    let requests = collector.spans().iter().filter(|span| span.parent_span_id.is_empty()).count();
    // The standard deviation is below 9.
    assert!((50..150).contains(&requests), "{requests} of 400");
}

#[test]
fn no_collector_slows_a_request_or_holds_up_a_stop() {
    // A listener that accepts nothing: the system connects, and nobody reads.
    let deaf = TcpListener::bind("127.0.0.1:0").unwrap();
    let deaf = format!("http://{}", deaf.local_addr().unwrap());
    let refusing = Collector::start(Behaviour::Refuses);
    let silent = Collector::start(Behaviour::Silent);
    let slow = Collector::start(Behaviour::Slow(Duration::from_secs(3)));
    for (url, words) in [
        ("http://127.0.0.1:1".to_owned(), "cannot connect"),
        (refusing.url(), "503"),
        (silent.url(), "no response within 5 s"),
        (deaf, ""),
        (slow.url(), ""),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let data = dir.path().join("mall");
        let data = data.to_str().unwrap();
        let mall = Mall::start(&["--data", data, "--otlp", &url], File::create(&log).unwrap().into());
        // More spans than the queue holds, over connections that stay open.
        let slowest = flood(mall.address, 6_000);
        assert!(patience::is_within(slowest, REQUEST_TIMEOUT), "{url}: {slowest:?}");
        let deadline = patience::Deadline::after(Duration::from_secs(20));
        let text = || std::fs::read_to_string(&log).unwrap();
        while !words.is_empty() && !text().contains("lost spans") && !deadline.is_over() {
            std::thread::sleep(Duration::from_millis(50));
        }
        let took = mall.stop();
        assert!(patience::is_within(took, STOP_TIMEOUT), "{url}: stopped after {took:?}");
        let text = text();
        assert!(text.contains(words), "{url}: {text}");
        let lines = text.lines().filter(|line| line.contains("lost spans")).count();
        assert!((1..=2).contains(&lines), "{url}: one a minute and one at the stop, not {lines}: {text}");
    }
}

/// Sends requests over one connection. Returns the longest time of a response.
fn flood(address: SocketAddr, requests: usize) -> Duration {
    use std::io::{Read as _, Write as _};
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    let mut some = [0; 65_536];
    let mut slowest = Duration::ZERO;
    for _ in 0..requests {
        let began = Instant::now();
        stream.write_all(b"GET /api/shop/1 HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
        assert!(stream.read(&mut some).unwrap() > 0);
        slowest = slowest.max(began.elapsed());
    }
    slowest
}

#[test]
fn a_collector_that_comes_back_gets_spans_again() {
    let (dir, collector) = (tempfile::tempdir().unwrap(), Collector::start(Behaviour::Refuses));
    let mall = Mall::in_directory(dir.path(), &["--otlp", &collector.url()]);
    http::ask(mall.address, "GET", "/api/shop/1", "").unwrap();
    let deadline = patience::Deadline::after(Duration::from_secs(20));
    while collector.requests().is_empty() {
        assert!(!deadline.is_over());
        std::thread::sleep(Duration::from_millis(20));
    }
    collector.set(Behaviour::Takes);
    mall.send("GET", "/api/shop/1", "x-request-id: after\r\n", "");
    collector.wait_for(has_request_id("after"));
    mall.stop();
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn calls_of_servers_are_spans_below_the_request() {
    let (redis, mysql) = (Redis::start().unwrap(), MariaDb::start().unwrap());
    let collector = Collector::start(Behaviour::Takes);
    let (redis, mysql) = (redis.url(), mysql.url("mall"));
    let arguments = ["--redis", &redis, "--mysql", &mysql, "--otlp", &collector.url()];
    let mall = Mall::start(&arguments, Stdio::null());
    mall.log_in();
    mall.stop();
    let spans = collector.spans();
    for system in ["redis", "mysql"] {
        let below = |span: &&Span| attribute(span, "db.system.name").as_deref() == Some(system);
        let call = spans.iter().find(below).unwrap_or_else(|| panic!("no span of {system}: {spans:?}"));
        assert_eq!(call.kind, 3, "a client's: {call:?}");
        let parent = spans.iter().find(|span| span.span_id == call.parent_span_id).unwrap();
        assert!(parent.name.starts_with("POST /api/user/"), "{parent:?}");
    }
    assert!(spans.iter().all(|span| span.kind == 2 || !span.parent_span_id.is_empty()), "background jobs");
    assert!(!collector.everything().contains(PHONE));
}
