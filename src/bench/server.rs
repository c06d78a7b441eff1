//! A server under load: a process of this same binary, stopped with its owner.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

/// How long a server may take to say where it listens: reading a large mall takes a while.
const START: Duration = Duration::from_secs(60);
const STOP: Duration = Duration::from_secs(30);

/// What the environment may tell a server: how it speaks, and nothing of what it does.
const HEARD: [&str; 2] = ["MALLBOX_LOG", "MALLBOX_LANG"];

/// Where its mall is, if that is not on its command line, which everybody on the machine can read.
pub(super) type Environment = [(&'static str, String)];

/// This program once more, told by its arguments and `environment` alone: a variable that is set for a real mall changes
/// nothing of a bench.
pub(super) fn this_program(arguments: &[String], environment: &Environment) -> anyhow::Result<Command> {
    let binary = std::env::current_exe().context("cannot find this program's own file")?;
    let mut command = Command::new(binary);
    command.args(arguments);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("MALLBOX_") && !HEARD.contains(&&*text) {
            command.env_remove(&name);
        }
    }
    command.envs(environment.iter().map(|(name, value)| (name, value)));
    Ok(command)
}

/// A running server.
pub(super) struct Server {
    child: Child,
    pub(super) address: SocketAddr,
}

impl Server {
    /// Starts this binary with `arguments` and waits until it says where it listens. Answers also what it writes on
    /// standard output after that, line by line.
    pub(super) fn start(
        arguments: &[String],
        environment: &Environment,
    ) -> anyhow::Result<(Self, Receiver<String>)> {
        let mut child = this_program(arguments, environment)?
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start mallbox {}", arguments.join(" ")))?;
        let output = child.stdout.take().context("the server has no standard output")?;
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
        let deadline = Instant::now() + START;
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
                    bail!("mallbox {} ended at once: {status}", arguments.join(" "));
                }
            }
        }
    }

    /// CPU time the process has used so far.
    pub(super) fn cpu(&self) -> Option<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).ok()?;
        // After the name, which may hold anything: utime and stime are the 12th and 13th, in ticks of 10 ms.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
        let ticks = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
        Some(Duration::from_millis(ticks * 10))
    }

    /// Asks the process to drain and end, and waits for it.
    pub(super) fn stop(mut self) -> anyhow::Result<()> {
        let asked =
            Command::new("kill").arg(self.child.id().to_string()).status().context("cannot send a signal")?;
        if !asked.success() {
            bail!("the server cannot be stopped");
        }
        let deadline = Instant::now() + STOP;
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait()? {
                if status.success() {
                    return Ok(());
                }
                bail!("the server ended with {status}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        bail!("the server did not stop within {} s", STOP.as_secs())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Gone already after `stop`; otherwise it must not outlive its owner.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// CPU time that all of these have used together since they had used `before`.
pub(super) fn cpu_since(servers: &[Server], before: Option<Duration>) -> Option<Duration> {
    Some(cpu_of(servers)?.saturating_sub(before?))
}

/// CPU time that all of these have used together.
pub(super) fn cpu_of(servers: &[Server]) -> Option<Duration> {
    servers.iter().map(Server::cpu).sum()
}

/// The first `http://address:port` in a line.
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
