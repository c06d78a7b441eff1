//! The HTTP server alone, over real sockets: malformed, slow, greedy and disruptive clients.

#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use axum::Router;
use axum::routing::{get, post};
use mallbox::http::request::extract::{Json, Query};
use mallbox::http::router::pages;
use mallbox::http::{
    Answer, ApiError, Bound, ConnectionTimeouts, Files, FrontOptions, Gateway, Reply, Server, ServerError,
    ServerOptions,
};
use mallbox_test_patience as patience;
use serde::Deserialize;

/// Time limit of a response, unless a test waits for a longer one.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(8);

#[derive(Deserialize)]
struct Named {
    #[serde(default)]
    name: String,
    size: Option<u32>,
}

async fn take(Json(named): Json<Named>) -> Reply<usize> {
    Ok(Answer::ok(named.name.len()))
}

async fn ask(Query(named): Query<Named>) -> Reply<(String, Option<u32>)> {
    Ok(Answer::ok((named.name, named.size)))
}

async fn rest() -> Reply {
    tokio::time::sleep(Duration::from_millis(400)).await;
    Ok(Answer::done())
}

async fn forever() -> Reply {
    std::future::pending().await
}

async fn broken() -> Reply {
    panic!("the secret of the house")
}

fn api() -> Router {
    Router::new()
        .route("/take", post(take))
        .route("/ask", get(ask))
        .route("/rest", get(rest))
        .route("/forever", get(forever).post(forever))
        .route("/broken", get(broken))
        .fallback(|| async { ApiError::unknown_path() })
}

struct World {
    server: Server,
    dir: tempfile::TempDir,
    _runtime: tokio::runtime::Runtime,
}

impl World {
    fn new() -> Self {
        Self::with(ServerOptions { workers: 2, ..ServerOptions::default() }, |_| {}, false)
    }

    fn with(options: ServerOptions, furnish: impl FnOnce(&Path), web: bool) -> Self {
        let dir = tempfile::tempdir().unwrap();
        furnish(dir.path());
        let web_dir = dir.path().join("web");
        let files = Files::new(Some(&dir.path().join("uploads")), web.then_some(web_dir.as_path()), None);
        let front = Gateway::new(FrontOptions {
            prefix: "/api".to_owned(),
            pages: pages(files),
            deadline: Some(Duration::from_millis(700)),
            ..FrontOptions::bare(api())
        });
        let bound = Bound::to(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let server = bound.serve(&front, options).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        Self { server, dir, _runtime: runtime.unwrap() }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.server.address()).unwrap();
        stream.set_read_timeout(Some(patience::scaled(RESPONSE_TIMEOUT))).unwrap();
        stream
    }

    /// Sends bytes on a new connection and reads until the server closes it.
    fn say(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        // A server may refuse and close before everything is written.
        let _ = stream.write_all(bytes);
        rest_of(&mut stream)
    }

    /// Sends bytes, shuts down the write side, and reads until the server closes the connection.
    fn say_and_leave(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        rest_of(&mut stream)
    }

