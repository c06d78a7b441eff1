//! The binary of the former version.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use anyhow::{Context as _, ensure};
use mallbox_test_servers::without_settings;

use super::common::server::Server;

/// Part of the message with which a version refuses a mall of a newer version.
const REFUSAL: &str = "newer mallbox";

/// A program that `MALLBOX_FORMER` names.
pub struct Former {
    program: String,
}

impl Former {
    pub fn from_environment() -> anyhow::Result<Self> {
        let program = std::env::var("MALLBOX_FORMER").context(
            "MALLBOX_FORMER names no binary of a former version; tests/run --former REV builds one",
        )?;
        Ok(Self { program })
    }

    /// Starts `serve` on a mall, on a free port, without limits.
    pub fn serve(&self, place: &[String], log: &Path) -> anyhow::Result<Server> {
        let common = ["serve", "--listen", "127.0.0.1:0", "--limits", "off", "--payment", "sandbox"];
        let arguments: Vec<&str> = common.into_iter().chain(place.iter().map(String::as_str)).collect();
        Server::start_program(&self.program, &arguments, log)
    }

    /// Starts `serve` on a mall that this version has opened. `None`: the former version refused the mall and
    /// said why.
    pub fn serve_after_upgrade(&self, place: &[String], log: &Path) -> anyhow::Result<Option<Server>> {
        match self.serve(place, log) {
            Ok(server) => Ok(Some(server)),
            Err(refusal) => {
                let text = format!("{refusal:#}");
                ensure!(text.contains(REFUSAL), "the former version does not say why it refuses: {text}");
                println!("rolling_upgrade: {}", text.lines().last().unwrap_or_default());
                Ok(None)
            }
        }
    }

    /// Runs another command on a mall.
    pub fn run(&self, arguments: &[&str], place: &[String]) -> anyhow::Result<Output> {
        let mut command = Command::new(&self.program);
        without_settings(&mut command);
        command.args(arguments).args(place).env("LC_ALL", "C").stdin(Stdio::null());
        command.output().with_context(|| format!("cannot run {}", self.program))
    }
}
