//! Alerts of the real binary: what a start, damaged pages and a refused start post, and what they post to a
//! receiver that fails, loses responses, is away or silent.

#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

#[path = "common/process.rs"]
mod process;
#[path = "common/webhook_receiver.rs"]
mod webhook_receiver;

use std::fs::{self, OpenOptions};
use std::net::TcpListener;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use mallbox_test_patience::Deadline;
use process::{Process, mallbox};
use serde_json::Value;
use webhook_receiver::{Switches, WebhookReceiver};

const SECRET: &str = "a secret of both sides";
const PAGE: u64 = 4096;

fn serve(data: &Path, url: &str) -> Command {
    let mut command = mallbox(&["serve", "--listen", "127.0.0.1:0", "--data"]);
    command.arg(data).env("MALLBOX_ALERT_URL", url).env("MALLBOX_ALERT_SECRET", SECRET);
    command.stderr(Stdio::null());
    command
}

/// Starts a mall, and returns it once it serves.
fn start(data: &Path, url: &str) -> Process {
    let mall = Process::start(&mut serve(data, url));
    mall.line();
    mall
}

/// Waits for the alert that follows `seen` alerts.
fn next(receiver: &WebhookReceiver, seen: usize) -> Value {
    let deadline = Deadline::after(Duration::from_secs(60));
    loop {
        if let Some(alert) = receiver.events().into_iter().nth(seen) {
            return alert;
        }
        assert!(!deadline.is_over(), "alerts so far: {:?}", receiver.events());
        thread::sleep(Duration::from_millis(50));
    }
}

/// Flips bits in the middle of a page of the database. Pages count from 1.
fn flip(data: &Path, page: u64, bits: u8) {
    let file = OpenOptions::new().read(true).write(true).open(data.join("mall.sqlite")).unwrap();
    let (at, mut byte) = ((page - 1) * PAGE + PAGE / 2, [0]);
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ bits], at).unwrap();
}

/// Has the running mall read every page.
fn read_all_pages(data: &Path) {
    mallbox(&["verify", "--data"]).arg(data).output().unwrap();
}

fn texts(alert: &Value, field: &str) -> Vec<String> {
    alert[field].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_start_and_each_finding_are_posted_once() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("mall");
    let receiver = WebhookReceiver::start(SECRET);
    let quiet = Process::start(mallbox(&["serve", "--listen", "127.0.0.1:0", "--data"]).arg(&data));
    quiet.line();
    assert_eq!(quiet.stop(), 0);
    let mall = start(&data, &receiver.url());
    let alert = next(&receiver, 0);
    assert_eq!(alert["state"], "ok", "{alert}");
    assert_eq!(alert["directory"], data.display().to_string());
    assert!(!alert["machine"].as_str().unwrap().is_empty());
    assert_eq!(alert["pages"]["damaged"], 0);
    assert_eq!((&alert["run"], texts(&alert, "troubles").len()), (&Value::Null, 0));

    let pages = fs::metadata(data.join("mall.sqlite")).unwrap().len() / PAGE;
    flip(&data, pages - 3, 0b0000_0100);
    read_all_pages(&data);
    let alert = next(&receiver, 1);
    assert_eq!((&alert["state"], &alert["pages"]["repaired"]), (&"warning".into(), &1.into()), "{alert}");
    assert!(texts(&alert, "warnings")[0].contains("smartctl"), "{alert}");
    let verify = format!("mallbox verify --data '{}'", data.display());
    assert_eq!(alert["run"], verify);

    flip(&data, pages - 5, 0b0010_0100);
    read_all_pages(&data);
    let alert = next(&receiver, 2);
    assert_eq!((&alert["state"], &alert["pages"]["damaged"]), (&"trouble".into(), &1.into()), "{alert}");
    assert!(texts(&alert, "troubles")[0].contains("the database is damaged"), "{alert}");
    assert_eq!(alert["run"], verify);
    drop(mall);
    assert_eq!((receiver.requests(), receiver.forged()), (3, 0));
}

#[test]
fn a_refused_start_is_posted_with_its_reason() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("mall");
    let receiver = WebhookReceiver::start(SECRET);
    assert_eq!(start(&data, &receiver.url()).stop(), 0);
    let before = receiver.events().len();
    flip(&data, 9, 0b0010_0100);
    let refused = serve(&data, &receiver.url()).stderr(Stdio::piped()).output().unwrap();
    let message = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1), "{message}");
    let alert = next(&receiver, before);
    assert_eq!(alert["state"], "not-started", "{alert}");
    let reason = &texts(&alert, "troubles")[0];
    assert!(reason.contains("--accept-damaged-database 1") && message.contains(reason.as_str()), "{message}");
    assert_eq!(receiver.forged(), 0);

    // A receiver that is away or silent hides no message and no exit code.
    receiver.kill();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    for url in [receiver.url(), format!("http://{}/", silent.local_addr().unwrap())] {
        let refused = serve(&data, &url).stderr(Stdio::piped()).output().unwrap();
        let message = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(1), "{message}");
        assert!(message.contains(reason.as_str()) && message.contains("could not post"), "{message}");
    }
}

#[test]
fn an_alert_is_repeated_until_the_receiver_has_it() {
    let dir = tempfile::tempdir().unwrap();
    let receiver = WebhookReceiver::start(SECRET);
    receiver.set(Switches { fails_every: 1, ..Switches::default() });
    let mall = start(&dir.path().join("mall"), &receiver.url());
    let deadline = Deadline::after(Duration::from_secs(60));
    while receiver.requests() == 0 {
        assert!(!deadline.is_over(), "no request");
        thread::sleep(Duration::from_millis(50));
    }
    receiver.kill();
    receiver.set(Switches::default());
    receiver.restart();
    assert_eq!(next(&receiver, 0)["state"], "ok");
    assert_eq!((mall.stop(), receiver.events().len()), (0, 1));
}

#[test]
fn a_silent_receiver_does_not_delay_the_stop() {
    let dir = tempfile::tempdir().unwrap();
    let (data, log) = (dir.path().join("mall"), dir.path().join("mallbox.log"));
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut command = serve(&data, &format!("http://{}/", silent.local_addr().unwrap()));
    let mall = Process::start(command.stderr(fs::File::create(&log).unwrap()));
    mall.line();
    let (held, _) = silent.accept().unwrap();
    assert_eq!(mall.stop(), 0);
    drop(held);
    // Had the stop waited for the timeout, the failure would be logged.
    let log = fs::read_to_string(&log).unwrap();
    assert!(log.contains("stopped") && !log.contains("could not post"), "{log}");
}

#[test]
#[cfg_attr(not(feature = "python-tests"), ignore = "needs Python; tests/run turns it on where it is there")]
fn the_example_hands_alerts_to_a_command() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("mall");
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/examples/python/alerts.py");
    let example =
        Process::start(Command::new("python3").args([example, "echo"]).env("PYTHONUNBUFFERED", "1"));
    let url = format!("http://127.0.0.1:{}/", example.line());
    let mall = start(&data, &url);
    let line = example.line();
    assert!(line.ends_with(&format!("{}: ok", data.display())), "{line}");
    assert_eq!(mall.stop(), 0);
    flip(&data, 9, 0b0010_0100);
    assert_eq!(serve(&data, &url).status().unwrap().code(), Some(1));
    let line = example.line();
    assert!(line.contains(": not-started: ") && line.contains(". Next: mallbox doctor --data '"), "{line}");
}
