//! What `.packaging/` makes. The Debian package is installed, used as its unit starts it, upgraded with a
//! mall inside, and purged, in a copy of this system's root. Static binaries run in an empty root. Packages
//! for tests in other languages run the examples of their READMEs.
//!
//! `MALLBOX_PACKAGED=FILE` packages that binary in place of the one that cargo built for the tests.
//! `tests/packages/run` builds all targets and runs these tests on them.

#[path = "../common/mod.rs"]
mod common;

mod booted;
mod command;
mod container;
mod fixtures;
mod image;
mod root;
mod standalone;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use common::http;
use common::server::Server;
use root::Root;

/// Returns the binary to package.
fn binary() -> PathBuf {
    std::env::var_os("MALLBOX_PACKAGED").map_or(env!("CARGO_BIN_EXE_mallbox").into(), PathBuf::from)
}

/// Makes a package of a version in `out`. Returns its file.
fn deb(version: &str, out: &Path) -> anyhow::Result<PathBuf> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(".packaging/deb");
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let mut command = Command::new(script);
    command.arg(binary()).args([&target, "--fast", "--deb-version", version]);
    let made = command.env("PACKAGING_OUT", out).output()?;
    let complaint = String::from_utf8_lossy(&made.stderr);
    ensure!(made.status.success(), ".packaging/deb: {}: {complaint}", made.status);
    let path = String::from_utf8(made.stdout)?;
    let path = path.lines().last().with_context(|| format!("no package: {complaint}"))?;
    Ok(PathBuf::from(path))
}

/// Starts the mall as the installed unit does: same command, same account.
fn start(root: &Root, log: &Path) -> anyhow::Result<Server> {
    let unit = root.read("usr/lib/systemd/system/mallbox.service")?;
    let setting = |name: &str| {
        let line = unit.lines().find_map(|line| line.strip_prefix(name));
        line.with_context(|| format!("the unit has no {name}"))
    };
    let account = format!("--userspec={}:{}", setting("User=")?, setting("Group=")?);
    let at = root.path().to_str().context("a path in UTF-8")?;
    let command = setting("ExecStart=")?.split(' ').chain(["--listen", "127.0.0.1:0", "--lang", "en"]);
    let words: Vec<&str> = [account.as_str(), at].into_iter().chain(command).collect();
    Server::start_program("chroot", &words, log)
}

#[test]
#[cfg_attr(
    not(feature = "package-tests"),
    ignore = "needs root, dpkg and overlay file systems; tests/run turns it on where they are there"
)]
fn a_package_is_installed_upgraded_and_purged_and_a_mall_stays() -> anyhow::Result<()> {
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let log = site.path().join("mallbox.log");
    let root = Root::new(site.path())?;
    root.install(&deb("0.0.0-1", site.path())?)?;
    let version = root.run("mallbox", &["--version"])?;
    ensure!(version.starts_with("mallbox "), "{version}");
    for file in [
        "usr/share/man/man1/mallbox-serve.1.gz",
        "usr/share/bash-completion/completions/mallbox",
        "usr/share/doc/mallbox/NOTICES",
        "usr/lib/systemd/system/mallbox.socket",
        "etc/mallbox/mallbox.toml",
    ] {
        ensure!(root.path().join(file).exists(), "{file} is not installed");
    }

    let server = start(&root, &log)?;
    ensure!(http::ask(server.address, "GET", "/readyz", "")?.status == 200);
    server.stop()?;
    let owner = root.run("stat", &["-c", "%U %a", "/var/lib/mallbox"])?;
    ensure!(owner.trim() == "mallbox 700", "{owner}");
    root.write("etc/mallbox/mallbox.toml", "claims-per-minute = 7\n")?;
    let verify = ["--user", "mallbox", "--", "mallbox", "verify", "--data", "/var/lib/mallbox"];
    root.run("runuser", &verify)?;

    root.install(&deb("0.0.0-2", site.path())?)?;
    ensure!(root.read("etc/mallbox/mallbox.toml")?.contains("= 7"), "the upgrade replaced settings");
    let server = start(&root, &log)?;
    ensure!(http::ask(server.address, "GET", "/readyz", "")?.status == 200);
    server.stop()?;

    let said = root.run("dpkg", &["--purge", "mallbox"])?;
    ensure!(said.contains("/var/lib/mallbox holds a mall and stays"), "{said}");
    ensure!(root.path().join("var/lib/mallbox/mall.sqlite").exists(), "the purge deleted the mall");
    ensure!(!root.path().join("etc/mallbox/mallbox.toml").exists(), "the purge left settings");
    ensure!(!root.path().join("usr/bin/mallbox").exists(), "the purge left the program");
    Ok(())
}
