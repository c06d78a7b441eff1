//! A disk that can be cut off: ext4 in an image file on a loop device.
//!
//! What the file system has handed to its device is in the image file; what it still holds in memory is not. So a copy
//! of the image is what the disk would have kept had the power gone at that instant. What a real disk may lose from
//! its own cache when nobody has told it to flush is not part of this.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context as _, bail, ensure};

/// The mall refuses claims below 64 MiB free; the rest is for the data, and for the journal of the file system.
const SIZE: &str = "256M";
/// The least that mkfs.xfs takes.
const XFS_SIZE: &str = "300M";
const PREFIX: &str = "power-cut-";
/// How often a copy is tried until nothing was written while it was made.
const COPIES: usize = 20;

/// A directory on a real disk that is removed at the end, with whatever is mounted in it.
pub struct Site {
    dir: PathBuf,
}

impl Site {
    /// A new one, below `parent`. What earlier runs could not remove, because they were killed, is removed first.
    pub fn new(parent: &Path) -> anyhow::Result<Self> {
        let kind = run("stat", &["-f", "-c", "%T", &text(parent)?])?;
        ensure!(
            !["tmpfs", "ramfs"].contains(&kind.trim()),
            "{} is in memory; set CARGO_TARGET_DIR to a directory on a disk",
            parent.display()
        );
        remove_leftovers(parent)?;
        // Tests of one process run side by side.
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let dir = parent.join(format!("{PREFIX}{}-{number}", std::process::id()));
        fs::create_dir(&dir)?;
        Ok(Self { dir })
    }

    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// An empty file system in a new image.
    pub fn format(&self, name: &str) -> anyhow::Result<PathBuf> {
        let image = self.dir.join(name);
        run("truncate", &["-s", SIZE, &text(&image)?])?;
        // Nothing left for the kernel to write later on: the image stays as it is while nobody writes.
        let options = "lazy_itable_init=0,lazy_journal_init=0";
        run("mkfs.ext4", &["-q", "-F", "-m", "0", "-E", options, &text(&image)?])?;
        Ok(image)
    }

    /// The same of XFS, which wants a larger disk.
    pub fn format_xfs(&self, name: &str) -> anyhow::Result<PathBuf> {
        let image = self.dir.join(name);
        run("truncate", &["-s", XFS_SIZE, &text(&image)?])?;
        run("mkfs.xfs", &["-q", "-f", &text(&image)?])?;
        Ok(image)
    }

    /// A file system in memory.
    pub fn mount_memory(&self, name: &str) -> anyhow::Result<Mounted> {
        let at = self.dir.join(name);
        fs::create_dir_all(&at)?;
        run("mount", &["-t", "tmpfs", "-o", &format!("size={SIZE}"), "tmpfs", &text(&at)?])?;
        Ok(Mounted { at })
    }

    /// A copy of an image as it was at one instant.
    pub fn copy(&self, image: &Path, name: &str) -> anyhow::Result<PathBuf> {
        let copy = self.dir.join(name);
        self.copy_to(image, &copy)?;
        Ok(copy)
    }

    /// The same, to anywhere.
    pub fn copy_to(&self, image: &Path, copy: &Path) -> anyhow::Result<()> {
        let (from, to) = (text(image)?, text(copy)?);
        for _ in 0..COPIES {
            run("cp", &["--sparse=always", &from, &to])?;
            // The kernel may have written back something in the middle; then it would be no instant.
            if run("cmp", &["-s", &from, &to]).is_ok() {
                return Ok(());
            }
        }
        bail!("{from} changed during each of {COPIES} copies")
    }

    /// Mounts an image at a new directory.
    pub fn mount(&self, image: &Path, name: &str) -> anyhow::Result<Mounted> {
        self.mount_with("loop", image, name)
    }

    /// The same, and nothing can be written there.
    pub fn mount_read_only(&self, image: &Path, name: &str) -> anyhow::Result<Mounted> {
        self.mount_with("loop,ro", image, name)
    }

    fn mount_with(&self, options: &str, image: &Path, name: &str) -> anyhow::Result<Mounted> {
        let at = self.dir.join(name);
        fs::create_dir_all(&at)?;
        run("mount", &["-o", options, &text(image)?, &text(&at)?])?;
        Ok(Mounted { at })
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        remove(&self.dir);
    }
}

/// A mounted image. The loop device goes with the mount.
pub struct Mounted {
    at: PathBuf,
}

impl Mounted {
    pub fn path(&self) -> &Path {
        &self.at
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        unmount(&self.at);
    }
}

/// Unmounts now, or as soon as nobody uses it any more.
fn unmount(at: &Path) {
    let done = |options: &[&str]| {
        Command::new("umount").args(options).arg(at).output().is_ok_and(|output| output.status.success())
    };
    if !done(&[]) && !done(&["-l"]) {
        eprintln!("{} cannot be unmounted", at.display());
    }
}

/// Removes a site and whatever is still mounted in it.
fn remove(dir: &Path) {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    for at in mounts.lines().filter_map(|line| line.split(' ').nth(1)).map(Path::new) {
        if at.starts_with(dir) {
            unmount(at);
        }
    }
    if let Err(error) = fs::remove_dir_all(dir) {
        eprintln!("{} cannot be removed: {error}", dir.display());
    }
}

/// Sites whose process is gone.
fn remove_leftovers(parent: &Path) -> anyhow::Result<()> {
    for entry in fs::read_dir(parent)? {
        let entry = entry?;
        let name = entry.file_name();
        let owner = name.to_str().and_then(owner);
        if owner.is_some_and(|id| !Path::new(&format!("/proc/{id}")).exists()) {
            remove(&entry.path());
        }
    }
    Ok(())
}

/// The process that a site's name tells of.
fn owner(name: &str) -> Option<u32> {
    name.strip_prefix(PREFIX)?.split_once('-')?.0.parse().ok()
}

/// Runs a command that has to succeed, and answers what it wrote.
fn run(program: &str, arguments: &[&str]) -> anyhow::Result<String> {
    let output =
        Command::new(program).args(arguments).output().with_context(|| format!("cannot run {program}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{program} {}: {} {said}", arguments.join(" "), output.status);
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn text(path: &Path) -> anyhow::Result<String> {
    Ok(path.to_str().context("a path that is no text")?.to_owned())
}
