//! MariaDB, in place of MySQL.

use std::io::Read as _;
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use crate::host::Host;
use crate::process::{Process, ServerError, on_a_free_port, repeatedly};
use crate::version::MARIADB as PROGRAM;

const INSTALLER: &str = "mariadb-install-db";
/// A MariaDB server with a passwordless `root`.
#[derive(Debug)]
pub struct MariaDb {
    process: Process,
    port: u16,
    flags: Vec<String>,
    host: Host,
    dir: TempDir,
}

impl MariaDb {
    /// Starts a server that does not wait for the disk, as its data is temporary.
    ///
    /// # Errors
    /// [`ServerError`].
    pub fn start() -> Result<Self, ServerError> {
        Self::start_without_sync(&[])
    }

    /// Starts a server as [`start`](Self::start) does, with further flags.
    ///
    /// # Errors
    /// [`ServerError`].
    pub fn start_without_sync(flags: &[&str]) -> Result<Self, ServerError> {
        let careless = ["--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0", "--sync-binlog=0"];
        Self::start_on(Host::in_memory(), &[&careless, flags].concat())
    }

    /// Starts a server with `flags`; without any flag the server has MariaDB's default durability.
    ///
    /// # Errors
    /// [`ServerError`].
    pub fn start_with(flags: &[&str]) -> Result<Self, ServerError> {
        Self::start_on(Host::default(), flags)
    }

    /// Starts a server with `flags` on `host`.
    ///
    /// # Errors
    /// [`ServerError`].
    pub fn start_on(host: Host, flags: &[&str]) -> Result<Self, ServerError> {
        let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        on_a_free_port(|port| {
            let dir = host.dir()?;
            install(dir.path())?;
            let process = launch(port, &flags, dir.path(), &host)?;
            Ok(Self { process, port, flags: flags.clone(), host: host.clone(), dir })
        })
    }

    /// Returns the port on 127.0.0.1.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the address of a database, which need not exist yet.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        format!("mysql://root@127.0.0.1:{}/{database}", self.port)
    }

    /// Returns the id of the server's process, which may have ended.
    #[must_use]
    pub fn process_id(&self) -> Option<u32> {
        self.process.id()
    }

    /// Kills the server immediately. The data stays.
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Suspends the process (SIGSTOP): connections stay open without responses, until resume or kill.
    ///
    /// # Errors
    /// [`ServerError`]: the server does not run.
    pub fn pause(&self) -> Result<(), ServerError> {
        self.process.pause()
    }

    /// Resumes a suspended process.
    ///
    /// # Errors
    /// [`ServerError`]: the server does not run.
    pub fn resume(&self) -> Result<(), ServerError> {
        self.process.resume()
    }

    /// Restarts the server on its port with its data.
    ///
    /// # Errors
    /// [`ServerError`].
    pub fn restart(&mut self) -> Result<(), ServerError> {
        self.process.kill();
        // Another process may hold the port for a moment.
        self.process = repeatedly(|| launch(self.port, &self.flags, self.dir.path(), &self.host))?;
        Ok(())
    }
}

fn install(dir: &Path) -> Result<(), ServerError> {
    let done = Command::new(INSTALLER)
        .args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"])
        .args(user())
        // The installer is a shell script that takes no path with spaces.
        .arg("--datadir=./data")
        .current_dir(dir)
        .output()
        .map_err(|source| ServerError::Missing { program: INSTALLER, source })?;
    if done.status.success() {
        return Ok(());
    }
    let output = String::from_utf8_lossy(&done.stderr).into_owned();
    Err(ServerError::Failed { program: INSTALLER, output })
}

/// Returns the flag without which MariaDB does not run as root.
fn user() -> Option<&'static str> {
    rustix::process::geteuid().is_root().then_some("--user=root")
}

fn launch(port: u16, flags: &[String], dir: &Path, host: &Host) -> Result<Process, ServerError> {
    let mut args: Vec<String> = [
        "--no-defaults",
        "--bind-address=127.0.0.1",
        "--skip-name-resolve",
        "--character-set-server=utf8mb4",
        "--innodb-buffer-pool-size=64M",
        "--max-connections=500",
    ]
    .map(str::to_owned)
    .into();
    args.push(format!("--port={port}"));
    args.push(format!("--datadir={}", dir.join("data").display()));
    // Within the data directory: the path of a socket has 107 bytes at most.
    args.push("--socket=sock".to_owned());
    args.push(format!("--pid-file={}", dir.join("pid").display()));
    // A server that starts removes the temporary tables of any other in the same directory.
    args.push(format!("--tmpdir={}", dir.display()));
    args.extend(user().map(str::to_owned));
    args.extend(flags.iter().cloned());
    let mut process = Process::start(PROGRAM, &args, dir, host)?;
    process.wait_until(|| greets(port))?;
    Ok(process)
}

/// Whether a MySQL server greets its clients on `port`. An accepted connection alone may belong to another
/// program, which took the port while the server was down.
fn greets(port: u16) -> bool {
    /// Time limit for the greeting.
    const TIMEOUT: Duration = Duration::from_secs(1);
    /// Version of the protocol, the first byte after the length and the number of the packet.
    const PROTOCOL: u8 = 10;
    let mut start = [0; 5];
    let read = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).and_then(|mut stream| {
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.read_exact(&mut start)
    });
    read.is_ok() && start[4] == PROTOCOL
}
