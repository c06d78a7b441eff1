//! Login codes through the example of a gateway: signed requests are accepted, others are not.

#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

#[path = "common/http.rs"]
mod http;
#[path = "common/process.rs"]
mod process;

use std::path::Path;
use std::process::{Command, Stdio};

use process::{Process, address_in, mallbox};

const PHONE: &str = "13900000002";
const SECRET: &str = "MALLBOX_SMS_SECRET";
const EXAMPLE: &str = "tests/examples/python/sms_gateway.py";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn start(command: &mut Command) -> Process {
    Process::start(command.stderr(Stdio::null()))
}

fn mall(data: &Path, gateway: &str, secret: Option<&str>) -> Process {
    let mut command =
        mallbox(&["serve", "--listen", "127.0.0.1:0", "--limits", "off", "--sms", gateway, "--data"]);
    start(command.arg(data).envs(secret.map(|secret| (SECRET, secret))))
}

#[test]
#[cfg_attr(not(feature = "python-tests"), ignore = "needs Python; tests/run turns it on where it is there")]
fn the_example_accepts_codes_that_the_mall_signed_and_no_others() {
    let dir = tempfile::tempdir().unwrap();
    let gateway = start(Command::new("python3").arg(root().join(EXAMPLE)).env(SECRET, "s3cr3t"));
    let url = format!("http://127.0.0.1:{}/sms", gateway.line());
    for (secret, is_sent) in [(None, false), (Some("another"), false), (Some("s3cr3t"), true)] {
        let mall = mall(&dir.path().join("mall"), &url, secret);
        let address = address_in(&mall.line());
        let post = |path: &str, body: &str| http::send(address, "POST", path, "", body).unwrap().text;
        let answer = post(&format!("/api/user/code?phone={PHONE}"), "");
        assert_eq!(answer.contains(r#""success":true"#), is_sent, "{secret:?}: {answer}");
        if is_sent {
            // The first line is about this code: nothing was accepted before.
            let sent: serde_json::Value = serde_json::from_str(&gateway.line()).unwrap();
            assert_eq!(sent["phone"], PHONE);
            let answer = post("/api/user/login", &sent.to_string());
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
fn help_shows_neither_urls_nor_secrets_of_services() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mallbox"));
    command.args(["serve", "--help"]).env("MALLBOX_SMS", "http://localhost/?key=k3p9").env(SECRET, "s3cr3t");
    command.env("MALLBOX_ALERT_URL", "http://localhost/?key=k3p9").env("MALLBOX_ALERT_SECRET", "s3cr3t");
    command.env("MALLBOX_CHALLENGE_VERIFY_URL", "http://localhost/?key=k3p9");
    command.env("MALLBOX_CHALLENGE_SECRET", "s3cr3t");
    let help = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert!(help.contains("MALLBOX_SMS") && help.contains(SECRET), "{help}");
    assert!(help.contains("MALLBOX_CHALLENGE_SECRET"), "{help}");
    assert!(!help.contains("k3p9") && !help.contains("s3cr3t"), "{help}");
}