    fn get(&self, path: &str) -> String {
        self.say(format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").as_bytes())
    }
}

fn rest_of(stream: &mut TcpStream) -> String {
    let mut read = Vec::new();
    let _ = stream.read_to_end(&mut read);
    String::from_utf8_lossy(&read).into_owned()
}

/// Reads one response with a `content-length` from a connection that stays open.
fn one_answer(stream: &mut TcpStream) -> String {
    let mut read = Vec::new();
    let mut byte = [0];
    while !read.ends_with(b"\r\n\r\n") {
        assert_eq!(stream.read(&mut byte).unwrap(), 1, "closed in the middle of a head");
        read.push(byte[0]);
    }
    let head = String::from_utf8(read).unwrap();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    stream.read_exact(&mut body).unwrap();
    head + &String::from_utf8(body).unwrap()
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or_default()
}

#[test]
fn malformed_requests_are_refused_and_harm_nobody() {
    let world = World::new();
    for bytes in [
        b"\x00\x01\x02\x03\r\n\r\n".as_slice(),
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET /api/ask?a=\xff\xfe HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
        b"POST /api/take HTTP/1.1\r\nhost: x\r\ncontent-length: many\r\n\r\n",
        b"POST /api/take HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n",
        b"POST /api/take HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}",
        b"POST /api/take HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"POST /api/take HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let answer = world.say_and_leave(bytes);
        let refused = answer.is_empty() || status(&answer).starts_with('4') || status(&answer) == "505";
        assert!(refused, "{}: {answer}", String::from_utf8_lossy(bytes));
    }
    assert_eq!(status(&world.get("/api/ask")), "200");
}

#[test]
fn heads_that_are_too_large_are_refused() {
    let world = World::new();
    let long = format!("GET /api/ask HTTP/1.1\r\nhost: x\r\nx-long: {}\r\n\r\n", "a".repeat(40_000));
    assert_eq!(status(&world.say(long.as_bytes())), "431");
    let many = format!("GET /api/ask HTTP/1.1\r\nhost: x\r\n{}\r\n", "x: y\r\n".repeat(200));
    assert_eq!(status(&world.say(many.as_bytes())), "431");
}

#[test]
fn a_head_that_does_not_end_is_not_waited_for_but_an_idle_connection_is() {
    let patience = ConnectionTimeouts {
        head: Duration::from_millis(400),
        idle: Duration::from_secs(3),
        ..ConnectionTimeouts::default()
    };
    let world =
        World::with(ServerOptions { workers: 1, patience, ..ServerOptions::default() }, |_| {}, false);
    let mut slow = world.connect();
    let mut idle = world.connect();
    idle.write_all(b"GET /api/ask HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    assert_eq!(status(&one_answer(&mut idle)), "200");
    let began = Instant::now();
    for byte in b"GET /api/ask HTTP/1.1\r\nx: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy" {
        if slow.write_all(&[*byte]).is_err() {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(rest_of(&mut slow), "");
    assert!(patience::is_within(began.elapsed(), Duration::from_secs(5)));
    idle.write_all(b"GET /api/ask HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    assert_eq!(status(&one_answer(&mut idle)), "200", "idle for longer than a head may take");
    assert_eq!(rest_of(&mut idle), "", "and closed when it was idle for too long");
}

#[test]
fn a_body_that_arrives_too_slowly_is_the_clients_doing_and_harms_nobody() {
    let world = World::new();
    let began = Instant::now();
    let heads = ["content-length: 1000", "transfer-encoding: chunked"];
    let mut slow: Vec<_> = heads
        .iter()
        .map(|head| {
            let mut stream = world.connect();
            let head = format!("POST /api/take HTTP/1.1\r\nhost: x\r\naccept-language: en\r\n{head}\r\n\r\n");
            stream.write_all(head.as_bytes()).unwrap();
            stream
        })
        .collect();
    for _ in 0..4 {
        for stream in &mut slow {
            stream.write_all(b"1\r\n{\r\n").unwrap();
        }
        assert_eq!(status(&world.get("/api/ask")), "200");
        std::thread::sleep(Duration::from_millis(50));
    }
    for mut stream in slow {
        let response = rest_of(&mut stream);
        assert_eq!(status(&response), "408", "{response}");
        assert!(
            response.contains(r#""code":"REQUEST_TIMEOUT""#) && response.contains("did not arrive in time"),
            "{response}"
        );
    }
    assert!(patience::is_within(began.elapsed(), Duration::from_secs(5)), "and the connection is closed");
    // A slow endpoint, with a complete body.
    let response = world
        .say(b"POST /api/forever HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}");
    assert_eq!(status(&response), "503", "{response}");
}

#[test]
fn bodies_that_are_too_large_are_refused_with_an_envelope() {
    let world = World::new();
    let body = format!(r#"{{"name":"{}"}}"#, "a".repeat(1024 * 1024));
    let head = "POST /api/take HTTP/1.1\r\nhost: x\r\nconnection: close\r\n";
    let response = world.say(format!("{head}content-length: {}\r\n\r\n{body}", body.len()).as_bytes());
    assert_eq!(status(&response), "413");
    assert!(response.contains(r#""code":"TOO_LARGE""#), "{response}");

    let mut chunked = format!("{head}transfer-encoding: chunked\r\n\r\n");
    for part in body.as_bytes().chunks(64 * 1024) {
        chunked += &format!("{:x}\r\n{}\r\n", part.len(), std::str::from_utf8(part).unwrap());
    }
    let response = world.say((chunked + "0\r\n\r\n").as_bytes());
    assert!(response.is_empty() || status(&response) == "413", "{response}");

    let most = format!(r#"{{"name":"{}"}}"#, "a".repeat(1024 * 1024 - 11));
    let response = world.say(format!("{head}content-length: {}\r\n\r\n{most}", most.len()).as_bytes());
    assert!(response.ends_with(r#"{"success":true,"data":1048565}"#), "{response}");
}

#[test]
fn what_is_wrong_with_a_request_is_named_in_the_language_asked_for() {
    let world = World::new();
    for (request, want_status, want) in [
        ("GET /api/nowhere HTTP/1.1\r\n\r\n", "404", r#""errorMsg":"没有这个地址","code":"NOT_FOUND""#),
        ("GET /api/nowhere HTTP/1.1\r\naccept-language: en\r\n\r\n", "404", "This path does not exist."),
        ("GET /nowhere.html HTTP/1.1\r\n\r\n", "404", r#""code":"NOT_FOUND""#),
        ("DELETE /api/take HTTP/1.1\r\n\r\n", "405", r#""code":"METHOD_NOT_ALLOWED""#),
        ("DELETE /index.html HTTP/1.1\r\n\r\n", "405", r#""code":"METHOD_NOT_ALLOWED""#),
        ("GET /api/ask?size=big HTTP/1.1\r\n\r\n", "400", "size应为0到4294967295的整数"),
        (
            "GET /api/ask?size=big HTTP/1.1\r\naccept-language: en\r\n\r\n",
            "400",
            "size: expected a whole number",
        ),
        ("POST /api/take HTTP/1.1\r\ncontent-length: 4\r\n\r\n{\"a\"", "400", r#""code":"BAD_REQUEST""#),
        ("GET /api/forever HTTP/1.1\r\n\r\n", "503", r#""code":"BUSY""#),
    ] {
        let answer = world.say(
            request.replacen("HTTP/1.1\r\n", "HTTP/1.1\r\nhost: x\r\nconnection: close\r\n", 1).as_bytes(),
        );
        assert_eq!(status(&answer), want_status, "{request}{answer}");
        assert!(answer.contains(want), "{request}{answer}");
        assert!(answer.contains("x-content-type-options: nosniff"), "{answer}");
        assert_eq!(want_status == "405", answer.contains("\r\nallow: "), "{answer}");
        assert_eq!(want_status == "503", answer.contains("\r\nretry-after: "), "{answer}");
    }
}

#[test]
fn query_strings_may_be_as_pages_write_them() {
    let world = World::new();
    let answer = world.get("/api/ask?&size=&name=茶+%E8%8C%B6");
    assert!(answer.ends_with(r#"{"success":true,"data":["茶 茶",null]}"#), "{answer}");
}

#[test]
fn a_panic_answers_500_with_the_id_that_is_in_the_log_and_nothing_else() {
    let world = World::new();
    let mut stream = world.connect();
    stream.write_all(b"GET /api/broken HTTP/1.1\r\nhost: x\r\nx-request-id: find-me\r\n\r\n").unwrap();
    let answer = one_answer(&mut stream);
    assert_eq!(status(&answer), "500");
    assert!(answer.contains("x-request-id: find-me") && answer.contains("编号 find-me"), "{answer}");
    assert!(!answer.contains("secret"), "{answer}");
    stream.write_all(b"GET /api/ask HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    assert_eq!(status(&one_answer(&mut stream)), "200", "the connection lives on");
}

#[test]
fn every_answer_has_an_id_of_its_own() {
    let world = World::new();
    let id = |answer: String| {
        answer.lines().find_map(|line| line.strip_prefix("x-request-id: ").map(str::to_owned)).unwrap()
    };
    let ids: std::collections::HashSet<_> = (0..20).map(|_| id(world.get("/api/ask"))).collect();
    assert_eq!(ids.len(), 20);
}

#[test]
fn connections_are_kept_and_requests_may_follow_at_once() {
    let world = World::new();
    let mut stream = world.connect();
    for _ in 0..3 {
        stream.write_all(b"GET /api/ask HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
        assert_eq!(status(&one_answer(&mut stream)), "200");
    }
    let two =
        "GET /api/ask?name=a HTTP/1.1\r\nhost: x\r\n\r\nGET /api/ask?name=b HTTP/1.1\r\nhost: x\r\n\r\n";
    stream.write_all(two.as_bytes()).unwrap();
    assert!(one_answer(&mut stream).contains("\"a\""));
    assert!(one_answer(&mut stream).contains("\"b\""));
    assert_eq!(status(&world.say(b"GET /api/ask HTTP/1.0\r\n\r\n")), "200");
}

#[test]
fn a_drain_finishes_what_is_in_flight_and_closes_what_is_idle() {
    let world = World::new();
    let (mut idle, mut fresh, mut busy) = (world.connect(), world.connect(), world.connect());
    idle.write_all(b"GET /api/ask HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    assert_eq!(status(&one_answer(&mut idle)), "200");
    busy.write_all(b"GET /api/rest HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    std::thread::sleep(Duration::from_millis(150));
    let (address, began) = (world.server.address(), Instant::now());
    let World { server, _runtime: runtime, .. } = world;
    let draining = runtime.spawn(server.drain());
    assert_eq!(rest_of(&mut idle), "");
    assert_eq!(rest_of(&mut fresh), "");
    let answer = rest_of(&mut busy);
    assert!(answer.ends_with(r#"{"success":true}"#), "{answer}");
    assert!(answer.contains("connection: close"), "{answer}");
    runtime.block_on(draining).unwrap();
    assert!(patience::is_within(began.elapsed(), Duration::from_secs(3)), "{:?}", began.elapsed());
    assert!(TcpStream::connect(address).is_err(), "nobody listens any more");
}

#[test]
fn a_port_in_use_is_one_sentence() {
    let world = World::new();
    let error = Bound::to(world.server.address()).unwrap_err();
    assert!(matches!(error, ServerError::InUse(_)));
    assert!(error.to_string().contains("in use by another program"), "{error}");
}

fn furnish(dir: &Path) {
    for (path, text) in [
        ("web/index.html", "their front page"),
        ("web/shop-detail.html", "their shop"),
        ("web/.git/config", "their secret"),
        ("web/imgs/types/ms.png", "their picture"),
        ("web/imgs/blogs/1.jpg", "their old picture"),
        ("uploads/blogs/1.jpg", "an upload"),
        ("mall.sqlite", "the record"),
    ] {
        let path = dir.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

#[test]
fn another_front_end_is_served_as_it_is() {
    let world = World::with(ServerOptions::default(), furnish, true);
    for (path, want) in [
        ("/", "their front page"),
        ("/shop-detail.html?id=1", "their shop"),
        ("/imgs/types/ms.png", "their picture"),
        ("/imgs//types/ms.png", "their picture"),
        ("//imgs///types//ms.png", "their picture"),
        ("/imgs/blogs/1.jpg", "an upload"),
        ("/imgs/shops/1-1.svg", "</svg>"),
        ("/mall/", "</html>"),
    ] {
        let answer = world.get(path);
        assert_eq!(status(&answer), "200", "{path}: {answer}");
        assert!(answer.trim_end().ends_with(want), "{path}: {answer}");
    }
    assert!(!world.get("/").contains("content-security-policy"));
    assert!(world.get("/mall/").contains("content-security-policy: default-src 'none'"));
    assert!(world.get("/imgs/shops/1-1.svg").contains("content-type: image/svg+xml"));
    assert!(world.get("/mall").contains("location: /mall/"));
}

#[test]
fn no_path_leads_out_of_a_folder() {
    let world = World::with(ServerOptions::default(), furnish, true);
    let dir = world.dir.path().file_name().unwrap().to_str().unwrap();
    for path in [
        "/../mall.sqlite",
        "/imgs/../../mall.sqlite",
        "/imgs/..%2f..%2fmall.sqlite",
        "/imgs/%2e%2e/mall.sqlite",
        "/%2e%2e/mall.sqlite",
        "/imgs/..%5c..%5cmall.sqlite",
        "/.git/config",
        "/%2egit/config",
        "/imgs/blogs/1.jpg%00.png",
        "/mall/../mall.sqlite",
        "/imgs//../uploads/../mall.sqlite",
        &format!("/imgs/../../{dir}/mall.sqlite"),
    ] {
        let answer = world.get(path);
        assert_eq!(status(&answer), "404", "{path}: {answer}");
        assert!(!answer.contains("the record") && !answer.contains("secret"), "{path}: {answer}");
    }
}

#[test]
fn what_own_pages_load_is_there_whatever_its_version() {
    let world = World::with(ServerOptions::default(), furnish, true);
    let page = world.get("/mall/");
    let named: Vec<_> = page.split('"').filter(|part| part.starts_with("/mall/assets/")).collect();
    assert!(named.len() > 10 && page.contains("modulepreload"), "{page}");
    for path in &named {
        let answer = world.get(path);
        assert_eq!(status(&answer), "200", "{path}: {answer}");
        assert!(answer.contains("vary: accept-encoding") && answer.contains("etag: "), "{path}: {answer}");
    }
    let script = named.iter().find(|path| path.ends_with("store/main.js")).unwrap();
    assert!(world.get(script).contains("content-type: text/javascript"));
    let version = script.split('/').nth(3).unwrap();
    // A page opened before an update.
    assert_eq!(status(&world.get(&script.replace(version, "0123"))), "200");
    for path in [
        "/mall/assets/",
        "/mall/assets/0123/none.js",
        "/mall/assets/0123/../index.html",
        "/mall/assets/store/main.js",
    ] {
        assert_eq!(status(&world.get(path)), "404", "{path}");
    }
    assert!(world.get("/console").contains("console/main.js"), "whatever other front end there is");
}

#[test]
fn own_pages_are_asked_for_again_and_answered_with_304() {
    let world = World::new();
    let answer = world.get("/");
    assert!(answer.contains("content-type: text/html; charset=utf-8"), "{answer}");
    let etag = answer.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap().to_owned();
    let again = world.say(
        format!("GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\nif-none-match: {etag}\r\n\r\n").as_bytes(),
    );
    assert_eq!(status(&again), "304");
    assert!(again.ends_with("\r\n\r\n"), "{again}");
    let head = world.say(b"HEAD / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    assert!(status(&head) == "200" && head.ends_with("\r\n\r\n"), "{head}");
}
