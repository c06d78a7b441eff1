//! The image, built and started as a container: one volume, one mall.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::Path;
use std::process::{Command, Output};

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::common::http;
use crate::common::server::Server;
use crate::standalone::{ACCOUNT, binaries};

/// A container of the image, removed with it when the value is dropped.
struct Container {
    name: String,
    image: String,
}

impl Container {
    /// Builds the image around a binary, as `.packaging/all` does.
    fn make(binary: &Path, site: &Path) -> anyhow::Result<Self> {
        let context = site.join("image");
        for dir in ["data", "licences"] {
            fs::create_dir_all(context.join(dir))?;
        }
        fs::copy(binary, context.join("mallbox")).with_context(|| binary.display().to_string())?;
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(".packaging/image/Dockerfile");
        fs::copy(file, context.join("Dockerfile"))?;
        let image = format!("mallbox-test-{}", std::process::id());
        let path = context.to_str().context("a path in UTF-8")?;
        done(&["bud", "-q", "--isolation", "chroot", "--format", "docker", "-t", &image, path])?;
        let name = done(&["from", &image])?.trim().to_owned();
        // buildah would mount a volume of its own there, which no other container gets.
        done(&["config", "--volume", "/data-", &name])?;
        Ok(Self { name, image })
    }

    /// Returns what the image runs, and the account that runs it.
    fn config(&self) -> anyhow::Result<(Vec<String>, String)> {
        let inspected: Value = serde_json::from_str(&done(&["inspect", &self.name])?)?;
        let config = &inspected["Docker"]["config"];
        let words =
            ["Entrypoint", "Cmd"].iter().flat_map(|part| config[part].as_array().into_iter().flatten());
        let words = words.map(|word| word.as_str().map(str::to_owned).context("a word"));
        let account = config["User"].as_str().context("an account")?;
        Ok((words.collect::<anyhow::Result<_>>()?, account.to_owned()))
    }

    /// Returns the words that run a command in the container, with a directory as its volume.
    fn run(&self, volume: &Path, command: &[String]) -> Vec<String> {
        let mut words: Vec<String> = [
            "run",
            "--isolation",
            "chroot",
            "--env",
            "MALLBOX_LISTEN=127.0.0.1:0",
            "--env",
            "LC_ALL=C",
            "-v",
        ]
        .map(str::to_owned)
        .into();
        words.extend([format!("{}:/data", volume.display()), self.name.clone(), "--".to_owned()]);
        words.extend(command.iter().cloned());
        words
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        let _ = buildah(&["rm", &self.name]);
        let _ = buildah(&["rmi", &self.image]);
    }
}

fn buildah(words: &[&str]) -> anyhow::Result<Output> {
    Ok(Command::new("buildah").args(words).output()?)
}

fn done(words: &[&str]) -> anyhow::Result<String> {
    let output = buildah(words)?;
    ensure!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

#[test]
#[cfg_attr(
    not(feature = "static-tests"),
    ignore = "tests/packages/run builds the static binaries, and turns it on"
)]
fn a_container_of_the_image_serves_and_its_volume_is_one_mall() -> anyhow::Result<()> {
    let binaries = binaries()?;
    let own = binaries.iter().find(|(processor, _)| processor == std::env::consts::ARCH);
    let (_, binary) = own.context("no binary of this processor")?;
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let (volume, log) = (site.path().join("volume"), site.path().join("mallbox.log"));
    fs::create_dir(&volume)?;
    chown(&volume, Some(ACCOUNT), Some(ACCOUNT))?;
    let container = Container::make(binary, site.path())?;
    let (command, account) = container.config()?;
    ensure!(account == format!("{ACCOUNT}:{ACCOUNT}"), "{account}");
    let words = container.run(&volume, &command);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let server = Server::start_program("buildah", &words, &log)?;
    let shops = http::ask(server.address, "GET", "/api/shop-type/list", "")?;
    ensure!(shops.body["success"] == true, "{}", shops.text);
    ensure!(fs::metadata(volume.join("mall.sqlite"))?.uid() == ACCOUNT, "the account of the files");
    // A second container on the same volume.
    let second = Command::new("timeout").args(["60", "buildah"]).args(&words).output()?;
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    ensure!(!second.status.success() && said.contains("/data is in use by another mallbox"), "{said}");
    let mall =
        said.split("(process ").nth(1).and_then(|rest| rest.split(')').next()).context(said.clone())?;
    let killed = Command::new("kill").args(["-s", "KILL", mall]).status()?;
    ensure!(killed.success(), "kill {mall}");
    server.kill()?;
    let verify = container.run(&volume, &[command[0].clone(), "verify".to_owned()]);
    let said = done(&verify.iter().map(String::as_str).collect::<Vec<_>>())?;
    ensure!(said.contains("the ledger balances"), "{said}");
    Ok(())
}
