//! The binary as a child process, for tests of the command line, the environment and the output.

#![allow(dead_code, reason = "each test binary uses the part it needs")]

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use mallbox_test_patience as patience;
use mallbox_test_servers::without_settings;

/// Time limit of a line of output.
const LINE_TIMEOUT: Duration = Duration::from_secs(60);

/// Returns a command of `mallbox` in English, without settings from the environment and without input.
pub fn mallbox(arguments: &[&str]) -> Command {
    mallbox_under(&[], arguments)
}

/// Returns a command of `mallbox` that another command such as `setpriv` executes.
pub fn mallbox_under(under: &[&str], arguments: &[&str]) -> Command {
    let words = [under, &[env!("CARGO_BIN_EXE_mallbox")], arguments].concat();
    let mut command = Command::new(words[0]);
    without_settings(&mut command);
    command.args(&words[1..]).stdin(Stdio::null()).env("LC_ALL", "C");
    command
}

/// A process that runs until dropped.
pub struct Process {
    pub child: Child,
    lines: Receiver<String>,
}

impl Process {
    /// Starts a process and reads standard output to the end, so that no pipe blocks the process.
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            output.lines().map_while(Result::ok).for_each(|line| drop(sender.send(line)))
        });
        Self { child, lines }
    }

    /// Returns the next line of standard output.
    pub fn line(&self) -> String {
        self.lines.recv_timeout(patience::scaled(LINE_TIMEOUT)).expect("another line of output")
    }

    /// Returns the next login code printed for a phone.
    pub fn code(&self, phone: &str) -> String {
        let start = format!("SMS {phone} code ");
        loop {
            if let Some(code) = self.line().strip_prefix(&start) {
                return code.to_owned();
            }
        }
    }

    /// Sends SIGTERM.
    pub fn terminate(&self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", "TERM", &id]).status().unwrap().success());
    }

    /// Sends SIGTERM and waits. Returns the exit code.
    pub fn stop(mut self) -> i32 {
        self.terminate();
        self.child.wait().unwrap().code().unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the address in the first URL of a banner.
pub fn address_in(banner: &str) -> SocketAddr {
    banner.split("http://").nth(1).unwrap().split(['/', '\n']).next().unwrap().parse().unwrap()
}
