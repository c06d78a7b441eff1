//! A Redis Sentinel: watches a master, and makes its replica the master when it dies.

use tempfile::TempDir;

use crate::process::{Process, ServerError, answers, on_a_free_port};

const PROGRAM: &str = "redis-server";

/// One sentinel that decides alone, half a second after it last heard of the master.
#[derive(Debug)]
pub struct RedisSentinel {
    _process: Process,
    port: u16,
    _dir: TempDir,
}

impl RedisSentinel {
    /// Starts one that watches the master on this port of 127.0.0.1 under a name.
    ///
    /// # Errors
    /// [`ServerError`].
    pub fn start(name: &str, master: u16) -> Result<Self, ServerError> {
        on_a_free_port(|port| {
            let dir = TempDir::new()?;
            // It writes what it finds out into its configuration.
            let config = dir.path().join("sentinel.conf");
            let text = format!(
                "port {port}\nbind 127.0.0.1\ndir {}\nsentinel monitor {name} 127.0.0.1 {master} 1\n\
                 sentinel down-after-milliseconds {name} 500\nsentinel failover-timeout {name} 3000\n",
                dir.path().display()
            );
            std::fs::write(&config, text)?;
            let args = [config.display().to_string(), "--sentinel".to_owned()];
            let mut process = Process::start(PROGRAM, &args, dir.path())?;
            process.wait_until(|| answers(port))?;
            Ok(Self { _process: process, port, _dir: dir })
        })
    }

    /// Its port on 127.0.0.1.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }
}
