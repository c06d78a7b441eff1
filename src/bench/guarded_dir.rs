//! A temporary directory of a bench, removed also if the bench is killed.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};

use anyhow::Context as _;
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
    _guard: ChildStdin,
}

impl GuardedDir {
    /// Makes a directory in the current one: /tmp is memory on many machines.
    pub(super) fn make() -> anyhow::Result<Self> {
        let dir = TempDir::with_prefix_in(".mallbox-bench-", std::env::current_dir()?)?;
        let guard = guard(dir.path())?;
        Ok(Self { dir, _guard: guard })
    }

    pub(super) fn path(&self) -> &Path {
        self.dir.path()
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
