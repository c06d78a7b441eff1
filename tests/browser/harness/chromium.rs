//! The process's single headless Chromium, and the connection to it.
//!
//! The connection uses Chromium's DevTools protocol over a pipe, as plain JSON. A driver in between would
//! hide the events under test (console errors, intercepted requests), and a crate with generated types
//! refuses messages of a newer Chromium.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, OnceLock, Weak};
use std::time::Duration;

use mallbox_test_patience as patience;
use serde_json::{Value, json};

/// A busy page responds late; a dead browser never does.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(30);
/// Runs `"$@"` with standard input and output as the pipe, and removes the directory `$0` afterwards. The
/// browser ends with the pipe, and therefore with the test, even after a kill. It stands for another machine
/// and leaves the processor to the mall.
const WATCH: &str = r#"trap '' INT HUP
nice -n 5 "$@" --user-data-dir="$0/profile" 3<&0 4>&1 </dev/null >/dev/null 2>"$0/log"
rm -rf "$0""#;
/// Equal rendering on every machine (no GPU, proxies, updates), no throttling of background pages, and no
/// process ready for a page that never comes.
const FLAGS: [&str; 15] = [
    "--headless",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-proxy-server",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-sync",
    "--disable-extensions",
    "--disable-component-update",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-features=SpareRendererForSitePerProcess",
    "--lang=zh-CN",
];

/// A subscriber to the events of a page.
pub trait Listener: Send + Sync {
    /// Handles an event. Called by the reading thread: may call [`say`](Chromium::say), but not
    /// [`ask`](Chromium::ask).
    fn hear(&self, browser: &Chromium, event: &str, params: &Value);
}

/// A running browser.
pub struct Chromium {
    _watch: Child,
    to: Mutex<ChildStdin>,
    heard: Mutex<Pending>,
}

#[derive(Default)]
struct Pending {
    last_id: u64,
    waiting: HashMap<u64, SyncSender<Result<Value, String>>>,
    listeners: HashMap<String, Weak<dyn Listener>>,
}

impl Chromium {
    /// Returns the browser shared by all tests of the process: starting one takes longer than most tests.
    /// Each test has a separate profile.
    pub fn shared() -> &'static Self {
        static CHROMIUM: OnceLock<Chromium> = OnceLock::new();
        let mut from = None;
        let chromium = CHROMIUM.get_or_init(|| {
            let mut watch = start();
            from = watch.stdout.take();
            let to = Mutex::new(watch.stdin.take().unwrap());
            Self { _watch: watch, to, heard: Mutex::default() }
        });
        if let Some(from) = from {
            std::thread::spawn(|| chromium.read(from));
        }
        chromium
    }

    /// Sends a command to a page, or to the browser if `session` is empty, and waits for the response.
    pub fn command(&self, session: &str, method: &str, params: &Value) -> Result<Value, String> {
        let (sender, receiver) = sync_channel(1);
        let id = {
            let mut heard = self.heard.lock().unwrap();
            heard.last_id += 1;
            let id = heard.last_id;
            heard.waiting.insert(id, sender);
            id
        };
        self.write(id, session, method, params);
        receiver
            .recv_timeout(patience::scaled(COMMAND_TIMEOUT))
            .map_err(|_| format!("{method}: the browser does not answer"))?
    }

    /// Sends a command without waiting.
    pub fn send(&self, session: &str, method: &str, params: &Value) {
        let id = {
            let mut heard = self.heard.lock().unwrap();
            heard.last_id += 1;
            heard.last_id
        };
        self.write(id, session, method, params);
    }

    /// Subscribes `listener` to the events of a page.
    pub fn subscribe(&self, session: &str, listener: Weak<dyn Listener>) {
        self.heard.lock().unwrap().listeners.insert(session.to_owned(), listener);
    }

    /// Removes the subscription to a page.
    pub fn forget(&self, session: &str) {
        self.heard.lock().unwrap().listeners.remove(session);
    }

    fn write(&self, id: u64, session: &str, method: &str, params: &Value) {
        let mut message = json!({ "id": id, "method": method, "params": params });
        if !session.is_empty() {
            message["sessionId"] = json!(session);
        }
        let mut line = message.to_string().into_bytes();
        line.push(0);
        // A dead browser sends no response; `ask` reports the error.
        let _ = self.to.lock().unwrap().write_all(&line);
    }

    fn read(&self, from: ChildStdout) {
        for message in BufReader::new(from).split(0).map_while(Result::ok) {
            let message: Value = serde_json::from_slice(&message).unwrap_or_default();
            match message["id"].as_u64() {
                Some(id) => self.answered(id, &message),
                None => self.happened(&message),
            }
        }
    }

    fn answered(&self, id: u64, message: &Value) {
        let waiting = self.heard.lock().unwrap().waiting.remove(&id);
        let answer = match &message["error"] {
            Value::Null => Ok(message["result"].clone()),
            error => Err(error["message"].as_str().unwrap_or("refused").to_owned()),
        };
        if let Some(waiting) = waiting {
            let _ = waiting.send(answer);
        }
    }

    fn happened(&self, message: &Value) {
        let session = message["sessionId"].as_str().unwrap_or_default();
        let listener = self.heard.lock().unwrap().listeners.get(session).and_then(Weak::upgrade);
        if let (Some(listener), Some(event)) = (listener, message["method"].as_str()) {
            listener.hear(self, event, &message["params"]);
        }
    }
}

fn start() -> Child {
    let dir = tempfile::Builder::new().prefix("mallbox-browser-").tempdir().unwrap().keep();
    let mut command = Command::new("sh");
    command.args(["-c", WATCH]).arg(dir).arg("chromium").args(FLAGS);
    if rustix::process::geteuid().is_root() {
        command.arg("--no-sandbox");
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("sh is there")
}
