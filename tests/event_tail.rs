//! `mallbox events`: shows events of a mall that runs and of a mall that does not.

#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

#[path = "common/http.rs"]
mod http;
#[path = "common/process.rs"]
mod process;

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Output, Stdio};

use process::{Process, address_in, mallbox};
use serde_json::{Value, json};

const AUTHOR: &str = "13900000002";

/// Runs a subcommand of `events`. Returns exit code, standard output and standard error.
fn events(data: &Path, words: &[&str]) -> (i32, String, String) {
    let all = [&["events"], words, &["--data", data.to_str().unwrap()]].concat();
    let Output { status, stdout, stderr } = mallbox(&all).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

fn call(mall: SocketAddr, method: &str, path: &str, token: &str, body: &str) -> Value {
    let response = http::send(mall, method, path, token, body).unwrap();
    assert_eq!(response.body["success"], true, "{path}: {}", response.text);
    response.body["data"].clone()
}

fn log_in(mall: SocketAddr) -> String {
    call(mall, "POST", &format!("/api/user/code?phone={AUTHOR}"), "", "");
    let inbox = call(mall, "GET", &format!("/api/demo/inbox?phone={AUTHOR}"), "", "");
    let form = json!({ "phone": AUTHOR, "code": inbox["code"] }).to_string();
    call(mall, "POST", "/api/user/login", "", &form).as_str().unwrap().to_owned()
}

fn write_note(mall: SocketAddr, token: &str) -> String {
    let note = json!({ "shopId": 1, "title": "好店", "images": "", "content": "好吃。" }).to_string();
    format!("note/{}", call(mall, "POST", "/api/blog", token, &note))
}

#[test]
fn events_are_shown_as_they_happen_and_again_when_the_mall_is_stopped() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("mall");
    let mut command = mallbox(&["demo", "--listen", "127.0.0.1:0", "--data"]);
    let mall = Process::start(command.arg(&data).stderr(Stdio::null()));
    let address = loop {
        let line = mall.line();
        if line.contains("http://") {
            break address_in(&line);
        }
    };
    let (code, out, error) = events(&data, &["tail", "--once"]);
    assert_eq!((code, out.as_str()), (0, ""), "{error}");
    assert!(error.contains("the mall has no subscriber") && error.contains("mallbox events keep"), "{error}");
    for _ in 0..2 {
        let (code, out, error) = events(&data, &["keep"]);
        assert!(code == 0 && out.contains("7 days"), "{out}{error}");
    }
    let mut tail = mallbox(&["events", "tail", "--json", "--data"]);
    let tail = Process::start(tail.arg(&data).stderr(Stdio::null()));
    let token = log_in(address);
    let keys = [write_note(address, &token), write_note(address, &token)];
    for (position, key) in (1..).zip(&keys) {
        let event: Value = serde_json::from_str(&tail.line()).unwrap();
        assert_eq!((&event["kind"], &event["key"]), (&json!("note.published"), &json!(key)));
        assert_eq!(event["position"], position);
    }
    drop(tail);
    let (code, running, error) = events(&data, &["tail", "--once", "--after", "1"]);
    assert!(code == 0 && running.contains(&keys[1]) && !running.contains(&keys[0]), "{running}{error}");
    assert_eq!(mall.stop(), 0);
    let (code, stopped, error) = events(&data, &["tail", "--after", "1"]);
    assert_eq!((code, stopped), (0, running), "nothing happens in a mall that does not run: {error}");
    let (code, _, error) = events(dir.path(), &["tail"]);
    assert!(code == 2 && error.contains("no mall"), "{error}");
}
