//! Commands that must succeed.

use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};

/// Runs a command without input. Returns both of its outputs.
pub fn succeed(command: &mut Command) -> anyhow::Result<String> {
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("{command:?}"))?;
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    ensure!(output.status.success(), "{command:?}: {}: {said}", output.status);
    Ok(said)
}
