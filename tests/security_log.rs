//! The log of security events as written by the binary: what the manual's fail2ban filter finds, and that no
//! request can forge a line.

#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

mod common;

use std::net::{SocketAddr, TcpStream};

use regex::Regex;
use serde_json::Value;

use common::http;
use common::server::Server;

/// The client as reported by the trusted proxy.
const CLIENT: &str = "203.0.113.7";
/// The address that the client wants the log to name.
const FORGED: &str = "198.51.100.66";
const PHONE: &str = "13900000002";
const PASSWORD: &str = "correct horse";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Format {
    Text,
    Json,
}

/// Sends a request through the trusted proxy. `head` is the request line with further headers.
fn send(address: SocketAddr, head: &[u8], body: &str) {
    let rest = format!(
        "x-forwarded-for: {FORGED}, {CLIENT}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let stream = TcpStream::connect(address).unwrap();
    let response = http::exchange(stream, &[head, rest.as_bytes()].concat()).unwrap();
    assert!(response.starts_with(b"HTTP/1.1 "), "{head:?}");
}

/// Returns the log of a mall after `calls`.
fn log_of(format: Format, calls: impl FnOnce(SocketAddr)) -> String {
    let dir = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (data, log) = (dir.path().join("mall"), dir.path().join("log"));
    let format = match format {
        Format::Text => "text",
        Format::Json => "json",
    };
    let flags = ["--log-format", format, "--trusted-proxy", "127.0.0.1", "--host", "mall.example"];
    let server = Server::start_with(&data, &log, &flags).unwrap();
    calls(server.address);
    server.stop().unwrap();
    std::fs::read_to_string(&log).unwrap()
}

fn post_login(address: SocketAddr, more: &str, body: &str) {
    send(address, format!("POST /api/user/login HTTP/1.1\r\nhost: localhost\r\n{more}").as_bytes(), body);
}

fn password(phone: &str) -> String {
    format!(r#"{{"phone":"{phone}","password":"{PASSWORD}"}}"#)
}

/// Returns the expressions of the manual's filter for a format, as fail2ban compiles them.
fn filter(page: &str, format: Format) -> Vec<Regex> {
    let manual = std::fs::read_to_string(format!("web/manual/{page}")).unwrap();
    let blocks: Vec<_> = manual.split("```ini\n[Definition]\n").skip(1).collect();
    let [text, json] = blocks[..] else { panic!("{page} has {} filters", blocks.len()) };
    let block = if format == Format::Text { text } else { json };
    let lines = block.split("```").next().unwrap().lines();
    let expressions = lines.map(|line| line.trim_start_matches("failregex =").trim());
    let address = r"(?P<address>(?:\d{1,3}\.){3}\d{1,3}|[0-9a-fA-F:]+)";
    expressions.map(|expression| Regex::new(&expression.replace("<ADDR>", address)).unwrap()).collect()
}

/// Returns the address found in each matching line. fail2ban removes the date before the comparison.
fn found(filter: &[Regex], log: &str) -> Vec<String> {
    let date = Regex::new(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z").unwrap();
    let addresses = log.lines().filter_map(|line| {
        let line = date.replace(line, "");
        filter.iter().find_map(|expression| Some(expression.captures(&line)?["address"].to_owned()))
    });
    addresses.collect()
}

/// Returns event and client of each line of the security log, read without the filter.
fn events(format: Format, log: &str) -> Vec<(String, String)> {
    let text = Regex::new(
        r#"^\S+Z +(?:INFO|WARN) security: [a-z -]+(?:: [a-z ]+)? event="([a-z_]+)" (?:client=([0-9.]+) )?"#,
    );
    let text = text.unwrap();
    let event = |line: &str| match format {
        Format::Text => {
            let fields = text.captures(line)?;
            Some((fields[1].to_owned(), fields.get(2).map_or("", |client| client.as_str()).to_owned()))
        }
        Format::Json => {
            let line: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
            let field = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
            (line["target"] == "security").then(|| (field("event"), field("client")))
        }
    };
    log.lines().filter_map(event).collect()
}

#[test]
fn the_filter_of_the_manual_finds_every_failed_log_in_and_nothing_else() {
    for format in [Format::Text, Format::Json] {
        let log = log_of(format, |address| {
            // Five attempts are allowed.
            for _ in 0..7 {
                post_login(address, "", &password(PHONE));
            }
            post_login(address, "", &format!(r#"{{"phone":"{PHONE}","code":"000000"}}"#));
            for path in ["/api/user/me", "/api/ops/users", "/api/shop/1"] {
                send(address, format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n").as_bytes(), "");
            }
            send(
                address,
                format!("POST /api/user/code?phone={PHONE} HTTP/1.1\r\nhost: localhost\r\n").as_bytes(),
                "",
            );
        });
        let names: Vec<_> = events(format, &log).into_iter().map(|(event, _)| event).collect();
        let want = [
            &["login_password_failed"; 5][..],
            &["rate_limited"; 2],
            &["login_code_failed", "unauthenticated", "unauthenticated", "code_requested"],
        ];
        assert_eq!(names, want.concat(), "{log}");
        for page in ["security.md", "security.zh.md"] {
            assert_eq!(found(&filter(page, format), &log), [CLIENT; 8], "{page} {log}");
        }
    }
}

#[test]
fn no_request_forges_a_line_of_the_log() {
    let line = format!(
        r#"2001-01-01T12:00:00.000000Z  WARN security: log-in by code failed event=\"login_code_failed\" client={FORGED} "#
    );
    for format in [Format::Text, Format::Json] {
        let log = log_of(format, |address| {
            // Phone, code and password with line breaks, quotes and escape sequences.
            for evil in
                [format!("\\n{line}"), format!("\\u001b[2K\\r{line}"), format!("\\\" client={FORGED} ")]
            {
                post_login(address, "", &password(&evil));
                post_login(address, "", &format!(r#"{{"phone":"{PHONE}","code":"{evil}"}}"#));
                post_login(address, "", &format!(r#"{{"phone":"{PHONE}","password":"{evil}"}}"#));
            }
            // A body that is no JSON.
            post_login(address, "", &format!("{{\"phone\": {PHONE}\" client={FORGED} "));
            // An id of the client's own is kept, as far as its letters are harmless.
            post_login(address, &format!("x-request-id: client:{FORGED}\r\n"), &password(PHONE));
            post_login(address, &format!("x-request-id: a\" client={FORGED} \r\n"), &password(PHONE));
            // Paths, headers and methods.
            for path in [
                format!("/api/ops/users/1%0d%0a%20WARN%20security:%20client={FORGED}"),
                format!("/api/ops/users/1?a=%22client={FORGED}"),
                format!("/api/ops/audit?client={FORGED}%0a"),
            ] {
                send(address, format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n").as_bytes(), "");
            }
            let head = format!(
                "GET /api/user/me HTTP/1.1\r\nhost: localhost\r\nauthorization: \t\" client={FORGED}\r\n"
            );
            send(address, &[head.as_bytes(), b"user-agent: \xff\x9b2K\r\n"].concat(), "");
            let head =
                format!("CLIENT={FORGED} /api/user/me HTTP/1.1\r\nhost: evil.example\r\n").replace('=', "'");
            send(address, head.as_bytes(), "");
            send(address, format!("GET / HTTP/1.1\r\nhost: client={FORGED}\r\n").as_bytes(), "");
        });
        let events = events(format, &log);
        let count = |name: &str| events.iter().filter(|(event, _)| event == name).count();
        assert_eq!(count("login_code_failed"), 3, "{log}");
        assert_eq!(count("login_password_failed") + count("rate_limited"), 5, "{log}");
        assert_eq!(
            (count("unauthenticated"), count("wrong_host"), count("malformed_request")),
            (4, 2, 1),
            "{log}"
        );
        assert_eq!(events.len(), 15, "{log}");
        for (event, client) in &events {
            assert_eq!(client, CLIENT, "{event}: {log}");
        }
        assert_eq!(found(&filter("security.md", format), &log), [CLIENT; 8], "{log}");
        for secret in [PHONE, PASSWORD, "2001-01-01"] {
            assert!(!log.contains(secret), "{secret} is in\n{log}");
        }
        assert!(!log.contains(['\u{1b}', '\u{9b}', '\r', '\t']), "{log}");
    }
}
