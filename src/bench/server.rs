//! A server under load: a process of the same binary, stopped together with its owner.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use rustix::process::{Pid, Signal, kill_process};

/// Time limit for a server to print its address: reading a large mall takes a while.
const START_TIMEOUT: Duration = Duration::from_secs(60);
const STOP_TIMEOUT: Duration = Duration::from_secs(30);

/// Variables a server may inherit: logging and language, nothing that changes behaviour.
const INHERITED_VARIABLES: [&str; 2] = ["MALLBOX_LOG", "MALLBOX_LANG"];

/// Id of the bench's process, with whose end its servers end.
pub const BENCH_VARIABLE: &str = "MALLBOX_BENCH";

/// Location of the mall for the server, kept off the command line, which every user of the machine can read.
pub(super) type Environment = [(&'static str, String)];

/// Returns a command for the same binary, configured by `arguments` and `environment` alone: variables set
/// for a real mall do not affect a bench.
pub(super) fn this_program(arguments: &[String], environment: &Environment) -> anyhow::Result<Command> {
    let binary = std::env::current_exe().context("cannot find this program's executable")?;
    let mut command = Command::new(binary);
    command.args(arguments);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("MALLBOX_") && !INHERITED_VARIABLES.contains(&&*text) {
            command.env_remove(&name);
        }
    }
    if std::env::var_os("MALLBOX_LOG").is_none() {
        // The log of every log-in, and of every restart after a kill, would bury the results.
        command.env("MALLBOX_LOG", "error");
    }
    command.env(BENCH_VARIABLE, std::process::id().to_string());
    command.envs(environment.iter().map(|(name, value)| (name, value)));
    Ok(command)
}

/// A running server.
pub(super) struct Server {
    child: Child,
    pub(super) address: SocketAddr,
}

impl Server {
    /// Starts the binary with `arguments` and waits for the printed address. Returns also the lines printed
    /// to standard output afterwards.
    pub(super) fn start(
        arguments: &[String],
        environment: &Environment,
    ) -> anyhow::Result<(Self, Receiver<String>)> {
        let mut child = this_program(arguments, environment)?
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start mallbox {}", arguments.join(" ")))?;
        let output = child.stdout.take().context("the server's standard output is missing")?;
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let mut server = Self { child, address: SocketAddr::from(([127, 0, 0, 1], 0)) };
        server.address = server.wait_for_address(arguments, &lines)?;
        Ok((server, lines))
    }

    fn wait_for_address(
        &mut self,
        arguments: &[String],
        lines: &Receiver<String>,
    ) -> anyhow::Result<SocketAddr> {
        let deadline = Instant::now() + START_TIMEOUT;
        loop {
            match lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    if let Some(address) = address_in(&line) {
                        return Ok(address);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    bail!("mallbox {} did not start in time", arguments.join(" "))
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let status = self.child.wait()?;
                    bail!("mallbox {} exited immediately: {status}", arguments.join(" "));
                }
            }
        }
    }

    /// Returns the id of the process.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends the process a kill, as a power cut would; its drop waits for the end.
    pub(super) fn kill(&mut self) -> anyhow::Result<()> {
        Ok(self.child.kill()?)
    }

    /// Asks the process to drain and exit, and waits for the exit.
    pub(super) fn stop(mut self) -> anyhow::Result<()> {
        kill_process(Pid::from_child(&self.child), Signal::TERM).context("cannot stop the server")?;
        let deadline = Instant::now() + STOP_TIMEOUT;
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait()? {
                if status.success() {
                    return Ok(());
                }
                bail!("the server exited with {status}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        bail!("the server did not stop within {} s", STOP_TIMEOUT.as_secs())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Already gone after `stop`; otherwise the process must not outlive its owner.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Finds the first `http://address:port` in a line.
fn address_in(line: &str) -> Option<SocketAddr> {
    let rest = &line[line.find("http://")? + "http://".len()..];
    let end = rest
        .find(|character: char| !matches!(character, '0'..='9' | '.' | ':' | '[' | ']'))
        .unwrap_or(rest.len());
    rest[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_found_in_a_banner() {
        for line in
            ["http://127.0.0.1:81", "mallbox is at http://127.0.0.1:81/ (…)", "  http://127.0.0.1:81, open"]
        {
            assert_eq!(address_in(line), Some(SocketAddr::from(([127, 0, 0, 1], 81))), "{line}");
        }
        assert_eq!(address_in("https://127.0.0.1"), None);
    }
}
