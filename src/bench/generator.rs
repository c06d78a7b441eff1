//! Settings of the load generator.

use anyhow::bail;

use super::result::Settings;

/// How requests are sent.
#[derive(Clone, Copy, Debug)]
pub struct Generator {
    /// Connections, shared by all users.
    pub connections: usize,
    /// Threads, each with its share of the connections.
    pub threads: usize,
}

impl Generator {
    /// Returns the settings for the result document.
    pub(super) fn settings(self) -> Settings {
        [("connections", self.connections.into()), ("threads", self.threads.into())].into()
    }

    /// Checks the settings of a bench before anything is started.
    pub(super) fn check(self, (users, sales): (usize, usize)) -> anyhow::Result<()> {
        if users == 0 || sales == 0 || self.connections == 0 {
            bail!("users, sales and connections must each be at least 1");
        }
        if self.connections < self.threads {
            bail!("every thread needs a connection: pass --connections {} or more", self.threads);
        }
        Ok(())
    }
}
