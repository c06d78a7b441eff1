//! Operators with an address of their own: what customers find at theirs.

#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use mallbox_test_patience as patience;
use serde_json::{Value, json};
use tempfile::TempDir;

const MALLBOX: &str = env!("CARGO_BIN_EXE_mallbox");
/// Time limit of a response.
const TIMEOUT: Duration = Duration::from_secs(20);

fn mallbox(arguments: &[&str]) -> Command {
    let mut command = Command::new(MALLBOX);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("MALLBOX_")) {
        command.env_remove(name);
    }
    command.args(["--lang", "en"]).args(arguments).stdin(Stdio::null());
    command
}

/// A mall with two addresses.
struct Mall {
    child: Child,
    customers: SocketAddr,
    operators: SocketAddr,
    dir: TempDir,
}

impl Mall {
    fn start(flags: &[&str]) -> Self {
        let dir = TempDir::new().unwrap();
        let data = dir.path().join("mall");
        let mut command = mallbox(&["serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"]);
        command.args(flags).arg("--data").arg(data);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut address = |name: &str| -> SocketAddr {
            let line = lines.next().expect("a line of the banner");
            assert!(line.starts_with(name), "{line}");
            line.split("http://").nth(1).unwrap().split('/').next().unwrap().parse().unwrap()
        };
        let (customers, operators) = (address("mallbox "), address("operators "));
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, customers, operators, dir }
    }
}

impl Drop for Mall {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns status and body of the response.
fn get(address: SocketAddr, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(patience::scaled(TIMEOUT))).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

/// Returns the paths of the API document.
fn paths(address: SocketAddr, api: &str) -> Vec<String> {
    let document: Value = serde_json::from_str(&get(address, &format!("{api}/openapi.json")).1).unwrap();
    document["paths"].as_object().unwrap().keys().cloned().collect()
}

#[test]
fn customers_find_nothing_of_operators_at_their_address() {
    for (flags, api) in [(&[][..], "/api"), (&["--api-prefix", ""][..], "")] {
        let mall = Mall::start(flags);
        let calls = paths(mall.operators, api);
        let operators_calls: Vec<_> = calls.iter().filter(|path| path.contains("/ops/")).collect();
        assert!(operators_calls.len() > 10, "{calls:?}");
        for path in operators_calls {
            let path = format!("{api}{path}").replace("{id}", "1").replace("{name}", "x");
            let (at_customers, at_operators) = (get(mall.customers, &path).0, get(mall.operators, &path).0);
            assert_eq!(at_customers, 404, "{path}");
            // 405: the path has no GET. The role is asked for before anything else.
            assert!(matches!(at_operators, 401 | 405), "{path}: {at_operators}");
        }
        assert!(!paths(mall.customers, api).iter().any(|path| path.contains("/ops/")));
        for path in ["/metrics", "/console", "/mall/console", "//metrics", "/%6detrics"] {
            assert_eq!(get(mall.customers, path).0, 404, "{path}");
            assert_eq!(get(mall.operators, path).0, 200, "{path}");
        }
    }
}

#[test]
fn strangers_learn_whether_the_mall_is_ready_and_no_more() {
    let mall = Mall::start(&[]);
    let (status, body) = get(mall.customers, "/readyz");
    let said: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, said), (200, json!({ "ready": true })));
    let (status, body) = get(mall.operators, "/readyz");
    let said: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, &said["ready"], &said["backend"]), (200, &json!(true), &json!("embedded")), "{said}");
}

#[test]
fn customers_pages_and_calls_are_at_both_addresses() {
    let mall = Mall::start(&[]);
    for address in [mall.customers, mall.operators] {
        for path in ["/", "/healthz", "/api/shop-type/list", "/mall/manual/"] {
            assert_eq!(get(address, path).0, 200, "{path} at {address}");
        }
    }
}

#[test]
fn an_address_in_use_or_given_twice_is_named() {
    let mall = Mall::start(&[]);
    let taken = mall.operators.to_string();
    let data = mall.dir.path().join("other");
    for (listen, code, want) in [
        ("127.0.0.1:0", 1, format!("{taken} is in use by another program")),
        (taken.as_str(), 2, format!("--listen and --admin-listen are both {taken}")),
    ] {
        let mut command = mallbox(&["serve", "--listen", listen, "--admin-listen", &taken, "--data"]);
        let output = command.arg(&data).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(code) && error.contains(&want), "{error}");
        assert!(!data.exists(), "a refused start leaves nothing behind");
    }
}
