//! The one headless Chromium of this process, and what is said to it.
//!
//! It is spoken to in its own DevTools protocol over a pipe, as plain JSON. A driver in between would hide the events that
//! these tests are about (errors on the console, requests to be cut), and a crate with generated types refuses what a
//! newer Chromium has to say.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, OnceLock, Weak};
use std::time::Duration;

use mallbox_test_patience as patience;
use serde_json::{Value, json};

/// A page that is busy answers late; a browser that is gone never does.
const PATIENCE: Duration = Duration::from_secs(30);
/// Runs `"$@"` with standard input and output as the pipe, and takes away its directory `$0` when it has ended: it ends with
/// the pipe, and so with the test, however that ends.
const WATCH: &str = r#"trap '' INT HUP
"$@" --user-data-dir="$0/profile" 3<&0 4>&1 </dev/null >/dev/null 2>"$0/log"
rm -rf "$0""#;
/// The same page whatever the machine has (no GPU, proxies, updates), and pages that nobody looks at run as if somebody did.
const FLAGS: [&str; 14] = [
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
    "--lang=zh-CN",
];

/// Hears what happens in a page.
pub trait Listener: Send + Sync {
    /// Called by the thread that reads: it may [`say`](Chromium::say), and must not [`ask`](Chromium::ask).
    fn hear(&self, browser: &Chromium, event: &str, told: &Value);
}

/// A running browser.
pub struct Chromium {
    _watch: Child,
    to: Mutex<ChildStdin>,
    heard: Mutex<Heard>,
}

#[derive(Default)]
struct Heard {
    last_id: u64,
    waiting: HashMap<u64, SyncSender<Result<Value, String>>>,
    listeners: HashMap<String, Weak<dyn Listener>>,
}

impl Chromium {
    /// The one that all tests of this process share: it takes longer to start than most of them to run. Each has a profile of its
    /// own in it.
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

    /// Has something done in a page, or in the browser if the session is empty, and waits for the answer.
    pub fn ask(&self, session: &str, method: &str, params: &Value) -> Result<Value, String> {
        let (tell, told) = sync_channel(1);
        let id = {
            let mut heard = self.heard.lock().unwrap();
            heard.last_id += 1;
            let id = heard.last_id;
            heard.waiting.insert(id, tell);
            id
        };
        self.send(id, session, method, params);
        told.recv_timeout(patience::scaled(PATIENCE))
            .map_err(|_| format!("{method}: the browser does not answer"))?
    }

    /// Has something done, and goes on.
    pub fn say(&self, session: &str, method: &str, params: &Value) {
        let id = {
            let mut heard = self.heard.lock().unwrap();
            heard.last_id += 1;
            heard.last_id
        };
        self.send(id, session, method, params);
    }

    /// From now on, it hears what happens in this page.
    pub fn listen(&self, session: &str, listener: Weak<dyn Listener>) {
        self.heard.lock().unwrap().listeners.insert(session.to_owned(), listener);
    }

    /// Nobody listens to this page any more.
    pub fn forget(&self, session: &str) {
        self.heard.lock().unwrap().listeners.remove(session);
    }

    fn send(&self, id: u64, session: &str, method: &str, params: &Value) {
        let mut message = json!({ "id": id, "method": method, "params": params });
        if !session.is_empty() {
            message["sessionId"] = json!(session);
        }
        let mut line = message.to_string().into_bytes();
        line.push(0);
        // One that is gone does not answer, which is said there.
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
