//! A disk whose power can be cut: ext4 in an image file on a loop device.
//!
//! The image file contains everything the file system has submitted to its device, and nothing held only in
//! memory. A copy of the image is therefore the disk's content after a power failure at the instant of the
//! copy. Not covered: data lost from a real disk's own cache without a flush.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context as _, bail, ensure};

/// The mall refuses claims below 64 MiB of free space; the rest is for data and the file system's journal.
const SIZE: &str = "256M";
/// Minimum size accepted by mkfs.xfs.
const XFS_SIZE: &str = "300M";
const PREFIX: &str = "power-cut-";
/// Attempts at a copy without concurrent writes.
const COPY_ATTEMPTS_MAX: usize = 20;

/// A directory on a real disk, removed on drop together with everything mounted in it.
pub struct DiskSite {
    dir: PathBuf,
}

impl DiskSite {
    /// Creates a directory below `parent`. First removes the directories of earlier runs that were killed
    /// before cleaning up.
    pub fn new(parent: &Path) -> anyhow::Result<Self> {
        let kind = run("stat", &["-f", "-c", "%T", &text(parent)?])?;
        ensure!(
            !["tmpfs", "ramfs"].contains(&kind.trim()),
            "{} is in memory; set CARGO_TARGET_DIR to a directory on a disk",
            parent.display()
        );
        remove_leftovers(parent)?;
        // Tests of one process run in parallel.
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let dir = parent.join(format!("{PREFIX}{}-{number}", std::process::id()));
        fs::create_dir(&dir)?;
        Ok(Self { dir })
    }

    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Creates an empty ext4 file system in a new image.
    pub fn format(&self, name: &str) -> anyhow::Result<PathBuf> {
        let image = self.dir.join(name);
        run("truncate", &["-s", SIZE, &text(&image)?])?;
        // Leaves the kernel nothing to initialize later: an unused image does not change.
        let options = "lazy_itable_init=0,lazy_journal_init=0";
        run("mkfs.ext4", &["-q", "-F", "-m", "0", "-E", options, &text(&image)?])?;
        Ok(image)
    }

    /// Creates an empty XFS file system, which needs a larger disk.
    pub fn format_xfs(&self, name: &str) -> anyhow::Result<PathBuf> {
        let image = self.dir.join(name);
        run("truncate", &["-s", XFS_SIZE, &text(&image)?])?;
        run("mkfs.xfs", &["-q", "-f", &text(&image)?])?;
        Ok(image)
    }

    /// Mounts a file system in memory.
    pub fn mount_memory(&self, name: &str) -> anyhow::Result<Mounted> {
        let at = self.dir.join(name);
        fs::create_dir_all(&at)?;
        run("mount", &["-t", "tmpfs", "-o", &format!("size={SIZE}"), "tmpfs", &text(&at)?])?;
        Ok(Mounted { at })
    }

    /// Copies an image at one instant.
    pub fn copy(&self, image: &Path, name: &str) -> anyhow::Result<PathBuf> {
        let copy = self.dir.join(name);
        self.copy_to(image, &copy)?;
        Ok(copy)
    }

    /// Copies an image at one instant to any path.
    pub fn copy_to(&self, image: &Path, copy: &Path) -> anyhow::Result<()> {
        let (from, to) = (text(image)?, text(copy)?);
        for _ in 0..COPY_ATTEMPTS_MAX {
            run("cp", &["--sparse=always", &from, &to])?;
            // A write-back by the kernel during the copy would mix two instants.
            if run("cmp", &["-s", &from, &to]).is_ok() {
                return Ok(());
            }
        }
        bail!("{from} changed during each of {COPY_ATTEMPTS_MAX} copies")
    }

    /// Mounts an image at a new directory.
    pub fn mount(&self, image: &Path, name: &str) -> anyhow::Result<Mounted> {
        self.mount_with("loop", image, name)
    }

    /// Mounts an image read-only.
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

impl Drop for DiskSite {
    fn drop(&mut self) {
        remove(&self.dir);
    }
}

/// A mounted image. The loop device disappears with the mount.
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

/// Unmounts immediately, or lazily if the mount is in use.
fn unmount(at: &Path) {
    let done = |options: &[&str]| {
        Command::new("umount").args(options).arg(at).output().is_ok_and(|output| output.status.success())
    };
    if !done(&[]) && !done(&["-l"]) {
        eprintln!("{} cannot be unmounted", at.display());
    }
}

/// Removes a site and everything still mounted in it.
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

/// Removes the sites of dead processes.
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

/// Returns the process id contained in a site's name.
fn owner(name: &str) -> Option<u32> {
    name.strip_prefix(PREFIX)?.split_once('-')?.0.parse().ok()
}

/// Runs a command that must succeed, and returns the standard output.
fn run(program: &str, arguments: &[&str]) -> anyhow::Result<String> {
    let output =
        Command::new(program).args(arguments).output().with_context(|| format!("cannot run {program}"))?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{program} {}: {} {complaint}", arguments.join(" "), output.status);
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn text(path: &Path) -> anyhow::Result<String> {
    Ok(path.to_str().context("a path that is no text")?.to_owned())
}
