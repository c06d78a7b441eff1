//! A Redis Sentinel: monitors a master, and promotes its replica when the master fails.

use std::time::Duration;

use tempfile::TempDir;

use crate::host::Host;
use crate::process::{Process, ServerError, accepts_connections, on_a_free_port};
use crate::version::REDIS as PROGRAM;

/// Silence after which the master of a test counts as down. A sentinel sends the first `PING` to a promoted
/// master after the shorter of this time and a second, and counts the silence from the promotion on: with a
/// second or less, the new master is down before its first `PONG`, and the old one is promoted again.
const SILENCE_MAX: Duration = Duration::from_millis(1_500);

/// A sentinel with a quorum of 1. Declares the master down after 1.5 s of silence, later on a shared
/// machine.
#[derive(Debug)]
pub struct RedisSentinel {
    process: Process,
    port: u16,
    _dir: TempDir,
}

impl RedisSentinel {
    /// Starts a sentinel for the master at a port of 127.0.0.1, under `name`.
    ///
    /// # Errors
    /// [`ServerError`].
    pub fn start(name: &str, master: u16, host: &Host) -> Result<Self, ServerError> {
        on_a_free_port(|port| {
            let dir = host.dir()?;
            // The sentinel writes discovered instances into its configuration.
            let config = dir.path().join("sentinel.conf");
            let text = format!(
                "port {port}\nbind 127.0.0.1\ndir \"{}\"\nsentinel monitor {name} 127.0.0.1 {master} 1\n\
                 sentinel down-after-milliseconds {name} {}\nsentinel failover-timeout {name} 3000\n",
                dir.path().display(),
                host.silence_max(SILENCE_MAX).as_millis()
            );
            std::fs::write(&config, text)?;
            let args = [config.display().to_string(), "--sentinel".to_owned()];
            let mut process = Process::start(PROGRAM, &args, dir.path(), host)?;
            process.wait_until(|| accepts_connections(port))?;
            Ok(Self { process, port, _dir: dir })
        })
    }

    /// Returns the id of the sentinel's process, which may have ended.
    #[must_use]
    pub fn process_id(&self) -> Option<u32> {
        self.process.id()
    }

    /// Returns the port on 127.0.0.1.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }
}
