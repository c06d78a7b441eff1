//! A server's process, and the watch that ends it.

use std::io::{self, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use mallbox_test_patience::Deadline;

/// Why a server is not there.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// Its program is not installed.
    #[error("{program} is not here: {source}; `tests/run` installs it")]
    Missing {
        /// What was looked for.
        program: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// It did not come up.
    #[error("{program} did not start: {said}")]
    Failed {
        /// Which.
        program: &'static str,
        /// The end of its log.
        said: String,
    },
    /// Its directory could not be made.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// How long a server may take to come up.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs `"$@"` in the directory `$0` until it ends, or somebody wants its end; `-KILL`, since what it holds is thrown away.
/// As root a server gets a higher priority than everything else here: it stands for another machine, and its clients' time
/// limits are about that machine. A line on standard input is [`Process::kill`]. The end of it is the end of the test,
/// which nobody but the watch cleans up after.
const WATCH: &str = r#"renice -n -10 -p $$ >&- 2>&-
"$@" <&- & server=$!
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
    /// Starts a program below the watch. Its output goes to a file in `dir`, where its data is too.
    pub(crate) fn start(program: &'static str, args: &[String], dir: &Path) -> Result<Self, ServerError> {
        let found =
            Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        found.map_err(|source| ServerError::Missing { program, source })?;
        let log = dir.join(format!("{program}.log"));
        let out = std::fs::File::create(&log)?;
        let watch = Command::new("sh")
            .args(["-c", &format!("exec 3<&0\n{WATCH}")])
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
        let until = Deadline::after(PATIENCE);
        while !is_up() {
            if self.watch.try_wait()?.is_some() || until.is_over() {
                return Err(self.failed());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    fn failed(&self) -> ServerError {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().rev().take(8).collect();
        let said = lines.into_iter().rev().collect::<Vec<_>>().join("\n");
        ServerError::Failed { program: self.program, said }
    }

    /// Stops it where it stands: it keeps its connections and answers nothing, until it is [resumed](Self::resume) or killed.
    pub(crate) fn pause(&self) -> Result<(), ServerError> {
        self.signal("STOP")
    }

    /// Lets it go on.
    pub(crate) fn resume(&self) -> Result<(), ServerError> {
        self.signal("CONT")
    }

    fn signal(&self, name: &str) -> Result<(), ServerError> {
        let id = std::fs::read_to_string(self.log.with_file_name("server.pid"))?;
        let sent = Command::new("kill").args(["-s", name, id.trim()]).status()?;
        let said =
            || ServerError::Failed { program: self.program, said: format!("SIG{name} cannot be sent") };
        if sent.success() { Ok(()) } else { Err(said()) }
    }

    /// Ends it at once, as a power cut would. Its directory stays.
    pub(crate) fn kill(&mut self) {
        if let Some(mut watch) = self.watch.stdin.take() {
            // An error means that it is gone already.
            let _ = watch.write_all(b"kill\n");
        }
        // An error means that it is gone already.
        let _ = self.watch.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A port that was free a moment ago. Another process may take it first: then the server fails, and is started on the
/// next.
pub(crate) fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

pub(crate) fn answers(port: u16) -> bool {
    TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()
}

/// Tries on a few ports.
pub(crate) fn on_a_free_port<T>(
    mut start: impl FnMut(u16) -> Result<T, ServerError>,
) -> Result<T, ServerError> {
    const TRIES: usize = 5;
    let mut last = None;
    for _ in 0..TRIES {
        match start(free_port()?) {
            Ok(server) => return Ok(server),
            Err(error @ ServerError::Missing { .. }) => return Err(error),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| io::Error::other("no port was tried").into()))
}
