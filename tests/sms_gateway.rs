//! Login codes through the example of a gateway: signed requests are accepted, others are not.

#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

use std::io::{BufRead as _, BufReader, Lines, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use mallbox_test_patience as patience;

const PHONE: &str = "13900000002";
const SECRET: &str = "MALLBOX_SMS_SECRET";
const EXAMPLE: &str = "tests/examples/python/sms_gateway.py";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A process that runs until dropped, with the lines it prints.
struct Running {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Running {
    fn start(command: &mut Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    fn line(&mut self) -> String {
        self.lines.next().expect("another line").unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn mall(data: &Path, gateway: &str, secret: Option<&str>) -> Running {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mallbox"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("MALLBOX_")) {
        command.env_remove(name);
    }
    command
        .args(["serve", "--listen", "127.0.0.1:0", "--limits", "off", "--sms", gateway, "--data"])
        .arg(data);
    if let Some(secret) = secret {
        command.env(SECRET, secret);
    }
    Running::start(&mut command)
}

fn post(address: &str, path: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(patience::scaled(Duration::from_secs(10)))).unwrap();
    let length = body.len();
    let head = format!("POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}");
    stream.write_all(format!("{head}\r\n\r\n{body}").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
#[cfg_attr(not(feature = "python-tests"), ignore = "needs Python; tests/run turns it on where it is there")]
fn the_example_accepts_codes_that_the_mall_signed_and_no_others() {
    let dir = tempfile::tempdir().unwrap();
    let mut gateway = Running::start(Command::new("python3").arg(root().join(EXAMPLE)).env(SECRET, "s3cr3t"));
    let url = format!("http://127.0.0.1:{}/sms", gateway.line());
    for (secret, is_sent) in [(None, false), (Some("another"), false), (Some("s3cr3t"), true)] {
        let mut mall = mall(&dir.path().join("mall"), &url, secret);
        let banner = mall.line();
        let address = banner.split("http://").nth(1).unwrap().trim_end_matches('/').to_owned();
        let answer = post(&address, &format!("/api/user/code?phone={PHONE}"), "");
        assert_eq!(answer.contains(r#""success":true"#), is_sent, "{secret:?}: {answer}");
        if is_sent {
            // The first line is about this code: nothing was accepted before.
            let sent: serde_json::Value = serde_json::from_str(&gateway.line()).unwrap();
            assert_eq!(sent["phone"], PHONE);
            let answer = post(&address, "/api/user/login", &sent.to_string());
            assert!(answer.contains(r#""success":true"#), "{answer}");
        }
    }
}

#[test]
fn the_manual_shows_the_check_of_the_example() {
    let text = |path: &str| std::fs::read_to_string(root().join(path)).unwrap();
    let example = text(EXAMPLE);
    let check = example.split("\n\n\n").find(|part| part.starts_with("def is_from_the_mall")).unwrap();
    for page in ["web/manual/commands.md", "web/manual/commands.zh.md"] {
        assert!(text(page).contains(check), "{page} has another check than {EXAMPLE}");
    }
}

/// A URL or a secret in the environment is for the process alone.
#[test]
fn help_shows_neither_url_nor_secret_of_the_gateway() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mallbox"));
    command.args(["serve", "--help"]).env("MALLBOX_SMS", "http://localhost/?key=k3p9").env(SECRET, "s3cr3t");
    let help = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert!(help.contains("MALLBOX_SMS") && help.contains(SECRET), "{help}");
    assert!(!help.contains("k3p9") && !help.contains("s3cr3t"), "{help}");
}
