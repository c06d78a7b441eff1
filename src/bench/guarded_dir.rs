//! A temporary directory of a bench, removed also if the bench is killed.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// Removes a directory once its standard input ends. The servers in it end at the same time, and may still
/// write.
const GUARD: &str = r#"
    while read -r line; do :; done
    for turn in 1 2 3 4 5 6 7 8 9; do rm -rf -- "$0" && exit; sleep 1; done
"#;

/// A temporary directory. Dropping the value removes it, and so does the end of this process.
pub(super) struct GuardedDir {
    dir: TempDir,
    guard: Child,
}

impl GuardedDir {
    /// Makes a directory in the current one: /tmp is memory on many machines.
    pub(super) fn make() -> anyhow::Result<Self> {
        Self::make_below(&std::env::current_dir()?)
    }

    /// Makes a directory in another one.
    pub(super) fn make_below(parent: &Path) -> anyhow::Result<Self> {
        let dir = TempDir::with_prefix_in(".mallbox-bench-", parent)?;
        let guard = guard(dir.path())?;
        Ok(Self { dir, guard })
    }

    pub(super) fn path(&self) -> &Path {
        self.dir.path()
    }
}

impl Drop for GuardedDir {
    fn drop(&mut self) {
        // The guard removes the directory, and is no zombie afterwards in a server that goes on.
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}

/// Starts a process that removes the directory if this one is killed.
fn guard(dir: &Path) -> anyhow::Result<Child> {
    let (input, output, errors) = (Stdio::piped(), Stdio::null(), Stdio::null());
    let mut shell = Command::new("/bin/sh");
    // A signal to the group of this process, as of an interrupt, must not end the shell too.
    shell.process_group(0);
    Ok(shell.args(["-c", GUARD]).arg(dir).stdin(input).stdout(output).stderr(errors).spawn()?)
}
