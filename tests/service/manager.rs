//! A service manager of the test's own: the socket to which mallbox sends its notifications.

use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use mallbox_test_patience as patience;

pub struct Manager {
    socket: UnixDatagram,
    variable: String,
}

impl Manager {
    /// Binds the socket below `dir`.
    pub fn new(dir: &Path) -> anyhow::Result<Self> {
        let path = dir.join("notify");
        let socket = UnixDatagram::bind(&path)?;
        Ok(Self { socket, variable: format!("NOTIFY_SOCKET={}", path.display()) })
    }

    /// Returns a command that executes mallbox as a service with further variables.
    pub fn environment<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        ["env", &self.variable].iter().chain(more).copied().collect()
    }

    /// Returns the lines of the next notification.
    pub fn next(&self, limit: Duration) -> anyhow::Result<Vec<String>> {
        self.socket.set_read_timeout(Some(patience::scaled(limit)))?;
        let mut buffer = [0; 4_096];
        let length = self.socket.recv(&mut buffer).context("no notification")?;
        Ok(String::from_utf8_lossy(&buffer[..length]).lines().map(str::to_owned).collect())
    }

    /// Takes notifications until one is `wanted`.
    pub fn wait_for(&self, wanted: &str, limit: Duration) -> anyhow::Result<()> {
        let deadline = patience::Deadline::after(limit);
        loop {
            let lines = self.next(deadline.left()).with_context(|| format!("no {wanted}"))?;
            if lines.iter().any(|line| line == wanted) {
                return Ok(());
            }
        }
    }

    /// Tells whether nothing arrives for a time.
    pub fn is_silent(&self, time: Duration) -> anyhow::Result<bool> {
        self.socket.set_read_timeout(Some(time))?;
        Ok(self.socket.recv(&mut [0; 4_096]).is_err())
    }

    /// Drops the notifications received so far.
    pub fn drain(&self) -> anyhow::Result<()> {
        self.socket.set_nonblocking(true)?;
        while self.socket.recv(&mut [0; 4_096]).is_ok() {}
        self.socket.set_nonblocking(false)?;
        Ok(())
    }
}
