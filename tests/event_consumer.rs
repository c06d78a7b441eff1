//! Events through the example of a consumer: signed requests count once, however often they come.

#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

#[path = "common/http.rs"]
mod http;
#[path = "common/process.rs"]
mod process;

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};

use process::{Process, address_in, mallbox};
use serde_json::{Value, json};

const OPERATOR: &str = "13900000001";
const EXAMPLE: &str = "tests/examples/python/event_consumer.py";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn start(command: &mut Command) -> Process {
    Process::start(command.stderr(Stdio::null()))
}

fn call(mall: SocketAddr, path: &str, token: &str, body: &Value) -> Value {
    let response = http::send(mall, "POST", path, token, &body.to_string()).unwrap();
    assert_eq!(response.body["success"], true, "{path}: {}", response.text);
    response.body["data"].clone()
}

/// Runs the example with its database; prints the port first.
fn consumer(seen: &Path, port: &str, secret: &str) -> Process {
    let mut command = Command::new("python3");
    command.arg(root().join(EXAMPLE)).arg(seen).env("PORT", port).env("MALLBOX_EVENT_SECRET", secret);
    start(&mut command)
}

#[test]
#[cfg_attr(not(feature = "python-tests"), ignore = "needs Python; tests/run turns it on where it is there")]
fn the_example_acts_once_on_each_event_that_the_mall_signed() {
    const SECRET: &str = "a secret of sixteen";
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("mall");
    let mut command = mallbox(&["demo", "--listen", "127.0.0.1:0", "--data"]);
    let mall = start(command.arg(&data));
    let address = address_in(&mall.line());
    let code_path = format!("/api/user/code?phone={OPERATOR}");
    http::send(address, "POST", &code_path, "", "").unwrap();
    let inbox = http::ask(address, "GET", &format!("/api/demo/inbox?phone={OPERATOR}"), "").unwrap().body;
    let form = json!({ "phone": OPERATOR, "code": inbox["data"]["code"] });
    let token = call(address, "/api/user/login", "", &form).as_str().unwrap().to_owned();

    let seen = dir.path().join("seen.sqlite");
    let first = consumer(&seen, "0", SECRET);
    let port = first.line();
    let url = format!("http://127.0.0.1:{port}/events");
    let form = json!({ "name": "erp", "target": "webhook", "url": url, "secret": SECRET });
    call(address, "/api/ops/events/subscribers", &token, &form);
    let note = |text: &str| {
        let body = json!({ "shopId": 1, "title": text, "images": "", "content": text });
        let id = call(address, "/api/blog", &token, &body);
        format!("note.published note/{id}")
    };
    let published = note("好吃");
    assert_eq!(first.line(), published);
    // Killed and started again at the same port: what comes next is new.
    drop(first);
    let published = note("再来");
    let second = consumer(&seen, &port, SECRET);
    assert_eq!(second.line(), port);
    assert_eq!(second.line(), published);
}

#[test]
fn the_manual_shows_the_check_of_the_example() {
    let text = |path: &str| std::fs::read_to_string(root().join(path)).unwrap();
    let example = text(EXAMPLE);
    let check = example.split("\n\n\n").find(|part| part.starts_with("def is_from_the_mall")).unwrap();
    for page in ["web/manual/events.md", "web/manual/events.zh.md"] {
        assert!(text(page).contains(check), "{page} has another check than {EXAMPLE}");
    }
}
