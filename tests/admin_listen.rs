//! Operators with an address of their own: what customers find at theirs.

#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

#[path = "common/http.rs"]
mod http;
#[path = "common/process.rs"]
mod process;

use std::fs::File;
use std::net::SocketAddr;
use std::time::Duration;

use mallbox_test_patience as patience;
use serde_json::json;
use tempfile::TempDir;

use http::Reply;
use process::{Process, address_in, mallbox};

/// Longest time until a line is in the log.
const LOG_TIMEOUT: Duration = Duration::from_secs(20);

/// A mall with two addresses.
struct Mall {
    _process: Process,
    customers: SocketAddr,
    operators: SocketAddr,
    dir: TempDir,
}

impl Mall {
    fn start(flags: &[&str]) -> Self {
        let dir = TempDir::new().unwrap();
        let data = dir.path().join("mall");
        let mut command = mallbox(&["serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"]);
        let log = File::create(dir.path().join("log")).unwrap();
        command.args(flags).arg("--data").arg(data).stderr(log);
        let process = Process::start(&mut command);
        let address = |name: &str| {
            let line = process.line();
            assert!(line.starts_with(name), "{line}");
            address_in(&line)
        };
        let (customers, operators) = (address("mallbox "), address("operators "));
        Self { _process: process, customers, operators, dir }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.dir.path().join("log")).unwrap()
    }
}

fn get(address: SocketAddr, path: &str) -> Reply {
    http::ask(address, "GET", path, "").unwrap()
}

/// Returns the paths of the API document.
fn paths(address: SocketAddr, api: &str) -> Vec<String> {
    let document = get(address, &format!("{api}/openapi.json")).body;
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
            let [at_customers, at_operators] =
                [mall.customers, mall.operators].map(|address| get(address, &path).status);
            assert_eq!(at_customers, 404, "{path}");
            // 405: the path has no GET. The role is asked for before anything else.
            assert!(matches!(at_operators, 401 | 405), "{path}: {at_operators}");
        }
        assert!(!paths(mall.customers, api).iter().any(|path| path.contains("/ops/")));
        for path in ["/metrics", "/console", "/mall/console", "//metrics", "/%6detrics"] {
            assert_eq!(get(mall.customers, path).status, 404, "{path}");
            assert_eq!(get(mall.operators, path).status, 200, "{path}");
        }
    }
}

#[test]
fn refused_calls_of_operators_are_logged_with_their_route() {
    let mall = Mall::start(&[]);
    assert_eq!(get(mall.operators, "/api/ops/users").status, 401);
    assert_eq!(get(mall.customers, "/api/user/me").status, 401);
    for route in ["/ops/users", "/user/me"] {
        let logged =
            || if mall.log().contains(&format!("route=\"{route}\"")) { Ok(()) } else { Err(mall.log()) };
        patience::until_ok(LOG_TIMEOUT, logged).unwrap();
    }
}

#[test]
fn strangers_learn_whether_the_mall_is_ready_and_no_more() {
    let mall = Mall::start(&[]);
    let Reply { status, body, .. } = get(mall.customers, "/readyz");
    assert_eq!((status, body), (200, json!({ "ready": true })));
    let Reply { status, body, .. } = get(mall.operators, "/readyz");
    assert_eq!((status, &body["ready"], &body["backend"]), (200, &json!(true), &json!("embedded")), "{body}");
}

#[test]
fn customers_pages_and_calls_are_at_both_addresses() {
    let mall = Mall::start(&[]);
    for address in [mall.customers, mall.operators] {
        for path in ["/", "/healthz", "/api/shop-type/list", "/mall/manual/"] {
            assert_eq!(get(address, path).status, 200, "{path} at {address}");
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
