//! The browser as a child process, with the pipe of its DevTools protocol.
//!
//! Over the pipe the browser reports which pages it has, and which have crashed. The managed policy forbids
//! to look into pages, by the pipe too. A port would be open to every account of the computer.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use serde_json::{Value, json};

/// The shell puts the pipe at the descriptors that the browser uses, and becomes the browser.
const SCRIPT: &str = r#"exec "$@" 3<&0 4>&1 </dev/null >&2"#;
/// Ends each message of the protocol.
const END: u8 = 0;

/// The browser, until dropped.
pub(super) struct Browser {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    /// Number of the last command.
    last: u64,
}

impl Browser {
    /// Starts the browser with an empty page.
    ///
    /// # Errors
    /// No process can be started.
    pub(super) fn start(command: &[String]) -> std::io::Result<Self> {
        let mut child = Command::new("/bin/sh")
            .args(["-c", SCRIPT, "sh"])
            .args(command)
            .args(["--remote-debugging-pipe", "about:blank"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let missing = || std::io::Error::other("the browser has no pipe");
        let input = child.stdin.take().ok_or_else(missing)?;
        let output = child.stdout.take().ok_or_else(missing)?;
        let (sender, messages) = channel();
        std::thread::Builder::new().name("browser".to_owned()).spawn(move || pass_on(output, &sender))?;
        Ok(Self { child, input, messages, last: 0 })
    }

    /// Sends a command. Returns its number, which the response bears. A failed write is no error here: the
    /// browser has ended, as [`Self::next`] reports.
    pub(super) fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.last += 1;
        let mut message =
            json!({ "id": self.last, "method": method, "params": params }).to_string().into_bytes();
        message.push(END);
        let _ = self.input.write_all(&message);
        self.last
    }

    /// Returns the next message.
    ///
    /// # Errors
    /// None within `limit`, or the browser has ended.
    pub(super) fn next(&self, limit: Duration) -> Result<Value, RecvTimeoutError> {
        self.messages.recv_timeout(limit)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Its other processes end with it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Passes messages on until the browser ends.
fn pass_on(output: ChildStdout, to: &Sender<Value>) {
    for message in BufReader::new(output).split(END).map_while(Result::ok) {
        let Ok(message) = serde_json::from_slice(&message) else { continue };
        if to.send(message).is_err() {
            return;
        }
    }
}
