//! Files that a bench creates, and never writes over.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use anyhow::{Context as _, bail};

/// Refuses a path that exists, or that has no directory: before hours of work.
pub(super) fn check_new(path: Option<&Path>) -> anyhow::Result<()> {
    match path {
        Some(path) if path.exists() => bail!("{} exists; pass a new file", path.display()),
        Some(path) if path.parent().is_some_and(|dir| !dir.as_os_str().is_empty() && !dir.is_dir()) => {
            bail!("{}: the directory is missing; create it first", path.display())
        }
        _ => Ok(()),
    }
}

/// Creates a file for its owner alone. `what` names the content in an error, as in "the tokens to ".
pub(super) fn write_new(path: &Path, what: &str, content: &str) -> anyhow::Result<()> {
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    made.and_then(|mut file| file.write_all(content.as_bytes()))
        .with_context(|| format!("cannot write {what}{}", path.display()))
}
