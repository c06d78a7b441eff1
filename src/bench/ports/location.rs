//! Where ports are measured: a directory, and servers.

use std::path::Path;
use std::sync::Arc;

use mallbox_bench_ports::{OwnServers, ServerAddresses};
use parking_lot::Mutex;
use tokio::runtime::Runtime;

use crate::bench::guarded_dir::GuardedDir;

/// Where ports are measured. Dropping the value removes everything, and so does the end of this process.
pub(super) struct PortsLocation {
    dir: GuardedDir,
    servers: Option<ServerAddresses>,
    own: Arc<Mutex<Option<OwnServers>>>,
    /// Waits for an interrupt.
    _runtime: Runtime,
}

impl PortsLocation {
    /// Makes the directory. Checks the user's servers, or starts some. Returns also the program that is
    /// missing for that.
    pub(super) fn find(
        with_servers: bool,
        urls: Option<&(String, String)>,
    ) -> anyhow::Result<(Self, Option<&'static str>)> {
        let dir = GuardedDir::make()?;
        let runtime = Runtime::new()?;
        let (mut own, mut servers, mut missing) = (None, None, None);
        match urls {
            _ if !with_servers => {}
            Some((redis, mysql)) => {
                servers = Some(runtime.block_on(ServerAddresses::of_empty(redis, mysql))?);
            }
            None => match OwnServers::start(dir.path())? {
                Ok(started) => {
                    servers = Some(started.addresses());
                    own = Some(started);
                }
                Err(program) => missing = Some(program),
            },
        }
        let own = Arc::new(Mutex::new(own));
        runtime.spawn(remove_if_interrupted(dir.path().to_owned(), Arc::clone(&own)));
        Ok((Self { dir, servers, own, _runtime: runtime }, missing))
    }

    pub(super) fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub(super) fn servers(&self) -> Option<&ServerAddresses> {
        self.servers.as_ref()
    }
}

impl Drop for PortsLocation {
    fn drop(&mut self) {
        // The servers end before their directory does.
        drop(self.own.lock().take());
    }
}

/// Ends the servers and removes the directory on an interrupt, and exits. The process of a part ends with
/// this one.
async fn remove_if_interrupted(dir: std::path::PathBuf, own: Arc<Mutex<Option<OwnServers>>>) {
    if tokio::signal::ctrl_c().await.is_ok() {
        drop(own.lock().take());
        let _ = std::fs::remove_dir_all(dir);
        std::process::exit(130);
    }
}
