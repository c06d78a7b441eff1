//! Log lines that are connected to the system's journal.

use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::process::Command;

use anyhow::ensure;

use crate::common::server::Server;

#[test]
fn lines_for_the_journal_begin_with_their_level() -> anyhow::Result<()> {
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    for format in ["text", "json"] {
        let (data, log) = (site.path().join(format), site.path().join(format!("{format}.log")));
        let file = File::create(&log)?.metadata()?;
        let stream = format!("JOURNAL_STREAM={}:{}", file.dev(), file.ino());
        let format = format!("MALLBOX_LOG_FORMAT={format}");
        // The other log has another inode.
        let other = "JOURNAL_STREAM=1:1";
        let under = ["env", &stream, &format, "MALLBOX_LOG=debug,hyper=off"];
        Server::start_under(&under, &data, &log, "power")?.stop()?;
        let lines = std::fs::read_to_string(&log)?;
        let level = |words: &str| {
            lines.lines().find(|line| line.contains(words)).and_then(|line| line.get(..3)).unwrap_or_default()
        };
        ensure!(level("stopping: draining requests in flight") == "<6>", "{lines}");
        ensure!(level("drained all requests") == "<7>", "{lines}");
        ensure!(lines.lines().all(|line| line.starts_with('<')), "{lines}");
        std::fs::write(&log, "")?;
        Server::start_under(&["env", other, &format], &data, &log, "power")?.stop()?;
        let lines = std::fs::read_to_string(&log)?;
        ensure!(lines.contains("stopped") && !lines.contains("<6>"), "{lines}");
    }
    Ok(())
}

#[test]
fn the_reason_of_a_refused_start_is_an_error_of_the_journal() -> anyhow::Result<()> {
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let log = File::create(site.path().join("log"))?;
    let file = log.metadata()?;
    let status = Command::new(env!("CARGO_BIN_EXE_mallbox"))
        .args(["serve", "--lang", "en", "--data"])
        .arg(site.path().join("log"))
        .env("JOURNAL_STREAM", format!("{}:{}", file.dev(), file.ino()))
        .stderr(log)
        .status()?;
    let words = std::fs::read_to_string(site.path().join("log"))?;
    ensure!(status.code() == Some(2) && words.starts_with("<3>mallbox: "), "{status}: {words}");
    Ok(())
}
