//! The real binary, as a child process of the test.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use mallbox_test_patience::Deadline;
use mallbox_test_servers::without_settings;

const MALLBOX: &str = env!("CARGO_BIN_EXE_mallbox");
/// Time limit for a server to print its address, on a busy machine.
const START: Duration = Duration::from_secs(60);
const STOP: Duration = Duration::from_secs(30);
/// Number of lines of standard error shown in an error.
const LAST_LINES: usize = 20;

/// A running mallbox. Ends with the value and, where `setpriv` is available, also with a killed test.
pub struct Server {
    child: Child,
    /// Listening address.
    pub address: SocketAddr,
    /// Standard output after the address, such as login codes.
    pub lines: Receiver<String>,
    log: PathBuf,
}

impl Server {
    /// Starts `mallbox serve` on a free port, without limits; returns once the address is printed. Standard
    /// error goes to `log`.
    pub fn start(data: &Path, log: &Path, durability: &str) -> anyhow::Result<Self> {
        Self::start_under(&[], data, log, durability)
    }

    /// Starts a server through another command such as `prlimit --fsize=1000000`, which executes it.
    pub fn start_under(under: &[&str], data: &Path, log: &Path, durability: &str) -> anyhow::Result<Self> {
        Self::of(spawn_serve(under, data, log, durability)?, log)
    }

    /// Starts `mallbox serve` with further flags.
    pub fn start_with(data: &Path, log: &Path, flags: &[&str]) -> anyhow::Result<Self> {
        Self::of(spawned(serve(&[], log)?.arg("--data").arg(data).args(flags))?, log)
    }

    /// Starts a server for a mall in Redis and MySQL, at these URLs.
    pub fn start_on(redis: &str, mysql: &str, log: &Path) -> anyhow::Result<Self> {
        Self::start_on_with(redis, mysql, log, &[])
    }

    /// Starts a server for a mall in Redis and MySQL, with further flags.
    pub fn start_on_with(redis: &str, mysql: &str, log: &Path, flags: &[&str]) -> anyhow::Result<Self> {
        let mut command = serve(&[], log)?;
        command.env("MALLBOX_REDIS", redis).env("MALLBOX_MYSQL", mysql).args(flags);
        Self::of(spawned(&mut command)?, log)
    }

    /// Starts `mallbox demo` at an address, possibly one of a killed server.
    pub fn start_demo(data: &Path, log: &Path, listen: SocketAddr) -> anyhow::Result<Self> {
        let mut command = mallbox(&[], log)?;
        Self::of(spawned(command.args(["demo", "--listen", &listen.to_string(), "--data"]).arg(data))?, log)
    }

    /// Starts a mallbox of any version with exactly these arguments, whatever the environment says of malls.
    pub fn start_program(program: &str, arguments: &[&str], log: &Path) -> anyhow::Result<Self> {
        let mut command = piped(bound_to_this_process(&[], program), log)?;
        without_settings(&mut command);
        let child = command.args(arguments).spawn().with_context(|| format!("cannot start {program}"))?;
        Self::of(child, log)
    }

    fn of(mut child: Child, log: &Path) -> anyhow::Result<Self> {
        let output = child.stdout.take().context("the server's standard output is missing")?;
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            // Drains the pipe even without a receiver: a full pipe would block the server.
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut server = Self { child, address, lines, log: log.to_owned() };
        server.address = server.wait_for_address()?;
        Ok(server)
    }

    fn wait_for_address(&mut self) -> anyhow::Result<SocketAddr> {
        let deadline = Deadline::after(START);
        loop {
            match self.lines.recv_timeout(deadline.left()) {
                Ok(line) => {
                    if let Some(address) = address_in(&line) {
                        return Ok(address);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    bail!("mallbox did not start in time; {}", self.stderr_tail())
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let status = self.child.wait()?;
                    bail!("mallbox ended at once: {status}; {}", self.stderr_tail());
                }
            }
        }
    }

    /// Returns the receiver of further output, for another reader.
    pub fn take_lines(&mut self) -> Receiver<String> {
        std::mem::replace(&mut self.lines, channel().1)
    }

    /// Returns whether the process still runs.
    pub fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Returns the process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the memory of the process in MiB without pages of files: the binary's are many with debug
    /// information.
    pub fn own_mib(&self) -> anyhow::Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        let kib = line.and_then(|line| line.trim().strip_suffix("kB")).context("no figure of memory")?;
        Ok(kib.trim().parse::<u64>()? >> 10)
    }

