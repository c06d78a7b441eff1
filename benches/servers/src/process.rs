//! A server's process, and the watchdog shell that ends it.

use std::io::{self, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::host::Host;

/// Reason why a server could not be started.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The program is not installed.
    #[error("{program} is not installed: {source}")]
    Missing {
        /// Name of the program.
        program: &'static str,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The server did not start.
    #[error("{program} did not start: {output}")]
    Failed {
        /// Name of the program.
        program: &'static str,
        /// The end of the server's log.
        output: String,
    },
    /// The directory could not be created.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Time limit for a server to start, on a busy machine too.
const START_TIMEOUT: Duration = Duration::from_secs(120);

/// Gives the shell and its server a higher priority; without effect unless run as root.
const PRIORITY: &str = "renice -n -10 -p $$ >&- 2>&-\n";

/// Runs `"$@"` in the directory `$0` until the server ends or has to end; kills with `-KILL`, since the data
/// is temporary. A line on standard input is [`Process::kill`]. The end of standard input is the end of the
/// process that started the server, after which only the watchdog can clean up.
const WATCHDOG: &str = r#""$@" <&- & server=$!
echo $server >"$0/server.pid"
(
    read -r _ || { trap '' TERM; over=yes; }
    kill -KILL $server 2>&-
    while [ "$over" ] && kill -0 $server 2>&-; do sleep 0.01; done
    [ "$over" ] && rm -rf "$0"
) <&3 &
watch=$!
wait $server
kill -TERM $watch 2>&-"#;

/// A running server.
#[derive(Debug)]
pub(crate) struct Process {
    watch: Child,
    program: &'static str,
    log: PathBuf,
}

impl Process {
    /// Starts a program below the watchdog. Output goes to a file in `dir`, beside the data.
    pub(crate) fn start(
        program: &'static str,
        args: &[String],
        dir: &Path,
        host: &Host,
    ) -> Result<Self, ServerError> {
        let found =
            Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        found.map_err(|source| ServerError::Missing { program, source })?;
        let log = dir.join(format!("{program}.log"));
        let out = std::fs::File::create(&log)?;
        let priority = if host.has_priority() { PRIORITY } else { "" };
        let watch = Command::new("sh")
            .args(["-c", &format!("exec 3<&0\n{priority}{WATCHDOG}")])
            .arg(dir)
            .arg(program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(out.try_clone()?)
            .stderr(out)
            .spawn()?;
        Ok(Self { watch, program, log })
    }

    /// Waits until `is_up`.
    pub(crate) fn wait_until(&mut self, mut is_up: impl FnMut() -> bool) -> Result<(), ServerError> {
        let began = Instant::now();
        while !is_up() {
            if self.watch.try_wait()?.is_some() || began.elapsed() > START_TIMEOUT {
                return Err(self.failed());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    fn failed(&self) -> ServerError {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().rev().take(8).collect();
        let output = lines.into_iter().rev().collect::<Vec<_>>().join("\n");
        ServerError::Failed { program: self.program, output }
    }

    /// Suspends the process (SIGSTOP): connections stay open without responses, until [resumed](Self::resume)
    /// or killed.
    pub(crate) fn pause(&self) -> Result<(), ServerError> {
        self.signal("STOP")
    }

    /// Resumes a suspended process.
    pub(crate) fn resume(&self) -> Result<(), ServerError> {
        self.signal("CONT")
    }

    /// Returns the id of the server's process, which may have ended.
    pub(crate) fn id(&self) -> Option<u32> {
        std::fs::read_to_string(self.log.with_file_name("server.pid")).ok()?.trim().parse().ok()
    }

    fn signal(&self, name: &str) -> Result<(), ServerError> {
        let missing =
            || ServerError::Failed { program: self.program, output: "it has no process".to_owned() };
        let id = self.id().ok_or_else(missing)?.to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status()?;
        let failed =
            || ServerError::Failed { program: self.program, output: format!("SIG{name} cannot be sent") };
        if sent.success() { Ok(()) } else { Err(failed()) }
    }

    /// Kills the process immediately, as a power cut would. The directory stays.
    pub(crate) fn kill(&mut self) {
        if let Some(mut watch) = self.watch.stdin.take() {
            // An error means that the process is already gone.
            let _ = watch.write_all(b"kill\n");
        }
        // An error means that the process is already gone.
        let _ = self.watch.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Returns a currently free port. Another process may take the port first; the server then fails and is
/// started on another port.
///
/// # Errors
/// The system gives no port, for instance for lack of file descriptors.
pub fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

pub(crate) fn accepts_connections(port: u16) -> bool {
    TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()
}

/// Retries `start` on a few ports.
pub(crate) fn on_a_free_port<T>(
    mut start: impl FnMut(u16) -> Result<T, ServerError>,
) -> Result<T, ServerError> {
    repeatedly(|| start(free_port()?))
}

/// Retries `start` a few times, unless the program is missing.
pub(crate) fn repeatedly<T>(mut start: impl FnMut() -> Result<T, ServerError>) -> Result<T, ServerError> {
    const TRIES: usize = 5;
    let mut tries = 1;
    loop {
        match start() {
            Err(error) if tries == TRIES || matches!(error, ServerError::Missing { .. }) => {
                return Err(error);
            }
            Err(_) => tries += 1,
            server => return server,
        }
    }
}
