//! A copy of this system's root in which a package may be installed: changes go to memory and are gone with
//! it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use crate::command::succeed;

/// The root, until dropped.
pub struct Root {
    memory: PathBuf,
    root: PathBuf,
}

impl Root {
    /// Mounts a copy below `dir`.
    pub fn new(dir: &Path) -> anyhow::Result<Self> {
        let root = Self { memory: dir.join("memory"), root: dir.join("root") };
        fs::create_dir_all(&root.memory)?;
        fs::create_dir_all(&root.root)?;
        let text = |path: &Path| path.to_str().map(str::to_owned).context("a path in UTF-8");
        mount(&["-t", "tmpfs", "tmpfs", &text(&root.memory)?])?;
        let (upper, work) = (root.memory.join("upper"), root.memory.join("work"));
        fs::create_dir(&upper)?;
        fs::create_dir(&work)?;
        let layers = format!("lowerdir=/,upperdir={},workdir={}", text(&upper)?, text(&work)?);
        mount(&["-t", "overlay", "overlay", "-o", &layers, &text(&root.root)?])?;
        // Not the machine's own devices: somebody may delete a directory that a killed test has left.
        let devices = text(&root.root.join("dev"))?;
        mount(&["-t", "tmpfs", "tmpfs", &devices])?;
        for device in ["null", "zero", "full", "random", "urandom"] {
            succeed(Command::new("cp").args(["-a", &format!("/dev/{device}"), &devices]))?;
        }
        mount(&["-t", "proc", "proc", &text(&root.root.join("proc"))?])?;
        // Programs of other tests are of no concern to the scripts of the package.
        mount(&["-t", "tmpfs", "tmpfs", &text(&root.root.join("run"))?])?;
        Ok(root)
    }

    /// Unmounts what a container mounts itself, and makes it a machine of its own.
    pub fn release_kernel_mounts(&self) -> anyhow::Result<()> {
        for place in ["run", "proc", "dev"] {
            succeed(Command::new("umount").arg(self.root.join(place)))?;
        }
        self.write("etc/machine-id", "uninitialized\n")
    }

    pub fn path(&self) -> &Path {
        &self.root
    }

    pub fn read(&self, path: &str) -> anyhow::Result<String> {
        fs::read_to_string(self.root.join(path)).with_context(|| format!("/{path}"))
    }

    pub fn write(&self, path: &str, text: &str) -> anyhow::Result<()> {
        fs::write(self.root.join(path), text).with_context(|| format!("/{path}"))
    }

    /// Installs a package, or upgrades to it. Settings that were changed stay.
    pub fn install(&self, package: &Path) -> anyhow::Result<()> {
        fs::copy(package, self.root.join("package.deb"))?;
        self.run("dpkg", &["--force-confold", "--install", "/package.deb"])?;
        Ok(())
    }

    /// Runs a program inside. Returns both of its outputs.
    pub fn run(&self, program: &str, arguments: &[&str]) -> anyhow::Result<String> {
        let mut command = Command::new("chroot");
        command.arg(&self.root).arg(program).args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
        succeed(command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin"))
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        for place in [
            self.root.join("run"),
            self.root.join("proc"),
            self.root.join("dev"),
            self.root.clone(),
            self.memory.clone(),
        ] {
            let _ = Command::new("umount").arg("-l").arg(place).output();
        }
    }
}

fn mount(arguments: &[&str]) -> anyhow::Result<()> {
    succeed(Command::new("mount").args(arguments)).map(drop)
}