    /// Kills the process (`kill -9`), and waits for its end.
    pub fn kill(mut self) -> anyhow::Result<()> {
        ensure!(self.is_alive(), "mallbox had ended before it was killed; {}", self.stderr_tail());
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Suspends the process until it is killed.
    pub fn freeze(&mut self) -> anyhow::Result<()> {
        ensure!(self.is_alive(), "mallbox had ended before it was frozen; {}", self.stderr_tail());
        self.signal("STOP")
    }

    /// Asks the process to shut down gracefully, and waits for its end.
    pub fn stop(mut self) -> anyhow::Result<()> {
        self.signal("TERM")?;
        let deadline = Deadline::after(STOP);
        while !deadline.is_over() {
            if let Some(status) = self.child.try_wait()? {
                ensure!(status.success(), "mallbox ended with {status}; {}", self.stderr_tail());
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        bail!("mallbox did not stop within {} s; {}", STOP.as_secs(), self.stderr_tail())
    }

    fn signal(&self, name: &str) -> anyhow::Result<()> {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status().context("cannot run kill")?;
        ensure!(sent.success(), "SIG{name} cannot be sent to mallbox");
        Ok(())
    }

    /// Returns the size of the standard error so far, in bytes.
    pub fn log_bytes(&self) -> u64 {
        std::fs::metadata(&self.log).map_or(0, |log| log.len())
    }

    /// Returns the end of the standard error.
    pub fn stderr_tail(&self) -> String {
        let text = std::fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        let from = lines.len().saturating_sub(LAST_LINES);
        format!("the end of its standard error:\n{}", lines[from..].join("\n"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Already gone after `stop` and `kill`; otherwise the process must not outlive its owner.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Raises the limit of open files of the test process, which the server inherits.
pub fn allow_files(files: usize) -> anyhow::Result<()> {
    let (id, limit) = (std::process::id().to_string(), format!("--nofile={files}:"));
    let output =
        Command::new("prlimit").args(["--pid", &id, &limit]).output().context("cannot run prlimit")?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{files} open files are too many here: {complaint}");
    Ok(())
}

/// Starts a server and kills it when `moment` returns.
pub fn start_and_kill(
    data: &Path,
    log: &Path,
    durability: &str,
    moment: impl FnOnce(),
) -> anyhow::Result<()> {
    let mut child = spawn_serve(&[], data, log, durability)?;
    // Nothing reads the pipe: the output of such a short time fits into it.
    moment();
    let ended = child.try_wait()?;
    child.kill()?;
    child.wait()?;
    ensure!(ended.is_none(), "mallbox ended by itself while it started; see {}", log.display());
    Ok(())
}

/// Starts a server and suspends it when `moment` returns, until it is killed.
pub fn start_and_freeze(
    data: &Path,
    log: &Path,
    durability: &str,
    moment: impl FnOnce(),
) -> anyhow::Result<Server> {
    let child = spawn_serve(&[], data, log, durability)?;
    let address = SocketAddr::from(([127, 0, 0, 1], 0));
    let mut server = Server { child, address, lines: channel().1, log: log.to_owned() };
    moment();
    server.freeze()?;
    Ok(server)
}

/// Runs `mallbox verify --json` on a mall in a directory, running or not. Returns the output, whatever the
/// verdict.
pub fn verify_json(data: &Path) -> anyhow::Result<Output> {
    let mut command = Command::new(MALLBOX);
    command.args(["verify", "--json", "--data"]).arg(data).stdin(Stdio::null());
    Ok(command.output()?)
}

/// Runs `mallbox verify --json` on a mall in Redis and MySQL.
pub fn verify_json_on(redis: &str, mysql: &str) -> anyhow::Result<Output> {
    let mut command = Command::new(MALLBOX);
    command.args(["verify", "--json"]).env("MALLBOX_REDIS", redis).env("MALLBOX_MYSQL", mysql);
    Ok(command.stdin(Stdio::null()).output()?)
}

/// Runs `mallbox verify` on a mall without a server.
pub fn verify(data: &Path) -> anyhow::Result<()> {
    verified(Command::new(MALLBOX).arg("verify").arg("--data").arg(data))
}

/// Runs `mallbox verify` on a mall in Redis and MySQL, possibly in use.
pub fn verify_on(redis: &str, mysql: &str) -> anyhow::Result<()> {
    verified(Command::new(MALLBOX).arg("verify").env("MALLBOX_REDIS", redis).env("MALLBOX_MYSQL", mysql))
}

fn verified(command: &mut Command) -> anyhow::Result<()> {
    let Output { status, stdout, stderr } = command.stdin(Stdio::null()).output()?;
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    ensure!(is_good(status), "mallbox verify: {status}\n{stdout}{stderr}");
    Ok(())
}

fn is_good(status: ExitStatus) -> bool {
    status.code() == Some(0)
}

fn spawn_serve(under: &[&str], data: &Path, log: &Path, durability: &str) -> anyhow::Result<Child> {
    spawned(serve(under, log)?.args(["--durability", durability, "--data"]).arg(data))
}

/// Returns `mallbox serve` without the location of the mall, with payments that buyers make alone.
fn serve(under: &[&str], log: &Path) -> anyhow::Result<Command> {
    let mut command = mallbox(under, log)?;
    command.args(["serve", "--listen", "127.0.0.1:0", "--limits", "off"]).env("MALLBOX_PAYMENT", "sandbox");
    Ok(command)
}

/// Returns `mallbox` without a subcommand.
fn mallbox(under: &[&str], log: &Path) -> anyhow::Result<Command> {
    piped(bound_to_this_process(under, MALLBOX), log)
}

fn piped(mut command: Command, log: &Path) -> anyhow::Result<Command> {
    let log = File::options().create(true).append(true).open(log)?;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
    Ok(command)
}

fn spawned(command: &mut Command) -> anyhow::Result<Child> {
    command.spawn().with_context(|| format!("cannot start {MALLBOX}"))
}

/// Returns the command, killed by the kernel when the starting thread ends.
fn bound_to_this_process(under: &[&str], program: &str) -> Command {
    let bound = ["setpriv", "--pdeathsig", "KILL"];
    let works = Command::new(bound[0]).args(&bound[1..]).arg("true").stderr(Stdio::null()).status();
    let works = works.is_ok_and(|status| status.success());
    let program = [program];
    let mut words = bound.iter().filter(|_| works).chain(under).chain(&program);
    let mut command = Command::new(words.next().unwrap_or(&program[0]));
    command.args(words);
    command
}

/// Finds the first `http://address:port` in a line.
fn address_in(line: &str) -> Option<SocketAddr> {
    let rest = &line[line.find("http://")? + "http://".len()..];
    let end = rest.find(|c: char| !matches!(c, '0'..='9' | '.' | ':' | '[' | ']')).unwrap_or(rest.len());
    rest[..end].parse().ok()
}
