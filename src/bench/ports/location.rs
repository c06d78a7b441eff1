//! Where ports are measured: a directory, and servers.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::Arc;

use anyhow::Context as _;
use mallbox_bench_ports::{OwnServers, ServerAddresses};
use parking_lot::Mutex;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// Removes a directory once its standard input ends. The servers in it end at the same time, and may still
/// write.
const GUARD: &str = r#"
    while read -r line; do :; done
    for turn in 1 2 3 4 5 6 7 8 9; do rm -rf -- "$0" && exit; sleep 1; done
"#;

/// Where ports are measured. Dropping the value removes everything, and so does the end of this process.
pub(super) struct PortsLocation {
    dir: TempDir,
    servers: Option<ServerAddresses>,
    own: Arc<Mutex<Option<OwnServers>>>,
    /// Waits for an interrupt.
    _runtime: Runtime,
    _guard: ChildStdin,
}

impl PortsLocation {
    /// Makes the directory, in the current one: /tmp is memory on many machines. Checks the user's servers,
    /// or starts some. Returns also the program that is missing for that.
    pub(super) fn find(
        with_servers: bool,
        urls: Option<&(String, String)>,
    ) -> anyhow::Result<(Self, Option<&'static str>)> {
        let dir = TempDir::with_prefix_in(".mallbox-bench-", std::env::current_dir()?)?;
        let guard = guard(dir.path())?;
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
        Ok((Self { dir, servers, own, _runtime: runtime, _guard: guard }, missing))
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

/// Starts a process that removes the directory if this one is killed.
fn guard(dir: &Path) -> anyhow::Result<ChildStdin> {
    let (input, output, errors) = (Stdio::piped(), Stdio::null(), Stdio::null());
    let mut shell = Command::new("/bin/sh");
    // A signal to the group of this process, as of an interrupt, must not end the shell too.
    shell.process_group(0);
    let mut child = shell.args(["-c", GUARD]).arg(dir).stdin(input).stdout(output).stderr(errors).spawn()?;
    child.stdin.take().context("a process without a standard input")
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
