//! A single Redis server.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;

use crate::host::Host;
use crate::process::{Process, ServerError, accepts_connections, on_a_free_port, repeatedly};
use crate::version::REDIS as PROGRAM;

/// Time limit for the answer to a command.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(60);

/// Settings that differ from Redis' defaults.
#[derive(Clone, Debug, Default)]
pub struct RedisOptions {
    /// Directives of redis.conf, such as `("appendonly", "yes")`.
    pub config: Vec<(String, String)>,
    /// Where the server runs.
    pub host: Host,
}

impl RedisOptions {
    /// Adds a setting.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.config.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Runs the server on another host.
    #[must_use]
    pub fn on(mut self, host: Host) -> Self {
        self.host = host;
        self
    }
}

/// A Redis server.
#[derive(Debug)]
pub struct Redis {
    pub(crate) process: Process,
    pub(crate) port: u16,
    pub(crate) options: RedisOptions,
    pub(crate) dir: TempDir,
}

impl Redis {
    /// Starts a server without persistence.
    ///
    /// # Errors
    /// [`ServerError`].
    pub fn start() -> Result<Self, ServerError> {
        Self::start_with(RedisOptions::default())
    }

    /// Starts a server with `options`.
    ///
    /// # Errors
    /// [`ServerError`].
    pub fn start_with(options: RedisOptions) -> Result<Self, ServerError> {
        on_a_free_port(|port| {
            let dir = options.host.dir()?;
            let process = launch(port, &options, dir.path())?;
            Ok(Self { process, port, options: options.clone(), dir })
        })
    }

    /// Returns the port on 127.0.0.1.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the address, without a password.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Returns the data directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Returns the id of the server's process, which may have ended.
    #[must_use]
    pub fn process_id(&self) -> Option<u32> {
        self.process.id()
    }

    /// Kills the server immediately. The directory stays.
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

    /// Cuts the connections of all replicas: a suspended one gets nothing that is written from now on, not
    /// even out of its socket's buffer.
    ///
    /// # Errors
    /// [`ServerError`].
    pub fn cut_replicas(&self) -> Result<(), ServerError> {
        inline_command(self.port, "CLIENT KILL TYPE replica").map(drop)
    }

    /// Restarts the server on its port with its directory.
    ///
    /// # Errors
    /// [`ServerError`].
    pub fn restart(&mut self) -> Result<(), ServerError> {
        self.process.kill();
        // Another process may hold the port for a moment.
        self.process = repeatedly(|| launch(self.port, &self.options, self.dir.path()))?;
        Ok(())
    }
}

pub(crate) fn launch(port: u16, options: &RedisOptions, dir: &Path) -> Result<Process, ServerError> {
    let dir_text = dir.display().to_string();
    let port_text = port.to_string();
    let mut args: Vec<String> = [
        ("port", port_text.as_str()),
        ("bind", "127.0.0.1"),
        ("dir", &dir_text),
        ("save", ""),
        ("appendonly", "no"),
    ]
    .into_iter()
    .flat_map(|(name, value)| [format!("--{name}"), value.to_owned()])
    .collect();
    args.extend(options.config.iter().flat_map(|(name, value)| [format!("--{name}"), value.clone()]));
    let mut process = Process::start(PROGRAM, &args, dir, &options.host)?;
    // A server without a plain port is probed through the TLS port.
    let tls = options.config.iter().find(|(name, _)| name == "tls-port");
    match tls.and_then(|(_, value)| value.parse().ok()) {
        Some(tls) => process.wait_until(|| accepts_connections(tls))?,
        None => process.wait_until(|| accepts_connections(port) && !is_loading(port))?,
    }
    Ok(process)
}

/// Returns whether the server is still loading its data set, during which every command is refused.
fn is_loading(port: u16) -> bool {
    inline_command(port, "PING").is_err_and(|error| error.to_string().contains("LOADING"))
}

/// Sends one inline command and reads a status or bulk reply.
pub(crate) fn inline_command(port: u16, command: &str) -> Result<String, ServerError> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_read_timeout(Some(COMMAND_TIMEOUT))?;
    stream.write_all(format!("{command}\r\n").as_bytes())?;
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let failed =
        |output: &str| ServerError::Failed { program: PROGRAM, output: format!("{command}: {output}") };
    match line.as_bytes().first() {
        Some(b'+' | b':') => Ok(line),
        Some(b'$') => {
            let length: usize = line[1..].trim().parse().map_err(|_| failed(&line))?;
            let mut body = vec![0; length];
            std::io::Read::read_exact(&mut reader, &mut body)?;
            Ok(String::from_utf8_lossy(&body).into_owned())
        }
        _ => Err(failed(line.trim())),
    }
}
