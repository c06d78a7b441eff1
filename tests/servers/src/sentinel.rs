//! A Redis Sentinel: monitors a master, and promotes its replica when the master fails.

use tempfile::TempDir;

use crate::process::{Process, ServerError, accepts_connections, on_a_free_port};

const PROGRAM: &str = "redis-server";

/// A sentinel with a quorum of 1. Declares the master down after half a second of silence.
#[derive(Debug)]
pub struct RedisSentinel {
    _process: Process,
    port: u16,
    _dir: TempDir,
}

impl RedisSentinel {
    /// Starts a sentinel for the master at a port of 127.0.0.1, under `name`.
    ///
    /// # Errors
    /// [`ServerError`].
    pub fn start(name: &str, master: u16) -> Result<Self, ServerError> {
        on_a_free_port(|port| {
            let dir = TempDir::new()?;
            // The sentinel writes discovered instances into its configuration.
            let config = dir.path().join("sentinel.conf");
            let text = format!(
                "port {port}\nbind 127.0.0.1\ndir {}\nsentinel monitor {name} 127.0.0.1 {master} 1\n\
                 sentinel down-after-milliseconds {name} 500\nsentinel failover-timeout {name} 3000\n",
                dir.path().display()
            );
            std::fs::write(&config, text)?;
            let args = [config.display().to_string(), "--sentinel".to_owned()];
            let mut process = Process::start(PROGRAM, &args, dir.path())?;
            process.wait_until(|| accepts_connections(port))?;
            Ok(Self { _process: process, port, _dir: dir })
        })
    }

    /// Returns the port on 127.0.0.1.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }
}
